//! The characters of names, as PostgreSQL's `scan.l` has them.

pub(super) fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

pub(super) fn is_name_part(c: char) -> bool {
    is_name_start(c) || c.is_ascii_digit() || c == '$'
}

/// Returns whether a reader takes the character for a part of a name.
///
/// PostgreSQL takes every non-ASCII character for a letter. Those that look like something else are refused, and so is the
/// one that a Turkish database folds to an ASCII letter.
pub(super) fn is_plain_in_names(c: char) -> bool {
    c.is_ascii() || c.is_alphanumeric() && c != 'İ'
}
