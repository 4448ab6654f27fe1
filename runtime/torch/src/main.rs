//! `pipe-torch`: the worker that `pipe` starts for ops that need libtorch.

use pipe_torch::worker::ops::Ops;
use pipe_torch::worker::{serve, wish::Wishes};
use std::io::{self, BufReader, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;

const HELP: &str =
    "pipe-torch serves the `pipe` program, which starts it for ops that need libtorch.

It reads requests from stdin and writes replies to stdout. By hand:
  pipe-torch --version    its version and that of libtorch
  pipe-torch --ops        names and versions of its ops
  pipe-torch --devices    what libtorch sees
";

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        None if io::stdin().is_terminal() => print!("{HELP}"),
        None => return work(),
        Some("--version") => {
            println!("pipe-torch {} (libtorch {})", env!("CARGO_PKG_VERSION"), pipe_torch::TORCH)
        }
        Some("--ops") => {
            Ops::all().list().iter().for_each(|(name, version)| println!("{name} {version}"))
        }
        Some("--devices") => devices(),
        Some("--help" | "-h") => print!("{HELP}"),
        Some(other) => {
            eprint!("pipe-torch: there is no option {other}.\n\n{HELP}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn devices() {
    println!("cpu");
    let count = if tch::Cuda::is_available() { tch::Cuda::device_count() } else { 0 };
    (0..count).for_each(|index| println!("cuda:{index}"));
}

fn work() -> ExitCode {
    let wishes = Arc::new(Wishes::default());
    for signal in
        [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGUSR1]
    {
        if let Err(error) = signal_hook::flag::register(signal, Arc::clone(&wishes.all)) {
            eprintln!("pipe-torch: signals cannot be caught: {error}");
        }
    }
    match serve(BufReader::new(io::stdin()), io::stdout(), &Ops::all(), &wishes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pipe-torch: {error}");
            ExitCode::FAILURE
        }
    }
}
