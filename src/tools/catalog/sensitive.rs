//! Names that say of themselves that they hold a secret.

/// The built-in words, and those that the operator adds (`MCP_SENSITIVE_WORDS`).
#[derive(Clone, Debug, Default)]
pub struct SensitiveWords {
    /// In lower case; anywhere in a name.
    added: Vec<String>,
}
