//! A plan as a table: each node, what will happen to it, and why.

use super::style::{Look, count, cut, pad, seconds};
use pipe_compiler::explain::shown_op;
use pipe_compiler::plan::{Node, Plan};
use pipe_runtime::Store;
use pipe_runtime::op::OpError;
use pipe_runtime::shown::bytes;
use pipe_runtime::states::{Expected, NodeStatus};
use std::fmt::Write;

/// The word for a state in JSON.
pub(crate) fn word(state: Expected) -> &'static str {
    match state {
        Expected::Cached => "cached",
        Expected::Run => "run",
        Expected::Maybe => "maybe",
        Expected::Expand => "expand",
    }
}

/// The table with a headline above and the critical path below.
pub(crate) fn text(
    plan: &Plan,
    states: &[NodeStatus],
    store: &Store,
    look: &Look,
) -> Result<String, OpError> {
    let mut out = headline(plan, states, store, look)?;
    out.push_str("\n\n");
    let name_width = widest(plan.nodes.iter().map(|node| node.name.as_str())).min(28);
    let ops: Vec<String> = plan.nodes.iter().map(shown_op).collect();
    let op_width = widest(ops.iter().map(String::as_str)).min(40);
    for ((node, op), status) in plan.nodes.iter().zip(&ops).zip(states) {
        let word = match status.state {
            Expected::Cached => look.quiet("cached  "),
            Expected::Run => look.strong("will run"),
            Expected::Maybe => look.careful("maybe   "),
            Expected::Expand => look.careful("expands "),
        };
        let room = look.width.saturating_sub(name_width + op_width + 16).max(16);
        let line = format!(
            "  {}  {}  {word}  {}",
            pad(&cut(&node.name, name_width), name_width),
            look.quiet(&pad(&cut(op, op_width), op_width)),
            cut(&status.why, room),
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    for root in &plan.roots {
        let kind =
            if root.kind == pipe_compiler::plan::RootKind::Check { "check" } else { "output" };
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

fn headline(
    plan: &Plan,
    states: &[NodeStatus],
    store: &Store,
    look: &Look,
) -> Result<String, OpError> {
    let of = |wanted| states.iter().filter(|status| status.state == wanted).count();
    let mut parts = vec![look.strong(&plan.file), count(plan.nodes.len(), "node")];
    for (number, what) in [
        (of(Expected::Cached), "cached"),
        (of(Expected::Run), "will run"),
        (of(Expected::Maybe), "maybe"),
    ] {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    }
    let runs = plan.nodes.iter().zip(states).filter(|(_, status)| status.state == Expected::Run);
    let running: Vec<&Node> = runs.map(|(node, _)| node).collect();
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

fn widest<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}
