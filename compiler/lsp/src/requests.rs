//! Which request is answered by what.

use crate::find::{self, Written};
use crate::programs::Program;
use crate::server::State;
use crate::{
    actions, complete, format, hints, hover, outline, place, rename, signature, symbols, tokens,
};
use lsp_server::{ErrorCode, Request, Response};
use lsp_types::request as ask;
use lsp_types::{
    CodeActionKind, CodeActionParams, CodeActionResponse, CompletionParams, CompletionResponse,
    DocumentFormattingParams, DocumentSymbolParams, DocumentSymbolResponse, FoldingRange,
    FoldingRangeParams, GotoDefinitionParams, GotoDefinitionResponse, Hover, HoverParams,
    InlayHint, InlayHintParams, Location, PrepareRenameResponse, ReferenceParams, RenameParams,
    SemanticTokens, SemanticTokensParams, SemanticTokensResult, SignatureHelp, SignatureHelpParams,
    TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit, WorkspaceSymbolParams,
    WorkspaceSymbolResponse,
};
use pipe_compiler::analysis::Meaning;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::rc::Rc;

/// What the server can do.
pub(crate) fn capabilities(encoding: &str) -> Value {
    json!({
        "positionEncoding": encoding,
        "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
        "codeActionProvider": {
            "codeActionKinds": [CodeActionKind::QUICKFIX, CodeActionKind::SOURCE_FIX_ALL],
        },
        "completionProvider": { "triggerCharacters": [".", "\"", "(", ",", "@", "/", " "] },
        "definitionProvider": true,
        "documentFormattingProvider": true,
        "documentSymbolProvider": true,
        "foldingRangeProvider": true,
        "hoverProvider": true,
        "inlayHintProvider": true,
        "referencesProvider": true,
        "renameProvider": { "prepareProvider": true },
        "semanticTokensProvider": {
            "legend": { "tokenTypes": tokens::KINDS, "tokenModifiers": tokens::MODIFIERS },
            "full": true,
        },
        "signatureHelpProvider": { "triggerCharacters": ["(", ","] },
        "workspaceSymbolProvider": true,
    })
}

/// A request that cannot be met, in a plain sentence.
struct Refused(String);

type Answer<T> = Result<T, Refused>;

/// Answer a request.
pub(crate) fn answer(state: &mut State<'_>, request: Request) -> Response {
    match request.method.as_str() {
        "textDocument/formatting" => with::<ask::Formatting>(state, request, formatting),
        "textDocument/documentSymbol" => {
            with::<ask::DocumentSymbolRequest>(state, request, document_symbols)
        }
        "textDocument/foldingRange" => with::<ask::FoldingRangeRequest>(state, request, folds),
        "textDocument/codeAction" => with::<ask::CodeActionRequest>(state, request, code_actions),
        "textDocument/completion" => with::<ask::Completion>(state, request, completion),
        "textDocument/signatureHelp" => {
            with::<ask::SignatureHelpRequest>(state, request, signature_help)
        }
        "textDocument/hover" => with::<ask::HoverRequest>(state, request, hover),
        "textDocument/definition" => with::<ask::GotoDefinition>(state, request, definition),
        "textDocument/references" => with::<ask::References>(state, request, references),
        "textDocument/prepareRename" => {
            with::<ask::PrepareRenameRequest>(state, request, prepare_rename)
        }
        "textDocument/rename" => with::<ask::Rename>(state, request, rename),
        "textDocument/semanticTokens/full" => {
            with::<ask::SemanticTokensFullRequest>(state, request, semantic_tokens)
        }
        "textDocument/inlayHint" => with::<ask::InlayHintRequest>(state, request, inlay_hints),
        "workspace/symbol" => {
            with::<ask::WorkspaceSymbolRequest>(state, request, workspace_symbols)
        }
        "pipe/libraryText" => library_text(request),
        method => {
            let why = format!("`{method}` is not known");
            Response::new_err(request.id, ErrorCode::MethodNotFound as i32, why)
        }
    }
}

fn with<R: ask::Request>(
    state: &mut State<'_>,
    request: Request,
    answer: impl FnOnce(&mut State<'_>, R::Params) -> Answer<R::Result>,
) -> Response {
    let id = request.id;
    let refuse = |code: ErrorCode, why: String| Response::new_err(id.clone(), code as i32, why);
    let params = match serde_json::from_value::<R::Params>(request.params) {
        Ok(params) => params,
        Err(error) => {
            let why = format!("the parameters cannot be read: {error}");
            return refuse(ErrorCode::InvalidParams, why);
        }
    };
    match answer(state, params).map(serde_json::to_value) {
        Ok(Ok(result)) => Response { id, response_result: Ok(result) },
        Ok(Err(error)) => refuse(ErrorCode::InternalError, format!("no answer: {error}")),
        Err(Refused(why)) => refuse(ErrorCode::RequestFailed, why),
    }
}

/// The text of a library module, for editors that show `pipe-library:` documents.
fn library_text(request: Request) -> Response {
    let uri = request.params.get("uri").and_then(Value::as_str).unwrap_or_default();
    let name = place::library_module(uri).unwrap_or_default();
    match pipe_stdlib::FILES.iter().find(|(module, _)| *module == name) {
        Some((_, text)) => Response::new_ok(request.id, text),
        None => {
            let why = format!("there is no library module behind `{uri}`");
            Response::new_err(request.id, ErrorCode::InvalidParams as i32, why)
        }
    }
}

fn formatting(
    state: &mut State<'_>,
    params: DocumentFormattingParams,
) -> Answer<Option<Vec<TextEdit>>> {
    let document = state.documents.get(&place::path_of(&params.text_document.uri));
    Ok(document.map(|document| format::edits(&document.file, state.abilities.units)))
}

fn workspace_symbols(
    state: &mut State<'_>,
    params: WorkspaceSymbolParams,
) -> Answer<Option<WorkspaceSymbolResponse>> {
    Ok(Some(WorkspaceSymbolResponse::Nested(symbols::symbols(state, &params.query))))
}

fn document_symbols(
    state: &mut State<'_>,
    params: DocumentSymbolParams,
) -> Answer<Option<DocumentSymbolResponse>> {
    let path = place::path_of(&params.text_document.uri);
    let Some(program) = state.program(&path) else { return Ok(None) };
    let analysis = &program.analysis;
    let detail =
        |item: &pipe_grammar::ast::Item| analysis.brief_type_at(outline::bound(item)?.0.span);
    let (Some(file), Some(module)) = (program.main(), analysis.modules().next()) else {
        return Ok(None);
    };
    let symbols = outline::symbols(file, module.ast, detail, &state.abilities);
    Ok(Some(DocumentSymbolResponse::Nested(symbols)))
}

fn folds(state: &mut State<'_>, params: FoldingRangeParams) -> Answer<Option<Vec<FoldingRange>>> {
    let document = state.documents.get(&place::path_of(&params.text_document.uri));
    Ok(document.map(|document| outline::folds(&document.file)))
}

fn code_actions(
    state: &mut State<'_>,
    params: CodeActionParams,
) -> Answer<Option<CodeActionResponse>> {
    let path = place::path_of(&params.text_document.uri);
    let program = state.program(&path);
    let only = params.context.only.as_deref();
    Ok(program
        .map(|program| actions::actions(&program, &path, params.range, only, &state.abilities)))
}

fn completion(
    state: &mut State<'_>,
    params: CompletionParams,
) -> Answer<Option<CompletionResponse>> {
    let at = params.text_document_position;
    let path = place::path_of(&at.text_document.uri);
    let typed = params.context.and_then(|context| context.trigger_character);
    let items = complete::complete(state, &path, at.position, typed.as_deref());
    Ok(Some(CompletionResponse::Array(items)))
}

fn signature_help(
    state: &mut State<'_>,
    params: SignatureHelpParams,
) -> Answer<Option<SignatureHelp>> {
    let at = params.text_document_position_params;
    Ok(signature::help(state, &place::path_of(&at.text_document.uri), at.position))
}

fn hover(state: &mut State<'_>, params: HoverParams) -> Answer<Option<Hover>> {
    let at = params.text_document_position_params;
    let path = place::path_of(&at.text_document.uri);
    let program = state.program(&path);
    Ok(program.and_then(|program| hover::hover(&program, &path, at.position, &state.abilities)))
}

fn definition(
    state: &mut State<'_>,
    params: GotoDefinitionParams,
) -> Answer<Option<GotoDefinitionResponse>> {
    let at = params.text_document_position_params;
    let path = place::path_of(&at.text_document.uri);
    let Some(program) = state.program(&path) else { return Ok(None) };
    let library = |module: &str| {
        if state.abilities.library_documents {
            return place::library_uri(module);
        }
        place::uri_of(&state.outside.disk.library_file(module)?)
    };
    let found = find::definition(&program, &path, at.position, &state.abilities, &library);
    Ok(found.map(GotoDefinitionResponse::Scalar))
}

fn references(state: &mut State<'_>, params: ReferenceParams) -> Answer<Option<Vec<Location>>> {
    let at = params.text_document_position;
    let Some((programs, target, places)) = everywhere(state, &at) else { return Ok(None) };
    let bound = (target.path.clone(), target.start);
    let wanted = places.iter().filter(|place| {
        params.context.include_declaration || (place.path.clone(), place.start) != bound
    });
    Ok(Some(
        wanted.filter_map(|place| find::location(&programs, place, &state.abilities)).collect(),
    ))
}

/// The name at a position, where it is bound, and everywhere it is written.
fn everywhere(
    state: &mut State<'_>,
    at: &TextDocumentPositionParams,
) -> Option<(Vec<Rc<Program>>, find::Target, BTreeSet<Written>)> {
    let path = place::path_of(&at.text_document.uri);
    let program = state.program(&path)?;
    let (_, mention) = find::mention(&program, &path, at.position, &state.abilities)?;
    let target = find::target(&program, mention)?;
    let programs = state.programs_with(&target.path);
    let places = find::written(&programs, &target);
    Some((programs, target, places))
}

fn prepare_rename(
    state: &mut State<'_>,
    at: TextDocumentPositionParams,
) -> Answer<Option<PrepareRenameResponse>> {
    let path = place::path_of(&at.text_document.uri);
    let Some(program) = state.program(&path) else { return Ok(None) };
    let Some((file, mention)) = find::mention(&program, &path, at.position, &state.abilities)
    else {
        return Ok(None);
    };
    renamable(&program, &mention.meaning)?;
    Ok(Some(PrepareRenameResponse::Range(place::range(file, mention.span, state.abilities.units))))
}

fn renamable(program: &Program, meaning: &Meaning) -> Answer<()> {
    let why = match meaning {
        Meaning::Bound(span) if program.path_of(span.file).is_some() => return Ok(()),
        Meaning::Bound(_) | Meaning::Library(_) => "the library keeps its names",
        Meaning::BuiltIn => "the language keeps its names",
        Meaning::Field => "columns and fields are named by the data",
    };
    Err(Refused(why.to_owned()))
}

#[expect(clippy::mutable_key_type, reason = "the protocol's type; URIs are never changed")]
fn rename(state: &mut State<'_>, params: RenameParams) -> Answer<Option<WorkspaceEdit>> {
    let (at, new) = (params.text_document_position, params.new_name);
    let path = place::path_of(&at.text_document.uri);
    let Some(program) = state.program(&path) else { return Ok(None) };
    let Some((_, mention)) = find::mention(&program, &path, at.position, &state.abilities) else {
        return Err(Refused("there is no name here".to_owned()));
    };
    renamable(&program, &mention.meaning)?;
    if let Some(why) = rename::unfit(&new) {
        return Err(Refused(why));
    }
    let Some((programs, target, places)) = everywhere(state, &at) else { return Ok(None) };
    if let Some(why) = rename::clash(&programs, &target, &places, &new) {
        return Err(Refused(why));
    }
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for place in &places {
        if let Some(location) = find::location(&programs, place, &state.abilities) {
            let edit = TextEdit { range: location.range, new_text: new.clone() };
            changes.entry(location.uri).or_default().push(edit);
        }
    }
    Ok(Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }))
}

fn semantic_tokens(
    state: &mut State<'_>,
    params: SemanticTokensParams,
) -> Answer<Option<SemanticTokensResult>> {
    let path: PathBuf = place::path_of(&params.text_document.uri);
    let Some(program) = state.program(&path) else { return Ok(None) };
    let data = tokens::tokens(&program, &path, &state.abilities);
    Ok(Some(SemanticTokensResult::Tokens(SemanticTokens { result_id: None, data })))
}

fn inlay_hints(state: &mut State<'_>, params: InlayHintParams) -> Answer<Option<Vec<InlayHint>>> {
    state.wants_hints = true;
    let path = place::path_of(&params.text_document.uri);
    let Some(program) = state.program(&path) else { return Ok(None) };
    let known = state.hints.get(&path);
    Ok(known.map(|known| hints::shown(&program, known, params.range, &state.abilities)))
}
