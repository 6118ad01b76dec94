//! The parameters of an entry: what a value may be, as a JSON Schema, as a check, and as a bind value.

/// How a text is matched by LIKE: `%`, `_` and `\` in it are escaped, and these wildcards added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// `%text%`
    Contains,
    /// `text%`
    Prefix,
}
