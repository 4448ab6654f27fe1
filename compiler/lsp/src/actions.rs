//! Quick fixes: the edits that problems carry.

use crate::client::Abilities;
use crate::diagnostics;
use crate::place;
use crate::programs::Program;
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, Range, TextEdit, Uri, WorkspaceEdit,
};
use pipe_grammar::{Edit, Problem, Span};
use std::collections::HashMap;
use std::path::Path;

/// The fixes of problems that touch `range` in the program's file at `path`.
pub(crate) fn actions(
    program: &Program,
    path: &Path,
    range: Range,
    abilities: &Abilities,
) -> Vec<CodeActionOrCommand> {
    let Some(file) = program.file_at(path) else { return Vec::new() };
    let wanted = place::span(file, range, abilities.units);
    let touches =
        |span: Span| span.file == file.id && span.start <= wanted.end && wanted.start <= span.end;
    let problems = program.analysis.problems.iter();
    let problems = problems.filter(|problem| touches(problem.span) && !problem.edits.is_empty());
    problems.filter_map(|problem| action(program, problem, abilities)).collect()
}

fn action(
    program: &Program,
    problem: &Problem,
    abilities: &Abilities,
) -> Option<CodeActionOrCommand> {
    let edit = workspace_edit(program, &problem.edits, abilities)?;
    Some(CodeActionOrCommand::CodeAction(CodeAction {
        title: title(program, problem),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostics::diagnostic(program, problem, abilities)]),
        edit: Some(edit),
        is_preferred: Some(true),
        ..CodeAction::default()
    }))
}

fn title(program: &Program, problem: &Problem) -> String {
    let [edit] = problem.edits.as_slice() else {
        return problem.help.clone().unwrap_or_else(|| format!("Fix: {}", problem.message));
    };
    let old = program.analysis.sources.slice(edit.span).trim();
    let new = edit.replacement.trim();
    let shown = |text: &str| text.lines().next().unwrap_or_default().to_owned();
    match (shown(old), shown(new)) {
        (old, new) if old.is_empty() => format!("Insert `{new}`"),
        (old, new) if new.is_empty() => format!("Remove `{old}`"),
        (old, new) => format!("Replace `{old}` with `{new}`"),
    }
}

/// Edits as a change of the workspace; `None` when one of them lies in a library module.
#[expect(clippy::mutable_key_type, reason = "the protocol's type; URIs are never changed")]
pub(crate) fn workspace_edit(
    program: &Program,
    edits: &[Edit],
    abilities: &Abilities,
) -> Option<WorkspaceEdit> {
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for edit in edits {
        let location = diagnostics::location(program, edit.span, abilities)?;
        let edit = TextEdit { range: location.range, new_text: edit.replacement.clone() };
        changes.entry(location.uri).or_default().push(edit);
    }
    Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() })
}
