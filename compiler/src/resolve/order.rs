//! Declarations may stand in any order; this finds the one in which they can be looked at, and the cycles.

use super::{DeclId, Program, name_span, references};
use crate::resolve::bound_name;
use petgraph::Direction;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use pipe_grammar::Problem;
use pipe_grammar::ast::ItemKind;
use std::collections::{BTreeMap, BTreeSet};

/// The declarations in an order where each stands after those it mentions, and those that lie on a cycle.
pub(crate) struct Order {
    pub(crate) sequence: Vec<DeclId>,
    pub(crate) cyclic: BTreeSet<DeclId>,
    /// Declarations that something else mentions.
    pub(crate) mentioned: BTreeSet<DeclId>,
}

/// Sort the declarations of a program and report the cycles.
pub(crate) fn order(program: &Program, problems: &mut Vec<Problem>) -> Order {
    let mut graph: DiGraph<DeclId, ()> = DiGraph::new();
    // Declarations are numbered module by module, in file order.
    let mut firsts = Vec::with_capacity(program.modules.len());
    for (module, loaded) in program.modules.iter().enumerate() {
        firsts.push(graph.node_count());
        for item in 0..loaded.ast.items.len() {
            graph.add_node(DeclId { module, item });
        }
    }
    let mut mentioned = BTreeSet::new();
    let mut loops = BTreeSet::new();
    for from in graph.node_indices() {
        let id = graph[from];
        for reference in references(program.item(id)) {
            let Some(target) = program.target(id.module, &reference) else { continue };
            if target == id {
                loops.insert(id);
            } else {
                mentioned.insert(target);
            }
            if let Some(first) = firsts.get(target.module) {
                graph.update_edge(from, NodeIndex::new(first + target.item), ());
            }
        }
    }
    let mut cyclic = BTreeSet::new();
    for component in kosaraju_scc(&graph) {
        let mut members: Vec<DeclId> = component.iter().map(|node| graph[*node]).collect();
        members.sort();
        let alone = members.len() == 1;
        if !alone || members.first().is_some_and(|id| loops.contains(id)) {
            cyclic.extend(&members);
            problems.push(cycle(program, &members));
        }
    }
    Order { sequence: sequence(&graph, &cyclic), cyclic, mentioned }
}

/// Dependencies first, else used files and then the program in file order (Kahn's algorithm with the earliest
/// declaration that is ready).
fn sequence(graph: &DiGraph<DeclId, ()>, cyclic: &BTreeSet<DeclId>) -> Vec<DeclId> {
    let counts = |id: &DeclId| !cyclic.contains(id);
    let mut waits = vec![0; graph.node_count()];
    let mut ready: BTreeSet<(bool, DeclId, NodeIndex)> = BTreeSet::new();
    let place = |id: DeclId, node: NodeIndex| (id.module == 0, id, node);
    for node in graph.node_indices() {
        let open = graph.neighbors(node).filter(|to| counts(&graph[*to])).count();
        waits[node.index()] = open;
        if open == 0 || !counts(&graph[node]) {
            ready.insert(place(graph[node], node));
        }
    }
    let mut sequence = Vec::with_capacity(graph.node_count());
    while let Some((_, id, node)) = ready.pop_first() {
        sequence.push(id);
        if !counts(&id) {
            continue;
        }
        for user in graph.neighbors_directed(node, Direction::Incoming) {
            if let Some(open) = waits.get_mut(user.index())
                && *open > 0
            {
                *open -= 1;
                if *open == 0 && counts(&graph[user]) {
                    ready.insert(place(graph[user], user));
                }
            }
        }
    }
    sequence
}

fn cycle(program: &Program, members: &[DeclId]) -> Problem {
    let path = shortest_cycle(program, members);
    let name = |id: &DeclId| {
        bound_name(program.item(*id)).map_or("?", |name| name.text.as_str()).to_owned()
    };
    let first = path.first().copied().unwrap_or(DeclId { module: 0, item: 0 });
    let mut chain: Vec<String> = path.iter().map(name).collect();
    chain.push(name(&first));
    let chain = chain.join(" → ");
    let item = program.item(first);
    let functions = path.iter().all(|id| matches!(program.item(*id).kind, ItemKind::Fn(_)));
    let (code, message, help) = if functions {
        (
            "resolve::recursion",
            format!("`{}` calls itself: {chain}", name(&first)),
            "functions cannot recurse; repeat with `for` or `iterate`, or take a list apart with `list.*`",
        )
    } else if path.iter().all(|id| matches!(program.item(*id).kind, ItemKind::Type { .. })) {
        (
            "resolve::cycle",
            format!("the type `{}` contains itself: {chain}", name(&first)),
            "types are as deep as they are written; take the inner one out",
        )
    } else {
        (
            "resolve::cycle",
            format!("`{}` is defined by itself: {chain}", name(&first)),
            "give one of them a value that does not depend on the others",
        )
    };
    let step = |at: usize| {
        let this = path.get(at).map(name).unwrap_or_default();
        let next = path.get(at + 1).unwrap_or(&first);
        format!("`{this}` needs `{}`", name(next))
    };
    let mut problem = Problem::error(code, name_span(item), message).label(step(0)).help(help);
    for (at, other) in path.iter().enumerate().skip(1) {
        problem = problem.also(name_span(program.item(*other)), step(at));
    }
    problem
}

/// A shortest way from the first member back to itself.
fn shortest_cycle(program: &Program, members: &[DeclId]) -> Vec<DeclId> {
    let Some(start) = members.first().copied() else { return Vec::new() };
    let inside: BTreeSet<DeclId> = members.iter().copied().collect();
    let mut came_from: BTreeMap<DeclId, DeclId> = BTreeMap::new();
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for reference in references(program.item(at)) {
            let Some(next) = program.target(at.module, &reference) else { continue };
            if next == start {
                let mut path = vec![at];
                while let Some(previous) = path.last().and_then(|id| came_from.get(id)) {
                    path.push(*previous);
                }
                path.reverse();
                return path;
            }
            if inside.contains(&next) && !came_from.contains_key(&next) {
                came_from.insert(next, at);
                queue.push_back(next);
            }
        }
    }
    vec![start]
}
