//! Prints what a plan costs: CPU time of reading the text and of the rest, memory and allocations.
//!
//! `plan_speed KIND SIZE [ROUNDS]` with the kinds of `programs.rs`, or `plan_speed FILE 0 [ROUNDS]` for a program's
//! text. One JSON object; times are the least of all rounds in milliseconds of this thread's CPU time, bytes per node
//! are those that the finished plan holds.

mod counting;
mod programs;

use counting::{allocations, live_bytes};
use pipe_compiler::{Inputs, Machine};
use pipe_grammar::SourceFile;
use std::collections::BTreeMap;
use std::error::Error;

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [kind, size, rounds @ ..] = words.as_slice() else {
        return Err(format!(
            "plan_speed KIND SIZE [ROUNDS], kinds: {}",
            programs::KINDS.join(", ")
        )
        .into());
    };
    let size: usize = size.parse()?;
    let rounds: usize = rounds.first().map_or(Ok(1), |rounds| rounds.parse())?;
    let text = match programs::program(kind, size) {
        Some(text) => text,
        None => std::fs::read_to_string(kind)?,
    };
    let lines = text.lines().count();
    let files = programs::Files::with(text);
    let none = BTreeMap::new();
    let tools = BTreeMap::from([("torch".to_owned(), "2.11.0".to_owned())]);
    let inputs = Inputs {
        file: "main.pipe",
        host: &files,
        library: &pipe_stdlib::FILES,
        params: &none,
        tools: &tools,
        machine: Machine { threads: 2, memory: 8 << 30, gpus: 0 },
    };
    // What is read: the program, and the library's modules that it needs.
    let texts: Vec<SourceFile> = pipe_compiler::check(&inputs).sources.files().to_vec();
    let (mut parse, mut check, mut compile) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
    let (mut nodes, mut bytes, mut allocated) = (0, 0, 0);
    for _ in 0..rounds {
        let start = cpu()?;
        let parsed: Vec<_> = texts.iter().map(pipe_grammar::parse).collect();
        parse = parse.min(cpu()? - start);
        drop(parsed);
        let start = cpu()?;
        drop(pipe_compiler::check(&inputs));
        check = check.min(cpu()? - start);
        let (held, made) = (live_bytes(), allocations());
        let start = cpu()?;
        let compiled = pipe_compiler::compile(&inputs);
        compile = compile.min(cpu()? - start);
        allocated = allocations() - made;
        if let Some(problem) = compiled.problems.iter().find(|problem| problem.is_error()) {
            return Err(format!(
                "{kind}: {}: {}",
                problem.message,
                compiled.sources.slice(problem.span)
            )
            .into());
        }
        let plan = compiled.plan.ok_or("no plan")?;
        drop(compiled.sources);
        drop(compiled.problems);
        drop(compiled.params);
        (nodes, bytes) = (plan.nodes.len(), live_bytes() - held);
    }
    println!(
        "{{\"program\": \"{kind}\", \"lines\": {lines}, \"nodes\": {nodes}, \"parse_ms\": {parse:.3}, \"check_ms\": {check:.3}, \
         \"rest_ms\": {:.3}, \"bytes_per_node\": {}, \"allocations\": {allocated}}}",
        compile - parse,
        bytes / nodes.max(1),
    );
    Ok(())
}

/// Milliseconds that this thread has had the processor.
fn cpu() -> Result<f64, Box<dyn Error>> {
    // The file shows what was counted when the thread last gave way.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanos: f64 = text.split_whitespace().next().ok_or("no time")?.parse()?;
    Ok(nanos / 1e6)
}
