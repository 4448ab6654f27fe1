//! `tokenizer.train`, `tokenizer.encode`, `data.pack`.

use crate::call::{Call, count};
use crate::tokens::{About, FORMAT, Tokens};
use pipe_runtime::op::OpError;
use pipe_runtime::value::Value;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;
use tokenizers::models::TrainerWrapper;
use tokenizers::models::bpe::{BPE, BpeTrainerBuilder};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::{AddedToken, Tokenizer};

/// The token that ends a text.
const END: &str = "<|endoftext|>";

/// Texts that are encoded between two looks at the cancel flag.
const BATCH: usize = 512;

pub(super) fn train(call: &Call) -> Result<Value, OpError> {
    let texts = call.table("data")?.texts(call.args.str("column")?)?;
    let vocab = call.count_from("vocab", 257)?;
    if texts.iter().flatten().all(String::is_empty) {
        return Err(OpError::new("run::no_text", "There is no text to learn a vocabulary from."));
    }
    let tokenizer = trained(texts.iter().flatten().map(String::as_str), vocab)
        .map_err(|error| failed("cannot be trained", &error))?;
    let size = tokenizer.get_vocab_size(true);
    if size < vocab {
        call.context
            .warn(&format!("The text gives a vocabulary of {size} tokens, fewer than {vocab}."));
    }
    let text = tokenizer.to_string(false).map_err(|error| failed("cannot be written", &error))?;
    let meta = BTreeMap::from([
        ("size".to_owned(), count(size)),
        ("kind".to_owned(), Value::Str("bpe".to_owned())),
        ("eos".to_owned(), Value::Int(i64::from(end_token(&tokenizer)?))),
    ]);
    call.give_file(text.as_bytes(), "tokenizer", "json", meta)
}

/// Byte-level BPE as in GPT-2 (Radford et al. 2019, section 2.2), without a space before the first word.
fn trained<'a>(
    texts: impl Iterator<Item = &'a str> + Send,
    vocab: usize,
) -> tokenizers::Result<Tokenizer> {
    let mut tokenizer = Tokenizer::new(BPE::default());
    let bytes = ByteLevel::new(false, true, true);
    tokenizer.with_pre_tokenizer(Some(bytes)).with_decoder(Some(bytes));
    let trainer = BpeTrainerBuilder::new()
        .vocab_size(vocab)
        .min_frequency(2)
        .show_progress(false)
        .special_tokens(vec![AddedToken::from(END, true)])
        .initial_alphabet(ByteLevel::alphabet().into_iter().collect())
        .build();
    tokenizer.train(&mut TrainerWrapper::from(trainer), texts)?;
    Ok(tokenizer)
}

fn end_token(tokenizer: &Tokenizer) -> Result<u32, OpError> {
    tokenizer.token_to_id(END).ok_or_else(|| {
        OpError::new("run::bad_tokenizer", format!("The tokenizer has no token `{END}`."))
    })
}

fn read(path: &Path) -> Result<Tokenizer, OpError> {
    let mut tokenizer =
        Tokenizer::from_file(path).map_err(|error| failed("cannot be read", &error))?;
    tokenizer.set_encode_special_tokens(true);
    Ok(tokenizer)
}

fn failed(what: &str, error: &dyn Display) -> OpError {
    OpError::new("run::bad_tokenizer", format!("The tokenizer {what}: {error}."))
}

pub(super) fn encode(call: &Call) -> Result<Value, OpError> {
    let texts = call.table("data")?.texts(call.args.str("column")?)?;
    let tokenizer = call.decoded("with", "tokenizer", read)?;
    let vocab = u32::try_from(tokenizer.get_vocab_size(true)).unwrap_or(u32::MAX);
    let about =
        About { format: FORMAT.to_owned(), vocab, eos: end_token(&tokenizer)?, length: None };
    let mut made = Tokens { about, tokens: Vec::new(), ends: Vec::new() };
    for batch in texts.chunks(BATCH) {
        call.stop_if_cancelled()?;
        let batch =
            batch.iter().map(|text| text.as_deref().unwrap_or_default()).collect::<Vec<_>>();
        let encoded = tokenizer
            .encode_batch_fast(batch, false)
            .map_err(|error| failed("cannot encode a text", &error))?;
        for document in encoded {
            made.tokens
                .extend(document.get_ids().iter().map(|id| i32::try_from(*id).unwrap_or(i32::MAX)));
            made.ends.push(position(made.tokens.len()));
        }
        call.context.progress(made.ends.len() as u64, texts.len() as u64, "encoding");
    }
    let meta = BTreeMap::from([
        ("documents".to_owned(), count(made.ends.len())),
        ("tokens".to_owned(), count(made.tokens.len())),
        ("vocab".to_owned(), Value::Int(i64::from(made.about.vocab))),
    ]);
    call.give_file(&made.to_bytes()?, "encoded", "safetensors", meta)
}

pub(super) fn pack(call: &Call) -> Result<Value, OpError> {
    let length = call.count_from("length", 2)?;
    let encoded = call.decoded("encoded", "encoded", Tokens::read)?;
    let packed = packed(&encoded, length)?;
    let rows = packed.tokens.len() / length;
    if rows == 0 {
        return Err(OpError::new(
            "run::too_few_tokens",
            format!(
                "{} documents with {} tokens fill no row of {length}.",
                encoded.ends.len(),
                encoded.tokens.len()
            ),
        )
        .help("take shorter rows, or a larger part"));
    }
    let meta = BTreeMap::from([
        ("rows".to_owned(), count(rows)),
        ("length".to_owned(), count(length)),
        ("vocab".to_owned(), Value::Int(i64::from(packed.about.vocab))),
        ("eos".to_owned(), Value::Int(i64::from(packed.about.eos))),
        ("tokens".to_owned(), count(packed.tokens.len())),
    ]);
    call.give_file(&packed.to_bytes()?, "tokens", "safetensors", meta)
}

/// Documents with an end-of-text token behind each, cut into rows; what fills no row is left out.
fn packed(encoded: &Tokens, length: usize) -> Result<Tokens, OpError> {
    let about = About { length: Some(length), ..encoded.about.clone() };
    let end = i32::try_from(about.eos).unwrap_or(i32::MAX);
    let mut made = Tokens {
        about,
        tokens: Vec::with_capacity(encoded.tokens.len() + encoded.ends.len()),
        ends: Vec::new(),
    };
    let mut start = 0;
    for stop in &encoded.ends {
        let stop = usize::try_from(*stop).unwrap_or(usize::MAX);
        let document = encoded.tokens.get(start..stop).ok_or_else(|| {
            OpError::new("run::bad_tokens", "The ends of documents do not fit the tokens.")
        })?;
        made.tokens.extend(document);
        made.tokens.push(end);
        made.ends.push(position(made.tokens.len()));
        start = stop;
    }
    made.tokens.truncate(made.tokens.len() / length * length);
    let last = position(made.tokens.len());
    made.ends.retain(|end| *end <= last);
    Ok(made)
}

fn position(at: usize) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}
