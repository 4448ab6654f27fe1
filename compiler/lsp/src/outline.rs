//! The shape of a file: its declarations, and what can be folded.

use crate::client::Abilities;
use crate::place;
use lsp_types::{DocumentSymbol, FoldingRange, FoldingRangeKind, SymbolKind};
use pipe_grammar::ast::{Block, Expr, ExprKind, Item, ItemKind, Module, Name, TypeField, TypeKind};
use pipe_grammar::scan::{Kind, Scanner};
use pipe_grammar::{SourceFile, Span};

/// The declarations of a file, each with what it declares inside.
pub(crate) fn symbols(
    file: &SourceFile,
    module: &Module,
    detail: impl Fn(&Item) -> Option<String>,
    abilities: &Abilities,
) -> Vec<DocumentSymbol> {
    let outline = Outline { file, abilities };
    let items = module.items.iter();
    items.filter_map(|item| outline.symbol(item, detail(item))).collect()
}

/// What an item binds, and as what editors show it.
pub(crate) fn bound(item: &Item) -> Option<(&Name, SymbolKind)> {
    match &item.kind {
        ItemKind::Use { name, .. } => Some((name, SymbolKind::MODULE)),
        ItemKind::Param { name, .. } => Some((name, SymbolKind::CONSTANT)),
        ItemKind::Let(binding) => Some((&binding.name, SymbolKind::VARIABLE)),
        ItemKind::Output(binding) => Some((&binding.name, SymbolKind::PROPERTY)),
        ItemKind::Check(binding) => Some((&binding.name, SymbolKind::BOOLEAN)),
        ItemKind::Fn(function) => Some((&function.name, SymbolKind::FUNCTION)),
        ItemKind::Type { name, .. } => Some((name, SymbolKind::STRUCT)),
        ItemKind::Broken { name } => Some((name.as_ref()?, SymbolKind::NULL)),
    }
}

struct Outline<'a> {
    file: &'a SourceFile,
    abilities: &'a Abilities,
}

impl Outline<'_> {
    fn symbol(&self, item: &Item, detail: Option<String>) -> Option<DocumentSymbol> {
        let (name, kind) = bound(item)?;
        let mut symbol = self.named(name, kind, item.span);
        symbol.detail = detail;
        let children = self.children(item);
        symbol.children = (!children.is_empty()).then_some(children);
        Some(symbol)
    }

    #[expect(deprecated, reason = "the field has to be named to make the struct")]
    fn named(&self, name: &Name, kind: SymbolKind, span: Span) -> DocumentSymbol {
        DocumentSymbol {
            name: name.text.clone(),
            detail: None,
            kind,
            tags: None,
            deprecated: None,
            range: place::range(self.file, span.to(name.span), self.abilities.units),
            selection_range: place::range(self.file, name.span, self.abilities.units),
            children: None,
        }
    }

    fn children(&self, item: &Item) -> Vec<DocumentSymbol> {
        match &item.kind {
            ItemKind::Let(binding) | ItemKind::Output(binding) | ItemKind::Check(binding) => {
                self.inside(&binding.value)
            }
            ItemKind::Fn(function) => {
                function.body.as_ref().map_or_else(Vec::new, |body| self.lets(body))
            }
            ItemKind::Type { ty: Some(ty), .. } => match &ty.kind {
                TypeKind::Record(fields) => fields.iter().filter_map(|f| self.field(f)).collect(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn field(&self, field: &TypeField) -> Option<DocumentSymbol> {
        let TypeField::Field { name, ty } = field else { return None };
        let mut symbol = self.named(name, SymbolKind::FIELD, name.span.to(ty.span));
        symbol.detail = Some(self.file.slice(ty.span).to_owned());
        Some(symbol)
    }

    fn lets(&self, block: &Block) -> Vec<DocumentSymbol> {
        let mut found: Vec<_> = block.lets.iter().filter_map(|it| self.symbol(it, None)).collect();
        found.extend(self.inside(&block.value));
        found
    }

    /// The `let`s of blocks that an expression consists of.
    fn inside(&self, expr: &Expr) -> Vec<DocumentSymbol> {
        match &expr.kind {
            ExprKind::If { then, otherwise, .. } => {
                [self.lets(then), self.lets(otherwise)].concat()
            }
            ExprKind::For { body, .. } | ExprKind::Lambda { body, .. } => self.lets(body),
            _ => Vec::new(),
        }
    }
}

/// What can be folded: declarations and brackets over several lines, and comments of several lines.
pub(crate) fn folds(file: &SourceFile) -> Vec<FoldingRange> {
    let line = |at: usize| file.place(at as u32).line.saturating_sub(1);
    let mut folds = Vec::new();
    let mut open = Vec::new();
    let mut comments: Option<(u32, u32)> = None;
    for token in Scanner::new(&file.text) {
        let at = line(token.start);
        if token.kind == Kind::Comment {
            comments = match comments {
                Some((first, last)) if last + 1 == at => Some((first, at)),
                earlier => {
                    folds.extend(
                        earlier.and_then(|(a, b)| fold(a, b, Some(FoldingRangeKind::Comment))),
                    );
                    Some((at, at))
                }
            };
            continue;
        }
        match token.kind {
            Kind::Open(_) => open.push(at),
            Kind::Close(_) => {
                let first = open.pop().unwrap_or(at);
                folds.extend(fold(first, at.saturating_sub(1), None));
            }
            Kind::Str { triple: true, .. } => {
                folds.extend(fold(at, line(token.end).saturating_sub(1), None));
            }
            _ => {}
        }
    }
    folds.extend(comments.and_then(|(a, b)| fold(a, b, Some(FoldingRangeKind::Comment))));
    folds.sort_by_key(|fold| (fold.start_line, fold.end_line));
    folds.dedup_by_key(|fold| fold.start_line);
    folds
}

fn fold(start_line: u32, end_line: u32, kind: Option<FoldingRangeKind>) -> Option<FoldingRange> {
    (end_line > start_line).then(|| FoldingRange {
        start_line,
        end_line,
        kind,
        ..FoldingRange::default()
    })
}
