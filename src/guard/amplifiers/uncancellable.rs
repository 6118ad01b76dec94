//! Calls that nothing cancels, on values that the statement itself makes; and functions of which nothing is known.

use std::collections::HashSet;

use super::arena::{Kind, Slot};
use super::counts::Counts;
use super::excess::Excess;
use super::listing::Listing;
use crate::guard::functions::Rows;

/// PostgreSQL does not look at cancels while it compares two values: one of them must be a literal or a table's.
pub(super) fn check(listing: &Listing<'_>) -> Result<(), (usize, Excess)> {
    let recursive = listing.recursive().next().is_some();
    if !listing.collects() && !recursive {
        return Ok(());
    }
    let with: HashSet<&str> = listing
        .iter()
        .filter_map(|(_, item)| match item.kind {
            Kind::Query(Some(cte)) => Some(cte.alias.name.value.as_str()),
            _ => None,
        })
        .collect();
    for (index, _) in listing.iter().filter(|(index, _)| listing.is_quadratic(*index)) {
        // What an aggregate makes nests no deeper than what it is made of.
        if matches!(listing.kind(index), Kind::Call("jsonb_pretty", _)) && !recursive {
            continue;
        }
        let mut operands = listing.children(index).filter(|(_, item)| item.slot.is_argument());
        if !operands.any(|(operand, _)| is_small(listing, &with, operand)) {
            return Err((listing.at(index), Excess::Uncancellable { name: listing.name(index) }));
        }
    }
    Ok(())
}

/// Returns true for a value of literals and of columns of tables alone, row by row.
fn is_small(listing: &Listing<'_>, with: &HashSet<&str>, operand: usize) -> bool {
    listing.within(operand).all(|(index, item)| match item.kind {
        Kind::Column { of, .. } => is_of_table(listing, with, index, of),
        Kind::Call(_, Some(function)) => function.rows == Rows::One,
        Kind::Call(_, None) | Kind::Star | Kind::Kept => false,
        kind => !kind.is_level(),
    })
}

/// Returns true for a column of a table that is named in the same FROM.
fn is_of_table(listing: &Listing<'_>, with: &HashSet<&str>, index: usize, of: Option<&str>) -> bool {
    let Some(of) = of else {
        let mut sources = listing
            .children(listing.level(index))
            .filter(|(_, item)| matches!(item.slot, Slot::From | Slot::Lateral));
        return sources.all(|(source, item)| match item.kind {
            Kind::Table { name, .. } => !name.is_some_and(|name| with.contains(name)),
            // What a function makes of literals is as large as these say.
            Kind::Call(..) => listing.within(source).all(|(_, item)| match item.kind {
                Kind::Column { .. } | Kind::Star => false,
                kind => !kind.is_level(),
            }),
            _ => false,
        });
    };
    let mut levels = listing.around(index).filter(|(_, item)| matches!(item.kind, Kind::Rows { .. }));
    levels.any(|(level, _)| {
        listing.children(level).any(|(_, item)| {
            matches!(item.kind, Kind::Table { name, alias } if alias == of && !name.is_some_and(|name| with.contains(name)))
        })
    })
}

/// A function that the operator added may make anything: it stands neither in nor around what multiplies.
pub(super) fn check_added(listing: &Listing<'_>, counts: &Counts) -> Result<(), (usize, Excess)> {
    let mut multiplies = vec![false; listing.items.len()];
    let indices = counts
        .factors
        .iter()
        .chain(&counts.moving)
        .map(|factor| factor.index)
        .chain(counts.replacing.iter().copied());
    for index in indices.filter(|index| matches!(listing.kind(*index), Kind::Call(..))) {
        if let Some(place) = multiplies.get_mut(index) {
            *place = true;
        }
    }
    for (index, item) in listing.iter() {
        let Kind::Call(name, None) = item.kind else { continue };
        let mut near = listing.around(index).chain(listing.within(index));
        if let Some((around, _)) = near.find(|(index, _)| multiplies.get(*index) == Some(&true)) {
            return Err((item.at, Excess::Added { name: name.to_owned(), around: listing.name(around) }));
        }
    }
    Ok(())
}
