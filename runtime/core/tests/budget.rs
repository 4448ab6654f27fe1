//! A store under a budget: what leaves, what never does, and that what has left is only computed again.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

mod support;

use pipe_compiler::plan::Arg;
use pipe_runtime::Registry;
use pipe_runtime::states::{Expected, states};
use pipe_runtime::store::{Entry, Leaving, Store, Why};
use pipe_runtime::value::Value;
use std::collections::BTreeSet;
use std::fs;
use support::{Counter, Place, PlanBuilder, body, hundreds, list, registry, slot, text};

/// Outputs are the lengths of texts: the texts may leave, and `kept` is an output itself.
fn texts(sizes: &[usize], kept: Option<usize>) -> PlanBuilder {
    let mut plan = PlanBuilder::new();
    let make = |plan: &mut PlanBuilder, name: &str, letter: usize, size: usize| {
        let letter = char::from(b'a' + u8::try_from(letter).unwrap()).to_string();
        plan.node(name, "text", &[("content", text(&letter.repeat(size)))])
    };
    for (at, size) in sizes.iter().enumerate() {
        let node = make(&mut plan, &format!("text{at}"), at, *size);
        let length = plan.node(&format!("length{at}"), "length", &[("of", node)]);
        plan.output(&format!("length{at}"), length);
    }
    if let Some(size) = kept {
        let node = make(&mut plan, "kept", 25, size);
        plan.output("kept", node);
    }
    plan
}

/// Say that a node's result took this long.
fn suppose(place: &Place, node: &str, seconds: f64) {
    let db = rusqlite::Connection::open(place.store_path().join("store.db")).unwrap();
    let changed = db
        .execute(
            "UPDATE costs SET seconds = ?2 WHERE action_key IN (SELECT action_key FROM nodes WHERE name = ?1)",
            rusqlite::params![node, seconds],
        )
        .unwrap();
    assert_eq!(changed, 1, "{node}");
}

fn entry(store: &Store, node: &str) -> Entry {
    let entries = store.list().unwrap();
    entries.into_iter().find(|entry| entry.node.as_deref() == Some(node)).unwrap()
}

fn names(leaving: &[Leaving]) -> Vec<&str> {
    leaving.iter().map(|leaving| leaving.node.as_deref().unwrap()).collect()
}

#[test]
fn the_least_value_per_byte_leaves_first_and_outputs_stay() {
    let (place, counter) = (Place::new(), Counter::default());
    let registry = registry(&counter);
    let plan = texts(&[1000, 1000, 4000], Some(1000));
    place.run(&plan.0, &registry);
    for (node, seconds) in [("text0", 2.0), ("text1", 1.0), ("text2", 3.0), ("kept", 0.001)] {
        suppose(&place, node, seconds);
    }
    let mut store = place.store();
    let orphan = store.folder().join("blobs/ab");
    fs::create_dir_all(&orphan).unwrap();
    fs::write(orphan.join("c".repeat(62)), "left by a killed process").unwrap();
    assert_eq!(store.verify().unwrap().orphans.len(), 1);
    let would = store.select(Some(2500)).unwrap();
    assert_eq!(names(&would.leaving), ["text2", "text1"], "0.75, 1 and 2 ms per byte");
    assert_eq!(would.left, 2000);
    assert!(
        matches!(would.leaving[1].why, Why::LeastValue { recompute, .. } if recompute == 1.0),
        "{would:?}"
    );
    assert_eq!(store.list().unwrap().len(), 7, "asking removes nothing");
    let cleaned = store.clean(Some(2500)).unwrap();
    assert_eq!(cleaned.leaving, would.leaving);
    assert_eq!((cleaned.left, cleaned.blobs), (2000, 3));
    assert!(store.verify().unwrap().is_clean());
    let found = states(&plan.0, &store, &Registry::new()).unwrap().planned;
    assert!(found.iter().all(|status| status.state == Expected::Cached), "{found:?}");
    // Not even a budget of nothing takes what an output comes from.
    let cleaned = store.clean(Some(0)).unwrap();
    assert_eq!((names(&cleaned.leaving), cleaned.left), (vec!["text0"], 1000));
    assert_eq!(store.select(Some(0)).unwrap().leaving, []);
    drop(store);
    let ran = place.run(&plan.0, &registry);
    assert_eq!(ran.summary.ran, 0, "nobody needs the texts while their lengths are there");
}

#[test]
fn what_has_left_is_computed_again_under_the_same_keys() {
    let (place, counter) = (Place::new(), Counter::default());
    let registry = registry(&counter);
    let plan = texts(&[1000, 2000, 3000], None);
    place.run(&plan.0, &registry);
    let key = entry(&place.store(), "text1").action_key;
    assert_eq!(place.store().clean(Some(0)).unwrap().leaving.len(), 3);
    assert_eq!(place.store().blobs().list().unwrap(), [""; 0]);
    let mut longer = texts(&[1000, 2000, 3000], None);
    let text1 = Arg::Input(pipe_compiler::plan::Input {
        node: pipe_compiler::plan::NodeId(2),
        path: Vec::new(),
    });
    longer.output("whole", text1);
    let ran = place.run(&longer.0, &registry);
    assert_eq!((ran.summary.ran, counter.get()), (1, 7), "{:?}", ran.states());
    let store = place.store();
    assert_eq!(entry(&store, "text1").action_key, key);
    assert!(store.verify().unwrap().is_clean());
    assert_eq!(fs::read_to_string(place.out().join("whole.txt")).unwrap(), "b".repeat(2000));
}

#[test]
fn what_is_made_from_gone_results_is_dearer() {
    let (place, counter) = (Place::new(), Counter::default());
    let mut registry = registry(&counter);
    registry.register(support::op("shout", |args, context| {
        let text = fs::read_to_string(context.path(args.artifact("of")?)?).unwrap();
        let path = context.scratch("text")?;
        fs::write(&path, text.to_uppercase()).unwrap();
        Ok(Value::Artifact(context.adopt(&path, "text", "txt", Default::default())?))
    }));
    let mut plan = PlanBuilder::new();
    let first = plan.node("first", "text", &[("content", text(&"x".repeat(1000)))]);
    let second = plan.node("second", "shout", &[("of", first)]);
    let length = plan.node("length", "length", &[("of", second)]);
    plan.output("length", length);
    place.run(&plan.0, &registry);
    for (node, seconds) in [("first", 5.0), ("second", 7.0), ("length", 1.0)] {
        suppose(&place, node, seconds);
    }
    let mut store = place.store();
    let again = |store: &Store, node: &str| entry(store, node).recompute;
    assert_eq!((again(&store, "first"), again(&store, "second")), (5.0, 7.0));
    assert_eq!(names(&store.clean(Some(1000)).unwrap().leaving), ["first"]);
    assert_eq!((again(&store, "second"), again(&store, "length")), (12.0, 1.0));
    // The facts about what has left stay while something is made from it.
    assert_eq!(names(&store.clean(Some(0)).unwrap().leaving), ["second"]);
    assert_eq!(again(&store, "length"), 13.0);
}

#[test]
fn pinned_results_stay() {
    let (place, counter) = (Place::new(), Counter::default());
    let plan = texts(&[1000, 1000], None);
    place.run(&plan.0, &registry(&counter));
    let mut store = place.store();
    let found = store.meant("text1").unwrap();
    let key = entry(&store, "text1").action_key;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].action_key, key);
    assert_eq!(store.meant(&key[..10]).unwrap()[0].action_key, key);
    assert_eq!(store.meant("text9").unwrap(), []);
    assert!(store.pin(&key).unwrap());
    assert!(!store.pin(&key).unwrap(), "it is pinned already");
    assert!(entry(&store, "text1").pinned);
    assert_eq!(names(&store.clean(Some(0)).unwrap().leaving), ["text0"]);
    assert_eq!(store.clean(Some(0)).unwrap().left, 1000);
    assert!(store.unpin(&key).unwrap());
    assert!(!store.unpin(&key).unwrap());
    assert_eq!(names(&store.clean(Some(0)).unwrap().leaving), ["text1"]);
}

#[test]
fn what_is_larger_than_the_budget_leaves_first_whatever_it_took() {
    let (place, counter) = (Place::new(), Counter::default());
    place.run(&texts(&[5000, 100, 100], None).0, &registry(&counter));
    suppose(&place, "text0", 1e6);
    let store = place.store();
    let would = store.select(Some(4000)).unwrap();
    assert_eq!(names(&would.leaving), ["text0"]);
    assert_eq!(would.leaving[0].why, Why::TooLarge);
}

#[test]
fn records_whose_content_is_missing_leave_also_without_a_budget() {
    let (place, counter) = (Place::new(), Counter::default());
    let plan = texts(&[1000, 1000], None);
    place.run(&plan.0, &registry(&counter));
    let mut store = place.store();
    let digest = store.blobs().list().unwrap().remove(0);
    fs::remove_file(store.blobs().path(&digest)).unwrap();
    assert_eq!(store.verify().unwrap().faults.len(), 1);
    let cleaned = store.clean(None).unwrap();
    assert_eq!(cleaned.leaving.len(), 1);
    assert_eq!(cleaned.leaving[0].why, Why::Lost);
    assert!(store.verify().unwrap().is_clean());
}

#[test]
fn hits_count_for_a_result_and_fade() {
    let (place, counter) = (Place::new(), Counter::default());
    let registry = registry(&counter);
    let plan = texts(&[1000, 1000], None);
    place.run(&plan.0, &registry);
    assert_eq!(entry(&place.store(), "length0").hits, 0.0);
    place.run(&plan.0, &registry);
    place.run(&plan.0, &registry);
    let hits = entry(&place.store(), "length0").hits;
    assert!((1.95..2.0).contains(&hits), "{hits}");
    assert_eq!(entry(&place.store(), "text0").hits, 0.0, "nobody asked for it");
    let other = texts(&[10], None);
    (0..32).for_each(|_| drop(place.run(&other.0, &registry)));
    let faded = entry(&place.store(), "length1").hits;
    assert!((faded - hits / 2.0).abs() < 1e-9, "{faded} after 32 runs, {hits} before");
}

#[test]
fn elements_of_a_loop_are_parents_of_the_list_and_share_its_content() {
    let (place, counter) = (Place::new(), Counter::default());
    let registry = registry(&counter);
    let mut plan = PlanBuilder::new();
    let words = ["a", "b", "c"].map(|letter| text(&letter.repeat(1000)));
    let words = plan.node("words", "list", &[("of", list(words))]);
    let make = body(&["word"], |inside| inside.node("", "text", &[("content", slot(0))]));
    let all =
        plan.node("all", "flow.each", &[("list", words), ("body", make), ("captures", list([]))]);
    let count = plan.node("count", "list", &[("of", list([all]))]);
    plan.output("count", count);
    place.run(&plan.0, &registry);
    let store = place.store();
    assert_eq!(entry(&store, "all").bytes, 3000);
    assert_eq!(store.select(Some(1 << 20)).unwrap().left, 3000, "each content counts once");
    let elements: Vec<String> = (0..3).map(|at| ["a", "b", "c"][at].repeat(1000)).collect();
    assert_eq!(elements.len(), 3);
    let facts: Vec<Entry> = store.list().unwrap();
    let of_loop: Vec<&Entry> = facts.iter().filter(|entry| entry.op == "text").collect();
    assert_eq!(of_loop.len(), 3);
    drop(store);
    for entry in &of_loop {
        suppose(&place, entry.node.as_deref().unwrap(), 4.0);
    }
    // The output `count` holds the same three contents, so nothing of them may leave.
    assert_eq!(place.store().select(Some(0)).unwrap().leaving, []);
}

/// Make the store one of the first format, with all that such a one can hold.
fn as_first_format(place: &Place) {
    let (now, old) = (place.store_path().join("store.db"), place.store_path().join("old.db"));
    let db = rusqlite::Connection::open(&old).unwrap();
    db.execute_batch(include_str!("../src/store/schema.sql")).unwrap();
    db.pragma_update(None, "user_version", 1).unwrap();
    db.pragma_update(None, "journal_mode", "WAL").unwrap();
    db.execute("ATTACH ? AS now", [now.to_str().unwrap()]).unwrap();
    let texts = |query: &str| -> Vec<String> {
        let mut query = db.prepare(query).unwrap();
        let rows = query.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let tables = texts(
        "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    );
    assert!(tables.len() >= 8, "{tables:?}");
    db.execute_batch("PRAGMA foreign_keys = OFF;").unwrap();
    for table in tables {
        let columns = texts(&format!("SELECT name FROM pragma_table_info('{table}')")).join(", ");
        db.execute_batch(&format!(
            "INSERT INTO main.{table} ({columns}) SELECT {columns} FROM now.{table};"
        ))
        .unwrap();
    }
    db.execute_batch("DETACH now;").unwrap();
    drop(db);
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(place.store_path().join(format!("store.db{end}")));
    }
    fs::rename(&old, &now).unwrap();
}

#[test]
fn a_store_of_the_first_format_is_brought_up_with_what_it_knows() {
    let (place, counter) = (Place::new(), Counter::default());
    let registry = registry(&counter);
    let plan = texts(&[1000, 2000], None);
    place.run(&plan.0, &registry);
    place.run(&hundreds(&[1, 2]).0, &registry);
    let told = |store: &Store| -> BTreeSet<(String, u64, bool)> {
        let entries = store.list().unwrap().into_iter();
        entries.map(|entry| (entry.action_key, entry.bytes, entry.recompute > 0.0)).collect()
    };
    let before = told(&place.store());
    let parents = || -> BTreeSet<(String, String)> {
        let db = rusqlite::Connection::open(place.store_path().join("store.db")).unwrap();
        let mut query = db.prepare("SELECT op, parents FROM costs").unwrap();
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let known = parents();
    as_first_format(&place);
    assert_eq!(told(&place.store()), before);
    let lengths = |rows: BTreeSet<(String, String)>| -> BTreeSet<(String, String)> {
        rows.into_iter().filter(|(op, _)| op == "length").collect()
    };
    assert_eq!(lengths(parents()), lengths(known));
    let ran = place.run(&plan.0, &registry);
    assert_eq!(ran.summary.ran, 0);
    assert!(place.store().verify().unwrap().is_clean());
}

#[test]
fn the_parents_of_a_result_are_what_it_read() {
    let (place, counter) = (Place::new(), Counter::default());
    let plan = texts(&[10], None);
    place.run(&plan.0, &registry(&counter));
    let store = place.store();
    let (text, length) = (entry(&store, "text0"), entry(&store, "length0"));
    let db = rusqlite::Connection::open(place.store_path().join("store.db")).unwrap();
    let parents: String = db
        .query_row("SELECT parents FROM costs WHERE action_key = ?", [&length.action_key], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(parents, text.action_key);
}

#[test]
fn cleaning_between_runs_changes_no_output() {
    let mut seed = 7_u64;
    let mut below = |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    for _ in 0..6 {
        let (place, counter) = (Place::new(), Counter::default());
        let registry = registry(&counter);
        for _ in 0..8 {
            let sizes: Vec<usize> = (0..3).map(|_| [100, 1000, 5000][below(3) as usize]).collect();
            let kept = [50, 2000][below(2) as usize];
            assert_eq!(place.run(&texts(&sizes, Some(kept)).0, &registry).summary.failed, 0);
            for (at, size) in sizes.iter().enumerate() {
                let file = place.out().join(format!("length{at}.json"));
                assert_eq!(fs::read_to_string(file).unwrap().trim(), size.to_string());
            }
            let whole = fs::read_to_string(place.out().join("kept.txt")).unwrap();
            assert_eq!(whole, "z".repeat(kept));
            let budget = below(8000);
            let mut store = place.store();
            let left = store.clean(Some(budget)).unwrap().left;
            assert!(left <= budget || left == kept as u64, "{left} under {budget}");
            assert_eq!(store.select(Some(budget)).unwrap().leaving, []);
            let found = store.verify().unwrap();
            assert!(found.is_clean() && found.orphans.is_empty(), "{found:?}");
        }
    }
}
