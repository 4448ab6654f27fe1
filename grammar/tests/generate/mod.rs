//! Random programs that read without problems, and random scraps of text.
//!
//! A program is generated as words; a word that starts with `~` touches the word before it. The words are joined with
//! random blanks, line breaks and comments.

use proptest::prelude::*;

type Words = Vec<String>;

fn words(text: &str) -> Words {
    text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn join(parts: impl IntoIterator<Item = Words>) -> Words {
    parts.into_iter().flatten().collect()
}

fn name() -> impl Strategy<Value = String> + Clone {
    prop::sample::select(vec![
        "a",
        "b",
        "rows",
        "type_",
        "_x",
        "model2",
        "in_",
        "letter",
        "none_left",
    ])
    .prop_map(str::to_owned)
}

fn atom() -> impl Strategy<Value = Words> {
    let literals = vec![
        "1",
        "0.5",
        "1_000",
        "3e-4",
        "5m",
        "10GiB",
        "true",
        "false",
        "none",
        "\"\"",
        "\"a${b}c\"",
        "\"\\n\\\"\"",
        "[]",
        "{}",
        "a",
        "\"${\"x\"}\"",
        "2e9",
        "\"\"\"one\"\"\"",
        "\"\"\"\n    two\n\n      ${a}\n  \"\"\"",
        "\"\"\"\n  three \n \n  ${a} \n\"\"\"",
    ];
    prop_oneof![
        prop::sample::select(literals).prop_map(|text| vec![text.to_owned()]),
        name().prop_map(|name| vec![name])
    ]
}

fn infix() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["+", "-", "*", "/", "%", "and", "or", "??", ".."])
}

fn expr() -> impl Strategy<Value = Words> {
    atom().prop_recursive(4, 40, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4);
        let named = prop::collection::vec((name(), inner.clone()), 0..4);
        prop_oneof![
            (inner.clone(), infix(), inner.clone()).prop_map(|(left, op, right)| join([
                words("("),
                left,
                words(")"),
                words(op),
                words("("),
                right,
                words(")")
            ])),
            (name(), infix(), inner.clone()).prop_map(|(left, op, right)| join([
                words(&left),
                words(op),
                words("("),
                right,
                words(")")
            ])),
            (inner.clone(), prop::sample::select(vec!["==", "<", "in", ">="]), name()).prop_map(
                |(left, op, right)| join([words("("), left, words(")"), words(op), words(&right)])
            ),
            (prop::sample::select(vec!["-", "not"]), inner.clone()).prop_map(|(op, value)| join([
                words(op),
                words("("),
                value,
                words(")")
            ])),
            list.clone().prop_map(|items| bracketed("[", items, "]")),
            named.clone().prop_map(|fields| {
                bracketed(
                    "{",
                    fields
                        .into_iter()
                        .map(|(name, value)| join([words(&name), words(":"), value]))
                        .collect(),
                    "}",
                )
            }),
            (name(), list, named).prop_map(|(callee, items, named)| {
                let named =
                    named.into_iter().map(|(name, value)| join([words(&name), words(":"), value]));
                join([
                    words(&callee),
                    bracketed("~(", items.into_iter().chain(named).collect(), ")"),
                ])
            }),
            (inner.clone(), name()).prop_map(|(base, field)| join([
                words("("),
                base,
                words(")"),
                words(&format!("~.{field}"))
            ])),
            (name(), inner.clone()).prop_map(|(base, index)| join([
                words(&base),
                words("~["),
                index,
                words("]")
            ])),
            (inner.clone(), name(), inner.clone()).prop_map(|(subject, callee, arg)| join([
                words("("),
                subject,
                words(&format!(") |> {callee} ~( x :")),
                arg,
                words(")")
            ])),
            (name(), inner.clone()).prop_map(|(param, body)| join([
                words("("),
                words(&param),
                words("=>"),
                body,
                words(")")
            ])),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(
                |(condition, then, otherwise)| {
                    join([
                        words("if ("),
                        condition,
                        words(") {"),
                        then,
                        words("} else {"),
                        otherwise,
                        words("}"),
                    ])
                }
            ),
            (name(), inner.clone(), inner.clone()).prop_map(|(bound, list, body)| {
                join([
                    words(&format!("for {bound} in")),
                    list,
                    words("{ let c ="),
                    body,
                    words("c }"),
                ])
            }),
        ]
    })
}

fn bracketed(open: &str, items: Vec<Words>, close: &str) -> Words {
    let mut out = words(open);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(",".to_owned());
        }
        out.extend(item);
    }
    out.push(close.to_owned());
    out
}

fn ty() -> impl Strategy<Value = Words> {
    let simple = vec!["int", "str", "shop.Window", "\"a\"", "Table<Doc,train>"];
    let simple = prop::sample::select(simple).prop_map(|text| vec![text.to_owned()]);
    simple.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|item| join([words("["), item, words("]")])),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| join([
                words("("),
                left,
                words("|"),
                right,
                words(") ?")
            ])),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| join([
                words("{ .."),
                left,
                words(", \"b-c\" :"),
                right,
                words("}")
            ])),
            (inner.clone(), inner.clone()).prop_map(|(left, right)| join([
                words("("),
                left,
                words(") ->"),
                right
            ])),
        ]
    })
}

fn declaration() -> impl Strategy<Value = Words> {
    prop_oneof![
        (name(), expr()).prop_map(|(name, value)| join([words(&format!("let {name} =")), value])),
        (name(), ty(), expr()).prop_map(|(name, ty, value)| join([
            words(&format!("output {name} :")),
            ty,
            words("="),
            value
        ])),
        (name(), expr())
            .prop_map(|(name, value)| join([words(&format!("@on_exit check {name} =")), value])),
        (name(), ty(), expr(), expr()).prop_map(|(name, ty, value, condition)| {
            join([
                words(&format!("param {name} :")),
                ty,
                words("="),
                value,
                words("where"),
                condition,
            ])
        }),
        (name(), ty(), ty(), expr()).prop_map(|(name, left, right, value)| {
            let params =
                join([words("~( _p :"), left, words(", @nokey ..q :"), right, words("= 1 )")]);
            join([words(&format!("@gpu ~( 1 ) fn {name}")), params, words("="), value])
        }),
        (name(), ty()).prop_map(|(name, ty)| join([words(&format!("type {name} <T> =")), ty])),
        Just(words("use shop = \"a/b.pipe\"")),
    ]
}

/// A program with random blanks, line breaks and comments between its words.
pub(crate) fn program() -> impl Strategy<Value = String> {
    let gaps = prop::collection::vec(0u8..40, 1..60);
    (prop::collection::vec(declaration(), 0..6), gaps).prop_map(|(declarations, gaps)| {
        let mut text = String::new();
        let mut gaps = gaps.into_iter().cycle();
        for declaration in declarations {
            for (index, word) in declaration.iter().enumerate() {
                match word.strip_prefix('~') {
                    Some(glued) => text.push_str(glued),
                    None => {
                        let gap = if index == 0 { "\n" } else { gap(gaps.next().unwrap_or(0)) };
                        text.push_str(gap);
                        text.push_str(word);
                    }
                }
            }
            text.push_str(gap(gaps.next().unwrap_or(0)));
        }
        text
    })
}

fn gap(number: u8) -> &'static str {
    match number {
        0 => "\n",
        1 => "\n\n\n",
        2 => " # one (\n",
        3 => "\n# two \"\n  # three\n\n",
        4 => "\n## four\n",
        5 => "\t",
        6 => "\r\n",
        _ => " ",
    }
}

/// A scrap of text: a token, a piece of one, or something that is not part of the language.
pub(crate) fn scrap() -> impl Strategy<Value = String> {
    let scraps = vec![
        "let ",
        "output ",
        "fn ",
        "check ",
        "param ",
        "type ",
        "use ",
        "@gpu(1)\n",
        "if ",
        "else ",
        "for ",
        "in ",
        "where ",
        "x",
        "f(",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "=",
        "==",
        "=>",
        "->",
        "|>",
        "|",
        "&&",
        "..",
        ".",
        ",",
        ":",
        "?",
        "\"",
        "\"\"\"",
        "${",
        "#",
        "##",
        "\n",
        "\n\n",
        " ",
        "1",
        "5min",
        "1e999",
        "'",
        "“",
        "ö",
        "\u{1A}",
        "\u{FEFF}",
        "\r\n",
        "//",
        "/*",
        ";",
        "\\",
        "not ",
        "-",
        "none",
        "\0",
        "\nlet y = 2\n",
        "😀",
    ];
    prop_oneof![
        prop::sample::select(scraps).prop_map(str::to_owned),
        "[ -~]{0,3}",
        any::<char>().prop_map(String::from)
    ]
}
