//! The canonical text of a statement: the only text that is ever sent to the server.

use super::lexer::Token;
use super::position::{Cursor, Position};

/// The tokens with single spaces between them: without comments and without a trailing semicolon.
#[derive(Clone, Debug)]
pub(super) struct CanonicalText {
    text: String,
    /// The place of every token, ascending.
    places: Vec<Place>,
}

/// The place where a token begins.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// In the canonical text, in characters from 1.
    canonical: usize,
    /// In the client's text.
    client: Position,
}

impl CanonicalText {
    /// Joins the tokens of `sql`, and remembers where each stood.
    pub(super) fn new(sql: &str, tokens: &[Token<'_>]) -> Self {
        let mut text = String::with_capacity(sql.len());
        let mut places = Vec::with_capacity(tokens.len());
        let mut characters = 0;
        let mut cursor = Cursor::default();
        for token in tokens {
            if !text.is_empty() {
                text.push(' ');
                characters += 1;
            }
            places.push(Place { canonical: characters + 1, client: cursor.advance(sql, token.at) });
            text.push_str(&token.text);
            characters += token.text.chars().count();
        }
        Self { text, places }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the place of a token in the client's text.
    pub(super) fn place(&self, token: usize) -> Option<Position> {
        self.places.get(token).map(|place| place.client)
    }

    /// Maps a character of this text (from 1) back to the client's text.
    pub(super) fn position_of(&self, canonical: usize) -> Option<Position> {
        let next = self.places.partition_point(|place| place.canonical <= canonical);
        self.place(next.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::lexer;

    #[test]
    fn positions_in_the_canonical_text_lead_back_to_the_clients() {
        let sql = "SELECT  a, -- x\n\n  bcd\r\n FROM t";
        let canonical = CanonicalText::new(sql, &lexer::lex(sql).unwrap());
        assert_eq!(canonical.as_str(), "SELECT a , bcd FROM t");
        for (at, line, column) in [(1, 1, 1), (8, 1, 9), (12, 3, 3), (13, 3, 3), (16, 4, 2), (99, 4, 7)] {
            assert_eq!(canonical.position_of(at), Some(Position { line, column }), "{at}");
        }
        assert_eq!(canonical.position_of(0), None);
    }
}
