//! Names, and prefixes that end in `*`.

/// Returns true for one of these names, or one that begins with the text before a `*`.
pub(crate) fn matches_any(patterns: &[&str], name: &str) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == *pattern,
    })
}
