//! Records of runs: the store that has them, and which run is meant by `31`, `last` or `last~1`.

use super::Failure;
use super::run::failed;
use crate::args::RecordArgs;
use crate::project::{absolute, store_here, store_of};
use pipe_runtime::Store;
use pipe_runtime::store::{RunRow, RunSeen};
use std::path::{Path, PathBuf};

/// Runs that are named when the wanted one is not there.
const NEAR: usize = 3;

/// The records of one store, of one program where one is named.
pub(crate) struct Record {
    pub(crate) store: Store,
    program: Option<PathBuf>,
}

impl Record {
    /// Open the store at `store`, else that of the program, else that of this folder.
    pub(crate) fn open(store: Option<&Path>, program: Option<&Path>) -> Result<Self, Failure> {
        if let Some(program) = program.filter(|program| !program.exists()) {
            return Err(Failure::usage(format!("there is no file {}", program.display())));
        }
        let folder = match (store, program) {
            (Some(folder), _) => folder.to_owned(),
            (None, Some(program)) => store_of(program),
            (None, None) => store_here(),
        };
        let Some(store) = Store::find(&folder).map_err(failed)? else {
            return Err(Failure::usage(format!("there is no store at {}", folder.display()))
                .help("name the program whose runs are meant (`pipe runs FILE`, else `--of FILE`), or its store with `--store DIR`"));
        };
        Ok(Self { store, program: program.map(absolute) })
    }

    /// The same for a command that takes `--of` and `--store`.
    pub(crate) fn of(place: &RecordArgs) -> Result<Self, Failure> {
        Self::open(place.store.as_deref(), place.of.as_deref())
    }

    /// The last runs, newest first.
    pub(crate) fn runs(&self, most: usize) -> Result<Vec<RunRow>, Failure> {
        let mut runs = match self.program {
            None => self.store.runs(most),
            Some(_) => self.store.runs(usize::MAX),
        }
        .map_err(failed)?;
        runs.retain(|run| self.is_meant(run));
        runs.truncate(most);
        Ok(runs)
    }

    fn is_meant(&self, run: &RunRow) -> bool {
        let Some(program) = &self.program else { return true };
        let file = Path::new(&run.file);
        let whole = run.folder.as_ref().map(|folder| Path::new(folder).join(file));
        absolute(whole.as_deref().unwrap_or(file)) == *program
    }

    /// The run that is meant.
    pub(crate) fn run(&self, wanted: &str) -> Result<RunSeen, Failure> {
        let ids: Vec<i64> = self.runs(usize::MAX)?.iter().map(|run| run.run).collect();
        let id = choose(wanted, &ids)?;
        let seen = self.store.run_seen(id).map_err(failed)?;
        seen.ok_or_else(|| Failure::usage(format!("run {id} was removed just now")))
    }
}

/// Which of the runs, the newest first, is meant.
fn choose(wanted: &str, ids: &[i64]) -> Result<i64, Failure> {
    let named = |ids: &[i64]| ids.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let Some(newest) = ids.first() else {
        return Err(Failure::usage("there are no runs yet").help("`pipe run FILE` makes one"));
    };
    if let Some(back) = wanted.strip_prefix("last") {
        let back: Option<usize> = if back.is_empty() {
            Some(0)
        } else {
            back.strip_prefix('~').and_then(|n| n.parse().ok())
        };
        return match back.map(|back| ids.get(back)) {
            Some(Some(id)) => Ok(*id),
            Some(None) => Err(Failure::usage(format!(
                "there is no `{wanted}`: the record has only {}",
                if ids.len() == 1 { "1 run".to_owned() } else { format!("{} runs", ids.len()) }
            ))
            .help(format!("the oldest is {}", ids.last().unwrap_or(newest)))),
            None => Err(unknown(wanted)),
        };
    }
    let Ok(number) = wanted.parse::<i64>() else { return Err(unknown(wanted)) };
    if ids.contains(&number) {
        return Ok(number);
    }
    let begun: Vec<i64> =
        ids.iter().copied().filter(|id| id.to_string().starts_with(wanted)).collect();
    match begun.as_slice() {
        [one] => Ok(*one),
        [] => {
            let mut near = ids.to_vec();
            near.sort_by_key(|id| (id.abs_diff(number), *id));
            near.truncate(NEAR);
            Err(Failure::usage(format!("there is no run {number}"))
                .help(format!("near are {}; the last is {newest}", named(&near))))
        }
        several => Err(Failure::usage(format!("`{wanted}` is the beginning of several runs"))
            .help(format!("they are {}", named(several.get(..8).unwrap_or(several))))),
    }
}

fn unknown(wanted: &str) -> Failure {
    Failure::usage(format!("`{wanted}` names no run"))
        .help("a run is named by its number, `last`, or `last~1` for the one before")
}

#[cfg(test)]
mod tests {
    use super::choose;

    #[test]
    fn runs_are_named_in_several_ways() {
        let ids = [31, 30, 29, 12, 2];
        let found =
            |wanted| choose(wanted, &ids).map_err(|failure| (failure.message, failure.help));
        assert_eq!(found("last"), Ok(31));
        assert_eq!(found("last~1"), Ok(30));
        assert_eq!(found("2"), Ok(2), "a whole number wins");
        assert_eq!(found("1"), Ok(12), "the only one that begins so");
        let (message, help) = found("3").unwrap_err();
        assert_eq!(message, "`3` is the beginning of several runs");
        assert_eq!(help.as_deref(), Some("they are 31, 30"));
        let (message, help) = found("33").unwrap_err();
        assert_eq!(message, "there is no run 33");
        assert_eq!(help.as_deref(), Some("near are 31, 30, 29; the last is 31"));
        assert!(found("last~5").unwrap_err().0.contains("only 5 runs"));
        assert!(found("lately").is_err() && found("x").is_err());
        assert!(choose("last", &[]).is_err());
    }
}
