//! The classes of operators and types.

use super::function::Time;

/// Operators that nothing cancels while they compare two values: text by text, element by element, edge by edge.
#[rustfmt::skip]
const QUADRATIC: &[&str] = &[
    "!~~", "!~~*", "##", "%>", "%>>", "&&", "<%", "<->", "<->>", "<->>>", "<<%", "<<->", "<<<->", "<@", "?#",
    "?&", "?|", "@>", "@?", "@@", "~~", "~~*",
];
/// Operators that give true or false of two values.
const COMPARISONS: &[&str] = &["<", "<=", "<>", "=", ">", ">=", "and", "or"];
/// Operators that take a part of their left operand.
const ACCESSORS: &[&str] = &["#>", "#>>", "->", "->>"];
/// Types that pad to a length, or to so many digits.
const PADDED: &[&str] = &["bit", "bpchar", "char", "character", "dec", "decimal", "numeric"];
/// Types whose values write an exponent out.
const EXPANDED: &[&str] = &["dec", "decimal", "json", "jsonb", "numeric", "nummultirange", "numrange"];
/// Types whose text holds digits that are no number.
const DIGITS: &[&str] = &[
    "bytea",
    "cidr",
    "date",
    "inet",
    "interval",
    "macaddr",
    "macaddr8",
    "time",
    "timestamp",
    "timestamptz",
    "timetz",
    "uuid",
];

/// The time of an operator.
pub(crate) fn time_of(operator: &str) -> Time {
    if QUADRATIC.contains(&operator) { Time::Quadratic } else { Time::Linear }
}

/// Whether an operator gives true or false.
pub(crate) fn compares(operator: &str) -> bool {
    COMPARISONS.contains(&operator)
}

/// Whether an operator takes a part of its left operand.
pub(crate) fn accesses(operator: &str) -> bool {
    ACCESSORS.contains(&operator)
}

/// Whether the number in a type's parentheses is a length that its values are padded to.
pub(crate) fn pads(data_type: &str) -> bool {
    PADDED.contains(&data_type)
}

/// Whether a type writes out exponents.
pub(crate) fn expands(data_type: &str) -> bool {
    EXPANDED.contains(&data_type)
}

/// Whether the digits in a type's text are no number that a count could be.
pub(crate) fn holds_digits(data_type: &str) -> bool {
    DIGITS.contains(&data_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        for list in [QUADRATIC, COMPARISONS, ACCESSORS, PADDED, EXPANDED, DIGITS] {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
        }
    }
}
