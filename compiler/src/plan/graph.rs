//! From drafts to the plan: what nothing needs is dropped, the rest is numbered and named.

use super::annotate::{annotate, resources};
use super::fuse::{fuse, fuse_body};
use super::{Annotations, Arg, Body, Input, Node, NodeId, Plan, Root, Shared};
use crate::eval::{Draft, DraftPlace, Drafts, ParamInfo};
use crate::host::Machine;
use crate::types::Type;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Make the plan of a program's drafts and roots.
pub(crate) fn plan(
    file: &str,
    drafts: Drafts,
    mut roots: Vec<Root>,
    params: &[ParamInfo],
    machine: Machine,
) -> Plan {
    let kept = needed(&drafts, &roots);
    let mut numbers: Vec<Option<NodeId>> = vec![None; drafts.len()];
    for (number, at) in (0u32..).zip(&kept) {
        if let Some(place) = numbers.get_mut(*at) {
            *place = Some(NodeId(number));
        }
    }
    let named = named(&drafts, &kept);
    let names = names(&named);
    let mut texts = Texts::default();
    let mut nodes = Vec::with_capacity(kept.len());
    for ((number, Named { draft, place }), name) in (0u32..).zip(&named).zip(names) {
        let doc = place.and_then(|place| place.doc.clone());
        let mut node = node(draft, NodeId(number), name, doc, &mut texts);
        node.args.update(|arg| {
            moves(arg, &numbers).then(|| {
                let mut arg = arg.clone();
                renumber(&mut arg, &numbers);
                arg
            })
        });
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
    debug_assert!(is_sound(&plan), "nodes are sound before they are fused");
    let left = fuse(&mut plan);
    let left = left.into_iter().filter_map(|at| kept.get(at));
    let left: Vec<&Draft> = left.filter_map(|at| drafts.get(*at).map(Box::as_ref)).collect();
    annotate(&mut plan, &left, machine);
    debug_assert!(
        is_sound(&plan),
        "nodes are numbered in topological order and each is needed once"
    );
    plan
}

/// Make the body of a driver from the drafts `kept` of its frame. `place` says what stands for an input.
pub(crate) fn body(
    drafts: &[Box<Draft>],
    kept: &[usize],
    bound: Vec<String>,
    result: &Arg,
    machine: Machine,
    place: &dyn Fn(&Input) -> Arg,
) -> Body {
    let named = named(drafts, kept);
    let names = names(&named);
    let mut texts = Texts::default();
    let mut nodes: Vec<Node> = Vec::with_capacity(named.len());
    for ((number, Named { draft, place: declared }), name) in (0u32..).zip(&named).zip(names) {
        let doc = declared.and_then(|declared| declared.doc.clone());
        let mut node = node(draft, NodeId(number), name, doc, &mut texts);
        node.args.update(|arg| Some(placed(arg, place)));
        resources(&mut node.runs, draft, machine);
        let key_of = |id: NodeId| nodes.get(id.0 as usize).map(|node| node.key);
        if let Some(fields) = crate::key::plan_fields(&node, key_of) {
            node.key = fields.key();
        }
        nodes.push(node);
    }
    let mut body = Body { bound, nodes, result: placed(result, place) };
    fuse_body(&mut body);
    body
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
fn needed(drafts: &[Box<Draft>], roots: &[Root]) -> Vec<usize> {
    let mut needed = vec![false; drafts.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut roots_read = Vec::new();
    for root in roots {
        root.value.inputs(&mut roots_read);
        if let Some(shows) = &root.shows {
            shows.left.inputs(&mut roots_read);
            shows.right.inputs(&mut roots_read);
        }
    }
    open.extend(roots_read.iter().map(|input| input.node.0 as usize));
    let effects = drafts.iter().enumerate().filter(|(_, draft)| draft.effect && draft.frame == 0);
    open.extend(effects.map(|(at, _)| at));
    while let Some(at) = open.pop() {
        if let (Some(draft), Some(known)) = (drafts.get(at), needed.get_mut(at))
            && !std::mem::replace(known, true)
        {
            let mut inputs = Vec::new();
            draft.args.values().for_each(|arg| arg.inputs(&mut inputs));
            open.extend(inputs.iter().map(|input| input.node.0 as usize));
        }
    }
    needed.iter().enumerate().filter(|(_, needed)| **needed).map(|(at, _)| at).collect()
}

/// A draft with the declaration that it is named after.
struct Named<'d> {
    draft: &'d Draft,
    place: Option<&'d DraftPlace>,
}

/// The declaration of which a draft is the result, else the first one whose result is kept.
fn named<'d>(drafts: &'d [Box<Draft>], kept: &[usize]) -> Vec<Named<'d>> {
    let kept: Vec<&Draft> = kept.iter().filter_map(|at| drafts.get(*at).map(Box::as_ref)).collect();
    let result = |draft: &'d Draft| draft.places.iter().find(|place| place.result);
    // Who is alive is asked only of a draft that several declarations create.
    let asked = |draft: &'d Draft| draft.places.len() > 1 && result(draft).is_none();
    let live: BTreeSet<&str> = match kept.iter().any(|draft| asked(draft)) {
        true => {
            let results = kept.iter().flat_map(|draft| &draft.places).filter(|place| place.result);
            results.map(|place| place.name.as_str()).collect()
        }
        false => BTreeSet::new(),
    };
    kept.into_iter()
        .map(|draft| {
            let alive = || draft.places.iter().find(|place| live.contains(place.name.as_str()));
            Named { draft, place: result(draft).or_else(alive).or(draft.places.first()) }
        })
        .collect()
}

/// Unique names: the declaration's for its result, else the declaration's and the op's last word.
fn names(named: &[Named<'_>]) -> Vec<String> {
    let bases: Vec<String> = named
        .iter()
        .map(|Named { draft, place }| {
            let word = draft.op.rsplit('.').next().unwrap_or(&draft.op);
            match place {
                Some(place) if place.result => place.name.to_string(),
                Some(place) if !place.name.is_empty() => format!("{}.{word}", place.name),
                _ => word.to_owned(),
            }
        })
        .collect();
    let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
    // Made names may be those of bases, or of each other, only where a base has the sign in it.
    let signed = bases.iter().any(|base| base.contains('#'));
    let mut numbered: BTreeSet<String> = BTreeSet::new();
    let mut suffixes: BTreeMap<usize, String> = BTreeMap::new();
    let is_result =
        |at: &usize| named.get(*at).and_then(|named| named.place).is_some_and(|place| place.result);
    let all = 0..named.len();
    for at in all.clone().filter(is_result).chain(all.filter(|at| !is_result(at))) {
        let Some(base) = bases.get(at) else { continue };
        let known = taken.get(base.as_str()).copied();
        if known.is_none() && !(base.contains('#') && numbered.contains(base)) {
            taken.insert(base, 1);
            continue;
        }
        let mut count = known.unwrap_or(1);
        let mut free = |name: String| !taken.contains_key(name.as_str()) && numbered.insert(name);
        let suffix = loop {
            count += 1;
            let suffix = format!("#{count}");
            if !signed || free(format!("{base}{suffix}")) {
                break suffix;
            }
        };
        taken.insert(base, count);
        suffixes.insert(at, suffix);
    }
    drop(taken);
    let mut names = bases;
    for (at, suffix) in suffixes {
        if let Some(name) = names.get_mut(at) {
            name.push_str(&suffix);
        }
    }
    names
}

/// Texts of the last few types: most nodes of a loop have one of them.
#[derive(Default)]
struct Texts(VecDeque<(Type, Shared<String>)>);

impl Texts {
    fn of(&mut self, ty: &Type) -> Shared<String> {
        const KEPT: usize = 8;
        if let Some((_, text)) = self.0.iter().find(|(known, _)| known == ty) {
            return text.clone();
        }
        let text = Shared::from(ty.to_string());
        self.0.truncate(KEPT - 1);
        self.0.push_front((ty.clone(), text.clone()));
        text
    }
}

fn node(
    draft: &Draft,
    id: NodeId,
    name: String,
    doc: Option<Shared<String>>,
    texts: &mut Texts,
) -> Node {
    Node {
        id,
        name,
        op: draft.op.to_string(),
        version: draft.version,
        tool: draft.tool.clone(),
        args: draft.args.clone(),
        nokey: draft.nokey.clone(),
        key: draft.key,
        ty: texts.of(&draft.ty),
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
            batch: draft.batch.clone(),
            ..Annotations::light()
        },
        fused: Vec::new(),
    }
}

/// Whether an argument reads a node that has another number in the plan.
pub(super) fn moves(arg: &Arg, numbers: &[Option<NodeId>]) -> bool {
    match arg {
        Arg::Input(Input { node, .. }) => {
            numbers.get(node.0 as usize).copied().flatten().is_some_and(|number| number != *node)
        }
        Arg::List(items) => items.iter().any(|item| moves(item, numbers)),
        Arg::Record(fields) => fields.values().any(|field| moves(field, numbers)),
        Arg::Reading { reads, .. } => reads.iter().any(|read| moves(read, numbers)),
        Arg::Const(_)
        | Arg::Row(_)
        | Arg::Columns(_)
        | Arg::Files(_)
        | Arg::Body(_)
        | Arg::Bound(_) => false,
    }
}

/// Gives inputs the numbers that nodes have now.
pub(super) fn renumber(arg: &mut Arg, numbers: &[Option<NodeId>]) {
    match arg {
        Arg::Input(Input { node, .. }) => {
            if let Some(number) = numbers.get(node.0 as usize).copied().flatten() {
                *node = number;
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
/// that are those of the arguments, of fused steps too.
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
