//! A statement before and after it is judged: `Parsed` and [`ReadOnlyStatement`].

use std::collections::BTreeMap;

use sqlparser::ast::Query;

use super::canonical::CanonicalText;
use super::config::GuardConfig;
use super::judge::uses::{self, Use};
use super::judge::{kind, limits, tokens, tree};
use super::lexer::{self, Token};
use super::position::{Position, position_in};
use super::refusal::Refusal;
use super::{amplifiers, parser};
use crate::problem::Problem;

/// A statement that passed both judges. Its canonical text is the only text from a client that is ever sent.
#[derive(Clone, Debug)]
pub struct ReadOnlyStatement {
    canonical: CanonicalText,
    /// The names that PostgreSQL looks up, and the index of the token where each stands first.
    uses: BTreeMap<Use, usize>,
}

impl ReadOnlyStatement {
    /// Judges `sql`.
    ///
    /// # Errors
    /// `MCP_VALIDATION_ERROR` for text that cannot be lexed or parsed, `MCP_QUERY_VIOLATION` for text that is understood and
    /// not allowed; each with `line` and `column` in the metadata and `invalid_params: ["query"]`.
    pub fn parse(sql: &str, config: &GuardConfig) -> Result<Self, Problem> {
        let judged = lexer::lex(sql).and_then(|tokens| Parsed::new(sql, tokens)?.judge(config));
        judged.map_err(|refusal| {
            let Position { line, column } = position_in(sql, refusal.at);
            Problem::new(refusal.code, refusal.detail)
                .param("query")
                .with("line", line)
                .with("column", column)
        })
    }

    /// Returns the only text that is ever sent: without comments and trailing semicolon, with single spaces.
    pub fn canonical(&self) -> &str {
        self.canonical.as_str()
    }

    /// Returns the uses by name alone, each with the index of the token where it stands first.
    pub(crate) fn uses(&self) -> &BTreeMap<Use, usize> {
        &self.uses
    }

    /// Returns the place of a token in the client's text.
    pub(crate) fn place(&self, token: usize) -> Option<Position> {
        self.canonical.place(token)
    }

    /// Maps a position that PostgreSQL reported (characters from 1, in the canonical text) back to the client's text.
    pub fn position_of(&self, canonical_char: usize) -> Option<Position> {
        self.canonical.position_of(canonical_char)
    }
}

/// A statement that is parsed and not yet judged.
#[derive(Debug)]
pub(crate) struct Parsed<'s> {
    sql: &'s str,
    pub(crate) tokens: Vec<Token<'s>>,
    pub(crate) tree: Box<Query>,
}

impl<'s> Parsed<'s> {
    /// Parses a catalog's statement, in which `:name` stands for a parameter.
    pub(crate) fn with_placeholders(sql: &'s str) -> Result<Self, Refusal> {
        Self::new(sql, lexer::lex_with_placeholders(sql)?)
    }

    fn new(sql: &'s str, tokens: Vec<Token<'s>>) -> Result<Self, Refusal> {
        kind::check(&tokens)?;
        // INVARIANT: before the parser and the tree, which recurse.
        limits::check(&tokens)?;
        let tree = parser::parse(&tokens)?;
        Ok(Self { sql, tokens, tree })
    }

    /// Asks both judges.
    pub(crate) fn judge(&self, config: &GuardConfig) -> Result<ReadOnlyStatement, Refusal> {
        let roles = tree::judge(&self.tree, &self.tokens, config)?;
        tokens::judge(&self.tokens, &roles, config)?;
        amplifiers::check(&self.tree, &self.tokens)?;
        let canonical = CanonicalText::new(self.sql, &self.tokens);
        Ok(ReadOnlyStatement { canonical, uses: uses::of(&self.tokens, &roles) })
    }
}
