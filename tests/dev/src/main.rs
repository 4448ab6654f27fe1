//! `cargo dev gen`: write the generated files. `cargo dev gen --check` only says which are stale.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["gen"] => generate(false),
        ["gen", "--check"] => generate(true),
        _ => {
            eprintln!("usage: cargo dev gen [--check]");
            ExitCode::from(2)
        }
    }
}

fn generate(check: bool) -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut failed = false;
    for (path, text) in pipe_dev::files() {
        let target = root.join(path);
        if std::fs::read_to_string(&target).is_ok_and(|old| old == text) {
            eprintln!("  fresh  {path}");
        } else if check {
            failed = true;
            eprintln!("  stale  {path}");
        } else if let Err(error) = std::fs::write(&target, text) {
            failed = true;
            eprintln!("  cannot write {path}: {error}");
        } else {
            eprintln!("  wrote  {path}");
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
