//! The tree-sitter grammar, by tree-sitter's own tool: it generates a parser, and what reads here has no error there.

#[allow(dead_code, reason = "each test file uses a part")]
mod corpus;

use pipe_grammar::{FileId, SourceFile, parse};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the tool says in a folder; none when it is not on the path.
fn tool(folder: &Path, arguments: &[&str]) -> Option<(bool, String)> {
    let mut command = Command::new("tree-sitter");
    // Its cache and settings stay in the folder, so that nothing of an earlier grammar is taken.
    command.current_dir(folder).env("HOME", folder).env("XDG_CACHE_HOME", folder.join("cache"));
    let output = command.args(arguments).output().ok()?;
    let said = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

/// The programs of the repository, and those of the case files that read.
fn programs() -> Vec<String> {
    let mut programs: Vec<String> = corpus::programs().into_iter().map(|(_, text)| text).collect();
    let mut cases = Vec::new();
    corpus::collect(&corpus::root().join("tests/cases"), &mut cases);
    for path in cases {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        programs.extend(text.split("\n--- ").map(|part| {
            part.split_once(" ---\n").map_or_else(|| part.to_owned(), |(_, text)| text.to_owned())
        }));
    }
    let file = |text: &str| SourceFile::new(FileId(0), "program", text);
    programs.retain(|text| parse(&file(text)).problems.is_empty());
    programs
}

#[test]
fn every_program_has_a_tree_without_errors() {
    let folder = std::env::temp_dir().join(format!("pipe-tree-sitter-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("queries")).unwrap();
    if tool(&folder, &["--version"]).is_none() {
        println!(
            "skipped: `tree-sitter` is not on the path; grammar/editors/tree-sitter says how to get it"
        );
        return;
    }
    let ours = corpus::root().join("grammar/editors/tree-sitter");
    for name in ["grammar.js", "tree-sitter.json", "package.json", "queries/highlights.scm"] {
        std::fs::copy(ours.join(name), folder.join(name)).unwrap();
    }
    let (made, said) = tool(&folder, &["generate"]).unwrap();
    assert!(made && !said.contains("conflict"), "{said}");
    let programs = programs();
    assert!(programs.len() > 60, "{} programs", programs.len());
    let mut paths = String::new();
    for (at, text) in programs.iter().enumerate() {
        let path: PathBuf = folder.join(format!("p{at}.pipe"));
        std::fs::write(&path, text).unwrap();
        paths += &format!("{}\n", path.display());
    }
    std::fs::write(folder.join("paths.txt"), paths).unwrap();
    let (whole, said) = tool(&folder, &["parse", "--quiet", "--paths", "paths.txt"]).unwrap();
    let wrong: Vec<&str> = said.lines().filter(|line| line.contains("ERROR")).collect();
    let first = wrong.first().and_then(|line| line.split_whitespace().next());
    let first = first.map(|path| std::fs::read_to_string(path).unwrap_or_default());
    assert!(whole && wrong.is_empty(), "{wrong:#?}\n{}", first.unwrap_or_else(|| said.clone()));
    // It is no grammar of everything, and it looks into strings.
    std::fs::write(folder.join("p0.pipe"), "let a = = 1\n").unwrap();
    let (whole, said) = tool(&folder, &["parse", "p0.pipe"]).unwrap();
    assert!(!whole && said.contains("ERROR"), "{said}");
    std::fs::write(folder.join("p0.pipe"), "let a = \"b ${c} $d $${\"e\"}\"\n").unwrap();
    let (whole, said) = tool(&folder, &["parse", "p0.pipe"]).unwrap();
    assert!(whole && said.matches("(interpolation").count() == 2, "{said}");
    let (whole, said) = tool(&folder, &["query", "queries/highlights.scm", "p1.pipe"]).unwrap();
    assert!(whole && said.contains("capture"), "{said}");
    std::fs::remove_dir_all(&folder).unwrap();
}
