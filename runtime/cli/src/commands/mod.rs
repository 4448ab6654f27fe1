//! One file per subcommand; each returns the exit code that scripts rely on.

pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod diff;
pub(crate) mod doc;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod fmt;
pub(crate) mod grammar;
pub(crate) mod graph;
pub(crate) mod help;
pub(crate) mod init;
pub(crate) mod lineage;
pub(crate) mod lsp;
pub(crate) mod metrics;
pub(crate) mod plan;
pub(crate) mod record;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod store;
pub(crate) mod watch;
pub(crate) mod why;

/// Why a command could not do its work, with its exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Exit code of design section 10.
    pub(crate) code: u8,
    /// What went wrong, plainly; empty when it is already printed.
    pub(crate) message: String,
    /// What to do.
    pub(crate) help: Option<String>,
}

/// Exit codes that scripts rely on.
pub(crate) mod exit {
    /// All well.
    pub(crate) const OK: u8 = 0;
    /// The program has problems.
    pub(crate) const PROBLEMS: u8 = 1;
    /// The command line makes no sense.
    pub(crate) const USAGE: u8 = 2;
    /// A node failed, or a check is false.
    pub(crate) const FAILED: u8 = 3;
    /// Stopped by a signal with its state saved.
    pub(crate) const STOPPED: u8 = 75;
}

impl Failure {
    /// The command line makes no sense.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { code: exit::USAGE, message: message.into(), help: None }
    }

    /// Something outside the program failed (store, disk).
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { code: exit::FAILED, message: message.into(), help: None }
    }

    /// What to do.
    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }
}

/// What a command gives: an exit code, or why there is none.
pub(crate) type Outcome = Result<u8, Failure>;
