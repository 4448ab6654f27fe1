//! The entries of a completion list.

use super::{Cursor, MARK, Place};
use crate::server::State;
use crate::{outline, tell};
use lsp_types::{
    CompletionItem, CompletionItemKind as Sort, CompletionTextEdit, Documentation,
    InsertTextFormat, MarkupContent, MarkupKind, TextEdit,
};
use pipe_compiler::Analysis;
use pipe_compiler::analysis::{Callee, ModuleView, Surroundings};
use pipe_grammar::ast::{Expr, ExprKind, FnParam, ItemKind, TypeKind};
use pipe_grammar::{FileId, words};

/// Entries for the place of a cursor.
pub(super) struct Items<'c> {
    cursor: &'c Cursor<'c>,
    snippets: bool,
    pub(super) found: Vec<CompletionItem>,
}

/// Words inside values.
const IN_VALUES: [&str; 6] = ["if", "for", "not", "true", "false", "none"];

/// Attributes with what is written behind them.
const ATTRIBUTES: [(&str, &str, &str); 5] = [
    ("gpu", "gpu(${1:1})", "runs on this many GPUs"),
    ("memory", "memory(${1:8GiB})", "needs this much memory"),
    ("retry", "retry(${1:2})", "is tried again when a failure may pass"),
    ("timeout", "timeout(${1:1h})", "is stopped after this time"),
    ("cache", "cache(off)", "runs each time"),
];

/// Declarations with their shape.
const DECLARATIONS: [(&str, &str); 7] = [
    ("use", "use ${1:name} = \"${2:file.pipe}\""),
    ("param", "param ${1:name}: ${2:float} = ${3:0.0}"),
    ("let", "let ${1:name} = $0"),
    ("output", "output ${1:name} = $0"),
    ("fn", "fn ${1:name}(${2:x}: ${3:float}) -> ${4:float} = $0"),
    ("type", "type ${1:Name} = { ${2:field}: ${3:float} }"),
    ("check", "check ${1:name} = $0"),
];

impl<'c> Items<'c> {
    pub(super) fn new(cursor: &'c Cursor<'c>, state: &State<'_>) -> Self {
        Self { cursor, snippets: state.abilities.snippets, found: Vec::new() }
    }

    fn analysis(&self) -> &'c Analysis {
        &self.cursor.analysis
    }

    fn put(&mut self, group: u8, label: &str, sort: Sort, text: &str) -> &mut CompletionItem {
        self.put_from(self.cursor.start, group, label, sort, text)
    }

    fn put_from(
        &mut self,
        start: usize,
        group: u8,
        label: &str,
        sort: Sort,
        text: &str,
    ) -> &mut CompletionItem {
        let plain = !self.snippets || !text.contains('$');
        let text = if plain { without_places(text) } else { text.to_owned() };
        let format = if plain { InsertTextFormat::PLAIN_TEXT } else { InsertTextFormat::SNIPPET };
        let range = self.cursor.range_from(start);
        self.found.push(CompletionItem {
            label: label.to_owned(),
            kind: Some(sort),
            sort_text: Some(format!("{group}{label}")),
            insert_text_format: Some(format),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text: text })),
            ..CompletionItem::default()
        });
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    /// An entry whose text is taken as it is.
    fn put_plain(
        &mut self,
        start: usize,
        group: u8,
        label: &str,
        sort: Sort,
        new_text: String,
    ) -> &mut CompletionItem {
        let range = self.cursor.range_from(start);
        let entry = self.put_from(start, group, label, sort, "");
        entry.insert_text_format = Some(InsertTextFormat::PLAIN_TEXT);
        entry.text_edit = Some(CompletionTextEdit::Edit(TextEdit { range, new_text }));
        entry
    }

    /// Units of a number; what is replaced begins at byte `unit`.
    pub(super) fn units(&mut self, unit: usize) {
        for (name, _) in words::UNITS {
            self.put_from(unit, 5, name, Sort::UNIT, name);
        }
    }

    pub(super) fn declarations(&mut self) {
        for (word, shape) in DECLARATIONS {
            self.put(0, word, Sort::KEYWORD, shape);
        }
        for (name, shape, about) in ATTRIBUTES {
            let item = self.put(1, &format!("@{name}"), Sort::KEYWORD, &format!("@{shape}"));
            item.detail = Some(about.to_owned());
        }
    }

    pub(super) fn attributes(&mut self) {
        for (name, shape, about) in ATTRIBUTES {
            self.put(0, name, Sort::KEYWORD, shape).detail = Some(about.to_owned());
        }
    }

    pub(super) fn types(&mut self, around: &Surroundings<'_>) {
        for name in Analysis::built_in_types() {
            self.put(2, name, Sort::KEYWORD, name);
        }
        for (name, _) in &around.locals {
            if name.text.starts_with(|c: char| c.is_ascii_uppercase()) {
                self.put(0, &name.text, Sort::TYPE_PARAMETER, &name.text);
            }
        }
        let modules: Vec<ModuleView<'c>> = self.analysis().modules().collect();
        for (at, module) in modules.into_iter().enumerate() {
            if at == 0 || module.library.is_some() {
                self.types_in(module);
            }
        }
    }

    pub(super) fn types_of(&mut self, name: &str) {
        let module =
            self.analysis().used(FileId(0), name).or_else(|| self.analysis().library(name));
        if let Some(module) = module {
            self.types_in(module);
        }
    }

    fn types_in(&mut self, module: ModuleView<'c>) {
        for item in &module.ast.items {
            if let ItemKind::Type { name, .. } = &item.kind
                && name.text != MARK
            {
                let group = if module.library.is_some() { 3 } else { 1 };
                let entry = self.put(group, &name.text, Sort::STRUCT, &name.text);
                entry.documentation = markdown(item.doc.clone());
            }
        }
    }

    /// What stands behind the dot of an expression.
    pub(super) fn members(&mut self, base: &Expr, around: &Surroundings<'_>) {
        if let ExprKind::Name(word) = &base.kind {
            self.members_of_word(word, around);
        }
        let columns = self.analysis().fields_at(base.span).unwrap_or_default();
        for field in columns {
            let name = field.name.as_str();
            if is_name(name) {
                self.put(0, name, Sort::FIELD, name).detail = Some(field.ty);
                continue;
            }
            let dot =
                self.cursor.file.text.get(..self.cursor.start).and_then(|text| text.rfind('.'));
            let start = dot.unwrap_or(self.cursor.start);
            let quoted = format!("[\"{}\"]", name.replace('\\', "\\\\").replace('"', "\\\""));
            let entry = self.put_plain(start, 0, name, Sort::FIELD, quoted);
            entry.detail = Some(field.ty);
            entry.filter_text = Some(format!(".{name}"));
        }
    }

    /// What stands behind the dot of a module's name.
    pub(super) fn members_of_word(&mut self, word: &str, around: &Surroundings<'_>) {
        let local = around.is_local(word);
        let used = self.analysis().used(FileId(0), word).filter(|_| !local);
        if let Some(module) = used.or_else(|| self.analysis().library(word)) {
            self.values_in(module, 0);
        }
    }

    fn values_in(&mut self, module: ModuleView<'c>, group: u8) {
        for item in &module.ast.items {
            let Some((name, _)) = outline::bound(item) else { continue };
            if name.text == MARK {
                continue;
            }
            match &item.kind {
                ItemKind::Fn(function) => {
                    self.function(group, Callee { module, item, function });
                }
                ItemKind::Type { .. } | ItemKind::Broken { .. } => {}
                ItemKind::Use { .. } => {
                    self.put(group + 1, &name.text, Sort::MODULE, &format!("{}.", name.text));
                }
                kind => {
                    let sort = match kind {
                        ItemKind::Param { .. } => Sort::CONSTANT,
                        _ => Sort::VARIABLE,
                    };
                    let ty = self.analysis().brief_type_at(name.span);
                    let entry = self.put(group, &name.text, sort, &name.text);
                    entry.detail = ty;
                    entry.documentation = markdown(item.doc.clone());
                }
            }
        }
    }

    fn function(&mut self, group: u8, callee: Callee<'c>) {
        let name = callee.function.name.text.as_str();
        let (piped, called) = (self.cursor.is_piped(), self.cursor.is_called());
        let text = if called { name.to_owned() } else { call(name, &callee, usize::from(piped)) };
        let detail = tell::line(self.analysis(), &callee);
        let doc = callee.item.doc.clone();
        let entry = self.put(group, name, Sort::FUNCTION, &text);
        entry.detail = Some(detail);
        entry.documentation = markdown(doc);
    }

    /// Everything that may stand for a value.
    pub(super) fn values(&mut self, around: &Surroundings<'_>) {
        for (name, _) in around.locals.iter().rev() {
            if name.text.starts_with(|c: char| c.is_ascii_uppercase()) || name.text == MARK {
                continue;
            }
            let ty = self.analysis().brief_type_at(name.span);
            self.put(2, &name.text, Sort::VARIABLE, &name.text).detail = ty;
        }
        if let Some(main) = self.analysis().modules().next() {
            self.values_in(main, 3);
        }
        for name in self.analysis().library_names() {
            let doc = self.analysis().library(name).and_then(|module| module.ast.doc.clone());
            let entry = self.put(5, name, Sort::MODULE, &format!("{name}."));
            entry.documentation = markdown(doc);
        }
        self.put(5, "files", Sort::FUNCTION, "files(\"$0\")");
        for word in IN_VALUES {
            self.put(6, word, Sort::KEYWORD, word);
        }
    }

    /// The arguments of a call that are not given yet.
    pub(super) fn arguments(&mut self, call: &Expr, around: &Surroundings<'_>) {
        let ExprKind::Call { callee, args } = &call.kind else { return };
        let Some(callee) = self.analysis().callee(FileId(0), callee, around) else { return };
        let given = |param: &FnParam| {
            args.iter().any(|arg| arg.name.as_ref().is_some_and(|it| it.text == param.name.text))
        };
        let open =
            callee.function.params.iter().skip(1).filter(|param| !param.rest && !given(param));
        let named = self.colon_follows();
        for param in open {
            let name = &param.name.text;
            let required = param.default.is_none();
            let text =
                if named { name.clone() } else { format!("{name}: {}", value_place(param, 1)) };
            let (detail, doc) = (tell::parameter(self.analysis(), param), param.doc.clone());
            let label = format!("{name}:");
            let entry = self.put(u8::from(!required), &label, Sort::PROPERTY, &text);
            entry.detail = Some(detail);
            entry.documentation = markdown(doc);
            entry.filter_text = Some(name.clone());
        }
    }

    fn colon_follows(&self) -> bool {
        let rest = self.cursor.file.text.get(self.cursor.at..).unwrap_or_default();
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        rest.trim_start().starts_with(':')
    }

    /// `row => ` where a call takes a function of rows by position.
    pub(super) fn row_function(&mut self, call: &Expr, around: &Surroundings<'_>) {
        let ExprKind::Call { callee, args } = &call.kind else { return };
        let Some(callee) = self.analysis().callee(FileId(0), callee, around) else { return };
        let piped = around.exprs.iter().any(|expr| match &expr.kind {
            ExprKind::Pipe { call: right, .. } => right.span == call.span,
            _ => false,
        });
        let place = args.iter().filter(|arg| arg.name.is_none()).count().saturating_sub(1);
        let param = callee.function.params.get(place + usize::from(piped));
        if let Some(param) = param.filter(|param| param.positional && is_function(param)) {
            let detail = tell::parameter(self.analysis(), param);
            self.put(0, "row => ", Sort::SNIPPET, "row => row.$0").detail = Some(detail);
        }
    }

    /// Texts, with their quotes.
    pub(super) fn texts(&mut self, values: Vec<String>) {
        for value in values {
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"").replace("${", "\\${");
            let start = self.cursor.start + 1;
            self.put_plain(start, 0, &value, Sort::ENUM_MEMBER, quoted);
        }
    }

    /// A file or folder in a text.
    pub(super) fn path(&mut self, folder: &str, name: &str) {
        let Place::Text { before } = &self.cursor.place else { return };
        let start = self.cursor.at - (before.len() - folder.len());
        let sort = if name.ends_with('/') { Sort::FOLDER } else { Sort::FILE };
        self.put_plain(start, 0, name, sort, name.to_owned());
    }
}

/// A call with places for what has to be given.
fn call(name: &str, callee: &Callee<'_>, skipped: usize) -> String {
    let mut parts = Vec::new();
    for (at, param) in tell::required(callee.function, skipped) {
        let place = value_place(param, parts.len() + 1);
        let bare = at == 0 || param.positional;
        parts.push(if bare { place } else { format!("{}: {place}", param.name.text) });
    }
    if parts.is_empty() && callee.function.params.len() > skipped {
        return format!("{name}($0)");
    }
    format!("{name}({})", parts.join(", "))
}

/// What to write for a parameter, with a place to go on.
fn value_place(param: &FnParam, number: usize) -> String {
    match &param.ty.kind {
        TypeKind::Function { .. } => format!("row => ${{{number}:row}}"),
        TypeKind::Literal(_) | TypeKind::Union(_) if is_text(param) => format!("\"${number}\""),
        TypeKind::List(_) => format!("[${number}]"),
        _ => format!("${number}"),
    }
}

fn is_text(param: &FnParam) -> bool {
    match &param.ty.kind {
        TypeKind::Union(members) => {
            members.iter().all(|member| matches!(member.kind, TypeKind::Literal(_)))
        }
        kind => matches!(kind, TypeKind::Literal(_)),
    }
}

fn is_function(param: &FnParam) -> bool {
    matches!(param.ty.kind, TypeKind::Function { .. })
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A snippet as plain text: places keep their default.
fn without_places(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '$' {
            out.push(letter);
        } else if letters.next_if_eq(&'{').is_some() {
            let inner: String = letters.by_ref().take_while(|c| *c != '}').collect();
            out.push_str(inner.split_once(':').map_or("", |(_, default)| default));
        } else {
            while letters.next_if(char::is_ascii_digit).is_some() {}
        }
    }
    out
}

fn markdown(doc: Option<String>) -> Option<Documentation> {
    let value = doc?;
    Some(Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value }))
}
