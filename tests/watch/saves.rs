//! Every way in which editors and tools change files, with the system's events and by looking again and again.

use crate::watched::Watched;
use pipe_tests::pipe::Project;
use std::fs;
use std::path::Path;

const PROGRAM: &str = r#"
let rows = data.read("data/m.csv")
let high = rows |> data.filter(row => row.cpu > 0.5)
output count = { high: high.rows }
"#;

const BEFORE: &str = "cpu\n0.1\n0.9\n";
const AFTER: &str = "cpu\n0.6\n0.9\n";

/// Both ways of hearing of changes.
const WAYS: [&[&str]; 2] = [&[], &["--poll", "0.05"]];

fn project() -> Project {
    Project::new(&[("p.pipe", PROGRAM), ("data/m.csv", BEFORE)])
}

/// Change the file by `save`, which has to lead to a run of the new content.
fn noticed(save: impl Fn(&Path)) {
    for way in WAYS {
        let watched = Watched::start(project(), way);
        save(watched.project.path());
        let run = watched.run(1);
        assert_eq!(run.nodes("failed"), Vec::<String>::new(), "{way:?} {}", watched.said());
        assert_eq!(watched.project.read("out/p/count.json").trim(), "{\n  \"high\": 2\n}");
        watched.rests_after(2);
    }
}

/// Do something to the file that leaves its content: nothing runs, and a change after it is noticed.
fn ignored(touch: impl Fn(&Path)) {
    for way in WAYS {
        let watched = Watched::start(project(), way);
        touch(watched.project.path());
        watched.rests_after(1);
        watched.project.write("data/m.csv", AFTER);
        watched.run(1);
    }
}

#[test]
fn truncated_and_written() {
    noticed(|folder| fs::write(folder.join("data/m.csv"), AFTER).unwrap());
}

#[test]
fn written_in_pieces() {
    noticed(|folder| {
        use std::io::Write;
        let mut file = fs::File::create(folder.join("data/m.csv")).unwrap();
        for piece in AFTER.as_bytes().chunks(3) {
            file.write_all(piece).unwrap();
            file.sync_all().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    });
}

#[test]
fn written_beside_and_renamed() {
    noticed(|folder| {
        fs::write(folder.join("data/.m.csv.tmp"), AFTER).unwrap();
        fs::rename(folder.join("data/.m.csv.tmp"), folder.join("data/m.csv")).unwrap();
    });
}

#[test]
fn renamed_over_from_another_folder() {
    noticed(|folder| {
        fs::write(folder.join("new.csv"), AFTER).unwrap();
        fs::rename(folder.join("new.csv"), folder.join("data/m.csv")).unwrap();
    });
}

/// Vim tries the folder with a file `4913`, moves the old file aside, writes the new one, and removes the old.
#[test]
fn saved_as_vim_does() {
    noticed(|folder| {
        let data = folder.join("data");
        fs::write(data.join("4913"), "").unwrap();
        fs::remove_file(data.join("4913")).unwrap();
        fs::rename(data.join("m.csv"), data.join("m.csv~")).unwrap();
        fs::write(data.join("m.csv"), AFTER).unwrap();
        fs::remove_file(data.join("m.csv~")).unwrap();
    });
}

#[test]
fn removed_and_written_again() {
    noticed(|folder| {
        fs::remove_file(folder.join("data/m.csv")).unwrap();
        fs::write(folder.join("data/m.csv"), AFTER).unwrap();
    });
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_elsewhere() {
    for way in WAYS {
        let project = project();
        let data = project.path().join("data");
        fs::create_dir(project.path().join("versions")).unwrap();
        for (name, text) in [("one.csv", BEFORE), ("two.csv", AFTER)] {
            fs::write(project.path().join("versions").join(name), text).unwrap();
        }
        fs::remove_file(data.join("m.csv")).unwrap();
        std::os::unix::fs::symlink("../versions/one.csv", data.join("m.csv")).unwrap();
        let watched = Watched::start(project, way);
        std::os::unix::fs::symlink("../versions/two.csv", data.join("next")).unwrap();
        fs::rename(data.join("next"), data.join("m.csv")).unwrap();
        watched.run(1);
        assert!(watched.project.read("out/p/count.json").contains("\"high\": 2"));
        // What the link leads to now is followed as well.
        fs::write(watched.project.path().join("versions/two.csv"), BEFORE).unwrap();
        watched.run(2);
        assert!(watched.project.read("out/p/count.json").contains("\"high\": 1"));
    }
}

#[test]
fn the_folder_removed_and_made_again() {
    for way in WAYS {
        let watched = Watched::start(project(), way);
        let data = watched.project.path().join("data");
        fs::remove_dir_all(&data).unwrap();
        watched.says("m.csv");
        watched.project.write("data/m.csv", AFTER);
        watched.run(1);
        // The new folder is followed, not the one that is gone.
        watched.project.write("data/m.csv", BEFORE);
        watched.run(2);
        assert!(watched.project.read("out/p/count.json").contains("\"high\": 1"));
    }
}

#[cfg(unix)]
#[test]
fn only_the_permissions_changed() {
    use std::os::unix::fs::PermissionsExt;
    ignored(|folder| {
        let file = folder.join("data/m.csv");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    });
}

#[test]
fn only_touched() {
    ignored(|folder| {
        let file = fs::File::options().write(true).open(folder.join("data/m.csv")).unwrap();
        file.set_modified(std::time::SystemTime::now()).unwrap();
    });
}

#[test]
fn saved_as_it_was() {
    ignored(|folder| fs::write(folder.join("data/m.csv"), BEFORE).unwrap());
}

#[test]
fn other_files_beside_it() {
    ignored(|folder| {
        fs::write(folder.join("data/other.csv"), AFTER).unwrap();
        fs::write(folder.join("notes.txt"), "").unwrap();
    });
}

/// A checkout that rewrites thousands of files is one change.
#[test]
fn a_burst_of_five_thousand_files() {
    let program = PROGRAM.replace("data/m.csv", "data/*.csv");
    let project = Project::new(&[("p.pipe", &program)]);
    let rows = |number: usize, value: f64| {
        let name = format!("data/{number}.csv");
        project.write(&name, &format!("cpu\n{value}\n"));
    };
    (0..5000).for_each(|number| rows(number, 0.1));
    let watched = Watched::start(project, &[]);
    for number in 0..5000 {
        watched.project.write(&format!("data/{number}.csv"), "cpu\n0.9\n");
    }
    // Writing may take longer than the longest burst: what counts is that all of it is seen, in few runs.
    let mut last = 1;
    watched.run(last);
    while !watched.project.read("out/p/count.json").contains("\"high\": 5000") {
        last += 1;
        watched.run(last);
    }
    assert!(last <= 4, "{last} runs for one burst");
}

#[test]
fn files_that_a_pattern_gains_and_loses() {
    for way in WAYS {
        let program = PROGRAM.replace("data/m.csv", "data/*.csv");
        let project = Project::new(&[("p.pipe", &program), ("data/a.csv", BEFORE)]);
        let watched = Watched::start(project, way);
        watched.project.write("data/b.csv", AFTER);
        watched.run(1);
        assert!(watched.project.read("out/p/count.json").contains("\"high\": 3"));
        watched.project.write("data/b.txt", AFTER);
        watched.rests_after(2);
        fs::remove_file(watched.project.path().join("data/a.csv")).unwrap();
        watched.run(2);
        assert!(watched.project.read("out/p/count.json").contains("\"high\": 2"));
    }
}

#[test]
fn a_program_that_reads_its_own_output_runs_once() {
    let program = "let old = data.read(\"out/p/rows.csv\", row: Row)\ntype Row = { cpu: float }\nlet new = data.read(\"data/m.csv\")\noutput rows = new\noutput n = { old: old.rows }\n";
    let project = Project::new(&[
        ("p.pipe", program),
        ("data/m.csv", BEFORE),
        ("out/p/rows.csv", "cpu\n1.0\n"),
    ]);
    let watched = Watched::start(project, &[]);
    watched.says("is an output of this program, and it reads it");
    watched.project.write("out/p/rows.csv", "cpu\n1.0\n2.0\n");
    watched.rests_after(1);
}
