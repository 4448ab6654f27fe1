//! Calls of ops: arguments are converted, the result's type is found, a node is drafted.

use super::arguments::{CallSite, Given};
use super::call::RowArgument;
use super::value::Function as Callable;
use super::{Evaluator, Native, NativeCall, RowSource, Scope, Typed, Value};
use crate::resolve::ModuleId;
use crate::types::{Bindings, FunctionType, Type, accepts};
use pipe_grammar::ast::FnDecl;
use pipe_grammar::{Problem, Span};
use pipe_row::ir::Function;
use std::collections::BTreeMap;
use std::rc::Rc;

impl<'a> Evaluator<'a> {
    pub(super) fn native_call(
        &mut self,
        native: Rc<Native>,
        module: ModuleId,
        function: &'a FnDecl,
        site: CallSite<'a>,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        if self.in_row > 0 && !native.fold {
            let message = format!(
                "`{}` makes an artifact and cannot be called in a function of rows",
                native.op
            );
            let problem = Problem::error("types::op_in_row", site.callee, message);
            return self.fail(
                problem.help("call it outside, with `let`, and join its result to the table"),
            );
        }
        let bound = self.bind_arguments(function, &site, scope);
        let raw = self.raw(site.place, function, &site, &bound).filter(|_| !native.fold);
        let place = site.place;
        let mut call = NativeCall {
            declared: self.declared_at(module, function),
            native: Rc::clone(&native),
            site,
            values: bound
                .by_name
                .into_iter()
                .map(|(name, given)| (name.to_owned(), given))
                .collect(),
            rest: bound.rest,
            rows: BTreeMap::new(),
            grouped: BTreeMap::new(),
            columns: BTreeMap::new(),
            more: BTreeMap::new(),
            bound: Bindings::default(),
            raw,
            broken: bound.broken,
        };
        self.fill_defaults(&mut call, module, function);
        self.convert_arguments(&mut call);
        if native.fold {
            return self.folded(&mut call);
        }
        if native.is_search() {
            return self.search(&call);
        }
        self.convert_functions(&mut call);
        self.check_columns(&mut call);
        let ty = self.result_type(&mut call);
        let origin = self.origin_of(&mut call);
        let shape = self.shape_of(&mut call);
        if call.broken
            || ty.is_error()
            || !self.drafting()
            || call.values.values().any(|given| given.value.is_unknown())
        {
            return Typed::unknown(ty);
        }
        let memory = self.memory_of(&call);
        let remembered = call.raw.is_some();
        let made = self.draft(call, ty, origin, memory);
        if remembered {
            self.remember_shape(place, shape.as_ref());
        }
        self.shaped(&made.value, shape);
        made
    }

    fn fill_defaults(&mut self, call: &mut NativeCall<'a>, module: ModuleId, function: &'a FnDecl) {
        for param in &function.params {
            if let Some(default) = &param.default
                && !call.values.contains_key(&param.name.text)
            {
                let value = self.expr(default, &Scope::module(module));
                let given = Given { value, span: call.site.callee };
                call.values.insert(param.name.text.clone(), given);
            }
        }
    }

    /// Fit every argument that is not a function; the subject first, so that type parameters are known.
    /// Scalar functions take missing values and whole numbers as they are.
    fn convert_arguments(&mut self, call: &mut NativeCall<'a>) {
        let native = Rc::clone(&call.native);
        let scalar = native.fold
            && (Function::from_path(&native.op).is_some() || native.op.starts_with("window."));
        for param in
            native.params.iter().filter(|param| !param.rest && function_of(&param.ty).is_none())
        {
            let Some(given) = call.values.get(&param.name).cloned() else { continue };
            if !self.is_known(&native, param, &given) {
                call.broken = true;
                continue;
            }
            let mut bound = std::mem::take(&mut call.bound);
            let wanted = if scalar { param.ty.clone().optional() } else { param.ty.clone() };
            match self.fit(given.value.clone(), &wanted, &mut bound, given.span) {
                Ok(_) if scalar => {}
                Ok(value) => {
                    call.values.insert(param.name.clone(), Given { value, span: given.span });
                }
                Err(mismatch) => {
                    let what = format!("`{}` of `{}`", param.name, native.op);
                    let mut wanted = mismatch.clone();
                    wanted.wanted = display_type(&mismatch.wanted, &bound);
                    let problem = self.mismatch(&wanted, &given.value, &what, given.span);
                    self.report(problem);
                    call.broken = true;
                    let value = Typed::unknown(bound.apply(&param.ty));
                    call.values.insert(param.name.clone(), Given { value, span: given.span });
                }
            }
            call.bound = bound;
        }
    }

    /// Lower every argument that is a function of rows.
    fn convert_functions(&mut self, call: &mut NativeCall<'a>) {
        let native = Rc::clone(&call.native);
        if !native.params.iter().any(|param| function_of(&param.ty).is_some()) {
            return;
        }
        let order = self.row_order(call);
        let outer = self.order.replace(order.clone());
        for param in &native.params {
            let Some(wanted) = function_of(&param.ty) else { continue };
            if param.rest {
                let over = if param.grouped {
                    let keys = if call.values.contains_key("over") { "over" } else { "by" };
                    Over::Groups(call.values.get(keys).and_then(|keys| keys.value.texts()))
                } else {
                    Over::Row
                };
                for (name, given) in call.rest.clone() {
                    if let Some(row) = self.row_argument(call, wanted, &given, name, &over) {
                        call.rows.insert(name.to_owned(), row);
                    }
                }
            } else if let Some(given) = call.values.get(&param.name).cloned()
                && !(given.value.ty == Type::None && matches!(param.ty, Type::Optional(_)))
                && let Some(row) = self.row_argument(call, wanted, &given, &param.name, &Over::Row)
            {
                call.rows.insert(param.name.clone(), row);
            }
        }
        self.order = outer;
        self.settle_order(call, &order);
    }

    fn row_argument(
        &mut self,
        call: &mut NativeCall<'a>,
        wanted: &FunctionType,
        given: &Given<'a>,
        name: &str,
        over: &Over,
    ) -> Option<RowArgument> {
        let Value::Function(function) = &given.value.value else {
            if !given.value.ty.is_error() && !given.value.is_unknown() {
                let message =
                    format!("`{name}` is a function of rows, and this is `{}`", given.value.ty);
                let start = Span { end: given.span.start, ..given.span };
                let problem =
                    Problem::error("types::mismatch", given.span, message).edit(start, "row => ");
                self.report(problem);
            }
            call.broken = true;
            return None;
        };
        let span = function_span(function, given.span);
        let source = self.row_source(call);
        let arguments: Vec<Typed<'a>> = wanted
            .params
            .iter()
            .map(|param| Typed {
                ty: call.bound.apply(param),
                value: Value::Row(Rc::clone(&source)),
            })
            .collect();
        self.in_row += 1;
        let value = self.apply_values(&Rc::clone(function), arguments, given.span);
        self.in_row -= 1;
        let mut bound = std::mem::take(&mut call.bound);
        let result = accepts(&wanted.result.clone().optional_result(), &value.ty, &mut bound);
        call.bound = bound;
        if let Err(mismatch) = result {
            let what = format!("the result of `{name}`");
            let mismatch =
                crate::types::Mismatch { wanted: call.bound.apply(&wanted.result), ..mismatch };
            let problem = self.mismatch(&mismatch, &value, &what, span);
            self.report(problem);
            call.broken = true;
            return None;
        }
        if value.ty.is_error() {
            call.broken = true;
            return Some(RowArgument::broken());
        }
        if value.ty.scalar().is_none() {
            let message =
                format!("a function of rows gives one scalar, and this gives `{}`", value.ty);
            self.report(Problem::error("types::row_result", span, message));
            call.broken = true;
            return Some(RowArgument::broken());
        }
        if let Over::Groups(by) = over {
            let lowered = match by {
                Some(by) if !value.is_unknown() => self.group_fn(&value, by, span),
                _ => None,
            };
            call.broken |= lowered.is_none();
            let (arg, origin) =
                lowered.map(|(arg, origin)| (Some(arg), origin)).unwrap_or_default();
            call.grouped.extend(arg.map(|arg| (name.to_owned(), arg)));
            return Some(RowArgument { function: None, ty: value.ty, origin });
        }
        let lowered = if value.is_unknown() { None } else { self.row_function(&value, span) };
        call.broken |= lowered.is_none();
        let (function, origin) =
            lowered.map(|(arg, origin)| (Some(arg), origin)).unwrap_or_default();
        Some(RowArgument { function, ty: value.ty, origin })
    }

    fn row_source(&self, call: &NativeCall<'a>) -> Rc<RowSource> {
        let first = call.native.params.first().and_then(|param| call.values.get(&param.name));
        let span = first.map_or(call.site.callee, |given| given.span);
        let text = self.sources.slice(span);
        let word = !text.is_empty()
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        Rc::new(RowSource { name: word.then(|| text.to_owned()), span })
    }

    /// The type of the result: from the type function that the signature names, else from the signature.
    fn result_type(&mut self, call: &mut NativeCall<'a>) -> Type {
        let plain = call.bound.apply(&call.native.result);
        let broken = call.broken;
        match call.native.types.clone() {
            None => plain,
            Some(name) => match crate::typefn::apply(self, &name, call) {
                Some(ty) if broken => ty.opened(),
                Some(ty) => ty,
                None => {
                    call.broken = true;
                    if plain.is_error() || plain == Type::Any { Type::Error } else { plain }
                }
            },
        }
    }
}

/// What a function sees: one row, or the rows that are equal in some columns (when these are known).
enum Over {
    Row,
    Groups(Option<Vec<String>>),
}

impl RowArgument {
    /// What is left of one after a reported mistake.
    fn broken() -> Self {
        Self { function: None, ty: Type::Error, origin: super::Origin::default() }
    }
}

/// The function type of a parameter, optional or not.
fn function_of(ty: &Type) -> Option<&FunctionType> {
    match ty.required().0 {
        Type::Function(function) => Some(function),
        _ => None,
    }
}

fn function_span(function: &Callable<'_>, given: Span) -> Span {
    match function {
        Callable::Lambda { body, .. } => body.value.span,
        Callable::Declared { .. } => given,
    }
}

/// A type for a message, with what is known of its parameters.
fn display_type(ty: &Type, bound: &Bindings) -> Type {
    match ty {
        Type::Var(name) => bound.get(name).cloned().unwrap_or_else(|| ty.clone()),
        other => other.clone(),
    }
}

impl Type {
    /// What a row function may give where this is wanted: a missing result is always allowed.
    fn optional_result(self) -> Self {
        match self {
            Self::Any | Self::Var(_) => self,
            other => other.optional(),
        }
    }
}
