//! `@gpu @memory @retry @timeout @cache`: where and how the nodes of a declaration run.

use super::{Evaluator, Scope, Typed};
use crate::types::{Bindings, Type};
use crate::value::Const;
use pipe_grammar::ast::{Attr, ExprKind};
use pipe_grammar::{Problem, Span, did_you_mean};
use std::rc::Rc;

/// The attributes in force where a node is drafted; inner declarations override outer ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Attributes {
    pub(crate) gpu: Option<Gpu>,
    pub(crate) memory: Option<u64>,
    pub(crate) retry: u32,
    pub(crate) timeout: Option<i64>,
    pub(crate) cache_off: bool,
}

/// `@gpu(1, else: "cpu")`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gpu {
    pub(crate) count: u32,
    pub(crate) or_cpu: bool,
    pub(crate) span: Span,
}

/// The attributes that a program may use.
const KNOWN: [&str; 5] = ["gpu", "memory", "retry", "timeout", "cache"];

impl<'a> Evaluator<'a> {
    /// The attributes of a declaration inside those already in force.
    pub(super) fn attributes(&mut self, attrs: &'a [Attr], scope: &Scope<'a>) -> Rc<Attributes> {
        if attrs.is_empty() {
            return Rc::clone(&self.place.attributes);
        }
        let mut all = (*self.place.attributes).clone();
        let mut seen: Vec<(&str, Span)> = Vec::new();
        for attr in attrs {
            let name = attr.name.text.as_str();
            if let Some((_, first)) = seen.iter().find(|(seen, _)| *seen == name) {
                let message = format!("`@{name}` is given twice");
                let problem = Problem::error("plan::duplicate_attribute", attr.span, message);
                self.report(problem.also(*first, "first given here"));
            }
            seen.push((name, attr.span));
            match name {
                "gpu" => all.gpu = self.gpu(attr, scope),
                "memory" => {
                    if let Some(Const::Size(bytes)) =
                        self.single(attr, &Type::Size, "a size, such as `8GiB`", scope)
                    {
                        all.memory = u64::try_from(bytes).ok();
                    }
                }
                "retry" => {
                    if let Some(Const::Int(times)) =
                        self.single(attr, &Type::Int, "how often, such as `2`", scope)
                    {
                        all.retry = u32::try_from(times.clamp(0, 100)).unwrap_or(0);
                    }
                }
                "timeout" => {
                    if let Some(Const::Duration(nanos)) =
                        self.single(attr, &Type::Duration, "a duration, such as `6h`", scope)
                    {
                        all.timeout = Some(nanos);
                    }
                }
                "cache" => self.cache(attr, &mut all),
                _ => self.unknown_attribute(attr),
            }
        }
        Rc::new(all)
    }

    fn unknown_attribute(&mut self, attr: &Attr) {
        let message = format!("there is no attribute `@{}`", attr.name.text);
        let mut problem = Problem::error("plan::unknown_attribute", attr.name.span, message);
        problem = match did_you_mean(&attr.name.text, KNOWN) {
            Some(near) => {
                problem.label(format!("did you mean `@{near}`?")).edit(attr.name.span, near)
            }
            None => problem.help(format!(
                "the attributes: {}",
                KNOWN.map(|name| format!("@{name}")).join(", ")
            )),
        };
        self.report(problem);
    }

    fn cache(&mut self, attr: &'a Attr, all: &mut Attributes) {
        match attr.args.first().map(|arg| &arg.value.kind) {
            Some(ExprKind::Name(word)) if word == "off" && attr.args.len() == 1 => {
                all.cache_off = true
            }
            Some(ExprKind::Name(word)) if word == "on" && attr.args.len() == 1 => {
                all.cache_off = false
            }
            _ => self.wrong_attribute(attr, "`off`: `@cache(off)`"),
        }
    }

    fn gpu(&mut self, attr: &'a Attr, scope: &Scope<'a>) -> Option<Gpu> {
        let mut gpu = Gpu { count: 1, or_cpu: false, span: attr.span };
        for arg in &attr.args {
            let value = self.expr(&arg.value, scope);
            match (arg.name.as_ref().map(|name| name.text.as_str()), value.as_const()) {
                (None | Some("count"), Some(Const::Int(count))) if *count >= 0 => {
                    gpu.count = u32::try_from(*count).unwrap_or(u32::MAX);
                }
                (Some("else"), Some(Const::Str(word))) if word == "cpu" => gpu.or_cpu = true,
                _ if value.is_unknown() => {}
                _ if super::known::in_run(&value) => {
                    let given = super::arguments::Given { value, span: arg.value.span };
                    let why = "attributes say where and how nodes run";
                    self.unknown_before("the value of `@gpu`", &given, why);
                    return None;
                }
                _ => {
                    self.wrong_attribute(
                        attr,
                        "a number of GPUs, and perhaps `else: \"cpu\"`: `@gpu(1, else: \"cpu\")`",
                    );
                    return None;
                }
            }
        }
        Some(gpu)
    }

    fn single(
        &mut self,
        attr: &'a Attr,
        ty: &Type,
        wants: &str,
        scope: &Scope<'a>,
    ) -> Option<Const> {
        let [arg] = attr.args.as_slice() else {
            self.wrong_attribute(attr, wants);
            return None;
        };
        let value = self.expr(&arg.value, scope);
        if value.is_unknown() {
            return None;
        }
        if super::known::in_run(&value) {
            let what = format!("the value of `@{}`", attr.name.text);
            let given = super::arguments::Given { value, span: arg.value.span };
            self.unknown_before(&what, &given, "attributes say where and how nodes run");
            return None;
        }
        let fitted = self.fit(value, ty, &mut Bindings::default(), arg.value.span);
        match fitted.ok().as_ref().and_then(Typed::as_const) {
            Some(Const::Int(number) | Const::Duration(number) | Const::Size(number))
                if *number < 0 =>
            {
                self.wrong_attribute(attr, "a value that is not negative");
                None
            }
            Some(value) => Some(value.clone()),
            None => {
                self.wrong_attribute(attr, wants);
                None
            }
        }
    }

    fn wrong_attribute(&mut self, attr: &Attr, wants: &str) {
        let message = format!("`@{}` takes {wants}", attr.name.text);
        self.report(Problem::error("plan::attribute_value", attr.span, message));
    }
}
