//! Placeholders: their numbers, and the difference between `:name` and the bound of a slice.

use super::token::{Token, TokenKind};
use crate::guard::refusal::Refusal;

/// The meaning of `:name`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Placeholders {
    /// Not a parameter: a client's text has none.
    Refused,
    /// A parameter, in the statements of a catalog.
    Named,
}

/// Numbers placeholders, and tells them from the bounds of slices.
#[derive(Default)]
pub(super) struct Numbering {
    /// In the order in which they first appear.
    seen: Vec<String>,
    /// The brackets around the next token.
    open: Vec<Bracket>,
    /// The token before.
    last: Last,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Parenthesis,
    /// Of `ARRAY[…]`, or an array within one.
    Array,
    Subscript,
}

/// The token before a `:` in brackets.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Last {
    /// A comma, an operator, an opening bracket: an operand must follow.
    #[default]
    Beginning,
    /// The word `ARRAY`.
    Array,
    /// `.`
    Dot,
    /// The end of an operand, or a word.
    Other,
}

impl Numbering {
    /// Gives a placeholder its number. Within the brackets of a subscript, `a[1:b]` is a slice up to a column b.
    pub(super) fn number(&mut self, token: &mut Token<'_>) -> Result<(), Refusal> {
        if token.kind == TokenKind::Placeholder {
            if self.last == Last::Dot {
                return Err(Refusal::invalid(
                    token.at,
                    "A parameter is a value, not a name; write the column's name behind the dot.",
                ));
            }
            let bound = match self.open.last() {
                Some(Bracket::Subscript) => true,
                Some(Bracket::Array) => self.last == Last::Other,
                Some(Bracket::Parenthesis) | None => false,
            };
            if bound {
                return Err(Refusal::invalid(
                    token.at,
                    "Within brackets this may be a parameter or the bound of a slice; put the parameter in parentheses.",
                ));
            }
            let known = self.seen.iter().position(|name| *name == token.name);
            let index = known.unwrap_or(self.seen.len());
            if known.is_none() {
                self.seen.push(token.name.clone());
            }
            token.text = format!("${}", index + 1).into();
        }
        self.track(token);
        Ok(())
    }

    fn track(&mut self, token: &Token<'_>) {
        match token.text.as_ref() {
            "(" => self.open.push(Bracket::Parenthesis),
            "[" => {
                let nested = self.last == Last::Beginning && self.open.last() == Some(&Bracket::Array);
                let array = self.last == Last::Array || nested;
                self.open.push(if array { Bracket::Array } else { Bracket::Subscript });
            }
            ")" | "]" => drop(self.open.pop()),
            _ => {}
        }
        self.last = match token.text.as_ref() {
            "," | "(" | "[" => Last::Beginning,
            "." => Last::Dot,
            _ if token.kind == TokenKind::Operator => Last::Beginning,
            _ if token.is_word("array") => Last::Array,
            _ => Last::Other,
        };
    }
}
