//! `pipe store ls|verify|gc|pin|unpin`.

use super::run::failed;
use super::{Failure, Outcome, exit};
use crate::args::StoreAction;
use crate::project::store_here;
use crate::render::style::{Look, count, cut, cut_name, pad, seconds};
use pipe_runtime::Store;
use pipe_runtime::shown::bytes;
use pipe_runtime::store::{Entry, Leaving, Pin, Why};
use serde_json::json;
use std::path::Path;

/// Do `action` on the store at `folder`, else on the one of this folder.
pub(crate) fn store(action: &StoreAction, folder: Option<&Path>, look: &Look) -> Outcome {
    let folder = folder.map_or_else(store_here, Path::to_owned);
    let Some(mut store) = Store::find(&folder).map_err(failed)? else {
        return Err(Failure::usage(format!("there is no store at {}", folder.display()))
            .help("name one with `--store DIR`, or run this in the project's folder"));
    };
    match action {
        StoreAction::Ls { json: true } => list_json(&store),
        StoreAction::Ls { json: false } => list(&store, look),
        StoreAction::Verify => verify(&store, look),
        StoreAction::Gc { budget, dry_run: true } => would_clean(&store, budget, look),
        StoreAction::Gc { budget, dry_run: false } => clean(&mut store, budget),
        StoreAction::Pin { result } => pin(&store, result),
        StoreAction::Unpin { result } => unpin(&store, result),
        StoreAction::Forget { result } => forget(&store, result),
    }
}

fn list(store: &Store, look: &Look) -> Outcome {
    let entries = store.list().map_err(failed)?;
    let widest = widest(entries.iter().map(name_of));
    for entry in &entries {
        println!(
            "{}  {}  {:>9}  {:>14}  {:>7}  {:<6}  {}",
            short(&entry.action_key),
            pad(&cut_name(name_of(entry), widest), widest),
            bytes(entry.bytes),
            format!("{} again", seconds(entry.recompute)),
            count(entry.hits.round() as usize, "hit"),
            stays(entry),
            cut(&entry.shown, look.width.saturating_sub(widest + 58)),
        );
    }
    let total = store.select(None).map_err(failed)?.left;
    eprintln!(
        "{} in {}, {}",
        count(entries.len(), "result"),
        store.folder().display(),
        bytes(total)
    );
    Ok(exit::OK)
}

fn list_json(store: &Store) -> Outcome {
    let each = |entry: Entry| {
        json!({
            "key": entry.action_key,
            "node": entry.node,
            "op": entry.op,
            "bytes": entry.bytes,
            "seconds": entry.seconds,
            "recompute_seconds": entry.recompute,
            "hits": entry.hits,
            "pinned": entry.pinned,
            "output": entry.output,
            "shown": entry.shown,
        })
    };
    let list: Vec<_> = store.list().map_err(failed)?.into_iter().map(each).collect();
    println!("{:#}", json!(list));
    Ok(exit::OK)
}

fn name_of(entry: &Entry) -> &str {
    entry.node.as_deref().unwrap_or(&entry.op)
}

fn widest<'n>(names: impl Iterator<Item = &'n str>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or(0).min(32)
}

fn short(key: &str) -> &str {
    key.get(..8).unwrap_or(key)
}

fn stays(entry: &Entry) -> &'static str {
    match (entry.pinned, entry.output) {
        (true, _) => "pinned",
        (false, true) => "output",
        (false, false) => "",
    }
}

fn verify(store: &Store, look: &Look) -> Outcome {
    let found = store.verify().map_err(failed)?;
    for fault in &found.faults {
        println!("{}  result {}  blob {}", fault.what, fault.action_key, fault.digest);
    }
    if let Some(said) = &found.database {
        println!("the database says: {said}");
    }
    let orphans = match found.orphans.len() {
        0 => String::new(),
        number => format!(
            ", {} that no record names (`pipe store gc` removes them)",
            count(number, "blob")
        ),
    };
    let end = if found.is_clean() { look.good("clean") } else { look.bad("damaged") };
    eprintln!(
        "{}: {end}: {}, {}, {}{orphans}",
        store.folder().display(),
        count(found.results, "result"),
        count(found.blobs, "blob"),
        bytes(found.bytes),
    );
    if found.is_clean() {
        return Ok(exit::OK);
    }
    eprintln!("what is damaged is computed again when it is needed");
    Ok(exit::FAILED)
}

fn clean(store: &mut Store, budget: &str) -> Outcome {
    let limit = limit(budget)?;
    let done = store.clean(Some(limit)).map_err(failed)?;
    eprintln!(
        "removed {} and {}, {} freed, {} left",
        count(done.leaving.len(), "result"),
        count(done.blobs, "blob"),
        bytes(done.freed),
        bytes(done.left),
    );
    tell_excess(done.left, limit);
    Ok(exit::OK)
}

fn would_clean(store: &Store, budget: &str, look: &Look) -> Outcome {
    let limit = limit(budget)?;
    let selection = store.select(Some(limit)).map_err(failed)?;
    let name = |leaving: &Leaving| leaving.node.clone().unwrap_or_else(|| leaving.op.clone());
    let names: Vec<String> = selection.leaving.iter().map(name).collect();
    let widest = widest(names.iter().map(String::as_str));
    for (leaving, name) in selection.leaving.iter().zip(&names) {
        println!(
            "{}  {}  {:>9}  {}",
            short(&leaving.action_key),
            pad(&cut_name(name, widest), widest),
            bytes(leaving.bytes),
            cut(&why(&leaving.why), look.width.saturating_sub(widest + 23)),
        );
    }
    eprintln!(
        "would remove {}, {} would be left; nothing was removed",
        count(selection.leaving.len(), "result"),
        bytes(selection.left)
    );
    tell_excess(selection.left, limit);
    Ok(exit::OK)
}

fn why(why: &Why) -> String {
    match why {
        Why::Lost => "its content is missing".to_owned(),
        Why::TooLarge => "larger than the whole budget".to_owned(),
        Why::LeastValue { recompute, reuse } => format!(
            "least value per byte: {} to compute again, {reuse:.1} uses expected",
            seconds(*recompute)
        ),
    }
}

fn tell_excess(left: u64, limit: u64) {
    if left > limit {
        eprintln!(
            "that is {} more than the budget: pinned results and those that outputs come from stay",
            bytes(left - limit)
        );
    }
}

fn limit(budget: &str) -> Result<u64, Failure> {
    size(budget).ok_or_else(|| {
        Failure::usage(format!("`{budget}` is not a size")).help("write it as 500MB or 20GiB")
    })
}

fn pin(store: &Store, name: &str) -> Outcome {
    let pin = meant(store, name)?;
    let new = store.pin(&pin.action_key).map_err(failed)?;
    eprintln!("{} {}", if new { "pinned" } else { "was pinned already:" }, called(&pin));
    Ok(exit::OK)
}

fn forget(store: &Store, name: &str) -> Outcome {
    let pin = meant(store, name)?;
    store.forget(&pin.action_key).map_err(failed)?;
    eprintln!("forgotten {}", called(&pin));
    Ok(exit::OK)
}

fn unpin(store: &Store, name: &str) -> Outcome {
    let pin = meant(store, name)?;
    let was = store.unpin(&pin.action_key).map_err(failed)?;
    eprintln!("{} {}", if was { "unpinned" } else { "was not pinned:" }, called(&pin));
    Ok(exit::OK)
}

/// The one stored result that a name on the command line means.
fn meant(store: &Store, name: &str) -> Result<Pin, Failure> {
    let mut found = store.meant(name).map_err(failed)?;
    match (found.pop(), found.is_empty()) {
        (Some(pin), true) => Ok(pin),
        (None, _) => Err(Failure::usage(format!("no stored result is called `{name}`")).help(
            "`pipe store ls` lists them: give a key of its first column, or the name of a node",
        )),
        (Some(last), false) => {
            found.push(last);
            let each: Vec<String> = found.iter().take(4).map(called).collect();
            Err(Failure::usage(format!(
                "`{name}` may mean {} results: {}{}",
                found.len(),
                each.join(", "),
                if found.len() > 4 { ", .." } else { "" }
            ))
            .help("give more letters of the key of the one that is meant"))
        }
    }
}

fn called(pin: &Pin) -> String {
    let key = short(&pin.action_key);
    match (&pin.node, &pin.file) {
        (Some(node), Some(file)) => format!("{key} ({node} of {file})"),
        (Some(node), None) => format!("{key} ({node})"),
        (None, _) => key.to_owned(),
    }
}

/// `20GiB` in bytes.
fn size(text: &str) -> Option<u64> {
    let split =
        text.find(|letter: char| !letter.is_ascii_digit() && letter != '.' && letter != '_')?;
    let (number, unit) = text.split_at(split);
    let factor: f64 = match unit.trim() {
        "B" => 1.0,
        "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        "TiB" => 1_099_511_627_776.0,
        _ => return None,
    };
    let number: f64 = number.replace('_', "").parse().ok()?;
    Some((number * factor) as u64)
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes() {
        assert_eq!(
            (size("1.5KiB"), size("20GiB"), size("0B")),
            (Some(1536), Some(20 << 30), Some(0))
        );
        assert_eq!((size("20"), size("GiB"), size("2 parsecs")), (None, None, None));
    }
}
