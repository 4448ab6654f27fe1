//! `value.*` on lists that the run makes: join, pick, sort, and one number of many.

use crate::compute::{scalar, value};
use crate::op::{Args, Context, Op, OpError};
use crate::value::Value;
use pipe_row::ir::{BinaryOp, ColumnRef, Expr, Function, RowFn, Scalar, Ty};
use pipe_row::typing::{binary_result, result_of};
use std::cmp::Ordering;

/// What an op of this module does.
type Run = fn(&Args) -> Result<Value, OpError>;

/// An op of this module: a name and a function of the arguments.
struct Plain {
    name: &'static str,
    run: Run,
}

impl Op for Plain {
    fn name(&self) -> &'static str {
        self.name
    }

    fn version(&self) -> u32 {
        1
    }

    fn run(&self, args: &Args, _: &dyn Context) -> Result<Value, OpError> {
        (self.run)(args)
    }
}

/// The ops of this module.
#[must_use]
pub(crate) fn ops() -> Vec<Box<dyn Op>> {
    let ops: [(&'static str, Run); 9] = [
        ("value.concat", concat),
        ("value.present", |args| Ok(Value::Bool(*args.value("value")? != Value::None))),
        ("value.item", item),
        ("value.summary", summary),
        ("value.pick", pick),
        ("value.sort", sort),
        ("value.reverse", reverse),
        ("value.enumerate", enumerate),
        ("value.zip", zip),
    ];
    ops.into_iter().map(|(name, run)| Box::new(Plain { name, run }) as Box<dyn Op>).collect()
}

fn concat(args: &Args) -> Result<Value, OpError> {
    let mut all = Vec::new();
    for list in args.list("lists")? {
        match list {
            Value::List(items) => all.extend(items.iter().cloned()),
            other => return Err(unfit("lists", "lists", other)),
        }
    }
    Ok(Value::List(all))
}

fn reverse(args: &Args) -> Result<Value, OpError> {
    Ok(Value::List(args.list("list")?.iter().rev().cloned().collect()))
}

fn enumerate(args: &Args) -> Result<Value, OpError> {
    let pair = |(index, item): (i64, &Value)| {
        Value::record([("index", Value::Int(index)), ("item", item.clone())])
    };
    Ok(Value::List((0..).zip(args.list("list")?).map(pair).collect()))
}

fn zip(args: &Args) -> Result<Value, OpError> {
    let (list, other) = (args.list("list")?, args.list("other")?);
    if list.len() != other.len() {
        let message =
            format!("The lists of `list.zip` have {} and {} items.", list.len(), other.len());
        return Err(OpError::new("run::argument", message)
            .help("Make both from one list, with `for`, so that they have the same length."));
    }
    let pair = |(first, second): (&Value, &Value)| {
        Value::record([("first", first.clone()), ("second", second.clone())])
    };
    Ok(Value::List(list.iter().zip(other).map(pair).collect()))
}

fn item(args: &Args) -> Result<Value, OpError> {
    let list = args.list("list")?;
    let at = args.int("at")?;
    let place = if at < 0 { list.len() as i64 + at } else { at };
    let found = usize::try_from(place).ok().and_then(|place| list.get(place));
    found.cloned().ok_or_else(|| {
        let message = match list.len() {
            0 => "The list is empty.".to_owned(),
            count => format!("The list has {count} items, and number {at} is asked for."),
        };
        OpError::new("run::argument", message).help("The first item is number 0.")
    })
}

fn pick(args: &Args) -> Result<Value, OpError> {
    let (list, keys) = keyed(args)?;
    let largest = args.bool("largest")?;
    let mut best: Option<(&Value, &Value)> = None;
    for (item, key) in list.iter().zip(keys).filter(|(_, key)| !is_missing(key)) {
        let wanted = if largest { Ordering::Greater } else { Ordering::Less };
        match best {
            Some((_, known)) if compare(key, known)? != wanted => {}
            _ => best = Some((item, key)),
        }
    }
    best.map(|(item, _)| item.clone()).ok_or_else(|| {
        let message = match list.len() {
            0 => "There is nothing to choose from: the list is empty.".to_owned(),
            count => format!("None of the {count} items has a key: all are missing or NaN."),
        };
        OpError::new("run::argument", message)
    })
}

fn sort(args: &Args) -> Result<Value, OpError> {
    let (list, keys) = keyed(args)?;
    for pair in keys.windows(2) {
        if let [a, b] = pair
            && !is_missing(a)
            && !is_missing(b)
        {
            compare(a, b)?;
        }
    }
    let mut order: Vec<(&Value, &Value)> = keys.iter().zip(list).collect();
    order.sort_by(|(a, _), (b, _)| match (is_missing(a), is_missing(b)) {
        (false, false) => compare(a, b).unwrap_or(Ordering::Equal),
        (a, b) => a.cmp(&b),
    });
    Ok(Value::List(order.into_iter().map(|(_, item)| item.clone()).collect()))
}

fn keyed(args: &Args) -> Result<(&[Value], &[Value]), OpError> {
    let (list, keys) = (args.list("list")?, args.list("keys")?);
    if list.len() == keys.len() {
        return Ok((list, keys));
    }
    let message = format!("There are {} items and {} keys.", list.len(), keys.len());
    Err(OpError::new("run::argument", message))
}

fn summary(args: &Args) -> Result<Value, OpError> {
    let list = args.list("list")?;
    let by = args.str("by")?;
    if by == "length" {
        return Ok(Value::Int(i64::try_from(list.len()).unwrap_or(i64::MAX)));
    }
    let Some((first, rest)) = list.split_first() else {
        let message = format!("The list is empty, so it has no {by}.");
        return Err(OpError::new("run::argument", message));
    };
    let step: fn(Expr, Expr) -> Expr = match by {
        "min" => |a, b| Expr::Call(Function::Min, vec![a, b]),
        "max" => |a, b| Expr::Call(Function::Max, vec![a, b]),
        _ => |a, b| Expr::Binary(BinaryOp::Add, Box::new(a), Box::new(b)),
    };
    let mut found = first.clone();
    for item in rest {
        found = joined(&found, item, step)?;
    }
    if by == "mean" {
        let count = Value::Int(i64::try_from(list.len()).unwrap_or(i64::MAX));
        let share = |a, b| Expr::Binary(BinaryOp::Divide, Box::new(a), Box::new(b));
        found = joined(&found, &count, share)?;
    }
    Ok(found)
}

/// Two values as a row expression joins them, so that a list of the run gives what the same list in the program gives.
fn joined(a: &Value, b: &Value, join: impl Fn(Expr, Expr) -> Expr) -> Result<Value, OpError> {
    if *a == Value::None || *b == Value::None {
        return Ok(Value::None);
    }
    let (left, right) = (scalar("list", a)?, scalar("list", b)?);
    let column = |name: &str, ty| ColumnRef { name: name.to_owned(), ty, optional: false };
    let types = [type_of(a)?, type_of(b)?];
    let body = join(Expr::Column(0), Expr::Column(1));
    let ty = match &body {
        Expr::Binary(op, ..) => binary_result(*op, types[0], types[1]),
        Expr::Call(function, _) => result_of(*function, &types).ok(),
        _ => None,
    };
    let ty = ty.ok_or_else(|| unfit("list", "numbers, durations or sizes", b))?;
    let columns = vec![column("a", types[0]), column("b", types[1])];
    let function = RowFn { columns, body, ty, optional: true };
    match function.evaluate_one(&[left, right]) {
        Ok(Scalar::None) => Err(OpError::new(
            "run::arithmetic",
            "The result is a whole number beyond \u{b1}2^53, or nothing at all.",
        )
        .help("Use `math.float(x)` where whole numbers are not needed.")),
        Ok(result) => Ok(value(result)),
        Err(error) => {
            Err(OpError::new("run::arithmetic", format!("The values have no result: {error}.")))
        }
    }
}

fn type_of(value: &Value) -> Result<Ty, OpError> {
    Ok(match value {
        Value::Bool(_) => Ty::Bool,
        Value::Int(_) => Ty::Int,
        Value::Float(_) => Ty::Float,
        Value::Str(_) => Ty::Str,
        Value::Time(_) => Ty::Time,
        Value::Duration(_) => Ty::Duration,
        Value::Size(_) => Ty::Size,
        other => return Err(unfit("list", "scalars", other)),
    })
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

fn is_missing(key: &Value) -> bool {
    match key {
        Value::None => true,
        Value::Float(value) => value.is_nan(),
        _ => false,
    }
}

/// Numbers by size, texts by code points, `false` before `true`.
fn compare(a: &Value, b: &Value) -> Result<Ordering, OpError> {
    Ok(match (a, b) {
        (Value::Int(a), Value::Int(b))
        | (Value::Time(a), Value::Time(b))
        | (Value::Duration(a), Value::Duration(b))
        | (Value::Size(a), Value::Size(b)) => a.cmp(b),
        (Value::Str(a), Value::Str(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (a, b) => match (number(a), number(b)) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            _ => {
                let (a, b) = (a.type_name(), b.type_name());
                let message = format!("There is no order between {a} and {b}.");
                return Err(OpError::new("run::argument", message));
            }
        },
    })
}

fn unfit(name: &str, wanted: &str, found: &Value) -> OpError {
    let message = format!("`{name}` must hold {wanted}, and has {}.", found.type_name());
    OpError::new("run::argument", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::standalone::Standalone;

    fn call<const N: usize>(op: &str, args: [(&str, Value); N]) -> Result<Value, OpError> {
        let ops = ops();
        let op = ops.iter().find(|known| known.name() == op).expect("an op of this module");
        op.run(&Args::of(args), &Standalone::new("."))
    }

    fn ints(items: &[i64]) -> Value {
        Value::List(items.iter().copied().map(Value::Int).collect())
    }

    fn floats(items: &[f64]) -> Value {
        Value::List(items.iter().copied().map(Value::Float).collect())
    }

    fn words(items: &[&str]) -> Value {
        Value::List(items.iter().map(|item| Value::Str((*item).to_owned())).collect())
    }

    #[test]
    fn lists_are_joined_in_order() {
        let lists = Value::List(vec![ints(&[1, 2]), ints(&[]), ints(&[3])]);
        assert_eq!(call("value.concat", [("lists", lists)]), Ok(ints(&[1, 2, 3])));
        let error = call("value.concat", [("lists", ints(&[1]))]).unwrap_err();
        assert_eq!(error.code, "run::argument");
    }

    #[test]
    fn items_are_counted_from_both_ends() {
        let at = |at| call("value.item", [("list", ints(&[7, 8, 9])), ("at", Value::Int(at))]);
        assert_eq!(at(0), Ok(Value::Int(7)));
        assert_eq!(at(-1), Ok(Value::Int(9)));
        assert_eq!(at(3).unwrap_err().code, "run::argument");
        assert_eq!(at(-4).unwrap_err().code, "run::argument");
    }

    #[test]
    fn the_best_key_wins_and_the_first_of_equals() {
        let pick = |keys: Value, largest| {
            let list = words(&["a", "b", "c"]);
            call("value.pick", [("list", list), ("keys", keys), ("largest", Value::Bool(largest))])
        };
        let word = |word: &str| Ok(Value::Str(word.to_owned()));
        assert_eq!(pick(floats(&[1.0, 3.0, 3.0]), true), word("b"));
        assert_eq!(pick(floats(&[f64::NAN, 3.0, 2.0]), false), word("c"));
        assert_eq!(pick(floats(&[f64::NAN; 3]), true).unwrap_err().code, "run::argument");
        assert_eq!(pick(floats(&[1.0]), true).unwrap_err().code, "run::argument");
    }

    #[test]
    fn equal_keys_keep_their_order_and_missing_ones_come_last() {
        let keys = Value::List(vec![
            Value::Int(2),
            Value::None,
            Value::Float(1.5),
            Value::Int(2),
            Value::Int(-1),
        ]);
        let list = words(&["a", "b", "c", "d", "e"]);
        let sorted = call("value.sort", [("list", list), ("keys", keys)]);
        assert_eq!(sorted, Ok(words(&["e", "c", "a", "d", "b"])));
    }

    #[test]
    fn one_number_of_many() {
        let of = |list: Value, by: &str| {
            call("value.summary", [("list", list), ("by", Value::Str(by.to_owned()))])
        };
        assert_eq!(of(ints(&[]), "length"), Ok(Value::Int(0)));
        assert_eq!(of(ints(&[1, 2, 4]), "sum"), Ok(Value::Int(7)));
        assert_eq!(of(ints(&[1, 2]), "mean"), Ok(Value::Float(1.5)));
        assert_eq!(of(floats(&[0.5, -1.0]), "min"), Ok(Value::Float(-1.0)));
        assert_eq!(of(Value::List(vec![Value::Int(1), Value::None]), "sum"), Ok(Value::None));
        let durations = Value::List(vec![Value::Duration(4), Value::Duration(6)]);
        assert_eq!(of(durations, "mean"), Ok(Value::Duration(5)));
        assert_eq!(of(ints(&[i64::MAX, 1]), "sum").unwrap_err().code, "run::arithmetic");
        assert_eq!(of(ints(&[]), "mean").unwrap_err().code, "run::argument");
        assert_eq!(of(words(&["a", "b"]), "sum").unwrap_err().code, "run::argument");
    }

    #[test]
    fn lists_in_a_new_form() {
        let backwards = call("value.reverse", [("list", ints(&[1, 2, 3]))]);
        assert_eq!(backwards, Ok(ints(&[3, 2, 1])));
        let pair = |a, b, x, y| Value::record([(a, x), (b, y)]);
        let word = |word: &str| Value::Str(word.to_owned());
        let numbered = |at, item| pair("index", "item", Value::Int(at), word(item));
        let counted = call("value.enumerate", [("list", words(&["a", "b"]))]);
        assert_eq!(counted, Ok(Value::List(vec![numbered(0, "a"), numbered(1, "b")])));
        let zip = |other| call("value.zip", [("list", words(&["a", "b"])), ("other", other)]);
        let both = |first, second| pair("first", "second", word(first), Value::Int(second));
        assert_eq!(zip(ints(&[7, 8])), Ok(Value::List(vec![both("a", 7), both("b", 8)])));
        assert_eq!(zip(ints(&[7])).unwrap_err().code, "run::argument");
        assert_eq!(call("value.enumerate", [("list", ints(&[]))]), Ok(ints(&[])));
    }

    #[test]
    fn what_may_be_missing_is_asked_for() {
        assert_eq!(call("value.present", [("value", Value::None)]), Ok(Value::Bool(false)));
        assert_eq!(call("value.present", [("value", Value::Int(0))]), Ok(Value::Bool(true)));
    }
}
