//! Evaluation of expressions: one function per form, most of them elsewhere.

use super::{
    Evaluator, MAX_DEPTH, MAX_IDLE_STEPS, MAX_NODES, MAX_STEPS, STEPS_PER_NODE, Scope, Typed, Value,
};
use crate::types::{MAX_PARTS, Record, Type, is_huge, join};
use crate::value::Const;
use pipe_grammar::ast::{Entry, Expr, ExprKind, Number, StrPart, Unit};
use pipe_grammar::{Problem, Span};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Which limit of unfolding a program goes beyond.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TooLarge {
    /// Expressions and calls inside each other.
    Depth,
    /// Expressions that are evaluated.
    Steps,
    /// Nodes of the plan.
    Nodes,
    /// A constant as it would be written.
    Constant,
    /// A type as it would be written.
    Type,
}

impl<'a> Evaluator<'a> {
    /// Evaluate an expression.
    pub(crate) fn expr(&mut self, expr: &'a Expr, scope: &Scope<'a>) -> Typed<'a> {
        self.steps += 1;
        if self.depth >= MAX_DEPTH {
            return self.too_large(TooLarge::Depth, expr.span);
        }
        if self.steps > self.allowed_steps() {
            return self.too_large(TooLarge::Steps, expr.span);
        }
        self.depth += 1;
        let value = self.form(expr, scope);
        self.depth -= 1;
        self.note(expr.span, &value.ty);
        value
    }

    fn allowed_steps(&self) -> usize {
        MAX_STEPS.min(MAX_IDLE_STEPS + STEPS_PER_NODE * self.drafts.len())
    }

    fn form(&mut self, expr: &'a Expr, scope: &Scope<'a>) -> Typed<'a> {
        match &expr.kind {
            ExprKind::Number(number) => self.number(number, expr.span),
            ExprKind::Str(parts) => self.string(parts, expr.span, scope),
            ExprKind::Bool(value) => Typed::constant(Const::Bool(*value)),
            ExprKind::None => Typed::constant(Const::None),
            ExprKind::Name(name) => self.name(name, expr.span, scope),
            ExprKind::List(items) => self.list(items, scope),
            ExprKind::Record(entries) => self.record(entries, scope, expr.span),
            ExprKind::Field { base, name } => self.field(base, name, expr.span, scope),
            ExprKind::Index { base, index } => self.index(base, index, expr.span, scope),
            ExprKind::Call { .. } | ExprKind::Pipe { .. } => self.calls(expr, scope),
            ExprKind::Unary { op, operand } => self.unary(*op, operand, expr.span, scope),
            ExprKind::Binary { op, op_span, left, right } => {
                self.binary(*op, *op_span, left, right, expr.span, scope)
            }
            ExprKind::If { condition, then, otherwise } => {
                self.if_else(condition, then, otherwise, expr.span, scope)
            }
            ExprKind::For { binders, condition, body } => {
                self.for_each(binders, condition.as_deref(), body, expr.span, scope)
            }
            ExprKind::Lambda { params, body } => Self::lambda(params, body, scope),
            ExprKind::Broken => Typed::error(),
        }
    }

    /// The limit that a program reaches first; the others stay silent.
    #[cold]
    pub(crate) fn too_large(&mut self, what: TooLarge, span: Span) -> Typed<'a> {
        if self.exhausted {
            return Typed::error();
        }
        self.exhausted = true;
        let (label, help) = match what {
            TooLarge::Depth => (
                format!("gave up here, {MAX_DEPTH} expressions and calls inside each other"),
                "nest fewer calls, or give inner parts a name with `let`",
            ),
            TooLarge::Steps => (
                format!("gave up here, after {} steps", self.steps.saturating_sub(1)),
                "shorten the lists that `for` walks, or call fewer functions in them",
            ),
            TooLarge::Constant => (
                "this value would have more than 256 MiB".to_owned(),
                "keep data in a file and read it with `data.read`",
            ),
            TooLarge::Type => (
                format!("its type would have more than {MAX_PARTS} parts"),
                "keep what repeats in a list, or leave out what nothing reads",
            ),
            TooLarge::Nodes => (
                format!("gave up here, at {MAX_NODES} nodes"),
                "shorten the lists that `for` walks, or make several programs of it",
            ),
        };
        let message = "the program unfolds into too much to plan";
        self.fail(Problem::error("plan::too_large", span, message).label(label).help(help))
    }

    fn number(&mut self, number: &Number, span: Span) -> Typed<'a> {
        let value = match number.unit {
            None if !number.text.contains('.') => match number.integer {
                Some(value) => Const::Int(value),
                None if number.value.fract() == 0.0 && !number.text.contains(['e', 'E']) => {
                    return self.fail(
                        Problem::error(
                            "types::number_range",
                            span,
                            "this whole number is too large",
                        )
                        .label("at most 9223372036854775807")
                        .help("write it as a float, with `.0` at its end"),
                    );
                }
                None => Const::Float(number.value),
            },
            None => Const::Float(number.value),
            Some(unit) => {
                let (each, make): (i64, fn(i64) -> Const) = match unit {
                    Unit::Duration(_, each) => (each, Const::Duration),
                    Unit::Size(_, each) => (each, Const::Size),
                };
                let exact = number.integer.and_then(|amount| amount.checked_mul(each));
                let rounded = || {
                    let amount = (number.value * each as f64).round();
                    (amount.abs() < 9.2e18).then_some(amount as i64)
                };
                let amount = if number.integer.is_some() { exact } else { rounded() };
                match amount {
                    Some(amount) => make(amount),
                    None => {
                        let problem =
                            Problem::error("types::number_range", span, "this amount is too large")
                                .help("durations reach 292 years, sizes 8 EiB");
                        return self.fail(problem);
                    }
                }
            }
        };
        Typed::constant(value)
    }

    fn string(&mut self, parts: &'a [StrPart], span: Span, scope: &Scope<'a>) -> Typed<'a> {
        if parts.is_empty() {
            return Typed::constant(Const::Str(String::new()));
        }
        if let [StrPart::Text(text)] = parts {
            return Typed::constant(Const::Str(text.clone()));
        }
        let mut pieces = Vec::with_capacity(parts.len());
        for part in parts {
            pieces.push(match part {
                StrPart::Text(text) => (Typed::constant(Const::Str(text.clone())), span),
                StrPart::Interpolation(expr) => (self.expr(expr, scope), expr.span),
            });
        }
        self.concat(pieces, span)
    }

    fn list(&mut self, items: &'a [Expr], scope: &Scope<'a>) -> Typed<'a> {
        let mut values = Vec::with_capacity(items.len());
        let mut shared = Type::Error;
        for item in items {
            let mut value = self.expr(item, scope);
            match join(&shared, &value.ty) {
                Some(ty) => shared = ty,
                None => {
                    let first = items.first().map_or(item.span, |first| first.span);
                    self.report(mixed_list((&shared, first), (&value.ty, item.span)));
                    value = Typed::error();
                }
            }
            values.push(value);
        }
        Typed { ty: Type::List(Rc::new(shared)), value: Value::List(Rc::new(values)) }
    }

    fn record(&mut self, entries: &'a [Entry], scope: &Scope<'a>, span: Span) -> Typed<'a> {
        let mut fields: BTreeMap<Rc<str>, Typed<'a>> = BTreeMap::new();
        let mut order: Vec<Rc<str>> = Vec::new();
        let mut written: BTreeMap<&str, Span> = BTreeMap::new();
        let mut unknown = false;
        for entry in entries {
            match entry {
                Entry::Field { name, value } => {
                    if let Some(first) = written.insert(&name.text, name.span) {
                        let message = format!("the field `{}` is given twice", name.text);
                        self.report(
                            Problem::error("types::duplicate_field", name.span, message)
                                .also(first, "first given here")
                                .help("remove one of them"),
                        );
                    }
                    let value = self.expr(value, scope);
                    set(&mut fields, &mut order, Rc::from(name.text.as_str()), value);
                }
                Entry::Spread(base) => {
                    let value = self.expr(base, scope);
                    unknown |= !self.spread(&value, base.span, &mut fields, &mut order);
                }
            }
        }
        if unknown {
            return Typed::error();
        }
        let types =
            order.iter().filter_map(|name| Some((Rc::clone(name), fields.get(name)?.ty.clone())));
        let ty = Type::record(types.collect());
        if is_huge(&ty) {
            return self.too_large(TooLarge::Type, span);
        }
        Typed { ty, value: Value::Record(Rc::new(fields)) }
    }

    /// Copy the fields of a record value; false when they are not known.
    fn spread(
        &mut self,
        base: &Typed<'a>,
        span: Span,
        fields: &mut BTreeMap<Rc<str>, Typed<'a>>,
        order: &mut Vec<Rc<str>>,
    ) -> bool {
        let Type::Record(record) = &base.ty else {
            if !base.ty.is_error() {
                let message = format!("`..` takes a record apart, and this is `{}`", base.ty);
                self.report(Problem::error("types::not_a_record", span, message));
            }
            return false;
        };
        for (name, _) in &record.fields {
            let value = self.member(base, name, span);
            set(fields, order, Rc::clone(name), value);
        }
        !record.open
    }
}

fn set<'a>(
    fields: &mut BTreeMap<Rc<str>, Typed<'a>>,
    order: &mut Vec<Rc<str>>,
    name: Rc<str>,
    value: Typed<'a>,
) {
    if fields.insert(Rc::clone(&name), value).is_none() {
        order.push(name);
    }
}

/// The error of a list whose items have two types; of two tables it tells the columns that differ.
fn mixed_list((shared, first): (&Type, Span), (found, span): (&Type, Span)) -> Problem {
    let (Some(one), Some(other)) = (shared.row(), found.row()) else {
        let message = format!("a list has one type: this is `{found}`");
        return Problem::error("types::mixed_list", span, message)
            .label(format!("`{found}` here"))
            .also(first, format!("`{shared}` here"))
            .help("use a record for values of several types");
    };
    let apart = |a: &Record, b: &Record| -> Vec<String> {
        let names = a.fields.iter().filter(|(name, ty)| match b.field(name) {
            Some(other) => join(ty, other).is_none(),
            None => !b.open,
        });
        let shown = names.map(|(name, ty)| match b.field(name) {
            Some(_) => format!("`{name}` is `{ty}`"),
            None => format!("`{name}`"),
        });
        shown.collect()
    };
    let (here, there) = (apart(other, one), apart(one, other));
    let tell = |differ: &[String]| match differ {
        [] => "none that differs".to_owned(),
        differ => differ.join(", "),
    };
    let message = "the tables of a list have the same columns, and these differ";
    Problem::error("types::mixed_list", span, message)
        .label(format!("here: {}", tell(&here)))
        .also(first, format!("here: {}", tell(&there)))
        .help("bring them to the same columns with `data.select` or `data.derive`, or use a record")
}
