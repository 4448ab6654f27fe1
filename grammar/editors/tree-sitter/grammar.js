// Written by `cargo dev gen` from grammar/src/words.rs. Change grammar/src/editors, not this file.
// It follows grammar/pipe.pest, which is the definition of the syntax.

const LEVEL = {
  coalesce: 1, or: 2, and: 3, not: 4, compare: 5, pipe: 6, range: 7, add: 8, multiply: 9,
  negate: 10, member: 11,
};

const list = (rule) => optional(seq(rule, repeat(seq(",", rule)), optional(",")));

module.exports = grammar({
  name: "pipe",

  extras: ($) => [/\s/, $.comment],

  word: ($) => $.name,

  conflicts: ($) => [[$._primary, $.parameters]],

  rules: {
    file: ($) => repeat($._declaration),

    comment: () => token(seq("#", /[^\n]*/)),

    name: () => /[A-Za-z_][A-Za-z0-9_]*/,

    // Where no name is bound, reserved words are welcome.
    key: ($) => choice($.name, "use", "param", "let", "output", "fn", "type", "check", "where", "for", "in", "if", "else", "and", "or", "not", "true", "false", "none"),

    attribute: ($) => seq("@", field("name", $.name), optional($._arguments)),

    _declaration: ($) => seq(repeat($.attribute), choice(
      $.use_declaration, $.param_declaration, $.let_declaration, $.output_declaration,
      $.check_declaration, $.fn_declaration, $.type_declaration,
    )),

    use_declaration: ($) => seq("use", field("name", $.name), "=", $.string),
    param_declaration: ($) => seq(
      "param", field("name", $.name), ":", $._type,
      optional(seq("=", $._expression)), optional(seq("where", $._expression)),
    ),
    let_declaration: ($) => seq("let", field("name", $.name), optional(seq(":", $._type)), "=", $._expression),
    output_declaration: ($) => seq("output", field("name", $.name), optional(seq(":", $._type)), "=", $._expression),
    check_declaration: ($) => seq("check", field("name", $.name), "=", $._expression),
    type_declaration: ($) => seq("type", field("name", $.name), optional($.type_parameters), optional(seq("=", $._type))),
    fn_declaration: ($) => seq(
      "fn", field("name", $.name), optional($.type_parameters),
      "(", list($.fn_parameter), ")", optional(seq("->", $._type)),
      optional(choice(seq("=", $._expression), $.block)),
    ),
    fn_parameter: ($) => seq(
      repeat($.attribute), optional(".."), field("name", $.name), ":", $._type, optional(seq("=", $._expression)),
    ),
    type_parameters: ($) => seq("<", list($.name), ">"),

    _type: ($) => choice($.union, $._type_atom),
    // A union reaches as far as it can, also behind `->`.
    union: ($) => prec.right(1, seq($._type_atom, repeat1(seq("|", $._type_atom)))),
    _type_atom: ($) => choice($.optional_type, $._type_plain),
    optional_type: ($) => prec.right(1, seq($._type_plain, "?")),
    _type_plain: ($) => choice($.string, $.type_list, $.type_record, $.type_group, $.type_name),
    type_name: ($) => seq($.name, repeat(seq(token.immediate("."), $.name)), optional($.type_arguments)),
    type_arguments: ($) => seq("<", list($._type), ">"),
    type_list: ($) => seq("[", $._type, "]"),
    type_record: ($) => seq("{", list($.type_field), "}"),
    type_field: ($) => choice(
      seq("..", $._type),
      seq(field("name", choice($.key, $.string)), ":", $._type),
    ),
    type_group: ($) => prec.right(seq("(", list($._type), ")", optional(seq("->", $._type)))),

    _expression: ($) => choice($._term, $.unary, $.binary),

    unary: ($) => choice(
      prec(LEVEL.not, seq("not", $._expression)),
      prec(LEVEL.negate, seq("-", $._expression)),
    ),

    binary: ($) => {
      const table = [
        [LEVEL.coalesce, "??"], [LEVEL.or, "or"], [LEVEL.and, "and"],
        [LEVEL.compare, choice("==", "!=", "<=", ">=", "<", ">", "in")],
        [LEVEL.pipe, "|>"], [LEVEL.range, ".."], [LEVEL.add, choice("+", "-")],
        [LEVEL.multiply, choice("*", "/", "%")],
      ];
      return choice(...table.map(([level, sign]) => prec.left(level, seq($._expression, sign, $._expression))));
    },

    _term: ($) => choice($._primary, $.call, $.index, $.field),

    // Brackets and dots touch what they follow.
    call: ($) => prec(LEVEL.member, seq(field("callee", $._term), $._arguments)),
    _arguments: ($) => seq(token.immediate("("), list($.argument), ")"),
    argument: ($) => seq(optional(seq(field("name", $.key), ":")), $._expression),
    index: ($) => prec(LEVEL.member, seq($._term, token.immediate("["), $._expression, "]")),
    field: ($) => prec(LEVEL.member, seq($._term, token.immediate("."), field("name", $.key))),

    _primary: ($) => choice(
      $.number, $.string, $.boolean, $.none, $.if, $.for, $.lambda, $.name, $.list, $.record, $.group,
    ),

    group: ($) => seq("(", $._expression, ")"),
    list: ($) => seq("[", list($._expression), "]"),
    record: ($) => seq("{", list($.entry), "}"),
    entry: ($) => choice(
      seq("..", $._expression),
      seq(field("name", choice($.key, $.string)), ":", $._expression),
    ),

    lambda: ($) => prec.right(seq($.parameters, "=>", choice($.let_block, $._expression))),
    parameters: ($) => choice($.name, seq("(", list($.name), ")")),
    let_block: ($) => seq("{", repeat1(seq(repeat($.attribute), $.let_declaration)), $._expression, "}"),
    block: ($) => seq("{", repeat(seq(repeat($.attribute), $.let_declaration)), $._expression, "}"),
    if: ($) => seq("if", $._expression, $.block, "else", choice($.if, $.block)),
    for: ($) => seq(
      "for", $.binder, repeat(seq(",", $.binder)), optional(seq("if", $._expression)), $.block,
    ),
    binder: ($) => seq($.parameters, "in", $._expression),

    boolean: () => choice("true", "false"),
    none: () => "none",

    number: ($) => seq(
      token(/[0-9][0-9_]*(\.[0-9][0-9_]*)?([eE][+-]?[0-9]+)?/),
      optional($.unit),
    ),
    unit: () => token.immediate(choice("KiB", "MiB", "GiB", "TiB", "ns", "us", "ms", "KB", "MB", "GB", "TB", "s", "m", "h", "d", "w", "B")),

    // `${` and closing quotes come before the same signs as text.
    string: ($) => choice(
      seq('"""', repeat(choice($._text3, $.interpolation)), token.immediate(prec(2, '"""'))),
      seq('"', repeat(choice($._text1, $.escape, $.interpolation)), token.immediate('"')),
    ),
    _text1: () => token.immediate(prec(1, /[^"\\$\n]+|\$/)),
    _text3: () => token.immediate(prec(1, /[^"$]+|\$|"/)),
    escape: () => token.immediate(seq("\\", /[^\n]/)),
    interpolation: ($) => seq(token.immediate(prec(2, "${")), $._expression, "}"),
  },
});
