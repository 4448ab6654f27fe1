//! Windows in functions of rows: `window.mean(row.cpu, 5m)`, and the order of the rows that they look back over.

use super::arguments::Given;
use super::{Evaluator, NativeCall, Scalar, Typed, Value};
use crate::plan::Arg;
use crate::types::Type;
use crate::value::Const;
use pipe_grammar::{Problem, Span};
use pipe_row::ir::{BinaryOp, Expr, Ty};
use pipe_row::typing::binary_result;
use pipe_row::window::{Decay, Fold, Reach, Window};
use std::rc::Rc;

/// The order of the rows that a function of rows is given: what its op knows of it.
#[derive(Clone, Debug)]
pub(crate) enum RowOrder {
    /// The op looks at each row alone.
    None {
        /// The op.
        op: String,
    },
    /// The op takes `over` and `by`.
    Series {
        /// The op.
        op: String,
        /// The column of times, given or the only one.
        by: Option<Rc<str>>,
        /// Whether a row may have no time, and so no place.
        optional: bool,
        /// All columns of times.
        times: Vec<String>,
    },
}

impl<'a> Evaluator<'a> {
    /// The value of `window.*`.
    pub(super) fn window_function(&mut self, name: &str, call: &NativeCall<'a>) -> Typed<'a> {
        let plain = call.bound.apply(&call.native.result);
        let Some(operand) = call.values.get("x").or_else(|| call.values.get("condition")).cloned()
        else {
            return Typed::unknown(plain);
        };
        if call.broken
            || call.values.values().any(|given| given.value.ty.is_error())
            || operand.value.is_unknown()
        {
            return Typed::unknown(plain);
        }
        let Some((ty, optional)) = operand.value.ty.scalar() else {
            let found = &operand.value.ty;
            let message =
                format!("`{}` looks back over scalars, and this is `{found}`", call.native.op);
            return self.fail(Problem::error("types::mismatch", operand.span, message));
        };
        if self.in_row == 0 {
            let op = &call.native.op;
            let message = format!("`{op}` looks at the rows before one, and here are no rows");
            let problem = Problem::error("types::window_outside_rows", call.site.callee, message);
            return self.fail(problem.help(format!(
                "use it in a function of rows: `table |> data.derive(x: row => {op}(row.x, ..))`"
            )));
        }
        let Some(window) = self.window_of(name, call) else { return Typed::error() };
        let Some(unplaced) = self.check_order(window, call) else { return Typed::error() };
        let Some(result) = window.result(ty) else {
            let message = format!(
                "`{}` takes {}, and this is `{}`",
                call.native.op,
                window.accepts().words(),
                operand.value.ty
            );
            return self.fail(Problem::error("types::mismatch", operand.span, message));
        };
        let Some(inner) = self.operand(&operand.value) else { return Typed::unknown(plain) };
        let missing = window.may_miss(optional) || unplaced;
        if name != "diff" {
            let expr = Expr::Window(window, Box::new(inner.expr));
            let ty = Type::of_scalar(result, missing);
            return self.looked_back(expr, (inner.size + 1, inner.depth + 1), ty, call.site.span);
        }
        let Some(result) = binary_result(BinaryOp::Subtract, ty, ty) else {
            let message = format!("there is no difference of two values of `{}`", operand.value.ty);
            return self.fail(Problem::error("types::mismatch", operand.span, message));
        };
        let before = Box::new(Expr::Window(window, Box::new(inner.expr.clone())));
        let expr = Expr::Binary(BinaryOp::Subtract, Box::new(inner.expr), before);
        let size = (2 * inner.size + 2, inner.depth + 2);
        self.looked_back(expr, size, Type::of_scalar(result, missing), call.site.span)
    }

    fn looked_back(
        &mut self,
        expr: Expr,
        (size, depth): (usize, usize),
        ty: Type,
        span: Span,
    ) -> Typed<'a> {
        if size > pipe_row::MAX_NODES || depth > pipe_row::MAX_DEPTH {
            let message =
                format!("this expression unfolds into more than {} steps", pipe_row::MAX_NODES);
            let problem = Problem::error("plan::too_large", span, message);
            return self.fail(
                problem.help("compute a part of it as a column of its own, with `data.derive`"),
            );
        }
        Typed { ty, value: Value::Scalar(Rc::new(Scalar { expr, size, depth })) }
    }

    /// The window that a call describes. `None` after a reported mistake, or where a number is not known yet.
    fn window_of(&mut self, name: &str, call: &NativeCall<'a>) -> Option<Window> {
        let fold = match name {
            "lag" | "diff" => return Some(Window::Lag(self.reach(call, "back")?)),
            "any" => return Some(Window::Any(self.reach(call, "window")?)),
            "all" => return Some(Window::All(self.reach(call, "window")?)),
            "count" => return Some(Window::Count(self.reach(call, "window")?)),
            "held" => return Some(Window::Held),
            "streak" => return Some(Window::Streak),
            "since" => return Some(Window::Since),
            "ewma" => return self.decay(call).map(Window::Ewma),
            "mean" => Fold::Mean,
            "sum" => Fold::Sum,
            "min" => Fold::Min,
            "max" => Fold::Max,
            "std" => Fold::Std,
            "median" => Fold::Quantile(0.5),
            "quantile" => Fold::Quantile(self.share(call, "q", 0.0)?),
            other => {
                let message = format!("the compiler does not know how to compute `window.{other}`");
                self.report(Problem::error("resolve::native", call.declared, message));
                return None;
            }
        };
        let reach = self.reach(call, "window")?;
        let least = match (self.known(call, "min_rows")?, reach) {
            (Const::Int(least), _) if *least > 0 => least.unsigned_abs(),
            (Const::None, Reach::Rows(rows)) => rows,
            (Const::None, Reach::Time(_)) => 1,
            (other, _) => {
                let message = format!("`min_rows` is at least 1, and this is {other}");
                return self.bad_size(call, "min_rows", message, None);
            }
        };
        if let Reach::Rows(rows) = reach
            && least > rows
        {
            let message = format!("a window of {rows} rows never holds {least}");
            return self.bad_size(call, "min_rows", message, None);
        }
        Some(Window::Fold { fold, reach, least })
    }

    /// How far a window reaches: an int counts rows, a duration measures time.
    fn reach(&mut self, call: &NativeCall<'a>, name: &str) -> Option<Reach> {
        match self.known(call, name)? {
            Const::Int(rows) if *rows > 0 => Some(Reach::Rows(rows.unsigned_abs())),
            Const::Duration(nanos) if *nanos > 0 => Some(Reach::Time(*nanos)),
            Const::Int(back) if *back < 0 => {
                let message = format!("a window looks back, and {back} rows lie ahead");
                let help = "count rows back: what comes later is not known when a row arrives";
                self.bad_size(call, name, message, Some(help))
            }
            other => {
                let message = format!("a window reaches over rows or time, and this is {other}");
                let help = "give a number of rows (`12`) or a duration (`5m`), above zero";
                self.bad_size(call, name, message, Some(help))
            }
        }
    }

    fn decay(&mut self, call: &NativeCall<'a>) -> Option<Decay> {
        match (self.known(call, "half_life")?.clone(), self.known(call, "alpha")?.clone()) {
            (Const::None, Const::None) => {
                let op = &call.native.op;
                let message = format!("`{op}` needs to know how fast it forgets");
                let problem = Problem::error("types::missing_argument", call.site.callee, message);
                self.report(problem.help(
                    "give `half_life: 10m` (by time) or `alpha: 0.1` (the share of each new row)",
                ));
                None
            }
            (Const::Duration(nanos), Const::None) if nanos > 0 => Some(Decay::HalfLife(nanos)),
            (Const::Duration(nanos), Const::None) => {
                let message = format!(
                    "a half-life is longer than zero, and this is {}",
                    Const::Duration(nanos)
                );
                self.bad_size(call, "half_life", message, None)
            }
            (Const::None, _) => {
                let alpha = self.share(call, "alpha", f64::MIN_POSITIVE)?;
                Some(Decay::Alpha(alpha))
            }
            _ => {
                let message = "`half_life` and `alpha` both say how fast it forgets".to_owned();
                self.bad_size(call, "alpha", message, Some("give one of them"))
            }
        }
    }

    /// A share of one.
    fn share(&mut self, call: &NativeCall<'a>, name: &str, least: f64) -> Option<f64> {
        let value = match self.known(call, name)? {
            Const::Float(value) => *value,
            Const::Int(value) => *value as f64,
            _ => f64::NAN,
        };
        if value >= least && value <= 1.0 {
            return Some(value);
        }
        let from = if least > 0.0 { "above 0 and at most 1" } else { "between 0 and 1" };
        let message = format!("`{name}` lies {from}, and this is {}", Const::Float(value));
        self.bad_size(call, name, message, None)
    }

    /// A constant argument; silent where it is unknown, reported where it comes from rows or results.
    fn known<'c>(&mut self, call: &'c NativeCall<'a>, name: &str) -> Option<&'c Const> {
        let given = call.values.get(name)?;
        if let Some(constant) = given.value.as_const() {
            return Some(constant);
        }
        if !given.value.is_unknown() {
            let message = format!("`{name}` of `{}` is one for all rows", call.native.op);
            let problem = Problem::error("types::window_size", given.span, message);
            self.report(problem.help("give a number, or a `param`, that is known before the run"));
        }
        None
    }

    fn bad_size<T>(
        &mut self,
        call: &NativeCall<'a>,
        name: &str,
        message: String,
        help: Option<&str>,
    ) -> Option<T> {
        let span = call.values.get(name).map_or(call.site.span, |given| given.span);
        let mut problem = Problem::error("types::window_size", span, message);
        if let Some(help) = help {
            problem = problem.help(help);
        }
        self.report(problem);
        None
    }

    /// Whether rows may be without a place; `None` when the rows have no order that the window needs.
    fn check_order(&mut self, window: Window, call: &NativeCall<'a>) -> Option<bool> {
        let callee = call.site.callee;
        match self.order.clone() {
            None => Some(false),
            Some(RowOrder::None { op }) => {
                let message =
                    format!("`{op}` looks at each row alone, so there are no rows before one");
                let problem = Problem::error("types::window_without_order", callee, message);
                let name = &call.native.op;
                self.report(problem.help(format!(
                    "derive a column first, and use it here: `|> data.derive(x: row => {name}(..))`"
                )));
                None
            }
            Some(RowOrder::Series { by: Some(_), optional, .. }) => Some(optional),
            Some(RowOrder::Series { op, times, .. }) if window.needs_times() => {
                let window = call.values.get("window").or_else(|| call.values.get("back"));
                let span = window.map_or(callee, |given| given.span);
                let message = format!("`{}` needs to know when each row was", call.native.op);
                let problem = Problem::error("types::window_needs_time", span, message);
                let help = match times.as_slice() {
                    [] => "read a column as times, `data.read(.., time: \"time\")`, or count rows: `12`".to_owned(),
                    many => {
                        let names: Vec<String> = many.iter().map(|name| format!("`by: \"{name}\"`")).collect();
                        format!("say which column in `{op}`: {}", names.join(" or "))
                    }
                };
                self.report(problem.help(help));
                None
            }
            Some(RowOrder::Series { .. }) => Some(false),
        }
    }

    /// The order of the rows that the call's functions are given.
    pub(super) fn row_order(&mut self, call: &NativeCall<'a>) -> RowOrder {
        let op = call.native.op.clone();
        if !call.native.params.iter().any(|param| param.name == "over" && param.added.is_some()) {
            return RowOrder::None { op };
        }
        let row = self.subject_row(call).map(|(row, ..)| row);
        let is_time = |ty: &Type| ty.required().0.scalar().is_some_and(|(ty, _)| ty == Ty::Time);
        let fields = row.iter().flat_map(|row| &row.fields).filter(|(_, ty)| is_time(ty));
        let times: Vec<(String, bool)> =
            fields.map(|(name, ty)| (name.to_string(), ty.required().1)).collect();
        let given = call.values.get("by").filter(|by| by.value.ty != Type::None);
        let (by, optional) = match given.map(|given| (given, given.value.text())) {
            None => match times.as_slice() {
                [(only, optional)] => (Some(Rc::from(only.as_str())), *optional),
                _ => (None, false),
            },
            Some((given, Some(name))) => {
                let known = row.as_ref().and_then(|row| row.field(name));
                if let Some(ty) = known.filter(|ty| !is_time(ty) && !ty.is_error()) {
                    self.not_a_time(name, ty, given);
                }
                (Some(Rc::from(name)), known.is_none_or(|ty| ty.required().1))
            }
            // Not known in a function that is looked at without a call.
            Some((_, None)) => (Some(Rc::from("")), true),
        };
        let times = times.into_iter().map(|(name, _)| name).collect();
        RowOrder::Series { op, by, optional, times }
    }

    fn not_a_time(&mut self, name: &str, ty: &Type, given: &Given<'a>) {
        let message = format!("the column `{name}` is `{ty}`, not `time`");
        let problem = Problem::error("types::not_a_time", given.span, message);
        self.report(problem.help("name it when reading: `data.read(.., time: \"...\")`"));
    }

    /// Writes the order into the call's arguments where its functions look back, so that the key names it; takes it out
    /// where none does.
    pub(super) fn settle_order(&mut self, call: &mut NativeCall<'a>, order: &RowOrder) {
        let RowOrder::Series { op, by, .. } = order else { return };
        let functions = call.rows.values().filter_map(|row| row.function.as_ref());
        let none = |span| Given { value: Typed::constant(Const::None), span };
        let callee = call.site.callee;
        if functions.into_iter().any(looks_back) {
            if let Some(by) = by {
                let value = Typed::constant(Const::Str(by.to_string()));
                let given = call.values.entry("by".into()).or_insert(none(callee));
                if given.value.ty == Type::None {
                    given.value = value;
                }
            }
            return;
        }
        for name in ["over", "by"] {
            let given = call.values.get(name).filter(|given| given.value.ty != Type::None);
            let span = given.filter(|given| !given.value.is_unknown()).map(|given| given.span);
            if let Some(span) = span
                && !call.broken
            {
                let message = format!(
                    "no function of this `{op}` looks at other rows, so `{name}` changes nothing"
                );
                let problem = Problem::warning("types::order_unused", span, message);
                self.report(problem.help("leave it out"));
            }
            call.values.insert(name.into(), none(callee));
        }
    }
}

/// Whether a lowered function of rows has windows.
fn looks_back(function: &Arg) -> bool {
    match function {
        Arg::Row(function) | Arg::Reading { function, .. } => function.has_windows(),
        _ => false,
    }
}
