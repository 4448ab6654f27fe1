//! Calls: which function, with which arguments; functions with a body are inlined.

use super::arguments::{CallSite, Given};
use super::expr::TooLarge;
use super::value::Function;
use super::{Evaluator, MAX_DEPTH, Native, Scope, Typed, Value};
use crate::resolve::{DeclId, ModuleId, name_span};
use crate::types::{Bindings, Type};
use pipe_grammar::ast::{Arg, Block, Expr, ExprKind, FnDecl, Item, Name};
use pipe_grammar::{Problem, Span};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A call of an op with its arguments bound and converted.
pub(crate) struct NativeCall<'a> {
    pub(crate) native: Rc<Native>,
    /// Where the op is declared.
    pub(crate) declared: Span,
    pub(crate) site: CallSite<'a>,
    /// Every parameter but the rest parameter; defaults filled in.
    pub(crate) values: BTreeMap<String, Given<'a>>,
    /// What the rest parameter took.
    pub(crate) rest: Vec<(&'a str, Given<'a>)>,
    /// Row functions by parameter, or by name inside the rest parameter.
    pub(crate) rows: BTreeMap<String, RowArgument>,
    /// Functions of groups of rows, by name inside the rest parameter.
    pub(crate) grouped: BTreeMap<String, crate::plan::Arg>,
    /// Columns that the type function found, by parameter.
    pub(crate) columns: BTreeMap<String, Vec<crate::plan::Column>>,
    /// Arguments that the type function adds.
    pub(crate) more: BTreeMap<String, crate::plan::Arg>,
    pub(crate) bound: Bindings,
    /// What was given, when the call is to be remembered.
    pub(crate) raw: Option<super::repeat::Raw<'a>>,
    /// A mistake is reported; no node comes of it.
    pub(crate) broken: bool,
}

/// A row function with the type of its result.
#[derive(Clone, Debug)]
pub(crate) struct RowArgument {
    pub(crate) function: Option<crate::plan::Arg>,
    pub(crate) ty: Type,
    /// What it reads beside its row.
    pub(crate) origin: super::Origin,
}

impl<'a> Evaluator<'a> {
    /// A call, or a chain of `|>`, which is walked from its beginning without nesting.
    pub(super) fn calls(&mut self, expr: &'a Expr, scope: &Scope<'a>) -> Typed<'a> {
        let mut steps = Vec::new();
        let mut first = expr;
        while let ExprKind::Pipe { subject, call } = &first.kind {
            steps.push((&**subject, &**call));
            first = subject;
        }
        let mut value = match &first.kind {
            ExprKind::Call { callee, args } => self.call(callee, args, None, first.span, scope),
            _ => self.expr(first, scope),
        };
        for (subject, call) in steps.into_iter().rev() {
            self.note(subject.span, &value.ty);
            let given = Given { value, span: subject.span };
            value = match &call.kind {
                ExprKind::Call { callee, args } => {
                    self.call(callee, args, Some(given), call.span, scope)
                }
                _ => Typed::error(),
            };
        }
        value
    }

    fn call(
        &mut self,
        callee: &'a Expr,
        args: &'a [Arg],
        subject: Option<Given<'a>>,
        span: Span,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        if let ExprKind::Name(name) = &callee.kind
            && scope.local(name).is_none()
            && !self.program.modules[scope.module].values.contains_key(name)
        {
            match name.as_str() {
                "files" => return self.files(args, subject, span, scope),
                "iterate" => return self.iterate(callee.span, args, subject, span, scope),
                _ => {}
            }
        }
        if let Some(value) = self.again(callee, args, subject.as_ref(), scope) {
            return value;
        }
        let function = self.callee(callee, scope);
        let Value::Function(function) = &function.value else {
            if !function.ty.is_error() && !function.is_unknown() {
                let message = format!("this is `{}` and cannot be called", function.ty);
                self.report(Problem::error("types::not_a_function", callee.span, message));
            }
            self.look_at(args, scope);
            return Typed::error();
        };
        let name = self.source_of(callee.span);
        let place = super::repeat::place_of(callee);
        let site = CallSite { name, callee: callee.span, place, span, subject, args };
        self.apply(&Rc::clone(function), site, scope)
    }

    fn callee(&mut self, callee: &'a Expr, scope: &Scope<'a>) -> Typed<'a> {
        match &callee.kind {
            ExprKind::Field { base, name } => match self.namespace(base, &name.text, true, scope) {
                Some(space) => self.namespace_member(&space, name),
                None => self.expr(callee, scope),
            },
            _ => self.expr(callee, scope),
        }
    }

    /// Report what is wrong in the arguments of a call that cannot be made.
    fn look_at(&mut self, args: &'a [Arg], scope: &Scope<'a>) {
        self.quietly(|it| {
            for arg in args {
                let word = match &arg.value.kind {
                    ExprKind::Name(word) => word.as_str(),
                    ExprKind::Field { name, .. } => name.text.as_str(),
                    _ => "",
                };
                if !word.starts_with(|c: char| c.is_ascii_uppercase()) {
                    it.expr(&arg.value, scope);
                }
            }
        });
    }

    fn apply(
        &mut self,
        function: &Function<'a>,
        site: CallSite<'a>,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        match function {
            Function::Lambda { params, body, scope: inner } => {
                let mut values = Vec::new();
                values.extend(site.subject.map(|subject| subject.value));
                values.extend(site.args.iter().map(|arg| self.given(&arg.value, scope)));
                self.apply_lambda(params, body, inner, values, site.span)
            }
            Function::Declared { module, item, function } => {
                let id = self.declaration(*module, function);
                match id.and_then(|id| self.native(id)) {
                    Some(native) => self.native_call(native, *module, function, site, scope),
                    None => self.inline(*module, item, function, site, scope),
                }
            }
        }
    }

    /// The id of a declared function.
    pub(super) fn declaration(&self, module: ModuleId, function: &FnDecl) -> Option<DeclId> {
        let item = *self.program.modules[module].values.get(&function.name.text)?;
        Some(DeclId { module, item })
    }

    /// Call a function value with values.
    pub(super) fn apply_values(
        &mut self,
        function: &Function<'a>,
        values: Vec<Typed<'a>>,
        span: Span,
    ) -> Typed<'a> {
        match function {
            Function::Lambda { params, body, scope } => {
                self.apply_lambda(params, body, scope, values, span)
            }
            Function::Declared { module, item, function } => {
                if self.declaration(*module, function).and_then(|id| self.native(id)).is_some() {
                    let message = "an op is called, not handed over";
                    let library = self.program.modules[*module].library.as_deref();
                    let library = library.map_or(String::new(), |name| format!("{name}."));
                    let name = format!("{library}{}", function.name.text);
                    let problem = Problem::error("types::op_as_value", span, message);
                    return self.fail(problem.help(format!("write `x => {name}(x)`")));
                }
                if values.len() != function.params.len() {
                    return self.wrong_count(function.params.len(), values.len(), span);
                }
                let given = function.params.iter().zip(values);
                let given =
                    given.map(|(param, value)| (param.name.text.as_str(), Given { value, span }));
                self.run_body(*module, item, function, given.collect(), span)
            }
        }
    }

    fn wrong_count(&mut self, wants: usize, given: usize, span: Span) -> Typed<'a> {
        let plural = if wants == 1 { "" } else { "s" };
        let message =
            format!("this function takes {wants} argument{plural}, and {given} are given");
        self.fail(Problem::error("types::argument_count", span, message))
    }

    fn apply_lambda(
        &mut self,
        params: &'a [Name],
        body: &'a Block,
        scope: &Scope<'a>,
        values: Vec<Typed<'a>>,
        span: Span,
    ) -> Typed<'a> {
        if params.len() != values.len() {
            return self.wrong_count(params.len(), values.len(), span);
        }
        let mut inner = scope.clone();
        for (name, value) in params.iter().zip(values) {
            self.note(name.span, &value.ty);
            inner = inner.with(&name.text, value);
        }
        self.block(body, &inner)
    }

    /// Inline a function with a body.
    fn inline(
        &mut self,
        module: ModuleId,
        item: &'a Item,
        function: &'a FnDecl,
        site: CallSite<'a>,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        let mut bound = self.bind_arguments(function, &site, scope);
        if let Some(rest) = function.params.iter().find(|param| param.rest) {
            let fields = std::mem::take(&mut bound.rest).into_iter();
            let fields = fields.map(|(name, given)| (Rc::from(name), given.value)).collect();
            let given = Given { value: Typed::record(fields), span: site.span };
            bound.by_name.insert(&rest.name.text, given);
        }
        let result = function.result.as_ref();
        if bound.broken || function.body.is_none() {
            let ty = result.map(|ty| self.written(module, ty, &function.type_params));
            return Typed::unknown(ty.map_or(Type::Error, |ty| Bindings::default().apply(&ty)));
        }
        let raw = self.raw(site.place, function, &site, &bound);
        let before = (self.drafts.len(), self.problems.len());
        let value = self.run_body(module, item, function, bound.by_name, site.span);
        if let Some(raw) = raw.filter(|_| before == (self.drafts.len(), self.problems.len())) {
            self.remember_value(raw, &value);
        }
        value
    }

    fn run_body(
        &mut self,
        module: ModuleId,
        item: &'a Item,
        function: &'a FnDecl,
        mut given: BTreeMap<&'a str, Given<'a>>,
        span: Span,
    ) -> Typed<'a> {
        let Some(body) = &function.body else { return Typed::error() };
        if self.depth + 1 >= MAX_DEPTH {
            return self.too_large(TooLarge::Depth, span);
        }
        let mut bound = Bindings::default();
        let mut inner = Scope::module(module);
        let mut broken = false;
        for param in &function.params {
            let name = param.name.text.as_str();
            let Given { value, span } = match (given.remove(name), &param.default) {
                (Some(given), _) => given,
                (None, Some(default)) => {
                    Given { value: self.expr(default, &inner), span: default.span }
                }
                (None, None) => Given { value: Typed::error(), span },
            };
            let wanted = match self.written(module, &param.ty, &function.type_params) {
                _ if param.rest => Type::Any,
                wanted => wanted,
            };
            let value = match self.fit(value.clone(), &wanted, &mut bound, span) {
                Ok(value) => {
                    self.check_part(&value, &wanted, span, param.ty.span);
                    value
                }
                Err(mismatch) => {
                    let problem = self.mismatch(&mismatch, &value, &format!("`{name}`"), span);
                    self.report(problem.also(param.name.span, "declared here"));
                    broken = true;
                    Typed::error()
                }
            };
            inner = inner.with(name, value);
        }
        if broken {
            let ty =
                function.result.as_ref().map(|ty| self.written(module, ty, &function.type_params));
            return Typed::unknown(ty.map_or(Type::Error, |ty| bound.apply(&ty)));
        }
        self.calls.push(span);
        let value = self.block(body, &inner);
        let value = self.checked_result(module, item, function, value, &mut bound);
        self.calls.pop();
        value
    }

    /// The value of a body as the declared result type.
    pub(super) fn checked_result(
        &mut self,
        module: ModuleId,
        item: &'a Item,
        function: &'a FnDecl,
        value: Typed<'a>,
        bound: &mut Bindings,
    ) -> Typed<'a> {
        let Some(result) = &function.result else { return value };
        let wanted = self.written(module, result, &function.type_params);
        let span = function.body.as_ref().map_or(item.span, |body| body.value.span);
        match self.fit(value.clone(), &wanted, bound, span) {
            Ok(value) => value,
            Err(mismatch) => {
                let what = format!("the result of `{}`", function.name.text);
                let problem = self.mismatch(&mismatch, &value, &what, span);
                self.report(problem.also(result.span, "declared here"));
                Typed::unknown(bound.apply(&wanted))
            }
        }
    }

    /// `files("logs/*.log")`: the paths that exist when the plan is made.
    fn files(
        &mut self,
        args: &'a [Arg],
        subject: Option<Given<'a>>,
        span: Span,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        let paths = Type::List(Rc::new(Type::Path));
        let given = match (subject, args) {
            (Some(subject), []) => subject,
            (None, [arg]) => Given { value: self.expr(&arg.value, scope), span: arg.value.span },
            _ => {
                let message = "`files` takes one pattern: `files(\"logs/*.log\")`";
                return self.fail(Problem::error("types::argument_count", span, message));
            }
        };
        if given.value.is_unknown() {
            return Typed::unknown(paths);
        }
        let fitted =
            self.fit(given.value.clone(), &Type::Path, &mut Bindings::default(), given.span);
        let pattern = fitted.ok().and_then(|value| value.text().map(str::to_owned));
        if super::known::in_run(&given.value) {
            return self.unknown_before("the pattern of `files`", &given, "it names files");
        }
        let Some(pattern) = pattern else {
            let message = format!(
                "`files` takes a pattern that is known before the run, and this is `{}`",
                given.value.ty
            );
            return self.fail(Problem::error("types::mismatch", given.span, message));
        };
        let items = self.matching(&pattern, given.span).into_iter();
        let items = items.map(|path| Typed::constant(crate::value::Const::Path(path))).collect();
        Typed { ty: paths, value: Value::List(Rc::new(items)) }
    }

    /// Where a function is declared.
    pub(super) fn declared_at(&self, module: ModuleId, function: &FnDecl) -> Span {
        self.declaration(module, function)
            .map_or(function.name.span, |id| name_span(self.program.item(id)))
    }
}
