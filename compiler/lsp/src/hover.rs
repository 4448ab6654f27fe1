//! What stands under the cursor: its type, its signature, its documentation.

use crate::client::Abilities;
use crate::programs::Program;
use crate::{place, tell};
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};
use pipe_compiler::Analysis;
use pipe_compiler::analysis::{Meaning, Mention, Sort};
use pipe_grammar::Span;
use pipe_grammar::ast::{Expr, ExprKind};
use std::path::Path;

/// What to show at a position of a file.
pub(crate) fn hover(
    program: &Program,
    path: &Path,
    position: lsp_types::Position,
    abilities: &Abilities,
) -> Option<Hover> {
    let file = program.file_at(path)?;
    let at = place::offset(file, position, abilities.units);
    let analysis = &program.analysis;
    let (span, value) = match analysis.mention_at(file.id, at) {
        Some(mention) => (mention.span, text(analysis, mention, at)?),
        None => expression(analysis, file.id, at)?,
    };
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value }),
        range: Some(place::range(file, span, abilities.units)),
    })
}

fn text(analysis: &Analysis, mention: &Mention, at: u32) -> Option<String> {
    let name = analysis.sources.slice(mention.span);
    match &mention.meaning {
        Meaning::Bound(place) => tell::bound(analysis, analysis.bound_at(*place)?, *place),
        Meaning::Library(module) => {
            let doc = analysis.library(module).and_then(|module| module.ast.doc.as_deref());
            Some(tell::block(module) + &tell::documentation(doc))
        }
        Meaning::BuiltIn => Some(built_in(name, mention.sort)),
        Meaning::Field => field(analysis, mention.span, name, at),
    }
}

/// The type of a field or column, from the expression that reads it.
fn field(analysis: &Analysis, span: Span, name: &str, at: u32) -> Option<String> {
    let surroundings = analysis.surroundings(span.file, at);
    let reads = |expr: &&&Expr| match &expr.kind {
        ExprKind::Field { name, .. } => name.span == span,
        _ => false,
    };
    let ty = surroundings.exprs.iter().find(reads).and_then(|expr| analysis.type_at(expr.span));
    let head = ty.map_or_else(|| name.to_owned(), |ty| format!("{name}: {ty}"));
    Some(tell::block(&head))
}

fn built_in(name: &str, sort: Sort) -> String {
    let (head, about) = match (sort, name) {
        (Sort::Attribute, "gpu") => (
            "@gpu(count, else: \"cpu\")",
            "Its nodes run on this many GPUs, or on the CPU where that is allowed.",
        ),
        (Sort::Attribute, "memory") => ("@memory(8GiB)", "Its nodes need this much memory."),
        (Sort::Attribute, "retry") => {
            ("@retry(2)", "Its nodes are tried again this often when a failure may pass.")
        }
        (Sort::Attribute, "timeout") => ("@timeout(6h)", "Its nodes are stopped after this time."),
        (Sort::Attribute, "cache") => {
            ("@cache(off)", "Its nodes run each time, whatever is in the store.")
        }
        (Sort::Op, "files") => (
            "files(pattern: path) -> [path]",
            "The paths that match a pattern when the plan is made.",
        ),
        _ => (name, ""),
    };
    tell::block(head) + &tell::documentation(Some(about).filter(|about| !about.is_empty()))
}

/// The type of the innermost expression, for literals and operators.
fn expression(analysis: &Analysis, file: pipe_grammar::FileId, at: u32) -> Option<(Span, String)> {
    let surroundings = analysis.surroundings(file, at);
    let expr = surroundings.exprs.last()?;
    let ty = analysis.brief_type_at(expr.span)?;
    let text = match &expr.kind {
        ExprKind::Str(_) | ExprKind::Bool(_) | ExprKind::None | ExprKind::Number(_) => {
            let text = tell::one_line(analysis, expr.span);
            if text.chars().count() > 60 { ty } else { format!("{text}: {ty}") }
        }
        _ => ty,
    };
    Some((expr.span, tell::block(&text)))
}
