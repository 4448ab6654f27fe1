//! `pipe store ls|verify|gc`.

use super::run::failed;
use super::{Failure, Outcome, exit};
use crate::args::StoreAction;
use crate::project::store_here;
use crate::render::style::{Look, count, cut, pad, seconds};
use pipe_runtime::Store;
use pipe_runtime::shown::bytes;
use std::path::Path;

/// Do `action` on the store at `folder`, else on the one of this folder.
pub(crate) fn store(action: &StoreAction, folder: Option<&Path>, look: &Look) -> Outcome {
    let folder = folder.map_or_else(store_here, Path::to_owned);
    let Some(mut store) = Store::find(&folder).map_err(failed)? else {
        return Err(Failure::usage(format!("there is no store at {}", folder.display()))
            .help("name one with `--store DIR`, or run this in the project's folder"));
    };
    match action {
        StoreAction::Ls => list(&store, look),
        StoreAction::Verify => verify(&store, look),
        StoreAction::Gc { budget } => clean(&mut store, budget),
    }
}

fn list(store: &Store, look: &Look) -> Outcome {
    let entries = store.list().map_err(failed)?;
    let names: Vec<&str> =
        entries.iter().map(|entry| entry.node.as_deref().unwrap_or(&entry.op)).collect();
    let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(32);
    let mut total = 0;
    for (entry, name) in entries.iter().zip(&names) {
        total += entry.bytes;
        let key = entry.action_key.get(..8).unwrap_or(&entry.action_key);
        println!(
            "{key}  {}  {:>8}  {:>8}  {}",
            pad(&cut(name, widest), widest),
            bytes(entry.bytes),
            seconds(entry.seconds),
            cut(&entry.shown, look.width.saturating_sub(widest + 32)),
        );
    }
    eprintln!(
        "{} in {}, {}",
        count(entries.len(), "result"),
        store.folder().display(),
        bytes(total)
    );
    Ok(exit::OK)
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
    let Some(limit) = size(budget) else {
        return Err(
            Failure::usage(format!("`{budget}` is not a size")).help("write it as 500MB or 20GiB")
        );
    };
    let done = store.clean(Some(limit)).map_err(failed)?;
    eprintln!(
        "removed {} and {}, {} freed, {} left",
        count(done.results, "result"),
        count(done.blobs, "blob"),
        bytes(done.freed),
        bytes(done.left),
    );
    Ok(exit::OK)
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
