//! Which request is answered by what.

use crate::server::State;
use crate::{actions, format, outline, place};
use lsp_server::{ErrorCode, Request, Response};
use lsp_types::request as ask;
use lsp_types::{
    CodeActionKind, CodeActionParams, CodeActionResponse, DocumentFormattingParams,
    DocumentSymbolParams, DocumentSymbolResponse, FoldingRange, FoldingRangeParams, TextEdit,
};
use serde_json::{Value, json};

/// What the server can do.
pub(crate) fn capabilities(encoding: &str) -> Value {
    json!({
        "positionEncoding": encoding,
        "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
        "codeActionProvider": { "codeActionKinds": [CodeActionKind::QUICKFIX] },
        "documentFormattingProvider": true,
        "documentSymbolProvider": true,
        "foldingRangeProvider": true,
    })
}

/// Answer a request.
pub(crate) fn answer(state: &mut State<'_>, request: Request) -> Response {
    match request.method.as_str() {
        "textDocument/formatting" => with::<ask::Formatting>(state, request, formatting),
        "textDocument/documentSymbol" => {
            with::<ask::DocumentSymbolRequest>(state, request, symbols)
        }
        "textDocument/foldingRange" => with::<ask::FoldingRangeRequest>(state, request, folds),
        "textDocument/codeAction" => with::<ask::CodeActionRequest>(state, request, code_actions),
        method => {
            let why = format!("`{method}` is not known");
            Response::new_err(request.id, ErrorCode::MethodNotFound as i32, why)
        }
    }
}

fn with<R: ask::Request>(
    state: &mut State<'_>,
    request: Request,
    answer: impl FnOnce(&mut State<'_>, R::Params) -> R::Result,
) -> Response {
    let id = request.id;
    let params = match serde_json::from_value::<R::Params>(request.params) {
        Ok(params) => params,
        Err(error) => {
            let why = format!("the parameters cannot be read: {error}");
            return Response::new_err(id, ErrorCode::InvalidParams as i32, why);
        }
    };
    match serde_json::to_value(answer(state, params)) {
        Ok(result) => Response { id, response_result: Ok(result) },
        Err(error) => {
            Response::new_err(id, ErrorCode::InternalError as i32, format!("no answer: {error}"))
        }
    }
}

fn formatting(state: &mut State<'_>, params: DocumentFormattingParams) -> Option<Vec<TextEdit>> {
    let document = state.documents.get(&place::path_of(&params.text_document.uri))?;
    Some(format::edits(&document.file, state.abilities.units))
}

fn symbols(state: &mut State<'_>, params: DocumentSymbolParams) -> Option<DocumentSymbolResponse> {
    let path = place::path_of(&params.text_document.uri);
    let program = state.program(&path)?;
    let file = program.main()?;
    let module = program.analysis.modules().next()?;
    let symbols = outline::symbols(file, module.ast, |_| None, &state.abilities);
    Some(DocumentSymbolResponse::Nested(symbols))
}

fn folds(state: &mut State<'_>, params: FoldingRangeParams) -> Option<Vec<FoldingRange>> {
    let document = state.documents.get(&place::path_of(&params.text_document.uri))?;
    Some(outline::folds(&document.file))
}

fn code_actions(state: &mut State<'_>, params: CodeActionParams) -> Option<CodeActionResponse> {
    let path = place::path_of(&params.text_document.uri);
    let program = state.program(&path)?;
    Some(actions::actions(&program, &path, params.range, &state.abilities))
}
