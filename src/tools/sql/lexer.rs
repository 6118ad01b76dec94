//! Text to tokens, exactly as PostgreSQL's `scan.l` cuts it (with `standard_conforming_strings` on), in one linear
//! pass. What it does not know it refuses; what PostgreSQL's own versions cut differently it refuses too. It never
//! looks at what a token means.

use super::unicode;
use crate::problem::{Code, echo};

/// The longest text, in characters.
pub(super) const MAX_CHARS: usize = 65_536;
/// The most tokens in a statement.
const MAX_TOKENS: usize = 32_768;
/// PostgreSQL cuts longer names silently (`NAMEDATALEN - 1`), so that a checker would see another name than it.
const MAX_NAME_BYTES: usize = 63;

/// Why a text is refused, and at which byte of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tools) struct Refusal {
    pub(super) code: Code,
    pub(in crate::tools) reason: Reason,
    /// Byte offset in the client's text.
    pub(in crate::tools) at: usize,
    /// One sentence: the construct, and what to write instead.
    pub(in crate::tools) detail: String,
}

/// What a refusal is about, as far as the catalog's rules have names for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum Reason {
    /// A function that may not be called.
    Function,
    /// A statement that is no query.
    Statement,
    /// Something that changes data, or locks it.
    Write,
    /// A second statement.
    SecondStatement,
    /// Anything else.
    Construct,
}

impl Refusal {
    /// What cannot be lexed or parsed.
    pub(super) fn invalid(at: usize, detail: impl Into<String>) -> Self {
        Self { code: Code::Validation, reason: Reason::Construct, at, detail: detail.into() }
    }

    /// What is understood and not allowed.
    pub(super) fn violation(at: usize, detail: impl Into<String>) -> Self {
        Self { code: Code::QueryViolation, reason: Reason::Construct, at, detail: detail.into() }
    }

    /// The same, about `reason`.
    pub(super) fn about(self, reason: Reason) -> Self {
        Self { reason, ..self }
    }
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum Kind {
    /// A keyword or a name without quotes.
    Word,
    /// A name in double quotes.
    QuotedName,
    /// A number.
    Number,
    /// `'…'`, in which a backslash is a backslash.
    String,
    /// `E'…'`, `B'…'` or `X'…'`.
    PrefixedString,
    /// `$tag$…$tag$`.
    DollarString,
    /// An operator of the closed list.
    Operator,
    /// `( ) [ ] , . : :: := =>`.
    Punctuation,
    /// `:name` in a catalog's statement; its text is `$1`, `$2`, …, the same for the same name.
    Placeholder,
}

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tools) struct Token<'s> {
    pub(in crate::tools) kind: Kind,
    /// As written, without comments and Unicode escapes: the token's canonical text.
    pub(in crate::tools) text: std::borrow::Cow<'s, str>,
    /// A name as PostgreSQL knows it: folded when unquoted, without quotes otherwise; a placeholder's name. Empty for
    /// anything else.
    pub(in crate::tools) name: String,
    /// Byte offset in the client's text.
    pub(in crate::tools) at: usize,
}

impl Token<'_> {
    /// Whether this is the unquoted word `word` (given in lower case).
    pub(in crate::tools) fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.name == word
    }

    /// Whether this is the punctuation `mark`.
    pub(in crate::tools) fn is_mark(&self, mark: &str) -> bool {
        self.kind == Kind::Punctuation && self.text == mark
    }

    /// Whether this is a word or a quoted name.
    pub(in crate::tools) fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Word | Kind::QuotedName)
    }

    /// Whether this is a string literal of any spelling.
    pub(super) fn is_string(&self) -> bool {
        matches!(self.kind, Kind::String | Kind::PrefixedString | Kind::DollarString)
    }
}

/// The operators that may be written. PostgreSQL's own, and those of the extensions that have a named set; what an
/// extension's operator calls is harmless by the same review as the set.
pub(super) const OPERATORS: &[&str] = &[
    "!!", "!~", "!~*", "!~~", "!~~*", "#", "##", "#-", "#=", "#>", "#>>", "%", "%#", "%%", "%>", "%>>", "&",
    "&&", "&&&", "&<", "&<|", "&>", "*", "*<", "*<=", "*<>", "*=", "*>", "*>=", "+", "-", "->", "->>", "-|-",
    "/", "<", "<#>", "<%", "<%>", "<+>", "<->", "<->>", "<->>>", "<<", "<<#>>", "<<%", "<<->", "<<->>",
    "<<<->", "<<=", "<<|", "<=", "<=>", "<>", "<@", "<^", "<~>", "=", ">", ">=", ">>", ">>=", ">^", "?",
    "?#", "?&", "?-", "?-|", "?|", "?||", "@", "@-@", "@>", "@?", "@@", "@@@", "^", "^@", "|", "|&>", "|/",
    "|=|", "|>>", "||", "||/", "~", "~*", "~<=~", "~<~", "~=", "~>=~", "~>~", "~~", "~~*", "!=",
];

/// Whether `:name` stands for a parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Placeholders {
    /// Never: what a client sends has none.
    Refused,
    /// In the statements of a catalog.
    Named,
}

/// Cuts `source` into tokens. Comments and the trailing semicolons are gone.
pub(super) fn lex(source: &str) -> Result<Vec<Token<'_>>, Refusal> {
    lex_as(source, Placeholders::Refused)
}

/// The same for a catalog's statement, in which `:name` is a [`Kind::Placeholder`].
pub(super) fn lex_with_placeholders(source: &str) -> Result<Vec<Token<'_>>, Refusal> {
    lex_as(source, Placeholders::Named)
}

fn lex_as(source: &str, placeholders: Placeholders) -> Result<Vec<Token<'_>>, Refusal> {
    if source.chars().nth(MAX_CHARS).is_some() {
        return Err(Refusal::invalid(
            0,
            format!("The query is longer than {MAX_CHARS} characters; ask for less in one statement."),
        ));
    }
    let mut lexer = Lexer { source, at: 0, placeholders };
    let mut tokens = Vec::new();
    let mut names = Names::default();
    while let Some(mut token) = lexer.next_token()? {
        names.number(&mut token)?;
        if tokens.len() >= MAX_TOKENS {
            return Err(Refusal::invalid(
                token.at,
                format!("The query has more than {MAX_TOKENS} tokens; ask for less in one statement."),
            ));
        }
        tokens.push(token);
    }
    Ok(tokens)
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    placeholders: Placeholders,
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn since(&self, start: usize) -> &'s str {
        self.source.get(start..self.at).unwrap_or_default()
    }

    fn skip_while(&mut self, mut wanted: impl FnMut(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !wanted(c)).unwrap_or(rest.len());
    }

    fn eat(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    /// The next token; `None` at the end of the text. A semicolon must be followed by nothing.
    fn next_token(&mut self) -> Result<Option<Token<'s>>, Refusal> {
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

    /// `U&'…'` or `U&"…"`, as the plain literal or name that PostgreSQL takes it for.
    fn unicode(&mut self, quote: &str) -> Result<Token<'s>, Refusal> {
        let at = self.at;
        self.at += "U&".len();
        let start = self.at;
        let kind = if quote == "'" {
            self.string(Escapes::Doubled)?;
            Kind::String
        } else {
            self.quoted_name()?;
            Kind::QuotedName
        };
        let mut written = unquoted(self.since(start), quote);
        while kind == Kind::String
            && let Some(more) = self.continuation(Escapes::Doubled)?
        {
            written.push_str(&unquoted(more, quote));
        }
        let escape = self.escape()?;
        let value = unicode::decode(&written, escape)
            .map_err(|error| Refusal::invalid(at, format!("This U& literal cannot be read: {error}.")))?;
        let text = format!("{quote}{}{quote}", value.replace(quote, &quote.repeat(2)));
        let name = if kind == Kind::QuotedName { value } else { String::new() };
        check_name(&name, at)?;
        Ok(Token { kind, text: text.into(), name, at })
    }

    /// The escape that `UESCAPE` names behind a U& literal.
    fn escape(&mut self) -> Result<char, Refusal> {
        let end = self.at;
        self.skip_blanks()?;
        let word = self.rest().split(|c| !is_name_part(c)).next().unwrap_or_default();
        if !word.eq_ignore_ascii_case("uescape") {
            self.at = end;
            return Ok(unicode::BACKSLASH);
        }
        self.at += word.len();
        self.skip_blanks()?;
        let mut named = self.rest().chars();
        match (named.next(), named.next(), named.next()) {
            (Some('\''), Some(escape), Some('\'')) if unicode::is_escape(escape) => {
                self.at += "'!'".len();
                match self.continuation(Escapes::Doubled)? {
                    None => Ok(escape),
                    Some(_) => {
                        Err(Refusal::invalid(end + 1, "UESCAPE is followed by one character, in one piece."))
                    }
                }
            }
            _ => Err(Refusal::invalid(
                self.at,
                "UESCAPE is followed by one character in quotes, such as '!': no digit, letter a to f, plus, quote or space.",
            )),
        }
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
    fn skip_blanks(&mut self) -> Result<(), Refusal> {
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

    fn prefixed(&mut self, escapes: Escapes) -> Result<Kind, Refusal> {
        self.at += 1;
        self.string(escapes).map(|()| Kind::PrefixedString)
    }

    fn string(&mut self, escapes: Escapes) -> Result<(), Refusal> {
        let start = self.at;
        self.at += 1;
        loop {
            self.skip_while(|c| !matches!(c, '\'' | '\\' | '\0'));
            if self.eat("''") || (escapes == Escapes::Doubled && self.eat("\\")) {
                continue;
            }
            if self.eat("'") {
                return Ok(());
            }
            let escaped = if self.eat("\\") { self.peek().filter(|c| *c != '\0') } else { None };
            let Some(c) = escaped else { return Err(self.unclosed(start, "string", "'")) };
            self.at += c.len_utf8();
        }
    }

    /// What is wrong with a literal that has no end: a NUL, or the end of the text.
    fn unclosed(&self, start: usize, what: &str, end: &str) -> Refusal {
        match self.peek() {
            Some('\0') => {
                Refusal::invalid(self.at, format!("A {what} cannot hold U+0000 in PostgreSQL; remove it."))
            }
            Some(_) | None => {
                Refusal::invalid(start, format!("This {what} is never closed; end it with {end}."))
            }
        }
    }

    /// `'a'` LF `'b'` is one literal. The line break stays in the canonical text, for it is what joins them.
    fn continued(&mut self, first: std::borrow::Cow<'s, str>) -> Result<std::borrow::Cow<'s, str>, Refusal> {
        let escapes = if first.starts_with(['e', 'E']) { Escapes::Backslash } else { Escapes::Doubled };
        let mut text = first;
        while let Some(more) = self.continuation(escapes)? {
            let joined = text.to_mut();
            joined.push('\n');
            joined.push_str(more);
        }
        Ok(text)
    }

    /// The next part of a literal, behind a line break.
    fn continuation(&mut self, escapes: Escapes) -> Result<Option<&'s str>, Refusal> {
        let end = self.at;
        if !self.skip_to_next_line() || self.peek() != Some('\'') {
            self.at = end;
            return Ok(None);
        }
        let start = self.at;
        self.string(escapes)?;
        Ok(Some(self.since(start)))
    }

    /// White space and line comments. Whether there was a line break among them.
    fn skip_to_next_line(&mut self) -> bool {
        let mut broken = false;
        loop {
            self.skip_while(|c| {
                broken |= matches!(c, '\n' | '\r');
                is_space(c)
            });
            if !self.eat("--") {
                return broken;
            }
            self.skip_while(|c| !matches!(c, '\n' | '\r'));
        }
    }

    fn quoted_name(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        self.at += 1;
        loop {
            self.skip_while(|c| !matches!(c, '"' | '\0'));
            if self.eat("\"\"") {
                continue;
            }
            if !self.eat("\"") {
                return Err(self.unclosed(start, "quoted name", "\""));
            }
            if self.since(start) == "\"\"" {
                return Err(Refusal::invalid(start, "A quoted name cannot be empty."));
            }
            return Ok(());
        }
    }

    fn dollar_string(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        self.at += 1;
        self.skip_while(|c| c.is_ascii_alphanumeric() || c == '_');
        let tag = self.since(start).get(1..).unwrap_or_default();
        if tag.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(Refusal::invalid(start, "Parameters such as $1 are not supported; write the value."));
        }
        if !self.eat("$") {
            return Err(Refusal::invalid(
                start,
                "A dollar-quoted string begins with $$ or $tag$, its tag of ASCII letters, digits and underscores.",
            ));
        }
        let fence = self.since(start);
        let body = self.rest();
        let end = body.find(fence);
        // Not beyond the end: with many strings that would be quadratic.
        let held = body.get(..end.unwrap_or(body.len())).unwrap_or_default();
        if let Some(nul) = held.find('\0') {
            self.at += nul;
            return Err(self.unclosed(start, "string", fence));
        }
        let Some(end) = end else {
            return Err(Refusal::invalid(
                start,
                format!("This dollar-quoted string is never closed; end it with {}.", echo(fence)),
            ));
        };
        self.at += end + fence.len();
        Ok(())
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

/// What numbers placeholders, and tells them from the bounds of slices.
#[derive(Default)]
struct Names {
    /// In the order in which they first appear.
    seen: Vec<String>,
    /// What each open bracket is.
    open: Vec<Bracket>,
    /// What stands before.
    last: Last,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Parenthesis,
    /// Of `ARRAY[…]`, or an array within one.
    Array,
    Subscript,
}

/// What a `:` in brackets can follow.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Last {
    /// A comma, an operator, an opening bracket: an operand must follow.
    #[default]
    Beginning,
    /// The word `ARRAY`.
    Array,
    /// `.`
    Dot,
    /// What an operand ends with, or a word.
    Other,
}

impl Names {
    /// Gives a placeholder its number. Within the brackets of a subscript, `a[1:b]` is a slice up to a column b.
    fn number(&mut self, token: &mut Token<'_>) -> Result<(), Refusal> {
        if token.kind == Kind::Placeholder {
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
            _ if token.kind == Kind::Operator => Last::Beginning,
            _ if token.is_word("array") => Last::Array,
            _ => Last::Other,
        };
    }
}

/// How a string spells a quote within it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escapes {
    /// `''` only.
    Doubled,
    /// `''`, or a backslash before anything.
    Backslash,
}

fn check_name(name: &str, at: usize) -> Result<(), Refusal> {
    if name.len() <= MAX_NAME_BYTES {
        return Ok(());
    }
    Err(Refusal::invalid(
        at,
        format!("The name {} is longer than {MAX_NAME_BYTES} bytes, which PostgreSQL would cut.", echo(name)),
    ))
}

/// What stands between quotes, in which they are doubled.
fn unquoted(text: &str, quote: &str) -> String {
    let inner = text.strip_prefix(quote).and_then(|t| t.strip_suffix(quote)).unwrap_or_default();
    inner.replace(&quote.repeat(2), quote)
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

fn is_name_part(c: char) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sql: &str, expected: &[(Kind, &str)]) {
        let tokens = lex(sql).unwrap();
        let found: Vec<(Kind, &str)> = tokens.iter().map(|token| (token.kind, token.text.as_ref())).collect();
        assert_eq!(found, expected, "{sql}");
    }

    #[track_caller]
    fn check_refused(sql: &str, code: Code, at: usize, part: &str) {
        let refusal = lex(sql).unwrap_err();
        assert_eq!((refusal.code, refusal.at), (code, at), "{sql}: {}", refusal.detail);
        assert!(refusal.detail.contains(part), "{sql}: {}", refusal.detail);
    }

    #[test]
    fn operators_are_cut_where_postgresql_cuts_them() {
        use Kind::{Number, Operator, Punctuation, Word};
        check("a<-1", &[(Word, "a"), (Operator, "<"), (Operator, "-"), (Number, "1")]);
        check("a*-1", &[(Word, "a"), (Operator, "*"), (Operator, "-"), (Number, "1")]);
        check("a->-1", &[(Word, "a"), (Operator, "->"), (Operator, "-"), (Number, "1")]);
        check("a-|-b", &[(Word, "a"), (Operator, "-|-"), (Word, "b")]);
        check("a&&/* */b", &[(Word, "a"), (Operator, "&&"), (Word, "b")]);
        check("a ||--x\nb", &[(Word, "a"), (Operator, "||"), (Word, "b")]);
        check("a=>1", &[(Word, "a"), (Punctuation, "=>"), (Number, "1")]);
        check(
            "a::b:=c:d",
            &[
                (Word, "a"),
                (Punctuation, "::"),
                (Word, "b"),
                (Punctuation, ":="),
                (Word, "c"),
                (Punctuation, ":"),
                (Word, "d"),
            ],
        );
        check_refused("a ||- 1", Code::QueryViolation, 2, "'||-'");
        check_refused("a @- 1", Code::QueryViolation, 2, "'@-'");
        check_refused("a `b`", Code::QueryViolation, 2, "'`'");
        check_refused("a */ b", Code::QueryViolation, 2, "'*/'");
    }

    #[test]
    fn strings_end_where_postgresql_ends_them() {
        use Kind::{DollarString, PrefixedString, String, Word};
        check("'a''b'", &[(String, "'a''b'")]);
        check("'\\' 'x'", &[(String, "'\\'"), (String, "'x'")]);
        check("E'\\'' x", &[(PrefixedString, "E'\\''"), (Word, "x")]);
        check("e'a\\\\'", &[(PrefixedString, "e'a\\\\'")]);
        check("b'01'X'1F'", &[(PrefixedString, "b'01'"), (PrefixedString, "X'1F'")]);
        check("'a' -- b\n  'c'", &[(String, "'a'\n'c'")]);
        check("'a' /* b\n */ 'c'", &[(String, "'a'"), (String, "'c'")]);
        check("'a'\n-- b\n\n'c'\r'd'", &[(String, "'a'\n'c'\n'd'")]);
        check("$$a'$x$b$$", &[(DollarString, "$$a'$x$b$$")]);
        check("$x$a$$b$x$", &[(DollarString, "$x$a$$b$x$")]);
        check("a$x$b", &[(Word, "a$x$b")]);
        check_refused("'a", Code::Validation, 0, "never closed");
        check_refused("E'a\\'", Code::Validation, 1, "never closed");
        check_refused("$a$ b", Code::Validation, 0, "never closed");
        check_refused("'a\0'", Code::Validation, 2, "U+0000");
        check_refused("$$\0$$", Code::Validation, 2, "U+0000");
        check_refused("$1", Code::Validation, 0, "$1");
    }

    #[test]
    fn names_are_folded_unless_quoted() {
        let tokens = lex("Ab \"Ab\" \"a\"\"b\" ÄB a$1").unwrap();
        let names: Vec<&str> = tokens.iter().map(|token| token.name.as_str()).collect();
        assert_eq!(names, ["ab", "Ab", "a\"b", "Äb", "a$1"]);
        check_refused("\"\"", Code::Validation, 0, "empty");
        check_refused(&"a".repeat(64), Code::Validation, 0, "63 bytes");
        check_refused(&format!("\"{}\"", "é".repeat(32)), Code::Validation, 0, "63 bytes");
        check_refused("a\u{a0}b", Code::Validation, 0, "U+00A0");
        check_refused("pg_stat_actİvity", Code::Validation, 0, "U+0130");
    }

    #[test]
    fn unicode_literals_are_the_plain_ones_they_stand_for() {
        use Kind::{Number, Operator, QuotedName, String, Word};
        check(r"U&'d\0061t\+000061'", &[(String, "'data'")]);
        check(r"u&'\0027''' 1", &[(String, "''''''"), (Number, "1")]);
        check(r#"U&"\0022""\0050""#, &[(QuotedName, r#""""""P""#)]);
        check("U&'a!00' -- x\n '61b' /* y */ uEscape /* z */ '!' x", &[(String, "'aab'"), (Word, "x")]);
        check("u & 'a'", &[(Word, "u"), (Operator, "&"), (String, "'a'")]);
        check("U&'a' uescaped", &[(String, "'a'"), (Word, "uescaped")]);
        assert_eq!(lex(r#"U&"pg\005Fsleep""#).unwrap().first().unwrap().name, "pg_sleep");
        check_refused(r"U&'\006'", Code::Validation, 0, "four hexadecimal digits");
        check_refused(r"1, U&'\0000'", Code::Validation, 3, "U+0000");
        check_refused("U&\"\"", Code::Validation, 2, "empty");
        check_refused("U&'a' UESCAPE E'!'", Code::Validation, 14, "one character");
        check_refused("U&'a' UESCAPE '!!'", Code::Validation, 14, "one character");
        check_refused("U&'a' UESCAPE 'a'", Code::Validation, 14, "one character");
        check_refused("U&'a' UESCAPE", Code::Validation, 13, "one character");
        check_refused("U&\"a\" UESCAPE '!'\n'b'", Code::Validation, 6, "one piece");
        check_refused("U&'a", Code::Validation, 2, "never closed");
        check_refused(&format!("U&\"{}\"", r"\00e9".repeat(32)), Code::Validation, 0, "63 bytes");
    }

    #[test]
    fn numbers_are_decimal_and_stand_alone() {
        for number in ["1", "1.", ".5", "1.5", "1e3", "1.5E-3", "1e+3"] {
            check(number, &[(Kind::Number, number)]);
        }
        for number in ["1a", "0x1F", "1_000", "1e", "1.e", "1..2", "1.2.3", "1$$", "1é"] {
            check_refused(number, Code::Validation, 0, "glued");
        }
    }

    #[track_caller]
    fn check_placeholders(sql: &str, expected: &str) {
        let found = match lex_with_placeholders(sql) {
            Ok(tokens) => tokens.iter().map(|token| token.text.as_ref()).collect::<Vec<_>>().join(" "),
            Err(refusal) => format!("{}: {}", refusal.at, refusal.detail.split([' ', ',']).next().unwrap()),
        };
        assert_eq!(found, expected, "{sql}");
    }

    #[test]
    fn a_catalogs_placeholders_are_numbered_by_their_names() {
        check_placeholders(":a :b :a", "$1 $2 $1");
        check_placeholders("a=:b_1", "a = $1");
        check_placeholders("(:a,:b)::int[]", "( $1 , $2 ) :: int [ ]");
        check_placeholders("x::a, x :: a, f(y:=:a)", "x :: a , x :: a , f ( y := $1 )");
        check_placeholders("':a' $$:a$$ \":a\" -- :a", "':a' $$:a$$ \":a\"");
        check_placeholders("ARRAY[:a, -:b, [:c]]", "ARRAY [ $1 , - $2 , [ $3 ] ]");
        check_placeholders("x[(:a)] x[1:(:b)] x[1 : b]", "x [ ( $1 ) ] x [ 1 : ( $2 ) ] x [ 1 : b ]");
        check_placeholders("ARRAY[x[1]][:a]", "12: Within");
    }

    #[test]
    fn what_may_be_no_placeholder_is_refused() {
        check_placeholders("x[:a]", "2: Within");
        check_placeholders("x[1:a]", "3: Within");
        check_placeholders("x[y.z:a]", "5: Within");
        check_placeholders("ARRAY[x:a]", "7: Within");
        check_placeholders("\"array\"[:a]", "8: Within");
        check_placeholders("p.:a", "2: A");
        check_placeholders(":A", "1: The");
        check_placeholders("x[1:2] x[:2] :1", "x [ 1 : 2 ] x [ : 2 ] : 1");
        check_placeholders(":aB", "1: The");
        check_placeholders(":a$", "1: The");
        check_placeholders(":é", "1: The");
        check_placeholders(&format!(":{}", "a".repeat(64)), "0: The");
        check_placeholders("$1", "0: Parameters");
        // What a client sends has none: this is a colon and a name.
        check(":a", &[(Kind::Punctuation, ":"), (Kind::Word, "a")]);
    }

    #[test]
    fn comments_vanish_and_one_statement_is_all() {
        check("/* a /* b */ c */ -- d\n ; -- e\n;", &[]);
        check("a--b\rc", &[(Kind::Word, "a"), (Kind::Word, "c")]);
        check_refused("/* /* */", Code::Validation, 0, "never closed");
        check_refused("a; b", Code::QueryViolation, 3, "second statement");
        check_refused(";b", Code::QueryViolation, 1, "second statement");
        check_refused(&" ".repeat(MAX_CHARS + 1), Code::Validation, 0, "65536");
        assert!(lex(&" ".repeat(MAX_CHARS)).is_ok());
        check_refused(&"(".repeat(MAX_TOKENS + 1), Code::Validation, MAX_TOKENS, "tokens");
    }
}
