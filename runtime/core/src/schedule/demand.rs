//! What is wanted, and what that needs.

use super::{Engine, Rank, Slot, State, index};
use crate::events::Event;
use crate::keys;
use crate::op::OpError;
use pipe_compiler::plan::GIVEN;
use std::cmp::Reverse;
use std::collections::BTreeSet;

impl Engine<'_> {
    /// Which nodes the roots, the effects and the expanding drivers need, looking through the store on the way: a
    /// result that is there needs no inputs.
    pub(crate) fn demand(&mut self) -> Result<(), OpError> {
        let roots = keys::root_inputs(self.nodes.plan).into_iter().map(index);
        let nodes = self.nodes.plan.nodes.iter().enumerate();
        let repeating = nodes.filter(|(_, node)| keys::repeats(node)).map(|(at, _)| at);
        let mut wanted: BTreeSet<usize> = roots.chain(repeating).chain(self.asked_for()).collect();
        for (at, expansion) in &self.expansions {
            if matches!(self.slot(*at).state, State::Expanding) {
                wanted.extend(expansion.open());
            }
        }
        self.want(wanted)
    }

    /// Make sure that these nodes get results. Readers have larger numbers than what they read, so each node is looked
    /// at once, after all that want it.
    pub(super) fn want(&mut self, mut wanted: BTreeSet<usize>) -> Result<(), OpError> {
        let mut waiting = Vec::new();
        while let Some(at) = wanted.pop_last() {
            if matches!(self.slot(at).state, State::Idle)
                && !self.find_by_plan_key(at)?
                && !self.adopt_stray(at)
            {
                self.set_state(at, State::Waiting);
            }
            if matches!(self.slot(at).state, State::Waiting) {
                waiting.push(at);
                wanted.extend(self.node(at).inputs().into_iter().map(index));
            }
        }
        self.rank_made(&waiting);
        for at in waiting.into_iter().rev() {
            self.advance(at)?;
        }
        Ok(())
    }

    /// Move a waiting node on when all its inputs have values, or give it up when one has failed. A driver is asked
    /// again when all that it asked for has ended.
    pub(super) fn advance(&mut self, at: usize) -> Result<(), OpError> {
        match self.slot(at).state {
            State::Waiting => {}
            State::Expanding => {
                if self.all_ended(at) {
                    self.due.insert(at);
                }
                return Ok(());
            }
            _ => return Ok(()),
        }
        let node = self.node(at);
        let inputs = node.inputs();
        let any =
            |is: fn(&State) -> bool| inputs.iter().any(|input| is(&self.slot(index(input)).state));
        if any(|state| matches!(state, State::Failed | State::Skipped)) {
            self.skip(at);
        } else if !any(|state| !matches!(state, State::Done)) {
            self.consider(at)?;
        }
        Ok(())
    }

    /// Tell that the run begins, how much is to do, and what was found in the store.
    pub(super) fn announce(&mut self) {
        let pending = |slot: &&Slot| {
            matches!(
                slot.state,
                State::Waiting
                    | State::Ready
                    | State::Reserving
                    | State::Expanding
                    | State::Running(_)
            )
        };
        let to_run = self.slots.iter().filter(pending).count();
        if to_run > 0 {
            self.rank();
        }
        let held = self.held.take().unwrap_or_default();
        self.tell(Event::RunStarted {
            run: self.run,
            file: self.nodes.plan.file.clone(),
            nodes: self.nodes.plan.nodes.len(),
            to_run,
        });
        for at in 0..self.slots.len() {
            if matches!(self.slot(at).state, State::Idle) {
                self.leave_unneeded(at);
            }
        }
        held.into_iter().for_each(|event| self.tell(event));
    }

    /// Priority: the longest way from a node to the end, in seconds that the last runs took.
    fn rank(&mut self) {
        for at in (0..self.nodes.len()).rev() {
            self.rank_one(at);
        }
        let ready: Vec<usize> = self.ready.iter().map(|(_, at)| *at).collect();
        self.ready.clear();
        for at in ready {
            self.set_state(at, State::Ready);
        }
    }

    /// The same for nodes that a driver has made, readers first. The driver is one of their readers.
    fn rank_made(&mut self, nodes: &[usize]) {
        let planned = self.nodes.plan.nodes.len();
        for at in nodes.iter().copied().filter(|at| *at >= planned) {
            self.rank_one(at);
        }
    }

    fn rank_one(&mut self, at: usize) {
        let node = self.node(at);
        let known = self.store.last_seconds(&node.name, &node.op).ok().flatten();
        let own = known.unwrap_or(if node.runs.critical { 1.0 } else { 0.1 });
        let after = self.consumers.get(at).into_iter().flatten();
        let longest =
            after.filter_map(|next| self.priority.get(*next)).fold(0.0, |a: f64, b| a.max(*b));
        if let Some(priority) = self.priority.get_mut(at) {
            *priority = own + longest;
        }
    }

    /// Change where a node stands. Gives where it stood.
    pub(super) fn set_state(&mut self, at: usize, state: State) -> State {
        let place = (Reverse(Rank(self.priority.get(at).copied().unwrap_or(0.0))), at);
        let busy = matches!(state, State::Reserving | State::Running(_) | State::Resting(_));
        if matches!(state, State::Ready) {
            self.ready.insert(place);
        } else {
            self.ready.remove(&place);
        }
        if busy {
            self.active.insert(at);
        } else {
            self.active.remove(&at);
        }
        std::mem::replace(&mut self.slot_mut(at).state, state)
    }

    /// Whether the node stands for a value that a driver has bound: it never runs, and nobody is told of it.
    pub(crate) fn is_given(&self, at: usize) -> bool {
        self.nodes.get(at).is_some_and(|node| node.op == GIVEN)
    }
}
