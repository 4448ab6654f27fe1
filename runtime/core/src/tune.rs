//! Searches: drivers whose next points follow from the results so far.

use crate::driver::{Driver, Next, Point, Trial};
use crate::flow::labelled;
use crate::op::{Args, OpError};
use crate::value::Value;
use std::cmp::Ordering;

/// `tune.halving`: every point with a little, the better ones with more.
pub(crate) struct Halving;

/// The arguments of one search.
struct Search<'a> {
    points: &'a [Value],
    budgets: Vec<i64>,
    keep: f64,
    smallest: bool,
}

impl Driver for Halving {
    fn name(&self) -> &'static str {
        "tune.halving"
    }

    fn version(&self) -> u32 {
        1
    }

    /// The rungs are replayed from the trials, so a search that is asked again goes the same way.
    fn next(&self, args: &Args, trials: &[Trial]) -> Result<Next, OpError> {
        let search = Search::of(args)?;
        let mut left: Vec<usize> = (0..search.points.len()).collect();
        let mut rest = trials;
        for (rung, budget) in search.budgets.iter().enumerate() {
            let Some((tried, later)) = rest.split_at_checked(left.len()) else {
                return search.ask(args, &left, *budget).map(Next::Ask);
            };
            rest = later;
            let scores: Vec<f64> = tried.iter().map(score).collect::<Result<_, _>>()?;
            let mut best: Vec<(usize, f64)> = left.iter().copied().zip(scores).collect();
            best.sort_by(|(_, a), (_, b)| search.order(*a, *b));
            if rung + 1 == search.budgets.len() {
                return search.done(best.first().copied(), trials.len());
            }
            best.truncate(search.kept(best.len()));
            left = best.into_iter().map(|(at, _)| at).collect();
            left.sort_unstable();
        }
        Err(wrong("`budgets` is empty: each budget is one rung."))
    }
}

impl<'a> Search<'a> {
    fn of(args: &'a Args) -> Result<Self, OpError> {
        let points = args.list("points")?;
        if points.is_empty() {
            return Err(wrong("There is nothing to try: `points` is empty."));
        }
        let budgets = args.list("budgets")?.iter().map(|budget| match budget {
            Value::Int(budget) => Ok(*budget),
            other => Err(wrong(format!("A budget must be an int, and is {}.", other.type_name()))),
        });
        let budgets: Vec<i64> = budgets.collect::<Result<_, _>>()?;
        let pair = budgets.windows(2).find(|pair| matches!(pair, [a, b] if a >= b));
        if let Some([a, b]) = pair {
            return Err(wrong(format!(
                "`budgets` must grow from rung to rung, and {b} follows {a}."
            )));
        }
        let keep = args.float("keep")?;
        if !(keep > 0.0 && keep <= 1.0) {
            return Err(wrong(format!("`keep` is a share above 0 and up to 1, and is {keep}.")));
        }
        Ok(Self { points, budgets, keep, smallest: args.str("goal")? == "smallest" })
    }

    fn ask(&self, args: &Args, left: &[usize], budget: i64) -> Result<Vec<Point>, OpError> {
        let names = args.strings("trial")?;
        let (point, spent) = (names.first().copied(), names.get(1).copied());
        let each = left.iter().filter_map(|at| {
            let value = self.points.get(*at)?;
            let shown = labelled(point.unwrap_or("point"), value, *at);
            let label = format!("{shown}, {}={budget}", spent.unwrap_or("budget"));
            let bound = vec![value.clone(), Value::Int(budget)];
            Some(Point { body: "trial".to_owned(), bound, label })
        });
        Ok(each.collect())
    }

    /// Better scores first, NaN last; equal ones keep the order of the points.
    fn order(&self, a: f64, b: f64) -> Ordering {
        match (a.is_nan(), b.is_nan()) {
            (false, false) if self.smallest => a.total_cmp(&b),
            (false, false) => b.total_cmp(&a),
            (a, b) => a.cmp(&b),
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of at most as many points as a driver may ask for"
    )]
    fn kept(&self, count: usize) -> usize {
        ((count as f64 * self.keep).ceil() as usize).clamp(1, count.max(1))
    }

    fn done(&self, best: Option<(usize, f64)>, trials: usize) -> Result<Next, OpError> {
        let found = best.filter(|(_, score)| !score.is_nan());
        let Some((point, score)) =
            found.and_then(|(at, score)| Some((self.points.get(at)?, score)))
        else {
            return Err(wrong("None of the points has a score: all of them are NaN."));
        };
        Ok(Next::Done(Value::record([
            ("point", point.clone()),
            ("score", Value::Float(score)),
            ("trials", Value::Int(i64::try_from(trials).unwrap_or(i64::MAX))),
        ])))
    }
}

fn score(trial: &Trial) -> Result<f64, OpError> {
    match &trial.result {
        Value::Float(score) => Ok(*score),
        #[expect(
            clippy::cast_precision_loss,
            reason = "a score in whole numbers is compared as one"
        )]
        Value::Int(score) => Ok(*score as f64),
        other => Err(wrong(format!("A score must be a number, and is {}.", other.type_name()))),
    }
}

fn wrong(message: impl Into<String>) -> OpError {
    OpError::new("run::argument", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::ArgValue;

    fn args(points: &[i64], budgets: &[i64], goal: &str) -> Args {
        let ints = |items: &[i64]| Value::List(items.iter().copied().map(Value::Int).collect());
        let names = ["p", "n"].map(|name| Value::Str(name.to_owned()));
        Args::of([
            ("points", ints(points)),
            ("budgets", ints(budgets)),
            ("keep", Value::Float(0.5)),
            ("goal", Value::Str(goal.to_owned())),
        ])
        .with("trial", ArgValue::Value(Value::List(names.into())))
    }

    /// To the end, with the labels of each rung; a trial's score is `score(point, budget)`.
    fn drive(
        args: &Args,
        score: impl Fn(i64, i64) -> f64,
    ) -> (Result<Value, OpError>, Vec<Vec<String>>) {
        let (mut trials, mut rungs) = (Vec::new(), Vec::new());
        loop {
            match Halving.next(args, &trials) {
                Ok(Next::Done(value)) => return (Ok(value), rungs),
                Err(error) => return (Err(error), rungs),
                Ok(Next::Ask(points)) => {
                    rungs.push(points.iter().map(|point| point.label.clone()).collect());
                    trials.extend(points.into_iter().map(|point| {
                        let [Value::Int(p), Value::Int(n)] = point.bound[..] else {
                            unreachable!("{point:?}")
                        };
                        Trial { result: Value::Float(score(p, n)), point }
                    }));
                }
            }
        }
    }

    #[test]
    fn losers_are_not_asked_again() {
        let (value, rungs) =
            drive(&args(&[4, 1, 5, 2, 3], &[10, 20, 40], "largest"), |p, n| (p * n) as f64);
        assert_eq!(rungs[0], ["p=4, n=10", "p=1, n=10", "p=5, n=10", "p=2, n=10", "p=3, n=10"]);
        assert_eq!(rungs[1], ["p=4, n=20", "p=5, n=20", "p=3, n=20"]);
        assert_eq!(rungs[2], ["p=4, n=40", "p=5, n=40"]);
        let best =
            [("point", Value::Int(5)), ("score", Value::Float(200.0)), ("trials", Value::Int(10))];
        assert_eq!(value, Ok(Value::record(best)));
    }

    #[test]
    fn equal_scores_keep_their_order_and_nan_is_the_worst() {
        let score = |p: i64, _: i64| if p == 1 { f64::NAN } else { 7.0 };
        for goal in ["largest", "smallest"] {
            let (value, rungs) = drive(&args(&[1, 2, 3, 4], &[1, 2], goal), score);
            assert_eq!(rungs[1], ["p=2, n=2", "p=3, n=2"]);
            assert_eq!(value.unwrap().project(&["point".to_owned()]), Ok(&Value::Int(2)));
        }
        let (value, _) = drive(&args(&[1, 1], &[1], "largest"), score);
        assert_eq!(value.unwrap_err().code, "run::argument");
    }

    #[test]
    fn what_makes_no_search_is_told() {
        for (points, budgets, said) in [
            (&[][..], &[1][..], "nothing to try"),
            (&[1], &[], "is empty"),
            (&[1], &[2, 2], "must grow"),
        ] {
            let error = Halving.next(&args(points, budgets, "largest"), &[]).unwrap_err();
            assert!(error.message.contains(said), "{error}");
        }
    }
}
