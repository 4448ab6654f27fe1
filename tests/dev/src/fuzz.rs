//! `cargo dev fuzz`: random bytes against what always holds, guided by the code they reach.
//!
//! The targets lie in `tests/fuzz` as cargo-fuzz wants them, and they run without it: libFuzzer needs instrumented code
//! and a C++ compiler, and both are asked for here. What a run finds is kept in `tests/fuzz/artifacts`.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// Names of the targets, as their files are called.
pub const TARGETS: [&str; 4] = ["parse", "format", "check", "row"];

/// What makes code report where it has been. The passes are LLVM's, so that a stable compiler will do.
const FLAGS: [&str; 9] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Cdebug-assertions=on",
    "-Coverflow-checks=on",
    "-Ccodegen-units=1",
];

/// Fuzzes `targets` for `seconds` together, from the repository at `root`. With the same `seed` and an empty corpus the
/// runs are the same ones, as many as there is time for.
///
/// # Errors
///
/// What could not be built, written or started, or that a target found something.
pub fn fuzz(
    root: &Path,
    targets: &[&str],
    seconds: u64,
    seed: Option<u32>,
) -> Result<ExitCode, String> {
    if let Some(reason) = lacking() {
        eprintln!("fuzzing is skipped: {reason}");
        return Ok(ExitCode::SUCCESS);
    }
    let triple = build(root)?;
    let home = root.join("target/fuzz");
    let dictionary = home.join("words.dict");
    write(&dictionary, &words())?;
    let seeds = home.join("seeds");
    let count =
        write_seeds(root, &seeds).map_err(|error| format!("cannot write seeds: {error}"))?;
    let each = (seconds / targets.len().max(1) as u64).max(1);
    let mut found = Vec::new();
    for target in targets {
        let artifacts = root.join("tests/fuzz/artifacts").join(target);
        let corpus = home.join("corpus").join(target);
        for folder in [&artifacts, &corpus] {
            create(folder)?;
        }
        let before = files(&artifacts);
        let start = Instant::now();
        let mut command = Command::new(home.join(&triple).join("release").join(target));
        command.arg(format!("-max_total_time={each}"));
        command.args(seed.map(|number| format!("-seed={number}")));
        command.arg(format!("-artifact_prefix={}/", artifacts.display()));
        command.args(["-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=0"]);
        command.arg(&corpus);
        if *target != "row" {
            command.arg(format!("-dict={}", dictionary.display())).arg("-max_len=4096").arg(&seeds);
        }
        let log = home.join(format!("{target}.log"));
        let file = std::fs::File::create(&log).map_err(|error| cannot("write", &log, &error))?;
        let copy = file.try_clone().map_err(|error| cannot("write", &log, &error))?;
        command.stdin(Stdio::null()).stdout(file).stderr(copy);
        let status = command.status().map_err(|error| format!("cannot start {target}: {error}"))?;
        let said = std::fs::read(&log).map_err(|error| cannot("read", &log, &error))?;
        let said = String::from_utf8_lossy(&said);
        let runs = stat(&said, "stat::number_of_executed_units:");
        eprintln!("  {target:<8}{runs:>10} runs in {:.0} s", start.elapsed().as_secs_f64());
        let finds: Vec<PathBuf> = files(&artifacts).difference(&before).cloned().collect();
        if !status.success() {
            eprintln!("{}", said.trim_end());
            found.push(format!("{target} ({})", log.display()));
        }
        found.extend(finds.iter().map(|path| path.display().to_string()));
    }
    if found.is_empty() {
        eprintln!("  nothing found, from {count} seeds");
        return Ok(ExitCode::SUCCESS);
    }
    Err(format!("found:\n  {}\nmake each a case or a test, then fix it", found.join("\n  ")))
}

/// Why fuzzing is not possible here.
fn lacking() -> Option<&'static str> {
    if !cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))) {
        return Some("the targets are built for Linux on x86-64 and arm64");
    }
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let version = Command::new(compiler).arg("--version").stdout(Stdio::null()).status();
    (!version.is_ok_and(|status| status.success())).then_some("there is no C++ compiler")
}

/// Builds all targets; gives the triple they are built for.
fn build(root: &Path) -> Result<String, String> {
    let said = Command::new("rustc").arg("-vV").output();
    let said = said.map_err(|error| format!("cannot start rustc: {error}"))?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or("rustc does not say what it builds for")?.to_owned();
    // Flags reach only what is built for a target that is named, so build scripts stay plain.
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--release", "--locked", "--target", &host, "--manifest-path"])
        .arg(root.join("tests/fuzz/Cargo.toml"))
        .arg("--target-dir")
        .arg(root.join("target/fuzz"))
        .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\u{1f}"))
        .status()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if status.success() { Ok(host) } else { Err("the targets do not build".to_owned()) }
}

/// The words of the language, as libFuzzer reads them.
fn words() -> String {
    let signs = ["|>", "=>", "->", "${", "\"\"\"", "??", "..", "==", "@native", "##"];
    let reserved = pipe_grammar::words::RESERVED.iter();
    let units = pipe_grammar::words::UNITS.iter().map(|(unit, _)| unit);
    let quoted = |word: &&str| format!("\"{}\"\n", word.replace('"', "\\\""));
    reserved.chain(units).chain(&signs).map(quoted).collect()
}

/// Writes the programs of the cases and examples, one to a file.
fn write_seeds(root: &Path, folder: &Path) -> io::Result<usize> {
    std::fs::create_dir_all(folder)?;
    let mut programs = Vec::new();
    for place in ["tests/cases", "examples", "grammar/tests/programs"] {
        collect(&root.join(place), &mut programs)?;
    }
    let mut count = 0;
    for program in programs {
        for part in program.split("\n--- ") {
            let text = part.split_once(" ---\n").map_or(part, |(_, text)| text);
            std::fs::write(folder.join(format!("{count}.pipe")), text)?;
            count += 1;
        }
    }
    Ok(count)
}

fn collect(folder: &Path, programs: &mut Vec<String>) -> io::Result<()> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, programs)?;
        } else if path.extension().is_some_and(|extension| extension == "pipe") {
            let bytes = std::fs::read(&path)?;
            programs.push(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(())
}

fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn stat(said: &str, name: &str) -> String {
    let line = said.lines().find_map(|line| line.strip_prefix(name));
    line.map_or_else(|| "?".to_owned(), |rest| rest.trim().to_owned())
}

fn create(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| cannot("make", folder, &error))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    if let Some(folder) = path.parent() {
        create(folder)?;
    }
    std::fs::write(path, text).map_err(|error| cannot("write", path, &error))
}

fn cannot(verb: &str, path: &Path, error: &io::Error) -> String {
    format!("cannot {verb} {}: {error}", path.display())
}
