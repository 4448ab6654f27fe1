//! Where a column or a field is made: by a named argument of an op (`data.derive(t, load: ..)`), by a record, or by a type
//! that somebody has written. Found in the syntax, from the place where it is read back along the tables.

use crate::programs::Program;
use pipe_compiler::analysis::{Bound, Meaning, Surroundings};
use pipe_grammar::ast::{
    Arg, Block, Entry, Expr, ExprKind, FnDecl, Item, ItemKind, TypeExpr, TypeField, TypeKind,
};
use pipe_grammar::{FileId, Span};

/// Steps after which the search is given up: declarations may lie on a cycle.
const STEPS: usize = 64;

/// Where the column or field that is read at a place is made.
pub(crate) fn made(program: &Program, file: FileId, at: u32) -> Option<Span> {
    let around = program.analysis.surroundings(file, at);
    let read = around.exprs.iter().rev().find_map(|expr| match &expr.kind {
        ExprKind::Field { base, name } if name.span.start <= at && at <= name.span.end => {
            Some((&**base, name.text.as_str()))
        }
        _ => None,
    });
    let (base, name) = read?;
    Search { program, name, steps: STEPS }.field_of(base, &around)
}

struct Search<'a> {
    program: &'a Program,
    name: &'a str,
    steps: usize,
}

impl<'a> Search<'a> {
    /// The field of what an expression gives.
    fn field_of(&mut self, expr: &'a Expr, around: &Surroundings<'a>) -> Option<Span> {
        self.steps = self.steps.checked_sub(1)?;
        match &expr.kind {
            ExprKind::Name(_) => self.field_of_name(expr, around),
            ExprKind::Field { base, .. } => self.field_of_part(expr, base, around),
            ExprKind::Pipe { subject, call } => {
                let ExprKind::Call { callee, args } = &call.kind else { return None };
                self.field_of_call(Some(subject), callee, args, around)
            }
            ExprKind::Call { callee, args } => self.field_of_call(None, callee, args, around),
            ExprKind::Record(entries) => entries.iter().find_map(|entry| match entry {
                Entry::Field { name, .. } => (name.text == self.name).then_some(name.span),
                Entry::Spread(value) => self.field_of(value, around),
            }),
            ExprKind::If { then, otherwise, .. } => self
                .field_of(&then.value, around)
                .or_else(|| self.field_of(&otherwise.value, around)),
            _ => None,
        }
    }

    /// `parts.train`: the columns of a part are those of the whole; a field of a record has its own.
    fn field_of_part(
        &mut self,
        whole: &'a Expr,
        base: &'a Expr,
        around: &Surroundings<'a>,
    ) -> Option<Span> {
        let outer = self.program.analysis.mention_at(whole.span.file, whole.span.end);
        match outer.map(|mention| &mention.meaning) {
            Some(Meaning::Bound(at)) => self.field_of_bound(*at),
            _ => self.field_of(base, around),
        }
    }

    fn field_of_name(&mut self, expr: &'a Expr, around: &Surroundings<'a>) -> Option<Span> {
        let mention = self.program.analysis.mention_at(expr.span.file, expr.span.start)?;
        let Meaning::Bound(at) = mention.meaning else { return None };
        for (index, outer) in around.exprs.iter().enumerate() {
            if let ExprKind::Lambda { params, body } = &outer.kind {
                if params.iter().any(|name| name.span == at) {
                    return self.field_of_rows(outer, around.exprs.get(..index)?, around);
                }
                if let Some(value) = bound_in(body, at) {
                    return self.field_of(value, around);
                }
            }
        }
        self.field_of_bound(at)
    }

    /// A function of rows reads the subject of the call that it is given to.
    fn field_of_rows(
        &mut self,
        function: &Expr,
        outer: &[&'a Expr],
        around: &Surroundings<'a>,
    ) -> Option<Span> {
        let call = outer.iter().rev().find(|expr| matches!(expr.kind, ExprKind::Call { .. }))?;
        let ExprKind::Call { args, .. } = &call.kind else { return None };
        let piped = outer.iter().rev().find_map(|expr| match &expr.kind {
            ExprKind::Pipe { subject, call: right } if right.span == call.span => Some(&**subject),
            _ => None,
        });
        let first =
            args.first().filter(|arg| arg.name.is_none() && arg.value.span != function.span);
        self.field_of(piped.or(first.map(|arg| &arg.value))?, around)
    }

    fn field_of_bound(&mut self, at: Span) -> Option<Span> {
        self.steps = self.steps.checked_sub(1)?;
        match self.program.analysis.bound_at(at)? {
            Bound::Item(_, item) => self.field_of_item(item),
            Bound::Param(_, _, param) => self.field_of_type(&param.ty),
            Bound::Inner => {
                let around = self.program.analysis.surroundings(at.file, at.start);
                let value = match &around.item?.kind {
                    ItemKind::Fn(FnDecl { body: Some(body), .. }) => bound_in(body, at)?,
                    _ => return None,
                };
                self.field_of(value, &around)
            }
        }
    }

    fn field_of_item(&mut self, item: &'a Item) -> Option<Span> {
        match &item.kind {
            ItemKind::Let(binding) | ItemKind::Output(binding) | ItemKind::Check(binding) => {
                let start = binding.value.span.start;
                let around = self.program.analysis.surroundings(item.span.file, start);
                self.field_of(&binding.value, &around)
            }
            ItemKind::Param { ty, .. } => self.field_of_type(ty),
            ItemKind::Type { ty: Some(ty), .. } => self.field_of_type(ty),
            ItemKind::Fn(function) => match (&function.result, &function.body) {
                (Some(ty), _) => self.field_of_type(ty),
                (None, Some(body)) => {
                    let around =
                        self.program.analysis.surroundings(item.span.file, body.span.start);
                    self.field_of(&body.value, &around)
                }
                (None, None) => None,
            },
            _ => None,
        }
    }

    /// A named argument that no parameter takes makes a column; else it comes from a type, or from the tables.
    fn field_of_call(
        &mut self,
        subject: Option<&'a Expr>,
        callee: &'a Expr,
        args: &'a [Arg],
        around: &Surroundings<'a>,
    ) -> Option<Span> {
        let file = callee.span.file;
        let known = self.program.analysis.callee(file, callee, around);
        let takes = |name: &str| {
            let params = known.iter().flat_map(|known| &known.function.params);
            params.into_iter().any(|param| !param.rest && param.name.text == name)
        };
        for name in args.iter().filter_map(|arg| arg.name.as_ref()) {
            if name.text == self.name && !takes(&name.text) {
                return Some(name.span);
            }
        }
        let row = args.iter().find(|arg| arg.name.as_ref().is_some_and(|name| name.text == "row"));
        if let Some(Arg { value, .. }) = row {
            let mention = self.program.analysis.mention_at(file, value.span.end)?;
            let Meaning::Bound(at) = mention.meaning else { return None };
            return self.field_of_bound(at);
        }
        if known.is_some_and(|known| known.module.library.is_none()) {
            let mention = self.program.analysis.mention_at(file, callee.span.end)?;
            let Meaning::Bound(at) = mention.meaning else { return None };
            return self.field_of_bound(at);
        }
        let tables = subject.into_iter().chain(args.iter().map(|arg| &arg.value));
        let mut tables = tables.filter(|value| !matches!(value.kind, ExprKind::Lambda { .. }));
        tables.find_map(|table| self.field_of(table, around))
    }

    fn field_of_type(&mut self, ty: &'a TypeExpr) -> Option<Span> {
        self.steps = self.steps.checked_sub(1)?;
        match &ty.kind {
            TypeKind::Record(fields) => fields.iter().find_map(|field| match field {
                TypeField::Field { name, .. } => (name.text == self.name).then_some(name.span),
                TypeField::Spread(spread) => self.field_of_type(spread),
            }),
            TypeKind::Optional(inner) | TypeKind::List(inner) => self.field_of_type(inner),
            TypeKind::Named { path, args } => {
                let last = path.last()?.span;
                let mention = self.program.analysis.mention_at(last.file, last.start)?;
                match mention.meaning {
                    Meaning::Bound(at) => self.field_of_bound(at),
                    _ => self.field_of_type(args.first()?),
                }
            }
            _ => None,
        }
    }
}

/// The value of the `let` of a block that binds a name at this place.
fn bound_in(block: &Block, at: Span) -> Option<&Expr> {
    block.lets.iter().find_map(|item| match &item.kind {
        ItemKind::Let(binding) if binding.name.span == at => Some(&binding.value),
        _ => None,
    })
}
