//! Problems as people read them (through miette), and as the JSON of `--json`.

use super::style::{Look, count};
use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError,
    MietteSpanContents, SourceCode, SourceSpan, SpanContents,
};
use pipe_grammar::{Problem, Severity, SourceFile, Span};
use serde_json::{Value, json};
use std::fmt;

/// A problem with the text it points into, as miette wants it.
struct Report<'a> {
    problem: &'a Problem,
    source: Text<'a>,
    labels: Vec<LabeledSpan>,
    help: Option<String>,
}

impl<'a> Report<'a> {
    fn new(problem: &'a Problem, files: &'a [SourceFile]) -> Self {
        let file = file_of(files, problem.span);
        let here = problem.span.file;
        let text = (!problem.label.is_empty()).then(|| problem.label.clone());
        let mut labels = vec![LabeledSpan::new_primary_with_span(text, range(problem.span, file))];
        let mut help: Vec<String> = Vec::new();
        for label in &problem.labels {
            if label.span.file == here {
                labels.push(LabeledSpan::new_with_span(
                    Some(label.text.clone()),
                    range(label.span, file),
                ));
            } else if let Some(other) = file_of(files, label.span) {
                let place = other.place(label.span.start);
                help.push(format!(
                    "{} ({}:{}:{})",
                    label.text, other.name, place.line, place.column
                ));
            }
        }
        help.extend(problem.help.clone());
        help.extend(fix(problem, file));
        help.push(format!("pipe explain {}", problem.code));
        let source = Text { file };
        Self { problem, source, labels, help: Some(help.join("\n")) }
    }
}

/// The text of a file under its name.
struct Text<'a> {
    file: Option<&'a SourceFile>,
}

impl SourceCode for Text<'_> {
    fn read_span<'b>(
        &'b self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'b> + 'b>, MietteError> {
        let file = self.file.ok_or(MietteError::OutOfBounds)?;
        let found = file.text.as_str().read_span(span, before, after)?;
        let (whole, shown) =
            (range_of(found.span()), window(&file.text, range_of(found.span()), span));
        let skipped = file.text.get(whole.start..shown.start).unwrap_or_default();
        let line_start = skipped.rfind('\n').map(|at| at + 1);
        let column = skipped.get(line_start.unwrap_or(0)..).unwrap_or_default().chars().count();
        Ok(Box::new(MietteSpanContents::new_named(
            file.name.clone(),
            file.text.as_bytes().get(shown.clone()).unwrap_or_default(),
            (shown.start, shown.len()).into(),
            found.line() + skipped.matches('\n').count(),
            column + if line_start.is_none() { found.column() } else { 0 },
            found.line_count(),
        )))
    }
}

/// Bytes of a snippet beyond which only the part around the problem is shown.
const SNIPPET: usize = 2_000;

fn range_of(span: &SourceSpan) -> std::ops::Range<usize> {
    span.offset()..span.offset() + span.len()
}

/// `whole`, or the part of it around `span` when its lines are very long.
fn window(text: &str, whole: std::ops::Range<usize>, span: &SourceSpan) -> std::ops::Range<usize> {
    if whole.len() <= SNIPPET {
        return whole;
    }
    let around = range_of(span);
    let start = around.start.saturating_sub(60).max(whole.start);
    let end = around.end.min(around.start + SNIPPET).saturating_add(60).min(whole.end);
    text.floor_char_boundary(start)..text.ceil_char_boundary(end)
}

/// The fix in words, when it is one replacement that fits a line.
fn fix(problem: &Problem, file: Option<&SourceFile>) -> Option<String> {
    let [edit] = problem.edits.as_slice() else { return None };
    let old = file?.slice(edit.span);
    let new = edit.replacement.trim();
    if old.contains('\n') || new.contains('\n') || new.len() > 60 {
        return None;
    }
    Some(match (old.trim(), new) {
        ("", "") => return None,
        ("", new) => format!("fix: insert `{new}`"),
        (old, "") => format!("fix: remove `{old}`"),
        (old, new) => format!("fix: replace `{old}` with `{new}`"),
    })
}

fn range(span: Span, file: Option<&SourceFile>) -> std::ops::Range<usize> {
    let length = file.map_or(0, |file| file.text.len());
    (span.start as usize).min(length)..(span.end as usize).min(length)
}

fn file_of(files: &[SourceFile], span: Span) -> Option<&SourceFile> {
    files.iter().find(|file| file.id == span.file)
}

impl fmt::Debug for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem.message)
    }
}

impl std::error::Error for Report<'_> {}

impl Diagnostic for Report<'_> {
    fn code(&self) -> Option<Box<dyn fmt::Display + '_>> {
        let kind = if self.problem.is_error() { "error" } else { "warning" };
        Some(Box::new(format!("{kind}[{}]", self.problem.code)))
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.problem.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help(&self) -> Option<Box<dyn fmt::Display + '_>> {
        self.help.as_ref().map(|help| Box::new(help) as _)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

/// Every problem with its snippet, and a closing count.
pub(crate) fn text(problems: &[Problem], files: &[SourceFile], look: &Look) -> String {
    let theme =
        if look.color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler =
        GraphicalReportHandler::new_themed(theme).with_width(look.width).with_links(false);
    let mut out = String::new();
    for problem in problems {
        let report = Report::new(problem, files);
        if handler.render_report(&mut out, &report).is_err() {
            out.push_str(&problem.message);
        }
        out.push('\n');
    }
    out + &tally(problems)
}

/// `2 errors, 1 warning`, empty when there is nothing.
pub(crate) fn tally(problems: &[Problem]) -> String {
    let errors = problems.iter().filter(|problem| problem.is_error()).count();
    let warnings = problems.len() - errors;
    let parts = [(errors, "error"), (warnings, "warning")];
    parts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, noun)| count(*n, noun))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The array of design section 10: columns from 1, in Unicode scalars.
pub(crate) fn json(problems: &[Problem], files: &[SourceFile]) -> Value {
    problems.iter().map(|problem| one_as_json(problem, files)).collect()
}

fn one_as_json(problem: &Problem, files: &[SourceFile]) -> Value {
    let mut object = place(problem.span, files);
    let labels: Vec<_> = problem
        .labels
        .iter()
        .map(|label| with(place(label.span, files), "text", json!(label.text)))
        .collect();
    let edits: Vec<_> = problem
        .edits
        .iter()
        .map(|edit| {
            let edit = with(place(edit.span, files), "replacement", json!(edit.replacement));
            with(edit, "applicability", json!(problem.applicability()))
        })
        .collect();
    for (name, value) in [
        ("code", json!(problem.code)),
        ("severity", json!(problem.severity)),
        ("message", json!(problem.message)),
        ("label", json!(problem.label)),
        ("labels", json!(labels)),
        ("help", json!(problem.help)),
        ("edits", json!(edits)),
    ] {
        object = with(object, name, value);
    }
    object
}

fn with(mut object: Value, name: &str, value: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
    object
}

fn place(span: Span, files: &[SourceFile]) -> Value {
    match file_of(files, span) {
        Some(file) => {
            json!({ "file": file.name, "start": file.place(span.start), "end": file.place(span.end) })
        }
        None => json!({ "file": null, "start": null, "end": null }),
    }
}
