//! The tokens that the parser is shown.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Span, Token as Seen, TokenWithSpan, Word};

use super::symbols::symbol;
use super::words::keyword_named;
use crate::guard::lexer::Place;
use crate::guard::refusal::Refusal;

/// The tokens shown so far, and the constructs around the next one.
#[derive(Default)]
pub(super) struct View {
    pub(super) seen: Vec<TokenWithSpan>,
    /// The index of our token for which tokens are shown.
    pub(super) at: usize,
    /// The number of `SIMILAR` that wait for their `ESCAPE`.
    pub(super) similar: usize,
    /// The last operator of a schema that the tree would not show.
    pub(super) hidden: Option<Refusal>,
    /// The places of `ON` before which a join without a condition ends.
    pub(super) conditions_at: Vec<usize>,
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

impl View {
    pub(super) fn within_grouping_sets(&self) -> bool {
        self.open.last() == Some(&Open::GroupingSets)
    }

    pub(super) fn within_case(&self) -> bool {
        self.open.last() == Some(&Open::Case)
    }

    /// Returns true for a join without a condition whose source is followed by the `ON` of another, and notes that place.
    pub(super) fn waits_for_condition(&mut self, place: Place<'_, '_>) -> bool {
        #[rustfmt::skip]
        const ENDS: &[&str] = &[
            "on", "using", "left", "right", "full", "inner", "where", "group", "having", "window", "order", "limit",
            "offset", "fetch", "union", "intersect", "except",
        ];
        let mut depth = 0_isize;
        let source = place.tokens.iter().enumerate().skip(place.index.saturating_add(2));
        let end = source.into_iter().find(|(_, token)| {
            depth += isize::from(token.is_mark("(")) - isize::from(token.is_mark(")"));
            depth < 0 || depth == 0 && (token.is_one_of(ENDS) || token.is_mark(","))
        });
        let condition = end.filter(|(_, token)| token.is_word("on")).map(|(index, _)| index);
        self.conditions_at.extend(condition);
        condition.is_some()
    }

    /// Shows a token. Its span is our token's index: `line` 1, `column` index + 1.
    pub(super) fn push(&mut self, token: Seen) {
        let column = u64::try_from(self.at).unwrap_or(u64::MAX).saturating_add(1);
        let place = Location { line: 1, column };
        self.seen.push(TokenWithSpan::new(token, Span::new(place, place)));
    }

    pub(super) fn push_word(&mut self, value: &str, quote_style: Option<char>, keyword: Keyword) {
        self.push(Seen::Word(Word { value: value.to_owned(), quote_style, keyword }));
    }

    /// Shows another form, its parts divided by spaces, for `tokens` of our tokens. Returns their number.
    pub(super) fn show(&mut self, form: &str, tokens: usize) -> usize {
        for part in form.split(' ') {
            match part {
                "(" | ")" | "*" => self.push(symbol(part)),
                word => self.push_word(word, None, keyword_named(word)),
            }
        }
        tokens
    }

    /// Goes past a token.
    pub(super) fn pass(&mut self, place: Place<'_, '_>) {
        if place.token.is_mark("(") {
            let nested = self.within_grouping_sets()
                && (place.after_mark("(") || place.after_mark(",") || place.after_word(&["cube", "rollup"]));
            let sets = nested || place.after_word(&["sets"]);
            self.open.push(if sets { Open::GroupingSets } else { Open::Parenthesis });
        } else if place.token.is_word("case") && !place.is_label() {
            self.open.push(Open::Case);
        } else if place.token.is_mark(")") || place.token.is_word("end") && self.within_case() {
            self.open.pop();
        }
    }
}

/// Returns the index of the token that a span of the tree stands for.
pub(crate) fn token_of(span: Span) -> Option<usize> {
    usize::try_from(span.start.column).ok()?.checked_sub(1)
}
