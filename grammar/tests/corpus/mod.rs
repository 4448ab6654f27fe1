//! The programs that tests read: the repository's own, and the sketches beside it where they are.

use std::path::{Path, PathBuf};

/// Name and text of every `.pipe` file that is meant to read without problems.
pub(crate) fn programs() -> Vec<(String, String)> {
    let root = root();
    let mut files = Vec::new();
    for folder in ["examples", "stdlib", "runtime", "grammar/tests/programs"] {
        collect(&root.join(folder), &mut files);
    }
    let sketches = root.join("../shared/sketch/examples");
    if sketches.is_dir() {
        collect(&sketches, &mut files);
    } else {
        println!(
            "skipped: ../shared/sketch/examples is not here; grammar/tests/programs has its forms"
        );
    }
    files.sort();
    let read = |path: PathBuf| {
        (
            path.display().to_string(),
            std::fs::read_to_string(&path).expect("the program is readable"),
        )
    };
    files.into_iter().map(read).collect()
}

/// The folder of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Adds every `.pipe` file below a folder.
pub(crate) fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("the folder is readable").path();
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if path.is_dir() && !hidden {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "pipe") {
            files.push(path);
        }
    }
}
