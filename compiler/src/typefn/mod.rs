//! Type functions: ops whose result type depends on the values of their arguments. A closed list.

mod concat;
mod derive;
mod encoder;
mod exec;
mod folds;
mod group;
mod header;
mod join;
mod pivot;
mod read;
mod resample;
mod select;
mod shape;
mod split;
mod values;
mod window;

pub(crate) use window::overlap;

use crate::eval::{Evaluator, NativeCall};
use crate::types::Type;
use pipe_grammar::Problem;

/// The type of a call's result. `None` after a reported mistake.
pub(crate) fn apply<'a>(
    evaluator: &mut Evaluator<'a>,
    name: &str,
    call: &mut NativeCall<'a>,
) -> Option<Type> {
    match name {
        "read" => read::result(evaluator, call),
        "derive" => derive::result(evaluator, call),
        "select" => select::result(evaluator, call),
        "join" => join::result(evaluator, call),
        "resample" => resample::result(evaluator, call),
        "exec" => exec::result(evaluator, call),
        "split" => split::result(evaluator, call),
        "folds" => folds::result(evaluator, call),
        "group" => group::result(evaluator, call),
        "concat" => concat::result(evaluator, call),
        "window" => window::result(evaluator, call),
        "pivot" => pivot::wide(evaluator, call),
        "unpivot" => pivot::long(evaluator, call),
        "rename" => shape::rename(evaluator, call),
        "drop" => shape::drop(evaluator, call),
        "encode" => shape::encode(evaluator, call),
        "encoder" => encoder::fitted(evaluator, call),
        "encoded" => encoder::encoded(evaluator, call),
        "values" => values::result(evaluator, call),
        "compute" | "own" | "driver" | "rows" => {
            let op = &call.native.op;
            let message = format!("the compiler writes `{op}` itself");
            let problem = Problem::error("types::compiler_only", call.site.callee, message);
            let help = match op.as_str() {
                "value.compute" => "write the expression: `score.f1 >= 0.8`",
                "data.rows" => "write the steps: `table |> data.filter(..) |> data.derive(..)`",
                "flow.each" => "write `for item in list { .. }`",
                "flow.choose" => "write `if condition { .. } else { .. }`",
                "flow.iterate" => "write `iterate(start, step: s => .., until: s => .., max: 10)`",
                _ => "write it with `for`, `if` and `list.*`",
            };
            evaluator.report(problem.help(help));
            None
        }
        other => {
            let message = format!("there is no type function `{other}`");
            evaluator.report(Problem::error("resolve::native", call.declared, message));
            None
        }
    }
}
