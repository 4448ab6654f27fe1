//! Problems as the protocol shows them.

use crate::client::Abilities;
use crate::place;
use crate::programs::Program;
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Location,
    NumberOrString, Range,
};
use pipe_grammar::{FileId, Problem, Severity, Span};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The diagnostics of one program, by file. A problem in a library module is shown at the top of the program.
pub(crate) fn diagnostics(
    program: &Program,
    abilities: &Abilities,
) -> BTreeMap<PathBuf, Vec<Diagnostic>> {
    let mut found: BTreeMap<PathBuf, Vec<Diagnostic>> = BTreeMap::new();
    for problem in &program.analysis.problems {
        let path = program.path_of(problem.span.file).unwrap_or_else(|| program.path.clone());
        found.entry(path).or_default().push(diagnostic(program, problem, abilities));
    }
    found
}

/// One problem.
pub(crate) fn diagnostic(
    program: &Program,
    problem: &Problem,
    abilities: &Abilities,
) -> Diagnostic {
    let mut lines = vec![problem.message.clone()];
    if !problem.label.is_empty() {
        lines.push(problem.label.clone());
    }
    let mut related = Vec::new();
    for label in &problem.labels {
        let place = location(program, label.span, abilities);
        match place.filter(|_| abilities.related) {
            Some(location) => {
                related
                    .push(DiagnosticRelatedInformation { location, message: label.text.clone() });
            }
            None => lines.push(elsewhere(program, label.span, &label.text)),
        }
    }
    lines.extend(problem.help.as_ref().map(|help| format!("help: {help}")));
    let unused = problem.code == "resolve::unused";
    Diagnostic {
        range: range(program, problem.span, abilities),
        severity: Some(match problem.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(problem.code.to_owned())),
        source: Some("pipe".to_owned()),
        message: lines.join("\n"),
        related_information: (!related.is_empty()).then_some(related),
        tags: unused.then(|| vec![DiagnosticTag::UNNECESSARY]),
        ..Diagnostic::default()
    }
}

/// The range of a span in its own file.
pub(crate) fn range(program: &Program, span: Span, abilities: &Abilities) -> Range {
    let file = program.analysis.sources.get(span.file);
    let file = file.filter(|file| program.path_of(file.id).is_some());
    file.map_or_else(Range::default, |file| place::range(file, span, abilities.units))
}

/// Where a span is, when its file can be opened.
pub(crate) fn location(program: &Program, span: Span, abilities: &Abilities) -> Option<Location> {
    let uri = place::uri_of(&program.path_of(span.file)?)?;
    Some(Location { uri, range: range(program, span, abilities) })
}

fn elsewhere(program: &Program, span: Span, text: &str) -> String {
    let Some(file) = program.analysis.sources.get(span.file) else { return text.to_owned() };
    let place = file.place(span.start);
    let name =
        if file.id == FileId::default() { String::new() } else { format!("{}, ", file.name) };
    format!("{text} ({name}line {})", place.line)
}
