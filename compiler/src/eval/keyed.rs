//! Drafts by key: which node a call is, when an earlier one was the same.
//!
//! Keys are digests, so their first bytes are as good as any hash of them. The table can be asked and filled and never
//! walked: nothing depends on its order.

use crate::key::Key;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The frame of a draft, its key, and whether its result is never cached.
pub(super) type Same = (u32, Key, bool);

/// The numbers of drafts.
#[derive(Debug, Default)]
pub(super) struct Keyed(HashMap<Same, usize, BuildHasherDefault<FirstBytes>>);

impl Keyed {
    /// The first draft that is the same.
    pub(super) fn get(&self, same: &Same) -> Option<usize> {
        self.0.get(same).copied()
    }

    pub(super) fn insert(&mut self, same: Same, draft: usize) {
        self.0.insert(same, draft);
    }
}

#[derive(Debug, Default)]
struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn write(&mut self, bytes: &[u8]) {
        let mut first = [0; 8];
        first.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        self.0 = self.0.rotate_left(7) ^ u64::from_le_bytes(first);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
