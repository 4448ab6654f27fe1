//! `cargo dev gen`: write the generated files. `cargo dev gen --check` only says which are stale.
//! `cargo dev fuzz --seconds 60 --target parse`: random bytes against what always holds.

use pipe_dev::fuzz;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["gen"] => generate(false),
        ["gen", "--check"] => generate(true),
        ["fuzz", rest @ ..] => fuzz(rest),
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: cargo dev gen [--check]");
    eprintln!(
        "       cargo dev fuzz [--seconds N] [--seed N] [--target {}]",
        fuzz::TARGETS.join("|")
    );
    ExitCode::from(2)
}

fn fuzz(words: &[&str]) -> ExitCode {
    let (mut seconds, mut seed, mut targets) = (60, None, Vec::new());
    for pair in words.chunks(2) {
        match pair {
            ["--seconds", number] => match number.parse() {
                Ok(number) => seconds = number,
                Err(_) => return usage(),
            },
            ["--seed", number] => match number.parse() {
                Ok(number) => seed = Some(number),
                Err(_) => return usage(),
            },
            ["--target", name] if fuzz::TARGETS.contains(name) => targets.push(*name),
            _ => return usage(),
        }
    }
    if targets.is_empty() {
        targets = fuzz::TARGETS.to_vec();
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().unwrap_or(root);
    match fuzz::fuzz(&root, &targets, seconds, seed) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
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
