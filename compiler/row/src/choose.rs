//! Which engine computes a program: kernels are kept, and made where the rows pay for it.

mod cost;

use crate::column::Column;
use crate::compiled;
use crate::graph::Graph;
use crate::jit::{Kernel, Layout, Memory, compile};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The most kernels that are kept; the one that was used longest ago goes first.
const MOST_KEPT: usize = 128;

/// The fewest rows that a kernel computes.
const FEWEST_ROWS: usize = 2;

/// A kernel with the layout that it was made for.
pub(crate) struct Ready {
    layout: Layout,
    kernel: Kernel,
}

impl Ready {
    fn new(graph: &Graph<'_>, optional: &[bool]) -> Option<Self> {
        let layout = Layout::of(graph, optional);
        let kernel = compile(graph, &layout, memory())?;
        Some(Self { layout, kernel })
    }

    /// Computes all outputs of the graph that it was made for.
    pub(crate) fn run(
        &self,
        graph: &Graph<'_>,
        columns: &[&Column],
        rows: usize,
    ) -> Option<Vec<Column>> {
        compiled::run(graph, &self.layout, &self.kernel, columns, rows)
    }
}

/// Where kernels lie; `None` is the system's own.
fn memory() -> Option<Memory> {
    #[cfg(test)]
    return REFUSING.get().map(|memory| memory());
    #[cfg(not(test))]
    None
}

#[cfg(test)]
thread_local! {
    static REFUSING: std::cell::Cell<Option<fn() -> Memory>> = const { std::cell::Cell::new(None) };
}

/// Lets kernels of this thread lie in other memory.
#[cfg(test)]
pub(crate) fn refuse_memory(memory: Option<fn() -> Memory>) {
    REFUSING.set(memory);
}

/// The kernel that should compute these rows, if any.
pub(crate) fn kernel(graph: &Graph<'_>, columns: &[&Column], rows: usize) -> Option<Arc<Ready>> {
    if rows < FEWEST_ROWS {
        return None;
    }
    let optional = optional(columns);
    match lock().ask(&key(graph, &optional), rows) {
        Known::Ready(kernel) => return Some(kernel),
        Known::Refused => return None,
        Known::Seen(rows) if !cost::pays(graph, &optional, rows) => return None,
        Known::Seen(_) => {}
    }
    make(graph, &optional)
}

/// The kernel for these columns, made if it is not kept.
pub(crate) fn made(graph: &Graph<'_>, columns: &[&Column], rows: usize) -> Option<Arc<Ready>> {
    if rows < FEWEST_ROWS {
        return None;
    }
    let optional = optional(columns);
    match lock().ask(&key(graph, &optional), rows) {
        Known::Ready(kernel) => return Some(kernel),
        Known::Refused => return None,
        Known::Seen(_) => {}
    }
    make(graph, &optional)
}

fn make(graph: &Graph<'_>, optional: &[bool]) -> Option<Arc<Ready>> {
    // Outside the lock: two threads may compile the same, and the later one is kept.
    let made = Ready::new(graph, optional).map(Arc::new);
    lock().keep(key(graph, optional), made.clone());
    made
}

fn optional(columns: &[&Column]) -> Vec<bool> {
    columns.iter().map(|column| column.valid().is_some()).collect()
}

fn key(graph: &Graph<'_>, optional: &[bool]) -> Vec<u8> {
    let mut key: Vec<u8> = optional.iter().map(|optional| u8::from(*optional)).collect();
    key.push(u8::MAX);
    key.extend(&graph.key);
    key
}

/// The kernels of this process.
static KEPT: Mutex<Kept> = Mutex::new(Kept { entries: BTreeMap::new(), clock: 0 });

fn lock() -> std::sync::MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets every kernel and what was seen of programs, as in a fresh process: for measurements.
pub fn forget_kernels() {
    let entries = std::mem::take(&mut lock().entries);
    // Outside the lock: giving memory back takes a while.
    drop(entries);
}

struct Kept {
    entries: BTreeMap<Vec<u8>, Entry>,
    clock: u64,
}

struct Entry {
    known: Known,
    used: u64,
}

/// What is known of a program.
#[derive(Clone)]
enum Known {
    /// How many rows it was asked for so far, without a kernel.
    Seen(u64),
    /// Its kernel.
    Ready(Arc<Ready>),
    /// There can be no kernel.
    Refused,
}

impl Kept {
    fn ask(&mut self, key: &[u8], rows: usize) -> Known {
        self.clock += 1;
        if let Some(entry) = self.entries.get_mut(key) {
            entry.used = self.clock;
            if let Known::Seen(seen) = &mut entry.known {
                *seen = seen.saturating_add(rows as u64);
            }
            return entry.known.clone();
        }
        self.insert(key.to_vec(), Known::Seen(rows as u64));
        Known::Seen(rows as u64)
    }

    fn keep(&mut self, key: Vec<u8>, made: Option<Arc<Ready>>) {
        self.clock += 1;
        self.insert(key, made.map_or(Known::Refused, Known::Ready));
    }

    fn insert(&mut self, key: Vec<u8>, known: Known) {
        self.entries.insert(key, Entry { known, used: self.clock });
        if self.entries.len() > MOST_KEPT {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used);
            if let Some(key) = oldest.map(|(key, _)| key.clone()) {
                self.entries.remove(&key);
            }
        }
    }
}
