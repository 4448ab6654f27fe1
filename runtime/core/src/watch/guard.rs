//! A program that writes what it reads would start itself again and again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Runs in a row after which a file that changes in each of them is blamed on the program.
const ROUNDS: usize = 2;

/// Counts which files change each time the program runs.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    rounds: BTreeMap<PathBuf, usize>,
}

impl Guard {
    /// These files have changed; `ran` says that it was while external programs of a run were at work. Gives the files
    /// that the program seems to change itself: they are no reason to run again.
    pub fn blamed(&mut self, changed: &BTreeSet<PathBuf>, ran: bool) -> BTreeSet<PathBuf> {
        if !ran {
            self.rounds.clear();
            return BTreeSet::new();
        }
        self.rounds.retain(|path, _| changed.contains(path));
        for path in changed {
            *self.rounds.entry(path.clone()).or_default() += 1;
        }
        let blamed = |(path, rounds): (&PathBuf, &usize)| (*rounds >= ROUNDS).then(|| path.clone());
        self.rounds.iter().filter_map(blamed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_with_every_run_is_blamed_and_one_that_is_edited_is_not() {
        let own = BTreeSet::from([PathBuf::from("own.csv")]);
        let other = BTreeSet::from([PathBuf::from("other.csv")]);
        let mut guard = Guard::default();
        assert!(guard.blamed(&own, true).is_empty(), "once may be chance");
        assert_eq!(guard.blamed(&own, true), own);
        assert!(guard.blamed(&other, false).is_empty());
        assert!(guard.blamed(&own, true).is_empty(), "an edit begins anew");
        assert!(guard.blamed(&other, true).is_empty());
    }
}
