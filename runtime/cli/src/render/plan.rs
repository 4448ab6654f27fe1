//! A plan as a table: each node, what will happen to it, and why. A driver has its body below it, or the nodes that it
//! would make where those are known.

use super::style::{Look, count, cut, cut_name, pad, seconds};
use pipe_compiler::explain::shown_op;
use pipe_compiler::plan::{Arg, Body, Node, NodeId, Plan, RootKind};
use pipe_runtime::Store;
use pipe_runtime::op::OpError;
use pipe_runtime::shown::bytes;
use pipe_runtime::states::{Expected, NodeStatus, States};
use std::fmt::Write;

/// Nodes of one driver that are shown; of longer fan-outs those that are cached are counted.
const MANY: usize = 12;

/// The word for a state in JSON.
pub(crate) fn word(state: Expected) -> &'static str {
    match state {
        Expected::Cached => "cached",
        Expected::Run => "run",
        Expected::Maybe => "maybe",
        Expected::Expand => "expand",
    }
}

/// A line of the table.
struct Line {
    depth: usize,
    name: String,
    op: String,
    /// Nothing for the nodes of a body: how many of them there will be is not known.
    state: Option<Expected>,
    why: String,
}

/// The table with a headline above and the critical path below.
pub(crate) fn text(
    plan: &Plan,
    states: &States,
    store: &Store,
    look: &Look,
) -> Result<String, OpError> {
    let mut out = headline(plan, states, store, look)?;
    out.push_str("\n\n");
    let mut lines = Vec::new();
    for (node, status) in plan.nodes.iter().zip(&states.planned) {
        add(&mut lines, 0, node, status, states);
    }
    let name_width = lines.iter().map(|line| 2 * line.depth + line.name.chars().count());
    let name_width = name_width.max().unwrap_or(0).min((look.width / 3).max(28));
    let op_width = lines.iter().map(|line| line.op.chars().count()).max().unwrap_or(0).min(40);
    for line in &lines {
        let _ = writeln!(out, "{}", shown(line, name_width, op_width, look).trim_end());
    }
    for root in &plan.roots {
        let kind = if root.kind == RootKind::Check { "check" } else { "output" };
        let _ = writeln!(out, "  {kind} {}", root.name);
    }
    let critical: Vec<&str> = plan
        .nodes
        .iter()
        .filter(|node| node.runs.critical)
        .map(|node| node.name.as_str())
        .collect();
    if !critical.is_empty() {
        let path = cut(&critical.join(" → "), look.width.saturating_sub(15));
        let _ = writeln!(
            out,
            "\ncritical path  {path}\nwidest level   {}",
            count(plan.widest as usize, "node")
        );
    }
    Ok(out)
}

fn shown(line: &Line, name_width: usize, op_width: usize, look: &Look) -> String {
    let word = match line.state {
        Some(Expected::Cached) => look.quiet("cached  "),
        Some(Expected::Run) => look.strong("will run"),
        Some(Expected::Maybe) => look.careful("maybe   "),
        Some(Expected::Expand) => look.strong("expands "),
        None => String::new(),
    };
    let indent = "  ".repeat(line.depth);
    let room = name_width.saturating_sub(indent.len());
    let why = look.width.saturating_sub(name_width + op_width + 16).max(16);
    format!(
        "  {indent}{}  {}  {word}  {}",
        pad(&cut_name(&line.name, room), room),
        look.quiet(&pad(&cut(&line.op, op_width), op_width)),
        cut(&line.why, why),
    )
}

/// A node, and below it what it makes.
fn add(lines: &mut Vec<Line>, depth: usize, node: &Node, status: &NodeStatus, states: &States) {
    lines.push(Line {
        depth,
        name: node.name.clone(),
        op: phrase(node),
        state: Some(status.state),
        why: status.why.clone(),
    });
    match states.made.get(&node.id) {
        Some(made) => {
            let long = made.len() > MANY;
            let hides = |state| long && state == Expected::Cached;
            let listed = made.iter().filter(|made| !hides(made.status.state));
            for made in listed.clone().take(MANY) {
                add(lines, depth + 1, &made.node, &made.status, states);
            }
            let more = listed.skip(MANY).count();
            let cached = made.iter().filter(|made| hides(made.status.state)).count();
            let parts = [(more, "more"), (cached, "cached")];
            let parts = parts.iter().filter(|(number, _)| *number > 0);
            let parts: Vec<String> =
                parts.map(|(number, what)| format!("{number} {what}")).collect();
            if !parts.is_empty() {
                lines.push(plain(depth + 1, format!("and {}", parts.join(", "))));
            }
        }
        None if status.state == Expected::Expand => add_bodies(lines, depth + 1, node),
        None => {}
    }
}

/// The bodies of a driver, with names as they will be: `[host=…].fit`.
fn add_bodies(lines: &mut Vec<Line>, depth: usize, driver: &Node) {
    for (argument, body) in pipe_compiler::explain::bodies(driver) {
        let label = label(&driver.op, argument, body);
        for node in &body.nodes {
            let name = match node.name.as_str() {
                "" => label.clone(),
                name => format!("{label}.{name}"),
            };
            let op = phrase(node);
            lines.push(Line { op, ..plain(depth, name) });
            add_bodies(lines, depth + 1, node);
        }
    }
}

fn plain(depth: usize, name: String) -> Line {
    Line { depth, name, op: String::new(), state: None, why: String::new() }
}

/// What tells the nodes of a body from others, before there are any.
fn label(op: &str, argument: &str, body: &Body) -> String {
    let text = match (op, argument) {
        ("flow.choose", "otherwise") => "else".to_owned(),
        ("flow.choose", other) => other.to_owned(),
        ("flow.iterate", other) => format!("{other}=…"),
        _ => {
            let names = body.bound.iter().map(|name| format!("{name}=…"));
            names.collect::<Vec<_>>().join(", ")
        }
    };
    format!("[{text}]")
}

/// What a node does: its op, or what a driver stands for in the program.
fn phrase(node: &Node) -> String {
    let bound = |argument: &str| match node.args.get(argument) {
        Some(Arg::Body(body)) => body.bound.join(", "),
        _ => String::new(),
    };
    match node.op.as_str() {
        "flow.each" => format!("for each {}", bound("body")),
        "flow.choose" => "if, else".to_owned(),
        "flow.iterate" => match node.args.get("max") {
            Some(Arg::Const(max)) => format!("at most {max} steps"),
            _ => "step by step".to_owned(),
        },
        _ => shown_op(node),
    }
}

fn headline(plan: &Plan, states: &States, store: &Store, look: &Look) -> Result<String, OpError> {
    let made = || states.made.values().flatten();
    let all = states.planned.iter().chain(made().map(|made| &made.status));
    let of = |wanted| all.clone().filter(|status| status.state == wanted).count();
    let nodes = plan.nodes.len() + made().count();
    let mut parts = vec![look.strong(&plan.file), count(nodes, "node")];
    let expand = of(Expected::Expand);
    for (number, what) in [
        (of(Expected::Cached), "cached"),
        (of(Expected::Run), "will run"),
        (of(Expected::Maybe), "maybe"),
        (expand, if expand == 1 { "expands" } else { "expand" }),
    ] {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    }
    let planned = plan.nodes.iter().zip(&states.planned);
    let made = made().map(|made| (&made.node, &made.status));
    let running: Vec<&Node> = planned
        .chain(made)
        .filter(|(node, status)| runs(node.id, status.state, states))
        .map(|(node, _)| node)
        .collect();
    let times = running
        .iter()
        .map(|node| store.last_seconds(&node.name, &node.op))
        .collect::<Result<Vec<_>, _>>()?;
    let known: f64 = times.iter().flatten().sum();
    if !running.is_empty() && times.iter().all(Option::is_some) {
        parts.push(format!("~{}", seconds(known)));
    }
    if let Some(memory) = running.iter().filter_map(|node| node.runs.memory).max() {
        parts.push(bytes(memory));
    }
    Ok(parts.join(" · "))
}

/// Whether the node takes time of its own: a driver whose nodes are known takes what those take.
fn runs(node: NodeId, state: Expected, states: &States) -> bool {
    match state {
        Expected::Run => true,
        Expected::Expand => !states.made.contains_key(&node),
        Expected::Cached | Expected::Maybe => false,
    }
}
