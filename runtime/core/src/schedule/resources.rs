//! What the machine has, and what running nodes hold of it.

use pipe_compiler::plan::Annotations;

/// What nodes may use together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// CPU threads.
    pub threads: u32,
    /// Bytes of memory that `@memory` is counted against; nothing is when it is not known.
    pub memory: Option<u64>,
    /// GPUs by number.
    pub gpus: Vec<u32>,
}

impl Default for Machine {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let threads = u32::try_from(threads).unwrap_or(1);
        Self { threads, memory: memory(), gpus: (0..gpus()).collect() }
    }
}

/// The machine's memory in bytes, where the system tells.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// GPUs that the driver shows and `CUDA_VISIBLE_DEVICES` leaves; they are numbered from 0 among those.
fn gpus() -> u32 {
    let there = std::fs::read_dir("/proc/driver/nvidia/gpus")
        .map_or(0, |entries| entries.flatten().count());
    let visible = match std::env::var("CUDA_VISIBLE_DEVICES") {
        Ok(list) => list.split(',').take_while(|id| !matches!(id.trim(), "" | "-1")).count(),
        Err(_) => there,
    };
    u32::try_from(visible.min(there)).unwrap_or(0)
}

/// What one node holds while it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grant {
    threads: u32,
    memory: u64,
    pub(crate) gpus: Vec<u32>,
    exclusive: bool,
}

/// What is free now.
#[derive(Debug)]
pub(crate) struct Resources {
    machine: Machine,
    threads: u32,
    memory: u64,
    gpus: Vec<u32>,
    running: usize,
    exclusive: bool,
}

impl Resources {
    pub(crate) fn new(machine: Machine) -> Self {
        Self {
            threads: machine.threads.max(1),
            memory: machine.memory.unwrap_or(u64::MAX),
            gpus: machine.gpus.clone(),
            machine,
            running: 0,
            exclusive: false,
        }
    }

    /// Whether the machine could ever run such a node.
    pub(crate) fn possible(&self, needs: &Annotations) -> bool {
        needs.device != "cuda" || self.machine.gpus.len() >= needs.gpu.max(1) as usize
    }

    /// Take what the node needs, when it is free. A node that asks for more than the machine has runs
    /// alone with all of it.
    pub(crate) fn take(&mut self, needs: &Annotations) -> Option<Grant> {
        let threads = needs.threads.clamp(1, self.machine.threads.max(1));
        let memory = needs.memory.unwrap_or(0).min(self.machine.memory.unwrap_or(u64::MAX));
        let gpus = if needs.device == "cuda" { needs.gpu.max(1) as usize } else { 0 };
        let alone = needs.exclusive && self.running > 0;
        if self.exclusive
            || alone
            || threads > self.threads
            || memory > self.memory
            || gpus > self.gpus.len()
        {
            return None;
        }
        self.threads -= threads;
        self.memory -= memory;
        self.running += 1;
        self.exclusive = needs.exclusive;
        let gpus = self.gpus.drain(..gpus).collect();
        Some(Grant { threads, memory, gpus, exclusive: needs.exclusive })
    }

    /// Give back what a node held.
    pub(crate) fn give(&mut self, grant: Grant) {
        self.threads += grant.threads;
        self.memory = self.memory.saturating_add(grant.memory);
        self.gpus.extend(grant.gpus);
        self.gpus.sort_unstable();
        self.running -= 1;
        self.exclusive &= !grant.exclusive;
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn plain() -> Annotations {
        Annotations::light()
    }

    #[test]
    fn resources_are_never_overcommitted() {
        let mut free = Resources::new(Machine { threads: 2, memory: Some(100), gpus: vec![0] });
        let wide = Annotations { threads: 64, ..plain() };
        let big = Annotations { memory: Some(80), ..plain() };
        let gpu = Annotations { device: "cuda".to_owned(), gpu: 1, ..plain() };
        let alone = Annotations { exclusive: true, ..plain() };
        let first = free.take(&big).unwrap();
        assert!(
            free.take(&big).is_none() && free.take(&wide).is_none() && free.take(&alone).is_none()
        );
        let second = free.take(&gpu).unwrap();
        assert!(free.take(&plain()).is_none());
        free.give(first);
        assert!(free.take(&gpu).is_none());
        free.give(second);
        let third = free.take(&alone).unwrap();
        assert!(free.take(&plain()).is_none());
        free.give(third);
        assert!(free.take(&wide).is_some());
    }
}
