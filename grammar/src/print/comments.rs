//! Comments on their way from the source to the output, each exactly once and in order.
//!
//! They are set where a line may break: before declarations, elements, steps of a pipe and closing brackets. Where a
//! comment stands anywhere else, the declaration is printed as it was written; so it is where two comments would end one
//! line, which would make them one.

use super::doc::{Doc, blank, concat, hard, nil, suffix, text};
use crate::source::Span;
use crate::trivia::{Comment, Trivia};

/// The comments that are not printed yet.
pub(super) struct Comments<'a> {
    source: &'a str,
    all: &'a [Comment],
    next: usize,
    /// A comment stood where no line may break.
    pub(super) misplaced: bool,
}

/// The comments before a place.
pub(super) struct Before {
    /// Those that end the line above.
    pub(super) ending: Doc,
    /// Those on lines of their own, each with its line break.
    pub(super) own: Doc,
    /// A blank line stands above all of it.
    pub(super) apart: bool,
}

impl<'a> Comments<'a> {
    pub(super) fn new(source: &'a str, trivia: &'a Trivia) -> Self {
        Self { source, all: &trivia.comments, next: 0, misplaced: false }
    }

    /// Takes the comments between `after`, the end of what was printed, and `before`, the start of what comes.
    pub(super) fn before(&mut self, after: u32, before: u32) -> Before {
        let (mut ending, mut own) = (Vec::new(), Vec::new());
        let mut end = after;
        let mut apart = None;
        while let Some(comment) =
            self.all.get(self.next).filter(|comment| comment.span.start < before)
        {
            self.next += 1;
            self.misplaced |= comment.span.start < after;
            let words = self.slice(comment.span);
            let gap = self.is_apart(end, comment.span.start);
            end = comment.span.end;
            if !comment.own_line && own.is_empty() {
                self.misplaced |= !ending.is_empty();
                ending.push(suffix(words));
                continue;
            }
            match apart {
                None => apart = Some(gap),
                Some(_) if gap => own.push(blank()),
                Some(_) => {}
            }
            if !own.is_empty() {
                own.push(hard());
            }
            own.push(text(words));
        }
        let last = self.is_apart(end, before);
        let apart = apart.unwrap_or(last);
        if !own.is_empty() {
            own.push(if last { concat([blank(), hard()]) } else { hard() });
        }
        Before {
            ending: concat(ending),
            own: if own.is_empty() { nil() } else { concat(own) },
            apart,
        }
    }

    /// Takes the comments before a closing bracket; there is no break behind the last.
    pub(super) fn closing(&mut self, after: u32, close: u32) -> (Doc, Vec<Doc>) {
        let (mut ending, mut own) = (Vec::new(), Vec::new());
        let mut end = after;
        while let Some(comment) =
            self.all.get(self.next).filter(|comment| comment.span.start < close)
        {
            self.next += 1;
            self.misplaced |= comment.span.start < after;
            let words = self.slice(comment.span);
            if !comment.own_line && own.is_empty() {
                self.misplaced |= !ending.is_empty();
                ending.push(suffix(words));
            } else {
                if self.is_apart(end, comment.span.start) {
                    own.push(blank());
                }
                own.push(hard());
                own.push(text(words));
            }
            end = comment.span.end;
        }
        (concat(ending), own)
    }

    /// Whether a comment stands between two places.
    pub(super) fn any(&self, after: u32, before: u32) -> bool {
        let from = self.all.partition_point(|comment| comment.span.start < after);
        self.all.get(from).is_some_and(|comment| comment.span.start < before)
    }

    /// Whether a comment before `end` was not taken yet.
    pub(super) fn pending(&self, end: u32) -> bool {
        self.all.get(self.next).is_some_and(|comment| comment.span.start < end)
    }

    /// Passes over the comments before `end`, which are printed with the text around them.
    pub(super) fn skip_to(&mut self, end: u32) {
        let inside = self.all.partition_point(|comment| comment.span.start < end);
        self.next = self.next.max(inside);
    }

    /// Forgets what was taken since `state`.
    pub(super) fn rewind(&mut self, state: usize) {
        self.next = state;
        self.misplaced = false;
    }

    /// The number of comments taken so far.
    pub(super) fn taken(&self) -> usize {
        self.next
    }

    fn is_apart(&self, from: u32, to: u32) -> bool {
        let gap = self.source.get(from as usize..to as usize).unwrap_or("");
        let head = gap.trim_start_matches([',', ' ', '\t', '\r', '{', '[', '(']);
        let blanks = head.get(..head.len() - head.trim_start().len()).unwrap_or("");
        blanks.matches('\n').count() > 1
    }

    fn slice(&self, span: Span) -> String {
        let words = self.source.get(span.start as usize..span.end as usize).unwrap_or("");
        words.trim_end().to_owned()
    }
}
