//! What a plan asks for and the machine does not have.

use super::Evaluator;
use crate::plan::Worker;
use pipe_grammar::Problem;

impl Evaluator<'_> {
    /// `@gpu` without a GPU is an error, unless the CPU will do.
    pub(crate) fn check_machine(&mut self) {
        let wanted: Vec<_> = self
            .drafts
            .iter()
            .filter(|draft| draft.worker == Worker::Torch)
            .filter_map(|draft| draft.attributes.gpu)
            .collect();
        let has = self.inputs.machine.gpus;
        for gpu in wanted.into_iter().filter(|gpu| gpu.count > has && !gpu.or_cpu) {
            let there = if has == 0 { "none".to_owned() } else { has.to_string() };
            let count = gpu.count;
            let message = format!(
                "this asks for {count} GPU{}, and there is {there}",
                if count == 1 { "" } else { "s" }
            );
            let problem = Problem::error("plan::no_gpu", gpu.span, message)
                .help(format!("say that the CPU will do, `@gpu({count}, else: \"cpu\")`, or run on a machine with GPUs"))
                .edit(gpu.span, format!("@gpu({count}, else: \"cpu\")"));
            self.report(problem);
        }
    }
}
