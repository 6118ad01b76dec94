//! Text to [`ReadOnlyStatement`]. Pure, linear in time, bounded in stack.
//!
//! 1. Lex (`lexer`), as PostgreSQL does. From here on only tokens count.
//! 2. What kind of statement is it (`judge::kind`), and does it nest too deep for recursive code (`judge::limits`)?
//! 3. Parse: sqlparser gets our tokens, never the text, shaped where it does not know PostgreSQL (`judge::view`).
//! 4. Judge the tree (`judge::tree`), then the tokens (`judge::tokens`).
//! 5. Put the tokens together again, with single spaces: the canonical text, which is what runs.

use std::collections::{BTreeMap, BTreeSet};

use sqlparser::{
    ast::Query,
    dialect::PostgreSqlDialect,
    parser::{Parser, ParserError, ParserOptions},
    tokenizer::{Span, Token as Seen},
};

use super::{
    functions, functions_denied,
    functions_sets::{self, Set},
    judge::{
        constructs, kind, limits, tokens, tree,
        uses::{self, Use},
        view,
    },
    lexer::{self, Refusal, Token},
};
use crate::problem::{Problem, echo};

/// How deep sqlparser may recurse. Brackets nest at most 50 deep, each takes a few calls.
const MAX_PARSER_RECURSION: usize = 250;

/// A statement that passed both judges. Its canonical text is the only text derived from a client that is ever sent.
#[derive(Clone, Debug)]
pub struct ReadOnlyStatement {
    canonical: String,
    positions: PositionMap,
    /// What PostgreSQL looks up by its name, and the index of the token where it stands first.
    uses: BTreeMap<Use, usize>,
}

/// Where each token of the canonical text stood in the client's own text.
#[derive(Clone, Debug, Default)]
pub struct PositionMap {
    /// By `canonical`, ascending.
    places: Vec<Place>,
}

/// Where a token begins.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// In the canonical text, in characters from 1.
    canonical: usize,
    /// In the client's text.
    client: Position,
}

/// Line and column (both from 1; columns in characters) in the client's own text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// What the guard allows beyond its built-in lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardConfig {
    /// Names and their schemas, if any.
    names: BTreeSet<(Option<String>, String)>,
    /// What stands before the `*` of `prefix_*` or `schema.prefix_*`, and the schema.
    prefixes: Vec<(Option<String>, String)>,
    sets: Vec<&'static Set>,
}

impl GuardConfig {
    /// Reads `MCP_SQL_ALLOW_FUNCTIONS`. The error names the entry that is wrong and what is allowed.
    pub fn parse(list: &str) -> Result<Self, String> {
        let mut config = Self::default();
        for entry in list.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            config.add(entry)?;
        }
        Ok(config)
    }

    fn add(&mut self, entry: &str) -> Result<(), String> {
        if entry.starts_with('@') {
            let Some(set) = functions_sets::named(entry) else {
                let known: Vec<&str> = functions_sets::SETS.iter().map(|set| set.name).collect();
                return Err(format!("{} is not a named set; there are {}", echo(entry), known.join(", ")));
            };
            self.sets.push(set);
            return Ok(());
        }
        let (path, prefix) = match entry.strip_suffix('*') {
            Some(prefix) => (prefix, true),
            None => (entry, false),
        };
        let name = path.rsplit('.').next().unwrap_or_default();
        let plain = |part: &str| {
            !part.is_empty()
                && !part.starts_with(|c: char| c.is_ascii_digit())
                && part.chars().all(|c| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit())
        };
        if !path.split('.').all(plain) || path.split('.').count() > 2 || (prefix && !name.ends_with('_')) {
            return Err(format!(
                "{} is not a function; allowed are name, schema.name, prefix_* (lower case) and named sets such as @catalog",
                echo(entry)
            ));
        }
        if let Some(does) = functions_denied::danger(name) {
            return Err(format!("{} can never be allowed: a function of this name {does}", echo(entry)));
        }
        let schema = path.split_once('.').map(|(schema, _)| schema.to_owned());
        if prefix {
            self.prefixes.push((schema, name.to_owned()));
        } else {
            self.names.insert((schema, name.to_owned()));
        }
        Ok(())
    }

    /// Whether the function may be called. A schema other than `pg_catalog` must be named in the setting.
    pub(crate) fn allows_function(&self, schema: Option<&str>, name: &str) -> bool {
        if functions_denied::danger(name).is_some() {
            return false;
        }
        match schema {
            None | Some("pg_catalog") => {
                functions::is_built_in(name)
                    || self.sets.iter().any(|set| set.has_function(name))
                    || self.names(None, name)
            }
            Some(schema) => self.names(Some(schema), name),
        }
    }

    /// Whether the setting adds a function of this name, in whatever schema.
    pub(crate) fn adds_function(&self, name: &str) -> bool {
        self.names.iter().any(|(_, added)| added == name)
            || self.prefixes.iter().any(|(_, prefix)| name.starts_with(prefix))
            || self.sets.iter().any(|set| set.has_function(name))
    }

    /// Whether a function that the guard's lists do not mean may be called, also behind a dot or by an operator or a cast.
    /// Only the setting can allow it; a set means its extension's functions, not others of the same name.
    pub(crate) fn allows_stranger(&self, schema: &str, name: &str) -> bool {
        functions_denied::danger(name).is_none()
            && (self.names(None, name)
                || self.names(Some(schema), name)
                || schema == "pg_catalog" && self.sets.iter().any(|set| set.has_function(name)))
    }

    /// Whether relations that tell of other sessions, of roles and of the server may be read.
    pub(crate) fn allows_telling_relations(&self) -> bool {
        self.sets.iter().any(|set| set.name == "@catalog")
    }

    /// Whether the type may be cast to, beyond the built-in ones.
    pub(crate) fn allows_type(&self, schema: Option<&str>, name: &str) -> bool {
        schema.is_none() && self.sets.iter().any(|set| set.types.contains(&name))
            || self.names.contains(&(schema.map(str::to_owned), name.to_owned()))
    }

    fn names(&self, schema: Option<&str>, name: &str) -> bool {
        self.names.contains(&(schema.map(str::to_owned), name.to_owned()))
            || self.prefixes.iter().any(|(of, prefix)| of.as_deref() == schema && name.starts_with(prefix))
    }
}

impl ReadOnlyStatement {
    /// Judges `sql`.
    ///
    /// # Errors
    /// `MCP_VALIDATION_ERROR` for what cannot be lexed or parsed, `MCP_QUERY_VIOLATION` for what is understood and not
    /// allowed; each with `line` and `column` in the metadata and `invalid_params: ["query"]`.
    pub fn parse(sql: &str, config: &GuardConfig) -> Result<Self, Problem> {
        Self::judge(sql, config).map_err(|refusal| {
            let Position { line, column } = position_in(sql, refusal.at);
            Problem::new(refusal.code, refusal.detail)
                .param("query")
                .with("line", line)
                .with("column", column)
        })
    }

    fn judge(sql: &str, config: &GuardConfig) -> Result<Self, Refusal> {
        Parsed::of(sql, lexer::lex(sql)?)?.judge(config)
    }

    /// The only text that is ever sent: no comments, no trailing semicolon, single spaces.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// What it uses by name alone, and the index of the token where it does so first.
    pub(crate) fn uses(&self) -> &BTreeMap<Use, usize> {
        &self.uses
    }

    /// Where a token stands in the client's text.
    pub(crate) fn place(&self, token: usize) -> Option<Position> {
        self.positions.places.get(token).map(|place| place.client)
    }

    /// Maps a position that PostgreSQL reported (characters from 1, in the canonical text) back to the client's text.
    pub fn position_of(&self, canonical_char: usize) -> Option<Position> {
        let next = self.positions.places.partition_point(|place| place.canonical <= canonical_char);
        let place = self.positions.places.get(next.checked_sub(1)?)?;
        Some(place.client)
    }
}

/// A statement taken apart and not yet judged.
#[derive(Debug)]
pub(crate) struct Parsed<'s> {
    sql: &'s str,
    pub(crate) tokens: Vec<Token<'s>>,
    pub(crate) tree: Box<Query>,
}

impl<'s> Parsed<'s> {
    /// Takes apart a catalog's statement, in which `:name` stands for a parameter.
    pub(crate) fn with_placeholders(sql: &'s str) -> Result<Self, Refusal> {
        Self::of(sql, lexer::lex_with_placeholders(sql)?)
    }

    fn of(sql: &'s str, tokens: Vec<Token<'s>>) -> Result<Self, Refusal> {
        kind::check(&tokens)?;
        limits::check(&tokens)?;
        let tree = parse_tree(&tokens)?;
        Ok(Self { sql, tokens, tree })
    }

    /// Both judges.
    pub(crate) fn judge(&self, config: &GuardConfig) -> Result<ReadOnlyStatement, Refusal> {
        let roles = tree::judge(&self.tree, &self.tokens, config)?;
        tokens::judge(&self.tokens, &roles, config)?;
        let (canonical, positions) = canonical(self.sql, &self.tokens);
        Ok(ReadOnlyStatement { canonical, positions, uses: uses::of(&self.tokens, &roles) })
    }
}

/// The index of the token that a span of the tree stands for.
pub(crate) fn token_of(span: Span) -> Option<usize> {
    view::index_of(span)
}

/// What sqlparser makes of the tokens: one query, and nothing behind it.
pub(crate) fn parse_tree(tokens: &[Token<'_>]) -> Result<Box<Query>, Refusal> {
    let dialect = PostgreSqlDialect {};
    let mut parser = Parser::new(&dialect)
        .with_options(ParserOptions::new().with_unescape(false))
        .with_recursion_limit(MAX_PARSER_RECURSION)
        .with_tokens_with_locations(view::of(tokens)?);
    let parsed = parser.parse_query().and_then(|query| {
        let next = parser.peek_token_ref();
        if next.token == Seen::EOF { Ok(query) } else { parser.expected_ref("the end of the query", next) }
    });
    parsed.map_err(|error| syntax_error(&error, tokens))
}

/// sqlparser's message ends in the place, which is a token's index in disguise (see [`view`]).
fn syntax_error(error: &ParserError, tokens: &[Token<'_>]) -> Refusal {
    let message = match error {
        ParserError::RecursionLimitExceeded => {
            return Refusal::invalid(0, "The query nests too deeply; use WITH to flatten it.");
        }
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => message,
    };
    let (what, place) = message.rsplit_once(" at Line: ").unwrap_or((message, ""));
    let index = place.rsplit_once("Column: ").and_then(|(_, column)| column.parse::<usize>().ok());
    let index = index.and_then(|index| index.checked_sub(1));
    if let Some((token, sentence)) = index.and_then(|index| constructs::around(tokens, index)) {
        return Refusal::violation(token.at, sentence);
    }
    if let Some((token, sentence)) = index.and_then(|index| constructs::elsewhere(tokens, index)) {
        return Refusal::invalid(token.at, sentence);
    }
    let token = index.and_then(|index| tokens.get(index));
    let expected = what.split(", found: ").next().unwrap_or_default();
    let expected = expected.strip_prefix("Expected: ").map(|expected| format!("; expected {expected}"));
    let expected = expected.filter(|expected| expected.len() <= 100).unwrap_or_default();
    match token {
        Some(token) => Refusal::invalid(
            token.at,
            format!(
                "PostgreSQL's SELECT syntax does not continue with {} here{expected}.",
                echo(&token.text)
            ),
        ),
        None => Refusal::invalid(
            tokens.last().map_or(0, |t| t.at),
            format!("The query ends too early{expected}."),
        ),
    }
}

/// The tokens with single spaces between them, and where each stood.
fn canonical(sql: &str, tokens: &[Token<'_>]) -> (String, PositionMap) {
    let mut text = String::with_capacity(sql.len());
    let mut places = Vec::with_capacity(tokens.len());
    let mut characters = 0;
    let mut cursor = Cursor::default();
    for token in tokens {
        if !text.is_empty() {
            text.push(' ');
            characters += 1;
        }
        cursor.advance(sql, token.at);
        places.push(Place { canonical: characters + 1, client: cursor.position() });
        text.push_str(&token.text);
        characters += token.text.chars().count();
    }
    (text, PositionMap { places })
}

/// Walks a text once, counting lines and columns.
#[derive(Default)]
struct Cursor {
    at: usize,
    lines: usize,
    columns: usize,
}

impl Cursor {
    fn advance(&mut self, text: &str, to: usize) {
        for c in text.get(self.at..to).unwrap_or_default().chars() {
            if c == '\n' {
                self.lines += 1;
                self.columns = 0;
            } else {
                self.columns += 1;
            }
        }
        self.at = to;
    }

    const fn position(&self) -> Position {
        Position { line: self.lines + 1, column: self.columns + 1 }
    }
}

/// The place of byte `at` of a text.
pub(crate) fn position_in(text: &str, at: usize) -> Position {
    let mut cursor = Cursor::default();
    cursor.advance(text, at);
    cursor.position()
}
