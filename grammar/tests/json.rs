//! Programs as JSON: what the schema takes becomes a program that reads, and every program comes back from it.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

#[allow(dead_code, reason = "each test file uses a part")]
mod acceptor;
#[allow(dead_code, reason = "each test file uses a part")]
mod corpus;
#[allow(dead_code, reason = "each test file uses a part")]
mod generate;

use acceptor::Acceptor;
use pipe_grammar::{FileId, SourceFile, ast, format, json, parse};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{TestCaseResult, TestRunner};
use serde_json::{Map, Value};

/// What no schema can count.
const LIMITS: [&str; 3] = ["syntax::number_range", "syntax::too_deep", "syntax::too_large"];

fn file(text: &str) -> SourceFile {
    SourceFile::new(FileId(0), "program", text)
}

fn for_each<S: Strategy>(strategy: &S, cases: u32, test: impl Fn(S::Value) -> TestCaseResult) {
    let more = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let config = ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::with_cases(more.unwrap_or(cases))
    };
    TestRunner::new(config).run(strategy, test).unwrap();
}

/// Through JSON and back: an equal tree. A program that JSON does not say gives false.
fn comes_back(name: &str, text: &str, acceptor: &Acceptor) -> bool {
    let before = parse(&file(text)).module;
    let Some(tree) = json::tree(&before) else { return false };
    acceptor.must(name, &tree.to_string());
    let written = json::text(&tree).unwrap();
    let after = parse(&file(&written));
    assert!(after.problems.is_empty(), "{name}: {:#?}\n{written}", after.problems);
    assert_eq!(json::tree(&after.module), Some(tree), "{name}");
    assert!(ast::same(&before, &after.module), "{name} comes back as\n{written}\nof\n{text}");
    true
}

/// Documentation inside blocks is a comment to everybody who reads the tree.
fn without_inner_docs(text: &str) -> String {
    let inner = |line: &&str| line.starts_with(' ') && line.trim_start().starts_with("##");
    text.lines().filter(|line| !inner(line)).map(|line| format!("{line}\n")).collect()
}

#[test]
fn every_program_comes_back() {
    let acceptor = Acceptor::json();
    let (mut told, mut native) = (0, 0);
    for (name, text) in corpus::programs() {
        let text = without_inner_docs(&format(&file(&text)).text);
        match comes_back(&name, &text, &acceptor) {
            true => told += 1,
            false if text.contains("@native") => native += 1,
            false => panic!("{name} has no tree"),
        }
    }
    assert!(told >= 5 && native >= 5, "{told} programs, {native} of the library");
}

#[test]
fn random_programs_come_back() {
    let acceptor = Acceptor::json();
    for_each(&generate::program(), 256, |text| {
        let documentation = |line: &&str| line.trim_start().starts_with("##");
        let lines = text.lines().filter(|line| !documentation(line));
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        comes_back("a random program", &text, &acceptor);
        Ok(())
    });
}

#[test]
fn documentation_of_a_parameter_comes_back() {
    let text = "## The file.\n\n## Twice.\nfn f(\n  ## How many.\n  ##\n  ## Once or more.\n  count: int,\n) -> int = 2 * count\n";
    assert!(comes_back("f", text, &Acceptor::json()));
}

/// A walk over the schema, as an engine that decodes under it takes.
struct Walk {
    definitions: Map<String, Value>,
}

impl Walk {
    fn value(&self, schema: &Value, depth: u32, runner: &mut TestRunner) -> Value {
        let below =
            |runner: &mut TestRunner, end: usize| (0..end).new_tree(runner).unwrap().current();
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.strip_prefix("#/$defs/").unwrap();
            return self.value(&self.definitions[name], depth, runner);
        }
        if let Some(ways) = schema["anyOf"].as_array() {
            // The first way of what can nest is a word.
            let count = if depth == 0 { 1 } else { ways.len() };
            return self.value(&ways[below(runner, count)], depth, runner);
        }
        if let Some(signs) = schema["enum"].as_array() {
            return signs[below(runner, signs.len())].clone();
        }
        if schema.as_object().unwrap().contains_key("const") {
            return schema["const"].clone();
        }
        let inner = depth.saturating_sub(1);
        match schema["type"].as_str().unwrap() {
            "string" => {
                let any = r#"[ -~\n\r\t"\\${}#]{0,6}|é\x00?"#;
                let pattern = schema["pattern"].as_str().unwrap_or(any);
                let text = proptest::string::string_regex(
                    &pattern.trim_matches(['^', '$']).replace('*', "{0,2}"),
                );
                text.unwrap().new_tree(runner).unwrap().current().into()
            }
            "array" => {
                let least = schema["minItems"].as_u64().unwrap() as usize;
                let count = least + if depth == 0 { 0 } else { below(runner, 3) };
                (0..count).map(|_| self.value(&schema["items"], inner, runner)).collect()
            }
            _ => {
                let needed = schema["required"].as_array().unwrap();
                let mut keys = Map::new();
                for (key, schema) in schema["properties"].as_object().unwrap() {
                    let needs = needed.contains(&Value::from(key.as_str()));
                    if needs || (depth > 0 && below(runner, 2) == 0) {
                        keys.insert(key.clone(), self.value(schema, inner, runner));
                    }
                }
                keys.into()
            }
        }
    }
}

#[test]
fn what_the_schema_takes_reads() {
    let schema = json::schema();
    let walk = Walk { definitions: schema["$defs"].as_object().unwrap().clone() };
    let acceptor = Acceptor::json();
    let mut runner = TestRunner::deterministic();
    let mut length = 0;
    for round in 0..300u32 {
        let tree = walk.value(&schema, 3 + round % 8, &mut runner);
        if round % 16 == 0 {
            acceptor.must("a tree of the schema", &tree.to_string());
        }
        let text = json::text(&tree).unwrap_or_else(|misfit| panic!("{misfit}\n{tree:#}"));
        let parsed = parse(&file(&text));
        let real = parsed.problems.iter().find(|it| !LIMITS.contains(&it.code));
        assert!(real.is_none(), "{real:#?}\n{text}\n{tree:#}");
        length += text.len();
        if !parsed.problems.is_empty() {
            continue;
        }
        // Once through the formatter it says the same.
        let formatted = format(&file(&text)).text;
        let again = parse(&file(&formatted));
        assert!(again.problems.is_empty(), "{:#?}\n{text}\n{formatted}", again.problems);
        let (before, after) = (json::tree(&parsed.module), json::tree(&again.module));
        assert_eq!(after, before, "{text}\n{formatted}");
    }
    assert!(length > 5_000, "the walk gives little: {length} bytes");
}

/// What is wrong, and where.
const MISFITS: &[(&str, &str)] = &[
    ("[]", "the program: this is no program, which has one of `declarations`"),
    (
        r#"{"declarations": [{}]}"#,
        "declarations[0]: this is no declaration, which has one of `use`, `param`, `let`, `output`, `check`, `fn`, `type`",
    ),
    (r#"{"declarations": [{"let": "a"}]}"#, "declarations[0]: `value` is missing"),
    (
        r#"{"declarations": [{"let": "in", "value": true}]}"#,
        "declarations[0].let: `in` is not a name, or it is reserved",
    ),
    (
        r#"{"declarations": [{"let": "a", "value": "metrics csv"}]}"#,
        "declarations[0].value: `metrics csv` is not a name, such as `rows` or `data.read`; a text is `{\"text\": ...}`",
    ),
    (
        r#"{"declarations": [{"let": "a", "value": true, "is": 1}]}"#,
        "declarations[0]: there is no `is` here, only `doc`, `attributes`, `let`, `type`, `value`",
    ),
    (
        r#"{"declarations": [{"let": "a", "value": {"number": "5min"}}]}"#,
        "declarations[0].value.number: `5min` is not a number, such as `1.5`, `3e-4` or `5m`",
    ),
    (
        r#"{"declarations": [{"let": "a", "value": {"operator": "+", "of": [true]}}]}"#,
        "declarations[0].value.of: this is a list with at least 2 in it",
    ),
    (
        r#"{"declarations": [{"let": "a", "value": {"compare": "=", "left": "b", "right": "c"}}]}"#,
        "declarations[0].value.compare: `=` is none of == != < <= > >= in",
    ),
];

#[test]
fn a_misfit_is_located() {
    let acceptor = Acceptor::json();
    for (tree, wanted) in MISFITS {
        assert!(acceptor.accepts(tree).is_err(), "{tree}");
        let misfit = json::text(&serde_json::from_str(tree).unwrap()).unwrap_err();
        assert_eq!(misfit.to_string(), *wanted, "{tree}");
    }
}
