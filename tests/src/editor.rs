//! Whole sessions of an editor with a language server, in a text that people read.
//!
//! A session file starts with the files of the project, `--- main.pipe` up to a line `---`. Then each line `> ...` is a
//! step of the editor, and the lines `< ...` below it are what the server said. A place is written as a piece of the
//! text with `|` where the cursor is. The steps:
//!
//! ```text
//! > open main.pipe                                 open a document, wait for its problems
//! > replace main.pipe "old" "new"                  type, wait for the problems
//! > type main.pipe "old" "new"                     the same without showing them
//! > textDocument/hover main.pipe "sco|red"         ask about a place (JSON with more fields may follow)
//! > textDocument/formatting main.pipe              ask about a document
//! > complete main.pipe "row.|"                     ask for completions, shown as label and text, ten at most
//! > workspace/symbol {"query": "a"}                ask with these parameters
//! > notify textDocument/didClose main.pipe         tell without an answer
//! > apply 0                                        make the change of an action, or all that was answered
//! > raw Content-Length: 1\r\n\r\n{                 send bytes, wait for one message
//! > exit                                           shut down, exit, and say how the server ended
//! ```

use pipe_grammar::{FileId, Position, SourceFile, Units};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

/// A session as written.
#[derive(Debug, Default)]
pub struct Session {
    /// The text before the first step, files included.
    head: String,
    /// Files of the project, by name.
    pub files: Vec<(String, String)>,
    /// Comments and steps in order.
    steps: Vec<String>,
}

impl Session {
    /// Read a session.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let mut session = Self::default();
        let mut file: Option<(String, String)> = None;
        for line in text.split_inclusive('\n') {
            let bare = line.trim_end_matches('\n');
            let begun = !session.steps.is_empty();
            match (&mut file, bare.strip_prefix("---")) {
                (Some(_), Some("")) => session.files.extend(file.take()),
                (Some((_, text)), _) => text.push_str(line),
                (None, Some(name)) if !begun => {
                    file = Some((name.trim().to_owned(), String::new()));
                }
                _ if bare.starts_with("# The server ended") => {}
                _ if bare.starts_with("> ") || (begun && bare.starts_with('#')) => {
                    session.steps.push(bare.to_owned());
                    continue;
                }
                _ => {}
            }
            if !begun {
                session.head.push_str(line);
            }
        }
        session
    }

    /// Play it against a server; gives the whole text as it turned out.
    pub fn play(&self, folder: &Path, input: impl Read, output: impl Write) -> String {
        let mut editor = Editor {
            input: BufReader::new(input),
            output,
            folder: folder.display().to_string(),
            documents: BTreeMap::new(),
            next: 0,
            last: Value::Null,
            said: String::new(),
        };
        for (name, text) in &self.files {
            editor.documents.insert(name.clone(), (0, text.clone()));
        }
        let mut text = self.head.clone();
        editor.start();
        editor.said.clear();
        for step in &self.steps {
            let _ = writeln!(text, "{step}");
            if let Some(words) = step.strip_prefix("> ") {
                editor.step(words);
                text.push_str(&std::mem::take(&mut editor.said));
                text.push('\n');
            }
        }
        text.truncate(text.trim_end().len());
        text + "\n"
    }
}

struct Editor<R, W> {
    input: BufReader<R>,
    output: W,
    folder: String,
    /// Version and text by name.
    documents: BTreeMap<String, (i32, String)>,
    next: i32,
    /// The last answer.
    last: Value,
    said: String,
}

impl<R: Read, W: Write> Editor<R, W> {
    fn start(&mut self) {
        let capabilities = json!({
            "textDocument": {
                "publishDiagnostics": { "relatedInformation": true },
                "completion": { "completionItem": { "snippetSupport": true } },
            },
            "workspace": { "inlayHint": { "refreshSupport": true } },
        });
        let options = json!({ "libraryDocuments": true });
        let params = json!({ "processId": null, "capabilities": capabilities, "initializationOptions": options });
        self.ask("initialize", &params);
        self.send(&json!({ "method": "initialized", "params": {} }));
    }

    fn step(&mut self, words: &str) {
        let (command, rest) = words.split_once(' ').unwrap_or((words, ""));
        match command {
            "open" => self.open(rest),
            "replace" => self.replace(rest),
            "type" => {
                let said = self.said.len();
                self.replace(rest);
                self.said.truncate(said);
            }
            "apply" => self.apply(rest),
            "raw" => self.raw(rest),
            "complete" => self.complete(rest),
            "notify" => {
                let (method, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                let params = self.params(rest);
                self.send(&json!({ "method": method, "params": params }));
            }
            "exit" => {
                self.ask("shutdown", &Value::Null);
                self.send(&json!({ "method": "exit" }));
            }
            method => {
                let params = self.params(rest);
                self.ask(method, &params);
            }
        }
    }

    /// Completions that fit what is written before the cursor.
    fn complete(&mut self, rest: &str) {
        let params = self.params(rest);
        let said = self.said.len();
        self.ask("textDocument/completion", &params);
        self.said.truncate(said);
        let before = rest.split('|').next().unwrap_or_default();
        let word = before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
        let word = word.unwrap_or_default();
        let mut items: Vec<Value> = self.last.as_array().cloned().unwrap_or_default();
        items.sort_by_key(|item| item["sortText"].as_str().map(str::to_owned));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let rows = items.iter().filter(|item| text(&item["label"]).starts_with(word)).take(10);
        for item in rows {
            let (label, new) = (text(&item["label"]), text(&item["textEdit"]["newText"]));
            let range = shown(&item["textEdit"]["range"], 0);
            let row = format!("< {label:<14} {range} {new:<28} {}", text(&item["detail"]));
            let _ = writeln!(self.said, "{}", row.trim_end());
        }
    }

    fn open(&mut self, name: &str) {
        let Some((version, text)) = self.documents.get_mut(name) else { return self.wrong(name) };
        *version += 1;
        let (version, text) = (*version, text.clone());
        let document = json!({ "uri": self.uri(name), "languageId": "pipe", "version": version, "text": text });
        self.send(
            &json!({ "method": "textDocument/didOpen", "params": { "textDocument": document } }),
        );
        self.problems(name);
    }

    fn replace(&mut self, rest: &str) {
        let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let mut words = serde_json::Deserializer::from_str(rest).into_iter::<String>().flatten();
        let (Some(old), Some(new)) = (words.next(), words.next()) else { return self.wrong(rest) };
        let Some((_, text)) = self.documents.get(name) else { return self.wrong(name) };
        let Some(at) = text.find(&old) else { return self.wrong(&old) };
        self.change(name, at, at + old.len(), &new);
        self.problems(name);
    }

    fn change(&mut self, name: &str, start: usize, end: usize, new: &str) {
        let uri = self.uri(name);
        let Some((version, text)) = self.documents.get_mut(name) else { return };
        let file = SourceFile::new(FileId(0), name, text.as_str());
        let range = json!({ "start": position(&file, start), "end": position(&file, end) });
        text.replace_range(start..end, new);
        *version += 1;
        let params = json!({
            "textDocument": { "uri": uri, "version": *version },
            "contentChanges": [{ "range": range, "text": new }],
        });
        self.send(&json!({ "method": "textDocument/didChange", "params": params }));
    }

    /// Make the change of the action with this number, or the edits that were answered.
    fn apply(&mut self, number: &str) {
        let answer = self.last.clone();
        let chosen = number.parse::<usize>().ok().and_then(|at| answer.get(at).cloned());
        let edit = chosen.and_then(|action| action.get("edit").cloned()).unwrap_or(answer);
        let mut names = Vec::new();
        let all = edit.get("changes").and_then(Value::as_object).cloned().unwrap_or_default();
        for (uri, edits) in all {
            let name = uri.rsplit('/').next().unwrap_or_default().to_owned();
            self.apply_edits(&name, &edits);
            names.push(name);
        }
        names.sort();
        self.problems_of(&names);
        for name in names {
            if let Some((_, text)) = self.documents.get(&name) {
                let lines = text.lines().map(|line| format!("<   {line}").trim_end().to_owned());
                let text = lines.collect::<Vec<_>>().join("\n");
                let _ = writeln!(self.said, "< {name} is now\n{text}");
            }
        }
    }

    fn apply_edits(&mut self, name: &str, edits: &Value) {
        let Some((_, text)) = self.documents.get(name) else { return };
        let file = SourceFile::new(FileId(0), name, text.as_str());
        let mut changes: Vec<(usize, usize, String)> = Vec::new();
        for edit in edits.as_array().into_iter().flatten() {
            let at = |end: &str| offset(&file, &edit["range"][end]);
            let new = edit["newText"].as_str().unwrap_or_default();
            changes.push((at("start"), at("end"), new.to_owned()));
        }
        changes.sort();
        for (start, end, new) in changes.into_iter().rev() {
            self.change(name, start, end, &new);
        }
    }

    fn raw(&mut self, text: &str) {
        let bytes = text.replace("\\r", "\r").replace("\\n", "\n");
        let _ = self.output.write_all(bytes.as_bytes()).and_then(|()| self.output.flush());
        if let Some(message) = self.receive() {
            self.note(&message);
        }
    }

    /// Parameters: a document, perhaps a place in it, perhaps more fields; or all of them as JSON.
    fn params(&mut self, rest: &str) -> Value {
        let (name, rest) = match rest.split_once(' ') {
            Some((name, rest)) if self.documents.contains_key(name) => (name, rest.trim()),
            _ if self.documents.contains_key(rest) => (rest, ""),
            _ => {
                let folder = format!("file://{}", self.folder);
                return serde_json::from_str(&rest.replace("file:///project", &folder))
                    .unwrap_or_default();
            }
        };
        let mut params = json!({ "textDocument": { "uri": self.uri(name) } });
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>().flatten();
        let text = self.documents.get(name).map_or("", |(_, text)| text.as_str());
        let file = SourceFile::new(FileId(0), name, text);
        for value in &mut values {
            match value {
                Value::String(piece) => {
                    let (before, after) = piece.split_once('|').unwrap_or((&piece, ""));
                    let found = file.text.find(&format!("{before}{after}"));
                    let Some(at) = found else {
                        self.wrong(&piece);
                        return params;
                    };
                    let at = position(&file, at + before.len());
                    params["position"] = at.clone();
                    params["range"] = json!({ "start": at, "end": at });
                }
                Value::Object(more) => {
                    for (name, value) in more {
                        params[name] = value;
                    }
                }
                _ => {}
            }
        }
        params
    }

    fn ask(&mut self, method: &str, params: &Value) {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "id": id, "method": method, "params": params }));
        while let Some(message) = self.receive() {
            if message.get("id") == Some(&json!(id)) {
                let result = message.get("result").or_else(|| message.get("error"));
                self.last = result.cloned().unwrap_or_default();
                let shown = self.last.clone();
                return self.note(&shown);
            }
            self.note(&message);
        }
    }

    /// Wait for the problems of a document as it is now.
    fn problems(&mut self, name: &str) {
        self.problems_of(&[name.to_owned()]);
    }

    /// Wait for the problems of documents as they are now; they may come in any order, and are told by name.
    fn problems_of(&mut self, names: &[String]) {
        let mut told: BTreeMap<String, Value> = BTreeMap::new();
        let mut open: Vec<(String, i32)> = Vec::new();
        for name in names {
            let version = self.documents.get(name).map_or(0, |(version, _)| *version);
            open.push((self.uri(name), version));
        }
        while !open.is_empty() {
            let Some(message) = self.receive() else { break };
            let params = &message["params"];
            if message["method"] != "textDocument/publishDiagnostics" {
                self.note(&message);
                continue;
            }
            let uri = params["uri"].as_str().unwrap_or_default().to_owned();
            told.insert(uri.clone(), json!({ "problems": params["diagnostics"], "of": uri }));
            open.retain(|(name, version)| *name != uri || params["version"] != json!(version));
        }
        for shown in told.into_values() {
            self.note(&shown);
        }
    }

    fn uri(&self, name: &str) -> String {
        format!("file://{}/{name}", self.folder)
    }

    fn wrong(&mut self, what: &str) {
        let _ = writeln!(self.said, "< THE SESSION IS WRONG: no `{what}`");
    }

    fn note(&mut self, message: &Value) {
        let text = shown(message, 2).replace(&format!("file://{}", self.folder), "file:///project");
        let _ = writeln!(self.said, "< {}", text.replace('\n', "\n< "));
    }

    fn send(&mut self, message: &Value) {
        let mut message = message.clone();
        message["jsonrpc"] = json!("2.0");
        let text = message.to_string();
        let framed = format!("Content-Length: {}\r\n\r\n{text}", text.len());
        let _ = self.output.write_all(framed.as_bytes()).and_then(|()| self.output.flush());
    }

    fn receive(&mut self) -> Option<Value> {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.input.read_line(&mut line).ok()? == 0 {
                let _ = writeln!(self.said, "< the server said no more");
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some((_, value)) => length = value.parse().ok()?,
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.input.read_exact(&mut bytes).ok()?;
        let mut message: Value = serde_json::from_slice(&bytes).ok()?;
        message.as_object_mut()?.remove("jsonrpc");
        Some(message)
    }
}

fn position(file: &SourceFile, at: usize) -> Value {
    let at = file.position(at as u32, Units::Utf16);
    json!({ "line": at.line, "character": at.character })
}

fn offset(file: &SourceFile, at: &Value) -> usize {
    let number = |name: &str| at[name].as_u64().unwrap_or_default() as u32;
    let at = Position { line: number("line"), character: number("character") };
    file.offset(at, Units::Utf16) as usize
}

/// JSON with short values on one line, and ranges as `2:4-2:9`.
fn shown(value: &Value, indent: usize) -> String {
    const WIDTH: usize = 100;
    if let Some(range) = short_range(value) {
        return range;
    }
    let pad = " ".repeat(indent);
    let parts: Vec<String> = match value {
        Value::Array(items) => items.iter().map(|item| shown(item, indent + 2)).collect(),
        Value::Object(fields) => sorted(fields)
            .iter()
            .map(|(name, value)| format!("{name}: {}", shown(value, indent + 2)))
            .collect(),
        Value::String(text) if text.contains('\n') => {
            let lines = text.lines().map(|line| format!("{pad}  {line}").trim_end().to_owned());
            return format!("\"\"\"\n{}\"\"\"", lines.collect::<Vec<_>>().join("\n"));
        }
        other => return other.to_string(),
    };
    let (open, close) = if value.is_array() { ("[", "]") } else { ("{ ", " }") };
    let line = format!("{open}{}{close}", parts.join(", "));
    if line.len() + indent < WIDTH && !line.contains('\n') {
        return line;
    }
    let (open, close) = (open.trim(), close.trim());
    let rows: Vec<String> = parts.iter().map(|part| format!("{pad}{part},")).collect();
    let outer = " ".repeat(indent.saturating_sub(2));
    format!("{open}\n{}\n{outer}{close}", rows.join("\n"))
}

/// Documents by name, anything else as it came: a map of documents has no order.
fn sorted(fields: &serde_json::Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut all: Vec<_> = fields.iter().collect();
    if all.iter().all(|(name, _)| name.starts_with("file://")) {
        all.sort_by_key(|(name, _)| *name);
    }
    all
}

fn short_range(value: &Value) -> Option<String> {
    let fields = value.as_object()?;
    let place = |value: &Value| Some(format!("{}:{}", value.get("line")?, value.get("character")?));
    match fields.len() {
        2 if fields.contains_key("start") => {
            Some(format!("{}-{}", place(fields.get("start")?)?, place(fields.get("end")?)?))
        }
        2 => place(value),
        _ => None,
    }
}
