//! `pipe run FILE --help`: what a program is for, and its params as flags.

use super::{Outcome, exit};
use crate::args::{ProgramArgs, own_flags};
use crate::session::Session;
use pipe_compiler::ParamInfo;
use std::path::Path;

/// Print the program's documentation and its flags.
pub(crate) fn help(file: &Path) -> Outcome {
    let program =
        ProgramArgs { file: file.to_owned(), set: Vec::new(), params: None, allow: Vec::new() };
    let checked = Session::new(&program, None)?.check();
    println!("{}", file.display());
    if let Some(doc) = &checked.doc {
        println!("\n{}", doc.trim());
    }
    if checked.params.is_empty() {
        println!("\nIt has no params.");
    } else {
        println!("\nParams:");
        checked.params.iter().for_each(flag);
    }
    println!("\n`pipe run --help` lists the flags of `pipe` itself.");
    Ok(exit::OK)
}

fn flag(param: &ParamInfo) {
    let name = param.name.replace('_', "-");
    let flag = if own_flags().contains(&name) {
        format!("--set {}=VALUE", param.name)
    } else {
        format!("--{name} VALUE")
    };
    println!("  {flag}   {}", param.ty);
    for line in param.doc.as_deref().unwrap_or("").lines() {
        println!("        {line}");
    }
    match &param.default {
        Some(default) => println!("        default: {default}"),
        None => println!("        must be given"),
    }
}
