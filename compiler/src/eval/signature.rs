//! Signatures of ops, read from `@native` declarations of the library.

use super::Evaluator;
use crate::plan::{Promise, Shared, Worker};
use crate::resolve::DeclId;
use crate::types::Type;
use crate::value::Const;
use pipe_grammar::Problem;
use pipe_grammar::ast::{Attr, Expr, ExprKind, FnDecl, ItemKind, StrPart};
use std::rc::Rc;

/// An op as the library declares it.
#[derive(Clone, Debug)]
pub(crate) struct Native {
    /// `data.join`.
    pub(crate) op: String,
    pub(crate) version: u32,
    /// The type function that gives the result, when it depends on values.
    pub(crate) types: Option<String>,
    pub(crate) worker: Worker,
    pub(crate) promise: Promise,
    pub(crate) all_threads: bool,
    pub(crate) heavy: bool,
    /// The tool whose version enters the key.
    pub(crate) tool: Option<String>,
    pub(crate) streamable: bool,
    pub(crate) effect: bool,
    /// Computed by the compiler, or inside row expressions.
    pub(crate) fold: bool,
    /// The parameter that the result is fitted on.
    pub(crate) fits: Option<String>,
    /// The parameter that must not be what the subject was fitted on.
    pub(crate) scores: Option<String>,
    /// Parameters whose equal values make nodes one batch group.
    pub(crate) group: Vec<String>,
    /// What it does to the shapes of models and of rows of tokens.
    pub(crate) shape: Option<String>,
    /// How its need of memory is estimated.
    pub(crate) memory: Option<String>,
    pub(crate) params: Vec<NativeParam>,
    pub(crate) result: Type,
    /// Parameters that stay out of keys.
    pub(crate) nokey: Shared<Vec<String>>,
    /// The names of its nodes' arguments, once it has one.
    pub(crate) names: std::cell::OnceCell<Shared<Vec<String>>>,
}

/// A parameter of an op.
#[derive(Clone, Debug)]
pub(crate) struct NativeParam {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) rest: bool,
    pub(crate) nokey: bool,
    /// Names columns of the subject.
    pub(crate) column: bool,
    /// A function of the rows of a group.
    pub(crate) grouped: bool,
    /// The default of a parameter that the op got later (`@added`). At this value it stays out of the plan, so that keys from
    /// before are found again.
    pub(crate) added: Option<Const>,
}

/// A public description of an op, for documentation and for the test that holds registered ops equal.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Signature {
    /// `data.join`.
    pub name: String,
    /// Version of its meaning.
    pub version: u32,
    /// Where it runs; `None` when the compiler itself computes it.
    pub worker: Option<Worker>,
    /// Its parameters in order.
    pub params: Vec<SignatureParam>,
    /// Type of its result.
    pub result: String,
    /// Its documentation.
    pub doc: Option<String>,
    /// Whether it is written in the language itself and unfolds into other ops.
    pub composite: bool,
    /// Whether it expands in the run into nodes of its body.
    pub driver: bool,
}

/// A parameter in a [`Signature`].
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SignatureParam {
    /// Its name.
    pub name: String,
    /// Its type as written.
    pub ty: String,
    /// Its default as written.
    pub default: Option<String>,
    /// Its documentation.
    pub doc: Option<String>,
    /// Stays out of keys.
    pub nokey: bool,
    /// May be given by position.
    pub positional: bool,
    /// Takes all other named arguments.
    pub rest: bool,
}

impl Native {
    /// Whether it expands in the run into nodes of its body.
    pub(crate) fn is_driver(&self) -> bool {
        self.types.as_deref() == Some("driver") || self.is_search()
    }

    /// Whether it is a driver that programs call, with a function that makes a trial.
    pub(crate) fn is_search(&self) -> bool {
        self.types.as_deref() == Some("search")
    }
}

impl<'a> Evaluator<'a> {
    /// The op that a declaration stands for, if it is one.
    pub(crate) fn native(&mut self, id: DeclId) -> Option<Rc<Native>> {
        if let Some(known) = self.signatures.get(&id) {
            return known.clone();
        }
        let item = self.program.item(id);
        let ItemKind::Fn(function) = &item.kind else { return None };
        let attr = item.attrs.iter().find(|attr| attr.name.text == "native");
        let native = attr.and_then(|attr| self.read_native(id, attr, function)).map(Rc::new);
        self.signatures.insert(id, native.clone());
        native
    }

    fn read_native(&mut self, id: DeclId, attr: &'a Attr, function: &'a FnDecl) -> Option<Native> {
        let Some(module) = self.program.modules[id.module].library.clone() else {
            let message = "only the library declares ops";
            self.report(
                Problem::error("resolve::native", attr.span, message)
                    .help("give the function a body instead of `@native`"),
            );
            return None;
        };
        let vars = &function.type_params;
        let mut native = Native {
            op: format!("{module}.{}", function.name.text),
            version: 1,
            types: None,
            worker: Worker::Here,
            promise: Promise::Exact,
            all_threads: false,
            heavy: false,
            tool: None,
            streamable: false,
            effect: false,
            fold: false,
            fits: None,
            scores: None,
            group: Vec::new(),
            shape: None,
            memory: None,
            params: Vec::new(),
            result: Type::Error,
            nokey: Shared::default(),
            names: std::cell::OnceCell::new(),
        };
        let mut tolerance = 1e-6;
        for arg in &attr.args {
            let Some(name) = &arg.name else { continue };
            let text = text_of(&arg.value);
            let truth = matches!(arg.value.kind, ExprKind::Bool(true));
            match name.text.as_str() {
                "version" => native.version = number_of(&arg.value).map_or(1, |value| value as u32),
                "types" => native.types = text,
                "worker" if text.as_deref() == Some("torch") => native.worker = Worker::Torch,
                "promise" if text.as_deref() == Some("numeric") => {
                    native.promise = Promise::Numeric(0.0)
                }
                "promise" if text.as_deref() == Some("timed") => native.promise = Promise::Timed,
                "tolerance" => tolerance = number_of(&arg.value).unwrap_or(tolerance),
                "threads" => native.all_threads = text.as_deref() == Some("all"),
                "cost" => native.heavy = text.as_deref() == Some("heavy"),
                "tool" => native.tool = text,
                "streamable" => native.streamable = truth,
                "effect" => native.effect = truth,
                "fold" => native.fold = truth,
                "fits" => native.fits = text,
                "scores" => native.scores = text,
                "shape" => native.shape = text,
                "memory" => native.memory = text,
                "group" => {
                    let names = text.unwrap_or_default();
                    native.group = names.split(',').map(|name| name.trim().to_owned()).collect();
                }
                "worker" | "promise" => {}
                other => {
                    let message = format!("`@native` has no field `{other}`");
                    self.report(Problem::error("resolve::native", name.span, message));
                }
            }
        }
        if let Promise::Numeric(_) = native.promise {
            native.promise = Promise::Numeric(tolerance);
        }
        for param in &function.params {
            let has = |name: &str| param.attrs.iter().any(|attr| attr.name.text == name);
            native.params.push(NativeParam {
                name: param.name.text.clone(),
                ty: self.written(id.module, &param.ty, vars),
                rest: param.rest,
                nokey: has("nokey"),
                column: has("column"),
                grouped: has("group"),
                added: has("added").then(|| {
                    let default = param.default.as_ref().and_then(text_of);
                    default.map_or(Const::None, Const::Str)
                }),
            });
        }
        let nokey = native.params.iter().filter(|param| param.nokey);
        native.nokey = nokey.map(|param| param.name.clone()).collect::<Vec<_>>().into();
        native.result = match &function.result {
            Some(result) => self.written(id.module, result, vars),
            None => Type::Any,
        };
        Some(native)
    }

    /// The public description of a library function.
    pub(crate) fn describe(&mut self, id: DeclId) -> Option<Signature> {
        let item = self.program.item(id);
        let ItemKind::Fn(function) = &item.kind else { return None };
        let module = self.program.modules[id.module].library.clone()?;
        let native = self.native(id);
        if native.is_none() && function.body.is_none() {
            let message = format!("`{}` has neither a body nor `@native`", function.name.text);
            self.report(Problem::error("resolve::native", function.name.span, message));
            return None;
        }
        let params = function.params.iter().map(|param| SignatureParam {
            name: param.name.text.clone(),
            ty: self.sources.slice(param.ty.span).to_owned(),
            default: param.default.as_ref().map(|value| self.sources.slice(value.span).to_owned()),
            doc: param.doc.clone(),
            nokey: param.attrs.iter().any(|attr| attr.name.text == "nokey"),
            positional: param.positional,
            rest: param.rest,
        });
        let params = params.collect();
        let result =
            function.result.as_ref().map_or("any", |ty| self.sources.slice(ty.span)).to_owned();
        Some(Signature {
            name: format!("{module}.{}", function.name.text),
            version: native.as_ref().map_or(0, |native| native.version),
            worker: native
                .as_ref()
                .filter(|native| !native.fold && !native.is_driver())
                .map(|native| native.worker),
            driver: native.as_ref().is_some_and(|native| native.is_driver()),
            params,
            result,
            doc: item.doc.clone(),
            composite: native.is_none(),
        })
    }
}

fn text_of(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Str(parts) => match parts.as_slice() {
            [StrPart::Text(text)] => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn number_of(expr: &Expr) -> Option<f64> {
    match &expr.kind {
        ExprKind::Number(number) => Some(number.value),
        _ => None,
    }
}
