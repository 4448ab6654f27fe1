//! A task: members that take steps in turn. Members join, leave and stop between steps.

use crate::stepwise::{Step, Steps};
use crate::worker::context::{MemberContext, Shared};
use crate::worker::ops::{Found, Ops};
use crate::worker::wish::{Wish, Wishes};
use pipe_runtime::op::{Context, OpError};
use pipe_runtime::protocol::{Member, Reply, TaskId};
use pipe_runtime::value::Value;
use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Runs a task to its end. `joining` gives members that were added since it was last asked.
pub struct Task<'a> {
    /// Its number.
    pub number: TaskId,
    /// Registered ops.
    pub ops: &'a Ops,
    /// What the core wants of members.
    pub wishes: &'a Wishes,
    /// Replies, cache, device.
    pub shared: &'a Arc<Shared>,
}

struct Running {
    node: String,
    context: MemberContext,
    steps: Box<dyn Steps>,
}

impl Task<'_> {
    /// Runs until every member has ended.
    pub fn run(&self, members: Vec<Member>, joining: &mut dyn FnMut() -> Vec<Member>) {
        let mut running = VecDeque::new();
        let mut known = BTreeSet::new();
        let mut waiting: VecDeque<Member> = members.into();
        loop {
            waiting.extend(joining());
            while let Some(member) = waiting.pop_front() {
                if !known.insert(member.node.clone()) {
                    let error = OpError::new(
                        "run::member",
                        format!("{} is in this task already.", member.node),
                    );
                    self.send_end(&member.node, Err(error), None);
                    continue;
                }
                running.extend(self.begin(&member));
                waiting.extend(joining());
            }
            let Some(member) = running.pop_front() else { break };
            running.extend(self.turn(member));
        }
        self.wishes.forget(self.number);
    }

    /// Starts a member; one that works in one go ends here.
    fn begin(&self, member: &Member) -> Option<Running> {
        let ear = self.wishes.ear(self.number, &member.node);
        let context = MemberContext::new(member, ear, Arc::clone(self.shared));
        if context.cancelled() {
            self.end(&member.node, &context, Err(OpError::cancelled()));
            return None;
        }
        let started = match self.ops.find(&member.op) {
            None => Err(OpError::new(
                "run::unknown_op",
                format!("The worker has no op `{}`.", member.op),
            )
            .help("`pipe` and `pipe-torch` come from different builds; build both again.")),
            Some(Found::Plain(op)) => {
                self.send_started(&member.node, 0);
                let result = guarded(|| op.run(&member.args, &context));
                self.end(&member.node, &context, result);
                return None;
            }
            Some(Found::Stepwise(op)) => guarded(|| op.start(&member.args, &context)),
        };
        match started {
            Ok(steps) => {
                self.send_started(&member.node, steps.resumed_at());
                Some(Running { node: member.node.clone(), context, steps })
            }
            Err(error) => {
                self.end(&member.node, &context, Err(error));
                None
            }
        }
    }

    /// One step of a member; nothing when it has ended.
    fn turn(&self, mut member: Running) -> Option<Running> {
        match member.context.wish() {
            Wish::GoOn => {}
            Wish::Cancel => {
                let saved = guarded(|| member.steps.save(&member.context));
                if let Ok(Some(step)) = saved {
                    self.send_checkpointed(&member.node, step);
                }
                let result = saved.and_then(|_| Err(OpError::cancelled()));
                self.end(&member.node, &member.context, result);
                return None;
            }
            Wish::Drop => {
                self.end(&member.node, &member.context, Err(OpError::cancelled()));
                return None;
            }
        }
        match guarded(|| member.steps.step(&member.context)) {
            Ok(Step::More { saved }) => {
                if let Some(step) = saved {
                    self.send_checkpointed(&member.node, step);
                }
                Some(member)
            }
            Ok(Step::Done(value)) => {
                self.end(&member.node, &member.context, Ok(value));
                None
            }
            Err(error) => {
                self.end(&member.node, &member.context, Err(error));
                None
            }
        }
    }

    fn end(&self, node: &str, context: &MemberContext, result: Result<Value, OpError>) {
        if context.wish() == Wish::Drop
            && let Some(folder) = context.checkpoint()
        {
            let _ = std::fs::remove_dir_all(folder);
        }
        self.send_end(node, result, Some(context));
    }

    fn send_end(
        &self,
        node: &str,
        result: Result<Value, OpError>,
        context: Option<&MemberContext>,
    ) {
        let produced = context.map(MemberContext::produced).unwrap_or_default();
        self.shared.sink.send(&Reply::Finished {
            task: self.number,
            node: node.to_owned(),
            result,
            produced,
            peak_bytes: super::peak_bytes(),
        });
    }

    fn send_started(&self, node: &str, resumed_at: u64) {
        self.shared.sink.send(&Reply::Started {
            task: self.number,
            node: node.to_owned(),
            resumed_at,
        });
    }

    fn send_checkpointed(&self, node: &str, step: u64) {
        self.shared.sink.send(&Reply::Checkpointed { node: node.to_owned(), step });
    }
}

/// A panic in one member is its failure, not that of the others.
fn guarded<T>(work: impl FnOnce() -> Result<T, OpError>) -> Result<T, OpError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let text = text.unwrap_or_else(|| "no reason given".to_owned());
        let first = text.lines().next().unwrap_or_default().to_owned();
        Err(OpError::new(
            "run::internal",
            format!("The op failed in a way it should not: {first}."),
        ))
    })
}
