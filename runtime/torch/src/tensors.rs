//! Tensors in safetensors files, canonical: the same tensors give the same bytes.

use crate::fault::{During, bad_artifact, file_error};
use pipe_runtime::op::OpError;
use safetensors::tensor::{Dtype, SafeTensors, View};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use tch::{Device, Kind, Tensor};

struct Raw {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl View for &Raw {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }
    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// Writes named tensors, synced to disk. Names are sorted and the metadata is fixed, so equal tensors give equal bytes.
///
/// # Errors
/// When the file cannot be written.
pub fn write(path: &Path, tensors: &[(String, Tensor)]) -> Result<(), OpError> {
    let raw: BTreeMap<&str, Raw> = tensors
        .iter()
        .map(|(name, tensor)| Ok((name.as_str(), raw(name, tensor)?)))
        .collect::<Result<_, OpError>>()?;
    let metadata = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    safetensors::serialize_to_file(
        raw.iter().map(|(name, raw)| (*name, raw)),
        Some(metadata),
        path,
    )
    .map_err(|error| {
        OpError::new("run::file", format!("Cannot write {}: {error}.", path.display()))
    })?;
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(|error| file_error("write", path, &error))
}

/// Reads all tensors of a file to the CPU.
///
/// # Errors
/// When the file cannot be read or is no safetensors file.
pub fn read(path: &Path) -> Result<BTreeMap<String, Tensor>, OpError> {
    let bytes = std::fs::read(path).map_err(|error| file_error("read", path, &error))?;
    let name = path.display();
    let file = SafeTensors::deserialize(&bytes)
        .map_err(|error| bad_artifact(&format!("file {name}"), error))?;
    let mut tensors = BTreeMap::new();
    for (tensor_name, view) in file.iter() {
        let kind = kind_of(view.dtype()).ok_or_else(|| {
            bad_artifact(
                &format!("tensor {tensor_name}"),
                format!("its dtype is {:?}", view.dtype()),
            )
        })?;
        let shape = sizes(view.shape());
        let tensor =
            Tensor::f_from_data_size(view.data(), &shape, kind).during("reading a tensor", &[])?;
        tensors.insert(tensor_name.to_owned(), tensor);
    }
    Ok(tensors)
}

/// Writes bytes to a file and syncs it.
///
/// # Errors
/// When the file cannot be written.
pub fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), OpError> {
    let written = File::create(path)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    written.map_err(|error| file_error("write", path, &error))
}

/// Writes through a temporary name, so that `path` holds the old or the new content at any time.
///
/// # Errors
/// When the file cannot be written.
pub fn replace(
    path: &Path,
    write: impl FnOnce(&Path) -> Result<(), OpError>,
) -> Result<(), OpError> {
    let part = path.with_added_extension("part");
    write(&part)?;
    std::fs::rename(&part, path).map_err(|error| file_error("write", path, &error))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| file_error("sync", folder, &error))
}

fn raw(name: &str, tensor: &Tensor) -> Result<Raw, OpError> {
    let kind = tensor.kind();
    let (dtype, width) = dtype_of(kind).ok_or_else(|| {
        OpError::new("run::torch", format!("The tensor {name} of kind {kind:?} cannot be saved."))
    })?;
    let plain = tensor
        .f_to_device(Device::Cpu)
        .and_then(|tensor| tensor.f_contiguous())
        .during("saving a tensor", &[(name, tensor)])?;
    let count = plain.numel();
    let mut bytes = vec![0; count * width];
    plain.f_copy_data_u8(&mut bytes, count).during("saving a tensor", &[(name, tensor)])?;
    let shape = plain.size().iter().map(|&size| usize::try_from(size).unwrap_or(0)).collect();
    Ok(Raw { dtype, shape, bytes })
}

fn sizes(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|&size| i64::try_from(size).unwrap_or(i64::MAX)).collect()
}

fn dtype_of(kind: Kind) -> Option<(Dtype, usize)> {
    Some(match kind {
        Kind::Uint8 => (Dtype::U8, 1),
        Kind::Int => (Dtype::I32, 4),
        Kind::Int64 => (Dtype::I64, 8),
        Kind::BFloat16 => (Dtype::BF16, 2),
        Kind::Half => (Dtype::F16, 2),
        Kind::Float => (Dtype::F32, 4),
        Kind::Double => (Dtype::F64, 8),
        _ => return None,
    })
}

fn kind_of(dtype: Dtype) -> Option<Kind> {
    Some(match dtype {
        Dtype::U8 => Kind::Uint8,
        Dtype::I16 => Kind::Int16,
        Dtype::I32 => Kind::Int,
        Dtype::I64 => Kind::Int64,
        Dtype::BF16 => Kind::BFloat16,
        Dtype::F16 => Kind::Half,
        Dtype::F32 => Kind::Float,
        Dtype::F64 => Kind::Double,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tensors_give_equal_bytes_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let one = Tensor::from_slice(&[1f32, 2.0]);
        let two = Tensor::from_slice(&[3i64]);
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        write(&a, &[("x".into(), one.shallow_clone()), ("y".into(), two.shallow_clone())]).unwrap();
        write(&b, &[("y".into(), two), ("x".into(), one)]).unwrap();
        assert_eq!(std::fs::read(&a).unwrap(), std::fs::read(&b).unwrap());
        let back = read(&a).unwrap();
        assert_eq!(Vec::<f32>::try_from(&back["x"]).unwrap(), [1.0, 2.0]);
        assert_eq!(Vec::<i64>::try_from(&back["y"]).unwrap(), [3]);
    }

    #[test]
    fn a_torn_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t");
        write(&path, &[("x".into(), Tensor::from_slice(&[1f32; 100]))]).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for cut in [0, 7, 20, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            assert_eq!(read(&path).unwrap_err().code, "run::bad_artifact");
        }
    }
}
