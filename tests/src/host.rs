//! A [`Host`] over one folder and perhaps a program in memory, for tests.

use pipe_compiler::host::{FileInfo, Host, HostError, HostErrorKind};
use std::path::{Path, PathBuf};

/// Reads below `root`; paths are taken as relative to it. A program may be given as a text.
pub struct FolderHost {
    root: PathBuf,
    /// Name and text of a file that is only here.
    program: Option<(String, String)>,
}

impl FolderHost {
    /// A host over `root`.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), program: None }
    }

    /// The same with a program in memory.
    #[must_use]
    pub fn with_program(mut self, name: &str, text: &str) -> Self {
        self.program = Some((name.to_owned(), text.to_owned()));
        self
    }

    fn open(&self, path: &str) -> Result<PathBuf, HostError> {
        if path.split('/').any(|part| part == "..") || Path::new(path).is_absolute() {
            return Err(HostError::new(
                HostErrorKind::Outside,
                "it is not below the project's folder",
            ));
        }
        let full = self.root.join(path);
        if full.exists() {
            Ok(full)
        } else {
            Err(HostError::new(HostErrorKind::Missing, format!("there is no file `{path}`")))
        }
    }
}

fn unreadable(path: &str, error: &std::io::Error) -> HostError {
    HostError::new(HostErrorKind::Unreadable, format!("cannot read `{path}`: {error}"))
}

impl Host for FolderHost {
    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        if let Some((_, text)) = self.program.as_ref().filter(|(name, _)| name == path) {
            return Ok(text.as_bytes().to_vec());
        }
        std::fs::read(self.open(path)?).map_err(|error| unreadable(path, &error))
    }

    fn stat(&self, path: &str) -> Result<FileInfo, HostError> {
        let found = self.open(path)?.metadata().map_err(|error| unreadable(path, &error))?;
        Ok(FileInfo { bytes: found.len(), is_dir: found.is_dir() })
    }

    fn head(&self, path: &str, bytes: usize) -> Result<Vec<u8>, HostError> {
        let mut content = self.read(path)?;
        content.truncate(bytes);
        Ok(content)
    }

    fn digest(&self, path: &str) -> Result<String, HostError> {
        Ok(blake3::hash(&self.read(path)?).to_hex().to_string())
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>, HostError> {
        let folder = pattern.rsplit_once('/').map_or("", |(folder, _)| folder);
        let name = pattern.rsplit('/').next().unwrap_or_default();
        let (head, tail) = name.split_once('*').unwrap_or((name, ""));
        let entries = std::fs::read_dir(self.root.join(folder))
            .map_err(|error| unreadable(folder, &error))?;
        let mut found: Vec<String> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|file| file.starts_with(head) && file.ends_with(tail))
            .map(|file| if folder.is_empty() { file } else { format!("{folder}/{file}") })
            .collect();
        found.sort();
        Ok(found)
    }
}
