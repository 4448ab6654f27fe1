//! `pipe fmt`: write programs the one way there is.

use super::{Failure, Outcome, exit};
use crate::render::problem;
use crate::render::style::{Look, count};
use pipe_grammar::{FileId, SourceFile};
use std::path::{Path, PathBuf};

/// Format `files` (folders are searched) in place, or only say what would change.
pub(crate) fn fmt(files: &[PathBuf], check: bool, look: &Look) -> Outcome {
    let mut programs = Vec::new();
    for path in files {
        collect(path, &mut programs)?;
    }
    let (mut changed, mut broken) = (0, 0);
    for path in &programs {
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
        let file = SourceFile::new(FileId(0), path.display().to_string(), text);
        let formatted = pipe_grammar::format(&file);
        if formatted.problems.iter().any(pipe_grammar::Problem::is_error) {
            broken += 1;
            eprintln!("{}", problem::text(&formatted.problems, std::slice::from_ref(&file), look));
        }
        if formatted.text == file.text {
            continue;
        }
        changed += 1;
        if check {
            println!("{}", path.display());
        } else {
            replace(path, &formatted.text)?;
        }
    }
    let verb = if check { "would change" } else { "changed" };
    eprintln!("{}: {changed} {verb}", count(programs.len(), "file"));
    Ok(if broken > 0 || (check && changed > 0) { exit::PROBLEMS } else { exit::OK })
}

fn collect(path: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if !path.is_dir() {
        found.push(path.to_owned());
        return Ok(());
    }
    let entries = std::fs::read_dir(path).map_err(|error| unreadable(path, &error))?;
    let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        let hidden = entry.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if entry.is_dir() && !hidden && !entry.is_symlink() {
            collect(&entry, found)?;
        } else if entry.extension().is_some_and(|extension| extension == "pipe") {
            found.push(entry);
        }
    }
    Ok(())
}

pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot read {}: {error}", path.display()))
}

/// Replace the file in one step, so that a crash never leaves half a program.
pub(super) fn replace(path: &Path, text: &str) -> Result<(), Failure> {
    let path = std::fs::canonicalize(path).map_err(|error| unreadable(path, &error))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let write = || -> std::io::Result<()> {
        let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut temporary, text.as_bytes())?;
        temporary.as_file().set_permissions(std::fs::metadata(&path)?.permissions())?;
        temporary.persist(&path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| Failure::failed(format!("cannot write {}: {error}", path.display())))
}
