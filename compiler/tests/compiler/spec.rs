//! The library and the spec: every signature is sound, every example compiles.

use crate::support::{Files, compiled, rendered};

#[test]
fn the_library_is_sound() {
    let (signatures, problems, sources) = pipe_compiler::signatures(&pipe_stdlib::FILES);
    assert_eq!(rendered(&problems, &sources), "");
    let mut wrong = String::new();
    for signature in &signatures {
        if signature.doc.as_deref().is_none_or(|doc| doc.trim().is_empty()) {
            wrong += &format!("{} has no documentation\n", signature.name);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(signatures.iter().any(|signature| signature.name == "data.join" && signature.is_op()));
    assert!(signatures.iter().any(|signature| signature.name == "math.sqrt" && !signature.is_op()));
}

#[test]
fn modules_are_loaded_only_when_named() {
    let compiled = compiled(&Files::with("output a = math.sqrt(4.0)\n"), &[]);
    let names: Vec<&str> = compiled.sources.files().iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["main.pipe", "<math>"]);
}

#[test]
fn programs_in_the_spec_compile() {
    let mut wrong = String::new();
    for page in ["types.md", "plan-and-cache.md", "language.md", "tuning.md"] {
        let path = format!("{}/../spec/{page}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let (from, to) = match page {
            "language.md" => ("\n## What is decided in the run\n", "\n## Types\n"),
            _ => ("", "\0"),
        };
        let text = text.split_once(from).map_or(text.as_str(), |(_, rest)| rest);
        let text = text.split_once(to).map_or(text, |(section, _)| section);
        assert!(text.contains("```pipe\n"), "{path} has no programs");
        for block in text.split("```pipe\n").skip(1) {
            let program = block.split("```").next().unwrap_or_default();
            let compiled = compiled(&Files::with(program), &[]);
            if compiled.plan.is_none() {
                wrong += &format!(
                    "{page}\n{program}\n{}\n",
                    rendered(&compiled.problems, &compiled.sources)
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Blocks marked `pipe wrong` have exactly the problems that comments above the lines announce.
#[test]
fn mistakes_in_the_spec_are_found() {
    let mut wrong = String::new();
    let path = format!("{}/../spec/types.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text.contains("```pipe wrong\n"), "{path} has no mistakes");
    for block in text.split("```pipe wrong\n").skip(1) {
        let program = block.split("```").next().unwrap_or_default();
        let compiled = compiled(&Files::with(program), &[]);
        let found: Vec<(u32, String)> = compiled
            .problems
            .iter()
            .map(|problem| {
                let file = compiled.sources.get(problem.span.file);
                let line = file.map_or(0, |file| file.place(problem.span.start).line);
                let kind = if problem.is_error() { "error" } else { "warning" };
                (line, format!("# {kind}[{}] {}", problem.code, problem.message))
            })
            .collect();
        let told: Vec<(u32, String)> = (2..)
            .zip(program.lines())
            .filter(|(_, line)| line.starts_with("# error[") || line.starts_with("# warning["))
            .map(|(line, text)| (line, text.to_owned()))
            .collect();
        if found != told {
            wrong += &format!("{program}\n{}\n", rendered(&compiled.problems, &compiled.sources));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
