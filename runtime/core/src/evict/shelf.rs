//! The facts that policies judge by, and the next item to leave.
//!
//! Items that are not stored stay on the shelf as facts: a result whose inputs are gone is dearer than one whose inputs
//! are there. Contents that several results share are counted once, and each holder bears its part.
//!
//! Choosing is lazy. An entry of the queue is a lower bound of its item's score: whatever lowers a score adds an entry,
//! whatever raises one leaves the old entry to be corrected when it comes up.

use super::Policy;
use std::cell::{Cell, RefCell};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;

/// Runs after which a hit counts half.
pub const HALF_LIFE: f64 = 32.0;

/// Uses to be expected of a result that was never found again and that no program's last run has: one who goes back to
/// an earlier setting finds it.
pub const PRIOR: f64 = 0.1;

/// A result, stored or only known.
#[derive(Clone, Debug, Default)]
pub struct Item {
    /// Its key; decides between equal scores.
    pub key: Arc<str>,
    /// Seconds of its producer alone.
    pub seconds: f64,
    /// How often it was found in the store, decayed up to run `counted`.
    pub hits: f64,
    /// The run up to which `hits` has decayed.
    pub counted: i64,
    /// How often it was found since it was stored last, undecayed.
    pub count: u64,
    /// Uses to be expected from the last runs of programs; a sum of [`need`]s.
    pub needs: f64,
    /// When it was stored, in any growing number.
    pub stored: i64,
    /// When it was of use last.
    pub used: i64,
    /// The clock of eviction when it was of use last.
    pub floor: f64,
    /// Never to be evicted.
    pub kept: bool,
}

/// Uses to be expected of a result in the next run of a program, from its last one: a root is looked up each time, else
/// each reader changes with chance one half and then asks for it.
#[must_use]
pub fn need(readers: usize, root: bool) -> f64 {
    if root { 1.0 } else { 1.0 - (-(readers.min(60) as f64)).exp2() }
}

/// Content that one result or several hold.
#[derive(Clone, Debug, Default)]
struct Part {
    bytes: u64,
    /// Items that have it, stored or not.
    members: Vec<usize>,
    /// How many of them are stored.
    holders: u32,
    /// How many of the holders are never to be evicted.
    kept: u32,
}

/// What is known, what is stored, and what leaves next.
#[derive(Clone, Debug)]
pub struct Shelf {
    policy: Policy,
    /// The run that is now; hits decay up to it.
    now: i64,
    clock: f64,
    items: Vec<Item>,
    there: Vec<bool>,
    parents: Vec<Vec<usize>>,
    children: Vec<Vec<usize>>,
    contents: Vec<Vec<usize>>,
    parts: Vec<Part>,
    held: u64,
    queue: BinaryHeap<Reverse<Place>>,
    /// Seconds to compute a stored item again, while nothing upstream has come or gone.
    memo: RefCell<Vec<Option<f64>>>,
    judged: Cell<u64>,
}

/// An item in the queue.
#[derive(Clone, Debug)]
struct Place {
    score: f64,
    key: Arc<str>,
    at: usize,
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Place {}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = self.score.total_cmp(&other.score);
        by_score.then_with(|| self.key.cmp(&other.key)).then_with(|| self.at.cmp(&other.at))
    }
}

impl Shelf {
    /// An empty shelf whose clock of eviction stands at `clock`.
    #[must_use]
    pub fn new(policy: Policy, clock: f64) -> Self {
        Self {
            policy,
            now: 0,
            clock,
            items: Vec::new(),
            there: Vec::new(),
            parents: Vec::new(),
            children: Vec::new(),
            contents: Vec::new(),
            parts: Vec::new(),
            held: 0,
            queue: BinaryHeap::new(),
            memo: RefCell::new(Vec::new()),
            judged: Cell::new(0),
        }
    }

    /// Know a content of this size; gives its number.
    pub fn add_part(&mut self, bytes: u64) -> usize {
        self.parts.push(Part { bytes, ..Part::default() });
        self.parts.len() - 1
    }

    /// Know an item with these contents, not stored; gives its number. Contents that are not known are left out.
    pub fn add(&mut self, item: Item, mut contents: Vec<usize>) -> usize {
        let at = self.items.len();
        contents.retain(|part| *part < self.parts.len());
        for part in &contents {
            self.parts[*part].members.push(at);
        }
        self.items.push(item);
        self.there.push(false);
        self.parents.push(Vec::new());
        self.children.push(Vec::new());
        self.contents.push(contents);
        self.memo.get_mut().push(None);
        at
    }

    /// Say that `child` is made from `parent`. Items that do not exist are ignored, and so are repetitions.
    pub fn link(&mut self, parent: usize, child: usize) {
        let known = parent.max(child) < self.items.len();
        if known && parent != child && !self.parents[child].contains(&parent) {
            self.parents[child].push(parent);
            self.children[parent].push(child);
            self.upstream_changed(child, true);
        }
    }

    /// How many items are known; they are numbered from 0.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// An item.
    #[must_use]
    pub fn item(&self, at: usize) -> Option<&Item> {
        self.items.get(at)
    }

    /// Whether the item is stored.
    #[must_use]
    pub fn has(&self, at: usize) -> bool {
        self.there.get(at).copied().unwrap_or(false)
    }

    /// What an item is made from.
    #[must_use]
    pub fn parents(&self, at: usize) -> &[usize] {
        self.parents.get(at).map_or(&[], Vec::as_slice)
    }

    /// What is made from an item.
    #[must_use]
    pub fn children(&self, at: usize) -> &[usize] {
        self.children.get(at).map_or(&[], Vec::as_slice)
    }

    /// Bytes of all that is stored.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.held
    }

    /// The clock of eviction: the score of the dearest item that has left.
    #[must_use]
    pub fn clock(&self) -> f64 {
        self.clock
    }

    /// How many scores have been computed.
    #[must_use]
    pub fn judged(&self) -> u64 {
        self.judged.get()
    }

    /// Size of an item's contents.
    #[must_use]
    pub fn bytes(&self, at: usize) -> u64 {
        let contents = self.contents.get(at).into_iter().flatten();
        contents.filter_map(|part| self.parts.get(*part)).map(|part| part.bytes).sum()
    }

    /// Bytes that an item stands for: its part of contents that may go. Nothing when it would free none.
    #[must_use]
    pub fn weight(&self, at: usize) -> f64 {
        let contents = self.contents.get(at).into_iter().flatten();
        let parts = contents.filter_map(|part| self.parts.get(*part));
        let free = parts.filter(|part| part.kept == 0);
        free.map(|part| part.bytes as f64 / f64::from(part.holders.max(1))).sum()
    }

    /// Seconds to compute an item again: its producer's, and those of all ancestors that would have to run for it
    /// because they are not stored, each once.
    #[must_use]
    pub fn recompute(&self, at: usize) -> f64 {
        if let Some(known) = self.memo.borrow().get(at).copied().flatten() {
            return known;
        }
        let mut seen = BTreeSet::from([at]);
        let mut open = vec![at];
        let mut seconds = 0.0;
        while let Some(next) = open.pop() {
            seconds += self.items.get(next).map_or(0.0, |item| item.seconds);
            let missing = self.parents(next).iter().filter(|parent| !self.has(**parent));
            open.extend(missing.filter(|parent| seen.insert(**parent)));
        }
        if let Some(slot) = self.memo.borrow_mut().get_mut(at) {
            *slot = Some(seconds);
        }
        seconds
    }

    /// How often an item was found, decayed up to now.
    #[must_use]
    pub fn hits(&self, at: usize) -> f64 {
        self.items.get(at).map_or(0.0, |item| decayed(item, self.now))
    }

    /// Uses to be expected: decayed hits, what the last runs of programs need, and a little for going back.
    #[must_use]
    pub fn reuse(&self, at: usize) -> f64 {
        let Some(item) = self.items.get(at) else { return 0.0 };
        PRIOR + decayed(item, self.now) + item.needs
    }

    /// A run begins: hits decay up to it. Also to be called after other facts were changed through [`Self::facts`].
    pub fn begin(&mut self, run: i64) {
        self.now = run;
        self.queue.clear();
        for at in 0..self.items.len() {
            self.enqueue(at);
        }
    }

    /// Facts of an item, to be changed before [`Self::begin`]; whether it is kept is set by [`Self::keep`].
    pub fn facts(&mut self, at: usize) -> Option<&mut Item> {
        self.items.get_mut(at)
    }

    /// Never evict an item, or let it go again.
    pub fn keep(&mut self, at: usize, kept: bool) {
        let Some(item) = self.items.get_mut(at).filter(|item| item.kept != kept) else { return };
        item.kept = kept;
        if self.has(at) {
            for part in &self.contents[at] {
                let part = &mut self.parts[*part];
                part.kept = if kept { part.kept + 1 } else { part.kept - 1 };
            }
            self.enqueue_sharers(at);
        }
    }

    /// A stored item was of use: it counts as a hit of this run.
    pub fn touch(&mut self, at: usize, tick: i64) {
        let (now, clock) = (self.now, self.clock);
        if let Some(item) = self.items.get_mut(at) {
            item.hits = decayed(item, now) + 1.0;
            item.counted = now;
            item.count += 1;
            item.used = tick;
            item.floor = clock;
        }
    }

    /// Store an item, new.
    pub fn put(&mut self, at: usize, tick: i64) {
        let (clock, now) = (self.clock, self.now);
        if let Some(item) = self.items.get_mut(at) {
            (item.stored, item.used) = (tick, tick);
            (item.floor, item.count) = (clock, 0);
            (item.hits, item.counted) = (decayed(item, now), now);
        }
        self.restore(at);
    }

    /// Store an item as it was.
    pub fn restore(&mut self, at: usize) {
        if self.has(at) || at >= self.items.len() {
            return;
        }
        self.there[at] = true;
        let kept = self.items[at].kept;
        for part in &self.contents[at] {
            let part = &mut self.parts[*part];
            if part.holders == 0 {
                self.held += part.bytes;
            }
            part.holders += 1;
            part.kept += u32::from(kept);
        }
        self.upstream_changed(at, false);
        self.enqueue_sharers(at);
    }

    /// Remove an item from what is stored.
    pub fn take(&mut self, at: usize) {
        if !self.has(at) {
            return;
        }
        self.there[at] = false;
        let kept = self.items[at].kept;
        for part in &self.contents[at] {
            let part = &mut self.parts[*part];
            part.holders -= 1;
            part.kept -= u32::from(kept);
            if part.holders == 0 {
                self.held -= part.bytes;
            }
        }
        self.upstream_changed(at, false);
        self.enqueue_sharers(at);
    }

    /// The item that leaves next, with its score.
    pub fn victim(&mut self) -> Option<(usize, f64)> {
        if self.policy.is_restless() {
            let places = (0..self.items.len()).filter(|at| self.may_leave(*at));
            let least = places.map(|at| self.place(at)).min()?;
            return Some((least.at, least.score));
        }
        while let Some(Reverse(place)) = self.queue.pop() {
            if !self.may_leave(place.at) {
                continue;
            }
            let now = self.place(place.at);
            if now.score > place.score {
                self.queue.push(Reverse(now));
                continue;
            }
            let found = (now.at, now.score);
            self.queue.push(Reverse(now));
            return Some(found);
        }
        None
    }

    /// Let an item go at this score, and advance the clock to it.
    pub fn evict(&mut self, at: usize, score: f64) {
        self.take(at);
        self.clock = self.clock.max(score);
    }

    /// Offer a computed item under a budget in bytes: whatever is worth least leaves first, and when that is the item
    /// itself it is not stored, and nothing else leaves. Says whether it is stored.
    pub fn admit(&mut self, at: usize, tick: i64, budget: u64) -> bool {
        match self.policy {
            Policy::None => return false,
            Policy::All => {
                self.put(at, tick);
                return true;
            }
            Policy::Paper => return self.admit_unmeasured(at, tick, budget),
            _ if self.bytes(at) > budget => return false,
            _ => {}
        }
        let before = self.clock;
        self.put(at, tick);
        let mut gone = Vec::new();
        while self.held > budget {
            let Some((victim, score)) = self.victim() else { break };
            self.evict(victim, score);
            if victim == at {
                // As if it had come and gone at once: the others stay, and all have become a little older.
                self.clock = before.max(score);
                gone.into_iter().for_each(|other| self.restore(other));
                return false;
            }
            gone.push(victim);
        }
        true
    }

    /// The paper's test: room is asked for before the item is added, whatever its size.
    fn admit_unmeasured(&mut self, at: usize, tick: i64, budget: u64) -> bool {
        self.put(at, tick);
        let size = self.bytes(at);
        while self.held.saturating_sub(size) >= budget {
            let Some((victim, score)) = self.victim() else { break };
            self.evict(victim, score);
            if victim == at {
                return false;
            }
        }
        true
    }

    /// Whether an item is stored and would free something.
    #[must_use]
    pub fn may_leave(&self, at: usize) -> bool {
        self.has(at) && !self.items[at].kept && self.weight(at) > 0.0
    }

    fn place(&self, at: usize) -> Place {
        self.judged.set(self.judged.get() + 1);
        Place { score: self.policy.score(self, at), key: self.items[at].key.clone(), at }
    }

    fn enqueue(&mut self, at: usize) {
        if !self.policy.is_restless() && self.may_leave(at) {
            let place = self.place(at);
            self.queue.push(Reverse(place));
        }
    }

    /// Scores of an item, and of those that hold some of its contents as well.
    fn enqueue_sharers(&mut self, at: usize) {
        self.enqueue(at);
        let parts = self.contents[at].iter().filter_map(|part| self.parts.get(*part));
        let shared = parts.filter(|part| part.holders > 0 && part.members.len() > 1);
        let others: BTreeSet<usize> = shared.flat_map(|part| part.members.clone()).collect();
        others.into_iter().filter(|other| *other != at).for_each(|other| self.enqueue(other));
    }

    /// An item came or went: what is stored below it costs something else now. `itself` when the item's own seconds do.
    fn upstream_changed(&mut self, at: usize, itself: bool) {
        let mut seen = BTreeSet::from([at]);
        let mut open = vec![at];
        let mut cheaper = Vec::new();
        while let Some(next) = open.pop() {
            if next != at || itself {
                self.memo.get_mut()[next] = None;
                if self.has(next) {
                    cheaper.push(next);
                    continue;
                }
            }
            open.extend(self.children[next].iter().filter(|child| seen.insert(**child)));
        }
        if self.has(at) && self.policy == Policy::Value {
            cheaper.into_iter().for_each(|below| self.enqueue(below));
        }
    }
}

fn decayed(item: &Item, now: i64) -> f64 {
    if item.hits == 0.0 {
        return 0.0;
    }
    item.hits * (-((now - item.counted).max(0) as f64) / HALF_LIFE).exp2()
}
