//! A statement before and after it is judged: `Parsed` and [`ReadOnlyStatement`].

use std::collections::BTreeMap;

use sqlparser::ast::Query;

use super::canonical::CanonicalText;
use super::config::GuardConfig;
use super::judge::open::{self, Fields, Path};
use super::judge::roles::NameRole;
use super::judge::uses::{self, Use};
use super::judge::{kind, limits, tokens, tree, types};
use super::lexer::{self, Place, Token};
use super::position::{Position, position_in};
use super::refusal::Refusal;
use super::{amplifiers, parser};
use crate::problem::{Code, Problem};

/// A statement that passed both judges. Its canonical text is the only text from a client that is ever sent.
#[derive(Clone, Debug)]
pub struct ReadOnlyStatement {
    canonical: CanonicalText,
    /// The names that PostgreSQL looks up, and the index of the token where each stands first.
    uses: BTreeMap<Use, usize>,
    /// The names behind a dot, as far as they can be columns.
    fields: Fields,
    /// The types that only the server can judge, and the index of the token where each stands first.
    types: BTreeMap<Path, usize>,
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

    /// Returns the names behind a dot, as far as they can be columns.
    pub(crate) fn fields(&self) -> &Fields {
        &self.fields
    }

    /// Returns the types that only the server can judge, each with the index of the token where it stands first.
    pub(crate) fn open_types(&self) -> &BTreeMap<Path, usize> {
        &self.types
    }

    /// Returns the refusal of one of the open types.
    pub(crate) fn refuse_type(&self, path: &Path) -> Problem {
        let (schema, name) = path;
        let written = schema.iter().chain([name]).cloned().collect::<Vec<_>>().join(".");
        let token = self.types.get(path).copied().unwrap_or_default();
        self.refuse_at(types::unknown_type(&written), token)
    }

    /// Returns the refusal of a cast to one of the open types.
    pub(crate) fn refuse_cast(&self, path: &Path, detail: String) -> Problem {
        self.refuse_at(detail, self.types.get(path).copied().unwrap_or_default())
    }

    /// Returns a refusal of the token.
    pub(crate) fn refuse_at(&self, detail: String, token: usize) -> Problem {
        let problem = Problem::new(Code::QueryViolation, detail).param("query");
        self.place(token).into_iter().fold(problem, |problem, position| {
            problem.with("line", position.line).with("column", position.column)
        })
    }

    /// Returns the place of a token in the client's text.
    fn place(&self, token: usize) -> Option<Position> {
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
        let is_open = |place: &Place<'_, '_>| roles.get(place.index) == Some(&NameRole::OpenType);
        let mut types = BTreeMap::new();
        for place in Place::all(&self.tokens).filter(is_open) {
            let path = (place.schema().map(str::to_owned), place.token.name.clone());
            types.entry(path).or_insert(place.index);
        }
        let uses = uses::of(&self.tokens, &roles);
        Ok(ReadOnlyStatement { canonical, uses, fields: open::fields(&self.tree), types })
    }
}
