//! Declarations: each evaluates once, under its own name and attributes.

use super::arguments::Given;
use super::{Evaluator, Place, Scope, Typed, Value};
use crate::plan::{Arg, Comparison, Root, RootKind};
use crate::resolve::DeclId;
use crate::types::{Bindings, Type};
use pipe_grammar::ast::{BinaryOp, Binding, ExprKind, FnDecl, Item, ItemKind};
use pipe_grammar::{Problem, Span};
use std::rc::Rc;

impl<'a> Evaluator<'a> {
    /// Evaluate a declaration.
    pub(super) fn declare(&mut self, id: DeclId) -> Typed<'a> {
        let item: &'a Item = self.program.item(id);
        let scope = Scope::module(id.module);
        let name = self.qualified(id);
        let outer = std::mem::take(&mut self.place);
        let outer_calls = std::mem::take(&mut self.calls);
        let outer_quiet = std::mem::replace(&mut self.quiet, 0);
        let outer_row = std::mem::replace(&mut self.in_row, 0);
        let outer_depth = std::mem::replace(&mut self.depth, 0);
        let outer_frame = std::mem::take(&mut self.frame);
        let value = match &item.kind {
            ItemKind::Let(binding) => self.top_let(item, binding, name, &scope),
            ItemKind::Output(binding) => self.output(id, item, binding, name, &scope),
            ItemKind::Check(binding) => self.check(id, item, binding, name, &scope),
            ItemKind::Param { name, ty, default, condition } => {
                self.no_attributes(item, "a `param`");
                let value = self.param(id, item, name, ty, default.as_ref(), condition.as_ref());
                self.note(name.span, &value.ty);
                value
            }
            ItemKind::Fn(function) => {
                self.check_function(id, item, function);
                self.function_value(id).unwrap_or_else(Typed::error)
            }
            ItemKind::Type { .. } => {
                self.declared_type(id);
                Typed::error()
            }
            ItemKind::Use { .. } | ItemKind::Broken { .. } => Typed::error(),
        };
        self.place = outer;
        self.calls = outer_calls;
        self.quiet = outer_quiet;
        self.in_row = outer_row;
        self.depth = outer_depth;
        self.frame = outer_frame;
        value
    }

    fn qualified(&self, id: DeclId) -> String {
        let name = self.item_name(id);
        if id.module == 0 {
            return name.to_owned();
        }
        let module = &self.program.modules[id.module];
        let stem = self.sources.get(module.file).map_or("", |file| file.name.as_str());
        let stem = stem
            .rsplit('/')
            .next()
            .unwrap_or(stem)
            .trim_end_matches(".pipe")
            .trim_matches(['<', '>']);
        format!("{stem}.{name}")
    }

    fn no_attributes(&mut self, item: &'a Item, what: &str) {
        if let Some(attr) = item.attrs.first() {
            let message = format!("{what} makes no nodes, so `@{}` has no effect", attr.name.text);
            self.report(Problem::warning("plan::attribute_without_node", attr.span, message));
        }
    }

    fn enter(&mut self, name: String, item: &'a Item, scope: &Scope<'a>) {
        let attributes = self.attributes(&item.attrs, scope);
        let doc = item.doc.clone().map(Into::into);
        self.place = Place { name: name.into(), doc, attributes };
    }

    fn top_let(
        &mut self,
        item: &'a Item,
        binding: &'a Binding,
        name: String,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        self.enter(name, item, scope);
        let value = self.bound_value(binding, scope);
        let value = self.materialised(value, binding.value.span);
        self.name_result(&value);
        value
    }

    /// A `let` inside a block: a place of its own inside the current one.
    pub(super) fn inner_let(
        &mut self,
        item: &'a Item,
        binding: &'a Binding,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        if self.in_row > 0 {
            return self.bound_value(binding, scope);
        }
        let inner = match self.place.name.as_str() {
            "" => binding.name.text.clone(),
            outer => format!("{outer}.{}", binding.name.text),
        };
        let attributes = self.attributes(&item.attrs, scope);
        let place = Place {
            name: inner.into(),
            doc: item.doc.clone().map(Into::into).or_else(|| self.place.doc.clone()),
            attributes,
        };
        let outer = std::mem::replace(&mut self.place, place);
        let value = self.bound_value(binding, scope);
        self.name_result(&value);
        self.place = outer;
        value
    }

    /// Evaluate at a place inside the current one: `adapters` becomes `adapters[rank=8]`.
    pub(super) fn at_place(
        &mut self,
        label: &str,
        body: impl FnOnce(&mut Self) -> Typed<'a>,
    ) -> Typed<'a> {
        let place =
            Place { name: format!("{}{label}", self.place.name).into(), ..self.place.clone() };
        let outer = std::mem::replace(&mut self.place, place);
        let value = body(self);
        self.name_result(&value);
        self.place = outer;
        value
    }

    /// The node behind a declaration's value takes its name.
    pub(super) fn name_result(&mut self, value: &Typed<'a>) {
        let node = match &value.value {
            Value::Node(node) if node.path.is_empty() => Some(node.node),
            Value::Record(fields) => {
                let mut nodes = fields.values().map(|field| match &field.value {
                    Value::Node(node) if node.path.len() == 1 => Some(node.node),
                    _ => None,
                });
                let first = nodes.next().flatten();
                if nodes.all(|node| node == first) { first } else { None }
            }
            _ => None,
        };
        let here = &self.place.name;
        if let Some(draft) = node.and_then(|node| self.drafts.get_mut(node))
            && let Some(place) = draft.places.iter_mut().rev().find(|place| place.name == *here)
        {
            place.result = true;
        }
    }

    fn bound_value(&mut self, binding: &'a Binding, scope: &Scope<'a>) -> Typed<'a> {
        let value = self.fitted_value(binding, scope);
        self.note(binding.name.span, &value.ty);
        value
    }

    fn fitted_value(&mut self, binding: &'a Binding, scope: &Scope<'a>) -> Typed<'a> {
        let value = self.expr(&binding.value, scope);
        let Some(ty) = &binding.ty else { return value };
        let wanted = self.written(scope.module, ty, &[]);
        match self.fit(value.clone(), &wanted, &mut Bindings::default(), binding.value.span) {
            Ok(fitted) => {
                self.check_part(&fitted, &wanted, binding.value.span, ty.span);
                Typed {
                    ty: if fitted.ty.is_error() { wanted } else { fitted.ty },
                    value: fitted.value,
                }
            }
            Err(mismatch) => {
                let what = format!("`{}`", binding.name.text);
                let problem = self.mismatch(&mismatch, &value, &what, binding.value.span);
                self.report(problem.also(ty.span, "declared here"));
                Typed::unknown(wanted)
            }
        }
    }

    /// `Table<Row, train>` is not given the part `test`.
    pub(super) fn check_part(
        &mut self,
        value: &Typed<'a>,
        wanted: &Type,
        span: Span,
        declared: Span,
    ) {
        let part = match wanted {
            Type::Table(table) => table.part.clone(),
            Type::Artifact(artifact) => artifact.part.clone(),
            _ => None,
        };
        let Some(part) = part else { return };
        let rows = super::parts::origin_in(value).rows;
        if let Some(other) = rows.parts.iter().find(|found| found.name != part) {
            let message = format!("this is the part `{}`, and `{part}` is declared", other.name);
            self.report(
                Problem::error("parts::wrong_part", span, message).also(declared, "declared here"),
            );
        }
    }

    fn output(
        &mut self,
        id: DeclId,
        item: &'a Item,
        binding: &'a Binding,
        name: String,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        if name == "checks" && id.module == 0 {
            let message = "an output cannot be called `checks`: `checks.json` holds the results of the checks";
            let problem = Problem::error("plan::output_name", binding.name.span, message);
            self.report(problem.help("give it another name, such as `checked`"));
        }
        self.enter(name, item, scope);
        let value = self.bound_value(binding, scope);
        if let Value::Function(_) | Value::Type(_) = value.value {
            let message = "an output is a value: an artifact, a number, a text, a list or a record";
            return self.fail(Problem::error("types::output", binding.value.span, message));
        }
        let value = self.materialised(value, binding.value.span);
        self.name_result(&value);
        if id.module == 0 {
            let given = Given { value: value.clone(), span: binding.value.span };
            if let Some(arg) = self.root_arg(&given) {
                self.root(binding, RootKind::Output, arg, item, None);
            }
        }
        value
    }

    fn check(
        &mut self,
        id: DeclId,
        item: &'a Item,
        binding: &'a Binding,
        name: String,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        self.enter(name, item, scope);
        let mut shows = None;
        let value = match &binding.value.kind {
            ExprKind::Binary { op, op_span, left, right } if compares(*op) => {
                let a = self.expr(left, scope);
                let b = self.expr(right, scope);
                let operands = super::operator::Operands {
                    a: a.clone(),
                    b: b.clone(),
                    a_span: left.span,
                    b_span: right.span,
                    op_span: *op_span,
                    span: binding.value.span,
                };
                self.check_chosen(&a, left.span);
                self.check_chosen(&b, right.span);
                let value = self.infix(*op, operands);
                if id.module == 0
                    && matches!(value.ty.required().0, Type::Bool)
                    && !value.is_unknown()
                {
                    let left = self.root_arg(&Given { value: a, span: left.span });
                    let right = self.root_arg(&Given { value: b, span: right.span });
                    shows = left.zip(right).map(|(left, right)| Comparison {
                        left,
                        op: super::operator::sign(*op).to_owned(),
                        right,
                    });
                }
                value
            }
            _ => self.expr(&binding.value, scope),
        };
        if !matches!(value.ty.required().0, Type::Bool | Type::Error) {
            let message = format!("a check is `bool`, and this is `{}`", value.ty);
            let problem = Problem::error("types::check", binding.value.span, message);
            return self.fail(problem.help("compare it: `check good = score.f1 >= 0.8`"));
        }
        let value = self.materialised(value, binding.value.span);
        self.name_result(&value);
        if id.module == 0 {
            let given = Given { value: value.clone(), span: binding.value.span };
            if let Some(arg) = self.root_arg(&given) {
                self.root(binding, RootKind::Check, arg, item, shows);
            }
        }
        value
    }

    fn root_arg(&mut self, given: &Given<'a>) -> Option<Arg> {
        if given.value.is_unknown() { None } else { self.arg(given) }
    }

    fn root(
        &mut self,
        binding: &Binding,
        kind: RootKind,
        value: Arg,
        item: &Item,
        shows: Option<Comparison>,
    ) {
        self.roots.push(Root {
            name: binding.name.text.clone(),
            kind,
            value,
            doc: item.doc.clone(),
            span: binding.name.span,
            shows,
        });
    }

    /// Look into a function once, with arguments of which only the types are known.
    fn check_function(&mut self, id: DeclId, item: &'a Item, function: &'a FnDecl) {
        if self.program.modules[id.module].library.is_some() && !self.check_library {
            return;
        }
        if item.attrs.iter().any(|attr| attr.name.text == "native") {
            self.native(id);
            return;
        }
        self.no_attributes(item, "a `fn`");
        let Some(body) = &function.body else {
            let message = format!("`{}` has no body", function.name.text);
            let problem = Problem::error("resolve::native", function.name.span, message);
            self.report(problem.help("write it behind `=`"));
            return;
        };
        let mut scope = Scope::module(id.module);
        for (at, param) in function.params.iter().enumerate() {
            if function.params.iter().take(at).any(|first| first.name.text == param.name.text) {
                let message = format!("two parameters are called `{}`", param.name.text);
                self.report(Problem::error("resolve::duplicate", param.name.span, message));
            }
            let ty = self.written(id.module, &param.ty, &function.type_params);
            if let Some(default) = &param.default {
                let value = self.quietly(|it| it.expr(default, &Scope::module(id.module)));
                if let Err(mismatch) =
                    self.fit(value.clone(), &ty, &mut rigid(function), default.span)
                {
                    let what = format!("`{}`", param.name.text);
                    let problem = self.mismatch(&mismatch, &value, &what, default.span);
                    self.report(problem.also(param.ty.span, "declared here"));
                }
            }
            self.note(param.name.span, &ty);
            let ty = if param.rest { Type::Any } else { ty };
            scope = scope.with(&param.name.text, Typed::unknown(ty));
        }
        let value = self.quietly(|it| it.block(body, &scope));
        self.quietly(|it| {
            it.checked_result(id.module, item, function, value, &mut rigid(function))
        });
    }
}

/// Type parameters that stand for themselves.
fn rigid(function: &FnDecl) -> Bindings {
    let mut bound = Bindings::default();
    for param in &function.type_params {
        let name: Rc<str> = Rc::from(param.text.as_str());
        bound.set(&name, Type::Var(Rc::clone(&name)));
    }
    bound
}

fn compares(op: BinaryOp) -> bool {
    use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    matches!(op, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
}
