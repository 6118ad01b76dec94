//! Our tokens to sqlparser's tree, and its errors to our refusals.

use sqlparser::ast::Query;
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::{Parser, ParserError, ParserOptions};
use sqlparser::tokenizer::Token as Seen;

use super::{constructs, translate, words};
use crate::guard::lexer::{Place, Token, TokenKind};
use crate::guard::refusal::Refusal;
use crate::problem::echo;

/// The deepest recursion of sqlparser. Brackets nest at most 50 deep, and each takes a few calls.
const MAX_RECURSION: usize = 250;
/// The longest expectation of sqlparser that is quoted, in bytes.
const MAX_EXPECTED_BYTES: usize = 100;

/// Parses the tokens as one query. The end of the text must follow it.
pub(crate) fn parse(tokens: &[Token<'_>]) -> Result<Box<Query>, Refusal> {
    let dialect = PostgreSqlDialect {};
    let mut parser = Parser::new(&dialect)
        .with_options(ParserOptions::new().with_unescape(false))
        .with_recursion_limit(MAX_RECURSION)
        .with_tokens_with_locations(translate::tokens(tokens)?);
    let parsed = parser.parse_query().and_then(|query| {
        let next = parser.peek_token_ref();
        if next.token == Seen::EOF { Ok(query) } else { parser.expected_ref("the end of the query", next) }
    });
    parsed.map_err(|error| syntax_error(&error, tokens))
}

/// Makes a refusal of sqlparser's message, which ends in a place: a token's index.
fn syntax_error(error: &ParserError, tokens: &[Token<'_>]) -> Refusal {
    let message = match error {
        ParserError::RecursionLimitExceeded => {
            return Refusal::invalid(0, "The query nests too deeply; use WITH to flatten it.");
        }
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => message,
    };
    let (complaint, place) = message.rsplit_once(" at Line: ").unwrap_or((message, ""));
    let index = place.rsplit_once("Column: ").and_then(|(_, column)| column.parse::<usize>().ok());
    let place = index.and_then(|index| Place::at(tokens, index.checked_sub(1)?));
    if let Some(refusal) = place.and_then(constructs::refusal) {
        return refusal;
    }
    let expected = complaint.split(", found: ").next().and_then(|it| it.strip_prefix("Expected: "));
    let expected = expected.map(|expected| format!("; expected {expected}"));
    let expected = expected.filter(|expected| expected.len() <= MAX_EXPECTED_BYTES).unwrap_or_default();
    let Some(Place { token, .. }) = place else {
        let last = tokens.last();
        let is_keyword =
            last.is_some_and(|token| token.kind == TokenKind::Word && words::is_keyword(&token.name));
        let label = if is_keyword { format!(" {}", constructs::BARE_LABEL) } else { String::new() };
        let at = last.map_or(0, |token| token.at);
        return Refusal::invalid(at, format!("The query ends too early{expected}.{label}"));
    };
    let text = echo(&token.text);
    let detail = format!("PostgreSQL's SELECT syntax does not continue with {text} here{expected}.");
    Refusal::invalid(token.at, detail)
}
