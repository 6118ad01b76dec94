//! Names, and prefixes that end in `*`.

/// Whether a name is one of these, or begins with what stands before a `*`.
pub(crate) fn matches_any(patterns: &[&str], name: &str) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == *pattern,
    })
}
