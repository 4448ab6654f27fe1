//! The loop: take a message, answer it, and check what is stale when none waits.

use crate::client::{Abilities, Client};
use crate::documents::Documents;
use crate::hints::{self, Hints};
use crate::inbox::{Event, Inbox};
use crate::outside::Outside;
use crate::programs::{Program, Programs};
use crate::transport::{self, Incoming};
use crate::{diagnostics, place, programs, requests};
use lsp_server::{ErrorCode, Message, Notification, Request, Response};
use lsp_types::{
    Diagnostic, DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, InitializeParams, PublishDiagnosticsParams,
};
use pipe_grammar::Units;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client asked for it: shut down, then exit.
    Asked,
    /// The client left without shutting down.
    Left,
}

/// What the server knows.
pub(crate) struct State<'a> {
    pub(crate) outside: &'a Outside<'a>,
    pub(crate) abilities: Abilities,
    pub(crate) documents: Documents,
    pub(crate) programs: Programs,
    /// The client has asked for hints.
    pub(crate) wants_hints: bool,
    /// What a run would do, by program.
    pub(crate) hints: BTreeMap<PathBuf, Hints>,
}

impl State<'_> {
    /// The program at a path, up to date.
    pub(crate) fn program(&mut self, path: &Path) -> Option<Rc<Program>> {
        self.documents.get(path)?;
        if let Some(program) = self.programs.fresh(path) {
            return Some(program);
        }
        self.programs.look_at(path, &self.documents, self.outside, &|| false)
    }

    /// Programs that may read a file: the open ones, and those in its folder.
    pub(crate) fn programs_with(&mut self, path: &Path) -> Vec<Rc<Program>> {
        /// More programs of one folder are not looked through.
        const NEIGHBOURS: usize = 64;
        let folder = programs::folder(path).to_string_lossy().into_owned();
        let host = self.outside.disk.host(path);
        let beside = host.glob(&format!("{folder}/*.pipe")).unwrap_or_default();
        let beside = beside.into_iter().take(NEIGHBOURS).map(PathBuf::from);
        let open: Vec<PathBuf> = self.documents.paths().cloned().collect();
        let mut all: Vec<Rc<Program>> = open.iter().filter_map(|path| self.program(path)).collect();
        for path in beside.filter(|path| !open.contains(path)) {
            let found = Program::look(&path, &self.documents, self.outside);
            all.extend(found.map(Rc::new));
        }
        all
    }
}

/// Where a session stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    ShutDown,
}

struct Server<'a, W> {
    state: State<'a>,
    client: Client<W>,
    phase: Phase,
    /// What the client was told last, by file.
    published: BTreeMap<PathBuf, Vec<Diagnostic>>,
    /// Documents that changed since they were last published.
    edited: BTreeSet<PathBuf>,
    /// Something changed since hints were last looked for.
    hints_due: bool,
    /// The stores as they were then.
    stores: u64,
}

/// How long it is quiet before hints are looked for.
const PAUSE: Duration = Duration::from_millis(300);

/// How often stores are looked at: a run in a terminal changes them.
const REST: Duration = Duration::from_secs(3);

/// Answer a client until it leaves.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write,
    outside: &Outside<'_>,
) -> End {
    let inbox = Inbox::new(transport::read(input));
    let abilities = Abilities::of(&InitializeParams::default());
    let (documents, programs) = (Documents::default(), Programs::default());
    let mut server = Server {
        state: State {
            outside,
            abilities,
            documents,
            programs,
            wants_hints: false,
            hints: BTreeMap::new(),
        },
        client: Client::new(output),
        phase: Phase::New,
        published: BTreeMap::new(),
        edited: BTreeSet::new(),
        hints_due: false,
        stores: 0,
    };
    while !server.client.is_gone() {
        match inbox.next(server.patience()) {
            Event::Incoming(Incoming::Message(Message::Notification(note)))
                if note.method == "exit" =>
            {
                return if server.phase == Phase::ShutDown { End::Asked } else { End::Left };
            }
            Event::Incoming(Incoming::Message(message)) => server.message(message),
            Event::Incoming(Incoming::Garbage(why)) => server.client.garbage(&why),
            Event::Cancelled(id) => {
                server.client.refuse(id, ErrorCode::RequestCanceled, "cancelled");
            }
            Event::Quiet => server.look_for_hints(&|| inbox.waits()),
            Event::Closed => break,
        }
        if !inbox.waits() {
            server.check_stale(&|| inbox.waits());
        }
    }
    End::Left
}

impl<W: Write> Server<'_, W> {
    fn patience(&self) -> Option<Duration> {
        let wanted = self.state.wants_hints && self.phase == Phase::Running;
        wanted.then_some(if self.hints_due { PAUSE } else { REST })
    }

    /// Plan the open programs and look into their stores, when either has changed.
    fn look_for_hints(&mut self, interrupted: &dyn Fn() -> bool) {
        let open: Vec<PathBuf> = self.state.documents.paths().cloned().collect();
        let stamps = open.iter().map(|path| self.state.outside.cache.stamp(path));
        let stores = stamps.fold(0, |all, stamp| all ^ stamp);
        if !self.hints_due && stores == self.stores {
            return;
        }
        let mut hints = BTreeMap::new();
        for path in open {
            let State { documents, outside, .. } = &self.state;
            let look = || hints::look(&path, documents, outside, interrupted);
            match catch_unwind(AssertUnwindSafe(look)) {
                Ok(Some(found)) => drop(hints.insert(path, found)),
                Ok(None) => return,
                Err(_) => eprintln!("pipe lsp: a bug in pipe while planning {}", path.display()),
            }
        }
        self.hints_due = false;
        self.stores = stores;
        if hints != self.state.hints {
            self.state.hints = hints;
            if self.state.abilities.refreshes_hints {
                self.client.request("workspace/inlayHint/refresh", serde_json::Value::Null);
            }
        }
    }

    fn message(&mut self, message: Message) {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(note) => self.notification(note),
            Message::Response(_) => {}
        }
    }

    fn request(&mut self, request: Request) {
        let id = request.id.clone();
        match (self.phase, request.method.as_str()) {
            (Phase::New, "initialize") => self.initialize(request),
            (Phase::New, _) => {
                self.client.refuse(id, ErrorCode::ServerNotInitialized, "`initialize` comes first");
            }
            (Phase::ShutDown, _) => {
                self.client.refuse(id, ErrorCode::InvalidRequest, "the server is shut down");
            }
            (Phase::Running, "initialize") => {
                self.client.refuse(id, ErrorCode::InvalidRequest, "`initialize` comes only once");
            }
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                self.client.answer(Response { id, response_result: Ok(serde_json::Value::Null) });
            }
            (Phase::Running, _) => {
                // A bug in an answer must not end the session: the editor would lose everything else too.
                let state = &mut self.state;
                match catch_unwind(AssertUnwindSafe(|| requests::answer(state, request))) {
                    Ok(response) => self.client.answer(response),
                    Err(_) => {
                        self.client.refuse(id, ErrorCode::InternalError, "this is a bug in pipe");
                    }
                }
            }
        }
    }

    fn initialize(&mut self, request: Request) {
        match serde_json::from_value::<InitializeParams>(request.params) {
            Ok(params) => {
                self.state.abilities = Abilities::of(&params);
                self.phase = Phase::Running;
                let encoding =
                    if self.state.abilities.units == Units::Utf8 { "utf-8" } else { "utf-16" };
                let result = json!({
                    "capabilities": requests::capabilities(encoding),
                    "serverInfo": { "name": "pipe", "version": env!("CARGO_PKG_VERSION") },
                });
                self.client.answer(Response { id: request.id, response_result: Ok(result) });
            }
            Err(error) => {
                let why = format!("`initialize` cannot be read: {error}");
                self.client.refuse(request.id, ErrorCode::InvalidParams, &why);
            }
        }
    }

    fn notification(&mut self, note: Notification) {
        if self.phase != Phase::Running {
            return;
        }
        match note.method.as_str() {
            "initialized" => self.watch_files(),
            "textDocument/didOpen" => self.opened(note),
            "textDocument/didChange" => self.changed(note),
            "textDocument/didClose" => self.closed(note),
            "textDocument/didSave" => {
                if let Some(params) = read::<DidSaveTextDocumentParams>(note) {
                    self.state.programs.changed(&place::path_of(&params.text_document.uri));
                }
            }
            "workspace/didChangeWatchedFiles" => self.state.programs.all_changed(),
            _ => {}
        }
    }

    fn watch_files(&mut self) {
        if !self.state.abilities.watches {
            return;
        }
        let watchers: Vec<_> =
            ["**/*.pipe", "**/*.csv", "**/*.jsonl", "**/*.ndjson", "**/pipe.toml"]
                .iter()
                .map(|pattern| json!({ "globPattern": pattern }))
                .collect();
        let registration = json!({
            "id": "files",
            "method": "workspace/didChangeWatchedFiles",
            "registerOptions": { "watchers": watchers },
        });
        self.client
            .request("client/registerCapability", json!({ "registrations": [registration] }));
    }

    fn opened(&mut self, note: Notification) {
        let Some(params) = read::<DidOpenTextDocumentParams>(note) else { return };
        let document = params.text_document;
        if self.is_library(&document.uri) {
            return;
        }
        let path = place::path_of(&document.uri);
        self.state.documents.open(&path, document.uri, document.version, document.text);
        self.state.programs.add(&path);
        self.edited.insert(path);
    }

    /// Whether a document shows a library module: it is read, not checked.
    fn is_library(&self, uri: &lsp_types::Uri) -> bool {
        let path = place::path_of(uri);
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        place::library_module(uri.as_str()).is_some()
            || self.state.outside.disk.library_file(stem).is_some_and(|file| file == path)
    }

    fn changed(&mut self, note: Notification) {
        let Some(params) = read::<DidChangeTextDocumentParams>(note) else { return };
        let path = place::path_of(&params.text_document.uri);
        let (version, units) = (params.text_document.version, self.state.abilities.units);
        if self.state.documents.change(&path, version, params.content_changes, units) {
            self.state.programs.changed(&path);
            self.edited.insert(path);
        }
    }

    fn closed(&mut self, note: Notification) {
        let Some(params) = read::<DidCloseTextDocumentParams>(note) else { return };
        let path = place::path_of(&params.text_document.uri);
        self.state.documents.close(&path);
        self.state.programs.remove(&path);
        self.edited.remove(&path);
        self.publish();
    }

    /// Check what is stale, and publish once nothing is.
    fn check_stale(&mut self, interrupted: &dyn Fn() -> bool) {
        let mut looked = false;
        while let Some(path) = self.state.programs.first_stale() {
            looked = true;
            let State { outside, documents, programs, .. } = &mut self.state;
            let look = || programs.look_at(&path, documents, outside, interrupted).is_some();
            match catch_unwind(AssertUnwindSafe(look)) {
                Ok(true) => {}
                Ok(false) => return,
                Err(_) => {
                    eprintln!("pipe lsp: a bug in pipe while checking {}", path.display());
                    self.state.programs.remove(&path);
                }
            }
        }
        if looked {
            self.hints_due = true;
            self.publish();
            self.state.programs.free_retired();
        }
    }

    /// Tell the client what changed about the problems of any file.
    fn publish(&mut self) {
        let mut found: BTreeMap<PathBuf, Vec<Diagnostic>> = BTreeMap::new();
        for program in self.state.programs.all_fresh() {
            for (path, list) in diagnostics::diagnostics(program, &self.state.abilities) {
                let known = found.entry(path).or_default();
                for diagnostic in list {
                    if !known.contains(&diagnostic) {
                        known.push(diagnostic);
                    }
                }
            }
        }
        let edited = std::mem::take(&mut self.edited);
        let paths: BTreeSet<PathBuf> =
            self.published.keys().chain(found.keys()).chain(&edited).cloned().collect();
        for path in paths {
            let now = found.remove(&path).unwrap_or_default();
            let before = self.published.get(&path);
            let same = before.map_or(now.is_empty(), |before| *before == now);
            if same && !edited.contains(&path) {
                continue;
            }
            let document = self.state.documents.get(&path);
            let uri =
                document.map(|document| document.uri.clone()).or_else(|| place::uri_of(&path));
            if let Some(uri) = uri {
                let version = document.map(|document| document.version);
                let params = PublishDiagnosticsParams { uri, diagnostics: now.clone(), version };
                self.client.notify("textDocument/publishDiagnostics", params);
            }
            if now.is_empty() && document.is_none() {
                self.published.remove(&path);
            } else {
                self.published.insert(path, now);
            }
        }
    }
}

/// The parameters of a notification; one that cannot be read is left out, as the protocol wants.
fn read<T: DeserializeOwned>(note: Notification) -> Option<T> {
    let method = note.method;
    serde_json::from_value(note.params)
        .inspect_err(|error| eprintln!("pipe lsp: `{method}` cannot be read: {error}"))
        .ok()
}
