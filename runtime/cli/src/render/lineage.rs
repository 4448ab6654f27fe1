//! Where a result comes from, as a tree: it stands at the top, the files at the leaves. A node that several read is shown
//! whole once.

use super::record::short;
use super::style::{Look, count};
use crate::commands::lineage::{Lineage, Now, Source, Step};
use std::collections::BTreeSet;
use std::fmt::Write;

/// What one node reads, as far as it is listed.
const MANY: usize = 12;

/// The tree with a headline above and a sum below.
pub(crate) fn text(lineage: &Lineage, look: &Look) -> String {
    let mut out =
        format!("{} · {} · run {}", look.strong(&lineage.what), lineage.file, lineage.run);
    if let Some(output) = &lineage.output {
        let now = match &output.now {
            Now::Same => "as it was written".to_owned(),
            Now::Changed => look.careful("edited since it was written"),
            Now::Gone | Now::Moved(_) => look.careful("not there any more"),
        };
        let _ = write!(out, " · {now}");
    }
    out.push_str("\n\n");
    let mut tree = Tree { lineage, look, out, seen: BTreeSet::new() };
    for end in &lineage.ends {
        tree.node(end, "  ", "  ");
    }
    let Tree { mut out, .. } = tree;
    if lineage.ends.is_empty() {
        out.push_str("  it stands in the program and reads no node\n");
    }
    let files: BTreeSet<&str> = lineage
        .steps
        .values()
        .flat_map(|step| &step.files)
        .map(|file| file.path.as_str())
        .collect();
    let changed = match lineage.changed() {
        0 => "none has changed since".to_owned(),
        number => {
            look.careful(&format!("{number} not as they were: `pipe run` would make it anew"))
        }
    };
    let nodes = count(lineage.steps.len(), "node");
    let _ = writeln!(out, "\n{nodes}, {}: {changed}", count(files.len(), "file"));
    out
}

struct Tree<'l> {
    lineage: &'l Lineage,
    look: &'l Look,
    out: String,
    seen: BTreeSet<&'l str>,
}

impl<'l> Tree<'l> {
    /// A node behind `lead`, what it reads behind `below`.
    fn node(&mut self, name: &'l str, lead: &str, below: &str) {
        let Some(step) = self.lineage.steps.get(name) else {
            let _ = writeln!(self.out, "{lead}{name}");
            return;
        };
        let again = !self.seen.insert(name);
        let op = self.look.quiet(&step.node.op);
        let leaf = step.reads.is_empty() && step.files.is_empty();
        if again && !leaf {
            let _ = writeln!(self.out, "{lead}{name}  {op}  {}", self.look.quiet("(above)"));
            return;
        }
        let how = self.how(step);
        let _ = writeln!(self.out, "{lead}{name}  {op}  {how}");
        let hidden = (step.reads.len() + step.files.len()).saturating_sub(MANY);
        let files = step.files.iter().map(Child::File);
        let children = step.reads.iter().map(|name| Child::Node(name)).chain(files);
        let mut children: Vec<Child<'l>> = children.take(MANY).collect();
        if hidden > 0 {
            children.push(Child::More(hidden));
        }
        let last = children.len().saturating_sub(1);
        for (at, child) in children.into_iter().enumerate() {
            let (mark, line) = if at == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            let (lead, below) = (format!("{below}{mark}"), format!("{below}{line}"));
            match child {
                Child::Node(name) => self.node(name, &lead, &below),
                Child::File(file) => self.file(file, &lead),
                Child::More(number) => {
                    let _ = writeln!(self.out, "{lead}and {number} more: --json");
                }
            }
        }
    }

    fn how(&self, step: &Step) -> String {
        match (step.node.state.as_str(), step.computed) {
            ("ran", _) => "ran".to_owned(),
            ("cached", Some(run)) => self.look.quiet(&format!("of run {run}")),
            (state, _) => state.to_owned(),
        }
    }

    fn file(&mut self, file: &Source, lead: &str) {
        let now = match &file.now {
            Now::Same => self.look.quiet("unchanged"),
            Now::Changed => self.look.careful("changed since"),
            Now::Gone => self.look.bad("missing"),
            Now::Moved(to) => self.look.careful(&format!("now at {}", here(to))),
        };
        let (path, digest) = (here(&file.path), short(&file.digest));
        let _ = writeln!(self.out, "{lead}{path}  {digest}  {now}");
    }
}

enum Child<'l> {
    Node(&'l str),
    File(&'l Source),
    More(usize),
}

/// A path as it is from this folder, when it lies below it.
fn here(path: &str) -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    let below = std::path::Path::new(path).strip_prefix(folder);
    below.map_or_else(|_| path.to_owned(), |below| below.display().to_string())
}
