//! Whole sessions of an editor with `pipe lsp`, over stdin and stdout: `tests/lsp/*.session`.
//! After a wanted change: `INSTA_UPDATE=always cargo test -p pipe-tests --test lsp`, and read the difference.

use pipe_tests::editor::Session;
use pipe_tests::pipe::{Project, repository};
use std::process::Stdio;

#[test]
fn sessions() {
    let update = std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always");
    let mut wrong = Vec::new();
    let mut paths: Vec<_> = std::fs::read_dir(repository().join("tests/lsp"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "session"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let session = Session::read(&text);
        let project = Project::new(&[]);
        session.files.iter().for_each(|(name, text)| project.write(name, text));
        let mut command = project.command(&["lsp"]);
        command.stdin(Stdio::piped()).stderr(Stdio::inherit());
        let mut server = command.spawn().unwrap();
        let (input, output) = (server.stdout.take().unwrap(), server.stdin.take().unwrap());
        let said = session.play(project.path(), input, output);
        let code = server.wait().unwrap().code();
        let said = format!("{said}\n# The server ended with {}.\n", code.unwrap_or(-1));
        if said != text && update {
            std::fs::write(&path, &said).unwrap();
        } else if said != text {
            wrong.push(format!("{}:\n{}", path.display(), difference(&text, &said)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The first lines that differ.
fn difference(old: &str, new: &str) -> String {
    let same = old.lines().zip(new.lines()).take_while(|(a, b)| a == b).count();
    let part = |text: &str, sign: &str| {
        let lines = text.lines().skip(same).take(12).map(|line| format!("{sign} {line}"));
        lines.collect::<Vec<_>>().join("\n")
    };
    format!("line {}:\n{}\n{}", same + 1, part(old, "-"), part(new, "+"))
}
