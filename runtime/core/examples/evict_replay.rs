//! `evict_replay TRACE.jsonl ..`: replay traces under each policy and budget, and print one JSON object a line.

use pipe_runtime::evict::Policy;
use pipe_runtime::evict::simulate::replay;
use pipe_runtime::evict::trace::Trace;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// Budgets in percent of the bytes of all results.
const SHARES: [u64; 3] = [10, 25, 50];

fn main() -> ExitCode {
    for path in std::env::args().skip(1) {
        if let Err(error) = compare(Path::new(&path)) {
            eprintln!("{path}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn compare(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let trace = Trace::read(&text)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    for share in SHARES {
        let budget = trace.bytes() * share / 100;
        for policy in Policy::ALL {
            let found = replay(&trace, policy, budget);
            let line = json!({
                "trace": name,
                "runs": trace.runs.len(),
                "bytes": trace.bytes(),
                "share": share,
                "policy": policy.name(),
                "paid": found.paid,
                "saved": found.saved,
                "saved_per_byte": found.saved_per_byte(),
                "hit_ratio": found.hit_ratio(),
                "peak": found.peak,
                "mean": found.mean,
                "evicted": found.evicted,
            });
            println!("{line}");
        }
    }
    Ok(())
}
