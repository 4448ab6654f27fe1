//! The compiler's way to files: reads below the project's root, and remembers digests in the store.

use crate::project::Project;
use pipe_compiler::host::{FileInfo, Host, HostError, HostErrorKind};
use pipe_runtime::watch::Seen;
use std::cell::RefCell;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Reads files for one compilation. Paths are as the program's own path is: relative to the current folder.
pub(crate) struct Disk<'a> {
    project: &'a Project,
    /// Digest of a file's content, remembered by its stat signature.
    digest: &'a dyn Fn(&Path) -> std::io::Result<String>,
    /// What was looked at, when somebody will watch it.
    seen: Option<&'a RefCell<Seen>>,
}

impl<'a> Disk<'a> {
    /// A host for `project`.
    pub(crate) fn new(
        project: &'a Project,
        digest: &'a dyn Fn(&Path) -> std::io::Result<String>,
    ) -> Self {
        Self { project, digest, seen: None }
    }

    /// Note in `seen` what is looked at.
    pub(crate) fn noting(self, seen: &'a RefCell<Seen>) -> Self {
        Self { seen: Some(seen), ..self }
    }

    fn note(&self, note: impl FnOnce(&mut Seen)) {
        if let Some(seen) = self.seen {
            note(&mut seen.borrow_mut());
        }
    }

    /// What the system says of a file that cannot be used.
    fn refused(&self, path: &str, error: &std::io::Error) -> HostError {
        self.note(|seen| seen.missing(Path::new(path)));
        refused(path, error)
    }

    fn open(&self, path: &str) -> Result<PathBuf, HostError> {
        let full = PathBuf::from(path);
        if !self.project.may_read(&full) {
            let root = self.project.root.display();
            let message = format!("it is not below the project's folder {root}");
            return Err(HostError::new(HostErrorKind::Outside, message));
        }
        Ok(full)
    }
}

fn refused(path: &str, error: &std::io::Error) -> HostError {
    if error.kind() == std::io::ErrorKind::NotFound {
        HostError::new(HostErrorKind::Missing, format!("there is no file `{path}`"))
    } else {
        HostError::new(HostErrorKind::Unreadable, format!("cannot read `{path}`: {error}"))
    }
}

impl Host for Disk<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        let full = self.open(path)?;
        let content = std::fs::read(&full).map_err(|error| self.refused(path, &error))?;
        self.note(|seen| seen.file(&full, blake3::hash(&content).to_hex().to_string()));
        Ok(content)
    }

    fn stat(&self, path: &str) -> Result<FileInfo, HostError> {
        let full = self.open(path)?;
        let found = std::fs::metadata(&full).map_err(|error| self.refused(path, &error))?;
        self.note(|seen| seen.there(&full));
        Ok(FileInfo { bytes: found.len(), is_dir: found.is_dir() })
    }

    fn head(&self, path: &str, bytes: usize) -> Result<Vec<u8>, HostError> {
        let mut content = Vec::new();
        let full = self.open(path)?;
        std::fs::File::open(&full)
            .and_then(|file| file.take(bytes as u64).read_to_end(&mut content))
            .map_err(|error| self.refused(path, &error))?;
        self.note(|seen| seen.there(&full));
        Ok(content)
    }

    fn digest(&self, path: &str) -> Result<String, HostError> {
        let full = self.open(path)?;
        let digest = (self.digest)(&full).map_err(|error| self.refused(path, &error))?;
        self.note(|seen| seen.file(&full, digest.clone()));
        Ok(digest)
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>, HostError> {
        let mut found = vec![PathBuf::new()];
        let mut listed = Vec::new();
        for part in pattern.split('/') {
            let mut next = Vec::new();
            for folder in &found {
                if part.is_empty() {
                    next.push(PathBuf::from("/"));
                } else if part.contains(['*', '?']) {
                    listed.push(folder.clone());
                    next.extend(matching(folder, part, pattern)?);
                } else {
                    next.push(folder.join(part));
                }
            }
            found = next;
        }
        found.retain(|path| path.exists());
        found.sort();
        let paths: Vec<String> =
            found.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        self.note(|seen| seen.pattern(pattern, listed, paths.clone()));
        paths.iter().try_for_each(|path| self.open(path).map(drop))?;
        Ok(paths)
    }
}

/// Entries of `folder` whose names match `part` (`*` any text, `?` one letter); hidden ones only when asked for.
fn matching(folder: &Path, part: &str, pattern: &str) -> Result<Vec<PathBuf>, HostError> {
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = std::fs::read_dir(listed).map_err(|error| refused(pattern, &error))?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let fits = |name: &String| {
        let letters: Vec<char> = name.chars().collect();
        let wanted: Vec<char> = part.chars().collect();
        (part.starts_with('.') || !name.starts_with('.')) && glob_fits(&wanted, &letters)
    };
    Ok(names.filter(fits).map(|name| folder.join(name)).collect())
}

fn glob_fits(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(letter) if *letter == '?' || name.get(n) == Some(letter) => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    n = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|letter| *letter == '*'))
}

#[cfg(test)]
mod tests {
    use super::glob_fits;

    #[test]
    fn stars_and_marks() {
        let fits = |pattern: &str, name: &str| {
            glob_fits(&pattern.chars().collect::<Vec<_>>(), &name.chars().collect::<Vec<_>>())
        };
        assert!(fits("*.csv", "a.csv") && fits("a?c*", "abcdef") && fits("*a*b*", "xxaxxbxx"));
        assert!(!fits("*.csv", "a.csv.gz") && !fits("a?c", "ac") && fits("**", ""));
    }
}
