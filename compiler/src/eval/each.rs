//! `for`: a list that is known unfolds; a list that is a result is walked in the run, by `flow.each`.
//!
//! What comes of a loop is a sequence of pieces: items, and lists of which the run knows the length. Items alone make
//! a list of the program, a single list is the result itself, and a mixture is joined by `value.concat`.

use super::arguments::Given;
use super::choose::Branch;
use super::frame::{Frame, Variable, read_of};
use super::{Evaluator, Scope, Typed, Value};
use crate::plan::Arg;
use crate::types::{Type, brief, join};
use crate::value::Const;
use pipe_grammar::ast::{Binder, Block, Expr};
use pipe_grammar::{Problem, Span};
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a turn of a loop comes to.
enum Piece<'a> {
    Item(Typed<'a>),
    /// A list that the run makes.
    List(Typed<'a>),
}

/// How a driver walks a list.
struct EachForm {
    flatten: bool,
    fields: Vec<String>,
    span: Span,
}

struct Loop<'a> {
    binders: &'a [Binder],
    condition: Option<&'a Expr>,
    body: &'a Block,
    span: Span,
    /// The type of the body where it was only looked at.
    sample: Option<Type>,
    /// Something was only looked at, so the list is not known.
    unknown: bool,
}

impl<'a> Evaluator<'a> {
    /// `for a in xs, b in ys if c { .. }`: the list of the body's values.
    pub(super) fn for_each(
        &mut self,
        binders: &'a [Binder],
        condition: Option<&'a Expr>,
        body: &'a Block,
        span: Span,
        scope: &Scope<'a>,
    ) -> Typed<'a> {
        if self.in_row > 0 {
            let message = "a function of rows computes one value and cannot repeat";
            return self.fail(Problem::error("types::op_in_row", span, message));
        }
        let mut loops = Loop { binders, condition, body, span, sample: None, unknown: false };
        let pieces = self.walk(&mut loops, 0, scope, &mut Vec::new());
        self.list_of(pieces, &loops)
    }

    fn walk(
        &mut self,
        loops: &mut Loop<'a>,
        at: usize,
        scope: &Scope<'a>,
        labels: &mut Vec<String>,
    ) -> Vec<Piece<'a>> {
        let Some(binder) = loops.binders.get(at) else {
            return self.turn(loops, scope, labels).into_iter().collect();
        };
        let list = self.expr(&binder.list, scope);
        let item = match &list.ty {
            Type::List(item) => (**item).clone(),
            Type::Error => Type::Error,
            other => {
                let message = format!("`for` walks a list, and this is `{}`", brief(other));
                self.report(Problem::error("types::not_a_list", binder.list.span, message));
                Type::Error
            }
        };
        match &list.value {
            Value::List(items) if !items.is_empty() => {
                let mut pieces = Vec::new();
                for (index, value) in items.iter().enumerate() {
                    if self.exhausted {
                        return pieces;
                    }
                    let (inner, label) = self.bind(binder, value, index, scope);
                    labels.push(label);
                    self.turns += 1;
                    let mut found = self.walk(loops, at + 1, &inner, labels);
                    self.turns -= 1;
                    pieces.append(&mut found);
                    labels.pop();
                }
                pieces
            }
            Value::Node(_) if self.drafting() && !item.is_error() => {
                self.walk_in_run(loops, at, binder, &list, item, scope).into_iter().collect()
            }
            other => {
                let empty = matches!(other, Value::List(_));
                let (inner, _) = self.bind(binder, &Typed::unknown(item), 0, scope);
                let outer = loops.unknown;
                let pieces = self.quietly(|it| it.walk(loops, at + 1, &inner, &mut Vec::new()));
                loops.unknown = outer || !empty;
                for piece in pieces {
                    let ty = match piece {
                        Piece::Item(value) => value.ty,
                        Piece::List(value) => item_of(&value.ty),
                    };
                    loops.looked_at(ty);
                }
                Vec::new()
            }
        }
    }

    /// The rest of a loop as the body of a driver that walks `list`.
    fn walk_in_run(
        &mut self,
        loops: &mut Loop<'a>,
        at: usize,
        binder: &'a Binder,
        list: &Typed<'a>,
        item: Type,
        scope: &Scope<'a>,
    ) -> Option<Piece<'a>> {
        let walked = Given { value: list.clone(), span: binder.list.span };
        let fields = self.fields_of(&item, binder)?;
        let variables = self.variables(list, &item, &fields, binder);
        let (frame, values) = self.open(variables);
        let mut inner = scope.clone();
        for (name, value) in binder.names.iter().zip(values) {
            inner = inner.with(&name.text, value);
        }
        let pieces = self.inside(&frame, |it| it.walk(loops, at + 1, &inner, &mut Vec::new()));
        let (value, flatten) = match <[Piece<'a>; 1]>::try_from(pieces) {
            Ok([Piece::Item(value)]) => (value, false),
            Ok([Piece::List(value)]) => (value, true),
            Err(pieces) => (self.inside(&frame, |it| it.list_of(pieces, loops)), true),
        };
        if value.is_unknown() {
            loops.looked_at(if flatten { item_of(&value.ty) } else { value.ty });
            loops.unknown = true;
            return None;
        }
        let form = EachForm { flatten, fields, span: loops.span };
        let driver = self.each_of(&walked, frame, value, form);
        loops.unknown |= driver.is_none();
        driver.map(Piece::List)
    }

    /// The list of what `work` gives for each item of a list that the run makes.
    pub(super) fn mapped(
        &mut self,
        list: &Given<'a>,
        item: Type,
        name: &str,
        span: Span,
        work: impl FnOnce(&mut Self, Typed<'a>) -> Typed<'a>,
    ) -> Option<Typed<'a>> {
        let variable = Variable {
            name: name.to_owned(),
            ty: item,
            of: read_of(&list.value),
            origin: Rc::new(super::parts::origin_by_field(&list.value)),
            span,
        };
        let (frame, values) = self.open(vec![variable]);
        let bound = values.into_iter().next()?;
        let value = self.inside(&frame, |it| work(it, bound));
        self.each_of(list, frame, value, EachForm { flatten: false, fields: Vec::new(), span })
    }

    /// The driver that makes `value`, drafted in `frame`, for each item of a list.
    fn each_of(
        &mut self,
        list: &Given<'a>,
        frame: Frame,
        value: Typed<'a>,
        form: EachForm,
    ) -> Option<Typed<'a>> {
        let result = if form.flatten { item_of(&value.ty) } else { value.ty.clone() };
        let ty = Type::List(Rc::new(result));
        let found = value.ty.clone();
        let (value, arg) = self.result_in(&frame, value, &found, form.span)?;
        let mut closed = self.close(&[(&frame, &arg)]);
        let body = closed.bodies.pop()?;
        let fields = form.fields.into_iter().map(Const::Str).collect();
        let args = BTreeMap::from([
            ("list".to_owned(), self.arg(list)?),
            ("body".to_owned(), Arg::Body(Box::new(body))),
            ("flatten".to_owned(), Arg::Const(Const::Bool(form.flatten))),
            ("fields".to_owned(), Arg::Const(Const::List(fields))),
        ]);
        let node = self.drive("flow.each", closed, args, ty.clone(), form.span)?;
        Some(self.driven(node, ty, &[&value]))
    }

    /// The fields that several names take from an item, in order; empty for one name.
    fn fields_of(&mut self, item: &Type, binder: &'a Binder) -> Option<Vec<String>> {
        if binder.names.len() == 1 {
            return Some(Vec::new());
        }
        match item {
            Type::Record(record) if record.fields.len() == binder.names.len() => {
                Some(record.names().map(str::to_owned).collect())
            }
            other => {
                let message =
                    format!("`{other}` cannot be taken apart into {} names", binder.names.len());
                let span = binder.names.first().map_or(binder.list.span, |name| name.span);
                self.report(Problem::error("types::take_apart", span, message));
                None
            }
        }
    }

    fn variables(
        &self,
        list: &Typed<'a>,
        item: &Type,
        fields: &[String],
        binder: &'a Binder,
    ) -> Vec<Variable> {
        let whole = Rc::new(super::parts::origin_by_field(list));
        let origin = |at: usize| match fields.get(at) {
            Some(field) => Rc::new(whole.field(field)),
            None => Rc::clone(&whole),
        };
        let part = |at: usize| match (item, fields.get(at)) {
            (Type::Record(record), Some(field)) => {
                record.field(field).cloned().unwrap_or(Type::Error)
            }
            _ => item.clone(),
        };
        let names = binder.names.iter().enumerate();
        let variables = names.map(|(at, name)| Variable {
            name: name.text.clone(),
            ty: part(at),
            of: read_of(list),
            origin: origin(at),
            span: name.span,
        });
        variables.collect()
    }

    /// One turn of the body.
    fn turn(
        &mut self,
        loops: &mut Loop<'a>,
        scope: &Scope<'a>,
        labels: &[String],
    ) -> Option<Piece<'a>> {
        let label =
            if labels.is_empty() { String::new() } else { format!("[{}]", labels.join(", ")) };
        let body = loops.body;
        let Some(condition) = loops.condition else {
            return Some(Piece::Item(self.at_place(&label, |it| it.block(body, scope))));
        };
        let test = self.expr(condition, scope);
        if !matches!(test.ty.required().0, Type::Bool | Type::Error) {
            let message = format!("a condition is `bool`, and this is `{}`", test.ty);
            self.report(Problem::error("types::condition", condition.span, message));
        }
        match test.value {
            Value::Const(Const::Bool(true)) | Value::Unknown => {
                Some(Piece::Item(self.at_place(&label, |it| it.block(body, scope))))
            }
            Value::Const(_) => {
                let sample = self.quietly(|it| it.block(body, scope));
                loops.looked_at(sample.ty);
                None
            }
            _ if !self.drafting() => {
                let value = self.block(body, scope);
                loops.looked_at(value.ty);
                loops.unknown = true;
                None
            }
            _ => {
                let test = Given { value: test, span: condition.span };
                Some(Piece::List(self.at_place(&label, |it| it.taken(test, body, scope))))
            }
        }
    }

    /// A list of the body's value, or an empty one when the condition turns out false.
    fn taken(&mut self, test: Given<'a>, body: &'a Block, scope: &Scope<'a>) -> Typed<'a> {
        let (frame, _) = self.open(Vec::new());
        let value = self.inside(&frame, |it| it.block(body, scope));
        let ty = Type::List(Rc::new(value.ty.clone()));
        let span = body.value.span;
        let one = Typed { ty: ty.clone(), value: Value::List(Rc::new(vec![value])) };
        let then = Branch { frame, value: one, span };
        let (frame, _) = self.open(Vec::new());
        let none = Typed { ty: ty.clone(), value: Value::List(Rc::new(Vec::new())) };
        let otherwise = Branch { frame, value: none, span };
        self.chosen(test, then, otherwise, ty, span)
    }

    /// The list that pieces make.
    fn list_of(&mut self, pieces: Vec<Piece<'a>>, loops: &Loop<'a>) -> Typed<'a> {
        let mut item = loops.sample.clone().unwrap_or(Type::Error);
        for piece in &pieces {
            let found = match piece {
                Piece::Item(value) => value.ty.clone(),
                Piece::List(value) => item_of(&value.ty),
            };
            let Some(ty) = join(&item, &found) else {
                let message =
                    format!("the items of a list have one type; these are `{item}` and `{found}`");
                let span = loops.body.value.span;
                return self.fail(Problem::error("types::mixed_list", span, message));
            };
            item = ty;
        }
        let ty = Type::List(Rc::new(item));
        let lost = |piece: &Piece<'a>| matches!(piece, Piece::List(list) if list.is_unknown());
        if loops.unknown || pieces.iter().any(lost) {
            return Typed::unknown(ty);
        }
        let mut lists: Vec<Typed<'a>> = Vec::new();
        let mut items: Vec<Typed<'a>> = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Item(value) => items.push(value),
                Piece::List(list) => {
                    if !items.is_empty() {
                        let items = Value::List(Rc::new(std::mem::take(&mut items)));
                        lists.push(Typed { ty: ty.clone(), value: items });
                    }
                    lists.push(list);
                }
            }
        }
        if !items.is_empty() || lists.is_empty() {
            lists.push(Typed { ty: ty.clone(), value: Value::List(Rc::new(items)) });
        }
        self.concatenated(lists, ty, loops.span)
    }

    /// One list of several, of which some are known only in the run.
    pub(super) fn concatenated(
        &mut self,
        lists: Vec<Typed<'a>>,
        ty: Type,
        span: Span,
    ) -> Typed<'a> {
        let lists = match <[Typed<'a>; 1]>::try_from(lists) {
            Ok([only]) => return Typed { ty, value: only.value },
            Err(lists) => lists,
        };
        let origin = super::parts::origin_of_all(lists.iter());
        let args: Option<Vec<Arg>> =
            lists.into_iter().map(|value| self.arg(&Given { value, span })).collect();
        let Some(args) = args else { return Typed::unknown(ty) };
        let args = BTreeMap::from([("lists".to_owned(), Arg::List(args))]);
        self.own_call("value.concat", args, ty, origin, span)
    }

    /// Bind the names of one turn; the label says what they stand for.
    fn bind(
        &mut self,
        binder: &'a Binder,
        value: &Typed<'a>,
        index: usize,
        scope: &Scope<'a>,
    ) -> (Scope<'a>, String) {
        if let [only] = binder.names.as_slice() {
            self.note(only.span, &value.ty);
            let label = label(&only.text, value, index);
            return (scope.with(&only.text, value.clone()), label);
        }
        let mut inner = scope.clone();
        let mut labels = Vec::new();
        for (at, name) in binder.names.iter().enumerate() {
            let part = self.part_of(value, at, binder);
            self.note(name.span, &part.ty);
            if part.to_const().is_some() {
                labels.push(label(&name.text, &part, index));
            }
            inner = inner.with(&name.text, part);
        }
        (inner, if labels.is_empty() { index.to_string() } else { labels.join(", ") })
    }

    /// The `at`-th component of a pair or record.
    fn part_of(&mut self, value: &Typed<'a>, at: usize, binder: &'a Binder) -> Typed<'a> {
        match (&value.ty, &value.value) {
            (Type::Error, _) => Typed::error(),
            (Type::List(_), Value::List(items)) if items.len() == binder.names.len() => {
                items.get(at).cloned().unwrap_or_else(Typed::error)
            }
            (Type::Record(record), _) if record.fields.len() == binder.names.len() => {
                let name =
                    record.fields.get(at).map(|(name, _)| name.to_string()).unwrap_or_default();
                self.member(value, &name, binder.list.span)
            }
            (Type::List(item), Value::Unknown) => Typed::unknown((**item).clone()),
            (other, _) => {
                let message =
                    format!("`{other}` cannot be taken apart into {} names", binder.names.len());
                let span = binder.names.first().map_or(binder.list.span, |name| name.span);
                self.fail(Problem::error("types::take_apart", span, message))
            }
        }
    }
}

impl Loop<'_> {
    /// The body has this type where it was only looked at.
    fn looked_at(&mut self, ty: Type) {
        self.sample = Some(match self.sample.take() {
            Some(known) => join(&known, &ty).unwrap_or(Type::Error),
            None => ty,
        });
    }
}

fn item_of(list: &Type) -> Type {
    match list {
        Type::List(item) => (**item).clone(),
        _ => Type::Error,
    }
}

fn label(name: &str, value: &Typed<'_>, index: usize) -> String {
    const LONGEST: usize = 24;
    match value.to_const() {
        Some(Const::List(_) | Const::Record(_)) | None => format!("{name}={index}"),
        Some(constant) => {
            let text = super::scalar::plain_text(&constant);
            if text.chars().count() <= LONGEST {
                format!("{name}={text}")
            } else {
                format!("{name}={index}")
            }
        }
    }
}
