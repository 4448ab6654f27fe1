//! Prints how many megabytes of a program become syntax per second: the best of ten rounds.

use pipe_grammar::{FileId, SourceFile};
use std::time::Instant;

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_default();
    let file = SourceFile::new(FileId(0), path.as_str(), std::fs::read_to_string(&path)?);
    let best = (0..10)
        .map(|_| {
            let start = Instant::now();
            let parsed = pipe_grammar::parse(&file);
            assert!(parsed.problems.is_empty(), "{:?}", parsed.problems.first());
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    println!("{:.2}", file.text.len() as f64 / 1e6 / best);
    Ok(())
}
