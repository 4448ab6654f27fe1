//! The drivers of the language itself: `for`, `if` and `iterate` over what is known only in the run.

use crate::driver::{Driver, MOST_POINTS, Next, Point, Trial};
use crate::op::{Args, OpError};
use crate::value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Longest text that a label shows in full.
const LONGEST: usize = 24;

/// `flow.each`: the body for each item of a list.
pub struct Each;

/// `flow.choose`: one of two bodies.
pub struct Choose;

/// `flow.iterate`: a body over and over, until it is good enough.
pub struct Iterate;

impl Driver for Each {
    fn name(&self) -> &'static str {
        "flow.each"
    }

    fn version(&self) -> u32 {
        1
    }

    fn next(&self, args: &Args, trials: &[Trial]) -> Result<Next, OpError> {
        let items = args.list("list")?;
        if trials.is_empty() && !items.is_empty() {
            return points(args, items).map(Next::Ask);
        }
        let results = trials.iter().map(|trial| &trial.result);
        if !args.optional_bool("flatten")?.unwrap_or(false) {
            return Ok(Next::Done(Value::List(results.cloned().collect())));
        }
        let mut joined = Vec::new();
        for result in results {
            let Value::List(items) = result else { return Err(unfit("a list", result)) };
            joined.extend(items.iter().cloned());
        }
        Ok(Next::Done(Value::List(joined)))
    }
}

impl Driver for Choose {
    fn name(&self) -> &'static str {
        "flow.choose"
    }

    fn version(&self) -> u32 {
        1
    }

    fn next(&self, args: &Args, trials: &[Trial]) -> Result<Next, OpError> {
        if let Some(trial) = trials.first() {
            return Ok(Next::Done(trial.result.clone()));
        }
        let (body, label) =
            if args.bool("condition")? { ("then", "then") } else { ("otherwise", "else") };
        Ok(Next::Ask(vec![point(body, Vec::new(), label.to_owned())]))
    }
}

impl Driver for Iterate {
    fn name(&self) -> &'static str {
        "flow.iterate"
    }

    fn version(&self) -> u32 {
        1
    }

    /// A step, then whether its state is good enough, and so on; the state of the last step needs no such question.
    fn next(&self, args: &Args, trials: &[Trial]) -> Result<Next, OpError> {
        let most = args.count("max")?;
        if most == 0 || most > MOST_POINTS {
            let what = format!("`max` must lie between 1 and {MOST_POINTS} and is {most}.");
            return Err(OpError::new("run::argument", what));
        }
        let asks = args.optional_value("until")?.is_some();
        let mut steps = trials.iter().filter(|trial| trial.point.body == "step");
        let (count, state) = match (steps.clone().count(), steps.next_back()) {
            (count, Some(trial)) => (count, trial.result.clone()),
            (count, None) => (count, args.value("init")?.clone()),
        };
        match trials.last() {
            Some(last) if last.point.body == "until" => match &last.result {
                Value::Bool(true) => return Ok(Next::Done(state)),
                Value::Bool(false) => {}
                other => return Err(unfit("a bool", other)),
            },
            Some(_) if count >= most => return Ok(Next::Done(state)),
            Some(_) if asks => {
                let label = format!("until={count}");
                return Ok(Next::Ask(vec![point("until", vec![state], label)]));
            }
            _ => {}
        }
        Ok(Next::Ask(vec![point("step", vec![state], format!("step={}", count + 1))]))
    }
}

fn point(body: &str, bound: Vec<Value>, label: String) -> Point {
    Point { body: body.to_owned(), bound, label }
}

/// A point for each item, with a label that no other item has.
fn points(args: &Args, items: &[Value]) -> Result<Vec<Point>, OpError> {
    let names = args.strings("body")?;
    let fields = args.optional_strings("fields")?.unwrap_or_default();
    let mut points = Vec::with_capacity(items.len());
    let mut labels: BTreeMap<String, usize> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        let bound = bound(item, &fields)?;
        let shown: Vec<String> =
            names.iter().zip(&bound).map(|(name, value)| labelled(name, value, at)).collect();
        let label = if shown.is_empty() { at.to_string() } else { shown.join(", ") };
        labels.entry(label.clone()).or_insert(at);
        points.push(point("body", bound, label));
    }
    let clash: BTreeSet<usize> = (0..points.len())
        .filter(|at| {
            let first = points.get(*at).and_then(|point| labels.get(&point.label));
            first.is_some_and(|first| items.get(*first) != items.get(*at))
        })
        .collect();
    for at in clash {
        if let Some(point) = points.get_mut(at) {
            point.label = format!("{}, {at}", point.label);
        }
    }
    Ok(points)
}

/// What the variables stand for: the item, or its fields.
fn bound(item: &Value, fields: &[&str]) -> Result<Vec<Value>, OpError> {
    if fields.is_empty() {
        return Ok(vec![item.clone()]);
    }
    fields.iter().map(|name| item.project(&[(*name).to_owned()]).cloned()).collect()
}

/// `host=web-1`; a value that has no short text shows its place in the list.
pub(crate) fn labelled(name: &str, value: &Value, at: usize) -> String {
    let text = match value {
        Value::Record(fields) => {
            let texts = fields.values().filter(|field| matches!(field, Value::Str(_)));
            match texts.collect::<Vec<_>>().as_slice() {
                [Value::Str(only)] => Some(only.clone()),
                _ => None,
            }
        }
        Value::Str(text) => Some(text.clone()),
        Value::Float(float) => Some(float.to_string()),
        Value::Int(whole) => Some(whole.to_string()),
        Value::List(_) | Value::Artifact(_) => None,
        scalar => Some(scalar.describe()),
    };
    let fits = |text: &String| {
        let plain = |letter: char| !letter.is_control() && !matches!(letter, '[' | ']');
        !text.is_empty() && text.chars().count() <= LONGEST && text.chars().all(plain)
    };
    match text.filter(fits) {
        Some(text) => format!("{name}={text}"),
        None => format!("{name}={at}"),
    }
}

fn unfit(wanted: &str, found: &Value) -> OpError {
    let what = format!("The body must give {wanted} and gives {}.", found.type_name());
    OpError::new("run::value", what)
        .help("The program and the plan disagree; please report this together with the program.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::ArgValue;

    fn names(names: &[&str]) -> ArgValue {
        ArgValue::Value(list(names.iter().map(|name| Value::Str((*name).to_owned()))))
    }

    fn list(items: impl IntoIterator<Item = Value>) -> Value {
        Value::List(items.into_iter().collect())
    }

    /// Drive to the end; `answer` computes the points.
    fn drive(
        driver: &dyn Driver,
        args: &Args,
        answer: impl Fn(&Point) -> Value,
    ) -> (Value, Vec<String>) {
        let mut trials = Vec::new();
        loop {
            match driver.next(args, &trials).unwrap() {
                Next::Done(value) => {
                    let labels = trials.into_iter().map(|trial: Trial| trial.point.label);
                    return (value, labels.collect());
                }
                Next::Ask(points) => {
                    assert!(!points.is_empty());
                    trials.extend(points.into_iter().map(|point| {
                        let result = answer(&point);
                        Trial { point, result }
                    }));
                }
            }
        }
    }

    fn whole(value: &Value) -> i64 {
        match value {
            Value::Int(whole) => *whole,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_keeps_the_order_of_the_list() {
        let args =
            Args::of([("list", list([3, 1, 2].map(Value::Int)))]).with("body", names(&["n"]));
        let double = |point: &Point| Value::Int(whole(&point.bound[0]) * 2);
        let (value, labels) = drive(&Each, &args, double);
        assert_eq!(value, list([6, 2, 4].map(Value::Int)));
        assert_eq!(labels, ["n=3", "n=1", "n=2"]);
        let none = Args::of([("list", list([]))]).with("body", names(&["n"]));
        assert_eq!(drive(&Each, &none, double).0, list([]));
        let joined =
            Args::of([("list", list([1, 2].map(Value::Int))), ("flatten", Value::Bool(true))]);
        let pair = |point: &Point| list([point.bound[0].clone(), point.bound[0].clone()]);
        let (value, _) = drive(&Each, &joined.with("body", names(&["n"])), pair);
        assert_eq!(value, list([1, 1, 2, 2].map(Value::Int)));
    }

    #[test]
    fn labels_are_short_and_tell_different_items_apart() {
        let text = |text: &str| Value::Str(text.to_owned());
        let host = |name: &str, n: i64| Value::record([("host", text(name)), ("n", Value::Int(n))]);
        let items = [host("a", 1), host("b", 1), host("a", 2), host("a", 1)];
        let args = Args::of([("list", list(items))]).with("body", names(&["h"]));
        let (_, labels) = drive(&Each, &args, |_| Value::None);
        assert_eq!(labels, ["h=a", "h=b", "h=a, 2", "h=a"]);
        let fields = list([text("host"), text("n")]);
        let args = Args::of([("list", list([host("a", 1), host("x]", 2)])), ("fields", fields)]);
        let (_, labels) = drive(&Each, &args.with("body", names(&["h", "n"])), |_| Value::None);
        assert_eq!(labels, ["h=a, n=1", "h=1, n=2"]);
    }

    #[test]
    fn choose_asks_for_one_body() {
        for (condition, body) in [(true, "then"), (false, "otherwise")] {
            let args = Args::of([("condition", Value::Bool(condition))]);
            let (value, _) = drive(&Choose, &args, |point| Value::Str(point.body.clone()));
            assert_eq!(value, Value::Str(body.to_owned()));
        }
    }

    #[test]
    fn iterate_ends_when_it_is_good_or_at_its_limit() {
        let args = |until: bool, max: i64| {
            let args = Args::of([("init", Value::Int(1)), ("max", Value::Int(max))]);
            let args = args.with("step", names(&["s"]));
            if until { args.with("until", names(&["s"])) } else { args }
        };
        let answer = |point: &Point| match point.body.as_str() {
            "step" => Value::Int(whole(&point.bound[0]) * 2),
            _ => Value::Bool(whole(&point.bound[0]) >= 8),
        };
        let (value, labels) = drive(&Iterate, &args(true, 10), answer);
        assert_eq!(value, Value::Int(8));
        assert_eq!(labels, ["step=1", "until=1", "step=2", "until=2", "step=3", "until=3"]);
        let (value, labels) = drive(&Iterate, &args(true, 2), answer);
        assert_eq!((value, labels.len()), (Value::Int(4), 3));
        assert_eq!(drive(&Iterate, &args(false, 4), answer).0, Value::Int(16));
        assert!(Iterate.next(&args(true, 0), &[]).is_err());
        assert!(Iterate.next(&args(true, 10_001), &[]).is_err());
    }
}
