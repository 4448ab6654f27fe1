//! `exec`: a record with a file for each declared output.

use crate::eval::{Evaluator, Given, NativeCall, Typed, Value};
use crate::types::Type;
use crate::value::Const;
use pipe_grammar::Problem;

pub(super) fn result<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<Type> {
    check_inputs(evaluator, call)?;
    check_env(evaluator, call)?;
    check_image(evaluator, call)?;
    let file = call.native.result.clone();
    let given = call.values.get("outputs")?.clone();
    let Type::Record(record) = &given.value.ty else {
        return wrong(evaluator, &given, "outputs", "`{ scores: \"scores.json\" }`");
    };
    let mut fields = Vec::new();
    for (name, ty) in &record.fields {
        let text = match &given.value.value {
            Value::Record(values) => {
                values.get(name).and_then(|value| value.text()).map(str::to_owned)
            }
            _ => None,
        };
        if !matches!(ty, Type::Str | Type::Path) {
            return wrong(evaluator, &given, "outputs", "`{ scores: \"scores.json\" }`");
        }
        let leaves = |path: &str| {
            path.is_empty() || path.starts_with('/') || path.split('/').any(|part| part == "..")
        };
        if let Some(path) = text.filter(|path| leaves(path)) {
            let message = format!(
                "the output `{name}` is written to `{path}`, outside the folder that the program runs in"
            );
            let problem = Problem::error("types::exec_path", given.span, message);
            evaluator
                .report(problem.help("give a path relative to that folder, such as `scores.json`"));
            return None;
        }
        fields.push((name.clone(), file.clone()));
    }
    Some(Type::record(fields))
}

fn check_inputs<'a>(evaluator: &mut Evaluator<'a>, call: &mut NativeCall<'a>) -> Option<()> {
    let given = call.values.get("inputs")?.clone();
    let example = "`{ rows: table, script: \"score.py\" }`";
    let (Type::Record(_), Value::Record(values)) = (&given.value.ty, &given.value.value) else {
        if given.value.is_unknown() && !given.value.ty.is_error() {
            return Some(());
        }
        return wrong(evaluator, &given, "inputs", example);
    };
    let mut paths = (**values).clone();
    for value in paths.values_mut() {
        match (&value.ty, value.as_const()) {
            (Type::Str, Some(Const::Str(text))) => {
                *value = Typed::constant(Const::Path(text.clone()));
            }
            (Type::Path, _) => {}
            (Type::List(_), _) if value.to_const().is_some() => {}
            (ty, _) if ty.is_artifact() || ty.is_error() => {}
            _ => return wrong(evaluator, &given, "inputs", example),
        }
    }
    if let Some(inputs) = call.values.get_mut("inputs") {
        inputs.value = Typed::record(paths);
    }
    Some(())
}

fn check_env<'a>(evaluator: &mut Evaluator<'a>, call: &NativeCall<'a>) -> Option<()> {
    let given = call.values.get("env")?.clone();
    let texts = match &given.value.ty {
        Type::Record(record) => {
            record.fields.iter().all(|(_, ty)| matches!(ty, Type::Str | Type::Enum(_)))
        }
        ty => ty.is_error(),
    };
    if texts { Some(()) } else { wrong(evaluator, &given, "env", "`{ LANG: \"C\" }`") }
}

/// An image is named by its digest: a tag may be another image tomorrow.
fn check_image<'a>(evaluator: &mut Evaluator<'a>, call: &NativeCall<'a>) -> Option<()> {
    let given = call.values.get("image")?.clone();
    let Some(name) = given.value.text() else { return Some(()) };
    let digest = name.split_once("@sha256:").map(|(_, digest)| digest);
    let whole = |digest: &str| digest.len() == 64 && digest.bytes().all(|c| c.is_ascii_hexdigit());
    if digest.is_some_and(whole) {
        return Some(());
    }
    let message = format!("`{name}` may be another image tomorrow");
    evaluator.report(
        Problem::error("types::exec_image", given.span, message)
            .label("this names no digest")
            .help("name the image by its digest: `docker inspect --format '{{index .RepoDigests 0}}' IMAGE` prints `NAME@sha256:...`"),
    );
    None
}

fn wrong<'a, T>(
    evaluator: &mut Evaluator<'a>,
    given: &Given<'a>,
    name: &str,
    example: &str,
) -> Option<T> {
    if !given.value.ty.is_error() {
        let message = format!(
            "`{name}` of `exec` is a record such as {example}, and this is `{}`",
            given.value.ty
        );
        evaluator.report(Problem::error("types::exec", given.span, message));
    }
    None
}
