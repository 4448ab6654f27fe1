//! Decoded artifacts in memory, shared between ops, the least recently used given up first.

use crate::op::{Decoded, OpError};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// A bounded memory of decoded artifacts by digest.
pub(crate) struct DecodedCache {
    limit: u64,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    held: BTreeMap<String, Held>,
    bytes: u64,
    clock: u64,
}

struct Held {
    decoded: Decoded,
    bytes: u64,
    used: u64,
}

impl DecodedCache {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, inner: Mutex::default() }
    }

    /// The decoded form of `digest`, made by `decode` when it is not held.
    pub(crate) fn get(
        &self,
        digest: &str,
        bytes: u64,
        decode: impl FnOnce() -> Result<Decoded, OpError>,
    ) -> Result<Decoded, OpError> {
        if let Some(decoded) = self.held(digest) {
            return Ok(decoded);
        }
        let decoded = decode()?;
        self.keep(digest, bytes, decoded.clone());
        Ok(decoded)
    }

    fn held(&self, digest: &str) -> Option<Decoded> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.clock += 1;
        let now = inner.clock;
        let held = inner.held.get_mut(digest)?;
        held.used = now;
        Some(held.decoded.clone())
    }

    fn keep(&self, digest: &str, bytes: u64, decoded: Decoded) {
        if bytes > self.limit {
            return;
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.clock += 1;
        let held = Held { decoded, bytes, used: inner.clock };
        inner.bytes += bytes;
        if let Some(before) = inner.held.insert(digest.to_owned(), held) {
            inner.bytes -= before.bytes;
        }
        while inner.bytes > self.limit {
            let oldest = inner.held.iter().min_by_key(|(_, held)| held.used);
            let Some(oldest) = oldest.map(|(digest, _)| digest.clone()) else { break };
            if let Some(gone) = inner.held.remove(&oldest) {
                inner.bytes -= gone.bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_least_recently_used_is_given_up() {
        let cache = DecodedCache::new(2);
        let mut made = Vec::new();
        for digest in ["a", "b", "a", "c", "a", "b"] {
            let decode = || {
                made.push(digest);
                Ok(Arc::new(digest) as Decoded)
            };
            cache.get(digest, 1, decode).unwrap();
        }
        assert_eq!(made, ["a", "b", "c", "b"]);
    }
}
