//! Declarations and blocks.

use super::Printer;
use super::doc::{Doc, blank, concat, group, hard, line, nest, nil, text};
use crate::ast::{
    Attr, Binding, Block, Expr, ExprKind, FnDecl, FnParam, Item, ItemKind, Name, UnaryOp,
};

impl Printer<'_> {
    /// A declaration; as it was written when a comment stands where none can be set.
    pub(super) fn item_or_verbatim(&mut self, item: &Item) -> Doc {
        let state = self.comments.taken();
        self.comments.misplaced = false;
        let doc = self.item(item);
        if self.comments.misplaced || self.comments.pending(item.span.end) {
            self.comments.rewind(state);
            return self.verbatim(item.span.start, item.span.end);
        }
        doc
    }

    fn item(&mut self, item: &Item) -> Doc {
        let mut docs = Vec::new();
        let mut end = item.span.start;
        for attr in &item.attrs {
            let before = self.comments.before(end, attr.span.start);
            if end > item.span.start {
                docs.extend([before.ending, hard(), before.own]);
            }
            docs.push(self.attr(attr));
            end = attr.span.end;
        }
        if !item.attrs.is_empty() {
            let keyword = self.token_from(end);
            let before = self.comments.before(end, keyword);
            docs.extend([before.ending, hard(), before.own]);
        }
        docs.push(self.declaration(item));
        concat(docs)
    }

    fn declaration(&mut self, item: &Item) -> Doc {
        match &item.kind {
            ItemKind::Use { name, path_span, .. } => {
                let path = self.slice(path_span.start, path_span.end).to_owned();
                concat([text(format!("use {} = ", name.text)), text(path)])
            }
            ItemKind::Param { name, ty, default, condition } => {
                let mut docs = vec![text(format!("param {}: ", name.text)), self.ty(ty)];
                if let Some(default) = default {
                    docs.extend([text(" = "), self.expr(default)]);
                }
                if let Some(condition) = condition {
                    let condition = self.expr(condition);
                    docs.push(nest(concat([line(), text("where "), condition])));
                }
                group(concat(docs))
            }
            ItemKind::Let(binding) => self.binding("let", binding),
            ItemKind::Output(binding) => self.binding("output", binding),
            ItemKind::Check(binding) => self.binding("check", binding),
            ItemKind::Fn(decl) => self.function(decl),
            ItemKind::Type { name, params, ty } => {
                let head = text(format!("type {}{}", name.text, type_params(params)));
                match ty {
                    Some(ty) => concat([head, text(" ="), self.defining(ty)]),
                    None => head,
                }
            }
            ItemKind::Broken { .. } => self.verbatim(item.span.start, item.span.end),
        }
    }

    fn binding(&mut self, keyword: &str, binding: &Binding) -> Doc {
        let mut docs = vec![text(format!("{keyword} {}", binding.name.text))];
        if let Some(ty) = &binding.ty {
            docs.extend([text(": "), self.ty(ty)]);
        }
        docs.extend([text(" ="), self.bound(&binding.value)]);
        concat(docs)
    }

    /// A value behind `=`, with the blank before it. Long conditions and sums start on a line of their own.
    fn bound(&mut self, value: &Expr) -> Doc {
        let doc = self.expr(value);
        match value.kind {
            ExprKind::Binary { .. } => group(nest(concat([line(), doc]))),
            _ => concat([text(" "), doc]),
        }
    }

    fn function(&mut self, decl: &FnDecl) -> Doc {
        let head = text(format!("fn {}{}", decl.name.text, type_params(&decl.type_params)));
        let from = decl.type_params.last().map_or(decl.name.span.end, |last| last.span.end);
        let open = self
            .slice(from, self.source.len() as u32)
            .find('(')
            .map_or(from, |at| from + at as u32);
        let params = self.params(&decl.params, open);
        let mut docs = vec![head, params];
        if let Some(result) = &decl.result {
            docs.extend([text(" -> "), self.ty(result)]);
        }
        match &decl.body {
            None => {}
            Some(body) if body.lets.is_empty() => {
                let before = self.comments.before(body.span.start, body.value.span.start);
                self.comments.misplaced |= before.own.is_tall() || before.ending.is_tall();
                docs.extend([text(" ="), self.bound(&body.value)]);
            }
            Some(body) => docs.extend([text(" "), self.block(body)]),
        }
        concat(docs)
    }

    fn params(&mut self, params: &[FnParam], open: u32) -> Doc {
        let close = params.last().map_or(open, |last| {
            let end = last.default.as_ref().map_or(last.ty.span.end, |default| default.span.end);
            end.max(last.ty.span.end)
        });
        let close = self.close_after(close);
        let mut elements = Vec::new();
        for param in params {
            let start =
                param.attrs.first().map_or_else(|| self.word_start(param), |attr| attr.span.start);
            let end = param.default.as_ref().map_or(param.ty.span.end, |default| default.span.end);
            elements.push((start, end, param));
        }
        self.bracketed("(", ")", (open + 1, close), &elements, |printer, param| {
            printer.param(param)
        })
    }

    fn word_start(&self, param: &FnParam) -> u32 {
        let name = param.name.span.start;
        let dots = self.slice(0, name).trim_end();
        if param.rest && dots.ends_with("..") { dots.len() as u32 - 2 } else { name }
    }

    fn param(&mut self, param: &FnParam) -> Doc {
        let mut docs = Vec::new();
        for attr in &param.attrs {
            docs.extend([self.attr(attr), text(" ")]);
        }
        let dots = if param.rest { ".." } else { "" };
        let mark = if param.positional { "_" } else { "" };
        docs.extend([text(format!("{dots}{mark}{}: ", param.name.text)), self.ty(&param.ty)]);
        if let Some(default) = &param.default {
            docs.extend([text(" = "), self.expr(default)]);
        }
        concat(docs)
    }

    fn attr(&mut self, attr: &Attr) -> Doc {
        let head = text(format!("@{}", attr.name.text));
        if attr.args.is_empty() && !self.slice(attr.span.start, attr.span.end).ends_with(')') {
            return head;
        }
        if attr.args.is_empty() {
            return head;
        }
        let args = self.args(&attr.args, attr.name.span.end + 1, attr.span.end - 1);
        concat([head, args])
    }

    /// A block in braces: on one line only when it is a value alone and fits.
    pub(super) fn block(&mut self, block: &Block) -> Doc {
        group(self.braces(block))
    }

    /// A block that breaks together with what it stands in.
    pub(super) fn braces(&mut self, block: &Block) -> Doc {
        let mut docs = Vec::new();
        let mut end = block.span.start + 1;
        for (index, item) in block.lets.iter().enumerate() {
            let before = self.comments.before(end, item.span.start);
            let gap = if before.apart && index > 0 { blank() } else { nil() };
            docs.extend([before.ending, gap, hard(), before.own, self.item(item)]);
            end = item.span.end;
        }
        let before = self.comments.before(end, block.value.span.start);
        let gap = if before.apart && !block.lets.is_empty() { blank() } else { nil() };
        let mut value = self.expr(&block.value);
        if !block.lets.is_empty() && starts_with_minus(&block.value) {
            value = concat([text("("), value, text(")")]);
        }
        docs.extend([
            before.ending,
            gap,
            if block.lets.is_empty() { line() } else { hard() },
            before.own,
            value,
        ]);
        let (ending, own) =
            self.comments.closing(block.value.span.end, block.span.end.saturating_sub(1));
        docs.extend([ending, concat(own)]);
        concat([text("{"), nest(concat(docs)), line(), text("}")])
    }

    /// The body of a function value.
    pub(super) fn body(&mut self, body: &Block) -> Doc {
        if body.lets.is_empty() { self.expr(&body.value) } else { self.block(body) }
    }

    /// Whether a block is the `if` of an `else if`.
    pub(super) fn is_chained(block: &Block) -> bool {
        block.lets.is_empty() && matches!(block.value.kind, ExprKind::If { .. })
    }
}

/// `<A, B>` or nothing.
fn type_params(params: &[Name]) -> String {
    if params.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = params.iter().map(|name| name.text.as_str()).collect();
    format!("<{}>", names.join(", "))
}

/// Whether the text of an expression begins with `-`, which would continue what stands before it.
fn starts_with_minus(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Unary { op, .. } => *op == UnaryOp::Negate,
        ExprKind::Binary { left, .. } => starts_with_minus(left),
        ExprKind::Pipe { subject, .. } => starts_with_minus(subject),
        _ => false,
    }
}
