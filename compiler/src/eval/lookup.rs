//! What a name means where it stands.

use super::value::Function;
use super::{Evaluator, Scope, Typed, Value};
use crate::resolve::{BARE_OPS, DeclId, ModuleId, bound_name};
use crate::types::Type;
use pipe_grammar::ast::{Expr, ExprKind, ItemKind, Name};
use pipe_grammar::{Problem, Span, did_you_mean};

/// What the left side of a dot names, when it is not a value.
pub(crate) enum Namespace<'n> {
    /// A file behind `use`.
    File(ModuleId, &'n str),
    /// A library module; `None` when it is known by name only.
    Library(Option<ModuleId>, &'n str),
}

impl<'a> Evaluator<'a> {
    /// The value of a bare name.
    pub(super) fn name(&mut self, name: &str, span: Span, scope: &Scope<'a>) -> Typed<'a> {
        if let Some(local) = scope.local(name) {
            return local.clone();
        }
        let module = &self.program.modules[scope.module];
        if module.uses.contains_key(name) {
            let message = format!("`{name}` is a file, not a value");
            let problem = Problem::error("resolve::module_as_value", span, message);
            return self.fail(problem.help(format!("name something in it: `{name}.something`")));
        }
        if let Some(item) = module.values.get(name).or_else(|| module.roots.get(name)) {
            return self.declared(DeclId { module: scope.module, item: *item });
        }
        if let Some((_, library)) = BARE_OPS.iter().find(|(op, _)| *op == name)
            && let Some(module) = self.program.library.get(*library)
            && let Some(item) = self.program.modules[*module].values.get(name)
        {
            return self.declared(DeclId { module: *module, item: *item });
        }
        self.unknown_name(name, span, scope)
    }

    fn unknown_name(&mut self, name: &str, span: Span, scope: &Scope<'a>) -> Typed<'a> {
        let module = &self.program.modules[scope.module];
        if module.types.contains_key(name) || self.program.library_types.contains_key(name) {
            let message = format!("`{name}` is a type, not a value");
            return self.fail(Problem::error("resolve::type_as_value", span, message));
        }
        if self.program.library_names.iter().any(|library| library == name) {
            let message = format!("`{name}` is a library module, not a value");
            let problem = Problem::error("resolve::module_as_value", span, message);
            return self.fail(problem.help(format!(
                "call an op of it: `{name}.something(...)`; `pipe doc {name}` lists them"
            )));
        }
        let locals = scope.names();
        let known = locals.iter().copied().chain(module.values.keys().map(String::as_str));
        let suggestion = did_you_mean(name, known).map(str::to_owned);
        let mut problem =
            Problem::error("resolve::unknown_name", span, format!("there is no `{name}`"));
        problem =
            match suggestion {
                Some(near) => problem.label(format!("did you mean `{near}`?")).edit(span, near),
                None if super::habits::of_name(name).is_some() => {
                    problem.help(super::habits::of_name(name).unwrap_or_default())
                }
                None if name == "row" => problem
                    .help("a function of rows names its row first: `row => row.column > 1.0`"),
                None => problem
                    .help(format!("declare it with `let {name} = ...` or `param {name}: ...`")),
            };
        self.fail(problem)
    }

    /// The value of a declaration, evaluated when it has not been.
    pub(crate) fn declared(&mut self, id: DeclId) -> Typed<'a> {
        if let Some(value) = self.values.get(&id) {
            return value.clone();
        }
        if self.cyclic.contains(&id) || !self.open.insert(id) {
            return Typed::error();
        }
        let value = self.declare(id);
        self.open.remove(&id);
        self.values.insert(id, value.clone());
        value
    }

    /// What the left side of a dot names, unless it is a value.
    /// A library module is also reached when a value has its name, if it has the member and the value has not.
    pub(super) fn namespace(
        &self,
        base: &'a Expr,
        member: &str,
        called: bool,
        scope: &Scope<'a>,
    ) -> Option<Namespace<'a>> {
        let ExprKind::Name(name) = &base.kind else { return None };
        let module = &self.program.modules[scope.module];
        let library = self.program.library.get(name).copied();
        let in_library =
            library.is_some_and(|id| self.program.modules[id].values.contains_key(member));
        if scope.local(name).is_some() {
            return (called && in_library).then_some(Namespace::Library(library, name));
        }
        if let Some(file) = module.uses.get(name) {
            return Some(Namespace::File(*file, name));
        }
        if module.values.contains_key(name) {
            return (called && in_library).then_some(Namespace::Library(library, name));
        }
        if module.roots.contains_key(name) && !in_library {
            return None;
        }
        let known = self.program.library_names.iter().any(|known| known == name);
        known.then_some(Namespace::Library(library, name))
    }

    /// A member of a file or of a library module.
    pub(super) fn namespace_member(&mut self, space: &Namespace<'_>, member: &Name) -> Typed<'a> {
        let (module, name, library) = match space {
            Namespace::File(module, name) => (Some(*module), *name, false),
            Namespace::Library(module, name) => (*module, *name, true),
        };
        let Some(module) = module else {
            return Typed::error();
        };
        let loaded = &self.program.modules[module];
        if let Some(item) = loaded.values.get(&member.text) {
            return self.declared(DeclId { module, item: *item });
        }
        let known = loaded.values.keys().map(String::as_str);
        let near = did_you_mean(&member.text, known)
            .map(str::to_owned)
            .or_else(|| library.then(|| self.same_op_elsewhere(&member.text)).flatten());
        let what = if library { "op" } else { "name" };
        let (code, message) = if library {
            ("resolve::unknown_op", format!("there is no op `{name}.{}`", member.text))
        } else {
            ("resolve::unknown_name", format!("`{name}` declares no `{}`", member.text))
        };
        let mut problem = Problem::error(code, member.span, message);
        problem = match near {
            Some(near) if near.contains('.') => {
                problem.label(format!("did you mean `{near}`?")).help(format!("write `{near}`"))
            }
            Some(near) => problem.label(format!("did you mean `{near}`?")).edit(member.span, near),
            None => {
                let names: Vec<&str> =
                    self.program.modules[module].values.keys().map(String::as_str).collect();
                problem.help(format!("the {what}s of `{name}`: {}", names.join(", ")))
            }
        };
        self.fail(problem)
    }

    /// An op of the same name in another library module that is loaded.
    fn same_op_elsewhere(&self, member: &str) -> Option<String> {
        self.program.library.iter().find_map(|(name, module)| {
            self.program.modules[*module]
                .values
                .contains_key(member)
                .then(|| format!("{name}.{member}"))
        })
    }

    /// A name before a dot that is neither a value nor a module.
    pub(super) fn unknown_base(&self, name: &str, scope: &Scope<'a>) -> Option<String> {
        let module = &self.program.modules[scope.module];
        let is_value = scope.local(name).is_some()
            || module.values.contains_key(name)
            || module.roots.contains_key(name)
            || module.uses.contains_key(name)
            || self.program.library_names.iter().any(|known| known == name);
        if is_value {
            return None;
        }
        let locals = scope.names();
        let known = self.program.library_names.iter().map(String::as_str);
        let known = known.chain(module.uses.keys().map(String::as_str));
        let known =
            known.chain(locals.iter().copied()).chain(module.values.keys().map(String::as_str));
        did_you_mean(name, known).map(str::to_owned)
    }

    /// A type named by an argument (`row: Doc`).
    pub(super) fn type_argument(&mut self, expr: &'a Expr, scope: &Scope<'a>) -> Option<Typed<'a>> {
        let path: Vec<Name> = match &expr.kind {
            ExprKind::Name(name) => vec![Name { text: name.clone(), span: expr.span }],
            ExprKind::Field { base, name } => match &base.kind {
                ExprKind::Name(first) => {
                    vec![Name { text: first.clone(), span: base.span }, name.clone()]
                }
                _ => return None,
            },
            ExprKind::None => {
                return Some(Typed {
                    ty: Type::None,
                    value: super::Value::Const(crate::value::Const::None),
                });
            }
            _ => return None,
        };
        if let [only] = path.as_slice()
            && let Some(local) = scope.local(&only.text)
        {
            return Some(local.clone());
        }
        let ty = self.named_type(scope.module, &path, &[], &[], expr.span);
        Some(Typed { ty: Type::Kind, value: Value::Type(ty) })
    }

    /// A declared function as a value.
    pub(super) fn function_value(&self, id: DeclId) -> Option<Typed<'a>> {
        let item = self.program.item(id);
        let ItemKind::Fn(function) = &item.kind else { return None };
        let function = Function::Declared { module: id.module, item, function };
        Some(Typed { ty: Type::Any, value: Value::Function(std::rc::Rc::new(function)) })
    }

    /// The name that an item binds, for messages.
    pub(super) fn item_name(&self, id: DeclId) -> &'a str {
        bound_name(self.program.item(id)).map_or("?", |name| name.text.as_str())
    }
}
