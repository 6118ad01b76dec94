//! A token and its neighbours.

use super::token::Token;

/// A token of a statement, from which its neighbours can be seen.
#[derive(Clone, Copy)]
pub(crate) struct Place<'t, 's> {
    pub(crate) tokens: &'t [Token<'s>],
    pub(crate) index: usize,
    pub(crate) token: &'t Token<'s>,
}

impl<'t, 's> Place<'t, 's> {
    pub(crate) fn at(tokens: &'t [Token<'s>], index: usize) -> Option<Self> {
        tokens.get(index).map(|token| Self { tokens, index, token })
    }

    /// Returns every place of a statement, in order.
    pub(crate) fn all(tokens: &'t [Token<'s>]) -> impl Iterator<Item = Self> {
        tokens.iter().enumerate().map(move |(index, token)| Self { tokens, index, token })
    }

    pub(crate) fn before(self, by: usize) -> Option<&'t Token<'s>> {
        self.tokens.get(self.index.checked_sub(by)?)
    }

    pub(crate) fn after(self, by: usize) -> Option<&'t Token<'s>> {
        self.tokens.get(self.index + by)
    }

    pub(crate) fn word_at(self, offset: usize, word: &str) -> bool {
        self.after(offset).is_some_and(|t| t.is_word(word))
    }

    /// Returns whether these words, divided by single spaces, stand here.
    pub(crate) fn words_at(self, offset: usize, words: &str) -> bool {
        words.split(' ').zip(offset..).all(|(word, offset)| self.word_at(offset, word))
    }

    pub(crate) fn one_of(self, offset: usize, words: &[&str]) -> bool {
        self.after(offset).is_some_and(|t| t.is_one_of(words))
    }

    pub(crate) fn mark_at(self, offset: usize, mark: &str) -> bool {
        self.after(offset).is_some_and(|t| t.is_mark(mark))
    }

    pub(crate) fn name_at(self, offset: usize) -> bool {
        self.after(offset).is_some_and(Token::is_name)
    }

    pub(crate) fn after_word(self, words: &[&str]) -> bool {
        self.before(1).is_some_and(|t| t.is_one_of(words))
    }

    pub(crate) fn after_mark(self, mark: &str) -> bool {
        self.before(1).is_some_and(|t| t.is_mark(mark))
    }

    /// Returns whether a word here is a name and not a keyword: it stands behind a dot or AS.
    pub(crate) fn is_label(self) -> bool {
        self.after_mark(".") || self.after_word(&["as"])
    }

    /// Returns the name before the dot.
    pub(crate) fn schema(self) -> Option<&'t str> {
        self.before(2).filter(|_| self.after_mark(".")).map(|t| t.name.as_str())
    }
}
