//! Cuts a text into tokens.

use super::names::{is_name_part, is_name_start, is_plain_in_names};
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

/// The meaning of `:name`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Placeholders {
    /// Not a parameter: a client's text has none.
    Refused,
    /// A parameter, in the statements of a catalog.
    Named,
}

/// Returns the next token; `None` at the end of the text. Only blanks may follow a semicolon.
pub(super) fn next_token<'s>(
    scanner: &mut Scanner<'s>,
    placeholders: Placeholders,
) -> Result<Option<Token<'s>>, Refusal> {
    scanner.skip_blanks()?;
    if scanner.peek() == Some(';') {
        while scanner.eat(";") {
            scanner.skip_blanks()?;
        }
        if scanner.peek().is_none() {
            return Ok(None);
        }
        let sentence = "A second statement follows the semicolon; send one statement per call.";
        return Err(Refusal::violation(scanner.at, sentence).about(Reason::SecondStatement));
    }
    let start = scanner.at;
    let Some(first) = scanner.peek() else { return Ok(None) };
    let unicode = scanner.rest().strip_prefix(['u', 'U']).and_then(|rest| rest.strip_prefix('&'));
    if let Some(quote) = unicode.and_then(|rest| rest.get(..1)).filter(|quote| ["'", "\""].contains(quote)) {
        return strings::unicode(scanner, quote).map(Some);
    }
    let kind = cut(scanner, first, placeholders)?;
    let written = scanner.since(start);
    let (text, name) = match kind {
        TokenKind::Word => (written.into(), written.to_ascii_lowercase()),
        TokenKind::QuotedName => (written.into(), strings::unquoted(written, "\"")),
        TokenKind::Placeholder => (written.into(), written.trim_start_matches(':').to_owned()),
        TokenKind::String | TokenKind::PrefixedString => {
            (strings::continued(scanner, written)?, String::new())
        }
        TokenKind::Number | TokenKind::DollarString | TokenKind::Operator | TokenKind::Punctuation => {
            (written.into(), String::new())
        }
    };
    Token::new(kind, text, name, start).map(Some)
}

fn cut(scanner: &mut Scanner<'_>, first: char, placeholders: Placeholders) -> Result<TokenKind, Refusal> {
    match first {
        '\'' => strings::quoted(scanner, first, Escapes::Doubled).map(|()| TokenKind::String),
        '"' => strings::quoted_name(scanner).map(|()| TokenKind::QuotedName),
        '$' => strings::dollar_string(scanner).map(|()| TokenKind::DollarString),
        '0'..='9' => number(scanner),
        '.' if scanner.rest().chars().nth(1).is_some_and(|c| c.is_ascii_digit()) => number(scanner),
        c if is_name_start(c) => word(scanner),
        '(' | ')' | '[' | ']' | ',' | '.' | ':' => punctuation(scanner, placeholders),
        c if is_operator_character(c) => operator(scanner),
        c => {
            let c = escaped(c);
            let detail = format!("The character {c} has no meaning in PostgreSQL's SQL here.");
            Err(Refusal::invalid(scanner.at, detail))
        }
    }
}

fn punctuation(scanner: &mut Scanner<'_>, placeholders: Placeholders) -> Result<TokenKind, Refusal> {
    if scanner.rest().starts_with("..") {
        return Err(Refusal::invalid(scanner.at, "'..' has no meaning in a query."));
    }
    if scanner.eat("::") || scanner.eat(":=") {
        return Ok(TokenKind::Punctuation);
    }
    let colon = scanner.eat(":");
    if colon && placeholders == Placeholders::Named && scanner.peek().is_some_and(is_name_start) {
        return placeholder(scanner);
    }
    scanner.at += usize::from(!colon);
    Ok(TokenKind::Punctuation)
}

/// Reads the name behind the colon of a `:name`.
fn placeholder(scanner: &mut Scanner<'_>) -> Result<TokenKind, Refusal> {
    let start = scanner.at;
    scanner.skip_while(is_name_part);
    let name = scanner.since(start);
    if name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
        return Ok(TokenKind::Placeholder);
    }
    let name = echo(name);
    let detail = format!(
        "The placeholder :{name} has a name that no parameter has; use lower-case letters, digits and underscores."
    );
    Err(Refusal::invalid(start, detail))
}

/// Reads a word, or a string whose prefix letter looks like one.
fn word(scanner: &mut Scanner<'_>) -> Result<TokenKind, Refusal> {
    let start = scanner.at;
    let mut characters = scanner.rest().chars();
    let first = characters.next().filter(|_| characters.next() == Some('\''));
    let escapes = match first {
        Some('e' | 'E') => Some(Escapes::Backslash),
        Some('b' | 'B' | 'x' | 'X') => Some(Escapes::Doubled),
        Some('n' | 'N') => {
            let sentence = "N'...' literals are not supported; write a plain '...'.";
            return Err(Refusal::invalid(start, sentence));
        }
        Some(_) | None => None,
    };
    if let Some(escapes) = escapes {
        scanner.at += 1;
        return strings::quoted(scanner, '\'', escapes).map(|()| TokenKind::PrefixedString);
    }
    scanner.skip_while(is_name_part);
    let Some(odd) = scanner.since(start).chars().find(|c| !is_plain_in_names(*c)) else {
        return Ok(TokenKind::Word);
    };
    let odd = escaped(odd);
    let detail = format!("The character {odd} is part of a name in PostgreSQL; remove it or quote the name.");
    Err(Refusal::invalid(start, detail))
}

/// Reads a decimal number: `0x1F` and `1_000` mean different things in different versions.
fn number(scanner: &mut Scanner<'_>) -> Result<TokenKind, Refusal> {
    let start = scanner.at;
    scanner.skip_while(|c| c.is_ascii_digit());
    if scanner.eat(".") {
        scanner.skip_while(|c| c.is_ascii_digit());
    }
    let mantissa = scanner.at;
    if scanner.eat("e") || scanner.eat("E") {
        if !scanner.eat("+") {
            scanner.eat("-");
        }
        let digits = scanner.at;
        scanner.skip_while(|c| c.is_ascii_digit());
        if digits == scanner.at {
            scanner.at = mantissa;
        }
    }
    if scanner.peek().is_some_and(|c| is_name_part(c) || c == '.') {
        let sentence =
            "A number is glued to what follows it; write a decimal number and put a space after it.";
        return Err(Refusal::invalid(start, sentence));
    }
    Ok(TokenKind::Number)
}

/// Reads an operator by `scan.l`'s rule: the longest run of operator characters, cut before a comment, without a
/// trailing `+` or `-` unless it holds one of the characters that no operator of the SQL standard has.
fn operator(scanner: &mut Scanner<'_>) -> Result<TokenKind, Refusal> {
    let start = scanner.at;
    scanner.skip_while(is_operator_character);
    let run = scanner.since(start);
    let comment = [run.find("--"), run.find("/*")].into_iter().flatten().min();
    let mut operator = run.get(..comment.unwrap_or(run.len())).unwrap_or_default();
    while operator.len() > 1
        && operator.ends_with(['+', '-'])
        && !operator.contains(['~', '!', '@', '#', '^', '&', '|', '`', '?', '%'])
    {
        operator = operator.get(..operator.len() - 1).unwrap_or_default();
    }
    scanner.at = start + operator.len();
    if operator == "=>" {
        return Ok(TokenKind::Punctuation);
    }
    if operator.starts_with('`') {
        return Err(Refusal::violation(start, "A name is quoted \"so\" in PostgreSQL, not with '`'."));
    }
    if OPERATORS.contains(&operator) {
        return Ok(TokenKind::Operator);
    }
    let operator = echo(operator);
    let detail = format!(
        "The operator {operator} is not on the list of allowed operators; put spaces between operators or use a function."
    );
    Err(Refusal::violation(start, detail))
}

fn is_operator_character(c: char) -> bool {
    "~!@#^&|`?+-*/%<>=".contains(c)
}

/// Writes a character into a sentence: itself when it is visible, else its code point.
fn escaped(c: char) -> String {
    if c.is_ascii_graphic() { format!("'{c}'") } else { format!("U+{:04X}", u32::from(c)) }
}
