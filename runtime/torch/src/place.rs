//! Where tensors live and in which precision is computed. The plan says it; nothing falls back silently.

use pipe_runtime::op::OpError;
use tch::{Cuda, Device, Kind};

/// A device and the precision of matrix products on it. Weights, optimizer state and the residual stream stay fp32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The device.
    pub device: Device,
    /// Kind of the operands of matrix products.
    pub compute: Kind,
}

impl Place {
    /// `cpu` or `cuda:N`, with `auto`, `fp32`, `bf16` or `fp16`.
    ///
    /// # Errors
    /// When there is no such device or precision.
    pub fn new(device: &str, dtype: &str) -> Result<Self, OpError> {
        let device = parse_device(device)?;
        Ok(Self { device, compute: compute_kind(device, dtype)? })
    }

    /// fp32 on the CPU.
    #[must_use]
    pub fn cpu() -> Self {
        Self { device: Device::Cpu, compute: Kind::Float }
    }

    /// Whether matrix products run in fp32, as everything else does.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.compute == Kind::Float
    }
}

/// The device with this name, when it is there.
///
/// # Errors
/// When the name is unknown or libtorch does not see the device.
pub fn parse_device(name: &str) -> Result<Device, OpError> {
    let index = match name.split_once(':') {
        None if name == "cpu" => return Ok(Device::Cpu),
        None if name == "cuda" => Some(0),
        Some(("cuda", index)) => index.parse().ok(),
        _ => None,
    };
    let Some(index) = index else {
        return Err(OpError::new(
            "run::device",
            format!("`{name}` is no device; devices are `cpu` and `cuda:0`, `cuda:1` and so on."),
        ));
    };
    let seen = usize::try_from(Cuda::device_count()).unwrap_or(0);
    if !Cuda::is_available() || index >= seen {
        return Err(OpError::new(
            "run::device",
            format!("The plan asks for `{name}`, but libtorch sees {seen} GPUs."),
        )
        .help("run `pipe doctor` to see why, or remove `@gpu`."));
    }
    Ok(Device::Cuda(index))
}

/// `auto` is fp32 on a CPU (bf16 products are slower there) and bf16 on a GPU.
fn compute_kind(device: Device, dtype: &str) -> Result<Kind, OpError> {
    match (dtype, device) {
        ("auto", Device::Cpu) | ("fp32", _) => Ok(Kind::Float),
        ("auto" | "bf16", _) => Ok(Kind::BFloat16),
        ("fp16", Device::Cpu) => {
            Err(OpError::new("run::dtype", "fp16 needs a GPU: a CPU has no fast fp16 products.")
                .help("use `dtype: \"auto\"`."))
        }
        ("fp16", _) => Ok(Kind::Half),
        _ => Err(OpError::new(
            "run::dtype",
            format!("`{dtype}` is no dtype; there are auto, fp32, bf16 and fp16."),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_is_fp32_on_a_cpu() {
        assert_eq!(Place::new("cpu", "auto").unwrap(), Place::cpu());
        assert_eq!(Place::new("cpu", "bf16").unwrap().compute, Kind::BFloat16);
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        assert_eq!(parse_device("tpu:1").unwrap_err().code, "run::device");
        assert_eq!(parse_device("cuda:99").unwrap_err().code, "run::device");
        assert_eq!(Place::new("cpu", "fp8").unwrap_err().code, "run::dtype");
        assert_eq!(Place::new("cpu", "fp16").unwrap_err().code, "run::dtype");
    }
}
