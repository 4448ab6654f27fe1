//! The one type of diagnostic that every stage reports: [`Problem`].
//!
//! A problem is data. The command line, `--json` and editors render it.

use crate::source::Span;
use serde::{Deserialize, Serialize};

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The program cannot run.
    Error,
    /// The program runs, and probably not as meant.
    Warning,
}

/// A place that explains a problem, with its own text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is to be seen there.
    pub text: String,
}

/// A replacement that fixes the problem when applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// The range to replace.
    pub span: Span,
    /// The new text.
    pub replacement: String,
}

/// Whether the edits of a problem may be applied unseen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Applicability {
    /// They only spell the same thing as the language does: `&&` becomes `and`. `pipe check --fix` applies them.
    Safe,
    /// They are likely what was meant, and a person should look: `did you mean ...`.
    Suggested,
}

/// Codes whose edits leave no doubt about what was meant.
const SAFE: [&str; 11] = [
    "syntax::arrow",
    "syntax::call_space",
    "syntax::chained_comparison",
    "syntax::colon",
    "syntax::comment",
    "syntax::equality",
    "syntax::equals",
    "syntax::extra_comma",
    "syntax::logic",
    "syntax::semicolon",
    "syntax::unknown_escape",
];

/// One diagnostic: a stable code, a plain sentence, the places, and a fix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Stable code, `stage::slug`, e.g. `types::unknown_column`.
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// One plain sentence.
    pub message: String,
    /// Where it is.
    pub span: Span,
    /// What to say at that place (may be empty).
    pub label: String,
    /// Other places that explain it.
    pub labels: Vec<Label>,
    /// How to fix it, in words.
    pub help: Option<String>,
    /// How to fix it, as edits that compile when applied.
    pub edits: Vec<Edit>,
    /// The edits leave no doubt here, whatever its code says in general.
    pub certain: bool,
}

impl Problem {
    /// An error at `span`.
    #[must_use]
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            span,
            label: String::new(),
            labels: Vec::new(),
            help: None,
            edits: Vec::new(),
            certain: false,
        }
    }

    /// A warning at `span`.
    #[must_use]
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// Text for the primary place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// A second place.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// How to fix it, in words.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// A replacement that fixes it.
    #[must_use]
    pub fn edit(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.edits.push(Edit { span, replacement: replacement.into() });
        self
    }

    /// Says that the edits leave no doubt about what was meant.
    #[must_use]
    pub fn certain(mut self) -> Self {
        self.certain = true;
        self
    }

    /// Whether its edits may be applied unseen; none when there are no edits.
    #[must_use]
    pub fn applicability(&self) -> Option<Applicability> {
        let safe = self.certain || SAFE.contains(&self.code);
        let how = if safe { Applicability::Safe } else { Applicability::Suggested };
        (!self.edits.is_empty()).then_some(how)
    }

    /// Whether this is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

#[cfg(test)]
mod tests {
    use super::SAFE;

    #[test]
    fn safe_codes_have_pages() {
        assert!(SAFE.iter().all(|code| crate::codes::explain(code).is_some()));
    }
}
