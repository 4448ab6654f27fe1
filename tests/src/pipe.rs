//! Running the `pipe` binary in a folder of its own, and comparing what it says.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A folder with a program, its own store, and the binary to run on it.
pub struct Project {
    folder: tempfile::TempDir,
}

/// What a command said.
#[derive(Debug)]
pub struct Said {
    /// Exit code; -1 when a signal ended it.
    pub code: i32,
    /// Data.
    pub stdout: String,
    /// Everything else.
    pub stderr: String,
}

impl Said {
    /// Exit code, stdout and stderr in one text, with times and the folder replaced.
    #[must_use]
    pub fn snapshot(&self) -> String {
        format!("exit {}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

/// The binary beside this test's own.
///
/// # Panics
/// When it is not built: `make test` builds it first.
#[must_use]
pub fn binary() -> PathBuf {
    built("pipe")
}

/// The worker program beside it.
///
/// # Panics
/// When it is not built: `make test` builds it first.
#[must_use]
pub fn worker() -> PathBuf {
    built("pipe-torch")
}

fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap_or_default();
    let path = test.parent().and_then(Path::parent).unwrap_or(Path::new(".")).join(name);
    assert!(
        path.exists(),
        "{} is missing: run `cargo build --workspace --bins` first",
        path.display()
    );
    path
}

/// The repository's root.
#[must_use]
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}

impl Project {
    /// A project with these files.
    ///
    /// # Panics
    /// When the temporary folder cannot be written.
    #[must_use]
    pub fn new(files: &[(&str, &str)]) -> Self {
        let project = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    /// A project with a copy of an example's program and data (not its outputs).
    ///
    /// # Panics
    /// When it cannot be copied.
    #[must_use]
    pub fn example(name: &str) -> Self {
        Self::copy_of(&repository().join("examples").join(name))
    }

    /// A project with a copy of a folder (not its outputs).
    ///
    /// # Panics
    /// When it cannot be copied.
    #[must_use]
    pub fn copy_of(folder: &Path) -> Self {
        let project = Self::new(&[]);
        copy(folder, project.path());
        project
    }

    /// Its folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Write a file.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(&self, path: &str, text: &str) {
        let full = self.path().join(path);
        if let Some(folder) = full.parent() {
            std::fs::create_dir_all(folder).expect("a folder");
        }
        std::fs::write(full, text).expect("a file");
    }

    /// Read a file.
    ///
    /// # Panics
    /// When it cannot be read.
    #[must_use]
    pub fn read(&self, path: &str) -> String {
        let full = self.path().join(path);
        std::fs::read_to_string(&full).unwrap_or_else(|error| panic!("{}: {error}", full.display()))
    }

    /// The command, ready to run in the project's folder with a bare environment.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command
            .args(arguments)
            .current_dir(self.path())
            .env_remove("PIPE_STORE")
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Run to the end.
    ///
    /// # Panics
    /// When the binary cannot be started.
    #[must_use]
    pub fn pipe(&self, arguments: &[&str]) -> Said {
        let output = self.command(arguments).output().expect("the binary starts");
        Said {
            code: output.status.code().unwrap_or(-1),
            stdout: self.filtered(&String::from_utf8_lossy(&output.stdout)),
            stderr: self.filtered(&String::from_utf8_lossy(&output.stderr)),
        }
    }

    /// Start without waiting; output is thrown away.
    ///
    /// # Panics
    /// When the binary cannot be started.
    #[must_use]
    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("the binary starts")
    }

    /// Run with `--events`, and give the events back.
    ///
    /// # Panics
    /// When the events are not JSON Lines.
    #[must_use]
    pub fn run(&self, program: &str, more: &[&str]) -> (Said, Vec<serde_json::Value>) {
        let said = self.pipe(&[&["run", program, "--events", "events.jsonl"], more].concat());
        let text = std::fs::read_to_string(self.path().join("events.jsonl")).unwrap_or_default();
        let events =
            text.lines().map(|line| serde_json::from_str(line).expect("an event")).collect();
        (said, events)
    }

    fn filtered(&self, text: &str) -> String {
        let folder = self.path().display().to_string();
        text.replace(&format!("{folder}/"), "").replace(&folder, ".")
    }
}

/// Names of the nodes that ended in `state`.
#[must_use]
pub fn nodes(events: &[serde_json::Value], state: &str) -> Vec<String> {
    let mut names: Vec<String> = events
        .iter()
        .filter(|event| event["event"] == "node_finished" && event["state"] == state)
        .filter_map(|event| event["node"].as_str().map(str::to_owned))
        .collect();
    names.sort();
    names
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let name = entry.file_name();
        if name == "out" || name == ".pipe" || name == "__pycache__" {
            continue;
        }
        let (source, target) = (entry.path(), to.join(&name));
        if source.is_dir() {
            copy(&source, &target);
        } else {
            std::fs::copy(&source, &target).expect("a copy");
        }
    }
}
