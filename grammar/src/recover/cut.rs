//! Chunks that were cut too early: a declaration of a block at the first column, or in a string over several lines.
//!
//! The text from the chunk on is parsed as one declaration, with twice as many chunks each time, as long as the parser
//! gets further with them. So a declaration that reads is always read whole, and one that does not costs little more.

use super::split::Chunk;
use crate::limits;
use crate::scan::{Kind, Scanner};
use crate::syntax::{Grammar, Rule};
use crate::words;
use pest::Parser;
use pest::error::InputLocation;

/// Where the declaration ends that the first chunk starts, and how many chunks it reaches into, when it reads whole.
pub(super) fn mended(text: &str, chunks: &[Chunk]) -> Option<(usize, usize)> {
    let first = chunks.first().filter(|first| first.open)?;
    let start = first.range.start;
    let (mut count, mut reached) = (2, None);
    loop {
        let end = chunks.get(count.min(chunks.len()) - 1)?.end;
        let window = text.get(start..end)?;
        if limits::nesting(window).is_some() {
            return None;
        }
        let item = Grammar::parse(Rule::item, window);
        let end = item.map_or(start, |item| start + item.as_str().len());
        if end > start && ends(text, end, chunks) {
            let taken = chunks.iter().take_while(|chunk| chunk.range.start < end).count();
            return Some((end, taken));
        }
        let stopped = reach(window)?;
        if count >= chunks.len() || reached.is_some_and(|reached| reached == stopped) {
            return None;
        }
        reached = Some(stopped);
        count *= 2;
    }
}

/// Whether a declaration can end at byte `at`: nothing follows, or what starts another. Else only the window ended it.
fn ends(text: &str, at: usize, chunks: &[Chunk]) -> bool {
    let mut tokens = Scanner::from(text, at).filter(|token| token.kind != Kind::Comment);
    tokens.next().is_none_or(|next| {
        let word = next.text(text);
        word == "@"
            || words::DECLARATIONS.contains(&word)
            || chunks.binary_search_by_key(&next.start, |chunk| chunk.range.start).is_ok()
    })
}

/// How far the parser gets in a text that does not read as declarations.
fn reach(text: &str) -> Option<usize> {
    let error = Grammar::parse(Rule::file, text).err()?;
    Some(match error.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    })
}
