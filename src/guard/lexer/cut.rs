//! Cuts a text into tokens.

use super::names::{is_name_part, is_name_start, is_plain_in_names};
use super::placeholders::Placeholders;
use super::scanner::Scanner;
use super::strings::{self, Escapes};
use super::token::{Token, TokenKind};
use crate::guard::refusal::{Reason, Refusal};
use crate::problem::echo;

/// The operators that may be written: PostgreSQL's own, and those of the extensions that have a named set.
///
/// The functions behind an extension's operators were reviewed with its set.
pub(crate) const OPERATORS: &[&str] = &[
    "!!", "!~", "!~*", "!~~", "!~~*", "#", "##", "#-", "#=", "#>", "#>>", "%", "%#", "%%", "%>", "%>>", "&",
    "&&", "&&&", "&<", "&<|", "&>", "*", "*<", "*<=", "*<>", "*=", "*>", "*>=", "+", "-", "->", "->>", "-|-",
    "/", "<", "<#>", "<%", "<%>", "<+>", "<->", "<->>", "<->>>", "<<", "<<#>>", "<<%", "<<->", "<<->>",
    "<<<->", "<<=", "<<|", "<=", "<=>", "<>", "<@", "<^", "<~>", "=", ">", ">=", ">>", ">>=", ">^", "?",
    "?#", "?&", "?-", "?-|", "?|", "?||", "@", "@-@", "@>", "@?", "@@", "@@@", "^", "^@", "|", "|&>", "|/",
    "|=|", "|>>", "||", "||/", "~", "~*", "~<=~", "~<~", "~=", "~>=~", "~>~", "~~", "~~*", "!=",
];

/// A text that is being cut.
pub(super) struct Lexer<'s> {
    scanner: Scanner<'s>,
    placeholders: Placeholders,
}

impl<'s> Lexer<'s> {
    pub(super) const fn new(source: &'s str, placeholders: Placeholders) -> Self {
        Self { scanner: Scanner::new(source), placeholders }
    }

    /// Returns the next token; `None` at the end of the text. Only blanks may follow a semicolon.
    pub(super) fn next_token(&mut self) -> Result<Option<Token<'s>>, Refusal> {
        self.scanner.skip_blanks()?;
        let start = self.scanner.at;
        if self.scanner.peek() == Some(';') {
            while self.scanner.eat(";") {
                self.scanner.skip_blanks()?;
            }
            return match self.scanner.peek() {
                None => Ok(None),
                Some(_) => Err(Refusal::violation(
                    self.scanner.at,
                    "A second statement follows the semicolon; send one statement per call.",
                )
                .about(Reason::SecondStatement)),
            };
        }
        let Some(first) = self.scanner.peek() else { return Ok(None) };
        let unicode = self.scanner.rest().strip_prefix(['u', 'U']).and_then(|rest| rest.strip_prefix('&'));
        for quote in ["'", "\""] {
            if unicode.is_some_and(|literal| literal.starts_with(quote)) {
                return strings::unicode(&mut self.scanner, quote).map(Some);
            }
        }
        let kind = self.cut(first)?;
        self.token(kind, start).map(Some)
    }

    fn token(&mut self, kind: TokenKind, start: usize) -> Result<Token<'s>, Refusal> {
        let written = self.scanner.since(start);
        let (text, name) = match kind {
            TokenKind::Word => (written.into(), written.to_ascii_lowercase()),
            TokenKind::QuotedName => (written.into(), strings::unquoted(written, "\"")),
            TokenKind::Placeholder => {
                (written.into(), written.strip_prefix(':').unwrap_or_default().to_owned())
            }
            TokenKind::String | TokenKind::PrefixedString => {
                (strings::continued(&mut self.scanner, written)?, String::new())
            }
            TokenKind::Number | TokenKind::DollarString | TokenKind::Operator | TokenKind::Punctuation => {
                (written.into(), String::new())
            }
        };
        Token::new(kind, text, name, start)
    }

    fn cut(&mut self, first: char) -> Result<TokenKind, Refusal> {
        match first {
            '\'' => strings::string(&mut self.scanner, Escapes::Doubled).map(|()| TokenKind::String),
            '"' => strings::quoted_name(&mut self.scanner).map(|()| TokenKind::QuotedName),
            '$' => strings::dollar_string(&mut self.scanner).map(|()| TokenKind::DollarString),
            '0'..='9' => self.number().map(|()| TokenKind::Number),
            '.' if self.scanner.rest().chars().nth(1).is_some_and(|c| c.is_ascii_digit()) => {
                self.number().map(|()| TokenKind::Number)
            }
            c if is_name_start(c) => self.word(),
            '(' | ')' | '[' | ']' | ',' | '.' | ':' => self.punctuation(),
            c if is_operator_character(c) => self.operator(),
            c => Err(Refusal::invalid(
                self.scanner.at,
                format!("The character {} has no meaning in PostgreSQL's SQL here.", escaped(c)),
            )),
        }
    }

    fn punctuation(&mut self) -> Result<TokenKind, Refusal> {
        if self.scanner.rest().starts_with("..") {
            return Err(Refusal::invalid(self.scanner.at, "'..' has no meaning in a query."));
        }
        if self.scanner.eat("::") || self.scanner.eat(":=") {
            return Ok(TokenKind::Punctuation);
        }
        let colon = self.scanner.eat(":");
        if colon && self.placeholders == Placeholders::Named && self.scanner.peek().is_some_and(is_name_start)
        {
            return self.placeholder();
        }
        self.scanner.at += usize::from(!colon);
        Ok(TokenKind::Punctuation)
    }

    /// Reads the name behind the colon of a `:name`.
    fn placeholder(&mut self) -> Result<TokenKind, Refusal> {
        let start = self.scanner.at;
        self.scanner.skip_while(is_name_part);
        let name = self.scanner.since(start);
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
        Ok(TokenKind::Placeholder)
    }

    /// Reads a word, or a string whose prefix letter looks like one.
    fn word(&mut self) -> Result<TokenKind, Refusal> {
        let start = self.scanner.at;
        let mut characters = self.scanner.rest().chars();
        let first = characters.next().map(|c| c.to_ascii_lowercase());
        let quoted = characters.next() == Some('\'');
        match first {
            Some('e') if quoted => return prefixed(&mut self.scanner, Escapes::Backslash),
            Some('b' | 'x') if quoted => return prefixed(&mut self.scanner, Escapes::Doubled),
            Some('n') if quoted => {
                return Err(Refusal::invalid(
                    start,
                    "N'...' literals are not supported; write a plain '...'.",
                ));
            }
            _ => {}
        }
        self.scanner.skip_while(is_name_part);
        if let Some(odd) = self.scanner.since(start).chars().find(|c| !is_plain_in_names(*c)) {
            return Err(Refusal::invalid(
                start,
                format!(
                    "The character {} is part of a name in PostgreSQL; remove it or quote the name.",
                    escaped(odd)
                ),
            ));
        }
        Ok(TokenKind::Word)
    }

    /// Reads a decimal number: `0x1F` and `1_000` mean different things in different versions.
    fn number(&mut self) -> Result<(), Refusal> {
        let start = self.scanner.at;
        self.scanner.skip_while(|c| c.is_ascii_digit());
        if self.scanner.eat(".") {
            self.scanner.skip_while(|c| c.is_ascii_digit());
        }
        let mantissa = self.scanner.at;
        if self.scanner.eat("e") || self.scanner.eat("E") {
            if !self.scanner.eat("+") {
                self.scanner.eat("-");
            }
            let digits = self.scanner.at;
            self.scanner.skip_while(|c| c.is_ascii_digit());
            if digits == self.scanner.at {
                self.scanner.at = mantissa;
            }
        }
        if self.scanner.peek().is_some_and(|c| is_name_part(c) || c == '.') {
            return Err(Refusal::invalid(
                start,
                "A number is glued to what follows it; write a decimal number and put a space after it.",
            ));
        }
        Ok(())
    }

    /// Reads an operator by `scan.l`'s rule: the longest run of operator characters, cut before a comment, without a
    /// trailing `+` or `-` unless it holds one of the characters that no operator of the SQL standard has.
    fn operator(&mut self) -> Result<TokenKind, Refusal> {
        let start = self.scanner.at;
        self.scanner.skip_while(is_operator_character);
        let mut operator = self.scanner.since(start);
        let comment = [operator.find("--"), operator.find("/*")].into_iter().flatten().min();
        operator = operator.get(..comment.unwrap_or(operator.len())).unwrap_or_default();
        while operator.len() > 1
            && operator.ends_with(['+', '-'])
            && !operator.contains(['~', '!', '@', '#', '^', '&', '|', '`', '?', '%'])
        {
            operator = operator.get(..operator.len() - 1).unwrap_or_default();
        }
        self.scanner.at = start + operator.len();
        if operator == "=>" {
            return Ok(TokenKind::Punctuation);
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
        Ok(TokenKind::Operator)
    }
}

fn prefixed(scanner: &mut Scanner<'_>, escapes: Escapes) -> Result<TokenKind, Refusal> {
    scanner.at += 1;
    strings::string(scanner, escapes).map(|()| TokenKind::PrefixedString)
}

fn is_operator_character(c: char) -> bool {
    matches!(
        c,
        '~' | '!' | '@' | '#' | '^' | '&' | '|' | '`' | '?' | '+' | '-' | '*' | '/' | '%' | '<' | '>' | '='
    )
}

/// Writes a character into a sentence: itself when it is visible, else its code point.
fn escaped(c: char) -> String {
    if c.is_ascii_graphic() { format!("'{c}'") } else { format!("U+{:04X}", u32::from(c)) }
}
