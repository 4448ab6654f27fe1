//! Help with the arguments of the call around the cursor.

use crate::complete::Cursor;
use crate::server::State;
use crate::tell;
use lsp_types::{
    Documentation, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel, Position,
    SignatureHelp, SignatureInformation,
};
use pipe_grammar::FileId;
use pipe_grammar::ast::{Arg, ExprKind, FnDecl};
use std::path::Path;

/// The signature of the innermost call that the cursor is in, with the argument that is being written.
pub(crate) fn help(state: &State<'_>, path: &Path, position: Position) -> Option<SignatureHelp> {
    let cursor = Cursor::new(state, path, position)?;
    let around = cursor.surroundings();
    let at = cursor.start as u32 + 1;
    let place = around.exprs.iter().rposition(|expr| match &expr.kind {
        ExprKind::Call { callee, .. } => callee.span.end < at,
        _ => false,
    })?;
    let call = around.exprs.get(place)?;
    let ExprKind::Call { callee, args } = &call.kind else { return None };
    let callee = cursor.analysis.callee(FileId(0), callee, &around)?;
    let piped = place.checked_sub(1).and_then(|outer| around.exprs.get(outer));
    let piped = piped.is_some_and(|outer| match &outer.kind {
        ExprKind::Pipe { call: right, .. } => right.span == call.span,
        _ => false,
    });
    let params = callee.function.params.iter();
    let shown: Vec<ParameterInformation> = params
        .map(|param| ParameterInformation {
            label: ParameterLabel::Simple(tell::parameter(&cursor.analysis, param)),
            documentation: param.doc.clone().map(markdown),
        })
        .collect();
    Some(SignatureHelp {
        signatures: vec![SignatureInformation {
            label: tell::signature(&cursor.analysis, &callee),
            documentation: callee.item.doc.clone().map(markdown),
            parameters: Some(shown),
            active_parameter: active(callee.function, args, piped, at),
        }],
        active_signature: Some(0),
        active_parameter: None,
    })
}

fn active(function: &FnDecl, args: &[Arg], piped: bool, at: u32) -> Option<u32> {
    let holds = |arg: &&Arg| {
        let start = arg.name.as_ref().map_or(arg.value.span.start, |name| name.span.start);
        start <= at && at <= arg.value.span.end
    };
    let arg = args.iter().find(holds)?;
    let named = |name: &str| function.params.iter().position(|param| param.name.text == name);
    let index = match &arg.name {
        Some(name) => {
            named(&name.text).or_else(|| function.params.iter().position(|param| param.rest))
        }
        None => {
            let before = args.iter().take_while(|other| !std::ptr::eq(*other, arg));
            Some(before.filter(|arg| arg.name.is_none()).count() + usize::from(piped))
        }
    };
    u32::try_from(index?).ok()
}

fn markdown(value: String) -> Documentation {
    Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value })
}
