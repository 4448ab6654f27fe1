//! The declarations of all programs around: those of the open documents, of the files that they use, and of the programs
//! beside them.

use crate::server::State;
use crate::{outline, place, programs};
use lsp_types::{Location, OneOf, WorkspaceSymbol};
use pipe_grammar::{FileId, SourceFile, parse};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Programs that are looked through at most, and symbols that are shown.
const MOST: usize = 256;

/// The declarations whose names have the letters of `query` in their order.
pub(crate) fn symbols(state: &State<'_>, query: &str) -> Vec<WorkspaceSymbol> {
    let mut found = Vec::new();
    for path in paths(state) {
        let Some(text) = text(state, &path) else { continue };
        let Some(uri) = place::uri_of(&path) else { continue };
        let file = SourceFile::new(FileId(0), path.to_string_lossy(), text);
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        for item in &parse(&file).module.items {
            let Some((bound, kind)) = outline::bound(item).filter(|it| fits(&it.0.text, query))
            else {
                continue;
            };
            let range = place::range(&file, bound.span, state.abilities.units);
            found.push(WorkspaceSymbol {
                name: bound.text.clone(),
                kind,
                tags: None,
                container_name: name.clone(),
                location: OneOf::Left(Location { uri: uri.clone(), range }),
                data: None,
            });
        }
        if found.len() >= MOST {
            break;
        }
    }
    found.truncate(MOST);
    found
}

/// The open documents first, then what lies beside them.
fn paths(state: &State<'_>) -> Vec<PathBuf> {
    let open: Vec<PathBuf> = state.documents.paths().cloned().collect();
    let folders: BTreeSet<_> = open.iter().map(|path| programs::folder(path)).collect();
    let beside = folders.into_iter().flat_map(|folder| {
        let pattern = format!("{}/*.pipe", folder.to_string_lossy());
        let host = state.outside.disk.host(&folder.join("any.pipe"));
        host.glob(&pattern).unwrap_or_default()
    });
    let used = state.programs.all_fresh().flat_map(|program| {
        let files = program.analysis.modules().filter(|module| module.library.is_none());
        files.filter_map(|module| program.path_of(module.file)).collect::<Vec<_>>()
    });
    let others: BTreeSet<PathBuf> =
        beside.map(PathBuf::from).chain(used).filter(|path| !open.contains(path)).collect();
    open.iter().cloned().chain(others).take(MOST).collect()
}

fn text(state: &State<'_>, path: &std::path::Path) -> Option<String> {
    if let Some(document) = state.documents.get(path) {
        return Some(document.file.text.clone());
    }
    let bytes = state.outside.disk.host(path).read(path.to_str()?).ok()?;
    String::from_utf8(bytes).ok()
}

/// Whether the letters of `query` stand in `name` in their order, large or small.
fn fits(name: &str, query: &str) -> bool {
    let mut letters = name.chars().map(|letter| letter.to_ascii_lowercase());
    query.chars().all(|wanted| letters.any(|letter| letter == wanted.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn letters_in_their_order() {
        assert!(fits("latency_p99", "") && fits("latency_p99", "LatP9"));
        assert!(!fits("latency", "yl"));
    }
}
