//! Recursion: values that grow with every step.

use std::collections::HashMap;

use sqlparser::ast::DataType;

use super::arena::{Item, Kind, Slot};
use super::counts::Counts;
use super::excess::Excess;
use super::listing::Listing;
use crate::guard::functions::{Group, Number, Size};

/// The effect of a node on a column of the recursion.
enum Makes {
    /// A value that holds it once.
    Constructor,
    /// A text of what it is built into, which is escaped again with every step.
    Escaped,
    /// A number or true or false.
    Nothing,
    /// Something else of the same size.
    Same,
}

/// In a recursive term no column of its own stands twice under what builds a value, nor where it is repeated or escaped.
pub(super) fn check(listing: &Listing<'_>, counts: &Counts) -> Result<(), (usize, Excess)> {
    for (query, name) in listing.recursive() {
        let reads =
            |item: &Item<'_>| matches!(item.kind, Kind::Table { name: Some(read), .. } if read == name);
        let tables: Vec<&str> = listing
            .within(query)
            .filter_map(|(_, item)| match item.kind {
                Kind::Table { alias, .. } if !reads(item) => Some(alias),
                _ => None,
            })
            .collect();
        let reading = |level: usize| listing.within(level).any(|(_, item)| reads(item));
        for (root, item) in listing.within(query).filter(|(_, item)| item.slot == Slot::Output) {
            if reading(item.parent) {
                output(listing, counts, root, &tables)?;
            }
        }
    }
    Ok(())
}

fn output(
    listing: &Listing<'_>,
    counts: &Counts,
    root: usize,
    tables: &[&str],
) -> Result<(), (usize, Excess)> {
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for (index, item) in listing.within(root) {
        let Kind::Column { of, name } = item.kind else { continue };
        if of.is_some_and(|of| tables.contains(&of)) {
            continue;
        }
        let refused =
            |by: usize| Err((item.at, Excess::Recursion { column: name.to_owned(), name: listing.name(by) }));
        let (mut slot, mut constructor) = (item.slot, None);
        for (outer, item) in listing.around(index).take_while(|(outer, _)| *outer >= root) {
            if slot == Slot::Condition {
                constructor = None;
                break;
            }
            match makes(listing, counts, outer) {
                Makes::Constructor => constructor = Some(outer),
                Makes::Escaped if constructor.is_some() || !matches!(item.kind, Kind::Cast(_)) => {
                    return refused(outer);
                }
                Makes::Nothing => {
                    constructor = None;
                    break;
                }
                Makes::Escaped | Makes::Same => {}
            }
            slot = item.slot;
        }
        if let Some(outer) = constructor {
            let uses = uses.entry(name).or_default();
            *uses += 1;
            if *uses > 1 {
                return refused(outer);
            }
        }
    }
    Ok(())
}

fn makes(listing: &Listing<'_>, counts: &Counts, index: usize) -> Makes {
    let lengthens = counts.growth.get(index).is_some_and(|growth| *growth > 1.0)
        || counts.factors.iter().any(|factor| factor.index == index)
        || counts.replacing.contains(&index);
    match listing.kind(index) {
        Kind::Operator("||") | Kind::Build => Makes::Constructor,
        Kind::Cast(DataType::Array(_)) => Makes::Same,
        Kind::Cast(_) => Makes::Escaped,
        Kind::Truth => Makes::Nothing,
        Kind::Operator(operator) if crate::guard::functions::operators::compares(operator) => Makes::Nothing,
        Kind::Call(_, None) => Makes::Escaped,
        Kind::Call(_, Some(function)) => match (function.size, function.number) {
            (_, Number::Counts | Number::Part) => Makes::Nothing,
            (Size::Flat | Size::Digits(_) | Size::Matches(_) | Size::Corners(_), Number::Large)
                if matches!(function.group, Group::Arrays | Group::Texts | Group::Json) =>
            {
                Makes::Constructor
            }
            (Size::Flat | Size::Digits(_) | Size::Matches(_) | Size::Corners(_), _) => Makes::Same,
            (Size::Product(..) | Size::Template(_), _) if !lengthens => Makes::Constructor,
            (Size::Grows, _)
                if matches!(function.group, Group::Json | Group::Aggregates | Group::Grammar) =>
            {
                Makes::Constructor
            }
            (Size::Grows | Size::Count(_) | Size::Lengths(_) | Size::Product(..) | Size::Template(_), _) => {
                Makes::Escaped
            }
        },
        _ => Makes::Same,
    }
}
