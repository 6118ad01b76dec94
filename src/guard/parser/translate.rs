//! Our tokens to sqlparser's tokens.

use sqlparser::ast::DollarQuotedString;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token as Seen, TokenWithSpan, Word};

use super::keywords::keyword_at;
use super::view::View;
use super::{shapes, symbols};
use crate::guard::lexer::{Token, TokenKind, value_of};
use crate::guard::refusal::Refusal;

/// Returns the tokens that the parser is given. A statement that the tree could not show is refused.
pub(super) fn tokens(tokens: &[Token<'_>]) -> Result<Vec<TokenWithSpan>, Refusal> {
    let mut view = View::new(tokens);
    while let Some(token) = view.token(0) {
        step(&mut view, token);
    }
    view.hidden.map_or(Ok(view.seen), Err)
}

/// Shows the next token, or the equal form of the next few.
fn step(view: &mut View<'_, '_>, token: &Token<'_>) {
    let consumed = match token.kind {
        TokenKind::Word => shapes::word(view, token),
        TokenKind::Operator => shapes::operator(view, token),
        TokenKind::Punctuation => shapes::mark(view, token),
        TokenKind::QuotedName
        | TokenKind::Number
        | TokenKind::String
        | TokenKind::PrefixedString
        | TokenKind::DollarString
        | TokenKind::Placeholder => 0,
    };
    if consumed == 0 {
        let seen = plain(view, token);
        view.push(seen);
    }
    for _ in 0..consumed.max(1) {
        view.advance();
    }
}

/// Returns the parser's token that equals a token of ours.
fn plain(view: &View<'_, '_>, token: &Token<'_>) -> Seen {
    match token.kind {
        TokenKind::Word => Seen::Word(Word {
            value: token.name.clone(),
            quote_style: None,
            keyword: keyword_at(view, &token.name),
        }),
        TokenKind::QuotedName => Seen::Word(Word {
            value: token.name.clone(),
            quote_style: Some('"'),
            keyword: Keyword::NoKeyword,
        }),
        TokenKind::Number => Seen::Number(token.text.clone().into_owned(), false),
        // Behind these words sqlparser would read a string as an interval.
        TokenKind::String if view.after_word(&["rows", "range", "groups", "between", "and"]) => {
            Seen::EscapedStringLiteral(value_of(token))
        }
        TokenKind::String => Seen::SingleQuotedString(value_of(token)),
        TokenKind::PrefixedString => match token.text.as_bytes().first() {
            Some(b'e' | b'E') => Seen::EscapedStringLiteral(value_of(token)),
            Some(b'b' | b'B') => Seen::SingleQuotedByteStringLiteral(value_of(token)),
            _ => Seen::HexStringLiteral(value_of(token)),
        },
        TokenKind::DollarString => {
            Seen::DollarQuotedString(DollarQuotedString { value: value_of(token), tag: None })
        }
        TokenKind::Operator => symbols::operator(&token.text),
        TokenKind::Placeholder => Seen::Placeholder(token.text.clone().into_owned()),
        TokenKind::Punctuation => symbols::mark(&token.text),
    }
}
