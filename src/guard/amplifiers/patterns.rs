//! Patterns: JSON paths that find an item many times, and regular expressions that repeat repetitions.

use super::arena::Kind;
use super::excess::{Excess, MAX_ITEMS, MAX_REPETITIONS};
use super::listing::Listing;
use super::{literals, templates};
use crate::guard::functions::Keys;
use crate::guard::judge::names::type_name;

/// Checks every path and every regular expression that is written, and that paths are.
pub(super) fn check(listing: &Listing<'_>) -> Result<(), (usize, Excess)> {
    for (index, item) in listing.iter() {
        match item.kind {
            Kind::Call(_, Some(function)) if function.keys == Keys::Path => {
                path(listing, listing.named(index, "path").or(listing.argument(index, 1)), true)?;
            }
            Kind::Call(_, Some(function)) => {
                repetitions(listing, function.pattern.and_then(|pattern| listing.argument(index, pattern)))?;
            }
            Kind::Operator("@?") => path(listing, listing.argument(index, 1), true)?,
            // Behind a text search's operator stands no path.
            Kind::Operator("@@") => path(listing, listing.argument(index, 1), false)?,
            Kind::Operator("~" | "~*" | "!~" | "!~*") => repetitions(listing, listing.argument(index, 1))?,
            Kind::Cast(data_type) if type_name(data_type) == "jsonpath" => {
                path(listing, listing.argument(index, 0), true)?
            }
            _ => {}
        }
    }
    Ok(())
}

fn path(listing: &Listing<'_>, path: Option<usize>, always: bool) -> Result<(), (usize, Excess)> {
    let Some(path) = path else { return Ok(()) };
    match listing.literal(path) {
        Some(value) if templates::fan_out(literals::text(value)).is_none_or(|items| items > MAX_ITEMS) => {
            Err((listing.at(path), Excess::Path))
        }
        Some(_) => Ok(()),
        None if !always || matches!(listing.kind(listing.bare(path)), Kind::Column { .. }) => Ok(()),
        None => Err((listing.at(path), Excess::PathMade)),
    }
}

fn repetitions(listing: &Listing<'_>, pattern: Option<usize>) -> Result<(), (usize, Excess)> {
    let written = pattern.and_then(|pattern| Some((pattern, listing.literal(pattern)?)));
    match written {
        Some((pattern, value)) if templates::repetitions(literals::text(value)) > MAX_REPETITIONS => {
            Err((listing.at(pattern), Excess::Repetitions))
        }
        Some(_) | None => Ok(()),
    }
}
