//! What each word is, for colours that know more than a grammar can.

use crate::client::Abilities;
use crate::place;
use crate::programs::Program;
use lsp_types::SemanticToken;
use pipe_compiler::analysis::{Meaning, Mention, Sort};
use pipe_grammar::scan::{Kind, Scanner};
use pipe_grammar::words;
use std::path::Path;

/// Names of the kinds of tokens; a token gives the number.
pub(crate) const KINDS: [&str; 10] = [
    "namespace",
    "type",
    "typeParameter",
    "parameter",
    "variable",
    "property",
    "function",
    "decorator",
    "keyword",
    "number",
];

/// Names of what else a token may be; a token gives a bit for each.
pub(crate) const MODIFIERS: [&str; 3] = ["declaration", "readonly", "defaultLibrary"];

const KEYWORD: u32 = 8;
const NUMBER: u32 = 9;

/// The tokens of a file of the program.
pub(crate) fn tokens(program: &Program, path: &Path, abilities: &Abilities) -> Vec<SemanticToken> {
    let Some(file) = program.file_at(path) else { return Vec::new() };
    let mentions = program.analysis.mentions();
    let first = mentions.partition_point(|mention| mention.span.file < file.id);
    let mut mentions =
        mentions.iter().skip(first).take_while(|it| it.span.file == file.id).peekable();
    let mut found: Vec<(u32, u32, u32, u32)> = Vec::new();
    for token in Scanner::new(&file.text) {
        let (start, end) = (token.start as u32, token.end as u32);
        while let Some(mention) = mentions.next_if(|mention| mention.span.start < end) {
            if mention.span.end > mention.span.start {
                let (kind, modifiers) = kind(mention);
                found.push((mention.span.start, mention.span.end, kind, modifiers));
            }
        }
        let said = found.last().is_some_and(|(from, to, _, _)| *from <= start && end <= *to);
        match token.kind {
            Kind::Word if !said && words::is_reserved(token.text(&file.text)) => {
                found.push((start, end, KEYWORD, 0));
            }
            Kind::Number => found.push((start, end, NUMBER, 0)),
            _ => {}
        }
    }
    let mut last = lsp_types::Position::default();
    let mut tokens = Vec::with_capacity(found.len());
    for (start, end, token_type, token_modifiers_bitset) in found {
        let at = place::position(file, start, abilities.units);
        let to = place::position(file, end, abilities.units);
        if at.line != to.line {
            continue;
        }
        let delta_line = at.line - last.line;
        let delta_start =
            if delta_line == 0 { at.character - last.character } else { at.character };
        let length = to.character - at.character;
        tokens.push(SemanticToken {
            delta_line,
            delta_start,
            length,
            token_type,
            token_modifiers_bitset,
        });
        last = at;
    }
    tokens
}

fn kind(mention: &Mention) -> (u32, u32) {
    let kind = match mention.sort {
        Sort::Module => 0,
        Sort::Type => 1,
        Sort::TypeParam => 2,
        Sort::Argument => 3,
        Sort::Param | Sort::Value => 4,
        Sort::Field => 5,
        Sort::Function | Sort::Op => 6,
        Sort::Attribute => 7,
    };
    let declares = mention.meaning == Meaning::Bound(mention.span);
    let readonly = mention.sort == Sort::Param;
    let library = matches!(mention.meaning, Meaning::Library(_) | Meaning::BuiltIn)
        || mention.sort == Sort::Op;
    (kind, u32::from(declares) | u32::from(readonly) << 1 | u32::from(library) << 2)
}
