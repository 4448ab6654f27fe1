//! What the compiler is given: files through [`Host`], library text through [`Library`], parameters, a machine.
//!
//! The compiler has no other way out: no clock, no environment, no threads, no file system.

use std::collections::BTreeMap;
use std::fmt;

/// The only way to files. Paths are relative to where the program's path is relative to; errors are plain sentences.
pub trait Host {
    /// The content of a source file.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read(&self, path: &str) -> Result<Vec<u8>, HostError>;
    /// Whether a path exists and what it is.
    ///
    /// # Errors
    /// When it does not exist or lies outside the project.
    fn stat(&self, path: &str) -> Result<FileInfo, HostError>;
    /// The first bytes of a file.
    ///
    /// # Errors
    /// When it cannot be read.
    fn head(&self, path: &str, bytes: usize) -> Result<Vec<u8>, HostError>;
    /// BLAKE3 of the content, hex; of a folder: of its sorted names and digests.
    ///
    /// # Errors
    /// When it cannot be read.
    fn digest(&self, path: &str) -> Result<String, HostError>;
    /// Paths that match a pattern, sorted.
    ///
    /// # Errors
    /// When the pattern is wrong or a folder cannot be read.
    fn glob(&self, pattern: &str) -> Result<Vec<String>, HostError>;
    /// Whether nobody waits for the answer any more. The compiler then leaves declarations out, so its answer is of no use.
    fn stopped(&self) -> bool {
        false
    }
}

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// Size of a file; 0 for a folder.
    pub bytes: u64,
    /// Whether it is a folder.
    pub is_dir: bool,
}

/// Why the host refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    /// What kind of refusal.
    pub kind: HostErrorKind,
    /// A plain sentence.
    pub message: String,
}

/// Kinds of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostErrorKind {
    /// There is no such file.
    Missing,
    /// The path leaves the project and no `--allow path=...` covers it.
    Outside,
    /// Anything else, such as missing rights.
    Unreadable,
}

impl HostError {
    /// A refusal.
    #[must_use]
    pub fn new(kind: HostErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for HostError {}

/// Signature files by module name.
pub trait Library {
    /// The text of a module.
    fn text(&self, module: &str) -> Option<&str>;
    /// All module names.
    fn modules(&self) -> Vec<&str>;
}

/// A library is a slice of (module, text), as `pipe_stdlib::FILES` is.
impl Library for &[(&str, &str)] {
    fn text(&self, module: &str) -> Option<&str> {
        self.iter().find(|(name, _)| *name == module).map(|(_, text)| *text)
    }

    fn modules(&self) -> Vec<&str> {
        self.iter().map(|(name, _)| *name).collect()
    }
}

/// A parameter as given from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamText {
    /// The value as text: a `.pipe` literal; quotes may be left out for text and paths.
    pub text: String,
    /// Where it comes from, as messages name it: `--set rate`, `params.toml`.
    pub origin: String,
    /// Folder that a relative path in it is relative to, empty or with a `/` at its end; the program's folder when not given.
    pub folder: Option<String>,
}

/// What a plan may count on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// CPU threads.
    pub threads: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// GPUs.
    pub gpus: u32,
}

/// Everything that a compilation depends on.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// The program's file, as given.
    pub file: &'a str,
    /// The way to files.
    pub host: &'a dyn Host,
    /// Signatures of the ops.
    pub library: &'a dyn Library,
    /// Parameters from the command line and from files.
    pub params: &'a BTreeMap<String, ParamText>,
    /// Versions of tools, `torch` to `2.11.0`.
    pub tools: &'a BTreeMap<String, String>,
    /// The machine.
    pub machine: Machine,
}

/// A host without files.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl NoFiles {
    fn missing<T>(path: &str) -> Result<T, HostError> {
        Err(HostError::new(HostErrorKind::Missing, format!("there is no file `{path}`")))
    }
}

impl Host for NoFiles {
    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        Self::missing(path)
    }

    fn stat(&self, path: &str) -> Result<FileInfo, HostError> {
        Self::missing(path)
    }

    fn head(&self, path: &str, _bytes: usize) -> Result<Vec<u8>, HostError> {
        Self::missing(path)
    }

    fn digest(&self, path: &str) -> Result<String, HostError> {
        Self::missing(path)
    }

    fn glob(&self, _pattern: &str) -> Result<Vec<String>, HostError> {
        Ok(Vec::new())
    }
}
