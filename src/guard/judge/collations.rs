//! The collations that may be named: PostgreSQL's own.

/// The sentence for a collation that is not PostgreSQL's own.
pub(super) const UNKNOWN_COLLATION: &str =
    "Only PostgreSQL's own collations are allowed, such as \"C\", \"en_US.utf8\" or \"de-x-icu\".";

/// Returns whether the name has a shape that PostgreSQL gives to its own collations, and to the operating system's and
/// ICU's locales.
pub(super) fn is_built_in(name: &str) -> bool {
    if matches!(name, "C" | "POSIX" | "default" | "ucs_basic" | "unicode" | "pg_c_utf8" | "pg_unicode_fast") {
        return true;
    }
    let locale = name.strip_suffix("-x-icu").unwrap_or(name);
    let mut parts = locale.split(['_', '-', '.', '@']);
    let language = parts.next().unwrap_or_default();
    let known = language == "C"
        || (2..=3).contains(&language.len()) && language.chars().all(|c| c.is_ascii_lowercase());
    known && parts.all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric()))
}
