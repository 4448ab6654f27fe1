//! Calls that are made again, in loops and in functions that are inlined.
//!
//! Each place of a call remembers its last call: the values that were given and what came of them. When it is reached
//! again, only what changed is fitted, written into the key and put into the node. Whatever a changed value could
//! decide beside its own argument (types, columns, parts, shapes, files) sends the call down the long way, which says
//! what is wrong with it.

use super::arguments::{CallSite, Given};
use super::draft::input;
use super::shapes::Shape;
use super::{Draft, Evaluator, MAX_NODES, Native, Origin, Scope, Typed, Value};
use crate::key::Written;
use crate::plan::{Arg as PlanArg, Shared};
use crate::types::{Bindings, Type};
use crate::value::Const;
use pipe_grammar::Span;
use pipe_grammar::ast::{Arg, Expr, ExprKind, FnDecl};
use std::rc::Rc;

/// The last call at a place.
pub(super) struct Last<'a> {
    /// The subject, when it came through `|>`, and the arguments as they stand there.
    given: Vec<Typed<'a>>,
    made: Made<'a>,
}

enum Made<'a> {
    /// A constant of constants.
    Value(Typed<'a>),
    Node(Box<LastNode>),
}

/// A node with what it was made of.
pub(super) struct LastNode {
    native: Rc<Native>,
    /// The parameter that each given value is for.
    params: Vec<usize>,
    draft: Draft,
    /// The arguments as they stand in the key, one for each; nothing for those that stay out.
    written: Vec<Written>,
    origin: Rc<Origin>,
    shape: Option<Shape>,
}

/// The values given at a place, with their parameters.
pub(crate) struct Raw<'a> {
    pub(super) place: usize,
    pub(super) given: Vec<Typed<'a>>,
    pub(super) params: Vec<usize>,
}

impl<'a> Evaluator<'a> {
    /// Whether calls are likely to be made again.
    fn repeating(&self) -> bool {
        (self.turns > 0 || !self.calls.is_empty()) && self.drafting() && self.in_row == 0
    }

    /// The value of a call that has been made before with nearly the same values. When it is `None`, the arguments
    /// that have been evaluated wait in `ahead` for the long way.
    pub(super) fn again(
        &mut self,
        callee: &'a Expr,
        args: &'a [Arg],
        subject: Option<&Given<'a>>,
        scope: &Scope<'a>,
    ) -> Option<Typed<'a>> {
        if !self.repeating() || is_local(callee, scope) {
            return None;
        }
        let place = place_of(callee);
        self.last.get(&place)?;
        let mut given = Vec::with_capacity(args.len() + 1);
        given.extend(subject.map(|subject| subject.value.clone()));
        for arg in args {
            given.push(self.expr(&arg.value, scope));
        }
        if let Some(mut last) = self.last.get_mut(&place).and_then(Option::take)
            && let Some(value) = self.made_again(&mut last, &given, args, subject)
        {
            last.given = given;
            self.last.insert(place, Some(last));
            return Some(value);
        }
        let skipped = usize::from(subject.is_some());
        let values = given.into_iter().skip(skipped);
        self.ahead.extend(args.iter().map(|arg| place_of(&arg.value)).zip(values));
        None
    }

    /// The value of an argument, which may have been evaluated already.
    pub(super) fn given(&mut self, expr: &'a Expr, scope: &Scope<'a>) -> Typed<'a> {
        if !self.ahead.is_empty()
            && let Some(value) = self.ahead.remove(&place_of(expr))
        {
            return value;
        }
        self.expr(expr, scope)
    }

    fn made_again(
        &mut self,
        last: &mut Last<'a>,
        given: &[Typed<'a>],
        args: &'a [Arg],
        subject: Option<&Given<'a>>,
    ) -> Option<Typed<'a>> {
        if last.given.len() != given.len() {
            return None;
        }
        let changed: Vec<usize> = (0..given.len())
            .filter(|at| match (last.given.get(*at), given.get(*at)) {
                (Some(a), Some(b)) => !same(a, b),
                _ => true,
            })
            .collect();
        match &mut last.made {
            Made::Value(value) => changed.is_empty().then(|| value.clone()),
            Made::Node(node) => {
                let spans = subject.map(|subject| subject.span).into_iter();
                let spans: Vec<Span> = spans.chain(args.iter().map(|arg| arg.value.span)).collect();
                let mut fitted = Vec::with_capacity(changed.len());
                for at in changed {
                    let (old, new) = (last.given.get(at)?, given.get(at)?);
                    fitted.push(self.anew(
                        node,
                        *node.params.get(at)?,
                        old,
                        new,
                        *spans.get(at)?,
                    )?);
                }
                self.node_again(node, fitted)
            }
        }
    }

    /// A changed value as an argument, when it decides nothing else.
    fn anew(
        &mut self,
        node: &LastNode,
        param: usize,
        old: &Typed<'a>,
        new: &Typed<'a>,
        span: Span,
    ) -> Option<(usize, PlanArg)> {
        let native = Rc::clone(&node.native);
        let param = native.params.get(param)?;
        let at = node.draft.args.keys().position(|name| *name == param.name)?;
        if native.types.is_some() || param.column || super::shapes::reads(&native, &param.name) {
            return None;
        }
        if let (Value::Node(a), Value::Node(b)) = (&old.value, &new.value) {
            let alike = old.ty == new.ty && a.path == b.path && same_origin(&a.origin, &b.origin);
            let shaped = self.is_shaped(a.node) || self.is_shaped(b.node);
            let tokenizer = new.ty.is_artifact_named("Tokenizer");
            let read = node.draft.args.get(&param.name) == Some(&PlanArg::Input(input(a)));
            return (alike && !shaped && !tokenizer && read)
                .then(|| (at, PlanArg::Input(input(b))));
        }
        if !is_plain(&param.ty) || !is_constant(old) || !is_constant(new) || param.name == "dtype" {
            return None;
        }
        let fitted = self.fit(new.clone(), &param.ty, &mut Bindings::default(), span).ok()?;
        match self.arg(&Given { value: fitted, span })? {
            PlanArg::Const(value) => Some((at, PlanArg::Const(value))),
            _ => None,
        }
    }

    fn node_again(
        &mut self,
        last: &mut LastNode,
        changed: Vec<(usize, PlanArg)>,
    ) -> Option<Typed<'a>> {
        let attributes = &self.place.attributes;
        let asked = Rc::ptr_eq(attributes, &last.draft.attributes)
            || **attributes == *last.draft.attributes;
        if last.draft.frame != self.frame.number || !asked || self.drafts.len() >= MAX_NODES {
            return None;
        }
        for (at, arg) in changed {
            let name = last.draft.args.keys().nth(at)?.clone();
            if !last.draft.nokey.contains(&name) {
                let mut written = Written::default();
                written.arg(&name, &arg)?;
                *last.written.get_mut(at)? = written;
            }
            last.draft.args.set(at, arg);
        }
        let mut draft = last.draft.clone();
        draft.places = self.here();
        draft.key = self.written_key(&draft, last.written.iter())?;
        let ty = draft.ty.clone();
        let node = self.add_keyed(draft);
        let origin = self.own_origin(node, Rc::clone(&last.origin), &last.native);
        let made = super::draft::whole(node, ty, origin);
        self.shaped(&made.value, last.shape.clone());
        Some(made)
    }

    /// The values of a call as they were given, to be remembered with what comes of it.
    pub(super) fn raw(
        &self,
        callee: usize,
        function: &'a FnDecl,
        site: &CallSite<'a>,
        bound: &super::arguments::Bound<'a>,
    ) -> Option<Raw<'a>> {
        if !self.repeating() || bound.broken || !bound.rest.is_empty() {
            return None;
        }
        let mut raw = Raw { place: callee, given: Vec::new(), params: Vec::new() };
        let firsts = site.subject.is_some().then_some(None).into_iter();
        for name in firsts.chain(site.args.iter().map(|arg| arg.name.as_ref())) {
            let at = match name {
                Some(name) => {
                    function.params.iter().position(|param| param.name.text == name.text)?
                }
                None if raw.given.is_empty() => 0,
                None => return None,
            };
            let param = function.params.get(at).filter(|param| !param.rest)?;
            let value = &bound.by_name.get(param.name.text.as_str())?.value;
            if matches!(value.value, Value::Type(_) | Value::Function(_)) || value.is_unknown() {
                return None;
            }
            raw.given.push(value.clone());
            raw.params.push(at);
        }
        Some(raw)
    }

    /// Remember a call that made a node.
    pub(super) fn remember_node(
        &mut self,
        raw: Raw<'a>,
        native: &Rc<Native>,
        draft: Draft,
        origin: Rc<Origin>,
    ) {
        let mut all = Vec::with_capacity(draft.args.len());
        for (name, arg) in draft.args.iter() {
            let mut written = Written::default();
            if !draft.nokey.contains(name) && written.arg(name, arg).is_none() {
                return;
            }
            all.push(written);
        }
        let (native, params) = (Rc::clone(native), raw.params);
        let node = LastNode { native, params, draft, written: all, origin, shape: None };
        let last = Last { given: raw.given, made: Made::Node(Box::new(node)) };
        self.last.insert(raw.place, Some(last));
    }

    /// The shape of what was made at a place belongs to what is remembered.
    pub(super) fn remember_shape(&mut self, place: usize, shape: Option<&Shape>) {
        if let Some(Some(Last { made: Made::Node(node), .. })) = self.last.get_mut(&place) {
            node.shape = shape.cloned();
        }
    }

    /// Remember a call that made a constant of constants.
    pub(super) fn remember_value(&mut self, raw: Raw<'a>, value: &Typed<'a>) {
        if raw.given.iter().all(is_constant) && is_constant(value) {
            let last = Last { given: raw.given, made: Made::Value(value.clone()) };
            self.last.insert(raw.place, Some(last));
        }
    }

    /// The plan key of a draft from its arguments.
    pub(super) fn written_key<'w>(
        &self,
        draft: &Draft,
        args: impl Iterator<Item = &'w Written> + Clone,
    ) -> Option<crate::key::Key> {
        let tool = draft.tool.as_deref().map(String::as_str);
        crate::key::written_key(&draft.op, draft.version, tool, args, |id| {
            self.drafts.get(id.0 as usize).map(|draft| draft.key)
        })
    }
}

/// Where an expression stands. Trees are not moved while they are evaluated, so that its address says it.
pub(super) fn place_of(expr: &Expr) -> usize {
    std::ptr::from_ref(expr).addr()
}

/// Whether the callee may be another function each time.
fn is_local(callee: &Expr, scope: &Scope<'_>) -> bool {
    match &callee.kind {
        ExprKind::Name(name) => scope.local(name).is_some(),
        ExprKind::Field { base, .. } => match &base.kind {
            ExprKind::Name(name) => scope.local(name).is_some(),
            _ => true,
        },
        _ => true,
    }
}

/// Whether two values are one, so that what came of the first comes of the second.
fn same(a: &Typed<'_>, b: &Typed<'_>) -> bool {
    let values = match (&a.value, &b.value) {
        (Value::Const(a), Value::Const(b)) => same_constant(a, b),
        (Value::Node(a), Value::Node(b)) => {
            Rc::ptr_eq(a, b)
                || (a.node == b.node && a.path == b.path && same_origin(&a.origin, &b.origin))
        }
        (Value::List(a), Value::List(b)) => {
            Rc::ptr_eq(a, b)
                || (a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b)))
        }
        (Value::Record(a), Value::Record(b)) => {
            let mut both = a.iter().zip(b.iter());
            Rc::ptr_eq(a, b)
                || (a.len() == b.len() && both.all(|(a, b)| a.0 == b.0 && same(a.1, b.1)))
        }
        _ => false,
    };
    values && a.ty == b.ty
}

/// Equal as values and as what ops are given: zeros keep their sign.
fn same_constant(a: &Const, b: &Const) -> bool {
    match (a, b) {
        (Const::Float(a), Const::Float(b)) => a.to_bits() == b.to_bits(),
        (Const::List(a), Const::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_constant(a, b))
        }
        (Const::Record(a), Const::Record(b)) => {
            let alike = |(a, b): ((&String, &Const), (&String, &Const))| {
                a.0 == b.0 && same_constant(a.1, b.1)
            };
            a.len() == b.len() && a.iter().zip(b).all(alike)
        }
        _ => a == b,
    }
}

fn same_origin(a: &Rc<Origin>, b: &Rc<Origin>) -> bool {
    Rc::ptr_eq(a, b) || a == b
}

/// Whether all of a value is known.
fn is_constant(value: &Typed<'_>) -> bool {
    match &value.value {
        Value::Const(_) => true,
        Value::List(items) => items.iter().all(is_constant),
        Value::Record(fields) => fields.values().all(is_constant),
        _ => false,
    }
}

/// Whether a type names everything that fits it, so that a value binds no type parameter and names no file.
fn is_plain(ty: &Type) -> bool {
    match ty {
        Type::Bool
        | Type::Int
        | Type::Float
        | Type::Str
        | Type::Time
        | Type::Duration
        | Type::Size
        | Type::None
        | Type::Enum(_) => true,
        Type::Optional(inner) | Type::List(inner) => is_plain(inner),
        Type::Record(record) => {
            record.spread.is_none()
                && !record.open
                && record.fields.iter().all(|(_, ty)| is_plain(ty))
        }
        Type::Union(members) => members.iter().all(is_plain),
        _ => false,
    }
}

/// Names that many nodes have, held once.
pub(super) fn shared_names(native: &Native, args: crate::plan::Args) -> crate::plan::Args {
    let names: &Shared<Vec<String>> = native.names.get_or_init(|| args.names().clone());
    args.with_names(names)
}
