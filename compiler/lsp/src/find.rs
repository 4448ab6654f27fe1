//! Where a name is bound, and everywhere it is written.

use crate::client::Abilities;
use crate::programs::Program;
use crate::{columns, diagnostics, place};
use lsp_types::{Location, Position, Range, Uri};
use pipe_compiler::analysis::{Meaning, Mention};
use pipe_grammar::{SourceFile, Span};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A name under the cursor, in the terms of all programs: the file and bytes of where it is bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) path: PathBuf,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// A place in a file, as all programs number it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Written {
    pub(crate) path: PathBuf,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// The mention at a position of a file.
pub(crate) fn mention<'p>(
    program: &'p Program,
    path: &Path,
    position: Position,
    abilities: &Abilities,
) -> Option<(&'p SourceFile, &'p Mention)> {
    let file = program.file_at(path)?;
    let at = place::offset(file, position, abilities.units);
    Some((file, program.analysis.mention_at(file.id, at)?))
}

/// Where the name at a position is bound, in a file or in the text of a library module; where a column is made.
pub(crate) fn definition(
    program: &Program,
    path: &Path,
    position: Position,
    abilities: &Abilities,
    library: &dyn Fn(&str) -> Option<Uri>,
) -> Option<Location> {
    let (file, mention) = mention(program, path, position, abilities)?;
    let bound = match &mention.meaning {
        Meaning::Bound(span) => *span,
        Meaning::Field => columns::made(program, file.id, mention.span.start)?,
        Meaning::Library(name) => {
            return Some(Location { uri: library(name)?, range: Range::default() });
        }
        Meaning::BuiltIn => return None,
    };
    let span = used_file(program, bound).unwrap_or(bound);
    let module = program.analysis.modules().find(|module| module.file == span.file)?;
    let Some(name) = module.library else {
        return diagnostics::location(program, span, abilities);
    };
    let file = program.analysis.sources.get(span.file)?;
    Some(Location { uri: library(name)?, range: place::range(file, span, abilities.units) })
}

/// The first byte of the file that a `use` at this place names.
fn used_file(program: &Program, at: Span) -> Option<Span> {
    use pipe_compiler::analysis::Bound;
    use pipe_grammar::ast::ItemKind;
    let Bound::Item(_, item) = program.analysis.bound_at(at)? else { return None };
    let ItemKind::Use { name, .. } = &item.kind else { return None };
    let module = program.analysis.used(at.file, &name.text)?;
    Some(Span::new(module.file, 0, 0))
}

/// What the name at a position is, if it is bound in a file.
pub(crate) fn target(program: &Program, mention: &Mention) -> Option<Target> {
    let Meaning::Bound(span) = mention.meaning else { return None };
    let path = program.path_of(span.file)?;
    Some(Target { path, start: span.start, end: span.end })
}

/// Every place where a name is written, in these programs.
pub(crate) fn written(programs: &[Rc<Program>], target: &Target) -> BTreeSet<Written> {
    let mut found = BTreeSet::new();
    for program in programs {
        let Some(file) = program.file_at(&target.path) else { continue };
        let bound = Meaning::Bound(Span::new(file.id, target.start, target.end));
        for mention in program.analysis.mentions().iter().filter(|it| it.meaning == bound) {
            if let Some(path) = program.path_of(mention.span.file) {
                let (start, end) = (mention.span.start, mention.span.end);
                found.insert(Written { path, start, end });
            }
        }
    }
    found
}

/// A place as the protocol writes it.
pub(crate) fn location(
    programs: &[Rc<Program>],
    place: &Written,
    abilities: &Abilities,
) -> Option<Location> {
    let file = programs.iter().find_map(|program| program.file_at(&place.path))?;
    let span = Span::new(file.id, place.start, place.end);
    Some(Location {
        uri: place::uri_of(&place.path)?,
        range: place::range(file, span, abilities.units),
    })
}
