//! The TextMate grammar and the language agree: on strings, comments and numbers with the scanner, on reserved words
//! with the analysis, over every program and case in the repository.

#![expect(clippy::unwrap_used, reason = "what fails in a test stops it")]

use pipe_compiler::host::NoFiles;
use pipe_compiler::{Inputs, Machine, ParamText, Readings};
use pipe_grammar::scan::{Kind, Scanner};
use pipe_grammar::{FileId, words};
use regex::{Captures, Regex};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A rule of the grammar.
enum Rule {
    Match { regex: Regex, names: Vec<(usize, String)> },
    Span { begin: Regex, end: Regex, name: String, inside: Vec<usize> },
}

/// The grammar as an editor runs it, line by line from the left, the first rule of the earliest match winning.
struct TextMate {
    rules: Vec<Rule>,
    lists: BTreeMap<String, Vec<usize>>,
    code: Vec<usize>,
}

type Scope = (usize, usize, String);

impl TextMate {
    fn read(text: &str) -> Self {
        let grammar: Value = serde_json::from_str(text).unwrap();
        let mut all = Self { rules: Vec::new(), lists: BTreeMap::new(), code: Vec::new() };
        all.code = all.include(&grammar, "#code");
        all
    }

    fn include(&mut self, grammar: &Value, name: &str) -> Vec<usize> {
        if let Some(known) = self.lists.get(name) {
            return known.clone();
        }
        let entry = &grammar["repository"][name.trim_start_matches('#')];
        assert!(entry.is_object(), "no {name}");
        if entry.get("match").is_some() || entry.get("begin").is_some() {
            let at = self.rules.len();
            self.lists.insert(name.to_owned(), vec![at]);
            self.rule(grammar, entry);
            return vec![at];
        }
        let list = self.list(grammar, &entry["patterns"]);
        self.lists.insert(name.to_owned(), list.clone());
        list
    }

    fn list(&mut self, grammar: &Value, patterns: &Value) -> Vec<usize> {
        let mut list = Vec::new();
        for pattern in patterns.as_array().into_iter().flatten() {
            match pattern.get("include").and_then(Value::as_str) {
                // What contains itself is looked up when it is used.
                Some("#code") => list.push(usize::MAX),
                Some(name) => list.extend(self.include(grammar, name)),
                None => {
                    list.push(self.rules.len());
                    self.rule(grammar, pattern);
                }
            }
        }
        list
    }

    fn rule(&mut self, grammar: &Value, entry: &Value) {
        let regex = |field: &str| Regex::new(entry[field].as_str().unwrap()).unwrap();
        let name = entry["name"].as_str().unwrap_or_default().to_owned();
        if entry.get("match").is_some() {
            let mut names = vec![(0, name)];
            for (group, capture) in entry["captures"].as_object().into_iter().flatten() {
                names.push((group.parse().unwrap(), capture["name"].as_str().unwrap().to_owned()));
            }
            self.rules.push(Rule::Match { regex: regex("match"), names });
            return;
        }
        let at = self.rules.len();
        let (begin, end) = (regex("begin"), regex("end"));
        self.rules.push(Rule::Span {
            begin: begin.clone(),
            end: end.clone(),
            name: name.clone(),
            inside: Vec::new(),
        });
        let inside = self.list(grammar, &entry["patterns"]);
        self.rules[at] = Rule::Span { begin, end, name, inside };
    }

    /// Every name that some bytes get, the outer ones first.
    fn scopes(&self, text: &str) -> Vec<Scope> {
        let mut found = Vec::new();
        let mut open: Vec<(usize, usize)> = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let bare = line.trim_end_matches('\n');
            let mut at = 0;
            while let Some((next, rule, end)) =
                self.next(bare, at, open.last().map(|(rule, _)| *rule))
            {
                let groups = |names: &[(usize, String)],
                              captures: &Captures<'_>,
                              found: &mut Vec<Scope>| {
                    for (group, name) in names {
                        if let Some(part) = captures.get(*group).filter(|_| !name.is_empty()) {
                            found.push((start + part.start(), start + part.end(), name.clone()));
                        }
                    }
                };
                match rule {
                    None => {
                        let (rule, begun) = open.pop().unwrap();
                        if let Rule::Span { name, .. } = &self.rules[rule] {
                            found.push((begun, start + end, name.clone()));
                        }
                    }
                    Some(rule) => match &self.rules[rule] {
                        Rule::Match { regex, names } => {
                            groups(names, &regex.captures_at(bare, next).unwrap(), &mut found);
                        }
                        Rule::Span { .. } => open.push((rule, start + next)),
                    },
                }
                if end == at && rule.is_some() {
                    break;
                }
                at = end;
                if at > bare.len() {
                    break;
                }
            }
            start += line.len();
        }
        found
    }

    /// The next match from byte `at`: its start, its rule (none: the open span ends), its end.
    fn next(
        &self,
        line: &str,
        at: usize,
        open: Option<usize>,
    ) -> Option<(usize, Option<usize>, usize)> {
        let mut best: Option<(usize, Option<usize>, usize)> = None;
        let mut list = self.code.clone();
        if let Some(Rule::Span { end, inside, .. }) = open.map(|open| &self.rules[open]) {
            let found = end.find_at(line, at);
            best = found.map(|found| (found.start(), None, found.end()));
            list = inside
                .iter()
                .flat_map(|rule| match *rule {
                    usize::MAX => self.code.clone(),
                    rule => vec![rule],
                })
                .collect();
        }
        for rule in list {
            let found = match &self.rules[rule] {
                Rule::Match { regex, .. } => regex.find_at(line, at),
                Rule::Span { begin, .. } => begin.find_at(line, at),
            };
            if let Some(found) = found
                && best.as_ref().is_none_or(|(start, _, _)| found.start() < *start)
            {
                best = Some((found.start(), Some(rule), found.end()));
            }
        }
        best
    }
}

fn programs() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut open: Vec<PathBuf> =
        ["tests/cases", "examples", "stdlib"].iter().map(|at| root.join(at)).collect();
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "pipe") {
                let Ok(text) = std::fs::read_to_string(&path) else { continue };
                for (at, part) in text.split("\n--- ").enumerate() {
                    let body = if at == 0 {
                        part
                    } else {
                        part.split_once('\n').map_or("", |(_, rest)| rest)
                    };
                    found.push((path.clone(), body.to_owned()));
                }
            }
        }
    }
    found.sort();
    found
}

/// Places of reserved words that are names: fields, keys, names of arguments.
fn names(text: &str) -> BTreeSet<(usize, usize)> {
    struct One<'a>(&'a str);
    impl pipe_compiler::Host for One<'_> {
        fn read(&self, _: &str) -> Result<Vec<u8>, pipe_compiler::HostError> {
            Ok(self.0.as_bytes().to_vec())
        }
        fn stat(&self, path: &str) -> Result<pipe_compiler::FileInfo, pipe_compiler::HostError> {
            NoFiles.stat(path)
        }
        fn head(&self, path: &str, bytes: usize) -> Result<Vec<u8>, pipe_compiler::HostError> {
            NoFiles.head(path, bytes)
        }
        fn digest(&self, path: &str) -> Result<String, pipe_compiler::HostError> {
            NoFiles.digest(path)
        }
        fn glob(&self, _: &str) -> Result<Vec<String>, pipe_compiler::HostError> {
            Ok(Vec::new())
        }
    }
    let params: BTreeMap<String, ParamText> = BTreeMap::new();
    let inputs = Inputs {
        file: "main.pipe",
        host: &One(text),
        library: &pipe_stdlib::FILES,
        params: &params,
        tools: &BTreeMap::new(),
        machine: Machine { threads: 1, memory: 0, gpus: 0 },
    };
    let analysis = pipe_compiler::analyse(&inputs, &mut Readings::default());
    let mentions = analysis.mentions().iter().filter(|mention| mention.span.file == FileId(0));
    mentions.map(|mention| (mention.span.start as usize, mention.span.end as usize)).collect()
}

#[test]
fn textmate_agrees_with_the_language() {
    let grammar = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../grammar/editors/vscode/syntaxes/pipe.tmLanguage.json");
    let grammar = TextMate::read(&std::fs::read_to_string(grammar).unwrap());
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for (path, text) in programs() {
        let file = pipe_grammar::SourceFile::new(FileId(0), "main.pipe", text.as_str());
        if !pipe_grammar::parse(&file).is_ok() {
            continue;
        }
        let scopes = grammar.scopes(&text);
        let names = names(&text);
        for token in Scanner::new(&text) {
            let word = token.text(&text);
            let bounds = (token.start, token.end);
            let is = |part: &str| {
                scopes
                    .iter()
                    .any(|(start, end, name)| (*start, *end) == bounds && name.contains(part))
            };
            let starts = |part: &str| {
                scopes
                    .iter()
                    .any(|(start, _, name)| *start == token.start && name.starts_with(part))
            };
            let keyword = is("keyword.declaration")
                || is("keyword.control")
                || is("keyword.operator.word")
                || is("constant.language");
            let right = match token.kind {
                Kind::Word if words::is_reserved(word) => keyword != names.contains(&bounds),
                Kind::Word => !keyword,
                Kind::Str { .. } => is("string.quoted"),
                Kind::Comment => is("comment.line"),
                Kind::Number => starts("constant.numeric"),
                _ => true,
            };
            compared += 1;
            if !right {
                let place = file.place(token.start as u32);
                wrong.push(format!("{}:{}:{} `{word}`", path.display(), place.line, place.column));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(compared > 5_000, "{compared}");
}
