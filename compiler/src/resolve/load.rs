//! Reading the program, the files that it uses, and the library modules that any of them mentions.

use super::BARE_OPS;
use super::{DeclId, Loaded, ModuleId, Program, ReferenceKind, bound_name, references};
use crate::host::{Host, HostErrorKind, Inputs};
use crate::readings::Readings;
use crate::sources::Sources;
use crate::value::Quoted;
use pipe_grammar::ast::{ExprKind, Item, ItemKind, StrPart};
use pipe_grammar::{Problem, Span, did_you_mean};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// Type names that need no declaration.
pub(crate) const BUILT_IN_TYPES: [&str; 12] = [
    "bool", "int", "float", "str", "path", "time", "duration", "size", "none", "Table", "Type",
    "any",
];

/// Load everything that the program at `inputs.file` needs.
pub(crate) fn load(
    inputs: &Inputs<'_>,
    readings: &mut Readings,
    sources: &mut Sources,
    problems: &mut Vec<Problem>,
) -> Program {
    let names = inputs.library.modules().into_iter().map(str::to_owned).collect();
    let program = Program { library_names: names, ..Program::default() };
    let (files, open) = (BTreeMap::new(), Vec::new());
    let mut loader = Loader { inputs, readings, sources, problems, program, files, open };
    loader.file(inputs.file, None);
    loader.library();
    let Loader { readings, program, .. } = loader;
    readings.turn();
    program
}

/// Load only library modules, all of them.
pub(crate) fn load_library(
    inputs: &Inputs<'_>,
    sources: &mut Sources,
    problems: &mut Vec<Problem>,
) -> Program {
    let names: Vec<String> = inputs.library.modules().into_iter().map(str::to_owned).collect();
    let program = Program { library_names: names.clone(), ..Program::default() };
    let readings = &mut Readings::default();
    let (files, open) = (BTreeMap::new(), Vec::new());
    let mut loader = Loader { inputs, readings, sources, problems, program, files, open };
    names.iter().for_each(|name| loader.library_module(name));
    loader.library();
    loader.program
}

struct Loader<'a, 'b> {
    inputs: &'a Inputs<'b>,
    readings: &'a mut Readings,
    sources: &'a mut Sources,
    problems: &'a mut Vec<Problem>,
    program: Program,
    files: BTreeMap<String, Option<ModuleId>>,
    /// Files being loaded with the `use` that names each, outermost first, to show import cycles.
    open: Vec<(String, Option<Span>)>,
}

impl Loader<'_, '_> {
    fn file(&mut self, path: &str, used_at: Option<Span>) -> Option<ModuleId> {
        if let Some(known) = self.files.get(path) {
            return *known;
        }
        let text = self.text(path, used_at)?;
        let file = self.sources.add(path, text);
        let module = self.parse(file, path, None);
        self.files.insert(path.to_owned(), Some(module));
        self.open.push((path.to_owned(), used_at));
        self.uses(module);
        self.open.pop();
        Some(module)
    }

    fn text(&mut self, path: &str, used_at: Option<Span>) -> Option<String> {
        let span = used_at.unwrap_or_default();
        let problem = match self.inputs.host.read(path) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => return Some(text),
                Err(error) => {
                    let at = error.utf8_error().valid_up_to();
                    let line =
                        1 + error.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count();
                    Problem::error(
                        "resolve::not_text",
                        span,
                        format!("`{path}` is not UTF-8 text (line {line})"),
                    )
                    .help("save the file as UTF-8")
                }
            },
            Err(error) => {
                let help = match error.kind {
                    HostErrorKind::Missing => {
                        "check the path; it is relative to the file that names it"
                    }
                    HostErrorKind::Outside => "files outside the project need `--allow path=...`",
                    HostErrorKind::Unreadable => "check that it is a file that may be read",
                };
                let problem = Problem::error(
                    "resolve::file",
                    span,
                    format!("`{path}` cannot be read: {error}"),
                );
                let near = match error.kind {
                    HostErrorKind::Missing => near_file(self.inputs.host, path),
                    _ => None,
                };
                match near.filter(|_| used_at.is_some()) {
                    Some(near) => misspelt(problem, self.sources, path, &near),
                    None => problem.help(help),
                }
            }
        };
        if used_at.is_none() {
            self.sources.add(path, String::new());
        }
        self.problems.push(problem);
        self.files.insert(path.to_owned(), None);
        None
    }

    fn parse(&mut self, file: pipe_grammar::FileId, path: &str, library: Option<&str>) -> ModuleId {
        let Some(source) = self.sources.get(file) else { return 0 };
        let mut parsed = self.readings.read(source);
        self.problems.append(&mut parsed.problems);
        if library.is_some() {
            parsed.module.items.iter_mut().for_each(rename);
        }
        let folder = if library.is_some() { String::new() } else { folder_of(path) };
        let mut loaded = Loaded {
            library: library.map(str::to_owned),
            folder,
            file,
            ast: parsed.module,
            values: BTreeMap::new(),
            types: BTreeMap::new(),
            roots: BTreeMap::new(),
            uses: BTreeMap::new(),
        };
        index(&mut loaded, self.problems);
        self.program.modules.push(loaded);
        self.program.modules.len() - 1
    }

    fn uses(&mut self, module: ModuleId) {
        let loaded = &self.program.modules[module];
        let folder = loaded.folder.clone();
        let wanted: Vec<(String, String, Span)> =
            loaded.ast.items.iter().filter_map(|item| used_file(item)).collect();
        for (name, path, span) in wanted {
            if self.problems.iter().any(|problem| overlap(problem.span, span)) {
                continue;
            }
            let path = join_path(&folder, &path);
            if let Some(start) = self.open.iter().position(|(open, _)| *open == path) {
                let around: Vec<&(String, Option<Span>)> = self.open.iter().skip(start).collect();
                let mut chain: Vec<&str> = around.iter().map(|(open, _)| open.as_str()).collect();
                chain.push(&path);
                let message = if around.len() == 1 {
                    format!("this file uses itself: {}", chain.join(" → "))
                } else {
                    format!("these files use each other: {}", chain.join(" → "))
                };
                let help = match around.len() {
                    1 => "name its own declarations without a module",
                    _ => "move what both need into a third file",
                };
                let mut problem = Problem::error("resolve::use_cycle", span, message).help(help);
                for (at, (file, used)) in around.iter().enumerate().skip(1) {
                    let by = chain.get(at - 1).copied().unwrap_or_default();
                    if let Some(used) = used {
                        problem = problem.also(*used, format!("`{by}` uses `{file}`"));
                    }
                }
                self.problems.push(problem);
                continue;
            }
            if let Some(used) = self.file(&path, Some(span)) {
                self.program.modules[module].uses.insert(name, used);
            }
        }
    }

    fn library(&mut self) {
        let mut at = 0;
        while at < self.program.modules.len() {
            let loaded = &self.program.modules[at];
            let mut modules = BTreeSet::new();
            let mut types = BTreeSet::new();
            for reference in loaded.ast.items.iter().flat_map(|item| references(item)) {
                let known = reference.member.is_some() && !loaded.uses.contains_key(reference.name);
                if known && self.program.library_names.iter().any(|name| name == reference.name) {
                    modules.insert(reference.name.to_owned());
                } else if let Some((_, module)) = BARE_OPS
                    .iter()
                    .find(|(op, _)| *op == reference.name && reference.member.is_none())
                {
                    modules.insert((*module).to_owned());
                } else if reference.kind == ReferenceKind::Type
                    && reference.member.is_none()
                    && !BUILT_IN_TYPES.contains(&reference.name)
                    && !loaded.types.contains_key(reference.name)
                {
                    types.insert(reference.name.to_owned());
                }
            }
            modules.iter().for_each(|name| self.library_module(name));
            types.iter().for_each(|name| self.library_with_type(name));
            at += 1;
        }
    }

    fn library_with_type(&mut self, name: &str) {
        if self.program.library_types.contains_key(name) {
            return;
        }
        let head = format!("type {name}");
        let declares = |text: &str| {
            text.match_indices(&head).any(|(at, _)| {
                let next = text.get(at + head.len()..).and_then(|rest| rest.chars().next());
                !next.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
            })
        };
        let modules = self.program.library_names.clone();
        let found =
            modules.iter().find(|module| self.inputs.library.text(module).is_some_and(declares));
        if let Some(module) = found {
            self.library_module(module);
        }
    }

    fn library_module(&mut self, name: &str) {
        if self.program.library.contains_key(name) {
            return;
        }
        let Some(text) = self.inputs.library.text(name) else { return };
        let path = format!("<{name}>");
        let file = self.sources.add(&path, text.to_owned());
        let module = self.parse(file, &path, Some(name));
        self.program.library.insert(name.to_owned(), module);
        for (type_name, item) in &self.program.modules[module].types {
            self.program
                .library_types
                .entry(type_name.clone())
                .or_insert(DeclId { module, item: *item });
        }
    }
}

/// `@named("none") fn alone()` of the library is called `dist.none()`: only a qualified name may be a reserved word.
fn rename(item: &mut Arc<Item>) {
    if !item.attrs.iter().any(|attr| attr.name.text == "named") {
        return;
    }
    let item = Arc::make_mut(item);
    let named = item.attrs.iter().find(|attr| attr.name.text == "named");
    let Some(value) = named.and_then(|attr| attr.args.first()).map(|arg| &arg.value.kind) else {
        return;
    };
    if let (ItemKind::Fn(function), ExprKind::Str(parts)) = (&mut item.kind, value)
        && let [StrPart::Text(name)] = parts.as_slice()
    {
        function.name.text.clone_from(name);
    }
    item.attrs.retain(|attr| attr.name.text != "named");
}

fn overlap(a: Span, b: Span) -> bool {
    a.file == b.file && a.start < b.end && b.start < a.end
}

fn used_file(item: &Item) -> Option<(String, String, Span)> {
    match &item.kind {
        ItemKind::Use { name, path, path_span } => {
            Some((name.text.clone(), path.clone(), *path_span))
        }
        _ => None,
    }
}

/// Fill the tables of names and report names that are declared twice.
fn index(loaded: &mut Loaded, problems: &mut Vec<Problem>) {
    for (at, item) in loaded.ast.items.iter().enumerate() {
        let Some(name) = bound_name(item) else { continue };
        let table = match &item.kind {
            ItemKind::Type { .. } => &mut loaded.types,
            ItemKind::Output(_) | ItemKind::Check(_) => &mut loaded.roots,
            _ => &mut loaded.values,
        };
        if let Some(first) = table.get(&name.text) {
            let first = super::name_span(&loaded.ast.items[*first]);
            let message = format!("`{}` is declared twice", name.text);
            let problem = Problem::error("resolve::duplicate", name.span, message)
                .label("declared again here")
                .also(first, "first declared here")
                .help("give one of them another name");
            problems.push(problem);
        } else {
            table.insert(name.text.clone(), at);
        }
    }
}

/// The folder of a path, with its `/`.
pub(crate) fn folder_of(path: &str) -> String {
    path.rfind('/').map_or_else(String::new, |at| path[..=at].to_owned())
}

/// The file of the same folder whose name is most like that of `path`.
pub(crate) fn near_file(host: &dyn Host, path: &str) -> Option<String> {
    let files = host.glob(&format!("{}*", folder_of(path))).unwrap_or_default();
    did_you_mean(path, files.iter().map(String::as_str)).map(str::to_owned)
}

/// Says which file was probably meant; with an edit where the path stands as a literal at the problem's place.
pub(crate) fn misspelt(problem: Problem, sources: &Sources, path: &str, near: &str) -> Problem {
    let span = problem.span;
    let problem = problem.label(format!("did you mean `{near}`?"));
    match respelt(sources.slice(span), path, near) {
        Some((range, text)) => {
            let at = |byte: usize| span.start + u32::try_from(byte).unwrap_or(0);
            problem.edit(Span::new(span.file, at(range.start), at(range.end)), text)
        }
        None => problem.help(format!("write `{near}`")),
    }
}

/// The literal in `text` that names `path`, and the one that names `near`, a file of the same folder.
fn respelt(text: &str, path: &str, near: &str) -> Option<(Range<usize>, String)> {
    let name = path.rsplit('/').next()?;
    let right = near.rsplit('/').next()?;
    text.match_indices(&format!("{name}\"")).find_map(|(at, _)| {
        let open = text.get(..at)?.rfind('"')?;
        let folder = text.get(open + 1..at)?;
        let written = format!("{folder}{name}");
        let plain = !written.contains(['\\', '$']) && (folder.is_empty() || folder.ends_with('/'));
        let inner = join_path("", &written);
        let same = path.ends_with(inner.trim_start_matches("../"));
        let range = open..at + name.len() + 1;
        (plain && same).then(|| (range, Quoted(&format!("{folder}{right}")).to_string()))
    })
}

/// A path as seen from a folder, with `.` and `..` resolved as text.
pub(crate) fn join_path(folder: &str, path: &str) -> String {
    let joined = if path.starts_with('/') { path.to_owned() } else { format!("{folder}{path}") };
    let absolute = joined.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if absolute => {}
            other => parts.push(other),
        }
    }
    format!("{}{}", if absolute { "/" } else { "" }, parts.join("/"))
}
