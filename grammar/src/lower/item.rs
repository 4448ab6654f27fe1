//! Declarations, attributes and parameters.

use super::Lower;
use crate::ast::{
    Arg, Attr, Binding, Block, Expr, FnDecl, FnParam, Item, ItemKind, Name, TypeExpr,
};
use crate::problem::Problem;
use crate::source::Span;
use crate::syntax::Rule;
use crate::words;
use pest::iterators::{Pair, Pairs};

impl Lower<'_> {
    /// `item = attr* ~ …_decl`
    pub(super) fn item(&mut self, pair: Pair<'_, Rule>) -> Item {
        let start = pair.as_span().start();
        let mut attrs = Vec::new();
        for inner in pair.into_inner() {
            if inner.as_rule() == Rule::attr {
                attrs.push(self.attr(inner));
            } else {
                return self.declaration(start, attrs, inner);
            }
        }
        let span = self.at(start, start);
        Item { doc: None, attrs, kind: ItemKind::Broken { name: None }, span }
    }

    /// One declaration, with the attributes that stand before it.
    pub(super) fn declaration(
        &mut self,
        start: usize,
        attrs: Vec<Attr>,
        pair: Pair<'_, Rule>,
    ) -> Item {
        let keyword = self.parsed.origin(pair.as_span().start()) as u32;
        let rule = pair.as_rule();
        let mut end = self.at(start, pair.as_span().start());
        let native = attrs.iter().any(|attr| attr.name.text == "native");
        let kind = match rule {
            Rule::use_decl => self.use_decl(pair, &mut end),
            Rule::param_decl => self.param_decl(pair, &mut end),
            Rule::type_decl => self.type_decl(pair, &mut end, native),
            Rule::fn_decl => self.fn_decl(pair, &mut end, native),
            _ => self.binding(pair, &mut end).map(|binding| match rule {
                Rule::let_decl => ItemKind::Let(binding),
                Rule::output_decl => ItemKind::Output(binding),
                _ => ItemKind::Check(binding),
            }),
        };
        let span = self.at(start, start).to(end);
        let doc = self.trivia.doc_above(self.source, span.start);
        let doc = doc.or_else(|| match keyword > span.start {
            true => self.trivia.doc_above(self.source, keyword),
            false => None,
        });
        Item { doc, attrs, kind: kind.unwrap_or(ItemKind::Broken { name: None }), span }
    }

    fn use_decl(&mut self, pair: Pair<'_, Rule>, end: &mut Span) -> Option<ItemKind> {
        let mut name = None;
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::name => name = Some(self.name(&inner)),
                Rule::string => {
                    let path_span = self.span(&inner);
                    *end = path_span;
                    return Some(ItemKind::Use {
                        name: name?,
                        path: self.plain_string(inner),
                        path_span,
                    });
                }
                _ => {}
            }
        }
        None
    }

    fn param_decl(&mut self, pair: Pair<'_, Rule>, end: &mut Span) -> Option<ItemKind> {
        let (mut name, mut ty, mut default, mut condition) = (None, None, None, None);
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::name => name = Some(self.name(&inner)),
                Rule::ty => ty = Some(self.ended_ty(inner, end)),
                Rule::expr => default = Some(self.ended_expr(inner, end)),
                Rule::condition => condition = self.condition(inner, end),
                _ => {}
            }
        }
        Some(ItemKind::Param { name: name?, ty: ty?, default, condition })
    }

    fn binding(&mut self, pair: Pair<'_, Rule>, end: &mut Span) -> Option<Binding> {
        let (mut name, mut ty, mut value) = (None, None, None);
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::name => name = Some(self.name(&inner)),
                Rule::ty => ty = Some(self.ended_ty(inner, end)),
                Rule::expr => value = Some(self.ended_expr(inner, end)),
                _ => {}
            }
        }
        Some(Binding { name: name?, ty, value: value? })
    }

    fn type_decl(
        &mut self,
        pair: Pair<'_, Rule>,
        end: &mut Span,
        native: bool,
    ) -> Option<ItemKind> {
        let (mut name, mut params, mut ty) = (None, Vec::new(), None);
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::name => {
                    let word = self.name(&inner);
                    *end = word.span;
                    name = Some(word);
                }
                Rule::ty_params => params = self.ty_params(inner, end),
                Rule::ty => ty = Some(self.ended_ty(inner, end)),
                _ => {}
            }
        }
        let name: Name = name?;
        if ty.is_none() && !native {
            self.report(
                Problem::error(
                    "syntax::missing_body",
                    *end,
                    format!("the type `{}` has no definition", name.text),
                )
                .label("expected `=` and a type after this")
                .help(format!(
                    "write `type {} = {{ field: str }}` with the fields it has",
                    name.text
                )),
            );
            return Some(ItemKind::Broken { name: Some(name) });
        }
        Some(ItemKind::Type { name, params, ty })
    }

    fn fn_decl(&mut self, pair: Pair<'_, Rule>, end: &mut Span, native: bool) -> Option<ItemKind> {
        let (mut name, mut type_params, mut params) = (None, Vec::new(), Vec::new());
        let (mut result, mut body) = (None, None);
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::name => name = Some(self.name(&inner)),
                Rule::ty_params => type_params = self.ty_params(inner, end),
                Rule::fn_params => {
                    *end = self.span(&inner);
                    params = self.fn_params(inner);
                }
                Rule::ty => result = Some(self.ended_ty(inner, end)),
                Rule::expr => body = Some(value_block(self.ended_expr(inner, end))),
                Rule::block => {
                    *end = self.span(&inner);
                    body = Some(self.block(inner));
                }
                _ => {}
            }
        }
        let name: Name = name?;
        if body.is_none() && !native {
            self.report(
                Problem::error(
                    "syntax::missing_body",
                    *end,
                    format!("the function `{}` has no body", name.text),
                )
                .label("expected `=` and a value after this")
                .help("write `= value`, or a block `{ let a = 1  a + 1 }`"),
            );
            return Some(ItemKind::Broken { name: Some(name) });
        }
        if body.is_some() {
            self.bindable(&params);
        }
        Some(ItemKind::Fn(FnDecl { name, type_params, params, result, body }))
    }

    /// A body could not use a parameter with the name of a reserved word.
    fn bindable(&mut self, params: &[FnParam]) {
        for param in params.iter().filter(|param| words::is_reserved(&param.name.text)) {
            self.report(crate::recover::reserved_word(&param.name.text, param.name.span));
        }
    }

    fn ty_params(&mut self, pair: Pair<'_, Rule>, end: &mut Span) -> Vec<Name> {
        *end = self.span(&pair);
        pair.into_inner().map(|name| self.name(&name)).collect()
    }

    fn fn_params(&mut self, pair: Pair<'_, Rule>) -> Vec<FnParam> {
        let mut params: Vec<FnParam> = Vec::new();
        for inner in pair.into_inner() {
            if let Some(param) = self.fn_param(inner) {
                params.push(param);
            }
        }
        params
    }

    fn fn_param(&mut self, pair: Pair<'_, Rule>) -> Option<FnParam> {
        let start = self.parsed.origin(pair.as_span().start()) as u32;
        let (mut attrs, mut rest, mut name, mut ty, mut default) =
            (Vec::new(), false, None, None, None);
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::attr => attrs.push(self.attr(inner)),
                Rule::rest => rest = true,
                Rule::word => name = Some(self.name(&inner)),
                Rule::ty => ty = Some(self.ty(inner)),
                Rule::expr => default = Some(self.expr(inner)),
                _ => {}
            }
        }
        let mut name: Name = name?;
        let positional = name.text.len() > 1 && name.text.starts_with('_');
        if positional {
            name.text.remove(0);
        }
        let doc = self.trivia.doc_above(self.source, start);
        Some(FnParam { attrs, doc, rest, name, positional, ty: ty?, default })
    }

    /// `attr = "@" ~ word ~ call?`
    pub(super) fn attr(&mut self, pair: Pair<'_, Rule>) -> Attr {
        let span = self.span(&pair);
        let mut name = Name { text: String::new(), span };
        let mut args = Vec::new();
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::word => name = self.name(&inner),
                _ => args = self.args(inner.into_inner()),
            }
        }
        Attr { name, args, span }
    }

    /// The arguments of a call.
    pub(super) fn args(&mut self, pairs: Pairs<'_, Rule>) -> Vec<Arg> {
        let mut args = Vec::new();
        for pair in pairs {
            let mut name = None;
            for inner in pair.into_inner() {
                match inner.as_rule() {
                    Rule::word => name = Some(self.name(&inner)),
                    _ => args.push(Arg { name: name.take(), value: self.expr(inner) }),
                }
            }
        }
        args
    }

    fn condition(&mut self, pair: Pair<'_, Rule>, end: &mut Span) -> Option<Expr> {
        pair.into_inner().next().map(|expr| self.ended_expr(expr, end))
    }

    fn ended_expr(&mut self, pair: Pair<'_, Rule>, end: &mut Span) -> Expr {
        let expr = self.expr(pair);
        *end = expr.span;
        expr
    }

    fn ended_ty(&mut self, pair: Pair<'_, Rule>, end: &mut Span) -> TypeExpr {
        let ty = self.ty(pair);
        *end = ty.span;
        ty
    }
}

/// A body written as a value alone.
pub(super) fn value_block(value: Expr) -> Block {
    let span = value.span;
    Block { lets: Vec::new(), value: Box::new(value), span }
}
