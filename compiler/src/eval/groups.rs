//! Functions of groups: `rows => stat.max(rows.cpu) - stat.min(rows.cpu)`.
//!
//! The rows of a group look like one row whose columns have many values. `stat.*` makes one value of them: a leaf of the
//! expression around it, which knows the expression below it. So each function has three layers: expressions of one row,
//! what they come to over the group, and an expression of that. The runtime gets them apart (see [`Evaluator::group_fn`]).

use super::arguments::Given;
use super::{Evaluator, LeafSource, NativeCall, Origin, Scalar, Typed, Value};
use crate::plan::Arg;
use crate::types::Type;
use crate::value::Const;
use pipe_grammar::{Problem, Span};
use pipe_row::ir::{ColumnRef, Expr, RowFn, Ty};
use std::collections::BTreeMap;
use std::rc::Rc;

/// One value of the values of a group.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Aggregate {
    /// `mean`, as in `stat.mean`.
    method: String,
    /// What it is computed of, row by row, with its type; `None` stands for the rows themselves.
    of: Option<(Expr, Ty, bool)>,
    /// The share of `stat.quantile`.
    share: Option<Const>,
}

impl<'a> Evaluator<'a> {
    /// `stat.*`: typed here, computed in the run.
    pub(super) fn group_function(&mut self, method: &str, call: &NativeCall<'a>) -> Typed<'a> {
        let Some(given) = call.values.get("values").cloned() else { return Typed::error() };
        if call.broken || given.value.ty.is_error() {
            return Typed::error();
        }
        let whole = matches!(given.value.ty, Type::Record(_));
        let ty = match (whole, given.value.ty.scalar()) {
            (true, _) if method == "count" => Some(Type::Int),
            (false, Some(_)) => aggregated(method, &given.value.ty),
            _ => None,
        };
        let Some(ty) = ty else { return self.no_aggregate(method, &given, whole) };
        let share = match call.values.get("q") {
            None => None,
            Some(q) => match self.quantile_share(q) {
                Some(share) => Some(share),
                None => return Typed::unknown(ty),
            },
        };
        let Some((scalar, optional)) = ty.scalar() else { return Typed::unknown(ty) };
        let of = match &given.value.value {
            Value::Row(_) => None,
            _ => {
                let Some(found) = given.value.ty.scalar() else { return Typed::unknown(ty) };
                let Some(operand) = self.operand(&given.value) else { return Typed::unknown(ty) };
                if self.reads_group(&operand.expr) {
                    let message =
                        format!("`stat.{method}` of a value that is one per group already");
                    let problem = Problem::error("types::group_of_group", given.span, message);
                    return self
                        .fail(problem.help(
                            "group twice: a second `data.group` over the first one's result",
                        ));
                }
                Some((operand.expr, found.0, found.1))
            }
        };
        let aggregate = Aggregate { method: method.to_owned(), of, share };
        self.leaf(LeafSource::Group(Rc::new(aggregate)), scalar, optional, ty)
    }

    fn no_aggregate(&mut self, method: &str, given: &Given<'a>, whole: bool) -> Typed<'a> {
        if whole {
            let message = format!("`stat.{method}` takes values, and these are whole rows");
            let problem = Problem::error("types::mismatch", given.span, message);
            let name = self.source_of(given.span);
            return self.fail(problem.help(format!(
                "name the column: `stat.{method}({name}.column)`; `stat.count({name})` counts rows"
            )));
        }
        let takes = match method {
            "any" | "all" => "truths (`bool`)",
            "min" | "max" => "numbers, texts, times, durations and sizes",
            "median" | "quantile" => "numbers, times, durations and sizes",
            _ => "numbers, truths, durations and sizes",
        };
        let message = format!("`stat.{method}` takes {takes}, and this is `{}`", given.value.ty);
        let problem = Problem::error("types::mismatch", given.span, message);
        self.fail(match given.value.ty {
            Type::List(_) => {
                problem.help("`list.*` is for lists; `stat.*` is for the rows of a group")
            }
            _ => problem,
        })
    }

    fn quantile_share(&mut self, given: &Given<'a>) -> Option<Const> {
        match given.value.as_const() {
            Some(Const::Float(share)) if (0.0..=1.0).contains(share) => Some(Const::Float(*share)),
            Some(other) => {
                let message = format!("`q` lies between 0 and 1, and this is {other}");
                let problem = Problem::error("types::quantile", given.span, message);
                self.report(problem.help("the value below which 99 % lie: `q: 0.99`"));
                None
            }
            None => {
                if !given.value.is_unknown() {
                    let message = "`q` is known before the run";
                    self.report(Problem::error("plan::runtime_choice", given.span, message));
                }
                None
            }
        }
    }

    fn reads_group(&self, expr: &Expr) -> bool {
        let mut used = Vec::new();
        super::row::collect(expr, &mut used);
        used.iter().any(|number| {
            let leaf = self.leaves.get(*number as usize);
            leaf.is_some_and(|leaf| matches!(leaf.source, LeafSource::Group(_)))
        })
    }

    /// A function of groups as an argument, with what it reads beside its rows: `value`, an expression over the columns `a`,
    /// `b`, .., and `reads`, what these are: a method, and the expression of a row that it takes. Columns of `by` have one
    /// value in a group and stand for it. Results that are read come behind, as in functions of rows.
    pub(super) fn group_fn(
        &mut self,
        value: &Typed<'a>,
        by: &[String],
        span: Span,
    ) -> Option<(Arg, Origin)> {
        let (ty, optional) = value.ty.scalar()?;
        let scalar: Scalar = self.operand(value)?;
        let mut used = Vec::new();
        super::row::collect(&scalar.expr, &mut used);
        let mut origin = Origin::default();
        let (mut columns, mut reads) = (Vec::new(), Vec::new());
        let (mut more, mut inputs) = (Vec::new(), Vec::new());
        let mut places = BTreeMap::new();
        for number in used {
            let leaf = self.leaves.get(number as usize)?.clone();
            let read = match &leaf.source {
                LeafSource::Node(node) => {
                    let name = super::row::read_name(inputs.len(), &[]);
                    more.push(ColumnRef { name, ty: leaf.ty, optional: leaf.optional });
                    origin.add(&node.origin);
                    places.insert(number, (false, inputs.len()));
                    inputs.push(Arg::Input(super::draft::input(node)));
                    continue;
                }
                LeafSource::Group(aggregate) => self.aggregate_arg(aggregate, span, &mut origin)?,
                LeafSource::Column(name) if by.iter().any(|by| **by == **name) => {
                    let of = Some((Expr::Column(number), leaf.ty, leaf.optional));
                    let key = Aggregate { method: "key".into(), of, share: None };
                    self.aggregate_arg(&key, span, &mut origin)?
                }
                LeafSource::Column(name) => {
                    let problem = value_per_row(name, span);
                    self.report(problem);
                    return None;
                }
            };
            let known = reads.iter().position(|known| *known == read);
            let at = known.unwrap_or_else(|| {
                let name = super::row::letters(reads.len());
                columns.push(ColumnRef { name, ty: leaf.ty, optional: leaf.optional });
                reads.push(read);
                reads.len() - 1
            });
            places.insert(number, (true, at));
        }
        let number = |(own, at): (bool, usize)| if own { at } else { reads.len() + at };
        let numbers = places
            .into_iter()
            .map(|(leaf, place)| (leaf, u32::try_from(number(place)).unwrap_or(u32::MAX)));
        let body = super::row::renumber(scalar.expr, &numbers.collect());
        columns.extend(more);
        let function = RowFn { columns, body, ty, optional };
        let value = if inputs.is_empty() {
            Arg::Row(function)
        } else {
            Arg::Reading { function, reads: inputs }
        };
        let fields = [("reads".to_owned(), Arg::List(reads)), ("value".to_owned(), value)];
        Some((Arg::Record(fields.into()), origin))
    }

    fn aggregate_arg(
        &mut self,
        aggregate: &Aggregate,
        span: Span,
        origin: &mut Origin,
    ) -> Option<Arg> {
        let of = match &aggregate.of {
            None => Arg::Const(Const::None),
            Some((expr, ty, optional)) => {
                let scalar = Scalar { expr: expr.clone(), size: 1, depth: 1 };
                let shown = Type::of_scalar(*ty, *optional);
                let value = Typed { ty: shown, value: Value::Scalar(Rc::new(scalar)) };
                let (arg, read) = self.row_function(&value, span)?;
                origin.add(&read);
                arg
            }
        };
        let method = Arg::Const(Const::Str(aggregate.method.clone()));
        let share = Arg::Const(aggregate.share.clone().unwrap_or(Const::None));
        let fields = [("method", method), ("of", of), ("q", share)];
        Some(Arg::Record(fields.map(|(name, arg)| (name.to_owned(), arg)).into()))
    }
}

fn value_per_row(name: &str, span: Span) -> Problem {
    let message = format!("`{name}` has one value per row, and a group has many rows");
    Problem::error("types::value_per_row", span, message)
        .label("one value per group is wanted")
        .help(format!(
            "say which: `stat.mean(rows.{name})`, `stat.max(..)`, `stat.last(..)`; or add `\"{name}\"` to `by`"
        ))
}

/// The type of one value of many values of type `ty`, missing ones left out; `None` when that has no meaning.
fn aggregated(method: &str, ty: &Type) -> Option<Type> {
    let (plain, optional) = ty.required();
    let like = |ty: Type| if optional { ty.optional() } else { ty };
    let amount = matches!(plain, Type::Duration | Type::Size);
    let number = matches!(plain, Type::Int | Type::Float | Type::Bool);
    Some(match method {
        "count" | "distinct" => Type::Int,
        "first" | "last" if *plain != Type::None => ty.clone(),
        "min" | "max" if !matches!(plain, Type::Bool | Type::None) => ty.clone(),
        "any" | "all" if *plain == Type::Bool => Type::Bool,
        "sum" if *plain == Type::Bool => Type::Int,
        "sum" if number || amount => plain.clone(),
        "mean" if number => like(Type::Float),
        "mean" if amount => ty.clone(),
        "std" if number => Type::Float.optional(),
        "std" if amount => plain.clone().optional(),
        "median" | "quantile" if plain.is_number() => like(Type::Float),
        "median" | "quantile" if amount || *plain == Type::Time => ty.clone(),
        _ => return None,
    })
}
