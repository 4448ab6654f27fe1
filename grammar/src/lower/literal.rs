//! Numbers with units, strings with interpolation, `"""` strings without their indentation.

use super::{Lower, broken};
use crate::ast::{ExprKind, Name, Number, StrPart, Unit};
use crate::problem::Problem;
use crate::source::Span;
use crate::syntax::Rule;
use crate::words;
use pest::iterators::Pair;

impl Lower<'_> {
    /// `number = mantissa ~ suffix?`
    pub(super) fn number(&mut self, pair: Pair<'_, Rule>) -> ExprKind {
        let whole = self.span(&pair);
        let mut text = String::new();
        let mut unit = None;
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::mantissa => inner.as_str().clone_into(&mut text),
                _ => match words::unit(inner.as_str()) {
                    Some(known) => unit = Some(known),
                    None => {
                        let span = self.span(&inner);
                        match compound(&text, inner.as_str()) {
                            Some(meant) => self.several_units(whole, &meant),
                            None => self.unknown_unit(&text, inner.as_str(), span),
                        }
                        return ExprKind::Broken;
                    }
                },
            }
        }
        let digits = text.replace('_', "");
        let value: f64 = digits.parse().unwrap_or(f64::INFINITY);
        let integral = digits.bytes().all(|byte| byte.is_ascii_digit());
        let integer = if integral { digits.parse().ok() } else { exact_integer(value) };
        let scale = match unit {
            Some(Unit::Duration(_, scale) | Unit::Size(_, scale)) => Some(scale),
            None => None,
        };
        let fits = scale.is_none_or(|scale| value * scale as f64 <= i64::MAX as f64);
        if !value.is_finite() || !fits || (integral && integer.is_none()) {
            self.out_of_range(whole, integral, scale.is_some());
            return ExprKind::Broken;
        }
        ExprKind::Number(Number { text, value, integer, unit })
    }

    fn out_of_range(&mut self, span: Span, integral: bool, measured: bool) {
        let limit = match (measured, integral) {
            (true, _) => "durations reach 292 years and sizes 8 EiB",
            (_, true) => "the largest integer is 9223372036854775807",
            _ => "the largest float is about 1.8e308",
        };
        let help = if measured || !integral {
            "write a smaller number"
        } else {
            "write a float such as `1e19`"
        };
        let problem =
            Problem::error("syntax::number_range", span, "the number is out of range").label(limit);
        self.report(problem.help(help));
    }

    fn several_units(&mut self, span: Span, meant: &str) {
        let problem = Problem::error("syntax::unknown_unit", span, "a number has one unit");
        self.report(problem.label(format!("this is `{meant}`")).edit(span, meant).certain());
    }

    fn unknown_unit(&mut self, number: &str, unit: &str, span: Span) {
        let based = number == "0" && unit.starts_with(['x', 'X', 'b', 'o']) && unit.len() > 1;
        let mut problem =
            Problem::error("syntax::unknown_unit", span, format!("`{unit}` is not a unit"));
        if based {
            problem =
                problem.label("numbers are decimal").help("write the number with decimal digits");
        } else if let Some(meant) = words::meant_unit(unit) {
            problem = problem.label(format!("did you mean `{meant}`?")).edit(span, meant);
            problem = problem.help(format!("write `{number}{meant}`; {}", known_units()));
            // One letter may stand for several units: `M` is a minute or a million bytes.
            problem = if unit.len() > 1 { problem.certain() } else { problem };
        } else {
            problem = problem.label("unknown unit").help(known_units());
        }
        self.report(problem);
    }

    /// A string that may not interpolate: a path, a record key, a literal type.
    pub(super) fn plain_string(&mut self, pair: Pair<'_, Rule>) -> String {
        let span = self.span(&pair);
        let mut text = String::new();
        for part in self.string(pair) {
            match part {
                StrPart::Text(part) => text.push_str(&part),
                StrPart::Interpolation(value) => {
                    let problem = Problem::error(
                        "syntax::plain_string",
                        value.span,
                        "this string has to be fixed text",
                    )
                    .label("it cannot contain `${...}`")
                    .also(span, "a path, a key or a literal type");
                    self.report(problem.help("write the text itself"));
                }
            }
        }
        text
    }

    /// A field name in quotes, such as `"CPU (%)"`.
    pub(super) fn quoted_name(&mut self, pair: Pair<'_, Rule>) -> Name {
        let span = self.span(&pair);
        Name { text: self.plain_string(pair), span }
    }

    /// The parts of a string, with escapes resolved.
    pub(super) fn string(&mut self, pair: Pair<'_, Rule>) -> Vec<StrPart> {
        let triple = pair.as_str().starts_with("\"\"\"");
        let raw = pair.as_str();
        if !triple && raw.contains('\n') {
            self.broken_line(&pair);
        }
        let mut parts = Vec::new();
        let mut text = String::new();
        for inner in pair.into_inner() {
            match inner.as_rule() {
                Rule::escape => text.push(self.escape(&inner)),
                Rule::interp => {
                    if !text.is_empty() {
                        parts.push(StrPart::Text(std::mem::take(&mut text)));
                    }
                    let span = self.span(&inner);
                    let value = inner.into_inner().next().map(|expr| self.expr(expr));
                    parts.push(StrPart::Interpolation(value.unwrap_or_else(|| broken(span))));
                }
                _ => text.push_str(inner.as_str()),
            }
        }
        if !text.is_empty() || (parts.is_empty() && !triple) {
            parts.push(StrPart::Text(text));
        }
        if triple { dedent(parts) } else { parts }
    }

    fn broken_line(&mut self, pair: &Pair<'_, Rule>) {
        let start = pair.as_span().start();
        let length = pair.as_str().find(['\r', '\n']).unwrap_or(1);
        let problem = crate::recover::unclosed_string(
            self.at(start, start + 1),
            self.at(start + length, start + length),
        );
        self.report(problem);
    }

    fn escape(&mut self, pair: &Pair<'_, Rule>) -> char {
        let escaped = pair.as_str().chars().nth(1).unwrap_or('\\');
        match escaped {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '"' | '\\' | '$' => escaped,
            other => {
                let span = self.span(pair);
                let problem = Problem::error("syntax::unknown_escape", span, format!("`\\{other}` is not an escape"))
                    .label("escapes are `\\n \\t \\r \\\" \\\\ \\$`")
                    .help(format!("write `\\\\{other}` for a backslash, or use a `\"\"\"` string, which has no escapes"));
                self.report(problem.edit(span, format!("\\\\{other}")));
                other
            }
        }
    }
}

/// `1h30m` as `90m`: all parts in the smallest of the units.
fn compound(number: &str, rest: &str) -> Option<String> {
    let mut parts = vec![(number.replace('_', ""), String::new())];
    for sign in rest.chars() {
        let (digits, unit) = parts.last_mut()?;
        match sign {
            '0'..='9' if unit.is_empty() => digits.push(sign),
            '0'..='9' => parts.push((sign.to_string(), String::new())),
            '_' => {}
            _ => unit.push(sign),
        }
    }
    let mut total = 0u64;
    let mut smallest: Option<(&str, u64)> = None;
    let mut duration = None;
    for (digits, written) in &parts {
        let unit = words::unit(written).or_else(|| words::unit(words::meant_unit(written)?))?;
        let (Unit::Duration(name, scale) | Unit::Size(name, scale)) = unit;
        let scale = u64::try_from(scale).ok()?;
        let kind = matches!(unit, Unit::Duration(..));
        if duration.replace(kind).is_some_and(|before| before != kind) {
            return None;
        }
        let value = digits.parse::<f64>().ok()? * scale as f64;
        let exact = exact_integer(value).and_then(|value| u64::try_from(value).ok())?;
        total = total.checked_add(exact)?;
        if smallest.is_none_or(|(_, least)| scale < least) {
            smallest = Some((name, scale));
        }
    }
    let (name, scale) = smallest.filter(|_| parts.len() > 1)?;
    (total.is_multiple_of(scale) && i64::try_from(total).is_ok())
        .then(|| format!("{}{name}", total / scale))
}

/// The list of units, for messages.
fn known_units() -> String {
    let names = |wanted: fn(&Unit) -> bool| {
        let units = words::UNITS.iter().filter(move |(_, unit)| wanted(unit));
        units.map(|(name, _)| *name).collect::<Vec<_>>().join(" ")
    };
    let durations = names(|unit| matches!(unit, Unit::Duration(..)));
    let sizes = names(|unit| matches!(unit, Unit::Size(..)));
    format!("durations are {durations}; sizes are {sizes}")
}

/// `2e9` as an integer: floats with an integral value below 2^63.
fn exact_integer(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() < 9_223_372_036_854_775_808.0).then_some(value as i64)
}

/// Drops the first line when blank, the last when blank, and the indentation that all other lines share.
fn dedent(parts: Vec<StrPart>) -> Vec<StrPart> {
    let mut parts: Vec<StrPart> = parts
        .into_iter()
        .map(|part| match part {
            StrPart::Text(text) => StrPart::Text(text.replace("\r\n", "\n")),
            other => other,
        })
        .collect();
    let opened = match parts.first_mut() {
        Some(StrPart::Text(text)) => match text.split_once('\n') {
            Some((head, rest)) if head.trim().is_empty() => {
                *text = rest.to_owned();
                true
            }
            _ => false,
        },
        _ => false,
    };
    if let Some(StrPart::Text(text)) = parts.last_mut()
        && let Some(at) = text.rfind('\n')
        && text.get(at..).is_some_and(|tail| tail.trim().is_empty())
    {
        text.truncate(at);
    } else if opened
        && parts.len() == 1
        && matches!(parts.first(), Some(StrPart::Text(t)) if t.trim().is_empty())
    {
        parts.clear();
    }
    let margin = margin(&parts, opened);
    let mut at_line_start = opened;
    let count = parts.len();
    for (index, part) in parts.iter_mut().enumerate() {
        if let StrPart::Text(text) = part {
            *text = strip(text, &margin, at_line_start, index + 1 < count);
        }
        at_line_start = false;
    }
    parts.retain(|part| !matches!(part, StrPart::Text(text) if text.is_empty()));
    if parts.is_empty() { vec![StrPart::Text(String::new())] } else { parts }
}

/// The white space that all lines with content share.
fn margin(parts: &[StrPart], opened: bool) -> String {
    let mut margin: Option<String> = None;
    let mut at_line_start = opened;
    for (index, part) in parts.iter().enumerate() {
        let StrPart::Text(text) = part else {
            if at_line_start {
                margin = Some(String::new());
            }
            at_line_start = false;
            continue;
        };
        let mut lines = text.split('\n').enumerate().peekable();
        while let Some((number, line)) = lines.next() {
            let blank = line.trim().is_empty();
            let last = lines.peek().is_none();
            let counted =
                (number > 0 || at_line_start) && (!blank || (last && index + 1 < parts.len()));
            if counted {
                let indent: String = line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
                margin = Some(margin.map_or(indent.clone(), |known| common(&known, &indent)));
            }
        }
        at_line_start = false;
    }
    margin.unwrap_or_default()
}

fn common(left: &str, right: &str) -> String {
    left.chars().zip(right.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
}

/// `text` without `margin` at the start of each line; lines of white space alone become empty.
fn strip(text: &str, margin: &str, at_line_start: bool, followed: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.split('\n').enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        if number > 0 {
            out.push('\n');
        }
        let blank = line.trim().is_empty() && !(followed && lines.peek().is_none());
        if number == 0 && !at_line_start {
            out.push_str(line);
        } else if !blank {
            out.push_str(line.strip_prefix(margin).unwrap_or(line));
        }
    }
    out
}
