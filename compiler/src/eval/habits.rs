//! What people write who come from another language, and what is written here.

/// Help for a name that does not exist.
pub(super) fn of_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "len" | "length" | "count" | "size" => {
            "a table has the field `rows`: `t.rows`; a list is counted by `list.length(xs)`"
        }
        "print" | "println" | "show" => "results are written as outputs: `output name = value`",
        "range" => "whole numbers in a row are written `0..10`",
        "map" | "filter" => {
            "a list is walked by `for x in xs if x > 0 { x + 1 }`; rows of a table by `data.filter` and `data.derive`"
        }
        "sum" | "mean" | "min" | "max" => {
            "a list has `list.sum(xs)` and its like, groups of rows `stat.sum(rows.x)`"
        }
        "str" | "string" | "format" => "a value stands in a text as `\"${value}\"`",
        _ => return None,
    })
}

/// Help for a method of a list.
pub(super) fn of_list(name: &str) -> String {
    let op = match name {
        "len" | "size" | "count" => "length",
        "sorted" | "sort_values" => "sort",
        "append" | "extend" | "push" => "concat",
        "average" => "mean",
        other => other,
    };
    match op {
        "map" | "filter" | "each" | "forEach" => {
            "a list is walked by `for`: `for x in xs if x > 0 { x + 1 }`".to_owned()
        }
        "length" | "first" | "last" | "sum" | "mean" | "min" | "max" | "sort" | "reverse" => {
            format!("write `list.{op}(xs)`")
        }
        "concat" | "zip" => format!("write `list.{op}(xs, others)`"),
        _ => "an element is read by its place: `xs[0]`; `pipe doc list` lists the ops of lists"
            .to_owned(),
    }
}
