//! Expressions: precedence over the flat rule `expr`, and everything that stands in it.

use super::item::value_block;
use super::{Lower, broken};
use crate::ast::{BinaryOp, Binder, Block, Entry, Expr, ExprKind, Item, Name, UnaryOp};
use crate::problem::Problem;
use crate::source::Span;
use crate::syntax::Rule;
use pest::iterators::{Pair, Pairs};
use std::iter::Peekable;

/// How tight operators bind, loosest first.
pub(crate) mod level {
    pub(crate) const COALESCE: u8 = 1;
    pub(crate) const OR: u8 = 2;
    pub(crate) const AND: u8 = 3;
    pub(crate) const NOT: u8 = 4;
    pub(crate) const COMPARE: u8 = 5;
    pub(crate) const PIPE: u8 = 6;
    pub(crate) const RANGE: u8 = 7;
    pub(crate) const ADD: u8 = 8;
    pub(crate) const MULTIPLY: u8 = 9;
    pub(crate) const NEGATE: u8 = 10;
    pub(crate) const TERM: u8 = 11;
}

/// An operand while precedence is applied.
struct Operand {
    expr: Expr,
    /// Start of its rightmost comparison operand, when it is a comparison without parentheses.
    compares: Option<Span>,
}

impl From<Expr> for Operand {
    fn from(expr: Expr) -> Self {
        Self { expr, compares: None }
    }
}

impl Lower<'_> {
    /// `expr = prefix* ~ term ~ (infix ~ prefix* ~ term)*`
    pub(super) fn expr(&mut self, pair: Pair<'_, Rule>) -> Expr {
        let start = pair.as_span().start();
        let place = self.at(start, start);
        let inner = pair.into_inner();
        let operators = inner.clone().filter(|part| part.as_rule() != Rule::term).count();
        let value =
            self.deeper(operators + 1, place, |lower| lower.climb(&mut inner.peekable(), 0).expr);
        value.unwrap_or_else(|| broken(place))
    }

    /// Precedence climbing; the number of operators bounds the recursion.
    fn climb(&mut self, parts: &mut Peekable<Pairs<'_, Rule>>, least: u8) -> Operand {
        let mut left = self.operand(parts);
        while let Some(next) = parts.peek() {
            let (level, op) = infix(next);
            if level < least {
                break;
            }
            let op_span = self.span(next);
            parts.next();
            let right = self.climb(parts, level + 1);
            left = match op {
                None => Operand::from(self.pipe(left.expr, right.expr)),
                Some(op) => self.binary(op, op_span, left, right.expr),
            };
        }
        left
    }

    fn operand(&mut self, parts: &mut Peekable<Pairs<'_, Rule>>) -> Operand {
        let Some(part) = parts.next() else { return Operand::from(broken(Span::default())) };
        let (op, level) = match part.as_rule() {
            Rule::neg => (UnaryOp::Negate, level::NEGATE),
            Rule::not => (UnaryOp::Not, level::NOT),
            _ => return Operand::from(self.term(part)),
        };
        let operand = self.climb(parts, level).expr;
        let span = self.span(&part).to(operand.span);
        Operand::from(Expr { kind: ExprKind::Unary { op, operand: Box::new(operand) }, span })
    }

    fn binary(&mut self, op: BinaryOp, op_span: Span, left: Operand, right: Expr) -> Operand {
        let compares = is_comparison(op).then_some(right.span);
        if let (Some(middle), Some(_)) = (left.compares, compares) {
            self.chained(middle, op_span);
            let span = left.expr.span.to(right.span);
            return Operand { expr: broken(span), compares };
        }
        let span = left.expr.span.to(right.span);
        let (left, right) = (Box::new(left.expr), Box::new(right));
        Operand {
            expr: Expr { kind: ExprKind::Binary { op, op_span, left, right }, span },
            compares,
        }
    }

    fn chained(&mut self, middle: Span, op_span: Span) {
        let text =
            |span: Span| self.source.get(span.start as usize..span.end as usize).unwrap_or("");
        let insertion = format!(" and {}", text(middle));
        let at = Span { start: middle.end, end: middle.end, ..middle };
        let problem =
            Problem::error("syntax::chained_comparison", op_span, "comparisons do not chain")
                .label("a second comparison of the same value")
                .also(middle, "compared on both sides")
                .edit(at, insertion);
        self.report(problem);
    }

    fn pipe(&mut self, subject: Expr, right: Expr) -> Expr {
        let span = subject.span.to(right.span);
        let call = match right.kind {
            ExprKind::Call { .. } | ExprKind::Broken => right,
            kind => self.not_a_call(kind, right.span),
        };
        Expr { kind: ExprKind::Pipe { subject: Box::new(subject), call: Box::new(call) }, span }
    }

    fn not_a_call(&mut self, kind: ExprKind, span: Span) -> Expr {
        let problem =
            Problem::error("syntax::pipe_call", span, "the right side of `|>` has to be a call")
                .label("the left side becomes the first argument of a call here");
        if !matches!(kind, ExprKind::Name(_) | ExprKind::Field { .. }) {
            self.report(problem.help("write `value |> data.filter(row => row.x > 0.0)`"));
            return broken(span);
        }
        let at = Span { start: span.end, ..span };
        self.report(problem.edit(at, "()"));
        let callee = Box::new(Expr { kind, span });
        Expr { kind: ExprKind::Call { callee, args: Vec::new() }, span }
    }

    /// `term = primary ~ (call | index | field)*`
    fn term(&mut self, pair: Pair<'_, Rule>) -> Expr {
        let span = self.span(&pair);
        let mut inner = pair.into_inner();
        let steps = inner.len().saturating_sub(1);
        let value = self.deeper(steps, span, |lower| {
            let first = inner.next().map(|primary| lower.primary(primary));
            let first = first.unwrap_or_else(|| broken(span));
            inner.fold(first, |base, step| lower.step(base, step))
        });
        value.unwrap_or_else(|| broken(span))
    }

    fn step(&mut self, base: Expr, pair: Pair<'_, Rule>) -> Expr {
        let span = base.span.to(self.span(&pair));
        let rule = pair.as_rule();
        let mut inner = pair.into_inner();
        let kind = match rule {
            Rule::call => ExprKind::Call { callee: Box::new(base), args: self.args(inner) },
            Rule::field => match inner.next() {
                Some(word) => ExprKind::Field { base: Box::new(base), name: self.name(&word) },
                None => ExprKind::Broken,
            },
            _ => match inner.next() {
                Some(index) => {
                    ExprKind::Index { base: Box::new(base), index: Box::new(self.expr(index)) }
                }
                None => ExprKind::Broken,
            },
        };
        Expr { kind, span }
    }

    fn primary(&mut self, pair: Pair<'_, Rule>) -> Expr {
        let span = self.span(&pair);
        let kind = match pair.as_rule() {
            Rule::name => ExprKind::Name(pair.as_str().to_owned()),
            Rule::number => self.number(pair),
            Rule::string => ExprKind::Str(self.string(pair)),
            Rule::boolean => ExprKind::Bool(pair.as_str() == "true"),
            Rule::none => ExprKind::None,
            Rule::list => ExprKind::List(pair.into_inner().map(|item| self.expr(item)).collect()),
            Rule::record => {
                ExprKind::Record(pair.into_inner().filter_map(|entry| self.entry(entry)).collect())
            }
            Rule::paren => match pair.into_inner().next() {
                Some(inner) => self.expr(inner).kind,
                None => ExprKind::Broken,
            },
            Rule::if_expr => return self.if_expr(pair),
            Rule::for_expr => self.for_expr(pair),
            Rule::lambda => return self.lambda(pair),
            _ => ExprKind::Broken,
        };
        Expr { kind, span }
    }

    fn entry(&mut self, pair: Pair<'_, Rule>) -> Option<Entry> {
        let mut name = None;
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::word => name = Some(self.name(&inner)),
                Rule::string => name = Some(self.quoted_name(inner)),
                _ => {
                    let value = self.expr(inner);
                    return Some(match name {
                        Some(name) => Entry::Field { name, value },
                        None => Entry::Spread(value),
                    });
                }
            }
        }
        None
    }

    fn if_expr(&mut self, pair: Pair<'_, Rule>) -> Expr {
        let span = self.span(&pair);
        let (mut condition, mut then, mut otherwise) = (None, None, None);
        let done = self.deeper(1, span, |lower| {
            for inner in pair.into_inner() {
                match inner.as_rule() {
                    Rule::expr => condition = Some(Box::new(lower.expr(inner))),
                    Rule::block if then.is_none() => then = Some(lower.block(inner)),
                    Rule::block => otherwise = Some(lower.block(inner)),
                    Rule::if_expr => otherwise = Some(value_block(lower.if_expr(inner))),
                    _ => {}
                }
            }
        });
        match (done, condition, then, otherwise) {
            (Some(()), Some(condition), Some(then), Some(otherwise)) => {
                Expr { kind: ExprKind::If { condition, then, otherwise }, span }
            }
            _ => broken(span),
        }
    }

    fn for_expr(&mut self, pair: Pair<'_, Rule>) -> ExprKind {
        let (mut binders, mut condition, mut body) = (Vec::new(), None, None);
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::binder => binders.extend(self.binder(inner)),
                Rule::condition => {
                    condition = inner.into_inner().next().map(|expr| Box::new(self.expr(expr)))
                }
                Rule::block => body = Some(self.block(inner)),
                _ => {}
            }
        }
        body.map_or(ExprKind::Broken, |body| ExprKind::For { binders, condition, body })
    }

    fn binder(&mut self, pair: Pair<'_, Rule>) -> Option<Binder> {
        let mut names = Vec::new();
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::params => names = self.params(inner),
                Rule::expr => return Some(Binder { names, list: self.expr(inner) }),
                _ => {}
            }
        }
        None
    }

    fn params(&mut self, pair: Pair<'_, Rule>) -> Vec<Name> {
        pair.into_inner().map(|name| self.name(&name)).collect()
    }

    fn lambda(&mut self, pair: Pair<'_, Rule>) -> Expr {
        let start = pair.as_span().start();
        let place = self.at(start, start);
        let mut params = Vec::new();
        let body = self.deeper(1, place, |lower| {
            let mut body = None;
            for inner in pair.into_inner() {
                match inner.as_rule() {
                    Rule::params => params = lower.params(inner),
                    Rule::let_block => body = Some(lower.block(inner)),
                    _ => body = Some(value_block(lower.expr(inner))),
                }
            }
            body
        });
        match body.flatten() {
            Some(body) => {
                Expr { span: place.to(body.span), kind: ExprKind::Lambda { params, body } }
            }
            None => broken(place),
        }
    }

    /// `block = "{" ~ (attr* ~ let_decl)* ~ expr ~ "}"`
    pub(super) fn block(&mut self, pair: Pair<'_, Rule>) -> Block {
        let span = self.span(&pair);
        let mut lets: Vec<Item> = Vec::new();
        let (mut attrs, mut start, mut value) = (Vec::new(), None, None);
        for inner in pair.into_inner() {
            let at = inner.as_span().start();
            match inner.as_rule() {
                Rule::attr => {
                    start.get_or_insert(at);
                    attrs.push(self.attr(inner));
                }
                Rule::let_decl => {
                    let first = start.take().unwrap_or(at);
                    lets.push(self.declaration(first, std::mem::take(&mut attrs), inner));
                }
                _ => value = Some(self.expr(inner)),
            }
        }
        Block { lets, value: Box::new(value.unwrap_or_else(|| broken(span))), span }
    }
}

/// The level of an infix operator and what it is; `None` is the pipe.
fn infix(pair: &Pair<'_, Rule>) -> (u8, Option<BinaryOp>) {
    match pair.as_rule() {
        Rule::coalesce => (level::COALESCE, Some(BinaryOp::Coalesce)),
        Rule::or => (level::OR, Some(BinaryOp::Or)),
        Rule::and => (level::AND, Some(BinaryOp::And)),
        Rule::range => (level::RANGE, Some(BinaryOp::Range)),
        Rule::add => (level::ADD, Some(BinaryOp::Add)),
        Rule::sub => (level::ADD, Some(BinaryOp::Subtract)),
        Rule::mul => (level::MULTIPLY, Some(BinaryOp::Multiply)),
        Rule::div => (level::MULTIPLY, Some(BinaryOp::Divide)),
        Rule::rem => (level::MULTIPLY, Some(BinaryOp::Remainder)),
        Rule::cmp => (level::COMPARE, Some(comparison(pair.as_str()))),
        _ => (level::PIPE, None),
    }
}

fn comparison(text: &str) -> BinaryOp {
    match text {
        "==" => BinaryOp::Equal,
        "!=" => BinaryOp::NotEqual,
        "<" => BinaryOp::Less,
        "<=" => BinaryOp::LessEqual,
        ">" => BinaryOp::Greater,
        ">=" => BinaryOp::GreaterEqual,
        _ => BinaryOp::In,
    }
}

/// Whether `op` compares, so that it does not chain.
pub(crate) fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::{Equal, Greater, GreaterEqual, In, Less, LessEqual, NotEqual};
    matches!(op, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual | In)
}
