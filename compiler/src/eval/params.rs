//! Parameters: default, then file, then command line, each checked against type and condition.

use super::{Evaluator, Scope, Typed, Value};
use crate::host::ParamText;
use crate::resolve::DeclId;
use crate::types::{Bindings, Type};
use crate::value::Const;
use pipe_grammar::ast::{Expr, Item, ItemKind, Name, TypeExpr};
use pipe_grammar::{Problem, Span, did_you_mean};
use std::collections::BTreeMap;

/// A parameter of a program, for the command line and for documentation.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ParamInfo {
    /// Its name, also the flag.
    pub name: String,
    /// Its type as `.pipe` writes it.
    pub ty: String,
    /// Its documentation.
    pub doc: Option<String>,
    /// Its default as written in the program.
    pub default: Option<String>,
    /// Its value; `None` when it has none or a wrong one.
    pub value: Option<Const>,
    /// Where it is declared.
    pub span: Span,
}

impl<'a> Evaluator<'a> {
    pub(super) fn param(
        &mut self,
        id: DeclId,
        item: &'a Item,
        name: &'a Name,
        ty: &'a TypeExpr,
        default: Option<&'a Expr>,
        condition: Option<&'a Expr>,
    ) -> Typed<'a> {
        let wanted = self.written(id.module, ty, &[]);
        if wanted.is_artifact() || matches!(wanted, Type::Function(_)) {
            let message = format!("a parameter is given as text, and `{wanted}` has none");
            let problem = Problem::error("types::param_type", ty.span, message);
            return self.fail(problem.help("take a `path` and read the file"));
        }
        let from_default =
            default.map(|default| self.param_default(id, name, ty, default, &wanted));
        let text = (id.module == 0).then(|| self.inputs.params.get(&name.text)).flatten();
        let (value, span) = match (text, &from_default) {
            (Some(text), _) => self.param_text(name, ty, text, &wanted),
            (None, Some(value)) => {
                (value.clone(), default.map_or(name.span, |default| default.span))
            }
            (None, None) => (self.missing_param(name, &wanted), name.span),
        };
        if let Some(condition) = condition {
            self.param_condition(id, name, condition, &value, span);
        }
        if id.module == 0 {
            self.params.push(ParamInfo {
                name: name.text.clone(),
                ty: wanted.to_string(),
                doc: item.doc.clone(),
                default: default.map(|default| self.source_of(default.span)),
                value: value.to_const(),
                span: name.span,
            });
        }
        value
    }

    fn param_default(
        &mut self,
        id: DeclId,
        name: &Name,
        ty: &TypeExpr,
        default: &'a Expr,
        wanted: &Type,
    ) -> Typed<'a> {
        let value = self.expr(default, &Scope::module(id.module));
        if value.to_const().is_none() && !value.is_unknown() {
            let message = format!("the default of `{}` is known before the run", name.text);
            return self.fail(Problem::error("types::param_default", default.span, message));
        }
        match self.fit(value.clone(), wanted, &mut Bindings::default(), default.span) {
            Ok(value) => value,
            Err(mismatch) => {
                let problem =
                    self.mismatch(&mismatch, &value, &format!("`{}`", name.text), default.span);
                self.report(problem.also(ty.span, "declared here"));
                Typed::unknown(wanted.clone())
            }
        }
    }

    fn missing_param(&mut self, name: &Name, wanted: &Type) -> Typed<'a> {
        if self.purpose == super::Purpose::Check {
            return Typed::unknown(wanted.clone());
        }
        let message = format!("the parameter `{}` has no value", name.text);
        let problem = Problem::error("plan::missing_param", name.span, message)
            .help(format!("give one: `--set {}=...`, or a default in the program", name.text));
        self.report(problem);
        Typed::unknown(wanted.clone())
    }

    /// A value from outside: a literal; texts and paths also without quotes.
    fn param_text(
        &mut self,
        name: &Name,
        ty: &TypeExpr,
        given: &ParamText,
        wanted: &Type,
    ) -> (Typed<'a>, Span) {
        let file = self.sources.add(&given.origin, given.text.clone());
        let span = Span::new(file, 0, u32::try_from(given.text.len()).unwrap_or(0));
        if let Some(folder) = &given.folder {
            self.param_folders.insert(file, folder.clone());
        }
        let trimmed = given.text.trim();
        let quoted = trimmed.starts_with('"');
        let bare =
            matches!(wanted.required().0, Type::Str | Type::Path | Type::Enum(_) | Type::Time)
                && !quoted;
        let none = trimmed == "none" && matches!(wanted, Type::Optional(_));
        let value =
            if bare && !none { Some(Const::Str(given.text.clone())) } else { literal(trimmed) };
        let problem = match value.map(Typed::constant) {
            Some(value) => match self.fit(value.clone(), wanted, &mut Bindings::default(), span) {
                Ok(value) => return (value, span),
                Err(mismatch) => {
                    self.mismatch(&mismatch, &value, &format!("`{}`", name.text), span)
                }
            },
            None => {
                let message = format!(
                    "`{}` is `{wanted}`, and `{trimmed}` is not written like one",
                    name.text
                );
                Problem::error("types::param_text", span, message)
            }
        };
        let mut problem = problem.also(ty.span, "declared here");
        if problem.help.is_none() {
            problem = problem.help(format!("write {}", example(wanted)));
        }
        self.report(problem);
        (Typed::unknown(wanted.clone()), span)
    }

    fn param_condition(
        &mut self,
        id: DeclId,
        name: &'a Name,
        condition: &'a Expr,
        value: &Typed<'a>,
        span: Span,
    ) {
        let scope = Scope::module(id.module).with(&name.text, value.clone());
        let test = self.expr(condition, &scope);
        if !matches!(test.ty.required().0, Type::Bool | Type::Error) {
            let message = format!("a condition is `bool`, and this is `{}`", test.ty);
            self.report(Problem::error("types::condition", condition.span, message));
            return;
        }
        if let Value::Const(Const::Bool(false) | Const::None) = test.value {
            let shown = value.to_const().map_or_else(String::new, |value| value.to_string());
            let message = format!(
                "`{}` is {shown}, and must meet `{}`",
                name.text,
                self.source_of(condition.span)
            );
            let problem = Problem::error("plan::param_condition", span, message)
                .label("this value")
                .also(condition.span, "the condition");
            self.report(problem);
        }
    }

    /// Parameters that are given and not declared.
    pub(crate) fn unknown_params(&mut self) {
        let Some(main) = self.program.modules.first() else { return };
        let declared = main
            .values
            .iter()
            .filter(|(_, item)| matches!(main.ast.items[**item].kind, ItemKind::Param { .. }));
        let declared: Vec<&str> = declared.map(|(name, _)| name.as_str()).collect();
        for (name, given) in self.inputs.params {
            if declared.contains(&name.as_str()) {
                continue;
            }
            let text = format!("{name}={}", given.text);
            let file = self.sources.add(&given.origin, text);
            let span = Span::new(file, 0, u32::try_from(name.len()).unwrap_or(0));
            let message = format!("the program has no parameter `{name}`");
            let problem = Problem::error("plan::unknown_param", span, message);
            let problem = match did_you_mean(name, declared.iter().copied()) {
                Some(near) => {
                    problem.label(format!("did you mean `{near}`?")).help(format!("write `{near}`"))
                }
                None if declared.is_empty() => problem.help("it declares none"),
                None => problem.help(format!("its parameters: {}", declared.join(", "))),
            };
            self.report(problem);
        }
    }
}

/// A literal: a number with or without unit, a text, a truth, `none`, lists and records of them.
fn literal(text: &str) -> Option<Const> {
    use pipe_grammar::{FileId, SourceFile, parse};
    let source = SourceFile::new(FileId(0), "value", format!("let value = {text}\n"));
    let parsed = parse(&source);
    if !parsed.is_ok() {
        return None;
    }
    let [item] = parsed.module.items.as_slice() else { return None };
    match &item.kind {
        ItemKind::Let(binding) => constant(&binding.value),
        _ => None,
    }
}

fn constant(expr: &Expr) -> Option<Const> {
    use pipe_grammar::ast::{Entry, ExprKind, StrPart, UnaryOp, Unit};
    Some(match &expr.kind {
        ExprKind::Number(number) => match number.unit {
            None if !number.text.contains('.') && number.integer.is_some() => {
                Const::Int(number.integer?)
            }
            None => Const::Float(number.value),
            Some(Unit::Duration(_, each)) => {
                Const::Duration(amount(number.value, number.integer, each)?)
            }
            Some(Unit::Size(_, each)) => Const::Size(amount(number.value, number.integer, each)?),
        },
        ExprKind::Str(parts) => match parts.as_slice() {
            [] => Const::Str(String::new()),
            [StrPart::Text(text)] => Const::Str(text.clone()),
            _ => return None,
        },
        ExprKind::Bool(value) => Const::Bool(*value),
        ExprKind::None => Const::None,
        ExprKind::List(items) => Const::List(items.iter().map(constant).collect::<Option<_>>()?),
        ExprKind::Record(entries) => {
            let mut fields = BTreeMap::new();
            for entry in entries {
                let Entry::Field { name, value } = entry else { return None };
                fields.insert(name.text.clone(), constant(value)?);
            }
            Const::Record(fields)
        }
        ExprKind::Unary { op: UnaryOp::Negate, operand } => match constant(operand)? {
            Const::Int(value) => Const::Int(value.checked_neg()?),
            Const::Float(value) => Const::Float(-value),
            Const::Duration(value) => Const::Duration(value.checked_neg()?),
            _ => return None,
        },
        _ => return None,
    })
}

fn amount(value: f64, integer: Option<i64>, each: i64) -> Option<i64> {
    match integer {
        Some(amount) => amount.checked_mul(each),
        None => {
            let amount = (value * each as f64).round();
            (amount.abs() < 9.2e18).then_some(amount as i64)
        }
    }
}

fn example(ty: &Type) -> String {
    match ty {
        Type::Bool => "`true` or `false`".into(),
        Type::Int => "a whole number, such as `8`".into(),
        Type::Float => "a number, such as `0.5` or `3e-4`".into(),
        Type::Duration => "a number with a unit of time: `30s`, `5m`, `6h`".into(),
        Type::Size => "a number with a unit of size: `64MiB`, `10GiB`".into(),
        Type::Time => "a time: `2024-01-31T12:00:00Z`".into(),
        Type::Enum(_) => format!("one of {ty}"),
        Type::List(item) => format!("a list in brackets of values like {}", example(item)),
        Type::Optional(inner) => format!("`none`, or {}", example(inner)),
        other => format!("a value of type `{other}`"),
    }
}
