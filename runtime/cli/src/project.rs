//! Where a project begins, where its store and its outputs are, and which files a program may read.

use crate::commands::Failure;
use pipe_runtime::exec::Programs;
pub(crate) use pipe_runtime::watch::whole as absolute;
use std::path::{Path, PathBuf};

/// The folders that belong to one program.
#[derive(Clone, Debug)]
pub(crate) struct Project {
    /// Folder of the nearest `pipe.toml`, else of the program.
    pub(crate) root: PathBuf,
    /// `.pipe/`, or what `PIPE_STORE` says.
    pub(crate) store: PathBuf,
    /// Outputs of this program: `out/<file stem>` beside it, or below `--out`.
    pub(crate) out: PathBuf,
    /// Folders outside the root that `--allow path=` opened.
    pub(crate) allowed: Vec<PathBuf>,
    /// Whether `--allow exec` lets it run external programs.
    pub(crate) programs: Programs,
}

impl Project {
    /// The project of the program at `file`.
    pub(crate) fn of(file: &Path, out: Option<&Path>, allow: &[String]) -> Result<Self, Failure> {
        let folder = absolute(file.parent().unwrap_or(Path::new("")));
        let marked = folder.ancestors().find(|folder| folder.join("pipe.toml").is_file());
        let root = marked.unwrap_or(&folder).to_owned();
        let stem = file.file_stem().unwrap_or_default();
        let out = match out {
            Some(folder) => folder.join(stem),
            None => Path::new("out").join(stem),
        };
        Ok(Self {
            store: store_of(file),
            out,
            allowed: allowed(allow)?,
            programs: programs(allow),
            root,
        })
    }

    /// Whether `path` lies where the program may read.
    pub(crate) fn may_read(&self, path: &Path) -> bool {
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| absolute(path));
        std::iter::once(&self.root).chain(&self.allowed).any(|folder| {
            let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.clone());
            path.starts_with(folder)
        })
    }
}

/// The store that `pipe store` works on when none is named: that of a program in this folder.
pub(crate) fn store_here() -> PathBuf {
    store_of(Path::new(""))
}

pub(crate) fn store_of(program: &Path) -> PathBuf {
    pipe_runtime::store::place(program, std::env::var_os("PIPE_STORE").as_deref())
}

fn programs(words: &[String]) -> Programs {
    let allowed = words.iter().any(|word| word == "exec");
    if allowed { Programs::Allowed } else { Programs::Refused }
}

fn allowed(words: &[String]) -> Result<Vec<PathBuf>, Failure> {
    let mut folders = Vec::new();
    for word in words {
        match word.split_once('=') {
            None if word == "exec" => {}
            Some(("path", folder)) => folders.push(absolute(Path::new(folder))),
            _ => {
                return Err(Failure::usage(format!("`--allow {word}` is not known"))
                    .help("write `--allow path=FOLDER` or `--allow exec`"));
            }
        }
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::Project;
    use std::path::Path;

    #[test]
    fn the_root_is_the_folder_of_pipe_toml() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
        let program = folder.path().join("a/b/x.pipe");
        let project = Project::of(&program, None, &[]).unwrap();
        assert!(project.root.ends_with("a/b"));
        assert!(!project.may_read(&folder.path().join("a/data.csv")));
        std::fs::write(folder.path().join("pipe.toml"), "").unwrap();
        let project = Project::of(&program, Some(Path::new("there")), &[]).unwrap();
        assert!(project.may_read(&folder.path().join("a/data.csv")));
        assert_eq!(project.out, Path::new("there/x"));
    }

    #[test]
    fn allow_opens_a_folder_and_refuses_riddles() {
        let project = Project::of(Path::new("x.pipe"), None, &["path=/data".into()]).unwrap();
        assert!(project.may_read(Path::new("/data/a.csv")));
        assert!(!project.may_read(Path::new("/data2/a.csv")));
        assert!(Project::of(Path::new("x.pipe"), None, &["world".into()]).is_err());
    }
}
