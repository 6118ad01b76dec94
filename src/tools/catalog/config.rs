//! The settings that a catalog is judged by.

use crate::guard::{GuardConfig, SensitiveWords};

/// The settings that a catalog is judged by.
#[derive(Clone, Debug)]
pub struct CatalogConfig<'c> {
    /// Names that are secrets (`MCP_SENSITIVE_WORDS`).
    pub words: SensitiveWords,
    /// The limits of ad-hoc queries, which hold here too (`MCP_SQL_ALLOW_FUNCTIONS`).
    pub guard: &'c GuardConfig,
    /// The most rows that a caller may ask for (`MCP_SQL_MAX_ROWS`).
    pub max_rows: u32,
}
