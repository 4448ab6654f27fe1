//! Whether a kernel is worth its compiling: what each part of a program saves a row against what it takes to compile.
//!
//! The figures are nanoseconds of one machine, fitted to programs of few nodes and 20,000 rows; on another machine both
//! sides change together. Only time depends on them, never a result.

use crate::graph::{Graph, Node, Step};
use crate::infix::Infix;
use crate::ir::{Function, Ty, UnaryOp};

/// Nanoseconds to compile a kernel with nothing in it.
const COMPILING: u64 = 78_000;
/// Nanoseconds that each input or output with missing values adds.
const COMPILING_OPTIONAL: u64 = 12_000;

/// Cranelift itself is not optimised in the profile of daily work.
const UNOPTIMISED: u64 = if cfg!(debug_assertions) { 8 } else { 1 };

/// Whether compiling saves more time than it takes, for as many rows as were seen so far. `optional` tells of each
/// column whether it has missing rows.
pub(super) fn pays(graph: &Graph<'_>, optional: &[bool], rows: u64) -> bool {
    let costs = of(graph, optional);
    u64::try_from(costs.saved).is_ok_and(|saved| saved.saturating_mul(rows) / 100 > costs.compiling)
}

/// What a kernel costs and saves.
#[derive(Debug, Default)]
struct Costs {
    /// Nanoseconds.
    compiling: u64,
    /// Hundredths of a nanosecond that each row takes less than by the interpreter.
    saved: i64,
}

/// What is known of a node while the costs are added up.
#[derive(Clone, Copy, Default)]
struct Known {
    /// Whether it may be missing.
    optional: bool,
    /// Whether it waits for an elementary function.
    waits: bool,
}

fn of(graph: &Graph<'_>, optional: &[bool]) -> Costs {
    let mut costs = Costs { compiling: COMPILING, saved: 0 };
    let mut known: Vec<Known> = Vec::with_capacity(graph.nodes.len());
    let mut missing = Vec::with_capacity(graph.nodes.len());
    let mut calls = 0;
    for node in &graph.nodes {
        let read = |place: &usize| known.get(*place).copied().unwrap_or_default();
        let operands = Known {
            optional: node.reads.iter().any(|place| read(place).optional),
            waits: node.reads.iter().any(|place| read(place).waits),
        };
        let mut made = operands;
        match &node.step {
            Step::Column(number) => {
                made.optional = optional.get(*number) == Some(&true);
                costs.compiling += if made.optional { COMPILING_OPTIONAL } else { 0 };
            }
            _ => {
                made.optional = node.may_miss(&missing, |_| true);
                let (saved, compiling) = if node.is_elementary() {
                    made.waits = true;
                    calls += 1;
                    called(operands.waits, calls)
                } else {
                    plain(node, operands.optional)
                };
                costs.saved += saved;
                costs.compiling += compiling;
            }
        }
        missing.push(made.optional);
        known.push(made);
    }
    for output in &graph.outputs {
        let optional = known.get(output.node).is_some_and(|known| known.optional);
        costs.compiling += if optional { COMPILING_OPTIONAL } else { 0 };
        costs.saved += match output.ty {
            Ty::Float | Ty::Time | Ty::Duration => 30,
            Ty::Int | Ty::Size => -20,
            Ty::Bool | Ty::Str => 0,
        };
    }
    costs.compiling *= UNOPTIMISED;
    costs
}

/// Of an elementary function: both engines take two rows at once, but a kernel waits for one function before it begins
/// the next, where the interpreter has many rows in hand.
fn called(waits: bool, calls: u64) -> (i64, u64) {
    let saved = match (waits, calls) {
        (true, _) => -650,
        (false, 1) => -50,
        (false, _) => -100,
    };
    (saved, if calls == 1 { 0 } else { 8_000 })
}

/// Hundredths of a nanosecond saved a row, and nanoseconds to compile.
fn plain(node: &Node<'_>, optional: bool) -> (i64, u64) {
    if node.ty == Some(Ty::Str) {
        return (0, 0);
    }
    match &node.step {
        Step::Constant(_) => (30, 300),
        Step::Binary(Some(infix)) => infix_costs(*infix, optional),
        Step::If => (if optional { 700 } else { 130 }, 5_000),
        Step::Coalesce => (90, 5_000),
        Step::In(_) => (400, 20_000),
        Step::IsNone | Step::Unary(UnaryOp::Negate | UnaryOp::Not, _) => (30, 2_000),
        Step::Call(function) => match function {
            Function::Floor | Function::Ceil => (460, 2_000),
            Function::Round => (220, 8_000),
            Function::Sqrt => (170, 2_000),
            Function::Min | Function::Max => (170, 6_000),
            Function::Clamp => (340, 12_000),
            Function::Pow => (-100, 20_000),
            _ => (30, 2_000),
        },
        _ => (0, 0),
    }
}

fn infix_costs(infix: Infix, optional: bool) -> (i64, u64) {
    match infix {
        Infix::And | Infix::Or => {
            (if optional { 520 } else { 27 }, if optional { 9_000 } else { 2_500 })
        }
        Infix::Divide | Infix::NanosRatio => (12, 3_500),
        Infix::Remainder | Infix::RemainderWhole => (-90, 20_000),
        Infix::DivideNanosWhole => (30, 22_000),
        Infix::AddWhole | Infix::SubtractWhole | Infix::MultiplyWhole => (40, 11_000),
        Infix::ScaleSize | Infix::DivideSize => (250, 16_000),
        Infix::AddNanos | Infix::SubtractNanos => (65, 13_000),
        Infix::MultiplyNanos | Infix::NumberMultiplyNanos | Infix::DivideNanos => (340, 45_000),
        Infix::MultiplyNanosWhole | Infix::WholeMultiplyNanos => (190, 45_000),
        _ => (27, 2_500),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{BinaryOp, ColumnRef, Expr, RowFn, Scalar};

    fn of_column(ty: Ty, gives: Ty, body: impl Fn(Expr) -> Expr) -> RowFn {
        let column = ColumnRef { name: "a".into(), ty, optional: true };
        RowFn { columns: vec![column], body: body(Expr::Column(0)), ty: gives, optional: true }
    }

    /// The fewest rows for which a kernel pays, in powers of two.
    fn fewest(function: &RowFn, optional: bool) -> Option<u32> {
        let graph = Graph::new(&[function]).unwrap();
        (0..40).find(|power| pays(&graph, &[optional], 1 << power))
    }

    #[test]
    fn kernels_pay_for_many_rows_of_much_work_and_no_others() {
        let sum = |a, b| Expr::Binary(BinaryOp::Add, Box::new(a), Box::new(b));
        let once = of_column(Ty::Float, Ty::Float, |a| sum(a.clone(), a));
        let more = of_column(Ty::Float, Ty::Float, |a| {
            (0..20).fold(a.clone(), |all, _| sum(all, a.clone()))
        });
        let (once, more) = (fewest(&once, false).unwrap(), fewest(&more, false).unwrap());
        assert!(10 < more && more < once && once < 30, "2^{more} and 2^{once} rows");
        // Nothing is won by a kernel that spends its time in one function after the other.
        let deep = of_column(Ty::Float, Ty::Float, |a| {
            (0..3).fold(a, |all, _| Expr::Call(Function::Exp, vec![all]))
        });
        assert_eq!(fewest(&deep, false), None);
        let text = of_column(Ty::Str, Ty::Str, |a| Expr::Concat(vec![a.clone(), a]));
        assert_eq!(fewest(&text, false), None);
    }

    #[test]
    fn missing_values_make_conditions_dear() {
        let both = of_column(Ty::Float, Ty::Bool, |a| {
            let above = |limit| {
                let limit = Box::new(Expr::Literal(Scalar::Float(limit)));
                Box::new(Expr::Binary(BinaryOp::Greater, Box::new(a.clone()), limit))
            };
            Expr::Binary(BinaryOp::And, above(1.0), above(2.0))
        });
        assert!(fewest(&both, true).unwrap() < fewest(&both, false).unwrap());
    }
}
