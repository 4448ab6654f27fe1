//! Token files: safetensors with `tokens`, `ends`, and a description in the header.
//!
//! `tokenizer.encode` writes `tokens` I32 `[n]`, all documents one after the other; `data.pack` writes `tokens` I32
//! `[rows, length]`. `ends` I64 holds for each document the position behind its last token (packed: behind its end-of-text token).
//! The header's `__metadata__` has one field, `pipe`, with [`About`] as JSON. Equal tokens give equal bytes.

use pipe_runtime::op::OpError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt::Display;
use std::path::Path;

/// What the tokens are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// `pipe-tokens-1`.
    pub format: String,
    /// Size of the vocabulary.
    pub vocab: u32,
    /// The end-of-text token.
    pub eos: u32,
    /// Tokens in a row, when packed.
    pub length: Option<usize>,
}

/// Tokens of several documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// What they are.
    pub about: About,
    /// The tokens; -1 is padding.
    pub tokens: Vec<i32>,
    /// For each document the position behind its last token.
    pub ends: Vec<i64>,
}

/// The format of the files.
pub const FORMAT: &str = "pipe-tokens-1";

impl Tokens {
    /// The bytes of the file.
    ///
    /// # Errors
    /// When the shape does not fit the number of tokens.
    pub fn to_bytes(&self) -> Result<Vec<u8>, OpError> {
        let tokens: Vec<u8> = self.tokens.iter().flat_map(|token| token.to_le_bytes()).collect();
        let ends: Vec<u8> = self.ends.iter().flat_map(|end| end.to_le_bytes()).collect();
        let shape = match self.about.length {
            Some(length) => vec![self.tokens.len() / length.max(1), length],
            None => vec![self.tokens.len()],
        };
        let failed = |error: &dyn Display| {
            OpError::new("run::write", format!("Tokens cannot be written: {error}."))
        };
        let tensors = [
            (
                "tokens",
                TensorView::new(Dtype::I32, shape, &tokens).map_err(|error| failed(&error))?,
            ),
            (
                "ends",
                TensorView::new(Dtype::I64, vec![self.ends.len()], &ends)
                    .map_err(|error| failed(&error))?,
            ),
        ];
        let about = serde_json::to_string(&self.about).map_err(|error| failed(&error))?;
        serialize(tensors, Some(HashMap::from([("pipe".to_owned(), about)])))
            .map_err(|error| failed(&error))
    }

    /// Read a file.
    ///
    /// # Errors
    /// When it is no such file.
    pub fn read(path: &Path) -> Result<Self, OpError> {
        let bytes = std::fs::read(path).map_err(|error| {
            OpError::new("run::lost", format!("Cannot open {}: {error}.", path.display()))
        })?;
        Self::from_bytes(&bytes).map_err(|problem| {
            OpError::new(
                "run::bad_tokens",
                format!("{} holds no tokens: {problem}.", path.display()),
            )
        })
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
        let about = header
            .metadata()
            .as_ref()
            .and_then(|fields| fields.get("pipe"))
            .ok_or("it does not say what they are")?;
        let about: About = serde_json::from_str(about).map_err(|error| error.to_string())?;
        if about.format != FORMAT {
            return Err(format!("its format is `{}` where `{FORMAT}` is needed", about.format));
        }
        let file = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
        let data = |name: &str, kind: Dtype| {
            let tensor = file.tensor(name).map_err(|error| error.to_string())?;
            if tensor.dtype() == kind {
                Ok(tensor.data())
            } else {
                Err(format!("`{name}` is not {kind:?}"))
            }
        };
        let tokens = data("tokens", Dtype::I32)?
            .as_chunks()
            .0
            .iter()
            .map(|bytes| i32::from_le_bytes(*bytes))
            .collect();
        let ends = data("ends", Dtype::I64)?
            .as_chunks()
            .0
            .iter()
            .map(|bytes| i64::from_le_bytes(*bytes))
            .collect();
        Ok(Self { about, tokens, ends })
    }

    /// The rows, when packed.
    pub fn rows(&self) -> impl Iterator<Item = &[i32]> {
        self.tokens.chunks(self.about.length.unwrap_or(usize::MAX).max(1))
    }
}
