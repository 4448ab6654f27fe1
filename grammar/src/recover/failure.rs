//! Where the parser stopped and what it wanted there.
//!
//! Only a failing declaration is parsed with pest's detail switched on, because that costs time. The switch is global
//! to the process, so it is held under a lock; a parser that runs meanwhile elsewhere is slower, not wrong.

use crate::scan::Scanner;
use crate::syntax::{Grammar, Rule};
use crate::words;
use pest::Parser;
use pest::error::{ErrorVariant, InputLocation};
use std::sync::Mutex;

static DETAIL: Mutex<()> = Mutex::new(());

/// A failed parse.
#[derive(Debug, Default)]
pub(super) struct Failure {
    /// The furthest byte that the parser reached.
    pub(super) at: usize,
    /// The start of the furthest rule that failed.
    pub(super) rule_at: usize,
    /// The parser ran out of stack.
    pub(super) stack: bool,
    /// The texts that would have let it go on.
    tokens: Vec<String>,
    /// The rule that failed at `rule_at` reads a value.
    value_rule: bool,
}

impl Failure {
    /// Parses `text`; `None` when it reads.
    pub(super) fn of(text: &str) -> Option<Self> {
        if Grammar::parse(Rule::file, text).is_ok() {
            return None;
        }
        let guard = DETAIL.lock();
        pest::set_error_detail(true);
        let result = Grammar::parse(Rule::file, text);
        pest::set_error_detail(false);
        drop(guard);
        let error = result.err()?;
        let rule_at = match error.location {
            InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
        };
        let stack = matches!(&error.variant, ErrorVariant::CustomError { .. });
        let value_rule = matches!(&error.variant, ErrorVariant::ParsingError { positives, .. }
            if positives.iter().any(|rule| matches!(rule, Rule::expr | Rule::term)));
        let Some(attempts) = error.parse_attempts() else {
            return Some(Self { at: rule_at, rule_at, stack, tokens: Vec::new(), value_rule });
        };
        let tokens = attempts.expected_tokens().iter().map(ToString::to_string).collect();
        Some(Self { at: attempts.max_position, rule_at, stack, tokens, value_rule })
    }

    /// A reserved word where a value is wanted is read to its end before it is refused: go back to its start.
    pub(super) fn before_reserved(mut self, text: &str) -> Self {
        let word = Scanner::from(text, self.rule_at).next();
        let word =
            word.filter(|word| word.start == self.rule_at && words::is_reserved(word.text(text)));
        if self.value_rule && self.at > self.rule_at && word.is_some() {
            self.at = self.rule_at;
            self.tokens = vec!["true".to_owned()];
        }
        self
    }

    /// Whether `token` would have let the parser go on.
    pub(super) fn wants(&self, token: &str) -> bool {
        self.tokens.iter().any(|known| known == token)
    }

    /// A value would do.
    pub(super) fn wants_value(&self) -> bool {
        self.wants("true")
    }

    /// A value is complete here; an operator would do.
    pub(super) fn wants_operator(&self) -> bool {
        self.wants("|>")
    }

    /// A type would do.
    pub(super) fn wants_type(&self) -> bool {
        self.wants("[") && self.wants("{") && !self.wants_value() && !self.wants_operator()
    }

    /// A new declaration would do.
    pub(super) fn wants_declaration(&self) -> bool {
        self.wants("check")
    }

    /// A name would do, and nothing bigger.
    pub(super) fn wants_name(&self) -> bool {
        self.wants("A..Z") && !self.wants("[") && !self.wants_value() && !self.wants_operator()
    }
}
