//! Programs that were damaged at random: each gets an answer in a second, in bounded memory, and no panic.
//!
//! `PIPE_MUTANTS=1000000` asks for more of them; `PIPE_SEED=7` for others.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

#[path = "compiler/support.rs"]
mod support;

use pipe_compiler::{Inputs, Machine, check, codes};
use pipe_grammar::{FileId, SourceFile, format};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use support::Files;

/// Seconds of processor time that one program may take, unoptimised.
const SECONDS: f64 = 1.0;

/// Megabytes that all of them together may add to what the process holds at most.
const MEGABYTES: u64 = 256;

/// A small generator of numbers (xorshift).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize
    }

    fn below(&mut self, end: usize) -> usize {
        self.next() % end.max(1)
    }

    fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Every program of the repository, and every case.
fn programs() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut open: Vec<PathBuf> =
        ["examples", "tests/cases", "grammar/tests/programs"].map(|at| root.join(at)).to_vec();
    let mut found = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "pipe") {
            let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
            for part in text.split("\n--- ") {
                found.push(part.split_once(" ---\n").map_or(part, |(_, text)| text).to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Words, blanks and signs, one by one.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
        let length = match first {
            sign if word(sign) => rest.find(|sign| !word(sign)).unwrap_or(rest.len()),
            sign => sign.len_utf8(),
        };
        let (piece, tail) = rest.split_at(length);
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

const ODD: [&str; 22] = [
    "\u{FEFF}",
    "\u{0}",
    "\u{1A}",
    "\u{2028}",
    "\u{202E}",
    "é",
    "\u{1F600}",
    "“",
    "\r",
    "\r\n",
    "\t",
    "\"",
    "\"\"\"",
    "${",
    "}",
    "#",
    "|>",
    "in ",
    "not ",
    "let ",
    "fn f(",
    "@",
];

/// One damage to a program.
fn damage(text: &str, programs: &[String], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let mut parts = pieces(text);
    let at = dice.below(parts.len());
    match dice.below(10) {
        0 => {
            for _ in 0..=dice.below(4) {
                let at = dice.below(bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << dice.below(8);
                }
            }
            return bytes;
        }
        1 => {
            bytes.truncate(dice.below(bytes.len()));
            return bytes;
        }
        2 => drop(parts.drain(at..(at + 1 + dice.below(8)).min(parts.len()))),
        3 => {
            let end = (at + 1 + dice.below(12)).min(parts.len());
            let copy = parts[at..end].to_vec();
            let target = dice.below(parts.len());
            parts.splice(target..target, copy);
        }
        4 if !parts.is_empty() => {
            let other = dice.below(parts.len());
            parts.swap(at, other);
        }
        5 => {
            let other = pieces(dice.of::<String>(programs));
            let start = dice.below(other.len());
            parts.truncate(at);
            return format!("{}{}", parts.concat(), other[start..].concat()).into_bytes();
        }
        6 => parts.insert(at, dice.of::<&str>(&ODD)),
        7 => {
            let (open, close) = *dice.of(&[
                ("(", ")"),
                ("[", "]"),
                ("{ a: ", " }"),
                ("-", ""),
                ("x => ", ""),
                ("if true { ", " } else { 1 }"),
                ("\"${", "}\""),
            ]);
            let count = 1 << dice.below(12);
            let inner = parts.get(at).copied().unwrap_or("1");
            let deep = format!("{}{inner}{}", open.repeat(count), close.repeat(count));
            return [parts[..at].concat(), deep, parts[at..].concat()].concat().into_bytes();
        }
        8 => {
            let huge = match dice.below(5) {
                0 => "9".repeat(1 << dice.below(12)),
                1 => format!("1e{}", "9".repeat(1 + dice.below(9))),
                2 => format!("\"{}\"", "x".repeat(1 << dice.below(14))),
                3 => format!("[{}]", "1, ".repeat(1 << dice.below(10))),
                _ => "a".repeat(1 << dice.below(12)),
            };
            return [parts[..at].concat(), huge, parts[at..].concat()].concat().into_bytes();
        }
        _ => return text.replace('\n', "\r\n").into_bytes(),
    }
    parts.concat().into_bytes()
}

/// Seconds that this thread has been on a processor.
fn spent() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos: f64 = text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
    nanos / 1e9
}

/// Most megabytes that this process has held.
fn held() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or(0) >> 10
}

fn answers(bytes: &[u8], known: &BTreeSet<&str>) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let file = SourceFile::new(FileId(0), "main.pipe", text);
        let formatted = format(&file);
        if formatted.problems.is_empty() {
            let again = SourceFile::new(FileId(0), "main.pipe", formatted.text.as_str());
            assert_eq!(format(&again).text, formatted.text, "formatting twice changes more");
        }
    }
    let mut files = Files::with("");
    files.0.insert("main.pipe".to_owned(), bytes.to_vec());
    files.put("other.pipe", "use back = \"main.pipe\"\nlet x = 1\n");
    let checked = check(&Inputs {
        file: "main.pipe",
        host: &files,
        library: &pipe_stdlib::FILES,
        params: &BTreeMap::new(),
        tools: &BTreeMap::new(),
        machine: Machine { threads: 2, memory: 8 << 30, gpus: 0 },
    });
    let sources = checked.sources.files();
    for problem in &checked.problems {
        assert!(known.contains(problem.code), "{} has no page", problem.code);
        assert_ne!(problem.code, "plan::bug", "{}", problem.message);
        let spans = problem.labels.iter().map(|label| label.span);
        for span in spans.chain(problem.edits.iter().map(|edit| edit.span)).chain([problem.span]) {
            let file = sources.iter().find(|file| file.id == span.file);
            let text = file.and_then(|file| file.text.get(span.start as usize..span.end as usize));
            assert!(text.is_some() || sources.is_empty(), "{problem:?} lies outside");
        }
    }
}

#[test]
fn damaged_programs_are_answered_in_time_and_memory() {
    let number = |name: &str, usual: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    let (count, seed) = (number("PIPE_MUTANTS", 2_000), number("PIPE_SEED", 1));
    let known: BTreeSet<&str> = codes::all().iter().map(|code| code.code).collect();
    let programs = programs();
    assert!(programs.len() > 100, "{} programs", programs.len());
    answers(b"output a = 1\n", &known);
    let before = held();
    for number in 0..count {
        let mut dice = Dice((seed << 32 | number).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut bytes = dice.of(&programs).clone().into_bytes();
        for _ in 0..=dice.below(3) {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            bytes = damage(&text, &programs, &mut dice);
        }
        let start = spent();
        let done = std::panic::catch_unwind(|| answers(&bytes, &known));
        let seconds = spent() - start;
        let shown = String::from_utf8_lossy(&bytes);
        let shown: String = shown.chars().take(4_000).collect();
        assert!(done.is_ok(), "number {number} of seed {seed} panics:\n{shown}");
        assert!(seconds < SECONDS, "number {number} of seed {seed} takes {seconds:.2} s:\n{shown}");
    }
    let grown = held() - before;
    assert!(grown < MEGABYTES, "{count} programs held {grown} MB more");
}
