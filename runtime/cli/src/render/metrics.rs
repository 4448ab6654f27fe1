//! Numbers of runs: one run as a list, several as a table for each program.

use super::record::{figure, outcome};
use super::style::{Look, cut_front, pad};
use pipe_runtime::store::{Roots, RunRow};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Most columns of one number's name.
const NAME: usize = 20;

/// The numbers of one run, one a line.
pub(crate) fn one(row: &RunRow, roots: &Roots, look: &Look) -> String {
    let title = look.strong(&format!("run {}", row.run));
    let mut out = format!("{title} · {} · {}\n\n", row.file, outcome(row));
    let places = places(&[(row, roots)]);
    if places.is_empty() {
        out.push_str("  its outputs and checks hold no numbers\n");
    }
    let names = places.iter().map(|place| place.chars().count());
    let width = names.max().unwrap_or(0).min(look.width.saturating_sub(24));
    for place in places {
        let cell = cell(roots, place);
        let _ = writeln!(out, "  {}  {cell}", pad(&cut_front(place, width), width));
    }
    out
}

/// A table for each program: the newest run first; checks, then numbers that differ between the runs, then the others, as
/// many columns as fit.
pub(crate) fn table(runs: &[(RunRow, Roots)], look: &Look) -> String {
    let mut files: Vec<&str> = Vec::new();
    for (row, _) in runs {
        if !files.contains(&row.file.as_str()) {
            files.push(&row.file);
        }
    }
    let mut out = String::new();
    for file in files {
        let own: Vec<(&RunRow, &Roots)> = runs
            .iter()
            .filter(|(row, _)| row.file == file)
            .map(|(row, roots)| (row, roots))
            .collect();
        if !out.is_empty() {
            out.push('\n');
        }
        let _ = writeln!(out, "{}", look.strong(file));
        of_program(&mut out, &own, look);
    }
    out
}

fn of_program(out: &mut String, runs: &[(&RunRow, &Roots)], look: &Look) {
    let mut all = places(runs);
    let is_check = |place: &str| {
        let mut rows = runs.iter().flat_map(|(_, roots)| &roots.rows);
        rows.any(|root| root.kind == "check" && root.name == place)
    };
    let differs = |place: &str| {
        let cells: BTreeSet<String> = runs.iter().map(|(_, roots)| cell(roots, place)).collect();
        cells.len() > 1
    };
    // The order of places stays within each kind.
    all.sort_by_key(|place| {
        if is_check(place) {
            0
        } else if differs(place) {
            1
        } else {
            2
        }
    });
    let first = runs.iter().map(|(row, _)| row.run.to_string().len()).chain([3]).max().unwrap_or(3);
    let mut left = look.width.saturating_sub(first + 2);
    let mut columns: Vec<(&str, usize)> = Vec::new();
    for place in &all {
        let cells = runs.iter().map(|(_, roots)| cell(roots, place).chars().count());
        let width = cells.chain([place.chars().count().min(NAME)]).max().unwrap_or(0);
        if width + 2 > left {
            break;
        }
        left -= width + 2;
        columns.push((place, width));
    }
    let mut line = |run: &str, cells: Vec<String>| {
        let mut text = format!("  {run:>first$}");
        for (cell, (_, width)) in cells.iter().zip(&columns) {
            let fill = " ".repeat(width.saturating_sub(cell.chars().count()));
            let _ = write!(text, "  {fill}{cell}");
        }
        let _ = writeln!(out, "{}", text.trim_end());
    };
    line("run", columns.iter().map(|(place, _)| cut_front(place, NAME)).collect());
    for (row, roots) in runs {
        let cells = columns.iter().map(|(place, _)| cell(roots, place)).collect();
        line(&row.run.to_string(), cells);
    }
    match all.len() - columns.len() {
        0 if all.is_empty() => out.push_str("  its outputs and checks hold no numbers\n"),
        0 => {}
        more => {
            let _ = writeln!(
                out,
                "  and {more} more columns: --csv, --json, or one run with `pipe metrics RUN`"
            );
        }
    }
}

/// Places of numbers in these runs: those of checks first.
fn places<'r>(runs: &[(&RunRow, &'r Roots)]) -> Vec<&'r str> {
    let mut found: Vec<(bool, &str)> = Vec::new();
    for (_, roots) in runs {
        let is_check =
            |name: &str| roots.rows.iter().any(|root| root.kind == "check" && root.name == name);
        found.extend(roots.numbers.keys().map(|place| (!is_check(place), place.as_str())));
        let checks = roots.rows.iter().filter(|root| root.kind == "check");
        found.extend(checks.map(|root| (false, root.name.as_str())));
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, place)| place).collect()
}

/// A number, with a mark where it is that of a check; `yes` or `no` of a check without one.
fn cell(roots: &Roots, place: &str) -> String {
    let check = roots.rows.iter().find(|root| root.kind == "check" && root.name == place);
    let passed = check.and_then(|check| check.passed);
    match (roots.numbers.get(place), passed) {
        (Some(value), Some(passed)) => {
            format!("{} {}", figure(*value), if passed { "✓" } else { "✗" })
        }
        (Some(value), None) => figure(*value),
        (None, Some(passed)) => if passed { "✓" } else { "✗" }.to_owned(),
        (None, None) => "-".to_owned(),
    }
}
