//! Grammars for editors, printed from the tables of words and units. They colour; what a program means they do not know.
//!
//! The templates beside this file hold the shapes; `@WORDS@` in them stand for the tables. `cargo dev gen` writes the
//! results below `grammar/editors`, and a test compares them with the scanner over every program in the repository.

use crate::words;

/// Generated files: path from the repository's root, and content.
#[must_use]
pub fn files() -> Vec<(&'static str, String)> {
    vec![
        (
            "grammar/editors/vscode/syntaxes/pipe.tmLanguage.json",
            filled(include_str!("tmLanguage.json"), "|"),
        ),
        ("grammar/editors/tree-sitter/grammar.js", filled(include_str!("grammar.js"), "|")),
        (
            "grammar/editors/tree-sitter/queries/highlights.scm",
            filled(include_str!("highlights.scm"), " "),
        ),
    ]
}

/// Reserved words by the role that editors show.
struct Role {
    mark: &'static str,
    words: Vec<&'static str>,
}

/// Words that stand between values.
const OPERATORS: [&str; 3] = ["and", "or", "not"];

/// Words that are values.
const CONSTANTS: [&str; 3] = ["true", "false", "none"];

fn roles() -> Vec<Role> {
    let named = |word: &&str| {
        words::DECLARATIONS.contains(word) || OPERATORS.contains(word) || CONSTANTS.contains(word)
    };
    let others = words::RESERVED.iter().copied().filter(|word| !named(word)).collect();
    let mut units: Vec<&str> = words::UNITS.iter().map(|(name, _)| *name).collect();
    // The longest first: an alternative that matches ends the search.
    units.sort_by_key(|name| std::cmp::Reverse(name.len()));
    vec![
        Role { mark: "@DECLARATIONS@", words: words::DECLARATIONS.to_vec() },
        Role { mark: "@OPERATORS@", words: OPERATORS.to_vec() },
        Role { mark: "@CONSTANTS@", words: CONSTANTS.to_vec() },
        Role { mark: "@CONTROL@", words: others },
        Role { mark: "@RESERVED@", words: words::RESERVED.to_vec() },
        Role { mark: "@UNITS@", words: units },
    ]
}

fn filled(template: &str, between: &str) -> String {
    let mut text = template.to_owned();
    for role in roles() {
        let quoted: Vec<String> = role.words.iter().map(|word| format!("\"{word}\"")).collect();
        let list = role.mark.replace('@', "@@");
        text = text.replace(&list, &quoted.join(if between == " " { " " } else { ", " }));
        text = text.replace(role.mark, &role.words.join("|"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_one_role_and_no_mark_is_left() {
        let roles = roles();
        let all: usize = roles.iter().take(4).map(|role| role.words.len()).sum();
        assert_eq!(all, words::RESERVED.len());
        for (path, text) in files() {
            assert!(!text.contains("@@") && !text.contains("S@"), "{path}");
        }
    }

    #[test]
    fn the_files_are_fresh() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for (path, text) in files() {
            let there = std::fs::read_to_string(root.join(path)).unwrap_or_default();
            assert!(there == text, "{path} is stale: run `cargo dev gen`");
        }
    }
}
