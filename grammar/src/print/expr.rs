//! Expressions, with the parentheses that precedence needs and no others.

use super::Printer;
use super::doc::{Doc, blank, comma, concat, group, hard, line, nest, nil, soft, text};
use crate::ast::{Arg, BinaryOp, Binder, Block, Entry, Expr, ExprKind, UnaryOp, Unit};
use crate::lower::{is_comparison, level};

impl Printer<'_> {
    /// An expression.
    pub(super) fn expr(&mut self, expr: &Expr) -> Doc {
        match &expr.kind {
            ExprKind::Number(number) => {
                let unit = match number.unit {
                    Some(Unit::Duration(name, _) | Unit::Size(name, _)) => name,
                    None => "",
                };
                text(format!("{}{unit}", number.text))
            }
            ExprKind::Str(_) => self.string(expr),
            ExprKind::Bool(value) => text(if *value { "true" } else { "false" }),
            ExprKind::None => text("none"),
            ExprKind::Name(name) => text(name.as_str()),
            ExprKind::List(items) => self.list(items, expr),
            ExprKind::Record(entries) => self.record(entries, expr),
            ExprKind::Field { base, name } => {
                let base = self.operand(base, level::TERM);
                concat([base, text(format!(".{}", name.text))])
            }
            ExprKind::Index { base, index } => {
                let base = self.operand(base, level::TERM);
                concat([base, text("["), self.expr(index), text("]")])
            }
            ExprKind::Call { callee, args } => {
                let head = self.operand(callee, level::TERM);
                let range = (callee.span.end + 1, expr.span.end.saturating_sub(1));
                concat([head, self.args(args, range.0, range.1)])
            }
            ExprKind::Pipe { .. } => self.pipe(expr),
            ExprKind::Unary { op: UnaryOp::Negate, operand } => {
                concat([text("-"), self.operand(operand, level::NEGATE)])
            }
            ExprKind::Unary { op: UnaryOp::Not, operand } => {
                concat([text("not "), self.operand(operand, level::NOT)])
            }
            ExprKind::Binary { op: BinaryOp::Range, left, right, .. } => {
                let left = self.operand(left, level::RANGE);
                concat([left, text(".."), self.operand(right, level::RANGE + 1)])
            }
            ExprKind::Binary { op, .. } => self.binary(expr, *op),
            ExprKind::If { condition, then, otherwise } => {
                group(self.choice(condition, then, otherwise))
            }
            ExprKind::For { binders, condition, body } => {
                self.loops(binders, condition.as_deref(), body)
            }
            ExprKind::Lambda { params, body } => {
                let names: Vec<&str> = params.iter().map(|name| name.text.as_str()).collect();
                let head = match names.as_slice() {
                    [name] => (*name).to_owned(),
                    names => format!("({})", names.join(", ")),
                };
                concat([text(format!("{head} => ")), self.body(body)])
            }
            ExprKind::Broken => self.verbatim(expr.span.start, expr.span.end),
        }
    }

    /// An operand, in parentheses when it binds looser than its place.
    fn operand(&mut self, expr: &Expr, least: u8) -> Doc {
        let doc = self.expr(expr);
        if tightness(expr) < least { concat([text("("), doc, text(")")]) } else { doc }
    }

    /// A chain of operators of one level, broken before each of them. A comparison breaks only for a comment.
    fn binary(&mut self, expr: &Expr, op: BinaryOp) -> Doc {
        let own = operator(op).0;
        let compares = is_comparison(op);
        let mut rest = Vec::new();
        let mut head = expr;
        while let ExprKind::Binary { op, op_span, left, right } = &head.kind {
            if operator(*op).0 != own || (compares && !rest.is_empty()) {
                break;
            }
            rest.push((operator(*op).1, op_span.start, right.as_ref()));
            head = left;
        }
        let first = self.operand(head, if compares { own + 1 } else { own });
        let mut end = head.span.end;
        let mut steps = Vec::new();
        for (sign, at, right) in rest.into_iter().rev() {
            let before = self.comments.before(end, at);
            let commented = before.ending.is_tall() || before.own.is_tall();
            let gap = if compares && !commented { text(" ") } else { line() };
            let right_doc = self.operand(right, own + 1);
            steps.extend([before.ending, gap, before.own, text(format!("{sign} ")), right_doc]);
            end = right.span.end;
        }
        group(concat([first, nest(concat(steps))]))
    }

    /// `head |> a() |> b()`: on one line, or one step per line.
    fn pipe(&mut self, expr: &Expr) -> Doc {
        let mut steps = Vec::new();
        let mut head = expr;
        while let ExprKind::Pipe { subject, call } = &head.kind {
            steps.push(call.as_ref());
            head = subject;
        }
        let short =
            steps.len() == 1 && matches!(head.kind, ExprKind::Name(_) | ExprKind::Field { .. });
        let first = self.operand(head, level::PIPE);
        let mut end = head.span.end;
        let mut docs = Vec::new();
        for call in steps.into_iter().rev() {
            let before = self.comments.before(end, call.span.start);
            let plain = short && !before.ending.is_tall() && !before.own.is_tall();
            let gap = if plain { text(" ") } else { line() };
            let doc = self.operand(call, level::TERM);
            docs.extend([before.ending, gap, before.own, text("|> "), doc]);
            end = call.span.end;
        }
        let steps = concat(docs);
        if short && !steps.is_tall() {
            concat([first, steps])
        } else {
            group(concat([first, nest_unless(short, steps)]))
        }
    }

    fn choice(&mut self, condition: &Expr, then: &Block, otherwise: &Block) -> Doc {
        let head = concat([
            text("if "),
            self.expr(condition),
            text(" "),
            self.braces(then),
            text(" else "),
        ]);
        let tail = match &otherwise.value.kind {
            ExprKind::If { condition, then, otherwise: last } if Self::is_chained(otherwise) => {
                let inner = self.comments.before(otherwise.span.start, otherwise.value.span.start);
                self.comments.misplaced |= inner.own.is_tall() || inner.ending.is_tall();
                self.choice(condition, then, last)
            }
            _ => self.braces(otherwise),
        };
        concat([head, tail])
    }

    fn loops(&mut self, binders: &[Binder], condition: Option<&Expr>, body: &Block) -> Doc {
        let mut docs = Vec::new();
        for (index, binder) in binders.iter().enumerate() {
            let names: Vec<&str> = binder.names.iter().map(|name| name.text.as_str()).collect();
            let names = match names.as_slice() {
                [name] => (*name).to_owned(),
                names => format!("({})", names.join(", ")),
            };
            if index > 0 {
                docs.extend([text(","), line()]);
            }
            docs.extend([text(format!("{names} in ")), self.expr(&binder.list)]);
        }
        if let Some(condition) = condition {
            docs.extend([line(), text("if "), self.expr(condition)]);
        }
        let head = group(concat([text("for "), nest(concat(docs))]));
        concat([head, text(" "), self.block(body)])
    }

    fn list(&mut self, items: &[Expr], expr: &Expr) -> Doc {
        let range = self.inside(expr, '[');
        let elements: Vec<_> =
            items.iter().map(|item| (item.span.start, item.span.end, item)).collect();
        self.bracketed("[", "]", range, &elements, |printer, item| printer.expr(item))
    }

    fn record(&mut self, entries: &[Entry], expr: &Expr) -> Doc {
        let range = self.inside(expr, '{');
        let mut elements = Vec::new();
        for entry in entries {
            elements.push(match entry {
                Entry::Field { name, value } => (name.span.start, value.span.end, entry),
                Entry::Spread(value) => (self.dots_before(value.span.start), value.span.end, entry),
            });
        }
        self.bracketed("{ ", " }", range, &elements, |printer, entry| match entry {
            Entry::Field { name, value } => {
                let name = printer.slice(name.span.start, name.span.end).to_owned();
                concat([text(name), text(": "), printer.expr(value)])
            }
            Entry::Spread(value) => concat([text(".."), printer.expr(value)]),
        })
    }

    /// The range between the brackets of a value that may stand in parentheses.
    fn inside(&self, expr: &Expr, bracket: char) -> (u32, u32) {
        let words = self.slice(expr.span.start, expr.span.end);
        let outer = words.find(bracket).unwrap_or(0) as u32;
        (
            expr.span.start + outer + 1,
            expr.span.end.saturating_sub(outer + 1).max(expr.span.start + outer + 1),
        )
    }

    /// The arguments of a call with their parentheses.
    pub(super) fn args(&mut self, args: &[Arg], open: u32, close: u32) -> Doc {
        if let [Arg { name: None, value }] = args
            && hugs(value)
            && !self.comments.any(open, value.span.start)
            && !self.comments.any(value.span.end, close)
        {
            return concat([text("("), self.expr(value), text(")")]);
        }
        let start =
            |arg: &Arg| arg.name.as_ref().map_or(arg.value.span.start, |name| name.span.start);
        let elements: Vec<_> =
            args.iter().map(|arg| (start(arg), arg.value.span.end, arg)).collect();
        self.bracketed("(", ")", (open, close), &elements, |printer, arg| match &arg.name {
            Some(name) => concat([text(format!("{}: ", name.text)), printer.expr(&arg.value)]),
            None => printer.expr(&arg.value),
        })
    }

    /// Elements between brackets: on one line, or one per line with a comma behind each. A blank in the brackets is
    /// set only on one line.
    pub(super) fn bracketed<T>(
        &mut self,
        open: &str,
        close: &str,
        range: (u32, u32),
        elements: &[(u32, u32, T)],
        mut print: impl FnMut(&mut Self, &T) -> Doc,
    ) -> Doc {
        let padding = if open.ends_with(' ') { line } else { soft };
        let mut docs = Vec::new();
        let mut end = range.0;
        for (index, (start, stop, element)) in elements.iter().enumerate() {
            let before = self.comments.before(end, *start);
            let gap = if before.apart && index > 0 { blank() } else { nil() };
            let separator = if index > 0 { line() } else { padding() };
            docs.extend([before.ending, gap, separator, before.own, print(self, element)]);
            docs.push(if index + 1 < elements.len() { text(",") } else { comma() });
            end = *stop;
        }
        let (ending, own) = self.comments.closing(end, range.1.max(end));
        let comments = ending.is_tall() || !own.is_empty();
        docs.extend([ending, concat(own)]);
        let (open, close) = (open.trim_end(), close.trim_start());
        if elements.is_empty() {
            let last = if comments { hard() } else { nil() };
            return concat([text(open), nest(concat(docs)), last, text(close)]);
        }
        group(concat([text(open), nest(concat(docs)), padding(), text(close)]))
    }
}

fn nest_unless(flat: bool, doc: Doc) -> Doc {
    if flat { doc } else { nest(doc) }
}

/// A sole argument whose own brackets do for the call's.
fn hugs(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::List(items) => !items.is_empty(),
        ExprKind::Record(entries) => !entries.is_empty(),
        ExprKind::Lambda { body, .. } => !body.lets.is_empty() || hugs(&body.value),
        _ => false,
    }
}

/// How tight an expression holds together.
fn tightness(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Lambda { .. } | ExprKind::If { .. } | ExprKind::For { .. } => 0,
        ExprKind::Binary { op, .. } => operator(*op).0,
        ExprKind::Pipe { .. } => level::PIPE,
        ExprKind::Unary { op: UnaryOp::Not, .. } => level::NOT,
        ExprKind::Unary { op: UnaryOp::Negate, .. } => level::NEGATE,
        _ => level::TERM,
    }
}

/// The level and the sign of an operator.
pub(crate) fn operator(op: BinaryOp) -> (u8, &'static str) {
    match op {
        BinaryOp::Coalesce => (level::COALESCE, "??"),
        BinaryOp::Or => (level::OR, "or"),
        BinaryOp::And => (level::AND, "and"),
        BinaryOp::Equal => (level::COMPARE, "=="),
        BinaryOp::NotEqual => (level::COMPARE, "!="),
        BinaryOp::Less => (level::COMPARE, "<"),
        BinaryOp::LessEqual => (level::COMPARE, "<="),
        BinaryOp::Greater => (level::COMPARE, ">"),
        BinaryOp::GreaterEqual => (level::COMPARE, ">="),
        BinaryOp::In => (level::COMPARE, "in"),
        BinaryOp::Range => (level::RANGE, ".."),
        BinaryOp::Add => (level::ADD, "+"),
        BinaryOp::Subtract => (level::ADD, "-"),
        BinaryOp::Multiply => (level::MULTIPLY, "*"),
        BinaryOp::Divide => (level::MULTIPLY, "/"),
        BinaryOp::Remainder => (level::MULTIPLY, "%"),
    }
}
