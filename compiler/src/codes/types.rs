//! Codes of types.

use super::{Code, page};

pub(super) const CODES: &[Code] = &[
    page(
        "types::argument_count",
        "too many or too few arguments",
        "The call gives another number of arguments than the function takes.\n\n  let a = list.length([1], [2])\n\nThe message shows the arguments that there are.",
    ),
    page(
        "types::branches",
        "branches of two types",
        "`if` is a value, so both branches have one type.\n\n  let a = if fast { 1 } else { \"one\" }\n\nGive both the same type.",
    ),
    page(
        "types::categories",
        "categories that are not known",
        "To encode a column of texts the categories are known before the run, so that the same text always becomes the same number.\n\n  orders |> data.encode([\"status\"], by: \"one_hot\")\n\nList them (`categories: [\"open\", \"paid\"]`), or read the column as an enumeration. `encode.fit` learns them from the rows to train on; for `by: \"one_hot\"` it has to be told how many columns there are to be (`most: 8`).",
    ),
    page(
        "types::check",
        "a check that is not a truth",
        "A check passes or fails.\n\n  check good = score.f1\n\nCompare the value:\n\n  check good = score.f1 >= 0.8",
    ),
    page(
        "types::column_type",
        "a column that is not a scalar",
        "Columns hold numbers, truths, texts, times, durations and sizes.\n\n  type Row = { tags: [str] }\n\nTake the field out of the row type, or read it as `str`.",
    ),
    page(
        "types::compiler_only",
        "an op that only the compiler writes",
        "`value.compute` stands in plans for arithmetic on results, and `data.rows` for a chain of row ops that run in one pass. In programs the expression or the chain itself is written:\n\n  check good = score.f1 >= 0.8",
    ),
    page(
        "types::condition",
        "a condition that is not a truth",
        "Conditions of `if`, `for .. if` and `where` are `bool`.\n\n  let a = if 1 { 2 } else { 3 }\n\nCompare the value: `if n > 0 { .. }`.",
    ),
    page(
        "types::decimal_comma",
        "numbers with decimal commas",
        "The file writes 1,5 where others write 1.5, and its numbers are read as texts.\n\n  data.read(\"preise.csv\")\n\nSay how it is written:\n\n  data.read(\"preise.csv\", decimal: \",\")",
    ),
    page(
        "types::duplicate_argument",
        "an argument that is given twice",
        "Each argument is given once; the subject counts, also when it comes through `|>`.\n\n  data.read(\"a.csv\", path: \"b.csv\")\n\nRemove one of them.",
    ),
    page(
        "types::duplicate_column",
        "a column that is selected twice",
        "Columns of a table have different names.\n\n  table |> data.select([\"a\", \"a\"])\n\nName each column once.",
    ),
    page(
        "types::duplicate_field",
        "a field that is given twice",
        "Fields of a record have different names.\n\n  let a = { x: 1, x: 2 }\n\nRemove one of them. A field behind `..base` replaces that of the base.",
    ),
    page(
        "types::empty_list",
        "an item of an empty list",
        "The list has no items, so there is no first, smallest or mean one.\n\n  let a = list.first([])\n\nCheck what the condition of a `for` leaves.",
    ),
    page(
        "types::exec",
        "inputs, outputs or environment of a program that are no record",
        "`exec` names everything that a program reads and writes: inputs are files and artifacts, outputs are paths, the environment is texts.

  let made = exec([\"wc\", \"-l\", \"inputs/rows.csv\"], inputs: \"rows.csv\")

Give each a name:

  let made = exec([\"wc\", \"-l\", \"inputs/rows.csv\"], inputs: { rows: \"rows.csv\" })",
    ),
    page(
        "types::exec_image",
        "an image that is not named by its digest",
        "A tag such as `python:3.12` may mean another image tomorrow, and a result that was stored under it would be taken
for that of the new one.

  let made = exec([\"python3\", \"--version\"], image: \"python:3.12\")

Name the image by its digest, `NAME@sha256:` and 64 digits, as `docker inspect --format '{{index .RepoDigests 0}}' IMAGE`
prints it.",
    ),
    page(
        "types::exec_path",
        "an output outside the folder that a program runs in",
        "A program runs in a folder of its own, and its outputs are taken from there.

  let made = exec([\"make\"], outputs: { page: \"/tmp/page.html\" })

Give a path relative to that folder: `outputs: { page: \"page.html\" }`.",
    ),
    page(
        "types::fold_count",
        "a number of folds that makes no sense",
        "Cross-validation needs two folds at least.\n\n  table |> data.folds(k: 1, by: \"random\")\n\nUsual are 5 and 10; every fold is a training.",
    ),
    page(
        "types::group_in_row",
        "one value of many rows in a function of one row",
        "`stat.*` makes one value of the rows of a group, and only `data.group` and `data.window` have groups.\n\n  table |> data.derive(above: row => row.cpu - stat.mean(row.cpu))\n\nCompute it for each group, and join it to the rows:\n\n  let means = table |> data.group(by: [\"host\"], mean: rows => stat.mean(rows.cpu))\n  table |> data.join(with: means, on: [\"host\"]) |> data.derive(above: row => row.cpu - row.mean)",
    ),
    page(
        "types::group_of_group",
        "one value of values that are one already",
        "Inside `stat.*` stands an expression of a row, and `stat.*` itself gives one value for all rows of a group.\n\n  table |> data.group(by: [\"host\"], a: rows => stat.mean(stat.max(rows.cpu)))\n\nGroup twice when the groups are grouped again.",
    ),
    page(
        "types::header",
        "a file without a column of its type",
        "`row` says which columns a file has, and one of them is not there: the file has changed, or the name is spelt in another way.\n\n  type Reading = { time: time, cpu: float }\n  data.read(\"metrics.csv\", row: Reading)\n\nThe message shows the field and the header. `pipe schema FILE` writes the type that a file has now.",
    ),
    page(
        "types::index",
        "an index that does not fit",
        "Lists are indexed by whole numbers from 0, records by texts; both are known before the run.\n\n  let a = [1, 2][2]\n\nThe last item of two is number 1.",
    ),
    page(
        "types::inline_type",
        "a type where the name of one is wanted",
        "An argument cannot hold a type, only the name of one.\n\n  data.read(\"a.csv\", row: { cpu: float })\n\nDeclare the type and name it:\n\n  type Row = { cpu: float }\n  let rows = data.read(\"a.csv\", row: Row)",
    ),
    page(
        "types::interpolation",
        "a value that cannot be put into a text",
        "Texts take up scalars: numbers, texts, truths, times, durations and sizes.\n\n  let a = \"${table}\"\n\nPut a field of it in: `\"${table.rows} rows\"`.",
    ),
    page(
        "types::join_columns",
        "a join without columns",
        "`on` names the columns that have equal values in both tables.\n\n  a |> data.join(with: b, on: [])\n\nName at least one: `on: [\"time\"]`.",
    ),
    page(
        "types::join_names",
        "a join that would make two columns of one name",
        "A column of the other table that this table has too gets a suffix; here that name is taken as well.\n\nChoose another `suffix`.",
    ),
    page(
        "types::join_types",
        "joined columns of two types",
        "Values of different types are never equal, so the join would be empty.\n\nRead or derive the column with one type in both tables.",
    ),
    page(
        "types::list_lengths",
        "two lists of different lengths",
        "`list.zip` pairs items at the same place.\n\n  list.zip([1, 2], [\"a\"])\n\nGive both lists the same length.",
    ),
    page(
        "types::mismatch",
        "a value of another type",
        "The value is used where another type is declared. Whole numbers are taken where floats are wanted, and texts where paths, times or values of an enumeration are; nothing else is converted.\n\n  data.read(5)\n\nThe message names both types.",
    ),
    page(
        "types::missing_argument",
        "an argument that is needed",
        "Arguments without a default have to be given.\n\n  tokenizer.train(docs)\n\nThe message shows the arguments that there are:\n\n  tokenizer.train(docs, vocab: 4096)",
    ),
    page(
        "types::missing_column",
        "a table without a column that is needed",
        "The op reads this column.\n\n  threshold.quantile(series)\n\nAdd it, for example from another column:\n\n  series |> data.derive(score: row => row.cpu)",
    ),
    page(
        "types::missing_field",
        "a record without a field that is needed",
        "The type lists the fields that a value has; only optional ones may be left out.\n\nAdd the field.",
    ),
    page(
        "types::mixed_files",
        "files with different columns",
        "Files that are read as one table have the same columns.\n\nRead files of one kind, or give `row: T` with the columns that all of them have.",
    ),
    page(
        "types::mixed_list",
        "a list of several types",
        "All items of a list have one type.\n\n  let a = [1, \"two\"]\n\nUse a record for values of several types.",
    ),
    page(
        "types::never_none",
        "a test for a value that is never missing",
        "Only values of optional types, such as `int?`, can be `none`.\n\n  let a = 1 ?? 2\n\nLeave the test out.",
    ),
    page(
        "types::not_a_function",
        "a call of something that is not a function",
        "Only functions and ops can be called.\n\n  let a = 1\n  let b = a(2)",
    ),
    page(
        "types::not_a_list",
        "`for` over something that is not a list",
        "`for` walks lists and ranges.\n\n  for x in 5 { x }\n\nWrite `for x in 0..5 { x }`.",
    ),
    page(
        "types::not_a_record",
        "something that is not a record",
        "Rows of tables and bases of `..` are records.\n\n  data.read(\"a.csv\", row: int)\n\nWrite a record type: `type Row = { a: int }`.",
    ),
    page(
        "types::not_a_time",
        "a column that holds no times",
        "Times are read from ISO 8601 text or from seconds since 1970, and the column is named where the table is read:\n\n  data.read(\"series.csv\", time: \"ts\")",
    ),
    page(
        "types::number_range",
        "a number that is too large",
        "Whole numbers reach 9223372036854775807, durations 292 years, sizes 8 EiB.\n\nWrite larger numbers as floats, with `.0` at the end.",
    ),
    page(
        "types::op_as_value",
        "an op that is handed over",
        "Ops make nodes where they are called; they are not values.\n\n  list.max_by(xs, key: text.length)\n\nWrite a function: `key: x => text.length(x)`.",
    ),
    page(
        "types::op_in_row",
        "an op inside a function of rows",
        "A function of rows computes one value from one row. Ops work on whole artifacts.\n\n  table |> data.derive(n: row => list.first(for i in 0..3 { i }))\n\nCompute the artifact outside, and join it to the table.",
    ),
    page(
        "types::operands",
        "an operator between types that do not go together",
        "Numbers have no unit; durations and sizes have one and do not mix.\n\n  let a = 5m + 10GiB\n\nDivide by a unit to get a number: `window / 1s`. Texts are put together by interpolation: `\"${a}${b}\"`.",
    ),
    page(
        "types::optional",
        "a field of something that may be missing",
        "The value may be `none`, which has no fields.\n\nGive a value for that case first: `(value ?? other).field`.",
    ),
    page(
        "types::order_unused",
        "an order that nothing looks at",
        "`over` and `by` put rows into series for windows. A function that looks at its own row alone gives the same without them.\n\n  t |> data.filter(row => row.cpu > 0.9, over: [\"host\"])\n\nLeave them out, or look back: `row => window.held(row.cpu > 0.9) >= 5m`.",
    ),
    page(
        "types::output",
        "an output that is not a value",
        "Outputs are written to files: artifacts, numbers, texts, lists and records.\n\n  output f = x => x\n\nOutput what the function gives.",
    ),
    page(
        "types::param_default",
        "a default that is not known",
        "Parameters are known before anything runs, and so are their defaults.\n\n  param rows: int = table.rows\n\nWrite a constant.",
    ),
    page(
        "types::param_text",
        "a parameter whose text makes no sense",
        "Values from outside are written as in a program; texts and paths may go without quotes.\n\n  --set window=5\n\nfor `param window: duration` is written\n\n  --set window=5s",
    ),
    page(
        "types::param_type",
        "a parameter that cannot be given",
        "Parameters are given as text: scalars, lists and records of them.\n\n  param rows: Table<Row>\n\nTake a `path`, and read the file.",
    ),
    page(
        "types::pivot_columns",
        "columns of a pivot that are not known or do not fit",
        "The columns of a table are known before the run, and a column holds values of one type.\n\n  samples |> data.pivot(by: [\"time\"], name: \"metric\", value: \"value\")\n\nList the values that become columns: `columns: [\"cpu\", \"mem\"]`.",
    ),
    page(
        "types::quantile",
        "a quantile outside 0 and 1",
        "`q` is the share of the values that lie below.\n\n  stat.quantile(rows.latency, q: 99)\n\nWrite the 99th percentile as `q: 0.99`.",
    ),
    page(
        "types::row_result",
        "a function of rows that gives no scalar",
        "One row gives one scalar.\n\n  table |> data.derive(a: row => { x: 1 })\n\nDerive one column for each field.",
    ),
    page(
        "types::run_time_in_row",
        "a result inside a function of rows that is no single value",
        "A function of rows sees its row, constants, and single results such as `limit.value`; the run puts their values in.
A list, a record or a table cannot stand there.

  table |> data.filter(row => row.host in busy.hosts)

Compare with single results, or join the values to the table as a column:

  table |> data.filter(row => row.host == busy.host)",
    ),
    page(
        "types::split_share",
        "shares that do not make a split",
        "Shares lie between 0 and 1, at least one is above 0, and together they are at most 1.\n\n  table |> data.split(by: \"time\", train: 80, test: 20)\n\nWrite `train: 0.8, test: 0.2`.",
    ),
    page(
        "types::take_apart",
        "a value that cannot be taken apart",
        "`for (a, b) in pairs` takes records and lists apart that have as many fields as there are names.\n\n  for (a, b) in [1, 2] { a }\n\nUse one name, or walk `list.zip(xs, ys)`.",
    ),
    page(
        "types::type_arguments",
        "a wrong number of type arguments",
        "`Table<Row>` takes a row type, and perhaps a part; `int` takes none.\n\n  param n: int<str> = 1",
    ),
    page(
        "types::unknown_argument",
        "an argument that the function does not have",
        "Arguments are named after the parameters in the signature.\n\n  metrics.resample(table, evry: 5s, by: \"mean\")\n\n`pipe doc metrics.resample` shows them.",
    ),
    page(
        "types::unknown_column",
        "a column that the table does not have",
        "Columns come from the file's header, from `row: T`, and from the ops in between.\n\n  joined |> data.filter(row => row.latency_p9 > 2.0)\n\nThe message lists the columns. A column with any name is read with `row[\"CPU (%)\"]`.",
    ),
    page(
        "types::unknown_field",
        "a field that a value does not have",
        "Records and artifacts have the fields that their types list.\n\n  let shape = { layers: 4 }\n  let n = shape.layer\n\nThe message lists them.",
    ),
    page(
        "types::unknown_type",
        "a type that nothing declares",
        "The types are bool int float str path time duration size, `T?`, `[T]`, records, enumerations of texts, functions, `Table<Row>`, artifact types of the library, and those declared with `type`.\n\n  param name: string = \"a\"\n\nWrite `str`.",
    ),
    page(
        "types::unknown_value",
        "a text that is not a value of the enumeration",
        "An enumeration lists its values.\n\n  metrics.resample(table, every: 5s, by: \"avg\")\n\nUse one of them: `by: \"mean\"`.",
    ),
    page(
        "types::unnamed_argument",
        "an argument without its name",
        "The first argument is the subject; all others are named, so that calls explain themselves and their order does not matter.\n\n  metrics.resample(table, 5s, \"mean\")\n\nWrite\n\n  metrics.resample(table, every: 5s, by: \"mean\")",
    ),
    page(
        "types::value_per_row",
        "a value per row where one per group is wanted",
        "A function of a group gives one value, and a column has one in each row.\n\n  table |> data.group(by: [\"host\"], cpu: rows => rows.cpu)\n\nSay which one: `stat.mean(rows.cpu)`, `stat.max(rows.cpu)`, `stat.last(rows.cpu)`. The columns of `by` have one value in a group and may be read as they are.",
    ),
    page(
        "types::window_length",
        "a window without a length, or with two kinds of length",
        "`length` and `step` of a window are longer than nothing, and both durations or both numbers of rows.\n\n  series |> data.window(length: 5m, step: 10, cpu: rows => stat.mean(rows.cpu))\n\nWrite `step: 10s`, or `length: 300` rows.",
    ),
    page(
        "types::window_needs_time",
        "a window of time over rows without times",
        "A window such as `5m`, a half-life and `window.held` measure time, so they need to know when each row was: from the column that `by` names, or from the table's only column of times.\n\n  type Row = { cpu: float }\n  data.read(\"a.csv\", row: Row) |> data.derive(mean: row => window.mean(row.cpu, 5m))\n\nName the column, `by: \"time\"`; read one as times, `data.read(.., time: \"time\")`; or count rows, `window.mean(row.cpu, 12)`.",
    ),
    page(
        "types::window_outside_rows",
        "a window where there are no rows",
        "Windows look at the rows before one, so they stand in the functions of rows of `data.derive` and `data.filter`.\n\n  let a = window.mean(0.5, 12)\n\nDerive a column:\n\n  table |> data.derive(mean: row => window.mean(row.cpu, 12))",
    ),
    page(
        "types::window_size",
        "a window whose size makes no sense",
        "A window reaches back over at least one row or over a time above zero, and is as large for every row. It never reaches ahead: what comes later is not known when a row arrives.\n\n  window.lag(row.cpu, -1)\n\nGive a number of rows or a duration that is known before the run: `window.lag(row.cpu, 1)`.",
    ),
    page(
        "types::window_without_order",
        "a window in a function that sees each row alone",
        "Only `data.derive` and `data.filter` put rows in an order (`over`, `by`) in which something comes before. Other ops take each row by itself.\n\n  t |> data.split(by: \"group\", key: row => window.lag(row.host, 1), train: 1.0)\n\nDerive a column, and use that:\n\n  t |> data.derive(before: row => window.lag(row.host, 1)) |> data.split(by: \"group\", key: row => row.before, train: 1.0)",
    ),
];
