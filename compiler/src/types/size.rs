//! How large a type is when it is written out.
//!
//! A record whose two fields have the type before it doubles at each step, and shares all of it: cheap to hold, endless
//! to compare or to print.

use super::{Record, Type};

/// Most names and parts of a type.
pub(crate) const MAX_PARTS: usize = 1 << 18;

/// Whether a type has more than [`MAX_PARTS`] parts, those that it shares counted each time. It looks no further.
pub(crate) fn is_huge(ty: &Type) -> bool {
    !fits(ty, &mut MAX_PARTS.clone())
}

fn fits(ty: &Type, left: &mut usize) -> bool {
    let Some(rest) = left.checked_sub(1) else { return false };
    *left = rest;
    match ty {
        Type::Optional(inner) | Type::List(inner) => fits(inner, left),
        Type::Record(record) => record_fits(record, left),
        Type::Table(table) => fits(&table.row, left),
        Type::Artifact(artifact) => {
            record_fits(&artifact.fields, left) && artifact.args.iter().all(|arg| fits(arg, left))
        }
        Type::Function(function) => {
            function.params.iter().all(|param| fits(param, left)) && fits(&function.result, left)
        }
        Type::Union(members) => members.iter().all(|member| fits(member, left)),
        _ => true,
    }
}

fn record_fits(record: &Record, left: &mut usize) -> bool {
    record.fields.iter().all(|(_, ty)| fits(ty, left))
}
