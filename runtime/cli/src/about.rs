//! Where a run comes from: what its record says of the command, the person and the machine.

use crate::machine;
use pipe_compiler::Sources;
use pipe_runtime::store::{About, MachineAbout};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Bytes at the head of a file in which a line is looked for.
const HEAD: u64 = 8192;

/// Gather it for the run of a program with these texts.
pub(crate) fn gather(sources: &Sources) -> About {
    let has = machine::machine();
    // Texts of params are sources too; they are on record by their values.
    let is_program = |at: usize, name: &str| at == 0 || name.ends_with(".pipe");
    let texts = sources.files().iter().enumerate();
    let texts =
        texts.filter(|(at, file)| is_program(*at, &file.name) && !file.name.starts_with('<'));
    let digest = |text: &str| blake3::hash(text.as_bytes()).to_hex().to_string();
    About {
        command: command(),
        folder: std::env::current_dir()
            .map_or_else(|_| String::new(), |folder| folder.display().to_string()),
        user: user(),
        host: host(),
        versions: BTreeMap::from([("pipe".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]),
        machine: MachineAbout {
            processor: line_of("/proc/cpuinfo", "model name"),
            threads: has.threads,
            memory: has.memory,
            gpus: gpus(),
        },
        sources: texts.map(|(_, file)| (file.name.clone(), digest(&file.text))).collect(),
    }
}

/// Most memory that this process has had, in bytes.
pub(crate) fn peak_memory() -> Option<u64> {
    let line = line_of("/proc/self/status", "VmHWM")?;
    let kilobytes: u64 = line.strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The line as given, the program by its name alone.
fn command() -> Vec<String> {
    let mut words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(program) = words.first_mut() {
        let name = Path::new(program.as_str()).file_name();
        *program = name.map_or_else(|| "pipe".to_owned(), |name| name.display().to_string());
    }
    words
}

fn user() -> Option<String> {
    let named = |name| std::env::var(name).ok().filter(|name| !name.is_empty());
    named("USER").or_else(|| named("LOGNAME")).or_else(|| {
        let ids = line_of("/proc/self/status", "Uid")?;
        let id = ids.split_whitespace().next()?.to_owned();
        let users = std::fs::read_to_string("/etc/passwd").ok()?;
        let mut users = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
        users.find(|user| user.get(2) == Some(&id.as_str()))?.first().map(|name| (*name).to_owned())
    })
}

fn host() -> Option<String> {
    let told = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let told = told.or_else(|| std::env::var("HOSTNAME").ok());
    told.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Kinds of the GPUs that the NVIDIA driver shows.
fn gpus() -> Vec<String> {
    let Ok(entries) = std::fs::read_dir("/proc/driver/nvidia/gpus") else { return Vec::new() };
    let kind = |folder: std::path::PathBuf| {
        line_of(&folder.join("information").display().to_string(), "Model")
    };
    let mut found: Vec<String> = entries.flatten().filter_map(|entry| kind(entry.path())).collect();
    found.sort();
    found
}

/// What stands behind `name:` at the head of a file of such lines.
fn line_of(path: &str, name: &str) -> Option<String> {
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(HEAD).read_to_string(&mut text).ok()?;
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let line = lines.find(|(key, _)| key.trim() == name);
    line.map(|(_, value)| value.trim().to_owned())
}
