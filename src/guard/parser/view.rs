//! The tokens around a place, and the tokens shown to the parser so far.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token as Seen, TokenWithSpan, Word};

use super::spans::span_of;
use super::words::is_operand;
use crate::guard::lexer::Token;
use crate::guard::refusal::Refusal;

/// A place in the statement: it looks around, and shows tokens to the parser.
pub(super) struct View<'t, 's> {
    pub(super) tokens: &'t [Token<'s>],
    /// Index of the token that is shown next.
    pub(super) at: usize,
    pub(super) seen: Vec<TokenWithSpan>,
    /// How many `SIMILAR` wait for their `ESCAPE`.
    pub(super) similar: usize,
    /// The last operator of a schema that the tree would not show.
    pub(super) hidden: Option<Refusal>,
    /// The brackets and CASE around the next token.
    open: Vec<Open>,
}

/// A construct that a `)` or an `END` closes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Parenthesis,
    /// A parenthesis that holds grouping sets.
    GroupingSets,
    Case,
}

impl<'t, 's> View<'t, 's> {
    pub(super) fn new(tokens: &'t [Token<'s>]) -> Self {
        let seen = Vec::with_capacity(tokens.len());
        View { tokens, at: 0, seen, similar: 0, hidden: None, open: Vec::new() }
    }

    pub(super) fn token(&self, offset: usize) -> Option<&'t Token<'s>> {
        self.tokens.get(self.at + offset)
    }

    pub(super) fn previous(&self) -> Option<&'t Token<'s>> {
        self.tokens.get(self.at.checked_sub(1)?)
    }

    pub(super) fn word_at(&self, offset: usize, word: &str) -> bool {
        self.token(offset).is_some_and(|t| t.is_word(word))
    }

    pub(super) fn mark_at(&self, offset: usize, mark: &str) -> bool {
        self.token(offset).is_some_and(|t| t.is_mark(mark))
    }

    pub(super) fn one_of(&self, offset: usize, words: &[&str]) -> bool {
        self.token(offset).is_some_and(|t| t.is_one_of(words))
    }

    pub(super) fn after_word(&self, words: &[&str]) -> bool {
        self.previous().is_some_and(|t| t.is_one_of(words))
    }

    pub(super) fn after_mark(&self, mark: &str) -> bool {
        self.previous().is_some_and(|t| t.is_mark(mark))
    }

    /// Returns whether an operand ends before the next token.
    pub(super) fn after_operand(&self) -> bool {
        self.previous().is_some_and(is_operand)
    }

    pub(super) fn within_grouping_sets(&self) -> bool {
        self.open.last() == Some(&Open::GroupingSets)
    }

    pub(super) fn within_case(&self) -> bool {
        self.open.last() == Some(&Open::Case)
    }

    /// Shows a token to the parser, in the place of the next of ours.
    pub(super) fn push(&mut self, token: Seen) {
        self.seen.push(TokenWithSpan::new(token, span_of(self.at)));
    }

    pub(super) fn push_keyword(&mut self, value: &str, keyword: Keyword) {
        self.push(Seen::Word(Word { value: value.to_owned(), quote_style: None, keyword }));
    }

    /// Goes on by one token.
    pub(super) fn advance(&mut self) {
        if self.mark_at(0, "(") {
            let nested = self.within_grouping_sets()
                && (self.after_mark("(") || self.after_mark(",") || self.after_word(&["cube", "rollup"]));
            let sets = nested || self.after_word(&["sets"]);
            self.open.push(if sets { Open::GroupingSets } else { Open::Parenthesis });
        } else if self.word_at(0, "case") && !self.after_mark(".") && !self.after_word(&["as"]) {
            self.open.push(Open::Case);
        } else if self.mark_at(0, ")") || self.word_at(0, "end") && self.within_case() {
            self.open.pop();
        }
        self.at += 1;
    }
}
