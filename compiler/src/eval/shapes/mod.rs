//! Shapes of models and of rows of tokens, as far as they are known before the run, and the mistakes that they show:
//! rows longer than a model's context, token numbers of another vocabulary, LoRA targets that no module has.
//!
//! A signature says with `@native(shape: ..)` what its op does to shapes: `decoder` makes a model, `encode` and `pack`
//! make rows of tokens, `same` hands its subject's shape on. Every call is then checked by the shapes of its arguments,
//! whatever op it is.

mod memory;
mod model;

pub(crate) use model::ModelShape;

use super::arguments::Given;
use super::{Evaluator, Native, NativeCall, Value};
use crate::value::Const;
use pipe_grammar::{Problem, Span, did_you_mean};
use std::rc::Rc;

/// What is known of a result.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Model(ModelShape),
    Tokens(TokenShape),
}

/// Documents as tokens, or rows of them.
#[derive(Clone, Debug)]
pub(crate) struct TokenShape {
    /// The node that made the tokenizer, and where it is handed over.
    tokenizer: (usize, Span),
    /// Tokens in a row, once they are packed, and where that is said.
    length: Option<(i64, Span)>,
    /// Largest vocabulary that the tokenizer may have.
    vocab: Option<i64>,
}

/// A tokenizer among the arguments.
type Tokenizer = (usize, Span);

impl<'a> Evaluator<'a> {
    /// The shape of a call's result; reports arguments whose shapes do not go together.
    pub(super) fn shape_of(&mut self, call: &mut NativeCall<'a>) -> Option<Shape> {
        self.check_shapes(call);
        match call.native.shape.as_deref()? {
            "decoder" => self.decoder_shape(call).map(Shape::Model),
            "encode" => self.encoded_shape(call).map(Shape::Tokens),
            "pack" => self.packed_shape(call).map(Shape::Tokens),
            "same" => self.known_shape(self.subject_of(call)?).cloned(),
            other => {
                let message = format!("`@native` has no shape `{other}`");
                self.report(Problem::error("resolve::native", call.declared, message));
                None
            }
        }
    }

    /// Remember the shape of a node's result.
    pub(super) fn shaped(&mut self, value: &Value<'a>, shape: Option<Shape>) {
        if let (Value::Node(node), Some(shape)) = (value, shape) {
            self.shapes.insert(node.node, shape);
        }
    }

    /// Whether a node makes something of a known shape.
    pub(super) fn is_shaped(&self, node: usize) -> bool {
        self.shapes.contains_key(&node)
    }

    fn subject_of<'c>(&self, call: &'c NativeCall<'a>) -> Option<&'c Given<'a>> {
        call.values.get(&call.native.params.first()?.name)
    }

    fn known_shape(&self, given: &Given<'a>) -> Option<&Shape> {
        match &given.value.value {
            Value::Node(node) if node.path.is_empty() => self.shapes.get(&node.node),
            _ => None,
        }
    }

    /// The tokenizer that an argument is, or whose size it is.
    fn tokenizer_in(&self, given: &Given<'a>) -> Option<Tokenizer> {
        let Value::Node(node) = &given.value.value else { return None };
        let made = self.drafts.get(node.node)?;
        let whole = node.path.is_empty() || node.path == ["size"];
        (made.ty.is_artifact_named("Tokenizer") && whole).then_some((node.node, given.span))
    }

    fn encoded_shape(&self, call: &NativeCall<'a>) -> Option<TokenShape> {
        let tokenizer = self.tokenizer_in(call.values.get("with")?)?;
        let vocab = match self.drafts.get(tokenizer.0)?.args.get("vocab") {
            Some(crate::plan::Arg::Const(Const::Int(vocab))) => Some(*vocab),
            _ => None,
        };
        Some(TokenShape { tokenizer, length: None, vocab })
    }

    fn packed_shape(&self, call: &NativeCall<'a>) -> Option<TokenShape> {
        let Some(Shape::Tokens(tokens)) = self.known_shape(self.subject_of(call)?) else {
            return None;
        };
        let length = call.values.get("length")?;
        let length = length.value.as_const().and_then(int).map(|tokens| (tokens, length.span));
        Some(TokenShape { length, ..tokens.clone() })
    }

    fn check_shapes(&mut self, call: &mut NativeCall<'a>) {
        let mut model: Option<(ModelShape, Span)> = None;
        let mut tokens: Vec<(String, TokenShape, Span)> = Vec::new();
        let mut tokenizers: Vec<Tokenizer> = Vec::new();
        for param in &Rc::clone(&call.native).params {
            let Some(given) = call.values.get(&param.name) else { continue };
            match self.known_shape(given) {
                Some(Shape::Model(shape)) => model = Some((shape.clone(), given.span)),
                Some(Shape::Tokens(shape)) => {
                    tokens.push((param.name.clone(), shape.clone(), given.span));
                }
                None => tokenizers.extend(
                    self.tokenizer_in(given)
                        .filter(|_| given.value.ty.is_artifact_named("Tokenizer")),
                ),
            }
        }
        self.check_one_tokenizer(call, &tokens);
        let Some((model, at)) = model else { return };
        for (_, rows, span) in &tokens {
            self.check_context(call, (&model, at), rows, *span);
            self.check_vocabulary(call, &model, rows, *span);
        }
        for tokenizer in tokenizers {
            self.check_tokenizer(call, &model, tokenizer, tokenizer.1);
        }
        self.check_targets(call, &model);
    }

    /// Rows of two tokenizers in one call.
    fn check_one_tokenizer(
        &mut self,
        call: &mut NativeCall<'a>,
        tokens: &[(String, TokenShape, Span)],
    ) {
        let [(first_name, first, _), rest @ ..] = tokens else { return };
        for (name, other, span) in rest {
            if other.tokenizer.0 != first.tokenizer.0 {
                let message =
                    format!("`{name}` and `{first_name}` are encoded with two tokenizers");
                let problem = Problem::error("shapes::tokenizer", *span, message)
                    .label("tokens of one tokenizer")
                    .also(first.tokenizer.1, format!("`{first_name}` is encoded with this one"))
                    .also(other.tokenizer.1, format!("`{name}` with this one"))
                    .help("the same number means another piece of text in each: encode both with one tokenizer");
                self.report(problem);
                call.broken = true;
            }
        }
    }

    fn check_context(
        &mut self,
        call: &mut NativeCall<'a>,
        (model, at): (&ModelShape, Span),
        rows: &TokenShape,
        span: Span,
    ) {
        let (Some((length, said)), Some((context, declared))) = (rows.length, model.context) else {
            return;
        };
        if length <= context {
            return;
        }
        let message = format!("rows have {length} tokens, and the model's context is {context}");
        let mut problem = Problem::error("shapes::context", span, message)
            .label(format!("rows of {length} tokens"))
            .also(said, format!("packed to {length} here"))
            .also(declared, format!("the model sees at most {context}"))
            .help(format!(
                "pack rows of at most {context} tokens, or give the model a longer context"
            ))
            .edit(said, context.to_string());
        let apart = at.end < declared.start || declared.end < at.start;
        if at.file != declared.file || apart {
            problem = problem.also(at, "this model");
        }
        self.report(problem);
        call.broken = true;
    }

    fn check_vocabulary(
        &mut self,
        call: &mut NativeCall<'a>,
        model: &ModelShape,
        rows: &TokenShape,
        span: Span,
    ) {
        self.check_tokenizer(call, model, rows.tokenizer, span);
        let (Some(tokens), Some((vocab, said))) = (rows.vocab, model.vocab) else { return };
        if tokens > vocab {
            let message = format!(
                "tokens are numbered up to {}, and the model's vocabulary ends at {}",
                tokens - 1,
                vocab - 1
            );
            let problem = Problem::error("shapes::vocabulary", span, message)
                .label(format!("up to {tokens} different tokens"))
                .also(said, format!("a vocabulary of {vocab}"))
                .also(rows.tokenizer.1, "encoded with this tokenizer")
                .help("size the model by its tokenizer: `vocab: tok.size`");
            self.report(problem);
            call.broken = true;
        }
    }

    /// A tokenizer beside a model that was sized by another one.
    fn check_tokenizer(
        &mut self,
        call: &mut NativeCall<'a>,
        model: &ModelShape,
        given: Tokenizer,
        span: Span,
    ) {
        let Some(own) = model.tokenizer.filter(|own| own.0 != given.0) else { return };
        let message = "these tokens are of another tokenizer than the model's vocabulary";
        let mut problem = Problem::error("shapes::tokenizer", span, message)
            .label("another tokenizer")
            .also(own.1, "the model's vocabulary is that of this one");
        if given.1 != span {
            problem = problem.also(given.1, "encoded with this one");
        }
        self.report(problem.help(
            "the same number means another piece of text in each: encode with the model's tokenizer",
        ));
        call.broken = true;
    }

    /// `targets: ["q_proj"]` of an op whose subject is a model: each names a module of it.
    fn check_targets(&mut self, call: &mut NativeCall<'a>, model: &ModelShape) {
        let Some(given) = call.values.get("targets") else { return };
        let span = given.span;
        let Some(targets) = given.value.texts() else { return };
        let modules = model.modules();
        for target in &targets {
            if modules.iter().any(|module| module == target) {
                continue;
            }
            let message = format!("no module of the model is called `{target}`");
            let close = did_you_mean(target, modules.iter().copied()).map(str::to_owned);
            let at = self.text_span(span, target).unwrap_or(span);
            let mut problem = Problem::error("shapes::target", at, message)
                .label("matches nothing")
                .also(model.span, format!("its modules: {}", modules.join(", ")));
            problem = match &close {
                Some(close) => problem
                    .help(format!("did you mean `{close}`?"))
                    .edit(at, format!("\"{close}\"")),
                None => problem.help("name linear modules of the model"),
            };
            self.report(problem);
            call.broken = true;
        }
    }

    /// Where a text stands inside a list literal.
    fn text_span(&self, list: Span, text: &str) -> Option<Span> {
        let quoted = format!("\"{text}\"");
        let at = self.sources.slice(list).find(&quoted)?;
        let start = list.start + u32::try_from(at).ok()?;
        Some(Span { start, end: start + u32::try_from(quoted.len()).ok()?, ..list })
    }
}

/// Whether a shape, a check of shapes or an estimate of memory depends on the value of this argument.
pub(super) fn reads(native: &Native, name: &str) -> bool {
    let makes = native.shape.as_deref().is_some_and(|shape| shape != "same");
    let estimated = native.memory.is_some() && matches!(name, "batch" | "recompute");
    makes || estimated || name == "targets"
}

/// A whole number.
fn int(value: &Const) -> Option<i64> {
    match value {
        Const::Int(value) => Some(*value),
        _ => None,
    }
}
