//! Where tokens begin and end.

use super::{
    placeholders::Placeholders,
    strings::{Escapes, unquoted},
    token::{Kind, Reason, Refusal, Token},
};
use crate::problem::echo;

/// PostgreSQL cuts longer names silently (`NAMEDATALEN - 1`), so that a checker would see another name than it.
const MAX_NAME_BYTES: usize = 63;
/// The operators that may be written. PostgreSQL's own, and those of the extensions that have a named set; what an
/// extension's operator calls is harmless by the same review as the set.
pub(crate) const OPERATORS: &[&str] = &[
    "!!", "!~", "!~*", "!~~", "!~~*", "#", "##", "#-", "#=", "#>", "#>>", "%", "%#", "%%", "%>", "%>>", "&",
    "&&", "&&&", "&<", "&<|", "&>", "*", "*<", "*<=", "*<>", "*=", "*>", "*>=", "+", "-", "->", "->>", "-|-",
    "/", "<", "<#>", "<%", "<%>", "<+>", "<->", "<->>", "<->>>", "<<", "<<#>>", "<<%", "<<->", "<<->>",
    "<<<->", "<<=", "<<|", "<=", "<=>", "<>", "<@", "<^", "<~>", "=", ">", ">=", ">>", ">>=", ">^", "?",
    "?#", "?&", "?-", "?-|", "?|", "?||", "@", "@-@", "@>", "@?", "@@", "@@@", "^", "^@", "|", "|&>", "|/",
    "|=|", "|>>", "||", "||/", "~", "~*", "~<=~", "~<~", "~=", "~>=~", "~>~", "~~", "~~*", "!=",
];

/// A text, and how far it is cut.
pub(super) struct Lexer<'s> {
    pub(super) source: &'s str,
    pub(super) at: usize,
    pub(super) placeholders: Placeholders,
}

impl<'s> Lexer<'s> {
    pub(super) fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn since(&self, start: usize) -> &'s str {
        self.source.get(start..self.at).unwrap_or_default()
    }

    pub(super) fn skip_while(&mut self, mut wanted: impl FnMut(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !wanted(c)).unwrap_or(rest.len());
    }

    pub(super) fn eat(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    /// The next token; `None` at the end of the text. A semicolon must be followed by nothing.
    pub(super) fn next_token(&mut self) -> Result<Option<Token<'s>>, Refusal> {
        self.skip_blanks()?;
        let start = self.at;
        if self.peek() == Some(';') {
            while self.eat(";") {
                self.skip_blanks()?;
            }
            return match self.peek() {
                None => Ok(None),
                Some(_) => Err(Refusal::violation(
                    self.at,
                    "A second statement follows the semicolon; send one statement per call.",
                )
                .about(Reason::SecondStatement)),
            };
        }
        let Some(first) = self.peek() else { return Ok(None) };
        let unicode = self.rest().strip_prefix(['u', 'U']).and_then(|rest| rest.strip_prefix('&'));
        for quote in ["'", "\""] {
            if unicode.is_some_and(|literal| literal.starts_with(quote)) {
                return self.unicode(quote).map(Some);
            }
        }
        let kind = self.cut(first)?;
        let token = self.token(kind, start)?;
        Ok(Some(token))
    }

    fn token(&mut self, kind: Kind, start: usize) -> Result<Token<'s>, Refusal> {
        let text = self.since(start);
        let name = match kind {
            Kind::Word => text.to_ascii_lowercase(),
            Kind::QuotedName => unquoted(text, "\""),
            Kind::Placeholder => text.strip_prefix(':').unwrap_or_default().to_owned(),
            Kind::Number
            | Kind::String
            | Kind::PrefixedString
            | Kind::DollarString
            | Kind::Operator
            | Kind::Punctuation => String::new(),
        };
        check_name(&name, start)?;
        let text = match kind {
            Kind::String | Kind::PrefixedString => self.continued(text.into())?,
            Kind::Word
            | Kind::QuotedName
            | Kind::Number
            | Kind::DollarString
            | Kind::Operator
            | Kind::Punctuation
            | Kind::Placeholder => text.into(),
        };
        Ok(Token { kind, text, name, at: start })
    }

    /// White space and comments. Block comments nest; a line comment ends at LF or CR.
    pub(super) fn skip_blanks(&mut self) -> Result<(), Refusal> {
        loop {
            self.skip_while(is_space);
            if self.eat("--") {
                self.skip_while(|c| !matches!(c, '\n' | '\r'));
            } else if self.rest().starts_with("/*") {
                self.skip_block_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    fn skip_block_comment(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        let mut open = 0_usize;
        loop {
            if self.eat("/*") {
                open += 1;
            } else if self.eat("*/") {
                open -= 1;
            } else if let Some(c) = self.peek() {
                self.at += c.len_utf8();
            } else {
                return Err(Refusal::invalid(start, "This comment is never closed; end it with */."));
            }
            if open == 0 {
                return Ok(());
            }
        }
    }

    fn cut(&mut self, first: char) -> Result<Kind, Refusal> {
        match first {
            '\'' => self.string(Escapes::Doubled).map(|()| Kind::String),
            '"' => self.quoted_name().map(|()| Kind::QuotedName),
            '$' => self.dollar_string().map(|()| Kind::DollarString),
            '0'..='9' => self.number().map(|()| Kind::Number),
            '.' if self.rest().chars().nth(1).is_some_and(|c| c.is_ascii_digit()) => {
                self.number().map(|()| Kind::Number)
            }
            c if is_name_start(c) => self.word(),
            '(' | ')' | '[' | ']' | ',' | '.' | ':' => self.punctuation(),
            c if is_operator_character(c) => self.operator(),
            c => Err(Refusal::invalid(
                self.at,
                format!("The character {} has no meaning in PostgreSQL's SQL here.", escaped(c)),
            )),
        }
    }

    fn punctuation(&mut self) -> Result<Kind, Refusal> {
        if self.rest().starts_with("..") {
            return Err(Refusal::invalid(self.at, "'..' has no meaning in a query."));
        }
        if self.eat("::") || self.eat(":=") {
            return Ok(Kind::Punctuation);
        }
        let colon = self.eat(":");
        if colon && self.placeholders == Placeholders::Named && self.peek().is_some_and(is_name_start) {
            return self.placeholder();
        }
        self.at += usize::from(!colon);
        Ok(Kind::Punctuation)
    }

    /// What stands behind the colon of a `:name`.
    fn placeholder(&mut self) -> Result<Kind, Refusal> {
        let start = self.at;
        self.skip_while(is_name_part);
        let name = self.since(start);
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !name.chars().all(plain) {
            return Err(Refusal::invalid(
                start,
                format!(
                    "The placeholder :{} has a name that no parameter has; use lower-case letters, digits and underscores.",
                    echo(name)
                ),
            ));
        }
        Ok(Kind::Placeholder)
    }

    /// A word, or a string whose prefix letter looks like one.
    fn word(&mut self) -> Result<Kind, Refusal> {
        let start = self.at;
        let mut characters = self.rest().chars();
        let first = characters.next().map(|c| c.to_ascii_lowercase());
        let quoted = characters.next() == Some('\'');
        match first {
            Some('e') if quoted => return self.prefixed(Escapes::Backslash),
            Some('b' | 'x') if quoted => return self.prefixed(Escapes::Doubled),
            Some('n') if quoted => {
                return Err(Refusal::invalid(
                    start,
                    "N'...' literals are not supported; write a plain '...'.",
                ));
            }
            _ => {}
        }
        self.skip_while(is_name_part);
        if let Some(odd) = self.since(start).chars().find(|c| !is_plain_in_names(*c)) {
            return Err(Refusal::invalid(
                start,
                format!(
                    "The character {} is part of a name in PostgreSQL; remove it or quote the name.",
                    escaped(odd)
                ),
            ));
        }
        Ok(Kind::Word)
    }

    /// Decimal only: `0x1F` and `1_000` mean different things in different versions.
    fn number(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        self.skip_while(|c| c.is_ascii_digit());
        if self.eat(".") {
            self.skip_while(|c| c.is_ascii_digit());
        }
        let mantissa = self.at;
        if self.eat("e") || self.eat("E") {
            if !self.eat("+") {
                self.eat("-");
            }
            let digits = self.at;
            self.skip_while(|c| c.is_ascii_digit());
            if digits == self.at {
                self.at = mantissa;
            }
        }
        if self.peek().is_some_and(|c| is_name_part(c) || c == '.') {
            return Err(Refusal::invalid(
                start,
                "A number is glued to what follows it; write a decimal number and put a space after it.",
            ));
        }
        Ok(())
    }

    /// `scan.l`'s operator rule: the longest run of operator characters, cut before a comment, without a trailing
    /// `+` or `-` unless it holds one of the characters that no SQL operator has.
    fn operator(&mut self) -> Result<Kind, Refusal> {
        let start = self.at;
        self.skip_while(is_operator_character);
        let mut operator = self.since(start);
        let comment = [operator.find("--"), operator.find("/*")].into_iter().flatten().min();
        operator = operator.get(..comment.unwrap_or(operator.len())).unwrap_or_default();
        while operator.len() > 1
            && operator.ends_with(['+', '-'])
            && !operator.contains(['~', '!', '@', '#', '^', '&', '|', '`', '?', '%'])
        {
            operator = operator.get(..operator.len() - 1).unwrap_or_default();
        }
        self.at = start + operator.len();
        if operator == "=>" {
            return Ok(Kind::Punctuation);
        }
        if operator.starts_with('`') {
            return Err(Refusal::violation(start, "A name is quoted \"so\" in PostgreSQL, not with '`'."));
        }
        if !OPERATORS.contains(&operator) {
            return Err(Refusal::violation(
                start,
                format!(
                    "The operator {} is not on the list of allowed operators; put spaces between operators or use a function.",
                    echo(operator)
                ),
            ));
        }
        Ok(Kind::Operator)
    }
}

pub(super) fn check_name(name: &str, at: usize) -> Result<(), Refusal> {
    if name.len() <= MAX_NAME_BYTES {
        return Ok(());
    }
    Err(Refusal::invalid(
        at,
        format!("The name {} is longer than {MAX_NAME_BYTES} bytes, which PostgreSQL would cut.", echo(name)),
    ))
}

pub(super) fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}

pub(super) fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

pub(super) fn is_name_part(c: char) -> bool {
    is_name_start(c) || c.is_ascii_digit() || c == '$'
}

/// PostgreSQL takes every non-ASCII character for a letter; those that a reader takes for something else are refused, and
/// the one that a Turkish database folds to an ASCII letter.
fn is_plain_in_names(c: char) -> bool {
    c.is_ascii() || c.is_alphanumeric() && c != 'İ'
}

fn is_operator_character(c: char) -> bool {
    matches!(
        c,
        '~' | '!' | '@' | '#' | '^' | '&' | '|' | '`' | '?' | '+' | '-' | '*' | '/' | '%' | '<' | '>' | '='
    )
}

/// A character for a sentence: itself when it shows, else its code point.
fn escaped(c: char) -> String {
    if c.is_ascii_graphic() { format!("'{c}'") } else { format!("U+{:04X}", u32::from(c)) }
}
