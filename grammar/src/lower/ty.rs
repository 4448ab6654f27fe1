//! Types as written.

use super::Lower;
use crate::ast::{TypeExpr, TypeField, TypeKind};
use crate::problem::Problem;
use crate::source::Span;
use crate::syntax::Rule;
use pest::iterators::Pair;

impl Lower<'_> {
    /// `ty = ty_atom ~ ("|" ~ ty_atom)*`
    pub(super) fn ty(&mut self, pair: Pair<'_, Rule>) -> TypeExpr {
        let start = pair.as_span().start();
        let place = self.at(start, start);
        let parts = self.deeper(1, place, |lower| {
            pair.into_inner().map(|atom| lower.ty_atom(atom)).collect::<Vec<_>>()
        });
        let mut parts = parts.unwrap_or_default();
        match parts.len() {
            0 => TypeExpr { kind: TypeKind::Union(Vec::new()), span: place },
            1 => parts.remove(0),
            _ => {
                let span = parts.iter().fold(place, |span, part| span.to(part.span));
                TypeExpr { kind: TypeKind::Union(parts), span }
            }
        }
    }

    fn ty_atom(&mut self, pair: Pair<'_, Rule>) -> TypeExpr {
        let start = pair.as_span().start();
        let mut ty = TypeExpr { kind: TypeKind::Union(Vec::new()), span: self.at(start, start) };
        for inner in pair.into_inner() {
            let span = self.span(&inner);
            match inner.as_rule() {
                Rule::string => {
                    ty = TypeExpr { kind: TypeKind::Literal(self.plain_string(inner)), span }
                }
                Rule::ty_list => {
                    let item = inner.into_inner().next().map(|item| self.ty(item));
                    ty = TypeExpr {
                        kind: item
                            .map_or(TypeKind::Union(Vec::new()), |i| TypeKind::List(Box::new(i))),
                        span,
                    };
                }
                Rule::ty_record => {
                    let fields =
                        inner.into_inner().filter_map(|field| self.ty_field(field)).collect();
                    ty = TypeExpr { kind: TypeKind::Record(fields), span };
                }
                Rule::ty_group => ty = self.ty_group(inner),
                Rule::ty_name => ty = self.ty_name(inner),
                Rule::optional => {
                    ty = TypeExpr { span: ty.span.to(span), kind: TypeKind::Optional(Box::new(ty)) }
                }
                _ => {}
            }
        }
        ty
    }

    fn ty_field(&mut self, pair: Pair<'_, Rule>) -> Option<TypeField> {
        let mut name = None;
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::word => name = Some(self.name(&inner)),
                Rule::string => name = Some(self.quoted_name(inner)),
                _ => {
                    let ty = self.ty(inner);
                    return Some(match name {
                        Some(name) => TypeField::Field { name, ty },
                        None => TypeField::Spread(ty),
                    });
                }
            }
        }
        None
    }

    /// `(T)` is `T`; `(A, B) -> C` is a function; `(A, B)` alone is nothing.
    fn ty_group(&mut self, pair: Pair<'_, Rule>) -> TypeExpr {
        let (mut params, mut span, mut result) = (Vec::new(), Span::default(), None);
        for inner in pair.into_inner() {
            if inner.as_rule() == Rule::ty_tuple {
                span = self.span(&inner);
                params = inner.into_inner().map(|ty| self.ty(ty)).collect();
            } else {
                result = Some(self.ty(inner));
            }
        }
        if let Some(result) = result {
            let span = span.to(result.span);
            return TypeExpr {
                kind: TypeKind::Function { params, result: Box::new(result) },
                span,
            };
        }
        if params.len() == 1 {
            return TypeExpr { kind: params.remove(0).kind, span };
        }
        self.report(
            Problem::error("syntax::tuple_type", span, "there is no type for several values in parentheses")
                .label("expected `->` and a result type after this, or one type inside")
                .help("a record such as `{ left: int, right: str }` holds several values; `(A, B) -> C` is a function"),
        );
        TypeExpr { kind: TypeKind::Union(Vec::new()), span }
    }

    fn ty_name(&mut self, pair: Pair<'_, Rule>) -> TypeExpr {
        let (mut path, mut args, mut span) = (Vec::new(), Vec::new(), Span::default());
        for inner in pair.into_inner() {
            let place = self.span(&inner);
            if inner.as_rule() == Rule::path {
                span = place;
                path = inner.into_inner().map(|name| self.name(&name)).collect();
            } else {
                span = span.to(place);
                args = inner.into_inner().map(|ty| self.ty(ty)).collect();
            }
        }
        TypeExpr { kind: TypeKind::Named { path, args }, span }
    }
}
