//! The store: bad places, full disks, cleaning, damage.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use pipe_compiler::plan::Arg;
use pipe_compiler::value::Const;
use pipe_runtime::states::{Expected, states, why};
use pipe_runtime::value::Value;
use pipe_runtime::{Registry, Store};
use std::fs;
use std::process::Command;
use support::{Counter, Place, PlanBuilder, int, op, registry, text};

fn texts(words: &[&str]) -> PlanBuilder {
    let mut plan = PlanBuilder::new();
    for (at, word) in words.iter().enumerate() {
        let node = plan.node(&format!("text{at}"), "text", &[("content", text(word))]);
        let length = plan.node(&format!("length{at}"), "length", &[("of", node)]);
        plan.output(&format!("length{at}"), length);
    }
    plan
}

#[test]
fn a_file_in_the_stores_place_is_an_error() {
    let place = Place::new();
    fs::write(place.store_path(), "").unwrap();
    let Err(error) = Store::open(&place.store_path()) else { panic!("opened") };
    assert_eq!(error.code, "store::not_a_folder");
    assert!(error.help.unwrap().contains("PIPE_STORE"));
}

#[test]
fn a_later_format_is_refused_and_left_alone() {
    let place = Place::new();
    drop(place.store());
    let file = place.store_path().join("store.db");
    let db = rusqlite::Connection::open(&file).unwrap();
    db.pragma_update(None, "user_version", 7).unwrap();
    drop(db);
    let Err(error) = Store::open(&place.store_path()) else { panic!("opened") };
    assert_eq!(error.code, "store::format");
    assert!(error.message.contains("format 7"), "{error}");
}

#[test]
fn a_store_of_an_earlier_format_is_brought_up() {
    let place = Place::new();
    drop(place.store());
    let file = place.store_path().join("store.db");
    for end in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(place.store_path().join(format!("store.db{end}")));
    }
    let db = rusqlite::Connection::open(&file).unwrap();
    db.pragma_update(None, "journal_mode", "WAL").unwrap();
    db.execute_batch(include_str!("../src/store/schema.sql")).unwrap();
    db.pragma_update(None, "user_version", 1).unwrap();
    let run = "INSERT INTO runs (file, params, started, seconds, state, ran) VALUES ('a.pipe', '{}', 1, 2.5, 'done', 3)";
    db.execute(run, []).unwrap();
    drop(db);
    let runs = place.store().runs(5).unwrap();
    assert_eq!((runs[0].ran, runs[0].seconds, runs[0].exit_code), (3, Some(2.5), None));
    let seen = place.store().run_seen(1).unwrap().unwrap();
    assert_eq!((seen.git, seen.about), (None, pipe_runtime::store::About::default()));
    let plan = texts(&["one"]);
    assert_eq!(place.run(&plan.0, &registry(&Counter::default())).summary.exit_code(), 0);
    assert_eq!(place.store().runs(5).unwrap()[0].exit_code, Some(0));
}

/// What a run was asked for and what came of it can be looked up later.
#[test]
fn a_run_is_on_record() {
    let place = Place::new();
    let plan = texts(&["one", "three"]);
    let about = pipe_runtime::store::About {
        command: vec!["pipe".to_owned(), "run".to_owned()],
        user: Some("ada".to_owned()),
        ..Default::default()
    };
    let options = pipe_runtime::RunOptions { about: about.clone(), ..place.options() };
    let _ = place.run_with(&plan.0, &registry(&Counter::default()), &options);
    let store = place.store();
    let git = pipe_runtime::store::Git { commit: Some("3f2a".to_owned()), ..Default::default() };
    store.complete_run(1, Some(&git), Some(1 << 20)).unwrap();
    let seen = store.run_seen(1).unwrap().unwrap();
    assert_eq!((seen.about, seen.git, seen.peak_bytes), (about, Some(git), Some(1 << 20)));
    let nodes = store.nodes_seen(1).unwrap();
    let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["length0", "length1", "text0", "text1"]);
    assert!(nodes.iter().all(|node| node.state == "ran" && node.fields.is_some()));
    let roots = store.roots_seen(1).unwrap();
    assert_eq!(roots.numbers.get("length1"), Some(&5.0));
    assert_eq!(
        roots.rows.iter().map(|root| root.reads.join(",")).collect::<Vec<_>>(),
        ["length0", "length1"]
    );
    assert_eq!(store.last_run_with("text0").unwrap(), Some(1));
    assert_eq!(store.last_run_with("nobody").unwrap(), None);
}

#[test]
fn a_damaged_database_says_so() {
    let place = Place::new();
    drop(place.store());
    fs::write(place.store_path().join("store.db"), "not a database, certainly not one".repeat(40))
        .unwrap();
    let Err(error) = Store::open(&place.store_path()) else { panic!("opened") };
    assert_eq!(error.code, "store::damaged");
}

#[test]
fn no_store_is_made_by_looking() {
    let place = Place::new();
    assert!(Store::find(&place.store_path()).unwrap().is_none());
    assert!(!place.store_path().exists());
    let plan = texts(&["a"]).0;
    let found = states(&plan, &Store::empty().unwrap(), &Registry::new()).unwrap().planned;
    assert!(found.iter().all(|status| status.state == Expected::Run && status.why == "first run"));
}

#[test]
fn large_values_lie_in_blobs() {
    let place = Place::new();
    let mut registry = Registry::new();
    let counter = Counter::default();
    let ran = counter.clone();
    registry.register(op("long", move |_, _| {
        ran.add();
        Ok(Value::Str("long ".repeat(2000)))
    }));
    let mut plan = PlanBuilder::new();
    let node = plan.node("long", "long", &[]);
    plan.output("long", node);
    place.run(&plan.0, &registry);
    place.run(&plan.0, &registry);
    assert_eq!(counter.get(), 1);
    let store = place.store();
    let blobs = store.blobs().list().unwrap();
    assert_eq!(blobs.len(), 1);
    fs::remove_file(store.blobs().path(&blobs[0])).unwrap();
    drop(store);
    place.run(&plan.0, &registry);
    assert_eq!(counter.get(), 2, "a lost value is computed again");
}

#[test]
fn cleaning_waits_for_runs() {
    let place = Place::new();
    let other = place.store();
    let mut store = place.store();
    assert_eq!(store.clean(None).unwrap_err().code, "store::in_use");
    drop(other);
    store.clean(None).unwrap();
}

#[test]
fn rot_that_keeps_size_and_time_is_found_by_verify_and_mended_by_a_run() {
    let (place, counter) = (Place::new(), Counter::default());
    let registry = registry(&counter);
    let mut plan = PlanBuilder::new();
    let node = plan.node("words", "text", &[("content", text("words"))]);
    plan.output("words", node);
    place.run(&plan.0, &registry);
    let store = place.store();
    let path = store.blobs().path(&store.blobs().list().unwrap()[0]);
    let modified = path.metadata().unwrap().modified().unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, "wards").unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    let found = store.verify().unwrap();
    assert_eq!(found.faults.len(), 1);
    assert_eq!(found.faults[0].what, "its content has changed");
    drop(store);
    assert_eq!(place.run(&plan.0, &registry).summary.ran, 1);
    assert!(place.store().verify().unwrap().is_clean());
}

#[test]
fn states_and_reasons_follow_the_change() {
    let (place, counter) = (Place::new(), Counter::default());
    let registry = registry(&counter);
    let plan = |value: i64, more: i64| {
        let mut plan = PlanBuilder::new();
        let a = plan.node("a", "number", &[("value", int(value))]);
        let b = plan.node("b", "half", &[("of", a)]);
        let c = plan.node("c", "add", &[("a", b), ("b", int(more))]);
        let d = plan.node("d", "number", &[("value", int(3))]);
        let pair = Arg::List(vec![c, d]);
        plan.output("pair", pair);
        plan.0
    };
    place.run(&plan(10, 1), &registry);
    let store = place.store();
    let changed = plan(11, 2);
    let found = states(&changed, &store, &Registry::new()).unwrap().planned;
    let told: Vec<_> = found.iter().map(|status| (status.state, status.why.as_str())).collect();
    assert_eq!(told[0].0, Expected::Run);
    assert!(told[0].1.contains("`value` changed from 10 to 11 since run 1"), "{told:?}");
    assert_eq!(told[1], (Expected::Maybe, "input `a` will run"));
    assert_eq!(told[2].0, Expected::Run, "its own argument changed too");
    assert_eq!(told[3], (Expected::Cached, ""));
    let b = why(&changed, &store, &Registry::new(), "b").unwrap().unwrap();
    assert!(b.changes.is_empty());
    assert_eq!(b.inputs, ["a"]);
    assert_eq!(b.origins.len(), 1);
    assert_eq!(b.origins[0].0, "a");
    assert!(why(&changed, &store, &Registry::new(), "nope").unwrap().is_none());
    assert_eq!(counter.get(), 4, "looking runs nothing");
}

/// A tmpfs of one megabyte, unmounted at the end. Needs root.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
            .arg(folder.path())
            .output();
        mounted.is_ok_and(|output| output.status.success()).then(|| Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_is_told_and_the_store_stays_sound() {
    let Some(disk) = SmallDisk::new() else {
        eprintln!(
            "skipped a_full_disk_is_told_and_the_store_stays_sound: mounting a tmpfs needs root"
        );
        return;
    };
    let folder = disk.0.path().join(".pipe");
    let mut registry = Registry::new();
    registry.register(op("fill", |args, context| {
        let path = context.scratch("data")?;
        let size = usize::try_from(args.int("kilobytes")?).unwrap() * 1024;
        fs::write(&path, vec![7; size]).map_err(|error| {
            pipe_runtime::op::OpError::new(
                "run::disk",
                format!("{} cannot be written: {error}.", path.display()),
            )
        })?;
        Ok(Value::Artifact(context.adopt(&path, "data", "bin", Default::default())?))
    }));
    let plan = |kilobytes: i64| {
        let mut plan = PlanBuilder::new();
        let node = plan.node("data", "fill", &[("kilobytes", int(kilobytes))]);
        plan.output("data", node);
        plan.0
    };
    let mut store = Store::open(&folder).unwrap();
    let options = |out: &str| pipe_runtime::RunOptions::new(disk.0.path().join(out));
    let big = pipe_runtime::run(&plan(2000), &registry, &mut store, &options("out"), &mut |_| {})
        .unwrap();
    assert_eq!(big.failures.len(), 1);
    assert!(store.verify().unwrap().is_clean());
    // The result fits, its copy as an output does not.
    let fits =
        pipe_runtime::run(&plan(500), &registry, &mut store, &options("out"), &mut |_| {}).unwrap();
    assert_eq!((fits.ran, fits.failures.len()), (1, 1), "{fits:?}");
    assert_eq!(fits.failures[0].error.code, "output::full");
    assert!(store.verify().unwrap().is_clean());
    let filler = disk.0.path().join("filler");
    let _ = fs::write(&filler, vec![1; 1 << 20]);
    drop(store);
    let error = Store::open(&folder)
        .and_then(|mut store| {
            pipe_runtime::run(&plan(1), &registry, &mut store, &options("out"), &mut |_| {})
        })
        .map(|summary| summary.failures.first().map(|failure| failure.error.clone()));
    let error = match error {
        Err(error) => error,
        Ok(failure) => failure.expect("a run on a full disk fails"),
    };
    assert!(error.message.contains("No space") || error.message.contains("no space"), "{error:?}");
    fs::remove_file(&filler).unwrap();
    let mut store = Store::open(&folder).unwrap();
    let after =
        pipe_runtime::run(&plan(1), &registry, &mut store, &options("out"), &mut |_| {}).unwrap();
    assert_eq!(after.exit_code(), 0, "{after:?}");
    assert!(store.verify().unwrap().is_clean());
}

#[test]
fn a_read_only_disk_is_told() {
    let Some(disk) = SmallDisk::new() else {
        eprintln!("skipped a_read_only_disk_is_told: mounting a tmpfs needs root");
        return;
    };
    let remount = Command::new("mount").args(["-o", "remount,ro"]).arg(disk.0.path()).status();
    assert!(remount.unwrap().success());
    let Err(error) = Store::open(&disk.0.path().join(".pipe")) else { panic!("opened") };
    assert_eq!(error.code, "store::unwritable");
    assert!(error.help.unwrap().contains("PIPE_STORE"));
}

#[test]
fn params_and_curves_are_on_record() {
    let place = Place::new();
    let mut registry = Registry::new();
    registry.register(op("curve", |_, context| {
        for step in 0..3 {
            context.metric("loss", step, 1.0 / (1.0 + f64::from(u32::try_from(step).unwrap())));
        }
        context.metric("loss", 3, f64::NAN);
        Ok(Value::None)
    }));
    let mut plan = PlanBuilder::new();
    plan.0.params.insert("lr".to_owned(), Const::Float(0.5));
    let node = plan.node("n", "curve", &[]);
    plan.output("n", node);
    place.run(&plan.0, &registry);
    let store = place.store();
    let curves = store.curves(1, "n").unwrap();
    assert_eq!(curves["loss"][..3], [(0, 1.0), (1, 0.5), (2, 1.0 / 3.0)]);
    assert!(curves["loss"][3].1.is_nan());
    assert_eq!(store.runs(5).unwrap()[0].state, "done");
}
