//! Messages that are not good enough yet: what is said today, and what should be. When one changes, its case has to move
//! to `tests/cases`.

use pipe_compiler::host::{Inputs, Machine};
use pipe_tests::host::FolderHost;
use std::collections::BTreeMap;
use std::path::Path;

fn said(text: &str, folder: &Path) -> Vec<String> {
    let host = FolderHost::new(folder).with_program("case.pipe", text);
    let checked = pipe_compiler::check(&Inputs {
        file: "case.pipe",
        host: &host,
        library: &pipe_stdlib::FILES,
        params: &BTreeMap::new(),
        tools: &BTreeMap::new(),
        machine: Machine { threads: 2, memory: 8 << 30, gpus: 0 },
    });
    let line = |problem: &pipe_grammar::Problem| {
        let kind = if problem.is_error() { "error" } else { "warning" };
        format!("{kind}[{}] {}", problem.code, problem.message)
    };
    checked.problems.iter().map(line).collect()
}

#[test]
fn what_is_said_today_is_still_said() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut files: Vec<_> = std::fs::read_dir(cases.join("wanted"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let (mut count, mut changed) = (0, String::new());
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        for case in text.split("\n--- ").skip(1) {
            let (name, rest) = case.split_once(" ---\n").unwrap();
            let told = |word: &str| -> Vec<String> {
                rest.lines().filter_map(|line| line.strip_prefix(word)).map(str::to_owned).collect()
            };
            let (today, wanted) = (told("today: "), told("wanted: "));
            assert!(
                !today.is_empty() && wanted.len() == 1,
                "{name}: `today:` lines, one `wanted:`"
            );
            let lines = rest
                .lines()
                .filter(|line| !line.starts_with("today: ") && !line.starts_with("wanted: "));
            let program: String = lines.map(|line| format!("{line}\n")).collect();
            let said = said(&program, &cases.join("files"));
            if said != today {
                changed += &format!("{name}\n  today: {today:#?}\n  said:  {said:#?}\n");
            }
            count += 1;
        }
    }
    assert!(count > 0, "there are no cases");
    assert!(changed.is_empty(), "changed, so move to a case file if it is as wanted:\n{changed}");
}
