//! Every problem this crate reports, with the page that `pipe explain CODE` prints.

/// A problem's code and its explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code {
    /// Stable code, `stage::slug`.
    pub code: &'static str,
    /// One line: what it is.
    pub title: &'static str,
    /// What it means, why the language is so, an example, and the fix.
    pub explanation: &'static str,
}

const fn code(code: &'static str, title: &'static str, explanation: &'static str) -> Code {
    Code { code, title, explanation }
}

/// All codes of this crate, in alphabetical order.
pub const CODES: &[Code] = &[
    code(
        "syntax::arrow",
        "`->`, `=>` or `fn` in the wrong place",
        "`=>` joins the parameters of a function value to its body; `->` stands before the type of a result. A function\n\
         value has no keyword.\n\n  data.filter(rows, where: row -> row.x > 0)\n\nwrite\n\n  data.filter(rows, where: row => row.x > 0)",
    ),
    code(
        "syntax::bare_value",
        "a value that nothing uses",
        "A file is a list of declarations. A value alone would never be computed, because only outputs and checks are.\n\n  \
         data.read(\"x.csv\")\n\nGive it a name, or write it out:\n\n  output table = data.read(\"x.csv\")",
    ),
    code(
        "syntax::block",
        "a block where a value stands",
        "A block is `let`s and a value in braces; the value stands last, without `return`. It stands after `=>`, `if`, `else`, `for` and the head of a function; elsewhere\n\
         braces hold the fields of a record. Declarations are in no order and cost nothing until used, so inner names can stand in\n\
         front of the declaration.\n\n  let best = { let sizes = [1, 2]  list.max(sizes) }\n\nwrite\n\n  \
         let sizes = [1, 2]\n  let best = list.max(sizes)",
    ),
    code(
        "syntax::call_space",
        "a blank before a call's parenthesis",
        "The parenthesis of a call and the bracket of an index touch what they follow. Otherwise a line that starts with a\n\
         bracket could be read as a call of the line above.\n\n  let a = f (x)\n\nwrite\n\n  let a = f(x)",
    ),
    code(
        "syntax::chained_comparison",
        "two comparisons of one value",
        "`a < b < c` would compare the truth of `a < b` with `c`, which nobody means.\n\n  check middle = 0 < x < 1\n\nwrite\n\n  \
         check middle = 0 < x and x < 1",
    ),
    code(
        "syntax::character",
        "a character that programs do not contain",
        "Outside strings and comments a program consists of ASCII letters, digits and signs. Word processors and some keyboards\n\
         put in look-alikes, such as a long dash or a space that does not break.\n\n  let a = 3 – 1\n\nwrite\n\n  let a = 3 - 1\n\n\
         Columns with any name are reached with `row[\"name\"]`.",
    ),
    code(
        "syntax::colon",
        "a field or argument without `:`",
        "`=` binds names in declarations. Arguments and fields are given with `:`.\n\n  data.read(\"x.csv\", time = \"ts\")\n\nwrite\n\n  \
         data.read(\"x.csv\", time: \"ts\")",
    ),
    code(
        "syntax::comment",
        "a comment of another language",
        "Comments start with `#` and end with the line; documentation starts with `##` and stands above a declaration.\n\n  \
         let a = 1 // one\n\nwrite\n\n  let a = 1 # one",
    ),
    code(
        "syntax::equality",
        "`=` used to compare",
        "`=` binds a name; `==` compares.\n\n  let a = if kind = \"log\" { 1 } else { 2 }\n\nwrite\n\n  \
         let a = if kind == \"log\" { 1 } else { 2 }",
    ),
    code(
        "syntax::equals",
        "a declaration without a plain `=`",
        "Every declaration has the shape `keyword name = value`, with a type behind `:` where one is given.\n\n  let limit := 3\n\n\
         write\n\n  let limit = 3",
    ),
    code(
        "syntax::extra_bracket",
        "a bracket that closes nothing",
        "A closing bracket needs an opening one before it.\n\n  let a = f(x))\n\nwrite\n\n  let a = f(x)",
    ),
    code(
        "syntax::extra_comma",
        "a comma with nothing before it",
        "Elements are separated by one comma; one more is allowed at the end, not at the start or twice.\n\n  let a = [1,, 2]\n\n\
         write\n\n  let a = [1, 2]",
    ),
    code(
        "syntax::logic",
        "`&&`, `||` or `!`",
        "Logic is written in words, so that it reads the same everywhere: `and`, `or`, `not`.\n\n  let a = hot && !known\n\nwrite\n\n  \
         let a = hot and not known",
    ),
    code(
        "syntax::lone_attribute",
        "an attribute with no declaration",
        "Attributes such as `@gpu(1)` belong to the declaration below them.\n\n  @gpu(1)\n\nPut it above one:\n\n  @gpu(1)\n  \
         let model = train(data)",
    ),
    code(
        "syntax::mismatched",
        "a bracket closed by another kind",
        "Brackets close in the order in which they were opened, each by its own kind.\n\n  let a = [1, 2)\n\nwrite\n\n  let a = [1, 2]",
    ),
    code(
        "syntax::missing_block",
        "a branch or body without braces",
        "The branches of `if` and the body of `for` stand in braces, also when they are short. The body comes last.\n\n  \
         let a = if x 1 else 2\n  let b = [2 * x for x in xs]\n\nwrite\n\n  \
         let a = if x { 1 } else { 2 }\n  let b = for x in xs { 2 * x }",
    ),
    code(
        "syntax::missing_body",
        "a function or type without a definition",
        "Only a `@native` declaration, whose definition is part of the program `pipe`, has none.\n\n  fn twice(x: int) -> int\n\n\
         write\n\n  fn twice(x: int) -> int = 2 * x",
    ),
    code(
        "syntax::missing_comma",
        "two elements without a comma",
        "Arguments, elements and fields are separated by commas, also across lines.\n\n  let a = [1 2]\n\nwrite\n\n  let a = [1, 2]",
    ),
    code(
        "syntax::missing_else",
        "an `if` without `else`",
        "An `if` is a value, so there has to be one in either case.\n\n  output model = if good { trained }\n\nwrite\n\n  \
         output model = if good { trained } else { none }",
    ),
    code(
        "syntax::missing_equals",
        "a declaration without `=`",
        "Every declaration has the shape `keyword name = value`.\n\n  let limit 3\n\nwrite\n\n  let limit = 3",
    ),
    code(
        "syntax::missing_in",
        "a `for` without `in`",
        "A loop names its variable and the list it walks.\n\n  let a = for x of xs { x }\n\nwrite\n\n  let a = for x in xs { x }",
    ),
    code(
        "syntax::missing_name",
        "a name that is not there",
        "Declarations and fields have names: letters, digits and `_`, not starting with a digit.\n\n  let 2nd = 5\n\nwrite\n\n  \
         let second = 5",
    ),
    code(
        "syntax::missing_type",
        "a parameter without a type",
        "Parameters of programs and functions have types, because callers and the command line rely on them.\n\n  param rate = 0.1\n\n\
         write\n\n  param rate: float = 0.1",
    ),
    code(
        "syntax::missing_value",
        "a value that is not there",
        "An operator, a `:` or a `=` needs a value behind it, and a block ends with its value.\n\n  let a = b +\n\nwrite\n\n  let a = b + 1",
    ),
    code(
        "syntax::number_range",
        "a number that is too large",
        "Integers reach 9223372036854775807, floats about 1.8e308, durations 292 years, sizes 8 EiB.\n\n  \
         let a = 99999999999999999999\n\nwrite\n\n  let a = 1e20",
    ),
    code(
        "syntax::pipe_call",
        "`|>` into something that is not a call",
        "`x |> f(y: 1)` means `f(x, y: 1)`. The right side is always written as a call.\n\n  let a = rows |> data.count\n\nwrite\n\n  \
         let a = rows |> data.count()",
    ),
    code(
        "syntax::plain_string",
        "`${…}` where text has to be fixed",
        "Paths of `use`, keys of records and literal types are known before anything is computed.\n\n  \
         use shop = \"${folder}/shop.pipe\"\n\nwrite\n\n  use shop = \"shared/shop.pipe\"",
    ),
    code(
        "syntax::quotes",
        "a string in other quotes, or with a letter before it",
        "Strings are written in straight double quotes; text of several lines in three of them. A value\n\
         inside stands in `${...}`; no letter before the string says so.\n\n  let a = 'log'\n\nwrite\n\n  \
         let a = \"log\"",
    ),
    code(
        "syntax::reserved_word",
        "a reserved word as a name",
        "Eighteen words are reserved where a name is bound or a value is meant: use param let output fn type check where for in\n\
         if else and or not true false none. As a field (`row.type`) or the name of an argument (`in: x`) they are free.\n\n  \
         let type = 3\n\nwrite\n\n  let kind = 3",
    ),
    code(
        "syntax::semicolon",
        "a semicolon",
        "Declarations end by themselves; nothing separates them.\n\n  let a = 1;\n\nwrite\n\n  let a = 1",
    ),
    code(
        "syntax::ternary",
        "a choice as other languages write it",
        "A choice is an `if` with both branches. `?` only makes a type optional.\n\n  let a = x > 0 ? 1 : 2\n  let b = 1 if x > 0 else 2\n\nwrite\n\n  \
         let a = if x > 0 { 1 } else { 2 }\n  let b = if x > 0 { 1 } else { 2 }",
    ),
    code(
        "syntax::too_deep",
        "values nested too deeply",
        "Brackets nest up to 128 levels, and values up to 256 in all. This keeps a broken or hostile file from exhausting memory.\n\n\
         Give inner parts a name with `let` and use the names.",
    ),
    code(
        "syntax::too_large",
        "a file of more than 16 MiB",
        "A program is text that people read. Data belongs into data files, which are read with `data.read`.",
    ),
    code(
        "syntax::trailing",
        "something behind a complete declaration",
        "The value of the declaration ended before this; what follows neither continues it nor starts another.\n\n  let a = 1 2\n\n\
         Connect it with an operator, or remove it:\n\n  let a = 1 + 2",
    ),
    code(
        "syntax::tuple",
        "several values in parentheses",
        "Parentheses hold one value. Several values are a list or a record.\n\n  let a = (1, 2)\n\nwrite\n\n  let a = [1, 2]",
    ),
    code(
        "syntax::tuple_type",
        "several types in parentheses",
        "There is no type for several values in parentheses; `(A, B) -> C` is the type of a function.\n\n  type Pair = (int, str)\n\n\
         write\n\n  type Pair = { left: int, right: str }",
    ),
    code(
        "syntax::unclosed",
        "a bracket that is never closed",
        "The message shows where the bracket was opened and where the declaration ended without closing it.\n\n  let a = f(1\n\nwrite\n\n  \
         let a = f(1)",
    ),
    code(
        "syntax::unclosed_string",
        "a string that is never closed",
        "A string in `\"` ends on its line. Text of several lines goes between `\"\"\"` and `\"\"\"`.\n\n  let a = \"log\n\nwrite\n\n  \
         let a = \"log\"",
    ),
    code(
        "syntax::unexpected",
        "something that cannot stand here",
        "The label says what could stand here instead. Looking at the end of the line above often helps.",
    ),
    code(
        "syntax::unknown_declaration",
        "a line that starts no declaration",
        "A declaration starts with one of use, param, let, output, fn, type, check.\n\n  lett a = 1\n\nwrite\n\n  let a = 1\n\n\
         Modules of the library, such as `data`, need no import; a file gets a name with `use shop = \"shop.pipe\"`.",
    ),
    code(
        "syntax::unknown_escape",
        "an unknown escape in a string",
        "The escapes are \\n \\t \\r \\\" \\\\ \\$. Text between `\"\"\"` has none, so patterns and paths can be written as they are.\n\n  \
         let a = \"\\d+\"\n\nwrite\n\n  let a = \"\\\\d+\"",
    ),
    code(
        "syntax::unknown_operator",
        "an operator of another language",
        "The operators are ?? or and not == != < <= > >= in |> .. + - * / % and unary -, loosest first.\n\n  let a = b <> c\n\nwrite\n\n  \
         let a = b != c",
    ),
    code(
        "syntax::unknown_unit",
        "an unknown unit behind a number",
        "Durations are ns us ms s m h d w, sizes are B KB MB GB TB KiB MiB GiB TiB. Months, years and millions are not units.\n\
         A number has one unit: 1h30m is 90m.\n\n  let a = 5min\n\nwrite\n\n  let a = 5m",
    ),
];

/// The explanation of `code`.
#[must_use]
pub fn explain(code: &str) -> Option<&'static Code> {
    CODES.iter().find(|known| known.code == code)
}
