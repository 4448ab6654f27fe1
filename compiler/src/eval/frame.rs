//! Bodies of drivers: what is drafted in a frame becomes nodes that the run makes, once for each point.
//!
//! Drafts of all frames stand in one list and carry the number of theirs; variables that a driver binds are results of
//! drafts of the op `value.given`. Closing a frame turns the drafts that its result needs into a [`Body`]: what they
//! read of their own frame keeps its place, what they read from outside becomes a capture. Bodies nest, since the node
//! of a driver is an ordinary draft of the frame around it.

use super::arguments::Given;
use super::draft::input;
use super::{Attributes, Draft, Evaluator, NodeValue, Origin, Place, Typed, Value};
use crate::key::{Key, plan_input};
use crate::plan::{Arg, Body, Bound, GIVEN, Input, Node, NodeId, Promise, given};
use crate::types::{Bindings, Type};
use pipe_grammar::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Where drafts go: the program itself is number 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) number: u32,
    /// How many bodies stand around.
    depth: u32,
}

/// A body while it is drafted.
#[derive(Debug)]
pub(super) struct Frame {
    level: Level,
    /// Its drafts have this number or a larger one.
    start: usize,
    /// The variables that the driver binds, with the drafts that stand for them.
    bound: Vec<(String, usize)>,
}

/// A variable that a driver binds.
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) ty: Type,
    /// What it is taken from.
    pub(super) of: Option<Input>,
    pub(super) origin: Rc<Origin>,
    pub(super) span: Span,
}

/// The bodies of one driver with what all of them read from outside.
pub(super) struct Closed {
    pub(super) bodies: Vec<Body>,
    pub(super) captures: Arg,
    heavy: bool,
    effect: bool,
    /// Something in it runs each time, so the driver does.
    cache_off: bool,
    promise: Promise,
}

impl<'a> Evaluator<'a> {
    /// A new frame, and the values of the variables in it.
    pub(super) fn open(&mut self, variables: Vec<Variable>) -> (Frame, Vec<Typed<'a>>) {
        self.frames += 1;
        let level = Level { number: self.frames, depth: self.frame.depth + 1 };
        let mut frame = Frame { level, start: self.drafts.len(), bound: Vec::new() };
        let mut values = Vec::new();
        for Variable { name, ty, of, origin, span } in variables {
            let digest = format!("bound {}.{}", level.depth, frame.bound.len());
            let key = given(NodeId(0), "", "", &digest, span).key;
            let of = of.map(|of| ("of".to_owned(), Arg::Input(of)));
            let mut draft = self.own_draft(GIVEN, of.into_iter().collect(), ty.clone(), span);
            (draft.key, draft.frame) = (key, level.number);
            let node = self.drafts.len();
            self.drafts.push(Box::new(draft));
            frame.bound.push((name, node));
            let value = Value::Node(Rc::new(NodeValue { node, path: Vec::new(), origin }));
            values.push(Typed { ty, value });
        }
        (frame, values)
    }

    /// Evaluate in a frame.
    pub(super) fn inside<T>(&mut self, frame: &Frame, work: impl FnOnce(&mut Self) -> T) -> T {
        let place = Place { name: crate::plan::Shared::default(), ..self.place.clone() };
        let outer = (
            std::mem::replace(&mut self.frame, frame.level),
            std::mem::replace(&mut self.place, place),
        );
        let result = work(self);
        (self.frame, self.place) = outer;
        result
    }

    /// Whether a frame has drafts of its own, beside its variables.
    pub(super) fn is_drafted(&self, frame: &Frame) -> bool {
        let of_frame = |draft: &Draft| draft.frame == frame.level.number && draft.op != GIVEN;
        self.drafts.iter().skip(frame.start).any(|draft| of_frame(draft))
    }

    /// The value of a frame as type `ty`, and as an argument in it. `None` when a mistake has been reported.
    pub(super) fn result_in(
        &mut self,
        frame: &Frame,
        value: Typed<'a>,
        ty: &Type,
        span: Span,
    ) -> Option<(Typed<'a>, Arg)> {
        self.inside(frame, |it| {
            let fitted = it.fit(value.clone(), ty, &mut Bindings::default(), span);
            let value = it.materialised(fitted.unwrap_or(value), span);
            if value.is_unknown() {
                return None;
            }
            it.name_result(&value);
            let arg = it.arg(&Given { value: value.clone(), span })?;
            Some((value, arg))
        })
    }

    /// Make the bodies of one driver from its frames and their results.
    pub(super) fn close(&self, frames: &[(&Frame, &Arg)]) -> Closed {
        let mut closed = Closed {
            bodies: Vec::new(),
            captures: Arg::List(Vec::new()),
            heavy: false,
            effect: false,
            cache_off: false,
            promise: Promise::Exact,
        };
        let mut outside: BTreeMap<(String, usize), Input> = BTreeMap::new();
        let mut all_kept = Vec::new();
        for (frame, result) in frames {
            let kept = self.kept(frame, result);
            for draft in kept.iter().filter_map(|at| self.drafts.get(*at)) {
                closed.heavy |= draft.heavy;
                closed.effect |= draft.effect;
                closed.cache_off |= draft.attributes.cache_off;
                closed.promise = weaker(closed.promise, draft.promise);
                draft.args.values().for_each(|arg| self.captured(frame, arg, &mut outside));
            }
            self.captured(frame, result, &mut outside);
            all_kept.push(kept);
        }
        let captures: Vec<&Input> = outside.values().collect();
        for ((frame, result), kept) in frames.iter().zip(&all_kept) {
            let body = self.body(frame, result, kept, &captures);
            debug_assert!(
                self.keeps_its_keys(&body, frame, kept, &captures),
                "the nodes of a body have the keys of what was drafted"
            );
            closed.bodies.push(body);
        }
        closed.captures = Arg::List(captures.into_iter().cloned().map(Arg::Input).collect());
        closed
    }

    /// The drafts of a frame that its result or an effect needs, in order.
    fn kept(&self, frame: &Frame, result: &Arg) -> Vec<usize> {
        let own = |at: usize| {
            let draft = self.drafts.get(at)?;
            (draft.frame == frame.level.number && draft.op != GIVEN).then_some(draft)
        };
        let read = |arg: &Arg| {
            let mut inputs = Vec::new();
            arg.inputs(&mut inputs);
            inputs.iter().map(|input| input.node.0 as usize).collect::<Vec<_>>()
        };
        let mut open = read(result);
        open.extend(
            (frame.start..self.drafts.len())
                .filter(|at| own(*at).is_some_and(|draft| draft.effect)),
        );
        let mut kept = BTreeSet::new();
        while let Some(at) = open.pop() {
            if let Some(draft) = own(at)
                && kept.insert(at)
            {
                draft.args.values().for_each(|arg| open.extend(read(arg)));
            }
        }
        kept.into_iter().collect()
    }

    /// Add what an argument reads from outside a frame.
    fn captured(&self, frame: &Frame, arg: &Arg, outside: &mut BTreeMap<(String, usize), Input>) {
        let mut inputs = Vec::new();
        arg.inputs(&mut inputs);
        for input in inputs {
            let at = input.node.0 as usize;
            if let Some(draft) = self.drafts.get(at)
                && draft.frame != frame.level.number
            {
                outside.insert((plan_input(draft.key, &input.path), at), input.clone());
            }
        }
    }

    fn body(&self, frame: &Frame, result: &Arg, kept: &[usize], captures: &[&Input]) -> Body {
        let numbers: BTreeMap<usize, NodeId> =
            (0u32..).zip(kept).map(|(number, at)| (*at, NodeId(number))).collect();
        let place = |input: &Input| {
            let at = input.node.0 as usize;
            if let Some(node) = numbers.get(&at) {
                return Arg::Input(Input { node: *node, path: input.path.clone() });
            }
            let variable = frame.bound.iter().position(|(_, node)| *node == at);
            let (slot, path) = match variable {
                Some(slot) => (slot, input.path.clone()),
                None => {
                    let capture = captures.iter().position(|known| *known == input);
                    (frame.bound.len() + capture.unwrap_or(captures.len()), Vec::new())
                }
            };
            Arg::Bound(Bound { slot: u32::try_from(slot).unwrap_or(u32::MAX), path })
        };
        let bound = frame.bound.iter().map(|(name, _)| name.clone()).collect();
        crate::plan::body(&self.drafts, kept, bound, result, self.inputs.machine, &place)
    }

    /// Whether nodes made of a body, for the variables as they stand in its frame, have the keys of the drafts.
    fn keeps_its_keys(
        &self,
        body: &Body,
        frame: &Frame,
        kept: &[usize],
        captures: &[&Input],
    ) -> bool {
        let number = |at: usize| NodeId(u32::try_from(at).unwrap_or(u32::MAX));
        let bound = frame.bound.iter().map(|(_, at)| Input { node: number(*at), path: Vec::new() });
        let slots: Vec<Input> = bound.chain(captures.iter().copied().cloned()).collect();
        let key_of = |id: NodeId| self.drafts.get(id.0 as usize).map(|draft| draft.key);
        let made = body.make(&slots, number(self.drafts.len()).0, "made", key_of);
        let drafted = kept.iter().filter_map(|at| self.drafts.get(*at)).map(|draft| draft.key);
        let inner = |node: &Node| node.fused.split_last().map_or(0, |(_, inner)| inner.len());
        let steps = made.nodes.iter().flat_map(|node| node.fused.iter().take(inner(node)));
        let made = made.nodes.iter().chain(steps).map(|node| node.key);
        made.collect::<BTreeSet<Key>>() == drafted.collect()
    }

    /// Draft the node of a driver.
    pub(super) fn drive(
        &mut self,
        op: &str,
        closed: Closed,
        mut args: BTreeMap<String, Arg>,
        ty: Type,
        span: Span,
    ) -> Option<usize> {
        args.insert("captures".into(), closed.captures);
        let mut draft = self.own_draft(op, args, ty, span);
        draft.heavy = closed.heavy;
        draft.effect = closed.effect;
        draft.promise = closed.promise;
        let cache_off = draft.attributes.cache_off || closed.cache_off;
        draft.attributes = Rc::new(Attributes { cache_off, ..Attributes::default() });
        self.add(draft)
    }

    /// A draft that the compiler writes itself.
    pub(super) fn own_draft(
        &self,
        op: &str,
        args: BTreeMap<String, Arg>,
        ty: Type,
        span: Span,
    ) -> Draft {
        Draft {
            op: op.into(),
            version: 1,
            tool: None,
            args: args.into(),
            nokey: Vec::new().into(),
            key: Key([0; 32]),
            columns: super::draft::table_columns(&ty).map(Into::into),
            ty,
            span,
            call: self.shorten(span),
            places: self.here(),
            attributes: Rc::clone(&self.place.attributes),
            worker: crate::plan::Worker::Here,
            promise: Promise::Exact,
            all_threads: false,
            heavy: false,
            streamable: false,
            effect: false,
            batch: None,
            estimate: None,
            frame: self.frame.number,
        }
    }

    /// The result of an op that the compiler writes itself.
    pub(super) fn own_call(
        &mut self,
        op: &str,
        args: BTreeMap<String, Arg>,
        ty: Type,
        origin: Origin,
        span: Span,
    ) -> Typed<'a> {
        match self.add(self.own_draft(op, args, ty.clone(), span)) {
            Some(node) => {
                let node = NodeValue { node, path: Vec::new(), origin: Rc::new(origin) };
                Typed { ty, value: Value::Node(Rc::new(node)) }
            }
            None => Typed::unknown(ty),
        }
    }

    /// The value of a driver's node, which carries what the values `like` it carry.
    pub(super) fn driven(&self, node: usize, ty: Type, like: &[&Typed<'a>]) -> Typed<'a> {
        let origin = Rc::new(super::parts::origin_of_all(like.iter().copied()));
        let node = NodeValue { node, path: Vec::new(), origin };
        Typed { ty, value: Value::Node(Rc::new(node)) }
    }
}

/// A node as an input, with the part of it that is read.
pub(super) fn read_of(value: &Typed<'_>) -> Option<Input> {
    match &value.value {
        Value::Node(node) => Some(input(node)),
        _ => None,
    }
}

/// What can be promised of two results together.
fn weaker(a: Promise, b: Promise) -> Promise {
    match (a, b) {
        (Promise::Timed, _) | (_, Promise::Timed) => Promise::Timed,
        (Promise::Numeric(a), Promise::Numeric(b)) => Promise::Numeric(a.max(b)),
        (Promise::Numeric(a), Promise::Exact) | (Promise::Exact, Promise::Numeric(a)) => {
            Promise::Numeric(a)
        }
        (Promise::Exact, Promise::Exact) => Promise::Exact,
    }
}
