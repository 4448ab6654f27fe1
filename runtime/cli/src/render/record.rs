//! Records of runs as people read them: the list, and one run in full.

use super::style::{Look, count, cut, cut_front, cut_name, pad, seconds};
use chrono::{DateTime, Datelike, Local};
use pipe_runtime::op::OpError;
use pipe_runtime::shown::{self, bytes};
use pipe_runtime::store::{Git, NodeSeen, OutputRow, Roots, RunRow, RunSeen};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Nodes that are listed one by one.
const MANY: usize = 40;

/// Numbers that are listed one by one.
const FIGURES: usize = 16;

/// Letters of a digest or key that people compare.
pub(crate) const SHORT: usize = 8;

/// A run with all that is on record of it.
pub(crate) struct Shown {
    pub(crate) run: RunSeen,
    pub(crate) nodes: Vec<NodeSeen>,
    pub(crate) roots: Roots,
    pub(crate) outputs: Vec<OutputRow>,
    /// Node, name, last step and its value.
    pub(crate) curves: Vec<(String, String, u64, f64)>,
}

impl Shown {
    /// Versions of all programs involved, libtorch where a worker computed something.
    pub(crate) fn versions(&self) -> BTreeMap<String, String> {
        let mut versions = self.run.about.versions.clone();
        for node in self.nodes.iter().filter(|node| node.state == "ran") {
            if let Some(torch) = node.context.get("libtorch") {
                versions.insert("libtorch".to_owned(), torch.clone());
            }
        }
        versions
    }

    /// Most memory of a worker of this run, in bytes.
    pub(crate) fn worker_peak(&self) -> Option<u64> {
        let ran = self.nodes.iter().filter(|node| node.state == "ran");
        ran.filter_map(|node| node.peak_bytes).max()
    }
}

/// How a run ended, in words.
pub(crate) fn outcome(run: &RunRow) -> String {
    match run.state.as_str() {
        "failed" if run.failed > 0 => format!("{} failed", run.failed),
        "failed" if run.checks_failed > 0 => {
            let number = usize::try_from(run.checks_failed).unwrap_or(0);
            format!("{} false", count(number, "check"))
        }
        other => other.to_owned(),
    }
}

/// A number of an output or check.
pub(crate) fn figure(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        shown::count(value as i64)
    } else {
        shown::float(value)
    }
}

/// The first letters of a digest.
pub(crate) fn short(digest: &str) -> &str {
    digest.get(..SHORT).unwrap_or(digest)
}

/// When a run began: without the year when that is this one's.
fn when(nanos: i64) -> String {
    let moment = DateTime::from_timestamp_nanos(nanos).with_timezone(&Local);
    let form = if moment.year() == Local::now().year() { "%m-%d %H:%M" } else { "%Y-%m-%d" };
    moment.format(form).to_string()
}

/// Runs as a table, one a line, with the numbers that its checks and outputs hold as far as there is room.
pub(crate) fn list(runs: &[(RunRow, Roots)], look: &Look) -> String {
    let head = ["run", "program", "started", "took", "outcome", "ran", "cached"];
    let cells = |(run, _): &(RunRow, Roots)| {
        [
            run.run.to_string(),
            cut_front(&run.file, 24),
            when(run.started),
            run.seconds.map_or_else(|| "-".to_owned(), seconds),
            outcome(run),
            run.ran.to_string(),
            run.cached.to_string(),
        ]
    };
    let rows: Vec<[String; 7]> = runs.iter().map(cells).collect();
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count());
        // Times differ in length from run to run; the table need not.
        let least = if at == 3 { 6 } else { 0 };
        cells.chain(head.get(at).map(|name| name.len())).chain([least]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &[&str]| {
        let mut text = String::new();
        for (at, (cell, width)) in cells.iter().zip(&widths).enumerate() {
            let right = matches!(at, 0 | 3 | 5 | 6);
            let fill = " ".repeat(width.saturating_sub(cell.chars().count()));
            let _ =
                if right { write!(text, "  {fill}{cell}") } else { write!(text, "  {cell}{fill}") };
        }
        text
    };
    let room = look.width.saturating_sub(widths.iter().sum::<usize>() + 2 * widths.len() + 2);
    let mut out = look.quiet(line(&head).trim_end()) + "\n";
    for (row, (_, roots)) in rows.iter().zip(runs) {
        let cells: Vec<&str> = row.iter().map(String::as_str).collect();
        let text = format!("{}  {}", line(&cells), key_numbers(roots, room));
        let _ = writeln!(out, "{}", text.trim_end());
    }
    out
}

/// What a run is judged by: the numbers of its checks, then those that outputs are, as many as fit.
fn key_numbers(roots: &Roots, room: usize) -> String {
    let of = |kind: &'static str| roots.rows.iter().filter(move |root| root.kind == kind);
    let mut text = String::new();
    for root in of("check").chain(of("output")) {
        let Some(value) = roots.numbers.get(&root.name) else { continue };
        let mark = if root.passed == Some(false) { " ✗" } else { "" };
        let comma = if text.is_empty() { "" } else { ", " };
        let next = format!("{comma}{} {}{mark}", root.name, figure(*value));
        if text.chars().count() + next.chars().count() > room {
            break;
        }
        text += &next;
    }
    text
}

/// One run in full.
pub(crate) fn run(shown: &Shown, look: &Look) -> String {
    let row = &shown.run.row;
    let exit = row.exit_code.map_or_else(String::new, |code| format!(", exit {code}"));
    let mut out = format!(
        "{} · {} · {}{exit}\n\n",
        look.strong(&format!("run {}", row.run)),
        row.file,
        outcome(row)
    );
    let mut fact = |name: &str, text: Option<String>| {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            let _ = writeln!(out, "  {}  {text}", look.quiet(&pad(name, 8)));
        }
    };
    let about = &shown.run.about;
    fact("command", Some(command(&about.command)));
    fact("folder", Some(about.folder.clone()));
    let started = DateTime::from_timestamp_nanos(row.started).with_timezone(&Local);
    fact("started", Some(started.format("%Y-%m-%d %H:%M:%S").to_string()));
    fact("took", row.seconds.map(seconds));
    fact("git", shown.run.git.as_ref().map(git));
    let who = [about.user.as_deref(), about.host.as_deref()];
    fact("by", Some(who.into_iter().flatten().collect::<Vec<_>>().join(" on ")));
    let versions = shown.versions();
    let versions: Vec<String> =
        versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    fact("versions", Some(versions.join(", ")));
    fact("machine", Some(machine(shown)));
    fact("memory", memory(shown));
    params(&mut out, shown, look);
    checks(&mut out, shown, look);
    numbers(&mut out, shown, look);
    nodes(&mut out, &shown.nodes, look);
    files(&mut out, shown, look);
    out
}

fn heading(out: &mut String, text: &str, look: &Look) {
    let _ = writeln!(out, "\n{}", look.strong(text));
}

/// The command as a shell takes it.
fn command(words: &[String]) -> String {
    let plain = |word: &str| {
        !word.is_empty()
            && word.chars().all(|letter| letter.is_alphanumeric() || "-_./=:,+@%~".contains(letter))
    };
    let quoted = words.iter().map(|word| match plain(word) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// `3f2a9c1d on main, clean`.
pub(crate) fn git(git: &Git) -> String {
    let commit = git.commit.as_deref().map_or("no commit yet", short);
    let branch = git.branch.as_ref().map_or_else(String::new, |branch| format!(" on {branch}"));
    let state = match &git.changes {
        None => "clean".to_owned(),
        Some(changes) => {
            let first =
                changes.names.iter().take(3).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if changes.files > 3 { ", .." } else { "" };
            let files = count(changes.files, "file");
            format!("{files} changed ({first}{more}; state {})", short(&changes.digest))
        }
    };
    format!("{commit}{branch}, {state}")
}

fn machine(shown: &Shown) -> String {
    let machine = &shown.run.about.machine;
    if machine.threads == 0 {
        return String::new();
    }
    let processor =
        machine.processor.as_ref().map_or_else(String::new, |name| format!(" of {name}"));
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    machine.gpus.iter().for_each(|gpu| *kinds.entry(gpu).or_default() += 1);
    let gpus: Vec<String> =
        kinds.iter().map(|(kind, number)| format!("{number} x {kind}")).collect();
    let gpus = if gpus.is_empty() { "no GPU".to_owned() } else { gpus.join(", ") };
    let threads = count(machine.threads as usize, "thread");
    format!("{threads}{processor}, {}, {gpus}", bytes(machine.memory))
}

fn memory(shown: &Shown) -> Option<String> {
    let own = shown.run.peak_bytes.map(|most| format!("pipe {}", bytes(most)));
    let worker = shown.worker_peak().map(|most| format!("worker {}", bytes(most)));
    let parts: Vec<String> = own.into_iter().chain(worker).collect();
    (!parts.is_empty()).then(|| format!("at most: {}", parts.join(", ")))
}

fn params(out: &mut String, shown: &Shown, look: &Look) {
    let params = &shown.run.params;
    if params.is_empty() {
        return;
    }
    heading(out, "params", look);
    let width = widest(params.keys().map(String::as_str), look);
    for (name, value) in params {
        let value = cut(&value.to_string(), look.width.saturating_sub(width + 4));
        let _ = writeln!(out, "  {}  {value}", pad(&cut(name, width), width));
    }
}

fn checks(out: &mut String, shown: &Shown, look: &Look) {
    let checks: Vec<_> = shown.roots.rows.iter().filter(|root| root.kind == "check").collect();
    if checks.is_empty() {
        return;
    }
    heading(out, "checks", look);
    let width = widest(checks.iter().map(|check| check.name.as_str()), look);
    for check in checks {
        let mark = match check.passed {
            Some(true) => look.good("✓"),
            Some(false) => look.bad("✗"),
            None => look.quiet("-"),
        };
        let state = if check.passed == Some(false) { "  false" } else { "" };
        let _ = writeln!(
            out,
            "  {mark} {}  {}{}",
            pad(&cut(&check.name, width), width),
            check.shown,
            if check.shown == "false" { "" } else { state }
        );
        if let (Some(false), Some(doc)) = (check.passed, &check.doc) {
            let _ = writeln!(out, "    {}", cut(&doc.replace('\n', " "), look.width - 4));
        }
    }
}

/// Numbers of outputs, and where curves ended; those of checks stand with them.
fn numbers(out: &mut String, shown: &Shown, look: &Look) {
    let is_check = |place: &str| {
        shown.roots.rows.iter().any(|root| root.kind == "check" && root.name == place)
    };
    let numbers = shown.roots.numbers.iter().filter(|(place, _)| !is_check(place));
    let mut lines: Vec<(String, String)> =
        numbers.map(|(place, value)| (place.clone(), figure(*value))).collect();
    lines.extend(shown.curves.iter().map(|(node, name, step, value)| {
        let step = shown::count(i64::try_from(*step).unwrap_or(i64::MAX));
        (format!("{node} {name}"), format!("{} at step {step}", figure(*value)))
    }));
    if lines.is_empty() {
        return;
    }
    heading(out, "numbers", look);
    let names = lines.iter().take(FIGURES).map(|(name, _)| name.chars().count());
    let width = names.max().unwrap_or(0).min(look.width.saturating_sub(24));
    for (name, value) in lines.iter().take(FIGURES) {
        let _ = writeln!(out, "  {}  {value}", pad(&cut_front(name, width), width));
    }
    if lines.len() > FIGURES {
        let _ = writeln!(
            out,
            "  and {} more: `pipe metrics {}`",
            lines.len() - FIGURES,
            shown.run.row.run
        );
    }
}

/// Nodes that took time first, the slowest before all; of equal ones by name.
pub(crate) fn slowest(nodes: &[NodeSeen]) -> Vec<&NodeSeen> {
    let mut sorted: Vec<&NodeSeen> = nodes.iter().collect();
    sorted.sort_by(|a, b| b.seconds.total_cmp(&a.seconds).then_with(|| a.name.cmp(&b.name)));
    sorted
}

fn nodes(out: &mut String, nodes: &[NodeSeen], look: &Look) {
    if nodes.is_empty() {
        return;
    }
    heading(out, "nodes, the slowest first", look);
    let worked = |node: &&&NodeSeen| matches!(node.state.as_str(), "ran" | "failed");
    let sorted = slowest(nodes);
    let listed: Vec<&NodeSeen> = sorted.iter().filter(worked).copied().take(MANY).collect();
    let width = widest(listed.iter().map(|node| node.name.as_str()), look);
    let ops = listed.iter().map(|node| node.op.chars().count()).max().unwrap_or(0).min(24);
    for node in &listed {
        let mark = if node.state == "failed" { look.bad("✗") } else { look.good("✓") };
        let peak =
            node.peak_bytes.map_or_else(String::new, |most| format!("  worker {}", bytes(most)));
        let _ = writeln!(
            out,
            "  {mark} {}  {}  {:>8}  key {}{peak}",
            pad(&cut_name(&node.name, width), width),
            look.quiet(&pad(&cut(&node.op, ops), ops)),
            seconds(node.seconds),
            short(&node.plan_key),
        );
        if let Some(OpError { code, message, .. }) = &node.error {
            let _ = writeln!(out, "    {code}: {message}");
        }
    }
    let ran = sorted.iter().filter(worked).count();
    if ran > listed.len() {
        let _ = writeln!(out, "  and {} more that ran: --json", ran - listed.len());
    }
    for state in ["cached", "skipped"] {
        let names: Vec<&str> = nodes
            .iter()
            .filter(|node| node.state == state)
            .map(|node| node.name.as_str())
            .collect();
        if !names.is_empty() {
            let line = format!("  {} {state}: {}", names.len(), names.join(", "));
            let _ = writeln!(out, "{}", look.quiet(&cut(&line, look.width)));
        }
    }
}

fn files(out: &mut String, shown: &Shown, look: &Look) {
    if shown.outputs.is_empty() {
        return;
    }
    heading(out, "outputs on disk that are of this run", look);
    let here = shown.run.about.folder.as_str();
    for file in shown.outputs.iter().take(MANY) {
        let path = file
            .path
            .strip_prefix(here)
            .map_or(file.path.as_str(), |path| path.trim_start_matches('/'));
        let _ =
            writeln!(out, "  {path}  {}  {}", bytes(file.bytes), look.quiet(short(&file.digest)));
    }
    if shown.outputs.len() > MANY {
        let _ = writeln!(out, "  and {} more: --json", shown.outputs.len() - MANY);
    }
}

/// Columns for names: as many as they need, a third of the line at most.
pub(crate) fn widest<'n>(names: impl Iterator<Item = &'n str>, look: &Look) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or(0).min((look.width / 3).max(28))
}
