//! Codes of names, files and modules.

use super::{Code, page};

pub(super) const CODES: &[Code] = &[
    page(
        "resolve::cycle",
        "a value that is defined by itself",
        "Declarations may stand in any order, but each needs its parts before it can be computed.

  let a = b + 1
  let b = a + 1

Give one of them a value that does not depend on the others:

  let b = 1
  let a = b + 1",
    ),
    page(
        "resolve::duplicate",
        "a name that is declared twice",
        "Within a file a name means one thing. An output may be called like the value that it writes.

  let rate = 1
  let rate = 2

Give one of them another name.",
    ),
    page(
        "resolve::file",
        "a program file that cannot be read",
        "`use` names a file relative to the file that it stands in.

  use shop = \"shared/shp.pipe\"

Check the path, and that the file may be read.",
    ),
    page(
        "resolve::module_as_value",
        "a module where a value is wanted",
        "A module is a collection of names; only what is in it has a value.

  let a = math

Name something in it:

  let a = math.sqrt(2.0)",
    ),
    page(
        "resolve::native",
        "a function without a body",
        "Functions of a program have a body. Only the library declares ops, with `@native`.

  fn twice(x: int) -> int

Write the body:

  fn twice(x: int) -> int = 2 * x",
    ),
    page(
        "resolve::not_text",
        "a program file that is not UTF-8",
        "Programs are UTF-8 text. Save the file in this encoding; most editors offer it under \"encoding\".",
    ),
    page(
        "resolve::recursion",
        "a function that calls itself",
        "Every program ends and has a plan that can be shown before it runs, so functions cannot recurse.

  fn count(n: int) -> int = count(n - 1)

Repeat with `for`, or take lists apart with `list.*`:

  let sum = list.sum(for n in 0..10 { n })",
    ),
    page(
        "resolve::type_as_value",
        "a type where a value is wanted",
        "Types and values have names of their own. A type is only an argument where a signature says `Type`.

  type Row = { a: int }
  let b = Row

Write a value of the type, or give the type where it is asked for:

  let b = data.read(\"table.csv\", row: Row)",
    ),
    page(
        "resolve::unknown_name",
        "a name that nothing declares",
        "Names come from the file itself, from the parameters of a function, and from files named by `use`.

  let rate = 1
  output twice = 2 * rte

Correct the spelling, or declare the name with `let`, `param` or `fn`.",
    ),
    page(
        "resolve::unknown_op",
        "an op that the library does not have",
        "Ops are called with the module that they belong to.

  let rows = data.fliter(table, row => row.x > 0)

`pipe doc` lists all ops, `pipe doc data` those of one module:

  let rows = data.filter(table, row => row.x > 0)",
    ),
    page(
        "resolve::unused",
        "a declaration that nothing uses",
        "Only what an `output` or a `check` needs is computed. What nothing uses is a leftover or a slip.

  let old = data.read(\"old.csv\")

Remove it, use it, or start its name with `_` to keep it.",
    ),
    page(
        "resolve::use_cycle",
        "files that use each other",
        "A file is read after those that it uses, so two files cannot wait for each other.

  # a.pipe
  use b = \"b.pipe\"
  # b.pipe
  use a = \"a.pipe\"

Move what both need into a third file.",
    ),
];
