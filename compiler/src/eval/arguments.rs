//! Which argument goes to which parameter. The first is the subject; the others are named.

use super::{Evaluator, Scope, Typed};
use pipe_grammar::ast::{Arg, ExprKind, FnDecl, FnParam, TypeExpr, TypeKind};
use pipe_grammar::{Problem, Span, did_you_mean};
use std::collections::BTreeMap;

/// A value with the place where it is given.
#[derive(Clone, Debug)]
pub(crate) struct Given<'a> {
    pub(crate) value: Typed<'a>,
    pub(crate) span: Span,
}

/// Arguments by parameter.
#[derive(Debug, Default)]
pub(crate) struct Bound<'a> {
    pub(crate) by_name: BTreeMap<&'a str, Given<'a>>,
    /// What the rest parameter takes, in source order.
    pub(crate) rest: Vec<(&'a str, Given<'a>)>,
    /// A problem has been reported.
    pub(crate) broken: bool,
}

/// A call, as far as binding needs it.
pub(crate) struct CallSite<'a> {
    /// The callee as written.
    pub(crate) name: String,
    pub(crate) callee: Span,
    /// Which callee of the program it is.
    pub(crate) place: usize,
    pub(crate) span: Span,
    pub(crate) subject: Option<Given<'a>>,
    pub(crate) args: &'a [Arg],
}

impl<'a> Evaluator<'a> {
    /// Evaluate the arguments and give each to its parameter.
    pub(super) fn bind_arguments(
        &mut self,
        function: &'a FnDecl,
        site: &CallSite<'a>,
        scope: &Scope<'a>,
    ) -> Bound<'a> {
        let mut bound = Bound::default();
        let mut positions = function.params.iter().filter(|param| !param.rest).enumerate();
        if let (Some(subject), Some((_, first))) = (&site.subject, positions.clone().next()) {
            bound.by_name.insert(&first.name.text, subject.clone());
            positions.next();
        } else if let Some(subject) = &site.subject {
            let message = format!("`{}` takes no arguments", site.name);
            self.report(Problem::error("types::argument_count", subject.span, message));
            bound.broken = true;
        }
        for arg in site.args {
            match &arg.name {
                Some(name) => match function
                    .params
                    .iter()
                    .find(|param| !param.rest && param.name.text == name.text)
                {
                    Some(param) => {
                        let given = self.argument(param, arg, scope);
                        if let Some(first) = bound.by_name.get(param.name.text.as_str()) {
                            let message = format!("the argument `{}` is given twice", name.text);
                            let problem =
                                Problem::error("types::duplicate_argument", name.span, message);
                            let first = first.span;
                            self.report(
                                problem.also(first, "first given here").help("remove one of them"),
                            );
                            bound.broken = true;
                        } else {
                            bound.by_name.insert(&param.name.text, given);
                        }
                    }
                    None => self.other_argument(
                        function, site, arg, &name.text, name.span, scope, &mut bound,
                    ),
                },
                None => {
                    let next = positions
                        .find(|(_, param)| !bound.by_name.contains_key(param.name.text.as_str()));
                    match next {
                        Some((0, param)) => {
                            let given = self.argument(param, arg, scope);
                            bound.by_name.insert(&param.name.text, given);
                        }
                        Some((_, param)) if param.positional => {
                            let given = self.argument(param, arg, scope);
                            bound.by_name.insert(&param.name.text, given);
                        }
                        next => self.unnamed(
                            next.map(|(_, param)| param),
                            function,
                            site,
                            arg,
                            scope,
                            &mut bound,
                        ),
                    }
                }
            }
        }
        self.ahead.clear();
        self.require(function, site, &mut bound);
        bound
    }

    fn argument(&mut self, param: &'a FnParam, arg: &'a Arg, scope: &Scope<'a>) -> Given<'a> {
        let span = arg.value.span;
        if takes_type(&param.ty)
            && let Some(value) = self.type_argument(&arg.value, scope)
        {
            return Given { value, span };
        }
        if takes_type(&param.ty)
            && matches!(arg.value.kind, ExprKind::Record(_) | ExprKind::List(_))
        {
            return Given { value: self.written_in_place(param, span), span };
        }
        Given { value: self.given(&arg.value, scope), span }
    }

    /// `row: { cpu: float }`: a type where its name is wanted. Nothing inside is looked at, so that this is the one problem.
    fn written_in_place(&mut self, param: &FnParam, span: Span) -> Typed<'a> {
        let name = &param.name.text;
        let problem = Problem::error(
            "types::inline_type",
            span,
            format!("`{name}` takes the name of a type"),
        )
        .label("a type written in place")
        .help(format!("declare `type Row = {}` and write `{name}: Row`", self.sources.slice(span)));
        self.fail(problem)
    }

    #[expect(clippy::too_many_arguments, reason = "one place of a loop, kept out of it for length")]
    fn other_argument(
        &mut self,
        function: &'a FnDecl,
        site: &CallSite<'a>,
        arg: &'a Arg,
        name: &'a str,
        span: Span,
        scope: &Scope<'a>,
        bound: &mut Bound<'a>,
    ) {
        let given = Given { value: self.given(&arg.value, scope), span: arg.value.span };
        if function.params.iter().any(|param| param.rest) {
            if let Some((_, first)) = bound.rest.iter().find(|(known, _)| *known == name) {
                let problem = Problem::error(
                    "types::duplicate_argument",
                    span,
                    format!("the argument `{name}` is given twice"),
                );
                let first = first.span;
                self.report(problem.also(first, "first given here"));
                bound.broken = true;
            } else {
                bound.rest.push((name, given));
            }
            return;
        }
        bound.broken = true;
        let names = function.params.iter().map(|param| param.name.text.as_str());
        let problem = Problem::error(
            "types::unknown_argument",
            span,
            format!("`{}` has no argument `{name}`", site.name),
        );
        let problem = match did_you_mean(name, names) {
            Some(near) => {
                bound.by_name.entry(near).or_insert(given);
                problem.label(format!("did you mean `{near}`?")).edit(span, near)
            }
            None => problem.help(format!("its arguments: {}", self.signature_text(function))),
        };
        self.report(problem);
    }

    fn unnamed(
        &mut self,
        next: Option<&'a FnParam>,
        function: &'a FnDecl,
        site: &CallSite<'a>,
        arg: &'a Arg,
        scope: &Scope<'a>,
        bound: &mut Bound<'a>,
    ) {
        bound.broken = true;
        let given = match next {
            Some(param) => self.argument(param, arg, scope),
            None => Given { value: self.given(&arg.value, scope), span: arg.value.span },
        };
        let span = arg.value.span;
        let problem = match next {
            Some(param) => {
                let name = param.name.text.as_str();
                let same = matches!(&arg.value.kind, ExprKind::Name(word) if word == name);
                bound.by_name.insert(name, given);
                let message = format!("`{}` takes its other arguments by name", site.name);
                Problem::error("types::unnamed_argument", span, message)
                    .label(if same {
                        "say what it is for".into()
                    } else {
                        format!("is this `{name}`?")
                    })
                    .edit(Span { end: span.start, ..span }, format!("{name}: "))
            }
            None => {
                let message = format!("`{}` takes no more arguments", site.name);
                Problem::error("types::argument_count", span, message)
                    .help(format!("its arguments: {}", self.signature_text(function)))
            }
        };
        self.report(problem);
    }

    fn require(&mut self, function: &'a FnDecl, site: &CallSite<'a>, bound: &mut Bound<'a>) {
        let without_brackets = site.args.is_empty() && !self.sources.slice(site.span).contains('(');
        bound.broken |= without_brackets;
        if bound.broken {
            return;
        }
        let missing: Vec<&FnParam> = function
            .params
            .iter()
            .filter(|param| {
                !param.rest
                    && param.default.is_none()
                    && !bound.by_name.contains_key(param.name.text.as_str())
            })
            .collect();
        if missing.is_empty() {
            return;
        }
        bound.broken = true;
        let names: Vec<String> =
            missing.iter().map(|param| format!("`{}`", param.name.text)).collect();
        let plural = if names.len() == 1 { "" } else { "s" };
        let message = format!("`{}` needs the argument{plural} {}", site.name, names.join(", "));
        let problem = Problem::error("types::missing_argument", site.callee, message)
            .help(format!("its arguments: {}", self.signature_text(function)));
        self.report(problem);
    }

    /// The parameters of a function in one line.
    pub(super) fn signature_text(&self, function: &FnDecl) -> String {
        let params: Vec<String> = function
            .params
            .iter()
            .map(|param| {
                let ty = self
                    .sources
                    .slice(param.ty.span)
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ");
                let default = param
                    .default
                    .as_ref()
                    .map(|value| format!(" = {}", self.sources.slice(value.span)));
                let dots = if param.rest { ".." } else { "" };
                format!("{dots}{}: {ty}{}", param.name.text, default.unwrap_or_default())
            })
            .collect();
        params.join(", ")
    }
}

/// Whether a parameter takes the name of a type.
fn takes_type(ty: &TypeExpr) -> bool {
    match &ty.kind {
        TypeKind::Named { path, .. } => matches!(path.as_slice(), [only] if only.text == "Type"),
        TypeKind::Optional(inner) => takes_type(inner),
        _ => false,
    }
}
