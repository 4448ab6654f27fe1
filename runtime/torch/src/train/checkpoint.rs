//! Checkpoints: one safetensors file with weights and optimizer state, and `state.json`, which names it and its digest.
//!
//! Both are written under temporary names, synced and renamed, the state last: a process killed at any moment leaves
//! the checkpoint before or the new one, never a mixture.

use crate::fault::file_error;
use crate::optim::adamw::State;
use crate::tensors;
use crate::train::curve::{Curve, Exact};
use pipe_runtime::content::file_digest;
use pipe_runtime::op::OpError;
use serde::{Deserialize, Serialize};
use std::path::Path;
use tch::Tensor;

const FORMAT: u32 = 1;
const STATE: &str = "state.json";

/// Where a training stands, besides its tensors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// Steps done; the data position follows from it.
    pub step: u64,
    /// Steps in all, to refuse the checkpoint of another training.
    pub total: u64,
    /// Curves so far.
    pub curve: Curve,
    /// Factor of fp16 losses.
    pub loss_scale: Exact,
    /// Steps since that factor last changed.
    pub scale_age: u64,
}

#[derive(Serialize, Deserialize)]
struct OnDisk {
    format: u32,
    file: String,
    digest: String,
    position: Position,
}

/// Saves; when this returns, the checkpoint is on disk.
///
/// # Errors
/// When it cannot be written; the checkpoint before is still there then.
pub fn save(
    folder: &Path,
    position: &Position,
    weights: &Tensor,
    state: &State,
) -> Result<(), OpError> {
    std::fs::create_dir_all(folder).map_err(|error| file_error("make", folder, &error))?;
    let file = format!("step-{:09}.safetensors", position.step);
    let parts = [("weights", weights), ("mean", &state.mean), ("square", &state.square)];
    let named: Vec<_> =
        parts.iter().map(|(name, tensor)| ((*name).to_owned(), tensor.shallow_clone())).collect();
    let path = folder.join(&file);
    tensors::replace(&path, |part| tensors::write(part, &named))?;
    let (digest, _) = file_digest(&path).map_err(|error| file_error("read", &path, &error))?;
    let on_disk = OnDisk { format: FORMAT, file: file.clone(), digest, position: position.clone() };
    let text = serde_json::to_string(&on_disk)
        .map_err(|error| crate::fault::bad_artifact("checkpoint", error))?;
    tensors::replace(&folder.join(STATE), |part| tensors::write_synced(part, text.as_bytes()))?;
    forget_all_but(folder, &file);
    Ok(())
}

/// The checkpoint of a folder. Nothing when there is none; an explanation when it cannot be used.
///
/// # Errors
/// Why a checkpoint that is there cannot be used.
pub fn load(
    folder: &Path,
    elements: i64,
    total: u64,
) -> Result<Option<(Position, Tensor, State)>, String> {
    let text = match std::fs::read_to_string(folder.join(STATE)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let on_disk: OnDisk = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    if on_disk.format != FORMAT || on_disk.position.total != total {
        return Err("it belongs to another training".to_owned());
    }
    let path = folder.join(&on_disk.file);
    let (digest, _) = file_digest(&path).map_err(|error| format!("{}: {error}", on_disk.file))?;
    if digest != on_disk.digest {
        return Err(format!("{} is damaged", on_disk.file));
    }
    let mut found = tensors::read(&path).map_err(|error| error.message)?;
    let mut take = |name: &str| {
        found
            .remove(name)
            .filter(|tensor| tensor.size() == [elements])
            .ok_or_else(|| format!("{name} does not fit"))
    };
    let (weights, mean, square) = (take("weights")?, take("mean")?, take("square")?);
    Ok(Some((on_disk.position, weights, State { mean, square })))
}

/// Removes older files; a failure to do so costs only space.
fn forget_all_but(folder: &Path, keep: &str) {
    let Ok(entries) = folder.read_dir() else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().is_some_and(|name| name.starts_with("step-") && name != keep);
        if ours {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tch::Device;

    fn position(step: u64) -> Position {
        Position { step, total: 9, curve: Curve::default(), loss_scale: Exact(1.0), scale_age: 0 }
    }

    #[test]
    fn the_last_complete_checkpoint_wins_and_damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let state = State::new(3, Device::Cpu).unwrap();
        assert!(load(folder.path(), 3, 9).unwrap().is_none());
        for step in [1, 2] {
            let weights = Tensor::from_slice(&[step as f32; 3]);
            save(folder.path(), &position(step), &weights, &state).unwrap();
        }
        let (found, weights, _) = load(folder.path(), 3, 9).unwrap().unwrap();
        assert_eq!((found.step, f64::try_from(weights.get(0)).unwrap()), (2, 2.0));
        assert_eq!(folder.path().read_dir().unwrap().count(), 2);
        assert!(load(folder.path(), 4, 9).is_err());
        assert!(load(folder.path(), 3, 8).unwrap_err().contains("another training"));

        let file = folder.path().join("step-000000002.safetensors");
        let mut bytes = std::fs::read(&file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&file, bytes).unwrap();
        assert!(load(folder.path(), 3, 9).unwrap_err().contains("damaged"));
    }
}
