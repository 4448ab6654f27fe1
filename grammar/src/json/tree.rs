//! From a parsed program to JSON.

use crate::ast::{
    Arg, Attr, BinaryOp, Binder, Binding, Block, Entry, Expr, ExprKind, FnDecl, FnParam, Item,
    ItemKind, Module, Name, Number, StrPart, TypeExpr, TypeField, TypeKind, UnaryOp, Unit,
};
use serde_json::{Map, Value, json};

/// The program as JSON. None where something could not be read, and for native declarations.
#[must_use]
pub fn tree(module: &Module) -> Option<Value> {
    let mut items = Vec::new();
    for item in &module.items {
        items.push(declaration(item)?);
    }
    Some(object([
        ("doc", module.doc.as_deref().map(Into::into)),
        ("declarations", Some(items.into())),
    ]))
}

/// An object of the keys that have a value, where `None` leaves a key out.
fn object<const N: usize>(keys: [(&str, Option<Value>); N]) -> Value {
    let keys = keys.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    keys.collect::<Map<_, _>>().into()
}

/// The keys of both, in this order: that of the schema, which is that of the text.
fn behind(mut head: Value, rest: Value) -> Value {
    if let (Value::Object(head), Value::Object(rest)) = (&mut head, rest) {
        head.extend(rest);
    }
    head
}

/// The values of all, or none when one has none.
fn each<T>(items: &[T], value: impl Fn(&T) -> Option<Value>) -> Option<Value> {
    Some(Value::Array(items.iter().map(value).collect::<Option<_>>()?))
}

/// A part that may not be there: `Some(None)` leaves its key out.
fn maybe<T>(part: Option<&T>, value: impl Fn(&T) -> Option<Value>) -> Option<Option<Value>> {
    part.map_or(Some(None), |part| value(part).map(Some))
}

/// A list whose key is left out when it is empty.
fn any<T>(items: &[T], value: impl Fn(&T) -> Option<Value>) -> Option<Option<Value>> {
    maybe((!items.is_empty()).then_some(&items), |items| each(items, &value))
}

fn name(name: &Name) -> Option<Value> {
    Some(name.text.as_str().into())
}

fn declaration(item: &Item) -> Option<Value> {
    let doc = item.doc.as_deref().map(Into::into);
    let attributes = any(&item.attrs, attribute)?;
    let head = [("doc", doc), ("attributes", attributes)];
    let rest = match &item.kind {
        ItemKind::Broken { .. } => return None,
        ItemKind::Use { name: word, path, .. } => {
            object([("use", name(word)), ("path", Some(path.as_str().into()))])
        }
        ItemKind::Param { name: word, ty: declared, default, condition } => object([
            ("param", name(word)),
            ("type", Some(ty(declared)?)),
            ("default", maybe(default.as_ref(), expr)?),
            ("where", maybe(condition.as_ref(), expr)?),
        ]),
        ItemKind::Let(bound) => binding("let", bound)?,
        ItemKind::Output(bound) => binding("output", bound)?,
        ItemKind::Check(bound) => binding("check", bound)?,
        ItemKind::Fn(decl) => function(decl)?,
        ItemKind::Type { name: word, params, ty: declared } => object([
            ("type", name(word)),
            ("type_parameters", any(params, name)?),
            ("is", Some(ty(declared.as_ref()?)?)),
        ]),
    };
    Some(behind(object(head), rest))
}

fn binding(word: &str, bound: &Binding) -> Option<Value> {
    let declared = maybe(bound.ty.as_ref(), ty)?;
    Some(object([
        (word, name(&bound.name)),
        ("type", declared),
        ("value", Some(expr(&bound.value)?)),
    ]))
}

fn function(decl: &FnDecl) -> Option<Value> {
    Some(object([
        ("fn", name(&decl.name)),
        ("type_parameters", any(&decl.type_params, name)?),
        ("parameters", Some(each(&decl.params, parameter)?)),
        ("result", maybe(decl.result.as_ref(), ty)?),
        ("body", Some(block(decl.body.as_ref()?)?)),
    ]))
}

fn parameter(param: &FnParam) -> Option<Value> {
    let FnParam { attrs, doc, rest, name: word, positional, ty: declared, default } = param;
    let word = if *positional { format!("_{}", word.text) } else { word.text.clone() };
    Some(object([
        ("doc", doc.as_deref().map(Into::into)),
        ("attributes", any(attrs, attribute)?),
        ("rest", rest.then_some(Value::Bool(true))),
        ("parameter", Some(word.into())),
        ("type", Some(ty(declared)?)),
        ("default", maybe(default.as_ref(), expr)?),
    ]))
}

fn attribute(attr: &Attr) -> Option<Value> {
    Some(object([("attribute", name(&attr.name)), ("arguments", any(&attr.args, argument)?)]))
}

fn argument(arg: &Arg) -> Option<Value> {
    let value = expr(&arg.value)?;
    Some(match &arg.name {
        Some(word) => json!({ "argument": word.text, "value": value }),
        None => value,
    })
}

fn ty(written: &TypeExpr) -> Option<Value> {
    Some(match &written.kind {
        TypeKind::Named { path, args } => {
            let path: Vec<&str> = path.iter().map(|name| name.text.as_str()).collect();
            let path = path.join(".");
            if args.is_empty() {
                path.into()
            } else {
                json!({ "type": path, "of": each(args, ty)? })
            }
        }
        TypeKind::Literal(text) => json!({ "text": text }),
        TypeKind::Union(parts) => json!({ "one_of": each(parts, ty)? }),
        TypeKind::Optional(inner) => json!({ "optional": ty(inner)? }),
        TypeKind::List(inner) => json!({ "list": ty(inner)? }),
        TypeKind::Record(fields) => json!({ "fields": each(fields, field)? }),
        TypeKind::Function { params, result } => {
            json!({ "parameters": each(params, ty)?, "result": ty(result)? })
        }
    })
}

fn field(field: &TypeField) -> Option<Value> {
    Some(match field {
        TypeField::Field { name, ty: declared } => {
            json!({ "key": name.text, "type": ty(declared)? })
        }
        TypeField::Spread(spread) => json!({ "spread": ty(spread)? }),
    })
}

fn block(block: &Block) -> Option<Value> {
    let value = expr(&block.value)?;
    if block.lets.is_empty() {
        return Some(value);
    }
    let lets = each(&block.lets, |item| {
        let ItemKind::Let(bound) = &item.kind else { return None };
        let head = object([("attributes", any(&item.attrs, attribute)?)]);
        Some(behind(head, binding("let", bound)?))
    });
    Some(json!({ "lets": lets?, "value": value }))
}

/// A name with words behind dots, when an expression is nothing else.
fn dotted(written: &Expr) -> Option<String> {
    match &written.kind {
        ExprKind::Name(name) => Some(name.clone()),
        ExprKind::Field { base, name } => Some(format!("{}.{}", dotted(base)?, name.text)),
        _ => None,
    }
}

fn expr(written: &Expr) -> Option<Value> {
    if let Some(path) = dotted(written) {
        return Some(path.into());
    }
    Some(match &written.kind {
        ExprKind::Broken => return None,
        ExprKind::Number(number) => json!({ "number": number_text(number) }),
        ExprKind::Bool(value) => Value::Bool(*value),
        ExprKind::None => Value::Null,
        ExprKind::Name(name) => name.as_str().into(),
        ExprKind::Str(parts) => text(parts)?,
        ExprKind::List(items) => json!({ "list": each(items, expr)? }),
        ExprKind::Record(entries) => json!({ "record": each(entries, entry)? }),
        ExprKind::Field { base, name } => json!({ "of": expr(base)?, "field": name.text }),
        ExprKind::Index { base, index } => json!({ "of": expr(base)?, "index": expr(index)? }),
        ExprKind::Call { callee, args } => {
            json!({ "call": expr(callee)?, "arguments": each(args, argument)? })
        }
        ExprKind::Pipe { subject, call } => pipe(subject, call)?,
        ExprKind::Unary { op: UnaryOp::Negate, operand } => json!({ "minus": expr(operand)? }),
        ExprKind::Unary { op: UnaryOp::Not, operand } => json!({ "not": expr(operand)? }),
        ExprKind::Binary { op, left, right, .. } => binary(*op, left, right)?,
        ExprKind::If { condition, then, otherwise } => {
            json!({ "if": expr(condition)?, "then": block(then)?, "else": block(otherwise)? })
        }
        ExprKind::For { binders, condition, body } => object([
            ("for", Some(each(binders, binder)?)),
            ("where", maybe(condition.as_deref(), expr)?),
            ("value", Some(block(body)?)),
        ]),
        ExprKind::Lambda { params, body } => {
            json!({ "function": each(params, name)?, "value": block(body)? })
        }
    })
}

fn number_text(number: &Number) -> String {
    let unit = match number.unit {
        Some(Unit::Duration(unit, _) | Unit::Size(unit, _)) => unit,
        None => "",
    };
    format!("{}{unit}", number.text)
}

fn text(parts: &[StrPart]) -> Option<Value> {
    match parts {
        [] => Some(json!({ "text": "" })),
        [StrPart::Text(text)] => Some(json!({ "text": text })),
        parts => {
            let pieces = each(parts, |part| match part {
                StrPart::Text(text) => Some(text.as_str().into()),
                StrPart::Interpolation(value) => Some(json!({ "value": expr(value)? })),
            });
            Some(json!({ "template": pieces? }))
        }
    }
}

fn entry(entry: &Entry) -> Option<Value> {
    Some(match entry {
        Entry::Field { name, value } => json!({ "key": name.text, "value": expr(value)? }),
        Entry::Spread(value) => json!({ "spread": expr(value)? }),
    })
}

fn binder(binder: &Binder) -> Option<Value> {
    Some(json!({ "names": each(&binder.names, name)?, "in": expr(&binder.list)? }))
}

/// The steps of a chain beside each other.
fn pipe(subject: &Expr, call: &Expr) -> Option<Value> {
    let mut steps = vec![expr(call)?];
    let mut first = subject;
    while let ExprKind::Pipe { subject, call } = &first.kind {
        steps.push(expr(call)?);
        first = subject;
    }
    steps.reverse();
    Some(json!({ "pipe": expr(first)?, "through": steps }))
}

/// The operands of a chain of one operator beside each other.
fn binary(op: BinaryOp, left: &Expr, right: &Expr) -> Option<Value> {
    let (_, sign) = crate::print::operator(op);
    if crate::lower::is_comparison(op) {
        return Some(json!({ "left": expr(left)?, "compare": sign, "right": expr(right)? }));
    }
    let mut operands = vec![expr(right)?];
    let mut first = left;
    while let ExprKind::Binary { op: inner, left, right, .. } = &first.kind
        && *inner == op
    {
        operands.push(expr(right)?);
        first = left;
    }
    operands.push(expr(first)?);
    operands.reverse();
    Some(json!({ "operator": sign, "of": operands }))
}
