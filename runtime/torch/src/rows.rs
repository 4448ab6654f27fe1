//! Token rows: what `data.pack` makes, and what models are trained and judged on.
//!
//! The artifact is a safetensors file with one tensor `tokens` of whole numbers, `[rows, length]`; -1 at the end
//! of a row is padding. Each token but the first of a row is predicted from those before it.

use crate::fault::{During, bad_artifact};
use crate::model::config::Config;
use crate::model::decoder::Batch;
use crate::nn::head::Targets;
use crate::tensors;
use pipe_runtime::op::{Context, OpError};
use pipe_runtime::value::Artifact;
use std::any::Any;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tch::{Device, Kind, TchError, Tensor};

/// Token rows in memory.
#[derive(Debug)]
pub struct TokenRows {
    tokens: Mutex<Tensor>,
    /// Rows.
    pub rows: usize,
    /// Tokens in a row.
    pub length: i64,
    /// Targets in each row.
    pub targets: Vec<u32>,
    largest: i64,
    padded: bool,
}

impl TokenRows {
    /// From a tensor of whole numbers, `[rows, length]`.
    ///
    /// # Errors
    /// When the shape is another, or there is nothing to predict.
    pub fn new(tokens: &Tensor) -> Result<Self, OpError> {
        let [rows, length] = tokens.size()[..] else {
            return Err(bad_artifact(
                "token rows",
                format!("`tokens` has shape {:?}, not [rows, length]", tokens.size()),
            ));
        };
        if length < 2 || rows < 1 {
            return Err(bad_artifact(
                "token rows",
                format!("{rows} rows of {length} tokens leave nothing to predict"),
            )
            .help("give more text, or make the rows shorter (`length` of `data.pack`)."));
        }
        let read = || {
            let tokens = tokens.f_to_kind(Kind::Int)?.f_contiguous()?;
            let counted = tokens.f_narrow(1, 1, length - 1)?.f_ge(0)?.f_sum_dim_intlist(
                [1].as_slice(),
                false,
                Kind::Int64,
            )?;
            let (least, largest) =
                (tokens.f_min()?.f_int64_value(&[])?, tokens.f_max()?.f_int64_value(&[])?);
            Ok::<_, TchError>((tokens, Vec::<i64>::try_from(&counted)?, least, largest))
        };
        let (tokens, counted, least, largest) =
            read().during("reading token rows", &[("tokens", tokens)])?;
        Ok(Self {
            tokens: Mutex::new(tokens),
            rows: usize::try_from(rows).unwrap_or(0),
            length,
            targets: counted.iter().map(|&count| u32::try_from(count).unwrap_or(0)).collect(),
            largest,
            padded: least < 0,
        })
    }

    fn read(path: &Path) -> Result<Self, OpError> {
        let tensors = tensors::read(path)?;
        let tokens = tensors
            .get("tokens")
            .ok_or_else(|| bad_artifact("token rows", "there is no tensor `tokens`"))?;
        Self::new(tokens)
    }

    /// Whether a model can be trained or judged on these rows.
    ///
    /// # Errors
    /// When a token is outside its vocabulary, or rows are longer than it can see.
    pub fn check_fits(&self, config: &Config) -> Result<(), OpError> {
        if self.largest >= config.vocab_size {
            let message = format!(
                "The rows hold token {}, but the model knows only {} tokens.",
                self.largest, config.vocab_size
            );
            return Err(OpError::new("run::argument", message).help(
                "make the model with `vocab: tok.size` of the tokenizer that encoded the rows.",
            ));
        }
        if self.length - 1 > config.max_position_embeddings {
            let message = format!(
                "The rows hold {} tokens each, but the model sees only {} at a time.",
                self.length, config.max_position_embeddings
            );
            return Err(OpError::new("run::argument", message)
                .help("pack shorter rows, or make the model with a longer `context`."));
        }
        Ok(())
    }

    /// Targets in all rows.
    #[must_use]
    pub fn all_targets(&self) -> u64 {
        self.targets.iter().map(|&count| u64::from(count)).sum()
    }

    /// These rows as a batch on a device, with the number of its targets.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn batch(&self, rows: &[u32], device: Device) -> Result<(Batch, u64), OpError> {
        let targets = rows
            .iter()
            .filter_map(|&row| self.targets.get(row as usize))
            .map(|&count| u64::from(count))
            .sum();
        let batch = self.gather(rows, device).during("gathering a batch", &[])?;
        Ok((batch, targets))
    }

    fn gather(&self, rows: &[u32], device: Device) -> Result<Batch, TchError> {
        let numbers: Vec<i64> = rows.iter().map(|&row| i64::from(row)).collect();
        let all = self.tokens.lock().unwrap_or_else(PoisonError::into_inner).shallow_clone();
        let picked = all
            .f_index_select(0, &Tensor::f_from_slice(&numbers)?)?
            .f_to_kind(Kind::Int64)?
            .f_to_device(device)?;
        let input = picked.f_narrow(1, 0, self.length - 1)?;
        let next = picked.f_narrow(1, 1, self.length - 1)?.f_reshape([-1])?;
        if !self.padded {
            return Ok(Batch {
                tokens: input.f_contiguous()?,
                targets: Targets { token: next, weight: None },
            });
        }
        let weight = next.f_ge(0)?.f_to_kind(Kind::Float)?;
        let targets = Targets { token: next.f_clamp_min(0)?, weight: Some(weight) };
        Ok(Batch { tokens: input.f_clamp_min(0)?, targets })
    }
}

/// The rows of an artifact, loaded once and kept while memory allows.
///
/// # Errors
/// When they are no token rows.
pub fn load(context: &dyn Context, artifact: &Artifact) -> Result<Arc<TokenRows>, OpError> {
    let decoded = context.decoded(artifact, &|path| {
        let rows: Arc<dyn Any + Send + Sync> = Arc::new(TokenRows::read(path)?);
        Ok(rows)
    })?;
    decoded.downcast().map_err(|_| bad_artifact("token rows", "they are held as something else"))
}
