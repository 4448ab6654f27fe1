//! Texts to tokens to rows.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{Bench, text};
use pipe_data::tokens::Tokens;
use pipe_row::Column;
use pipe_runtime::op::{Args, Context};
use pipe_runtime::value::{Artifact, Value};

fn corpus(bench: &Bench) -> Value {
    let texts: Vec<String> =
        (0..200).map(|n| format!("The {n}th cat sat on the mat, naïve as ever 🙂.\n")).collect();
    bench.give(vec![("text", Column::optional_text(texts.iter().map(Some).chain([None])))])
}

fn train(bench: &Bench, table: Value, vocab: i64) -> Result<Value, pipe_runtime::op::OpError> {
    let args = [
        ("data", table),
        ("column", text("text")),
        ("kind", text("bpe")),
        ("vocab", Value::Int(vocab)),
    ];
    bench.run("tokenizer.train", Args::of(args))
}

fn encode(bench: &Bench, table: Value, with: &Value) -> Value {
    bench
        .run(
            "tokenizer.encode",
            Args::of([("data", table), ("with", with.clone()), ("column", text("text"))]),
        )
        .unwrap()
}

fn artifact(value: &Value) -> &Artifact {
    let Value::Artifact(artifact) = value else { panic!("no artifact") };
    artifact
}

fn open(bench: &Bench, value: &Value) -> Tokens {
    Tokens::read(&bench.context.path(artifact(value)).unwrap()).unwrap()
}

#[test]
fn texts_come_back_from_their_tokens() {
    let bench = Bench::new();
    let tokenizer = train(&bench, corpus(&bench), 300).unwrap();
    assert_eq!(artifact(&tokenizer).meta["size"], Value::Int(300));
    assert_eq!(artifact(&tokenizer).meta["eos"], Value::Int(0));
    let texts = ["Die Katze <|endoftext|> saß", "", "日本 🙂\n\tx"];
    let encoded =
        open(&bench, &encode(&bench, bench.give(vec![("text", Column::text(texts))]), &tokenizer));
    assert!(!encoded.tokens.contains(&0), "text must not be able to end itself");
    let reader =
        tokenizers::Tokenizer::from_file(bench.context.path(artifact(&tokenizer)).unwrap())
            .unwrap();
    let mut start = 0;
    for (text, end) in texts.iter().zip(&encoded.ends) {
        let ids: Vec<u32> =
            encoded.tokens[start..*end as usize].iter().map(|id| *id as u32).collect();
        assert_eq!(reader.decode(&ids, false).unwrap(), *text);
        start = *end as usize;
    }
}

#[test]
fn a_tokenizer_is_the_same_file_each_time() {
    let bench = Bench::new();
    let digest = |value: Value| artifact(&value).digest.clone();
    let first = digest(train(&bench, corpus(&bench), 400).unwrap());
    assert_eq!(first, digest(train(&bench, corpus(&bench), 400).unwrap()));
}

#[test]
fn rows_hold_every_document_and_its_end() {
    let bench = Bench::new();
    let tokenizer = train(&bench, corpus(&bench), 300).unwrap();
    let encoded = encode(&bench, corpus(&bench), &tokenizer);
    let documents = open(&bench, &encoded);
    let packed = bench
        .run("data.pack", Args::of([("encoded", encoded.clone()), ("length", Value::Int(64))]))
        .unwrap();
    let rows = open(&bench, &packed);
    assert_eq!(artifact(&packed).meta["length"], Value::Int(64));
    assert_eq!(rows.tokens.len() % 64, 0);
    let left_out = documents.tokens.len() + documents.ends.len() - rows.tokens.len();
    assert!(left_out < 64);
    let first = documents.ends[0] as usize;
    assert_eq!(rows.tokens[..first], documents.tokens[..first]);
    assert_eq!((rows.tokens[first], rows.ends[0]), (0, documents.ends[0] + 1));
    assert!(rows.rows().all(|row| row.len() == 64));

    let bytes =
        |value: &Value| std::fs::read(bench.context.path(artifact(value)).unwrap()).unwrap();
    let again = bench
        .run("data.pack", Args::of([("encoded", encoded.clone()), ("length", Value::Int(64))]))
        .unwrap();
    assert_eq!(bytes(&packed), bytes(&again));
    let long =
        bench.run("data.pack", Args::of([("encoded", encoded), ("length", Value::Int(1 << 20))]));
    assert_eq!(long.unwrap_err().code, "run::too_few_tokens");

    let scored = bench
        .run(
            "eval.bigram",
            Args::of([
                ("train", packed.clone()),
                ("data", packed),
                ("smoothing", text("kneser_ney")),
            ]),
        )
        .unwrap();
    let Value::Record(fields) = scored else { panic!("no record") };
    assert_eq!(fields["targets"], Value::Int((rows.tokens.len() / 64 * 63) as i64));
    let Value::Float(perplexity) = fields["perplexity"] else { panic!("no number") };
    assert!(perplexity > 1.0 && perplexity < 30.0, "{perplexity}");
}

#[test]
fn no_text_is_an_error() {
    let bench = Bench::new();
    let empty = bench.give(vec![("text", Column::text([""]))]);
    assert_eq!(train(&bench, empty, 300).unwrap_err().code, "run::no_text");
    assert_eq!(train(&bench, corpus(&bench), 20).unwrap_err().code, "run::argument");
}
