//! From drafts to the plan: what nothing needs is dropped, the rest is numbered and named.

use super::annotate::{annotate, resources};
use super::{Annotations, Arg, Body, Input, Node, NodeId, Plan, Root};
use crate::eval::{Draft, DraftPlace, ParamInfo};
use crate::host::Machine;
use std::collections::{BTreeMap, BTreeSet};

/// Make the plan of a program's drafts and roots.
pub(crate) fn plan(
    file: &str,
    drafts: Vec<Draft>,
    mut roots: Vec<Root>,
    params: &[ParamInfo],
    machine: Machine,
) -> Plan {
    let kept = needed(&drafts, &roots);
    let numbers: BTreeMap<usize, NodeId> =
        (0u32..).zip(&kept).map(|(number, draft)| (*draft, NodeId(number))).collect();
    let named = named(&drafts, &kept);
    let mut names = names(&named);
    let mut nodes = Vec::with_capacity(kept.len());
    for (number, Named { at, draft, place }) in (0u32..).zip(&named) {
        let name = names.remove(at).unwrap_or_default();
        let doc = place.and_then(|place| place.doc.clone());
        let mut node = node(draft, NodeId(number), name, doc);
        node.args.values_mut().for_each(|arg| renumber(arg, &numbers));
        nodes.push(node);
    }
    for root in &mut roots {
        renumber(&mut root.value, &numbers);
        if let Some(shows) = &mut root.shows {
            renumber(&mut shows.left, &numbers);
            renumber(&mut shows.right, &numbers);
        }
    }
    roots.sort_by_key(|root| root.span);
    let params = params
        .iter()
        .filter_map(|param| Some((param.name.clone(), param.value.clone()?)))
        .collect();
    let mut plan = Plan { file: file.to_owned(), nodes, roots, params, widest: 0 };
    let kept: Vec<&Draft> = kept.iter().filter_map(|at| drafts.get(*at)).collect();
    annotate(&mut plan, &kept, machine);
    debug_assert!(
        is_sound(&plan),
        "nodes are numbered in topological order and each is needed once"
    );
    plan
}

/// Make the body of a driver from the drafts `kept` of its frame. `place` says what stands for an input.
pub(crate) fn body(
    drafts: &[Draft],
    kept: &[usize],
    bound: Vec<String>,
    result: &Arg,
    machine: Machine,
    place: &dyn Fn(&Input) -> Arg,
) -> Body {
    let named = named(drafts, kept);
    let mut names = names(&named);
    let mut nodes: Vec<Node> = Vec::with_capacity(named.len());
    for (number, Named { at, draft, place: declared }) in (0u32..).zip(&named) {
        let name = names.remove(at).unwrap_or_default();
        let doc = declared.and_then(|declared| declared.doc.clone());
        let mut node = node(draft, NodeId(number), name, doc);
        node.args.values_mut().for_each(|arg| *arg = placed(arg, place));
        resources(&mut node.runs, draft, machine);
        let key_of = |id: NodeId| nodes.get(id.0 as usize).map(|node| node.key);
        if let Some(fields) = crate::key::plan_fields(&node, key_of) {
            node.key = fields.key();
        }
        nodes.push(node);
    }
    Body { bound, nodes, result: placed(result, place) }
}

/// An argument with something else in place of each input.
fn placed(arg: &Arg, place: &dyn Fn(&Input) -> Arg) -> Arg {
    match arg {
        Arg::Input(input) => place(input),
        Arg::List(items) => Arg::List(items.iter().map(|item| placed(item, place)).collect()),
        Arg::Record(fields) => {
            let fields = fields.iter().map(|(name, field)| (name.clone(), placed(field, place)));
            Arg::Record(fields.collect())
        }
        Arg::Reading { function, reads } => Arg::Reading {
            function: function.clone(),
            reads: reads.iter().map(|read| placed(read, place)).collect(),
        },
        other => other.clone(),
    }
}

/// The drafts that an output, a check or an effect needs, in order.
fn needed(drafts: &[Draft], roots: &[Root]) -> Vec<usize> {
    let mut needed = BTreeSet::new();
    let mut open: Vec<usize> = Vec::new();
    for root in roots {
        let mut inputs = Vec::new();
        root.value.inputs(&mut inputs);
        if let Some(shows) = &root.shows {
            shows.left.inputs(&mut inputs);
            shows.right.inputs(&mut inputs);
        }
        open.extend(inputs.iter().map(|input| input.node.0 as usize));
    }
    let effects = drafts.iter().enumerate().filter(|(_, draft)| draft.effect && draft.frame == 0);
    open.extend(effects.map(|(at, _)| at));
    while let Some(at) = open.pop() {
        if let Some(draft) = drafts.get(at)
            && needed.insert(at)
        {
            let mut inputs = Vec::new();
            draft.args.values().for_each(|arg| arg.inputs(&mut inputs));
            open.extend(inputs.iter().map(|input| input.node.0 as usize));
        }
    }
    needed.into_iter().collect()
}

/// A draft with the declaration that it is named after.
struct Named<'d> {
    at: usize,
    draft: &'d Draft,
    place: Option<&'d DraftPlace>,
}

/// The declaration of which a draft is the result, else the first one whose result is kept.
fn named<'d>(drafts: &'d [Draft], kept: &[usize]) -> Vec<Named<'d>> {
    let kept: Vec<(usize, &Draft)> =
        kept.iter().filter_map(|at| Some((*at, drafts.get(*at)?))).collect();
    let results = kept.iter().flat_map(|(_, draft)| &draft.places).filter(|place| place.result);
    let live: BTreeSet<&str> = results.map(|place| place.name.as_str()).collect();
    kept.into_iter()
        .map(|(at, draft)| {
            let result = draft.places.iter().find(|place| place.result);
            let alive = || draft.places.iter().find(|place| live.contains(place.name.as_str()));
            Named { at, draft, place: result.or_else(alive).or(draft.places.first()) }
        })
        .collect()
}

/// Unique names: the declaration's for its result, else the declaration's and the op's last word.
fn names(named: &[Named<'_>]) -> BTreeMap<usize, String> {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut names = BTreeMap::new();
    let is_result = |named: &&Named<'_>| named.place.is_some_and(|place| place.result);
    let results = named.iter().filter(is_result);
    let others = named.iter().filter(|named| !is_result(named));
    let mut next: BTreeMap<String, usize> = BTreeMap::new();
    for Named { at, draft, place } in results.chain(others) {
        let word = draft.op.rsplit('.').next().unwrap_or(&draft.op);
        let base = match place {
            Some(place) if place.result => place.name.clone(),
            Some(place) if !place.name.is_empty() => format!("{}.{word}", place.name),
            _ => word.to_owned(),
        };
        let count = next.entry(base.clone()).or_insert(1);
        let mut name = base.clone();
        while !taken.insert(name.clone()) {
            *count += 1;
            name = format!("{base}#{count}");
        }
        names.insert(*at, name);
    }
    names
}

fn node(draft: &Draft, id: NodeId, name: String, doc: Option<String>) -> Node {
    Node {
        id,
        name,
        op: draft.op.clone(),
        version: draft.version,
        tool: draft.tool.clone(),
        args: draft.args.clone(),
        nokey: draft.nokey.clone(),
        key: draft.key,
        ty: draft.ty.to_string(),
        columns: draft.columns.clone(),
        span: draft.span,
        call: draft.call.clone(),
        doc,
        runs: Annotations {
            worker: draft.worker,
            memory: draft.attributes.memory,
            estimate: draft.estimate,
            retry: draft.attributes.retry,
            timeout: draft.attributes.timeout,
            cache: !draft.attributes.cache_off,
            promise: draft.promise,
            streamable: draft.streamable,
            effect: draft.effect,
            ..Annotations::light()
        },
    }
}

fn renumber(arg: &mut Arg, numbers: &BTreeMap<usize, NodeId>) {
    match arg {
        Arg::Input(Input { node, .. }) => {
            if let Some(number) = numbers.get(&(node.0 as usize)) {
                *node = *number;
            }
        }
        Arg::List(items) => items.iter_mut().for_each(|item| renumber(item, numbers)),
        Arg::Record(fields) => fields.values_mut().for_each(|field| renumber(field, numbers)),
        Arg::Reading { reads, .. } => reads.iter_mut().for_each(|read| renumber(read, numbers)),
        Arg::Const(_)
        | Arg::Row(_)
        | Arg::Columns(_)
        | Arg::Files(_)
        | Arg::Body(_)
        | Arg::Bound(_) => {}
    }
}

/// The invariants of the passes: topological numbers, unique names, no two nodes of one key and cache policy, and keys
/// that are those of the arguments.
fn is_sound(plan: &Plan) -> bool {
    let mut names = BTreeSet::new();
    let mut keys = BTreeSet::new();
    plan.nodes.iter().enumerate().all(|(at, node)| {
        let earlier = node.inputs().iter().all(|input| (input.node.0 as usize) < at);
        let fields =
            crate::key::plan_fields(node, |id| plan.nodes.get(id.0 as usize).map(|node| node.key));
        let keyed = fields.is_some_and(|fields| fields.key() == node.key);
        node.id.0 as usize == at
            && earlier
            && keyed
            && names.insert(&node.name)
            && keys.insert((node.key, node.runs.cache))
    })
}
