//! The state of the Git repository that a program lies in, for the record of its run.
//!
//! `git` is asked once, beside the run, and never waited for long: where it is absent or slow there is no answer. Files
//! that Git does not know do not count: what a program reads of them is on record by its own digest.

use pipe_runtime::store::{Changes, Git};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long the end of a run waits for the answer.
pub(crate) const PATIENCE: Duration = Duration::from_millis(150);

/// Names of changed files that are kept.
const NAMES: usize = 20;

/// Bytes of changed files that are read; of the rest the size stands for the content.
const READ: u64 = 64 << 20;

/// A question to Git that is being answered.
pub(crate) struct Asked {
    child: Option<Child>,
    answer: Receiver<Option<Git>>,
}

/// Ask for the repository around `folder`; nothing is asked where there is none.
pub(crate) fn ask(folder: &Path) -> Asked {
    let (send, answer) = channel();
    let root = std::fs::canonicalize(folder).ok();
    let root = root.and_then(|folder| repository(&folder));
    let child = root.as_ref().and_then(|root| start(root));
    let Some((root, (child, mut text))) = root.zip(child) else {
        return Asked { child: None, answer };
    };
    let listen = move || {
        let mut status = Vec::new();
        let read = text.by_ref().take(READ).read_to_end(&mut status);
        let _ = send.send(read.ok().and_then(|_| understand(&status, &root)));
    };
    let spawned = std::thread::Builder::new().name("git".to_owned()).spawn(listen);
    drop(spawned);
    Asked { child: Some(child), answer }
}

impl Asked {
    /// The answer, if it comes within this time.
    pub(crate) fn answer(mut self, patience: Duration) -> Option<Git> {
        let mut child = self.child.take()?;
        let Ok(found) = self.answer.recv_timeout(patience) else {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        };
        child.wait().ok().filter(std::process::ExitStatus::success).and(found)
    }
}

fn repository(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

/// Nothing of the repository's own settings may start another program.
fn start(root: &Path) -> Option<(Child, impl Read + Send + use<>)> {
    let mut child = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(["-c", "core.fsmonitor=false", "status", "--porcelain=v2", "--branch", "-z"])
        .args(["--untracked-files=no", "--ignore-submodules=all"])
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("LC_ALL", "C")
        .env_remove("GIT_DIR")
        .env_remove("GIT_WORK_TREE")
        .env_remove("GIT_INDEX_FILE")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let text = child.stdout.take()?;
    Some((child, text))
}

/// Read what `git status --porcelain=v2 --branch -z` says.
fn understand(status: &[u8], root: &Path) -> Option<Git> {
    let text = String::from_utf8_lossy(status);
    let mut git = Git::default();
    let mut changed: Vec<String> = Vec::new();
    let mut entries = text.split('\0').filter(|entry| !entry.is_empty());
    let mut any = false;
    while let Some(entry) = entries.next() {
        if let Some(commit) = entry.strip_prefix("# branch.oid ") {
            any = true;
            git.commit = Some(commit.to_owned()).filter(|commit| commit != "(initial)");
        } else if let Some(branch) = entry.strip_prefix("# branch.head ") {
            git.branch = Some(branch.to_owned()).filter(|branch| branch != "(detached)");
        }
        let fields = match entry.as_bytes().first() {
            Some(b'1') => 9,
            Some(b'2') => 10,
            Some(b'u') => 11,
            _ => continue,
        };
        changed.extend(entry.splitn(fields, ' ').nth(fields - 1).map(str::to_owned));
        if fields == 10 {
            // A renamed file: where it was before follows.
            changed.extend(entries.next().map(str::to_owned));
        }
    }
    changed.sort();
    changed.dedup();
    git.changes = (!changed.is_empty()).then(|| Changes {
        files: changed.len(),
        digest: digest(&changed, root),
        names: changed.into_iter().take(NAMES).collect(),
    });
    any.then_some(git)
}

/// BLAKE3 over the names and contents of files; one that is gone has none.
fn digest(names: &[String], root: &Path) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut left = READ;
    for name in names {
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        let path = root.join(name);
        let size = path.symlink_metadata().ok().filter(std::fs::Metadata::is_file);
        let Some(size) = size.map(|found| found.len()) else {
            hasher.update(b"gone");
            continue;
        };
        hasher.update(b"file").update(&size.to_le_bytes());
        if size <= left
            && let Ok(file) = File::open(&path)
        {
            left -= size;
            let _ = hasher.update_reader(file.take(size));
        }
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_understood() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a b.pipe"), "one").unwrap();
        let modes = "N... 100644 100644 100644 11 22";
        let status = format!(
            "# branch.oid 3f2a\0# branch.head main\01 .M {modes} a b.pipe\02 R. {modes} R100 new\0old\0"
        );
        let git = understand(status.as_bytes(), folder.path()).unwrap();
        assert_eq!((git.commit.as_deref(), git.branch.as_deref()), (Some("3f2a"), Some("main")));
        let changes = git.changes.unwrap();
        assert_eq!(changes.names, ["a b.pipe", "new", "old"]);
        std::fs::write(folder.path().join("a b.pipe"), "two").unwrap();
        let other = understand(status.as_bytes(), folder.path()).unwrap().changes.unwrap();
        assert_ne!(changes.digest, other.digest, "the content counts");
        let clean = understand(b"# branch.oid (initial)\0# branch.head main\0", folder.path());
        assert_eq!(clean.map(|git| (git.commit, git.changes)), Some((None, None)));
        assert_eq!(understand(b"", folder.path()), None, "no repository");
    }
}
