//! How each part of a program is written: its keys in JSON, and what stands around their values in the text.

/// What a value is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// A word of the exported table, as it is written.
    Word(&'static str),
    /// `shop.Window`: a name, and words behind dots.
    Dotted,
    /// Any text, written in quotes.
    Quoted,
    /// Any text inside quotes that something else writes.
    Inside,
    /// The name of a field: quoted where it is not a word.
    Key,
    /// Lines of documentation, `## ` before each.
    Doc,
    /// One of these signs.
    Sign(&'static [&'static str]),
    /// One of these signs, which another key writes.
    Between(&'static [&'static str]),
    /// `true`, for what is written around it.
    Set,
    /// Another form.
    Form(&'static str),
    /// Another form, in parentheses where it would fall apart.
    Operand(&'static str),
    /// A block: in braces, unless it has `let`s and so its own.
    Braced,
    /// At least so many, with this between them.
    Many(&'static Shape, usize, &'static str),
    /// Several, with the sign between them that another key says.
    Joined(&'static Shape, &'static str),
}

/// A key of an object, and what stands before and behind its value in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) before: &'static str,
    pub(super) key: &'static str,
    pub(super) shape: Shape,
    pub(super) behind: &'static str,
    pub(super) needed: bool,
}

/// One way to write a form.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// The value alone.
    Bare(Shape),
    /// `true`, `false` or `null`, and how the language writes it.
    Constant(Option<bool>, &'static str),
    /// An object that `lead` tells from the others; its parts in the order of the text. `whole` needs no parentheses.
    Object { lead: &'static str, whole: bool, parts: &'static [Part] },
}

/// A part of programs.
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) ways: &'static [Way],
}

const fn part(before: &'static str, key: &'static str, shape: Shape, behind: &'static str) -> Part {
    Part { before, key, shape, behind, needed: true }
}

const fn maybe(
    before: &'static str,
    key: &'static str,
    shape: Shape,
    behind: &'static str,
) -> Part {
    Part { before, key, shape, behind, needed: false }
}

/// Written at once, without parentheses around it.
const fn whole(lead: &'static str, parts: &'static [Part]) -> Way {
    Way::Object { lead, whole: true, parts }
}

/// Falls apart as an operand.
const fn loose(lead: &'static str, parts: &'static [Part]) -> Way {
    Way::Object { lead, whole: false, parts }
}

use Shape::{
    Between, Braced, Doc, Dotted, Inside, Joined, Key, Many, Operand, Quoted, Set, Sign, Word,
};
use Way::{Bare, Constant};

const NAME: Shape = Word("name");
const EXPRESSION: Shape = Shape::Form("expression");
const OPERAND: Shape = Operand("expression");
const TYPE: Shape = Shape::Form("type");
const DOC: Part = maybe("", "doc", Doc, "");
const ATTRIBUTES: Part = maybe("", "attributes", Many(&Shape::Form("attribute"), 1, " "), " ");
const TYPE_PARAMETERS: Part = maybe("<", "type_parameters", Many(&NAME, 1, ", "), ">");
const ARGUMENTS: Part = part("(", "arguments", Many(&Shape::Form("argument"), 0, ", "), ")");
const OF_TYPE: Part = maybe(": ", "type", TYPE, "");
const VALUE: Part = part(" = ", "value", EXPRESSION, "");

/// All forms, the program first.
pub(super) const FORMS: &[Form] = &[
    Form {
        name: "program",
        ways: &[whole(
            "declarations",
            &[
                maybe("", "doc", Doc, "\n"),
                part("", "declarations", Many(&Shape::Form("declaration"), 0, "\n\n"), "\n"),
            ],
        )],
    },
    Form {
        name: "declaration",
        ways: &[
            whole(
                "use",
                &[DOC, ATTRIBUTES, part("use ", "use", NAME, ""), part(" = ", "path", Quoted, "")],
            ),
            whole(
                "param",
                &[
                    DOC,
                    ATTRIBUTES,
                    part("param ", "param", NAME, ""),
                    part(": ", "type", TYPE, ""),
                    maybe(" = ", "default", EXPRESSION, ""),
                    maybe(" where ", "where", EXPRESSION, ""),
                ],
            ),
            whole("let", &[DOC, ATTRIBUTES, part("let ", "let", NAME, ""), OF_TYPE, VALUE]),
            whole(
                "output",
                &[DOC, ATTRIBUTES, part("output ", "output", NAME, ""), OF_TYPE, VALUE],
            ),
            whole("check", &[DOC, ATTRIBUTES, part("check ", "check", NAME, ""), VALUE]),
            whole(
                "fn",
                &[
                    DOC,
                    ATTRIBUTES,
                    part("fn ", "fn", NAME, ""),
                    TYPE_PARAMETERS,
                    part("(", "parameters", Many(&Shape::Form("parameter"), 0, ", "), ")"),
                    maybe(" -> ", "result", TYPE, ""),
                    part(" ", "body", Braced, ""),
                ],
            ),
            whole(
                "type",
                &[
                    DOC,
                    ATTRIBUTES,
                    part("type ", "type", NAME, ""),
                    TYPE_PARAMETERS,
                    part(" = ", "is", TYPE, ""),
                ],
            ),
        ],
    },
    Form {
        name: "parameter",
        ways: &[whole(
            "parameter",
            &[
                maybe("\n", "doc", Doc, ""),
                ATTRIBUTES,
                maybe("..", "rest", Set, ""),
                part("", "parameter", Word("param_name"), ""),
                part(": ", "type", TYPE, ""),
                maybe(" = ", "default", EXPRESSION, ""),
            ],
        )],
    },
    Form {
        name: "attribute",
        ways: &[whole(
            "attribute",
            &[
                part("@", "attribute", Word("word"), ""),
                maybe("(", "arguments", Many(&Shape::Form("argument"), 0, ", "), ")"),
            ],
        )],
    },
    Form {
        name: "argument",
        ways: &[
            whole(
                "argument",
                &[part("", "argument", Word("word"), ""), part(": ", "value", EXPRESSION, "")],
            ),
            Bare(EXPRESSION),
        ],
    },
    Form {
        name: "type",
        ways: &[
            Bare(Dotted),
            whole(
                "type",
                &[part("", "type", Dotted, ""), part("<", "of", Many(&TYPE, 1, ", "), ">")],
            ),
            whole("text", &[part("", "text", Quoted, "")]),
            loose("one_of", &[part("", "one_of", Many(&Operand("type"), 2, " | "), "")]),
            loose("optional", &[part("", "optional", Operand("type"), "?")]),
            whole("list", &[part("[", "list", TYPE, "]")]),
            whole(
                "fields",
                &[part("{ ", "fields", Many(&Shape::Form("field_type"), 0, ", "), " }")],
            ),
            loose(
                "result",
                &[
                    part("(", "parameters", Many(&TYPE, 0, ", "), ")"),
                    part(" -> ", "result", TYPE, ""),
                ],
            ),
        ],
    },
    Form {
        name: "field_type",
        ways: &[
            whole("key", &[part("", "key", Key, ": "), part("", "type", TYPE, "")]),
            whole("spread", &[part("..", "spread", TYPE, "")]),
        ],
    },
    Form {
        name: "block",
        ways: &[
            whole(
                "lets",
                &[
                    part("{ ", "lets", Many(&Shape::Form("inner_let"), 1, "  "), ""),
                    part("  ", "value", OPERAND, " }"),
                ],
            ),
            Bare(EXPRESSION),
        ],
    },
    Form {
        name: "inner_let",
        ways: &[whole("let", &[ATTRIBUTES, part("let ", "let", NAME, ""), OF_TYPE, VALUE])],
    },
    Form {
        name: "expression",
        ways: &[
            Bare(Dotted),
            Constant(Some(true), "true"),
            Constant(Some(false), "false"),
            Constant(None, "none"),
            whole("number", &[part("", "number", Word("number"), "")]),
            whole("text", &[part("", "text", Quoted, "")]),
            whole("template", &[part("\"", "template", Many(&Shape::Form("piece"), 1, ""), "\"")]),
            whole("list", &[part("[", "list", Many(&EXPRESSION, 0, ", "), "]")]),
            whole("record", &[part("{ ", "record", Many(&Shape::Form("entry"), 0, ", "), " }")]),
            whole("call", &[part("", "call", OPERAND, ""), ARGUMENTS]),
            whole("field", &[part("", "of", OPERAND, "."), part("", "field", Word("word"), "")]),
            whole("index", &[part("", "of", OPERAND, "["), part("", "index", EXPRESSION, "]")]),
            loose(
                "pipe",
                &[
                    part("", "pipe", OPERAND, ""),
                    part(" |> ", "through", Many(&Shape::Form("step"), 1, " |> "), ""),
                ],
            ),
            loose("minus", &[part("-", "minus", OPERAND, "")]),
            loose("not", &[part("not ", "not", OPERAND, "")]),
            loose(
                "operator",
                &[
                    part(
                        "",
                        "operator",
                        Between(&["+", "-", "*", "/", "%", "..", "and", "or", "??"]),
                        "",
                    ),
                    part("", "of", Joined(&OPERAND, "operator"), ""),
                ],
            ),
            loose(
                "compare",
                &[
                    part("", "left", OPERAND, " "),
                    part("", "compare", Sign(&["==", "!=", "<", "<=", ">", ">=", "in"]), " "),
                    part("", "right", OPERAND, ""),
                ],
            ),
            loose(
                "if",
                &[
                    part("if ", "if", OPERAND, " "),
                    part("", "then", Braced, " else "),
                    part("", "else", Braced, ""),
                ],
            ),
            loose(
                "for",
                &[
                    part("for ", "for", Many(&Shape::Form("binder"), 1, ", "), ""),
                    maybe(" if ", "where", OPERAND, ""),
                    part(" ", "value", Braced, ""),
                ],
            ),
            loose(
                "function",
                &[
                    part("(", "function", Many(&NAME, 0, ", "), ")"),
                    part(" => ", "value", Shape::Form("block"), ""),
                ],
            ),
        ],
    },
    Form { name: "step", ways: &[whole("call", &[part("", "call", OPERAND, ""), ARGUMENTS])] },
    Form {
        name: "binder",
        ways: &[whole(
            "names",
            &[part("(", "names", Many(&NAME, 0, ", "), ")"), part(" in ", "in", OPERAND, "")],
        )],
    },
    Form {
        name: "entry",
        ways: &[
            whole("key", &[part("", "key", Key, ": "), part("", "value", EXPRESSION, "")]),
            whole("spread", &[part("..", "spread", EXPRESSION, "")]),
        ],
    },
    Form {
        name: "piece",
        ways: &[Bare(Inside), whole("value", &[part("${", "value", EXPRESSION, "}")])],
    },
];

/// The ways of a form.
pub(super) fn ways(name: &str) -> &'static [Way] {
    FORMS.iter().find(|form| form.name == name).map_or(&[], |form| form.ways)
}
