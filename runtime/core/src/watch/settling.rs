//! When a burst of changes is over.

use std::time::{Duration, Instant};

/// Without a change for this long, the burst is over.
const QUIET: Duration = Duration::from_millis(75);
/// A burst that goes on is cut off here, so that constant activity does not starve the program.
const CAP: Duration = Duration::from_secs(2);

/// Changes that have come in and not been looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settling {
    /// When the first and the last of them came.
    burst: Option<(Instant, Instant)>,
}

impl Settling {
    /// Something changed.
    pub fn touch(&mut self, now: Instant) {
        let first = self.burst.map_or(now, |(first, _)| first);
        self.burst = Some((first, now));
    }

    /// When to look, if nothing more comes.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        self.burst.map(|(first, last)| (last + QUIET).min(first + CAP))
    }

    /// Whether it is time to look; if so, the burst is over.
    pub fn take(&mut self, now: Instant) -> bool {
        let over = self.due().is_some_and(|due| due <= now);
        if over {
            self.burst = None;
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(start: Instant, millis: u64) -> Instant {
        start + Duration::from_millis(millis)
    }

    #[test]
    fn a_burst_is_looked_at_once_and_after_its_end() {
        let (mut settling, start) = (Settling::default(), Instant::now());
        assert_eq!(settling.due(), None);
        settling.touch(start);
        settling.touch(after(start, 50));
        assert!(!settling.take(after(start, 100)));
        assert!(settling.take(after(start, 125)));
        assert!(!settling.take(after(start, 1000)), "once");
    }

    #[test]
    fn constant_activity_does_not_starve() {
        let (mut settling, start) = (Settling::default(), Instant::now());
        let looked = (0..100).find(|step| {
            let now = after(start, step * 50);
            settling.touch(now);
            settling.take(now)
        });
        assert_eq!(looked, Some(40), "cut off after two seconds");
    }
}
