//! What editors show of declarations: a signature, the documentation, the columns.

use pipe_compiler::Analysis;
use pipe_compiler::analysis::{Bound, Callee, FieldView, ModuleView};
use pipe_grammar::Span;
use pipe_grammar::ast::{FnDecl, FnParam, Item, ItemKind};

/// Columns that are listed; more are counted.
const COLUMNS: usize = 24;

/// The text of a span, in one line.
pub(crate) fn one_line(analysis: &Analysis, span: Span) -> String {
    analysis.sources.slice(span).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `how: "inner" | "left" = "inner"`.
pub(crate) fn parameter(analysis: &Analysis, param: &FnParam) -> String {
    let dots = if param.rest { ".." } else { "" };
    let mark = if param.positional { "_" } else { "" };
    let default = param.default.as_ref();
    let default = default.map(|value| format!(" = {}", one_line(analysis, value.span)));
    let ty = one_line(analysis, param.ty.span);
    format!("{dots}{mark}{}: {ty}{}", param.name.text, default.unwrap_or_default())
}

/// The name under which a function of a module is called.
pub(crate) fn full_name(module: ModuleView<'_>, name: &str) -> String {
    module.library.map_or_else(|| name.to_owned(), |library| format!("{library}.{name}"))
}

/// `data.filter(table: Table<T, P>, _where: (T) -> bool?) -> Table<T, P>`.
pub(crate) fn line(analysis: &Analysis, callee: &Callee<'_>) -> String {
    let name = full_name(callee.module, &callee.function.name.text);
    let params = callee.function.params.iter();
    let params: Vec<String> = params.map(|param| parameter(analysis, param)).collect();
    format!("{name}({}){}", params.join(", "), result(analysis, callee))
}

fn result(analysis: &Analysis, callee: &Callee<'_>) -> String {
    let result = callee.function.result.as_ref();
    result.map_or(String::new(), |ty| format!(" -> {}", one_line(analysis, ty.span)))
}

/// The same, over several lines when it is long.
pub(crate) fn signature(analysis: &Analysis, callee: &Callee<'_>) -> String {
    let line = line(analysis, callee);
    if line.len() <= 80 {
        return line;
    }
    let name = full_name(callee.module, &callee.function.name.text);
    let params = callee.function.params.iter();
    let rows = params.map(|param| format!("  {},\n", parameter(analysis, param)));
    format!("{name}(\n{}){}", rows.collect::<String>(), result(analysis, callee))
}

/// What is bound at a place, as markdown.
pub(crate) fn bound(analysis: &Analysis, bound: Bound<'_>, at: Span) -> Option<String> {
    match bound {
        Bound::Item(module, item) => Some(item_text(analysis, module, item)),
        Bound::Param(_, _, param) => Some(parameter_text(analysis, param)),
        Bound::Inner => {
            let name = analysis.sources.slice(at);
            let ty = analysis.brief_type_at(at);
            let head = ty.map_or_else(|| name.to_owned(), |ty| format!("{name}: {ty}"));
            Some(block(&head) + &columns_text(columns_or_fields(analysis, at)))
        }
    }
}

/// A parameter, as markdown.
pub(crate) fn parameter_text(analysis: &Analysis, param: &FnParam) -> String {
    block(&parameter(analysis, param)) + &documentation(param.doc.as_deref())
}

fn item_text(analysis: &Analysis, module: ModuleView<'_>, item: &Item) -> String {
    let doc = documentation(item.doc.as_deref());
    match &item.kind {
        ItemKind::Fn(function) => function_text(analysis, Callee { module, item, function }),
        ItemKind::Param { name, ty, default, condition } => {
            let mut head = format!("param {}: {}", name.text, one_line(analysis, ty.span));
            if let Some(value) = default {
                head += &format!(" = {}", one_line(analysis, value.span));
            }
            if let Some(condition) = condition {
                head += &format!(" where {}", one_line(analysis, condition.span));
            }
            block(&head) + &doc
        }
        ItemKind::Let(binding) => value_text(analysis, "let", binding.name.span) + &doc,
        ItemKind::Output(binding) => value_text(analysis, "output", binding.name.span) + &doc,
        ItemKind::Check(binding) => value_text(analysis, "check", binding.name.span) + &doc,
        ItemKind::Type { .. } => block(analysis.sources.slice(item.span).trim()) + &doc,
        ItemKind::Use { name, path, .. } => {
            block(&format!("use {} = \"{path}\"", name.text)) + &doc
        }
        ItemKind::Broken { .. } => doc,
    }
}

/// A function, as markdown.
pub(crate) fn function_text(analysis: &Analysis, callee: Callee<'_>) -> String {
    block(&signature(analysis, &callee)) + &documentation(callee.item.doc.as_deref())
}

fn value_text(analysis: &Analysis, keyword: &str, name: Span) -> String {
    let text = analysis.sources.slice(name);
    let ty = analysis.brief_type_at(name).map_or(String::new(), |ty| format!(": {ty}"));
    block(&format!("{keyword} {text}{ty}")) + &columns_text(analysis.columns_at(name))
}

fn columns_or_fields(analysis: &Analysis, at: Span) -> Option<Vec<FieldView>> {
    analysis.columns_at(at).or_else(|| analysis.fields_at(at))
}

/// Columns or fields, as a markdown list.
pub(crate) fn columns_text(columns: Option<Vec<FieldView>>) -> String {
    let Some(columns) = columns.filter(|columns| !columns.is_empty()) else { return String::new() };
    let mut out = String::from("\n");
    for column in columns.iter().take(COLUMNS) {
        out += &format!("\n* `{}`: `{}`", column.name, column.ty);
    }
    if columns.len() > COLUMNS {
        out += &format!("\n* and {} more", columns.len() - COLUMNS);
    }
    out
}

/// Code, as markdown.
pub(crate) fn block(code: &str) -> String {
    format!("```pipe\n{code}\n```")
}

/// Documentation below something else; indented examples are markdown already.
pub(crate) fn documentation(doc: Option<&str>) -> String {
    doc.map_or(String::new(), |doc| format!("\n\n{}", doc.trim_end()))
}

/// Parameters that a call has to give, without those before `skipped`.
pub(crate) fn required(
    function: &FnDecl,
    skipped: usize,
) -> impl Iterator<Item = (usize, &FnParam)> {
    let params = function.params.iter().enumerate().skip(skipped);
    params.filter(|(_, param)| param.default.is_none() && !param.rest)
}
