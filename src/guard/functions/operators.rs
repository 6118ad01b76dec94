//! The classes of operators and types.

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
#[rustfmt::skip]
const DIGITS: &[&str] = &[
    "bytea", "cidr", "date", "inet", "interval", "macaddr", "macaddr8", "time", "timestamp", "timestamptz", "timetz",
    "uuid",
];

/// Parts of a date that are small numbers.
const SMALL_PARTS: &[&str] = &[
    "day", "dow", "doy", "hour", "isodow", "isoyear", "minute", "month", "quarter", "second", "week", "year",
];

/// Returns true for a part of a date that is a small number.
pub(crate) fn is_small_part(field: &str) -> bool {
    SMALL_PARTS.contains(&field.trim_matches('\'').to_ascii_lowercase().as_str())
}

/// Returns true for an operator that nothing cancels.
pub(crate) fn is_quadratic(operator: &str) -> bool {
    QUADRATIC.contains(&operator)
}

/// Returns true for an operator that gives true or false.
pub(crate) fn compares(operator: &str) -> bool {
    COMPARISONS.contains(&operator)
}

/// Returns true for an operator that takes a part of its left operand.
pub(crate) fn accesses(operator: &str) -> bool {
    ACCESSORS.contains(&operator)
}

/// Returns true for a type that pads its values to the length in its parentheses.
pub(crate) fn pads(data_type: &str) -> bool {
    PADDED.contains(&data_type)
}

/// Returns true for a type that writes out exponents.
pub(crate) fn expands(data_type: &str) -> bool {
    EXPANDED.contains(&data_type)
}

/// Returns true for a type whose digits are not a number that a count could be.
pub(crate) fn holds_digits(data_type: &str) -> bool {
    DIGITS.contains(&data_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        for list in [QUADRATIC, COMPARISONS, ACCESSORS, PADDED, EXPANDED, DIGITS, SMALL_PARTS] {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
        }
    }
}
