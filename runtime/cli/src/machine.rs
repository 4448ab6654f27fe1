//! What this machine has, read from /proc; nothing is started to find out.

use pipe_compiler::Machine;
use std::path::Path;

/// Threads, memory and GPUs that a plan may count on.
pub(crate) fn machine() -> Machine {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u32);
    Machine { threads, memory: memory("MemTotal:").unwrap_or(0), gpus: gpus() }
}

/// A line of /proc/meminfo, in bytes.
pub(crate) fn memory(line: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let rest = text.lines().find_map(|found| found.strip_prefix(line))?;
    rest.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// GPUs that the driver shows and `CUDA_VISIBLE_DEVICES` leaves.
fn gpus() -> u32 {
    let there = std::fs::read_dir("/proc/driver/nvidia/gpus")
        .map_or(0, |entries| entries.flatten().count());
    match std::env::var("CUDA_VISIBLE_DEVICES") {
        Ok(visible) => visible
            .split(',')
            .filter(|id| !id.trim().is_empty() && id.trim() != "-1")
            .count()
            .min(there) as u32,
        Err(_) => there as u32,
    }
}

/// The NVIDIA driver's version, when there is one.
pub(crate) fn driver() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let line = text.lines().next()?;
    let version = line
        .split_whitespace()
        .find(|word| word.contains('.') && word.starts_with(char::is_numeric));
    Some(version.unwrap_or(line).to_owned())
}

/// Bytes free on the file system of `path`, by `df`.
pub(crate) fn free_disk(path: &Path) -> Option<u64> {
    let there = path.ancestors().find(|folder| folder.exists())?;
    let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
    let out = std::process::Command::new("df").arg("-Pk").arg(there).output().ok()?;
    let text = String::from_utf8(out.stdout).ok()?;
    let kilobytes = text.lines().nth(1)?.split_whitespace().nth(3)?;
    kilobytes.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
