//! A program run by its kernel, with the interpreter for the parts that have text.

use crate::builder::Builder;
use crate::column::{Column, Values};
use crate::graph::Graph;
use crate::interpret::{BATCH, Schedule};
use crate::jit::{Form, Kernel, Layout, Place, Source};
use crate::lane::{Data, Lane};
use std::ops::Range;

/// Rows that a kernel computes in one call where nothing has to be prepared for it.
const STRETCH: usize = 64 * BATCH;

/// Computes all outputs of a graph. `None` where kernel and layout are not those of the graph.
pub(crate) fn run(
    graph: &Graph<'_>,
    layout: &Layout,
    kernel: &Kernel,
    columns: &[&Column],
    rows: usize,
) -> Option<Vec<Column>> {
    let mut results: Vec<Builder> =
        graph.outputs.iter().map(|output| Builder::new(output.ty, rows)).collect();
    let prepared = layout.prepared();
    let rest = layout.rest.iter().map(|number| graph.outputs.get(*number).map(|out| out.node));
    let wanted: Option<Vec<usize>> = prepared.map(Some).chain(rest).collect();
    let schedule = Schedule::of(graph, wanted?);
    let stretch = if schedule.is_empty() { STRETCH } else { BATCH };
    // Columns need no stand-in: a kernel is made for those that have missing rows.
    let blank = Blank::new(if schedule.is_empty() { 0 } else { stretch + 1 });
    for range in stretches(rows, stretch) {
        let count = range.len();
        let mut lanes = if schedule.is_empty() {
            Vec::new()
        } else {
            schedule.run(graph, columns, range.start, range.end)?
        };
        let given = lanes.split_off(lanes.len().checked_sub(layout.rest.len())?);
        let sources = sources(layout, columns, &lanes, &range, &blank)?;
        fill(layout, kernel, &sources, &mut results, count)?;
        for (number, lane) in layout.rest.iter().zip(given) {
            results.get_mut(*number)?.append(lane, count);
        }
    }
    Some(results.into_iter().map(Builder::finish).collect())
}

fn fill(
    layout: &Layout,
    kernel: &Kernel,
    sources: &[Source<'_>],
    results: &mut [Builder],
    count: usize,
) -> Option<()> {
    let mut gives = layout.outputs.iter().zip(kernel.gives()).peekable();
    let mut places: Vec<Place<'_>> = Vec::with_capacity(layout.outputs.len());
    for (number, result) in results.iter_mut().enumerate() {
        if let Some((_, gives)) = gives.next_if(|(output, _)| **output == number) {
            places.push(result.room(count, gives.optional)?);
        }
    }
    kernel.run(sources, &mut places, count).then_some(())
}

/// The rows in ranges of about `stretch`, none of them a single row, since a kernel needs two.
fn stretches(rows: usize, stretch: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let left = rows - start;
        let count = if left == stretch + 1 { left } else { left.min(stretch) };
        let range = start..start + count;
        start += count;
        (count > 0).then_some(range)
    })
}

/// Values and presence of the inputs; `lanes` are those that the interpreter prepared, in order.
fn sources<'a>(
    layout: &Layout,
    columns: &[&'a Column],
    lanes: &'a [Lane<'_>],
    range: &Range<usize>,
    blank: &'a Blank,
) -> Option<Vec<Source<'a>>> {
    let mut sources = Vec::with_capacity(layout.inputs.len() * 2);
    let mut lanes = lanes.iter();
    for input in &layout.inputs {
        let valid = match input.column {
            Some(number) => {
                let column = *columns.get(number)?;
                sources.push(of_column(column, range)?);
                column.valid().map_or(Some(&blank.present[..]), |valid| valid.get(range.clone()))?
            }
            None => {
                let lane = lanes.next()?;
                sources.push(of_lane(lane, input.form, blank)?);
                match lane.data {
                    Data::Nothing => &blank.truths,
                    _ => lane.valid.as_deref().unwrap_or(&blank.present),
                }
            }
        };
        if input.optional {
            sources.push(Source::Truth(valid));
        }
    }
    Some(sources)
}

fn of_column<'a>(column: &'a Column, range: &Range<usize>) -> Option<Source<'a>> {
    Some(match column.values() {
        Values::Float(values) | Values::Int(values) | Values::Size(values) => {
            Source::Number(values.get(range.clone())?)
        }
        Values::Bool(values) => Source::Truth(values.get(range.clone())?),
        Values::Time(values) | Values::Duration(values) => {
            Source::Nanos(values.get(range.clone())?)
        }
        Values::Str(_) => return None,
    })
}

fn of_lane<'a>(lane: &'a Lane<'_>, form: Form, blank: &'a Blank) -> Option<Source<'a>> {
    match (&lane.data, form) {
        (Data::Number(values), Form::Number) => Some(Source::Number(values)),
        (Data::Truth(values), Form::Truth) => Some(Source::Truth(values)),
        (Data::Nanos(values), Form::Nanos) => Some(Source::Nanos(values)),
        (Data::Nothing, Form::Number) => Some(Source::Number(&blank.numbers)),
        (Data::Nothing, Form::Truth) => Some(Source::Truth(&blank.truths)),
        (Data::Nothing, Form::Nanos) => Some(Source::Nanos(&blank.nanos)),
        _ => None,
    }
}

/// What stands for inputs that are present everywhere, or missing everywhere.
struct Blank {
    present: Vec<bool>,
    truths: Vec<bool>,
    numbers: Vec<f64>,
    nanos: Vec<i64>,
}

impl Blank {
    fn new(rows: usize) -> Self {
        Self {
            present: vec![true; rows],
            truths: vec![false; rows],
            numbers: vec![0.0; rows],
            nanos: vec![0; rows],
        }
    }
}
