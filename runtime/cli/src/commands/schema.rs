//! `pipe schema`: the type of a file's rows, ready to be pasted into a program.

use super::{Failure, Outcome, exit};
use pipe_compiler::schema::{self, Reading};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Print the type of the rows of `file`; to stderr, how the file is read with it.
pub(crate) fn schema(file: &Path, name: Option<&str>, given: Reading) -> Outcome {
    let path = file.to_string_lossy();
    let unreadable =
        |error: &std::io::Error| Failure::usage(format!("cannot read {}: {error}", file.display()));
    let look = |how: Reading| -> Result<schema::Schema, Failure> {
        let head = |bytes: usize| {
            let mut head = Vec::new();
            File::open(file)?.take(bytes as u64).read_to_end(&mut head)?;
            Ok(head)
        };
        let found = schema::read(&path, how, head).map_err(|error| unreadable(&error))?;
        found.map_err(|error| Failure {
            code: exit::PROBLEMS,
            message: format!("{} cannot be read as a table: {}", file.display(), error.message),
            help: Some(error.help),
        })
    };
    let mut how = given;
    let mut found = look(how)?;
    if !found.commas.is_empty() {
        how.decimal_comma = true;
        found = look(how)?;
    }
    let own = schema::type_name(&path);
    let name = name.unwrap_or(&own);
    let upper = name.starts_with(|c: char| c.is_ascii_uppercase());
    if !upper || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        let help = "types are called like `Reading`: letters and digits, the first one large";
        return Err(Failure::usage(format!("`{name}` is no name of a type")).help(help));
    }
    print!("{}", schema::declaration(name, &found));
    let path = path.replace('\\', "\\\\").replace('"', "\\\"");
    eprintln!("read it with: data.read(\"{path}\", row: {name}{})", schema::arguments(how));
    Ok(exit::OK)
}
