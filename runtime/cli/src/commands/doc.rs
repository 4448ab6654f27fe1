//! `pipe doc [OP]`: operations with their signatures and documentation.

use super::{Failure, Outcome, exit};
use crate::render::style::{Look, pad};
use pipe_compiler::{Library, Signature, signatures};
use pipe_grammar::did_you_mean;

/// Show one op, a module, or everything.
pub(crate) fn doc(wanted: Option<&str>, json: bool, look: &Look) -> Outcome {
    let library: &[(&str, &str)] = pipe_stdlib::FILES;
    let (all, _, _) = signatures(&library);
    let chosen: Vec<&Signature> = all
        .iter()
        .filter(|signature| {
            wanted.is_none_or(|wanted| signature.name == wanted || module(signature) == wanted)
        })
        .collect();
    if chosen.is_empty() {
        return Err(unknown(wanted.unwrap_or_default(), &all, &library));
    }
    if json {
        let text = serde_json::to_string_pretty(&chosen).map_err(|error| {
            Failure::failed(format!("cannot write the signatures as JSON: {error}"))
        })?;
        println!("{text}");
        return Ok(exit::OK);
    }
    match chosen.as_slice() {
        [one] if wanted == Some(one.name.as_str()) => page(one, look),
        _ => list(&chosen, look),
    }
    Ok(exit::OK)
}

fn module(signature: &Signature) -> &str {
    signature.name.split('.').next().unwrap_or_default()
}

fn page(signature: &Signature, look: &Look) {
    println!("{}(", look.strong(&signature.name));
    for param in &signature.params {
        if let Some(doc) = &param.doc {
            doc.lines().for_each(|line| println!("  {}", look.quiet(&format!("# {line}"))));
        }
        let rest = if param.rest { ".." } else { "" };
        let mark = if param.positional { "_" } else { "" };
        let default =
            param.default.as_ref().map_or(String::new(), |default| format!(" = {default}"));
        println!("  {rest}{mark}{}: {}{default},", param.name, param.ty);
    }
    println!(") -> {}\n\n{}", signature.result, signature.doc.as_deref().unwrap_or("").trim());
}

fn list(signatures: &[&Signature], look: &Look) {
    let width = signatures.iter().map(|signature| signature.name.len()).max().unwrap_or(0);
    for signature in signatures {
        let doc = signature.doc.as_deref().unwrap_or("");
        let first = doc.lines().next().unwrap_or("");
        println!("{}  {first}", look.strong(&pad(&signature.name, width)));
    }
    eprintln!("\n`pipe doc OP` shows one of them whole.");
}

fn unknown(wanted: &str, all: &[Signature], library: &&[(&str, &str)]) -> Failure {
    let failure = Failure::usage(format!("there is no op or module `{wanted}`"));
    let names = all.iter().map(|signature| signature.name.as_str()).chain(library.modules());
    match did_you_mean(wanted, names) {
        Some(near) => failure.help(format!("did you mean `{near}`?")),
        None => failure.help(format!("the modules are: {}", library.modules().join(", "))),
    }
}
