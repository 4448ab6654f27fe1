//! The sessions of `tests/lsp` inside this process, without the store and the command line around the server.

use pipe_compiler::host::{FileInfo, Host, HostError, HostErrorKind};
use pipe_lsp::{Disk, End, NoCache, Outside, serve};
use pipe_tests::editor::Session;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// The whole file system.
struct Files;

impl Disk for Files {
    fn host(&self, _program: &Path) -> Box<dyn Host + '_> {
        Box::new(Self)
    }

    fn library_file(&self, _module: &str) -> Option<PathBuf> {
        None
    }
}

fn refused(path: &str, error: &std::io::Error) -> HostError {
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            HostError::new(HostErrorKind::Missing, format!("there is no file `{path}`"))
        }
        _ => HostError::new(HostErrorKind::Unreadable, error.to_string()),
    }
}

impl Host for Files {
    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        std::fs::read(path).map_err(|error| refused(path, &error))
    }

    fn stat(&self, path: &str) -> Result<FileInfo, HostError> {
        let found = std::fs::metadata(path).map_err(|error| refused(path, &error))?;
        Ok(FileInfo { bytes: found.len(), is_dir: found.is_dir() })
    }

    fn head(&self, path: &str, bytes: usize) -> Result<Vec<u8>, HostError> {
        let mut content = self.read(path)?;
        content.truncate(bytes);
        Ok(content)
    }

    fn digest(&self, _path: &str) -> Result<String, HostError> {
        Ok(String::new())
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>, HostError> {
        let folder = pattern.rsplit_once('/').map_or("", |(folder, _)| folder);
        let entries = std::fs::read_dir(folder).map_err(|error| refused(folder, &error))?;
        let paths = entries.flatten().map(|entry| entry.path().display().to_string());
        let head = pattern.trim_end_matches('*');
        let mut found: Vec<String> = paths.filter(|path| path.starts_with(head)).collect();
        found.sort();
        Ok(found)
    }
}

#[test]
fn sessions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/lsp");
    let update = std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always");
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        if path.extension().is_none_or(|extension| extension != "session") {
            continue;
        }
        let session = Session::read(&text);
        let project = tempfile::tempdir().unwrap();
        for (name, text) in &session.files {
            std::fs::write(project.path().join(name), text).unwrap();
        }
        let (to_server, from_editor) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
        let (input, output) = (to_server.0, from_editor.1);
        let server = std::thread::spawn(move || {
            serve(BufReader::new(input), output, &Outside::new(&Files, &NoCache))
        });
        let said = session.play(project.path(), from_editor.0, to_server.1);
        let code = if server.join().unwrap() == End::Asked { 0 } else { 1 };
        let said = format!("{said}\n# The server ended with {code}.\n");
        if said != text && update {
            std::fs::write(&path, said).unwrap();
        } else if said != text {
            wrong.push(format!("{}\n{said}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
