//! Quick fixes: the edits that problems carry.

use crate::client::Abilities;
use crate::diagnostics;
use crate::place;
use crate::programs::Program;
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, Range, TextEdit, Uri, WorkspaceEdit,
};
use pipe_grammar::{Applicability, Edit, Problem, SourceFile, Span};
use std::collections::HashMap;
use std::path::Path;

/// The fixes of problems that touch `range` in the program's file at `path`, and all safe fixes of the file at once.
/// With `only`, those of these kinds.
pub(crate) fn actions(
    program: &Program,
    path: &Path,
    range: Range,
    only: Option<&[CodeActionKind]>,
    abilities: &Abilities,
) -> Vec<CodeActionOrCommand> {
    let Some(file) = program.file_at(path) else { return Vec::new() };
    let asked = |kind: &CodeActionKind| {
        only.is_none_or(|only| only.iter().any(|wanted| is_part_of(kind, wanted)))
    };
    let wanted = place::span(file, range, abilities.units);
    let touches =
        |span: Span| span.file == file.id && span.start <= wanted.end && wanted.start <= span.end;
    let mut found = Vec::new();
    if asked(&CodeActionKind::QUICKFIX) {
        let problems = program.analysis.problems.iter();
        let problems =
            problems.filter(|problem| touches(problem.span) && !problem.edits.is_empty());
        found.extend(problems.filter_map(|problem| action(program, problem, abilities)));
    }
    if asked(&CodeActionKind::SOURCE_FIX_ALL) {
        found.extend(fix_all(program, file, abilities));
    }
    found
}

/// Kinds are dotted, the wider first: `source.fixAll` is part of `source`.
fn is_part_of(kind: &CodeActionKind, wider: &CodeActionKind) -> bool {
    let rest = kind.as_str().strip_prefix(wider.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The fix of one problem; preferred when it only spells the same thing as the language does.
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
        is_preferred: (problem.applicability() == Some(Applicability::Safe)).then_some(true),
        ..CodeAction::default()
    }))
}

/// What `pipe check --fix` does to a file, where that is anything.
fn fix_all(
    program: &Program,
    file: &SourceFile,
    abilities: &Abilities,
) -> Option<CodeActionOrCommand> {
    let fixed = pipe_grammar::fix(file);
    if fixed.text == file.text {
        return None;
    }
    // A fix never adds or removes a line.
    let mut edits = Vec::new();
    let mut start = 0;
    for (old, new) in file.text.split('\n').zip(fixed.text.split('\n')) {
        if old != new {
            let span = Span::new(file.id, start, start + old.len() as u32);
            edits.push(Edit { span, replacement: new.to_owned() });
        }
        start += old.len() as u32 + 1;
    }
    let count: usize = fixed.fixed.values().sum();
    Some(CodeActionOrCommand::CodeAction(CodeAction {
        title: format!("Apply all safe fixes ({count})"),
        kind: Some(CodeActionKind::SOURCE_FIX_ALL),
        edit: Some(workspace_edit(program, &edits, abilities)?),
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
