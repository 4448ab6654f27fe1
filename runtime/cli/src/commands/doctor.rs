//! `pipe doctor`: what this machine has, and the remedy for what it lacks.

use super::{Outcome, exit};
use crate::machine;
use crate::project::store_here;
use crate::render::style::{Look, pad};
use crate::session::worker_program;
use pipe_runtime::shown::bytes;
use pipe_runtime::store::refuse_network;
use pipe_runtime::worker;

/// Print one line per finding; exit with 3 when something must be mended.
pub(crate) fn doctor(look: &Look) -> Outcome {
    let machine = machine::machine();
    let mut report = Report { look, bad: 0 };
    report.good("pipe", env!("CARGO_PKG_VERSION"));
    report.good("processor", &format!("{} threads", machine.threads));
    let free = machine::memory("MemAvailable:").unwrap_or(0);
    report.good("memory", &format!("{} free of {}", bytes(free), bytes(machine.memory)));
    store(&mut report);
    gpu(&mut report, machine.gpus);
    torch(&mut report);
    Ok(if report.bad == 0 { exit::OK } else { exit::FAILED })
}

/// Lines for people, and how many of them ask for a remedy.
struct Report<'a> {
    look: &'a Look,
    bad: usize,
}

impl Report<'_> {
    fn good(&self, what: &str, finding: &str) {
        println!("  {} {}  {finding}", self.look.good("✓"), pad(what, 10));
    }

    fn note(&self, what: &str, finding: &str) {
        println!("  {} {}  {finding}", self.look.quiet("-"), pad(what, 10));
    }

    fn bad(&mut self, what: &str, finding: &str, remedy: &str) {
        self.bad += 1;
        println!("  {} {}  {finding}", self.look.bad("✗"), pad(what, 10));
        println!("      remedy: {remedy}");
    }
}

fn store(report: &mut Report<'_>) {
    let folder = store_here();
    let shown = folder.display();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let whole = std::path::absolute(&folder).unwrap_or_else(|_| folder.clone());
    if let Err(error) = refuse_network(&whole, &mounts) {
        report.bad("store", &error.message, error.help.as_deref().unwrap_or("set PIPE_STORE"));
        return;
    }
    let free = machine::free_disk(&whole)
        .map_or(String::new(), |free| format!(", {} free there", bytes(free)));
    let there = if folder.exists() { "" } else { " (made by the first run)" };
    report.good("store", &format!("{shown}{there}{free}"));
}

fn gpu(report: &mut Report<'_>, gpus: u32) {
    match (machine::driver(), gpus) {
        (None, _) => report.note("GPU", "no NVIDIA driver; everything runs on the processor"),
        (Some(driver), 0) => {
            report.note(
                "GPU",
                &format!("driver {driver}, but no device is visible (CUDA_VISIBLE_DEVICES?)"),
            );
        }
        (Some(driver), gpus) => {
            let major: u32 =
                driver.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0);
            if major < 580 {
                let finding = format!("{gpus}, driver {driver}: too old for CUDA 13");
                report.bad("GPU", &finding, "install driver 580 or newer, or use `make setup TORCH=/path/to/python` with a torch built for this driver");
            } else {
                report.good("GPU", &format!("{gpus}, driver {driver}"));
            }
        }
    }
}

fn torch(report: &mut Report<'_>) {
    let Some(program) = worker_program() else {
        report.bad(
            "libtorch",
            "the worker program `pipe-torch` is not beside `pipe`",
            "run `make build` (or set PIPE_TORCH to it)",
        );
        return;
    };
    match worker::describe(&program) {
        Ok(found) => {
            let context = found.context.iter().map(|(name, value)| format!("{name} {value}"));
            let context: Vec<String> = context.collect();
            let more = if context.is_empty() {
                String::new()
            } else {
                format!(" ({})", context.join(", "))
            };
            report.good(
                "libtorch",
                &format!("{} on {}, {} threads{more}", found.torch, found.device, found.threads),
            );
        }
        Err(error) => {
            report.bad("libtorch", &error.message, "run `make setup` and `make build` again")
        }
    }
}
