//! Programs that people copy: every example and every block of the specification compiles, and the outage example
//! runs end to end.

use pipe_compiler::host::{Inputs, Machine};
use pipe_tests::case;
use pipe_tests::host::FolderHost;
use pipe_tests::pipe::{Project, nodes, repository};
use std::collections::BTreeMap;
use std::path::Path;

/// What is wrong with a program, a line each.
fn errors(text: &str, folder: &Path) -> String {
    let host = FolderHost::new(folder).with_program("block.pipe", text);
    let compiled = pipe_compiler::compile(&Inputs {
        file: "block.pipe",
        host: &host,
        library: &pipe_stdlib::FILES,
        params: &BTreeMap::new(),
        tools: &BTreeMap::from([("torch".into(), "2.11.0".into())]),
        machine: Machine { threads: 2, memory: 8 << 30, gpus: 0 },
    });
    compiled
        .problems
        .iter()
        .filter(|problem| problem.is_error())
        .map(|problem| {
            let line =
                text.get(..problem.span.start as usize).unwrap_or("").matches('\n').count() + 1;
            format!("  line {line}: [{}] {}\n", problem.code, problem.message)
        })
        .collect()
}

#[test]
fn programs_of_the_examples_compile_and_are_formatted() {
    let mut wrong = String::new();
    let mut programs = case::files(&repository().join("examples"));
    programs.extend(case::files(&repository().join("runtime/cli/templates")));
    assert!(programs.len() >= 5, "{programs:?}");
    for path in programs {
        let text = std::fs::read_to_string(&path).unwrap();
        let template = path.components().any(|part| part.as_os_str() == "templates");
        let problems = errors(&text, path.parent().unwrap());
        if !problems.is_empty() && !template {
            wrong += &format!("{}\n{problems}", path.display());
        }
        let file = pipe_grammar::SourceFile::new(pipe_grammar::FileId(0), "p.pipe", text.as_str());
        if pipe_grammar::format(&file).text != text {
            wrong += &format!("{} is not formatted: pipe fmt {0}\n", path.display());
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Blocks read the files of `tests/cases/files`; those marked "pipe fragment" are not whole. Those of types.md and
/// plan-and-cache.md are tested beside the compiler, with its files.
#[test]
fn programs_in_documents_compile() {
    let files = repository().join("tests/cases/files");
    let mut pages: Vec<_> = std::fs::read_dir(repository().join("spec"))
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    pages.extend(
        std::fs::read_dir(repository().join("spec/guides"))
            .unwrap()
            .flatten()
            .map(|entry| entry.path()),
    );
    pages.push(repository().join("README.md"));
    pages.sort();
    let mut wrong = String::new();
    for path in pages.iter().filter(|path| path.is_file()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if matches!(name.as_str(), "types.md" | "plan-and-cache.md") {
            continue;
        }
        let text = std::fs::read_to_string(path).unwrap();
        for block in text.split("```pipe\n").skip(1) {
            let program = block.split("```").next().unwrap_or_default();
            let problems = errors(program, &files);
            if !problems.is_empty() {
                wrong += &format!("{}\n{program}{problems}\n", path.display());
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Every program of the guides runs to its end, in a folder with the files of `tests/cases/files`.
#[test]
fn programs_in_the_guides_run() {
    let mut wrong = String::new();
    let mut programs = 0;
    for entry in std::fs::read_dir(repository().join("spec/guides")).unwrap().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        for block in text.split("```pipe\n").skip(1) {
            let project = Project::copy_of(&repository().join("tests/cases/files"));
            project.write("guide.pipe", block.split("```").next().unwrap_or_default());
            let said = project.pipe(&["run", "guide.pipe"]);
            programs += 1;
            if said.code != 0 {
                wrong += &format!("{}\n{}\n", entry.path().display(), said.stderr);
            }
        }
    }
    assert!(wrong.is_empty() && programs >= 5, "{programs} programs\n{wrong}");
}

#[test]
fn the_outage_example_runs_and_is_then_cached() {
    let project = Project::example("outage");
    let (said, events) = project.run("detect.pipe", &[]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    let ran = nodes(&events, "ran").len();
    assert!(ran >= 8, "{ran} nodes ran");
    for event in events.iter().filter(|event| event["event"] == "check_decided") {
        assert_eq!(event["passed"], true, "{event}");
    }
    let written: Vec<&str> = events
        .iter()
        .filter(|event| event["event"] == "output_written")
        .filter_map(|event| event["path"].as_str())
        .collect();
    assert!(!written.is_empty());
    let before: Vec<Vec<u8>> =
        written.iter().map(|path| std::fs::read(project.path().join(path)).unwrap()).collect();
    let (said, events) = project.run("detect.pipe", &[]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert_eq!(nodes(&events, "ran"), [""; 0]);
    assert_eq!(nodes(&events, "cached").len(), ran);
    for (path, content) in written.iter().zip(before) {
        assert!(std::fs::read(project.path().join(path)).unwrap() == content, "{path} changed");
    }
    assert_eq!(project.pipe(&["store", "verify"]).code, 0);
}
