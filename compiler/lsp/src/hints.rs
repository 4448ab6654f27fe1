//! What a run would do with each declaration, beside it.

use crate::client::Abilities;
use crate::documents::Documents;
use crate::outside::Outside;
use crate::overlay::Overlay;
use crate::programs::{self, Program};
use crate::{outline, place};
use lsp_types::{InlayHint, InlayHintLabel, InlayHintTooltip, Position, Range};
use pipe_compiler::Inputs;
use std::collections::BTreeMap;
use std::path::Path;

/// What is told of one declaration: a short text, and one line for each of its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
    text: String,
    nodes: Vec<String>,
}

/// Hints by declaration.
pub(crate) type Hints = BTreeMap<String, Hint>;

/// Plan the program at a path and ask the store; `None` when interrupted. A program with mistakes has no hints.
pub(crate) fn look(
    path: &Path,
    documents: &Documents,
    outside: &Outside<'_>,
    interrupted: &dyn Fn() -> bool,
) -> Option<Hints> {
    let folder = programs::folder(path);
    let host = Overlay::new(folder, documents, outside.disk.host(path), interrupted);
    let name = path.strip_prefix(folder).unwrap_or(path).to_string_lossy();
    let compiled = pipe_compiler::compile(&Inputs {
        file: &name,
        host: &host,
        library: &pipe_stdlib::FILES,
        params: &BTreeMap::new(),
        tools: &outside.tools,
        machine: outside.machine,
    });
    if host.finish().1 {
        return None;
    }
    let Some(plan) = compiled.plan else { return Some(Hints::new()) };
    let mut nodes: BTreeMap<String, Vec<(String, bool, String)>> = BTreeMap::new();
    for state in outside.cache.states(path, &plan) {
        if let Some(node) = plan.nodes.iter().find(|node| node.id == state.node) {
            let declaration = node.name.split(['.', '[']).next().unwrap_or_default().to_owned();
            let entry = (node.name.clone(), state.cached, state.text);
            nodes.entry(declaration).or_default().push(entry);
        }
    }
    Some(nodes.into_iter().map(|(declaration, nodes)| (declaration, hint(nodes))).collect())
}

fn hint(nodes: Vec<(String, bool, String)>) -> Hint {
    let text = match nodes.as_slice() {
        [(_, _, text)] => text.clone(),
        all => {
            let cached = all.iter().filter(|(_, cached, _)| *cached).count();
            if cached == all.len() {
                format!("{cached} nodes cached")
            } else {
                format!("{} of {} nodes will run", all.len() - cached, all.len())
            }
        }
    };
    let nodes = nodes.into_iter().map(|(name, _, text)| format!("* `{name}`: {text}")).collect();
    Hint { text, nodes }
}

/// The hints of the lines in `range`, at the end of the line of each declaration's name.
pub(crate) fn shown(
    program: &Program,
    hints: &Hints,
    range: Range,
    abilities: &Abilities,
) -> Vec<InlayHint> {
    let (Some(file), Some(main)) = (program.main(), program.analysis.modules().next()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for item in &main.ast.items {
        let Some((name, _)) = outline::bound(item) else { continue };
        let Some(hint) = hints.get(&name.text) else { continue };
        let line = place::position(file, name.span.start, abilities.units).line;
        if line < range.start.line || line > range.end.line {
            continue;
        }
        let end = place::offset(file, Position::new(line, u32::MAX), abilities.units);
        found.push(InlayHint {
            position: place::position(file, end, abilities.units),
            label: InlayHintLabel::String(hint.text.clone()),
            kind: None,
            text_edits: None,
            tooltip: Some(InlayHintTooltip::String(hint.nodes.join("\n"))),
            padding_left: Some(true),
            padding_right: None,
            data: None,
        });
    }
    found
}
