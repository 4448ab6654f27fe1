//! `pipe explain CODE`: what an error code means, why it is an error, an example and a fix.

use super::{Failure, Outcome, exit};
use pipe_grammar::did_you_mean;

/// Print the page of `code`.
pub(crate) fn explain(code: &str) -> Outcome {
    let codes = pipe_detect::codes::all();
    let Some(page) = codes.iter().find(|page| page.code == code) else {
        let names: Vec<&str> = codes.iter().map(|page| page.code).collect();
        let failure = Failure::usage(format!("there is no error code `{code}`"));
        let near = did_you_mean(code, names.iter().copied());
        return Err(match near {
            Some(near) => failure.help(format!("did you mean `{near}`?")),
            None => failure.help(format!("the codes are: {}", names.join(", "))),
        });
    };
    println!("{}: {}\n\n{}", page.code, page.title, page.explanation.trim());
    Ok(exit::OK)
}
