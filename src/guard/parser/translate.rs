//! Our tokens to sqlparser's tokens.

use sqlparser::ast::DollarQuotedString;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token as Seen, TokenWithSpan};

use super::keywords::keyword_at;
use super::shapes;
use super::symbols::symbol;
use super::view::View;
use crate::guard::lexer::{Place, Token, TokenKind, value_of};
use crate::guard::refusal::Refusal;

/// Returns the tokens that the parser is given. A statement that the tree could not show is refused.
pub(super) fn tokens(tokens: &[Token<'_>]) -> Result<Vec<TokenWithSpan>, Refusal> {
    let mut view = View::default();
    view.seen.reserve(tokens.len());
    let mut shown = 0;
    for place in Place::all(tokens) {
        if shown == 0 {
            view.at = place.index;
            shown = step(&mut view, place);
        }
        view.pass(place);
        shown -= 1;
    }
    view.hidden.map_or(Ok(view.seen), Err)
}

/// Shows the next token, or the equal form of the next few. Returns the number of tokens that are dealt with.
fn step(view: &mut View, place: Place<'_, '_>) -> usize {
    let shaped = match place.token.kind {
        TokenKind::Word => shapes::word(view, place),
        TokenKind::Operator => shapes::operator(view, place),
        TokenKind::Punctuation => shapes::mark(view, place),
        TokenKind::QuotedName
        | TokenKind::Number
        | TokenKind::String
        | TokenKind::PrefixedString
        | TokenKind::DollarString
        | TokenKind::Placeholder => 0,
    };
    if shaped == 0 {
        plain(view, place);
    }
    shaped.max(1)
}

/// Shows the parser's token that equals a token of ours.
fn plain(view: &mut View, place: Place<'_, '_>) {
    let token = place.token;
    let seen = match token.kind {
        TokenKind::Word => return view.push_word(&token.name, None, keyword_at(view, place)),
        TokenKind::QuotedName => return view.push_word(&token.name, Some('"'), Keyword::NoKeyword),
        TokenKind::Number => Seen::Number(token.text.clone().into_owned(), false),
        // Behind these words sqlparser would read a string as an interval.
        TokenKind::String if place.after_word(&["rows", "range", "groups", "between", "and"]) => {
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
        TokenKind::Placeholder => Seen::Placeholder(token.text.clone().into_owned()),
        TokenKind::Operator | TokenKind::Punctuation => symbol(&token.text),
    };
    view.push(seen);
}
