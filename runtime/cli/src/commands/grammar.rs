//! `pipe grammar`: the language for machines that write it.

use super::{Outcome, exit};
use crate::args::GrammarForm;
use pipe_grammar::export;

/// Print the language in one of its forms.
pub(crate) fn grammar(form: &GrammarForm) -> Outcome {
    if form.gbnf {
        print!("{}", export::gbnf());
    } else {
        print!("{}", export::lark());
    }
    Ok(exit::OK)
}
