//! Types as they are written in `.pipe`.

use super::{Record, Type};
use crate::value::{FieldName, Quoted};
use std::fmt;

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error => f.write_str("?"),
            Self::Any => f.write_str("any"),
            Self::Bool => f.write_str("bool"),
            Self::Int => f.write_str("int"),
            Self::Float => f.write_str("float"),
            Self::Str => f.write_str("str"),
            Self::Path => f.write_str("path"),
            Self::Time => f.write_str("time"),
            Self::Duration => f.write_str("duration"),
            Self::Size => f.write_str("size"),
            Self::None => f.write_str("none"),
            Self::Enum(values) => joined(f, values.iter().map(|value| Quoted(value)), " | "),
            Self::Optional(inner) => match &**inner {
                Self::Enum(_) | Self::Union(_) | Self::Function(_) => write!(f, "({inner})?"),
                _ => write!(f, "{inner}?"),
            },
            Self::List(item) => write!(f, "[{item}]"),
            Self::Record(record) => write!(f, "{record}"),
            Self::Table(table) => match &table.part {
                Some(part) => write!(f, "Table<{}, {part}>", table.row),
                None => write!(f, "Table<{}>", table.row),
            },
            Self::Artifact(artifact) => {
                f.write_str(&artifact.name)?;
                let part = artifact.part.iter().map(|part| part.to_string());
                let args: Vec<String> =
                    artifact.args.iter().map(Self::to_string).chain(part).collect();
                if args.is_empty() { Ok(()) } else { write!(f, "<{}>", args.join(", ")) }
            }
            Self::Function(function) => {
                f.write_str("(")?;
                joined(f, function.params.iter(), ", ")?;
                write!(f, ") -> {}", function.result)
            }
            Self::Kind => f.write_str("Type"),
            Self::Var(name) => f.write_str(name),
            Self::Union(members) => joined(f, members.iter(), " | "),
        }
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(rest) = &self.spread {
            parts.push(format!("..{rest}"));
        }
        parts.extend(self.fields.iter().map(|(name, ty)| format!("{}: {ty}", FieldName(name))));
        if self.open {
            parts.push("..".into());
        }
        if parts.is_empty() {
            return f.write_str("{}");
        }
        write!(f, "{{ {} }}", parts.join(", "))
    }
}

fn joined<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: impl Iterator<Item = T>,
    between: &str,
) -> fmt::Result {
    for (at, item) in items.enumerate() {
        write!(f, "{}{item}", if at == 0 { "" } else { between })?;
    }
    Ok(())
}

/// A type for a message: of long records and tables only the beginning.
pub(crate) fn brief(ty: &Type) -> String {
    const SHOWN: usize = 3;
    let record = |record: &Record| {
        let mut parts: Vec<String> = record.spread.iter().map(|rest| format!("..{rest}")).collect();
        let fields = record.fields.iter().take(SHOWN);
        parts.extend(fields.map(|(name, ty)| format!("{}: {}", FieldName(name), brief(ty))));
        if record.open || record.fields.len() > SHOWN {
            parts.push("..".into());
        }
        if parts.is_empty() { "{}".into() } else { format!("{{ {} }}", parts.join(", ")) }
    };
    match ty {
        Type::Record(fields) => record(fields),
        Type::Table(table) => {
            let part = table.part.as_ref().map_or(String::new(), |part| format!(", {part}"));
            match &table.row {
                Type::Record(row) if row.fields.len() > SHOWN => {
                    format!("Table<{}{part}>", record(row))
                }
                row => format!("Table<{row}{part}>"),
            }
        }
        Type::Optional(inner) if matches!(**inner, Type::Record(_) | Type::Table(_)) => {
            format!("{}?", brief(inner))
        }
        Type::List(item) => format!("[{}]", brief(item)),
        other => other.to_string(),
    }
}

/// The names of a row's columns for a message: at most twelve, then how many more.
pub(crate) fn columns_text(row: &Record) -> String {
    const SHOWN: usize = 12;
    let names: Vec<String> =
        row.names().take(SHOWN).map(|name| FieldName(name).to_string()).collect();
    let more = row.fields.len().saturating_sub(SHOWN);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    if names.is_empty() { "none".into() } else { format!("{}{more}", names.join(", ")) }
}
