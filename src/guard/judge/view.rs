//! Our tokens as sqlparser's tokens.
//!
//! sqlparser never sees text, only tokens that our lexer cut: the two cannot disagree about where a string or a
//! comment ends. Two more things are decided here, so that its parser has nothing to guess:
//!
//! - **Keywords.** Only words that are keywords to PostgreSQL, at that place, are keywords to the parser; every other
//!   dialect's are plain names.
//! - **Forms it does not know.** Some of PostgreSQL's are shown to it as an equal form, or without the part that
//!   holds no expression. The text that runs is untouched; only what is judged is shaped.
//!
//! Every token's span is its index: `line` 1, `column` index + 1. The tree's names lead back to our tokens by it.

use sqlparser::{
    ast::DollarQuotedString,
    keywords::Keyword,
    tokenizer::{Location, Span, Token as Seen, TokenWithSpan, Word},
};

use super::{
    super::lexer::{Kind, Refusal, Token},
    literals::value_of,
};

/// What the parser is given. Refused is what no form of the tree could show.
pub(crate) fn of(tokens: &[Token<'_>]) -> Result<Vec<TokenWithSpan>, Refusal> {
    let seen = Vec::with_capacity(tokens.len());
    let mut view = View { tokens, seen, at: 0, similar: 0, open: Vec::new(), hidden: None };
    while view.at < tokens.len() {
        view.step();
    }
    view.hidden.map_or(Ok(view.seen), Err)
}

/// The index of the token that a span stands for.
pub(crate) fn index_of(span: Span) -> Option<usize> {
    usize::try_from(span.start.column).ok()?.checked_sub(1)
}

pub(super) struct View<'t, 's> {
    pub(super) tokens: &'t [Token<'s>],
    pub(super) seen: Vec<TokenWithSpan>,
    pub(super) at: usize,
    /// How many `SIMILAR` wait for their `ESCAPE`.
    pub(super) similar: usize,
    /// What is open around the next token.
    open: Vec<Open>,
    /// The last operator of a schema that the tree would not show.
    pub(super) hidden: Option<Refusal>,
}

/// What a `)` or an `END` closes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Parenthesis,
    /// A parenthesis that holds grouping sets.
    GroupingSets,
    Case,
}

impl<'t, 's> View<'t, 's> {
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
        self.token(offset).is_some_and(|t| t.kind == Kind::Word && words.contains(&t.name.as_str()))
    }

    pub(super) fn after_word(&self, words: &[&str]) -> bool {
        self.previous().is_some_and(|t| t.kind == Kind::Word && words.contains(&t.name.as_str()))
    }

    pub(super) fn after_mark(&self, mark: &str) -> bool {
        self.previous().is_some_and(|t| t.is_mark(mark))
    }

    pub(super) fn push(&mut self, token: Seen) {
        let column = u64::try_from(self.at).unwrap_or(u64::MAX).saturating_add(1);
        let place = Location { line: 1, column };
        self.seen.push(TokenWithSpan::new(token, Span::new(place, place)));
    }

    pub(super) fn push_keyword(&mut self, value: &str, keyword: Keyword) {
        self.push(Seen::Word(Word { value: value.to_owned(), quote_style: None, keyword }));
    }

    /// Shows the next token, or shapes the next few.
    fn step(&mut self) {
        let Some(token) = self.token(0) else { return };
        let consumed = match token.kind {
            Kind::Word => self.shape_word(token),
            Kind::Operator => self.shape_operator(token),
            Kind::Punctuation => self.shape_mark(token),
            Kind::QuotedName
            | Kind::Number
            | Kind::String
            | Kind::PrefixedString
            | Kind::DollarString
            | Kind::Placeholder => 0,
        };
        if consumed == 0 {
            let seen = self.plain(token);
            self.push(seen);
        }
        for _ in 0..consumed.max(1) {
            self.track_what_is_open();
            self.at += 1;
        }
    }

    fn track_what_is_open(&mut self) {
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
    }

    pub(super) fn within_grouping_sets(&self) -> bool {
        self.open.last() == Some(&Open::GroupingSets)
    }

    pub(super) fn within_case(&self) -> bool {
        self.open.last() == Some(&Open::Case)
    }

    fn plain(&self, token: &Token<'_>) -> Seen {
        match token.kind {
            Kind::Word => Seen::Word(Word {
                value: token.name.clone(),
                quote_style: None,
                keyword: self.keyword(&token.name),
            }),
            Kind::QuotedName => Seen::Word(Word {
                value: token.name.clone(),
                quote_style: Some('"'),
                keyword: Keyword::NoKeyword,
            }),
            Kind::Number => Seen::Number(token.text.clone().into_owned(), false),
            // Behind these words sqlparser would read a string as an interval.
            Kind::String if self.after_word(&["rows", "range", "groups", "between", "and"]) => {
                Seen::EscapedStringLiteral(value_of(token))
            }
            Kind::String => Seen::SingleQuotedString(value_of(token)),
            Kind::PrefixedString => match token.text.as_bytes().first() {
                Some(b'e' | b'E') => Seen::EscapedStringLiteral(value_of(token)),
                Some(b'b' | b'B') => Seen::SingleQuotedByteStringLiteral(value_of(token)),
                _ => Seen::HexStringLiteral(value_of(token)),
            },
            Kind::DollarString => {
                Seen::DollarQuotedString(DollarQuotedString { value: value_of(token), tag: None })
            }
            Kind::Operator => operator_token(&token.text),
            Kind::Placeholder => Seen::Placeholder(token.text.clone().into_owned()),
            Kind::Punctuation => mark(&token.text),
        }
    }
}

fn mark(text: &str) -> Seen {
    match text {
        "(" => Seen::LParen,
        ")" => Seen::RParen,
        "[" => Seen::LBracket,
        "]" => Seen::RBracket,
        "," => Seen::Comma,
        "." => Seen::Period,
        ":" => Seen::Colon,
        "::" => Seen::DoubleColon,
        ":=" => Seen::Assignment,
        _ => Seen::RArrow,
    }
}

/// Those operators whose precedence, or whose use as a prefix, sqlparser's parser must know. The others all have the
/// precedence of "any other operator".
pub(super) fn operator_token(text: &str) -> Seen {
    match text {
        "+" => Seen::Plus,
        "-" => Seen::Minus,
        "*" => Seen::Mul,
        "/" => Seen::Div,
        "%" => Seen::Mod,
        "^" => Seen::Caret,
        "=" => Seen::Eq,
        "<>" | "!=" => Seen::Neq,
        "<" => Seen::Lt,
        ">" => Seen::Gt,
        "<=" => Seen::LtEq,
        ">=" => Seen::GtEq,
        "~" => Seen::Tilde,
        "!!" => Seen::DoubleExclamationMark,
        "|/" => Seen::PGSquareRoot,
        "||/" => Seen::PGCubeRoot,
        "@" => Seen::AtSign,
        "#" => Seen::Sharp,
        "@-@" => Seen::AtDashAt,
        "@@" => Seen::AtAt,
        "?-" => Seen::QuestionMarkDash,
        "?|" => Seen::QuestionPipe,
        other => Seen::CustomBinaryOperator(other.to_owned()),
    }
}
