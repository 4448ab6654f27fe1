//! Types.

use super::Printer;
use super::doc::{Doc, concat, group, line, nest, nil, text};
use crate::ast::{TypeExpr, TypeField, TypeKind};

impl Printer<'_> {
    /// A type behind `type Name =`, with the blank before it.
    pub(super) fn defining(&mut self, ty: &TypeExpr) -> Doc {
        match &ty.kind {
            TypeKind::Union(parts) => group(nest(concat([line(), self.union(parts)]))),
            _ => concat([text(" "), self.ty(ty)]),
        }
    }

    /// A type.
    pub(super) fn ty(&mut self, ty: &TypeExpr) -> Doc {
        match &ty.kind {
            TypeKind::Named { path, args } => {
                let path: Vec<&str> = path.iter().map(|name| name.text.as_str()).collect();
                let head = text(path.join("."));
                if args.is_empty() {
                    return head;
                }
                let args = self.separated(args);
                concat([head, text("<"), args, text(">")])
            }
            TypeKind::Literal(_) => {
                let words = self.slice(ty.span.start, ty.span.end);
                text(super::text::bare(words))
            }
            TypeKind::Union(parts) => {
                let union = self.union(parts);
                group(nest(union))
            }
            TypeKind::Optional(inner) => concat([self.inner(inner), text("?")]),
            TypeKind::List(item) => concat([text("["), self.ty(item), text("]")]),
            TypeKind::Record(fields) => self.record_type(fields, ty),
            TypeKind::Function { params, result } => {
                let params = self.separated(params);
                concat([text("("), params, text(") -> "), self.ty(result)])
            }
        }
    }

    fn separated(&mut self, types: &[TypeExpr]) -> Doc {
        let mut docs = Vec::new();
        for (index, ty) in types.iter().enumerate() {
            docs.push(if index > 0 { text(", ") } else { nil() });
            docs.push(self.ty(ty));
        }
        concat(docs)
    }

    fn union(&mut self, parts: &[TypeExpr]) -> Doc {
        let mut docs = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                docs.extend([line(), text("| ")]);
            }
            docs.push(match part.kind {
                TypeKind::Optional(_) => self.ty(part),
                _ => self.inner(part),
            });
        }
        concat(docs)
    }

    /// A type that something is attached to: in parentheses where it would fall apart.
    fn inner(&mut self, ty: &TypeExpr) -> Doc {
        let doc = self.ty(ty);
        match ty.kind {
            TypeKind::Union(_) | TypeKind::Function { .. } | TypeKind::Optional(_) => {
                concat([text("("), doc, text(")")])
            }
            _ => doc,
        }
    }

    fn record_type(&mut self, fields: &[TypeField], ty: &TypeExpr) -> Doc {
        let mut elements = Vec::new();
        for field in fields {
            elements.push(match field {
                TypeField::Field { name, ty } => (name.span.start, ty.span.end, field),
                TypeField::Spread(ty) => (self.dots_before(ty.span.start), ty.span.end, field),
            });
        }
        let range = (ty.span.start + 1, ty.span.end.saturating_sub(1));
        self.bracketed("{ ", " }", range, &elements, |printer, field| match field {
            TypeField::Field { name, ty } => {
                let name = printer.slice(name.span.start, name.span.end).to_owned();
                concat([text(name), text(": "), printer.ty(ty)])
            }
            TypeField::Spread(ty) => concat([text(".."), printer.ty(ty)]),
        })
    }

    /// The start of the `..` before `start`.
    pub(super) fn dots_before(&self, start: u32) -> u32 {
        let head = self.slice(0, start).trim_end();
        if head.ends_with("..") { head.len() as u32 - 2 } else { start }
    }
}
