//! A header against the type that its rows should have: a column that has another name now is told before anything runs, with
//! the field of the type and the line of the file.

use crate::eval::{Evaluator, NativeCall, Value};
use crate::plan::Column;
use crate::schema::{Format, Reading, Schema};
use crate::types::Record;
use pipe_grammar::ast::{ItemKind, TypeExpr, TypeField, TypeKind};
use pipe_grammar::{FileId, Problem, Span, did_you_mean};

/// Report the columns of `row` that a file which is there lacks. Files that are not there yet are not missed here.
pub(super) fn fits<'a>(
    evaluator: &mut Evaluator<'a>,
    call: &NativeCall<'a>,
    row: &Record,
    how: Reading,
    given: Span,
) {
    let Some(path) = call.values.get("path") else { return };
    let span = path.span;
    let paths = match &path.value.value {
        Value::List(items) => {
            let texts = items.iter().filter_map(|item| item.text().map(str::to_owned));
            evaluator.present(texts.collect())
        }
        _ => match path.value.text() {
            Some(pattern) => evaluator.matching_now(pattern),
            None => return,
        },
    };
    for path in paths {
        let Some(schema) = evaluator.head_schema(&path, how, span) else { return };
        if matches!(schema.format, Format::JsonLines) && schema.columns.is_empty() {
            continue;
        }
        let missing = row.fields.iter().find(|(name, ty)| {
            let has = schema.columns.iter().any(|column| column.name == **name);
            let may_lack = matches!(schema.format, Format::JsonLines) && ty.required().1;
            !has && !may_lack && !ty.is_error() && ty.scalar().is_some()
        });
        if let Some((name, _)) = missing {
            let problem = lacks(evaluator, &path, &schema, row, name, given);
            evaluator.report(problem);
            return;
        }
    }
}

fn lacks(
    evaluator: &mut Evaluator<'_>,
    path: &str,
    schema: &Schema,
    row: &Record,
    name: &str,
    given: Span,
) -> Problem {
    let ty = evaluator.source_of(given);
    let message = format!("`{path}` has no column `{name}`, which `{ty}` has");
    let mut problem = Problem::error("types::header", given, message);
    if let Some(field) = field_of(evaluator, given, &ty, name) {
        problem = problem.also(field, format!("`{name}` is a field of the type here"));
    }
    let free = |column: &&Column| row.field(&column.name).is_none();
    let near = did_you_mean(name, schema.columns.iter().filter(free).map(|c| c.name.as_str()));
    let all: Vec<&str> = schema.columns.iter().map(|column| column.name.as_str()).collect();
    let label = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "the header of the file".to_owned(),
    };
    if !schema.header.is_empty() {
        let place = header_span(evaluator, path, &schema.header, near);
        problem = problem.also(place, label);
    }
    problem.help(match near {
        Some(near) => format!(
            "call the field `{}` if the column has been renamed, or correct the header",
            crate::value::FieldName(near)
        ),
        None => format!("the columns of the file: {}", all.join(", ")),
    })
}

/// Where the header stands; the file becomes one of the sources, so that messages can show its line.
fn header_span(
    evaluator: &mut Evaluator<'_>,
    path: &str,
    header: &str,
    near: Option<&str>,
) -> Span {
    let known = evaluator.sources.files().iter().find(|file| file.name == path);
    let file: FileId = match known.map(|file| file.id) {
        Some(id) => id,
        None => evaluator.sources.add(path, format!("{header}\n")),
    };
    let length = u32::try_from(header.len()).unwrap_or(u32::MAX);
    let part = near.and_then(|near| {
        let start = u32::try_from(header.find(near)?).ok()?;
        Some(Span::new(file, start, start + u32::try_from(near.len()).ok()?))
    });
    part.unwrap_or(Span::new(file, 0, length))
}

/// Where the type called `ty` at `span` declares the field `name`.
fn field_of(evaluator: &Evaluator<'_>, span: Span, ty: &str, name: &str) -> Option<Span> {
    let module = evaluator.program.modules.iter().find(|module| module.file == span.file)?;
    let (module, ty) = match ty.split_once('.') {
        Some((space, member)) => (evaluator.program.modules.get(*module.uses.get(space)?)?, member),
        None => (module, ty),
    };
    let item = module.ast.items.get(*module.types.get(ty)?)?;
    match &item.kind {
        ItemKind::Type { ty: Some(ty), .. } => field_in(ty, name),
        _ => None,
    }
}

fn field_in(ty: &TypeExpr, name: &str) -> Option<Span> {
    let TypeKind::Record(fields) = &ty.kind else { return None };
    fields.iter().find_map(|field| match field {
        TypeField::Field { name: field, ty } if field.text == name => {
            Some(Span { end: ty.span.end, ..field.span })
        }
        TypeField::Spread(base) => field_in(base, name),
        TypeField::Field { .. } => None,
    })
}
