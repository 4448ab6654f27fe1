//! `pipe init [TEMPLATE]`: a small project that runs as it stands.

use super::{Failure, Outcome, exit};
use std::path::Path;

/// A template: its name and its files.
struct Template {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
}

const TEMPLATES: [Template; 3] = [
    Template {
        name: "hello",
        files: &[
            ("hello.pipe", include_str!("../../templates/hello/hello.pipe")),
            ("data/visits.csv", include_str!("../../templates/hello/visits.csv")),
        ],
    },
    Template {
        name: "detect",
        files: &[
            ("detect.pipe", include_str!("../../templates/detect/detect.pipe")),
            ("data/metrics.csv", include_str!("../../templates/detect/metrics.csv")),
        ],
    },
    Template {
        name: "train",
        files: &[
            ("train.pipe", include_str!("../../templates/train/train.pipe")),
            ("data/texts.jsonl", include_str!("../../templates/train/texts.jsonl")),
        ],
    },
];

/// Write the template's files below `folder`, and `pipe.toml`, which marks the project's root.
pub(crate) fn init(name: &str, folder: &Path) -> Outcome {
    let Some(template) = TEMPLATES.iter().find(|template| template.name == name) else {
        let names: Vec<_> = TEMPLATES.iter().map(|template| template.name).collect();
        return Err(Failure::usage(format!("there is no template `{name}`"))
            .help(format!("the templates are: {}", names.join(", "))));
    };
    let marker = (
        "pipe.toml",
        "# The root of a Pipewright project: programs read files below this folder.\n",
    );
    let ignore = (".gitignore", ".pipe/\nout/\n");
    let mut program = "";
    for (path, text) in template.files.iter().copied().chain([marker, ignore]) {
        let target = folder.join(path);
        if path.ends_with(".pipe") {
            program = path;
        }
        let said = if target.exists() { "kept" } else { "wrote" };
        if said == "wrote" {
            write(&target, text)?;
        }
        eprintln!("  {said:<5}  {}", target.display());
    }
    let program = folder.join(program);
    let program = program.strip_prefix(".").unwrap_or(&program);
    eprintln!("\nnext: pipe run {}", program.display());
    Ok(exit::OK)
}

fn write(target: &Path, text: &str) -> Result<(), Failure> {
    let made = target.parent().map_or(Ok(()), std::fs::create_dir_all);
    made.and_then(|()| std::fs::write(target, text))
        .map_err(|error| Failure::failed(format!("cannot write {}: {error}", target.display())))
}
