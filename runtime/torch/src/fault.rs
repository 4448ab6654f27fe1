//! Failures of libtorch as errors that a user can act on: what was computed, with which shapes and dtypes.

use pipe_runtime::op::OpError;
use tch::{TchError, Tensor};

/// Adds what was being done to a failure of libtorch.
pub trait During<T> {
    /// The error says that `doing` failed, and the shapes and dtypes of `tensors`.
    ///
    /// # Errors
    /// The same failure, explained.
    fn during(self, doing: &str, tensors: &[(&str, &Tensor)]) -> Result<T, OpError>;
}

impl<T> During<T> for Result<T, TchError> {
    fn during(self, doing: &str, tensors: &[(&str, &Tensor)]) -> Result<T, OpError> {
        self.map_err(|error| explain(doing, tensors, &error))
    }
}

fn explain(doing: &str, tensors: &[(&str, &Tensor)], error: &TchError) -> OpError {
    let text = error.to_string();
    let reason = first_line(&text);
    if is_out_of_memory(&text) {
        return OpError::new("run::out_of_memory", format!("Memory ran out during {doing}: {reason}."))
            .help("make `batch` smaller and `accumulate` larger (the result stays the same), or set `recompute: true`.");
    }
    let shapes = describe(tensors);
    let with = if shapes.is_empty() { String::new() } else { format!(" ({shapes})") };
    OpError::new("run::torch", format!("libtorch failed during {doing}{with}: {reason}."))
}

fn first_line(text: &str) -> &str {
    let text = text.strip_prefix("Internal torch error: ").unwrap_or(text);
    text.lines().next().unwrap_or(text).trim_end_matches('.')
}

fn is_out_of_memory(text: &str) -> bool {
    text.contains("out of memory") || text.contains("can't allocate memory")
}

fn describe(tensors: &[(&str, &Tensor)]) -> String {
    let parts: Vec<String> = tensors
        .iter()
        .map(|(name, tensor)| format!("{name}: {:?} {:?}", tensor.kind(), tensor.size()))
        .collect();
    parts.join(", ")
}

/// A failure of the file system at `path`.
pub(crate) fn file_error(doing: &str, path: &std::path::Path, error: &std::io::Error) -> OpError {
    OpError::new("run::file", format!("Cannot {doing} {}: {error}.", path.display()))
}

/// An artifact whose content is not what its kind promises.
pub(crate) fn bad_artifact(what: &str, why: impl std::fmt::Display) -> OpError {
    OpError::new("run::bad_artifact", format!("The {what} cannot be used: {why}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::{Device, Kind};

    #[test]
    fn an_error_names_op_shapes_and_dtypes() {
        let a = Tensor::zeros([2, 3], (Kind::Float, Device::Cpu));
        let b = Tensor::zeros([4, 5], (Kind::Float, Device::Cpu));
        let error =
            a.f_mm(&b).during("the projection of layer 2", &[("a", &a), ("b", &b)]).unwrap_err();
        assert_eq!(error.code, "run::torch");
        assert!(
            error.message.contains("layer 2 (a: Float [2, 3], b: Float [4, 5])"),
            "{}",
            error.message
        );
        assert!(!error.message.contains('\n'));
    }

    #[test]
    fn running_out_of_memory_has_its_own_code_and_a_remedy() {
        let error = Tensor::f_zeros([1 << 50], (Kind::Float, Device::Cpu))
            .during("a test", &[])
            .unwrap_err();
        assert_eq!(error.code, "run::out_of_memory");
        assert!(error.help.unwrap().contains("batch"));
    }
}
