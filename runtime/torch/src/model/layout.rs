//! All weights of a decoder in one flat fp32 tensor, and the way from there to the names of Hugging Face and back.
//!
//! One tensor makes the optimizer, gradient norms and checkpoints a handful of operations. Projections that read the same
//! input lie together (query, key and value; gate and up), so that each is one matrix product. Rows of query and key are
//! stored with the two halves of each head interleaved: the rotary embedding is then a product of complex numbers.
//! Weights that decay come first, the norms last.

use crate::fault::{During, bad_artifact};
use crate::model::config::Config;
use pipe_runtime::op::OpError;
use std::collections::BTreeMap;
use tch::{Device, Kind, TchError, Tensor};

/// Elements to which parts are aligned: 64 bytes.
const ALIGN: i64 = 16;

/// Which tensors of Hugging Face a part holds, one after the other, and how.
#[derive(Clone, Debug, PartialEq)]
struct Piece {
    name: String,
    rows: i64,
    /// Heads whose rows are interleaved; 0 for plain rows.
    interleaved: i64,
}

/// One weight tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    offset: i64,
    rows: i64,
    columns: i64,
    vector: bool,
    pieces: Vec<Piece>,
}

/// Parts of one block, as numbers into the layout.
#[derive(Clone, Copy, Debug)]
pub struct BlockParts {
    /// Query, key and value projections.
    pub qkv: usize,
    /// Output projection of attention.
    pub out: usize,
    /// Gate and up projections.
    pub gate_up: usize,
    /// Down projection.
    pub down: usize,
    /// Norm before attention.
    pub norm_attention: usize,
    /// Norm before the feed-forward block.
    pub norm_mlp: usize,
}

/// Where each weight lies.
#[derive(Clone, Debug)]
pub struct Layout {
    parts: Vec<Part>,
    /// Parts of each block.
    pub blocks: Vec<BlockParts>,
    /// Token embedding.
    pub embedding: usize,
    /// Output projection; the embedding when tied.
    pub head: usize,
    /// Norm after the last block.
    pub norm: usize,
    /// Elements in all.
    pub total: i64,
    /// Elements that weight decay applies to: the first ones.
    pub decayed: i64,
    tied: bool,
}

struct Builder {
    parts: Vec<Part>,
    end: i64,
}

impl Builder {
    fn matrix(&mut self, columns: i64, pieces: Vec<Piece>) -> usize {
        let rows = pieces.iter().map(|piece| piece.rows).sum();
        self.push(Part { offset: self.end, rows, columns, vector: false, pieces })
    }

    fn vector(&mut self, name: String, length: i64) -> usize {
        let pieces = vec![Piece { name, rows: length, interleaved: 0 }];
        self.push(Part { offset: self.end, rows: length, columns: 1, vector: true, pieces })
    }

    fn push(&mut self, part: Part) -> usize {
        let end = part.offset + part.rows * part.columns;
        self.end = end.div_euclid(ALIGN) * ALIGN + if end % ALIGN == 0 { 0 } else { ALIGN };
        self.parts.push(part);
        self.parts.len() - 1
    }
}

fn plain(name: String, rows: i64) -> Piece {
    Piece { name, rows, interleaved: 0 }
}

impl Layout {
    /// The layout of a decoder of this shape.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let mut build = Builder { parts: Vec::new(), end: 0 };
        let width = config.hidden_size;
        let embedding =
            build.matrix(width, vec![plain("model.embed_tokens.weight".into(), config.vocab_size)]);
        let head = match config.tie_word_embeddings {
            true => embedding,
            false => build.matrix(width, vec![plain("lm_head.weight".into(), config.vocab_size)]),
        };
        let matrices: Vec<[usize; 4]> = (0..config.num_hidden_layers)
            .map(|layer| Self::matrices(&mut build, config, layer))
            .collect();
        let decayed = build.end;
        let mut blocks = Vec::new();
        for (layer, [qkv, out, gate_up, down]) in matrices.into_iter().enumerate() {
            let norm_attention =
                build.vector(format!("model.layers.{layer}.input_layernorm.weight"), width);
            let norm_mlp = build
                .vector(format!("model.layers.{layer}.post_attention_layernorm.weight"), width);
            blocks.push(BlockParts { qkv, out, gate_up, down, norm_attention, norm_mlp });
        }
        let norm = build.vector("model.norm.weight".into(), width);
        let Builder { parts, end: total } = build;
        Self {
            parts,
            blocks,
            embedding,
            head,
            norm,
            total,
            decayed,
            tied: config.tie_word_embeddings,
        }
    }

    fn matrices(build: &mut Builder, config: &Config, layer: i64) -> [usize; 4] {
        let name = |rest: &str| format!("model.layers.{layer}.{rest}.weight");
        let (width, ffn) = (config.hidden_size, config.intermediate_size);
        let query = Piece {
            name: name("self_attn.q_proj"),
            rows: config.query_width(),
            interleaved: config.num_attention_heads,
        };
        let key = Piece {
            name: name("self_attn.k_proj"),
            rows: config.kv_width(),
            interleaved: config.kv_heads(),
        };
        let value = plain(name("self_attn.v_proj"), config.kv_width());
        [
            build.matrix(width, vec![query, key, value]),
            build.matrix(config.query_width(), vec![plain(name("self_attn.o_proj"), width)]),
            build.matrix(
                width,
                vec![plain(name("mlp.gate_proj"), ffn), plain(name("mlp.up_proj"), ffn)],
            ),
            build.matrix(ffn, vec![plain(name("mlp.down_proj"), width)]),
        ]
    }

    /// Parameters without padding.
    #[must_use]
    pub fn parameters(&self) -> i64 {
        self.parts.iter().map(|part| part.rows * part.columns).sum()
    }

    /// The part of this number as a view of `flat`.
    ///
    /// # Errors
    /// When `flat` is too short.
    pub fn view(&self, flat: &Tensor, part: usize) -> Result<Tensor, TchError> {
        let part = self
            .parts
            .get(part)
            .ok_or_else(|| TchError::Shape(format!("there is no part {part}")))?;
        part.view(flat)
    }

    /// Names and shapes of the tensors on disk, sorted by name.
    #[must_use]
    pub fn names(&self) -> BTreeMap<String, Vec<i64>> {
        let mut names = BTreeMap::new();
        for part in &self.parts {
            for piece in &part.pieces {
                let shape =
                    if part.vector { vec![piece.rows] } else { vec![piece.rows, part.columns] };
                names.insert(piece.name.clone(), shape);
            }
        }
        names
    }

    /// The tensors on disk, as Hugging Face names and orders them.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn export(&self, flat: &Tensor) -> Result<Vec<(String, Tensor)>, OpError> {
        let mut tensors = Vec::new();
        for part in &self.parts {
            let whole = part.view(flat).during("exporting weights", &[])?;
            let mut row = 0;
            for piece in &part.pieces {
                let rows = whole.f_narrow(0, row, piece.rows);
                let tensor = rows
                    .and_then(|rows| piece.to_halves(&rows))
                    .during("exporting weights", &[])?;
                tensors.push((piece.name.clone(), tensor));
                row += piece.rows;
            }
        }
        Ok(tensors)
    }

    /// Fills a flat tensor from tensors on disk. Every one must be there, with its shape, and no other.
    ///
    /// # Errors
    /// Names what is missing, unexpected or of another shape.
    pub fn import(&self, tensors: &BTreeMap<String, Tensor>) -> Result<Tensor, OpError> {
        self.check_names(tensors)?;
        let flat = Tensor::f_zeros([self.total], (Kind::Float, Device::Cpu))
            .during("loading weights", &[])?;
        for part in &self.parts {
            let whole = part.view(&flat).during("loading weights", &[])?;
            let mut row = 0;
            for piece in &part.pieces {
                if let Some(tensor) = tensors.get(&piece.name) {
                    let target = whole.f_narrow(0, row, piece.rows);
                    let filled =
                        target.and_then(|mut target| target.f_copy_(&piece.to_pairs(tensor)?));
                    filled.during("loading weights", &[(&piece.name, tensor)])?;
                }
                row += piece.rows;
            }
        }
        Ok(flat)
    }

    fn check_names(&self, tensors: &BTreeMap<String, Tensor>) -> Result<(), OpError> {
        let names = self.names();
        for (name, shape) in &names {
            let Some(tensor) = tensors.get(name) else {
                return Err(bad_artifact("model", format!("the tensor {name} is missing")));
            };
            if tensor.size() != *shape {
                let found = tensor.size();
                return Err(bad_artifact(
                    "model",
                    format!("{name} has shape {found:?}, config.json makes it {shape:?}"),
                ));
            }
        }
        let ignored = |name: &str| {
            (self.tied && name == "lm_head.weight") || name.ends_with(".rotary_emb.inv_freq")
        };
        match tensors.keys().find(|name| !names.contains_key(*name) && !ignored(name)) {
            Some(name) => Err(bad_artifact(
                "model",
                format!("it has a tensor {name} that its config.json does not know"),
            )),
            None => Ok(()),
        }
    }

    /// Name, view and role of every tensor, for initialisation.
    pub(crate) fn pieces<'a>(
        &'a self,
        flat: &'a Tensor,
    ) -> impl Iterator<Item = Result<(&'a str, Tensor), TchError>> {
        self.parts.iter().flat_map(move |part| {
            let mut row = 0;
            part.pieces.iter().map(move |piece| {
                let view = part.view(flat)?.f_narrow(0, row, piece.rows)?;
                row += piece.rows;
                Ok((piece.name.as_str(), view))
            })
        })
    }
}

impl Part {
    fn view(&self, flat: &Tensor) -> Result<Tensor, TchError> {
        let line = flat.f_narrow(0, self.offset, self.rows * self.columns)?;
        if self.vector { Ok(line) } else { line.f_view([self.rows, self.columns]) }
    }
}

impl Piece {
    /// Rows x0 y0 x1 y1 .. of each head to x0 x1 .. y0 y1 ..
    fn to_halves(&self, rows: &Tensor) -> Result<Tensor, TchError> {
        self.swap(rows, |heads, half| [heads, half, 2])
    }

    /// Rows x0 x1 .. y0 y1 .. of each head to x0 y0 x1 y1 ..
    fn to_pairs(&self, rows: &Tensor) -> Result<Tensor, TchError> {
        self.swap(rows, |heads, half| [heads, 2, half])
    }

    fn swap(
        &self,
        rows: &Tensor,
        split: impl Fn(i64, i64) -> [i64; 3],
    ) -> Result<Tensor, TchError> {
        if self.interleaved == 0 {
            return Ok(rows.shallow_clone());
        }
        let [heads, a, b] = split(self.interleaved, self.rows / self.interleaved / 2);
        rows.f_reshape([heads, a, b, -1])?.f_transpose(1, 2)?.f_reshape([self.rows, -1])
    }
}
