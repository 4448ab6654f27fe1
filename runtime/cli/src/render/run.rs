//! A run on the terminal: a bar per running node, a line per finished one, checks, and a closing line.

use super::fan::Fans;
use super::style::{Look, count, cut, cut_name, pad, seconds};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use pipe_runtime::events::{Event, NodeState};
use pipe_runtime::op::OpError;
use pipe_runtime::shown::bytes;
use pipe_runtime::value::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// Subscribes to events and writes to stderr.
pub(crate) struct Terminal {
    look: Look,
    bars: MultiProgress,
    running: BTreeMap<String, ProgressBar>,
    fans: Fans,
    cached: Vec<String>,
    skipped: Vec<String>,
    names: usize,
    failures: Vec<(String, OpError)>,
    outputs: Vec<(String, u64)>,
    removed: Vec<String>,
    /// Checks as they were decided last, of a program that is watched.
    before: BTreeMap<String, Decided>,
    decided: BTreeMap<String, Decided>,
}

/// What a check came to: whether it holds, and the comparison.
pub(crate) type Decided = (bool, String);

impl Terminal {
    /// A renderer for a plan whose longest node name has `names` columns.
    pub(crate) fn new(look: Look, names: usize) -> Self {
        let bars = MultiProgress::new();
        Self {
            names: names.clamp(8, look.width / 3),
            look,
            bars,
            running: BTreeMap::new(),
            fans: Fans::default(),
            cached: Vec::new(),
            skipped: Vec::new(),
            failures: Vec::new(),
            outputs: Vec::new(),
            removed: Vec::new(),
            before: BTreeMap::new(),
            decided: BTreeMap::new(),
        }
    }

    /// Show checks beside what they came to before.
    pub(crate) fn after(mut self, before: BTreeMap<String, Decided>) -> Self {
        self.before = before;
        self
    }

    /// What the checks came to.
    pub(crate) fn decided(&self) -> &BTreeMap<String, Decided> {
        &self.decided
    }

    /// Show one event.
    pub(crate) fn show(&mut self, event: &Event) {
        match event {
            Event::NodeStarted { node, why, resumed, .. } => self.started(node, why, *resumed),
            Event::NodeExpanded { node, elements } => self.expanded(node, elements),
            Event::Progress { node, done, total, note } => self.progress(node, *done, *total, note),
            Event::Warning { node, message } => {
                let mark = self.look.careful("!");
                let name = pad(&cut_name(node, self.names), self.names);
                self.line(&format!("  {mark} {name}  {message}"));
            }
            Event::NodeFinished { node, state, seconds, result, unchanged, error } => {
                self.finished(node, *state, *seconds, result, *unchanged, error.as_ref());
            }
            Event::CheckDecided { name, passed, value, shown, doc } => {
                self.flush_cached();
                let skipped = std::mem::take(&mut self.skipped);
                self.together(&self.look.quiet("-"), "skipped", &skipped);
                let shown = match value {
                    _ if !shown.is_empty() => shown.clone(),
                    Value::Str(why) => format!("undecided: {why}"),
                    other => other.describe(),
                };
                let shown = self.beside_before(name, *passed, shown);
                self.check(name, *passed, &shown, doc.as_deref());
            }
            Event::OutputEmpty { name } => {
                self.flush_cached();
                let mark = self.look.quiet("-");
                let name = pad(&format!("output {name}"), self.names + 2);
                self.line(&format!("  {mark} {name}{:>8}  none: nothing is written", ""));
            }
            Event::OutputRemoved { path, .. } => self.removed.push(path.clone()),
            Event::OutputWritten { path, bytes, .. } => self.outputs.push((path.clone(), *bytes)),
            Event::RunFinished {
                ran,
                cached,
                failed,
                skipped,
                checks_failed,
                seconds,
                stopped,
                superseded,
            } => {
                let counts = [
                    (*ran, "ran"),
                    (*cached, "cached"),
                    (*failed, "failed"),
                    (*skipped, "skipped"),
                ];
                let end = match (stopped, superseded) {
                    (true, _) => Some("stopped, state saved: the same command goes on from here"),
                    (_, true) => Some("the program changed: what it still wants goes on"),
                    _ => None,
                };
                self.closing(counts, *checks_failed, *seconds, end);
            }
            Event::RunStarted { .. } | Event::Metric { .. } => {}
        }
    }

    /// `0.84 >= 0.8, was 0.74 >= 0.8: now true`.
    fn beside_before(&mut self, name: &str, passed: bool, shown: String) -> String {
        self.decided.insert(name.to_owned(), (passed, shown.clone()));
        match self.before.get(name) {
            Some((was, before)) if *was != passed || *before != shown => {
                let turned = if *was == passed { String::new() } else { format!(": now {passed}") };
                format!("{shown}, was {before}{turned}")
            }
            _ => shown,
        }
    }

    /// A line above the bars.
    pub(crate) fn line(&self, text: &str) {
        if self.look.live {
            // The bars are redrawn below the printed line.
            let _ = self.bars.println(text);
        } else {
            eprintln!("{text}");
        }
    }

    fn started(&mut self, node: &str, why: &str, resumed: bool) {
        if let Some(fan) = self.fans.of(node) {
            return fan.begin(node);
        }
        if !self.look.live {
            return;
        }
        let bar = self.bars.add(ProgressBar::new_spinner());
        let template =
            format!("  {{spinner}} {{prefix:{}}}  {{elapsed:>5}}  {{wide_msg}}", self.names);
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        bar.set_prefix(cut_name(node, self.names));
        bar.set_message(if resumed {
            "continues from its checkpoint".to_owned()
        } else {
            why.to_owned()
        });
        bar.enable_steady_tick(Duration::from_millis(120));
        self.running.insert(node.to_owned(), bar);
    }

    /// A driver has asked for elements: a few are shown one by one, many as one bar.
    fn expanded(&mut self, driver: &str, elements: &[String]) {
        let bar = self.running.get(driver).cloned();
        let Some(fan) = self.fans.expand(driver, elements).filter(|fan| fan.is_long()) else {
            return;
        };
        if let (None, Some(bar)) = (&fan.bar, bar) {
            let template = format!(
                "  {{spinner}} {{prefix:{}}}  {{elapsed:>5}}  {{bar:16}} {{msg}}",
                self.names
            );
            if let Ok(style) = ProgressStyle::with_template(&template) {
                bar.set_style(style.progress_chars("━╸─"));
            }
            fan.bar = Some(bar);
        }
        fan.redraw();
    }

    fn progress(&mut self, node: &str, done: u64, total: u64, note: &str) {
        let Some(bar) = self.running.get(node) else { return };
        if total == 0 {
            bar.set_message(note.to_owned());
            return;
        }
        if bar.length().is_none() {
            let template = format!(
                "  {{spinner}} {{prefix:{}}}  {{elapsed:>5}}  {{bar:16}} {{pos}}/{{len}}  {{msg}}  {{eta}} left",
                self.names
            );
            if let Ok(style) = ProgressStyle::with_template(&template) {
                bar.set_style(style.progress_chars("━╸─"));
            }
        }
        bar.set_length(total);
        bar.set_position(done);
        bar.set_message(note.to_owned());
    }

    fn finished(
        &mut self,
        node: &str,
        state: NodeState,
        took: f64,
        result: &str,
        unchanged: bool,
        error: Option<&OpError>,
    ) {
        if let Some(bar) = self.running.remove(node) {
            bar.finish_and_clear();
            self.bars.remove(&bar);
        }
        let mut note = if unchanged { "same result as before" } else { result }.to_owned();
        if let Some(fan) = self.fans.of(node) {
            let told = fan.finish(node, state);
            if let (Some(told), false) = (told, self.look.live) {
                let driver = node.split('[').next().unwrap_or(node);
                self.line(&format!("    {}  {told}", pad(&cut(driver, self.names), self.names)));
            }
            if state != NodeState::Failed {
                return;
            }
        } else if let Some(fan) = self.fans.end(node).filter(|fan| fan.is_long()) {
            note = fan.summary();
            if state == NodeState::Skipped {
                self.flush_cached();
                let mark = self.look.quiet("-");
                let name = pad(&cut(node, self.names), self.names);
                return self.line(&format!("  {mark} {name}  {:>8}  {note}", seconds(took)));
            }
        }
        match state {
            NodeState::Cached => return self.cached.push(node.to_owned()),
            NodeState::Skipped => return self.skipped.push(node.to_owned()),
            NodeState::Ran | NodeState::Failed => {}
        }
        self.flush_cached();
        let name = pad(&cut_name(node, self.names), self.names);
        match state {
            NodeState::Ran => {
                let mark = self.look.good("✓");
                self.line(&format!("  {mark} {name}  {:>8}  {note}", seconds(took)));
            }
            NodeState::Failed => {
                let mark = self.look.bad("✗");
                let message = error.map_or("failed", |error| error.message.as_str());
                self.line(&format!("  {mark} {name}  {:>8}  {message}", seconds(took)));
                if let Some(error) = error {
                    self.failures.push((node.to_owned(), error.clone()));
                }
            }
            NodeState::Skipped | NodeState::Cached => {}
        }
    }

    /// One line for a stretch of cached nodes.
    fn flush_cached(&mut self) {
        let names = std::mem::take(&mut self.cached);
        self.together(&self.look.good("✓"), "cached", &names);
    }

    /// One line for nodes that end alike.
    fn together(&self, mark: &str, what: &str, names: &[String]) {
        if names.is_empty() {
            return;
        }
        let room = self.look.width.saturating_sub(self.names + 6);
        let mut shown = String::new();
        for (at, name) in names.iter().enumerate() {
            let left = names.len() - at;
            let next = if shown.is_empty() { name.clone() } else { format!(", {name}") };
            if shown.len() + next.len() + 12 > room && left > 1 {
                shown += &format!(" and {left} more");
                break;
            }
            shown += &next;
        }
        self.line(&format!("  {mark} {}  {}", pad(what, self.names), self.look.quiet(&shown)));
    }

    fn check(&self, name: &str, passed: bool, shown: &str, doc: Option<&str>) {
        let mark = if passed { self.look.good("✓") } else { self.look.bad("✗") };
        let name = pad(&format!("check {name}"), self.names + 2);
        self.line(&format!("  {mark} {name}{:>8}  {shown}", ""));
        if let (false, Some(doc)) = (passed, doc) {
            let doc = doc.replace('\n', " ");
            self.line(&format!("    {}", self.look.careful(&cut(&doc, self.look.width - 4))));
        }
    }

    fn closing(
        &mut self,
        counts: [(usize, &str); 4],
        checks_failed: usize,
        took: f64,
        early: Option<&str>,
    ) {
        self.running.values().for_each(ProgressBar::finish_and_clear);
        self.flush_cached();
        let skipped = std::mem::take(&mut self.skipped);
        self.together(&self.look.quiet("-"), "skipped", &skipped);
        let nodes: usize = counts.iter().map(|(number, _)| number).sum();
        let parts: Vec<_> =
            counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        let failed = counts.iter().any(|(n, what)| *what == "failed" && *n > 0);
        let end = if let Some(early) = early {
            self.look.careful(&format!(" · {early}"))
        } else if failed {
            self.look.bad(" · exit 3 (a node failed)")
        } else if checks_failed > 0 {
            self.look.bad(&format!(" · exit 3 ({} false)", count(checks_failed, "check")))
        } else {
            String::new()
        };
        let all = if parts.is_empty() { "nothing to do".to_owned() } else { parts.join(", ") };
        for path in std::mem::take(&mut self.removed) {
            let mark = self.look.quiet("-");
            self.line(&format!("  {mark} {}  {path}", pad("removed", self.names)));
        }
        eprintln!("\n{}: {all} · {}{end}", count(nodes, "node"), seconds(took));
        for (node, error) in std::mem::take(&mut self.failures) {
            self.failure(&node, &error);
        }
    }

    /// A failure with its help: of a node, or of writing an output.
    pub(crate) fn failure(&self, node: &str, error: &OpError) {
        let code = self.look.bad(&format!("error[{}]", error.code));
        eprintln!("\n{code} {node}: {}", error.message);
        if let Some(help) = &error.help {
            eprintln!("  help: {help}");
        }
        eprintln!("  {}", self.look.quiet(&format!("pipe explain {}", error.code)));
    }

    /// Where the outputs are, for stdout: path and size per line.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = String> + '_ {
        self.outputs
            .iter()
            .map(|(path, size)| format!("{path}  {}", self.look.quiet(&bytes(*size))))
    }
}
