//! The way to the client, and what it said that it can do.

use crate::transport;
use lsp_server::{ErrorCode, RequestId, Response};
use lsp_types::InitializeParams;
use pipe_grammar::Units;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write;

/// What the client can do, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abilities {
    /// What it counts characters in.
    pub(crate) units: Units,
    /// It shows other places of a diagnostic.
    pub(crate) related: bool,
    /// It takes completions with `${1:places}`.
    pub(crate) snippets: bool,
    /// It asks for inlay hints again when told to.
    pub(crate) refreshes_hints: bool,
    /// It can be asked to watch files.
    pub(crate) watches: bool,
    /// It shows `pipe-library:` documents.
    pub(crate) library_documents: bool,
}

impl Abilities {
    pub(crate) fn of(params: &InitializeParams) -> Self {
        let capabilities = &params.capabilities;
        let offered = capabilities.general.as_ref().and_then(|it| it.position_encodings.as_ref());
        let utf8 = offered.is_some_and(|all| all.iter().any(|kind| kind.as_str() == "utf-8"));
        let document = capabilities.text_document.as_ref();
        let workspace = capabilities.workspace.as_ref();
        let related = document.and_then(|it| it.publish_diagnostics.as_ref()?.related_information);
        let items = document.and_then(|it| it.completion.as_ref()?.completion_item.as_ref());
        let hints = workspace.and_then(|it| it.inlay_hint.as_ref()?.refresh_support);
        let watches = workspace.and_then(|it| it.did_change_watched_files?.dynamic_registration);
        let options = params.initialization_options.as_ref();
        let library = options.and_then(|it| it.get("libraryDocuments")?.as_bool());
        Self {
            units: if utf8 { Units::Utf8 } else { Units::Utf16 },
            related: related.unwrap_or(false),
            snippets: items.and_then(|it| it.snippet_support).unwrap_or(false),
            refreshes_hints: hints.unwrap_or(false),
            watches: watches.unwrap_or(false),
            library_documents: library.unwrap_or(false),
        }
    }
}

/// Writes to the client. Once that failed, nothing more is written: the client is gone.
pub(crate) struct Client<W> {
    output: W,
    requests: i32,
    gone: bool,
}

impl<W: Write> Client<W> {
    pub(crate) fn new(output: W) -> Self {
        Self { output, requests: 0, gone: false }
    }

    /// Whether writing has failed.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone
    }

    fn write(&mut self, mut message: Value) {
        if let Some(fields) = message.as_object_mut() {
            fields.insert("jsonrpc".into(), "2.0".into());
        }
        self.gone = self.gone || transport::write(&mut self.output, &message).is_err();
    }

    pub(crate) fn notify(&mut self, method: &str, params: impl Serialize) {
        self.write(json!({ "method": method, "params": params }));
    }

    /// Ask the client for something; its answer is not waited for.
    pub(crate) fn request(&mut self, method: &str, params: impl Serialize) {
        self.requests += 1;
        let id = format!("pipe-{}", self.requests);
        self.write(json!({ "id": id, "method": method, "params": params }));
    }

    pub(crate) fn answer(&mut self, response: Response) {
        let id = response.id;
        self.write(match response.response_result {
            Ok(result) => json!({ "id": id, "result": result }),
            Err(error) => json!({ "id": id, "error": error }),
        });
    }

    pub(crate) fn refuse(&mut self, id: RequestId, code: ErrorCode, why: &str) {
        self.answer(Response::new_err(id, code as i32, why.to_owned()));
    }

    /// Answer something that was no message.
    pub(crate) fn garbage(&mut self, why: &str) {
        let code = ErrorCode::ParseError as i32;
        self.write(json!({ "id": null, "error": { "code": code, "message": why } }));
    }
}
