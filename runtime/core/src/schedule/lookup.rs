//! Looking results up: by plan key before inputs are known, by action key after.

use super::{Engine, State, index};
use crate::args;
use crate::events::{Event, NodeState};
use crate::growing;
use crate::keys;
use crate::op::OpError;
use crate::store::{Recorded, StoredResult};
use std::sync::Arc;

impl Engine<'_> {
    /// Take the node's result from the store if its plan key leads to one.
    pub(super) fn find_by_plan_key(&mut self, at: usize) -> Result<bool, OpError> {
        if self.asked_again(at).is_some() || self.volatile.get(at).copied().unwrap_or(true) {
            return Ok(false);
        }
        match self.store.result_of_plan(&self.node(at).key.to_string())? {
            Recorded::Whole(result) => {
                self.take_cached(at, *result);
                self.slot_mut(at).by_plan = true;
                Ok(true)
            }
            Recorded::Lost => {
                self.slot_mut(at).lost = true;
                Ok(false)
            }
            Recorded::Absent => Ok(false),
        }
    }

    /// All inputs have values: name the action key, look for its result, else make the node ready.
    pub(super) fn consider(&mut self, at: usize) -> Result<(), OpError> {
        let node = self.node(at);
        let value_of =
            |input: &pipe_compiler::plan::Input| self.slots.get(index(input))?.value.as_deref();
        let resolved = args::resolve(&node.args, &value_of);
        let fields = keys::action_fields(&node, &value_of);
        match (resolved, fields) {
            (Ok(args), Some(fields)) => {
                let slot = self.slot_mut(at);
                slot.args = Some(Arc::new(args));
                slot.action_key = Some(fields.key().to_string());
                if self.find_by_action_key(at)? {
                    Ok(())
                } else if growing::is_driver(&node) {
                    self.begin_expansion(at)
                } else if self.adopt_stray(at) {
                    Ok(())
                } else {
                    self.set_state(at, State::Ready);
                    Ok(())
                }
            }
            (Err(error), _) => self.fail(at, error),
            (Ok(_), None) => {
                let what = format!("The key of `{}` cannot be computed.", node.name);
                self.fail(
                    at,
                    OpError::new("run::key", what)
                        .help("Please report this together with the program."),
                )
            }
        }
    }

    /// Take the node's result from the store if its action key has one (early cut-off).
    pub(super) fn find_by_action_key(&mut self, at: usize) -> Result<bool, OpError> {
        let node = self.node(at);
        if self.asked_again(at).is_some() || keys::repeats(&node) {
            return Ok(false);
        }
        let Some(action_key) = self.slot(at).action_key.clone() else { return Ok(false) };
        match self.store.result(&action_key)? {
            Recorded::Whole(result) => {
                if !self.volatile.get(at).copied().unwrap_or(true) {
                    self.store.point(&node.key.to_string(), &action_key)?;
                }
                self.take_cached(at, *result);
                Ok(true)
            }
            Recorded::Lost => {
                self.slot_mut(at).lost = true;
                Ok(false)
            }
            Recorded::Absent => Ok(false),
        }
    }

    fn take_cached(&mut self, at: usize, result: StoredResult) {
        self.used.insert(result.action_key.clone());
        let shown = result.value.describe();
        let slot = self.slot_mut(at);
        slot.value = Some(Arc::new(result.value));
        slot.digest = Some(result.digest);
        slot.action_key = Some(result.action_key);
        slot.context = result.context;
        slot.how = Some(NodeState::Cached);
        self.set_state(at, State::Done);
        self.tell_cached(at, shown);
    }

    /// A node that nobody needs, because what reads it is in the store.
    pub(super) fn leave_unneeded(&mut self, at: usize) {
        let known = self.store.recorded_of_plan(&self.node(at).key.to_string());
        let slot = self.slot_mut(at);
        slot.how = Some(NodeState::Cached);
        if let Ok(Some((action_key, digest))) = known {
            slot.digest = Some(digest);
            slot.action_key = Some(action_key);
            slot.by_plan = true;
        }
        self.tell_cached(at, String::new());
    }

    fn tell_cached(&mut self, at: usize, result: String) {
        self.tell(Event::NodeFinished {
            node: self.node(at).name.clone(),
            state: NodeState::Cached,
            seconds: 0.0,
            result,
            unchanged: true,
            error: None,
        });
    }
}
