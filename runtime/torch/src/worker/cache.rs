//! Loaded artifacts by digest, the least recently used ones dropped when memory is short.

use std::any::Any;
use std::sync::Arc;

/// What is held.
#[derive(Default)]
pub struct Cache {
    budget: u64,
    /// Most recently used first.
    held: Vec<Held>,
}

struct Held {
    digest: String,
    bytes: u64,
    value: Arc<dyn Any + Send + Sync>,
}

impl Cache {
    /// Holds up to `budget` bytes, as artifacts count them.
    #[must_use]
    pub fn new(budget: u64) -> Self {
        Self { budget, held: Vec::new() }
    }

    /// What is held under a digest; it becomes the most recent.
    pub fn get(&mut self, digest: &str) -> Option<Arc<dyn Any + Send + Sync>> {
        let at = self.held.iter().position(|held| held.digest == digest)?;
        let held = self.held.remove(at);
        let value = Arc::clone(&held.value);
        self.held.insert(0, held);
        Some(value)
    }

    /// Holds a value, and drops what has not been used for longest until all fit. The newest always stays.
    pub fn put(&mut self, digest: &str, bytes: u64, value: Arc<dyn Any + Send + Sync>) {
        self.held.retain(|held| held.digest != digest);
        self.held.insert(0, Held { digest: digest.to_owned(), bytes, value });
        while self.held.len() > 1
            && self.held.iter().map(|held| held.bytes).sum::<u64>() > self.budget
        {
            self.held.pop();
        }
    }

    /// Digests, the most recent first.
    #[must_use]
    pub fn digests(&self) -> Vec<String> {
        self.held.iter().map(|held| held.digest.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_goes_first() {
        let mut cache = Cache::new(10);
        for name in ["a", "b", "c"] {
            cache.put(name, 4, Arc::new(name.to_owned()));
            let _ = cache.get("a");
        }
        assert_eq!(cache.digests(), ["a", "c"]);
        cache.put("big", 100, Arc::new(0));
        assert_eq!(cache.digests(), ["big"]);
    }
}
