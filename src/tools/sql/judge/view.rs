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

use super::super::lexer::{Kind, Token};

/// What the parser is given.
pub(in super::super) fn of(tokens: &[Token<'_>]) -> Vec<TokenWithSpan> {
    let mut view =
        View { tokens, seen: Vec::with_capacity(tokens.len()), at: 0, similar: 0, grouping: Vec::new() };
    while view.at < tokens.len() {
        view.step();
    }
    view.seen
}

/// The index of the token that a span stands for.
pub(super) fn index_of(span: Span) -> Option<usize> {
    usize::try_from(span.start.column).ok()?.checked_sub(1)
}

struct View<'t, 's> {
    tokens: &'t [Token<'s>],
    seen: Vec<TokenWithSpan>,
    at: usize,
    /// How many `SIMILAR` wait for their `ESCAPE`.
    similar: usize,
    /// For every open parenthesis, whether it holds grouping sets.
    grouping: Vec<bool>,
}

impl<'t, 's> View<'t, 's> {
    fn token(&self, offset: usize) -> Option<&'t Token<'s>> {
        self.tokens.get(self.at + offset)
    }

    fn previous(&self) -> Option<&'t Token<'s>> {
        self.tokens.get(self.at.checked_sub(1)?)
    }

    fn word_at(&self, offset: usize, word: &str) -> bool {
        self.token(offset).is_some_and(|t| t.is_word(word))
    }

    fn mark_at(&self, offset: usize, mark: &str) -> bool {
        self.token(offset).is_some_and(|t| t.is_mark(mark))
    }

    fn one_of(&self, offset: usize, words: &[&str]) -> bool {
        self.token(offset).is_some_and(|t| t.kind == Kind::Word && words.contains(&t.name.as_str()))
    }

    fn after_word(&self, words: &[&str]) -> bool {
        self.previous().is_some_and(|t| t.kind == Kind::Word && words.contains(&t.name.as_str()))
    }

    fn after_mark(&self, mark: &str) -> bool {
        self.previous().is_some_and(|t| t.is_mark(mark))
    }

    fn push(&mut self, token: Seen) {
        let column = u64::try_from(self.at).unwrap_or(u64::MAX).saturating_add(1);
        let place = Location { line: 1, column };
        self.seen.push(TokenWithSpan::new(token, Span::new(place, place)));
    }

    fn push_keyword(&mut self, value: &str, keyword: Keyword) {
        self.push(Seen::Word(Word { value: value.to_owned(), quote_style: None, keyword }));
    }

    /// Shows the next token, or shapes the next few.
    fn step(&mut self) {
        let Some(token) = self.token(0) else { return };
        let consumed = match token.kind {
            Kind::Word => self.shape_word(token),
            Kind::Operator => self.shape_operator(token),
            Kind::Punctuation => self.shape_mark(token),
            Kind::QuotedName | Kind::Number | Kind::String | Kind::PrefixedString | Kind::DollarString => 0,
        };
        if consumed == 0 {
            let seen = self.plain(token);
            self.push(seen);
        }
        for _ in 0..consumed.max(1) {
            self.track_parenthesis();
            self.at += 1;
        }
    }

    fn track_parenthesis(&mut self) {
        let within = self.within_grouping_sets();
        if self.mark_at(0, "(") {
            let nested = within
                && (self.after_mark("(") || self.after_mark(",") || self.after_word(&["cube", "rollup"]));
            self.grouping.push(nested || self.after_word(&["sets"]));
        } else if self.mark_at(0, ")") {
            self.grouping.pop();
        }
    }

    fn within_grouping_sets(&self) -> bool {
        self.grouping.last() == Some(&true)
    }

    /// The forms that begin with a word. Returns how many tokens were dealt with; none: the word is shown as it is.
    fn shape_word(&mut self, token: &Token<'_>) -> usize {
        if self.after_mark(".") || self.after_word(&["as"]) {
            return 0;
        }
        match token.name.as_str() {
            "isnull" => {
                self.push_keyword("is", Keyword::IS);
                self.push_keyword("null", Keyword::NULL);
                1
            }
            "table" => {
                self.push_keyword("select", Keyword::SELECT);
                self.push(Seen::Mul);
                self.push_keyword("from", Keyword::FROM);
                1
            }
            "variadic" if self.after_mark("(") || self.after_mark(",") => 1,
            "symmetric" | "asymmetric" if self.after_word(&["between"]) => 1,
            "distinct" | "all" if self.after_word(&["by"]) => 1,
            // `substring(a SIMILAR b ESCAPE c)` is shown as `substring(a FROM b FOR c)`.
            "similar" if !self.word_at(1, "to") => {
                self.similar += 1;
                self.push_keyword("from", Keyword::FROM);
                1
            }
            "escape" if self.similar > 0 => {
                self.similar -= 1;
                self.push_keyword("for", Keyword::FOR);
                1
            }
            // Sets within sets, which sqlparser does not know, are shown as rows within rows.
            "grouping" if self.word_at(1, "sets") && self.mark_at(2, "(") => {
                self.push_keyword("row", Keyword::ROW);
                2
            }
            "cube" | "rollup" if self.within_grouping_sets() && self.mark_at(1, "(") => {
                self.push_keyword("row", Keyword::ROW);
                1
            }
            "exclude" => self.frame_exclusion(),
            "search" if self.after_mark(")") => self.search_clause(),
            "cycle" => self.cycle_clause(),
            "at" if self.word_at(1, "local") && self.after_operand() => 2,
            "using" if self.token(1).is_some_and(|t| t.kind == Kind::Operator) => 2,
            "all" | "some" if self.after_word(&["like", "ilike"]) && self.mark_at(1, "(") => {
                self.push_keyword("any", Keyword::ANY);
                1
            }
            "operator" if self.mark_at(1, "(") => self.qualified_operator(),
            "rows" if self.word_at(1, "from") && self.mark_at(2, "(") => self.rows_from(),
            "with" if self.after_mark(")") && self.word_at(1, "ordinality") && self.closes_rows_from() => 2,
            "as" if self.after_mark(")") && self.begins_column_definitions() => {
                self.push_keyword("as", Keyword::AS);
                self.push_keyword("columns", Keyword::NoKeyword);
                1
            }
            name if TYPES_WITH_MODIFIERS.contains(&name) => self.literal_with_modifier(token),
            _ => 0,
        }
    }

    /// `EXCLUDE CURRENT ROW`, `GROUP`, `TIES`, `NO OTHERS`: the end of a window frame, without any expression.
    fn frame_exclusion(&self) -> usize {
        let words = if self.word_at(1, "current") && self.word_at(2, "row")
            || self.word_at(1, "no") && self.word_at(2, "others")
        {
            3
        } else if self.one_of(1, &["group", "ties"]) {
            2
        } else {
            return 0;
        };
        if self.mark_at(words, ")") { words } else { 0 }
    }

    /// `SEARCH DEPTH FIRST BY a, b SET c` behind a recursive query: names only.
    fn search_clause(&self) -> usize {
        if !self.one_of(1, &["depth", "breadth"]) || !self.word_at(2, "first") || !self.word_at(3, "by") {
            return 0;
        }
        let set = self.behind_names(4);
        if self.word_at(set, "set") && self.token(set + 1).is_some_and(Token::is_name) { set + 2 } else { 0 }
    }

    /// `CYCLE a, b SET c TO 'x' DEFAULT 'y' USING d`: names and literals only.
    fn cycle_clause(&self) -> usize {
        let set = self.behind_names(1);
        if set == 1 || !self.word_at(set, "set") || !self.token(set + 1).is_some_and(Token::is_name) {
            return 0;
        }
        let literal = |offset| {
            self.token(offset).is_some_and(|t| t.is_string() || t.kind == Kind::Number)
                || self.one_of(offset, &["true", "false", "null"])
        };
        let mut using = set + 2;
        if self.word_at(using, "to") {
            if !literal(using + 1) || !self.word_at(using + 2, "default") || !literal(using + 3) {
                return 0;
            }
            using += 4;
        }
        if self.word_at(using, "using") && self.token(using + 1).is_some_and(Token::is_name) {
            using + 2
        } else {
            0
        }
    }

    /// The first offset behind a list of names.
    fn behind_names(&self, mut offset: usize) -> usize {
        while self.token(offset).is_some_and(Token::is_name) {
            offset += 1;
            if !self.mark_at(offset, ",") {
                break;
            }
            offset += 1;
        }
        offset
    }

    /// Whether an expression can end right before.
    fn after_operand(&self) -> bool {
        self.previous().is_some_and(|token| match token.kind {
            Kind::Word => keyword_named(&token.name) == Keyword::NoKeyword,
            Kind::QuotedName | Kind::Number | Kind::String | Kind::PrefixedString | Kind::DollarString => {
                true
            }
            Kind::Punctuation => token.is_mark(")") || token.is_mark("]"),
            Kind::Operator => false,
        })
    }

    /// `OPERATOR(pg_catalog.+)` is `+`; the judge of tokens sees to the schema.
    fn qualified_operator(&mut self) -> usize {
        let mut offset = 2;
        while self.token(offset).is_some_and(Token::is_name) && self.mark_at(offset + 1, ".") {
            offset += 2;
        }
        match self.token(offset) {
            Some(operator) if operator.kind == Kind::Operator && self.mark_at(offset + 1, ")") => {
                let any = self.one_of(offset + 2, QUANTIFIERS) && self.mark_at(offset + 3, "(");
                let seen = if any { Seen::Eq } else { operator_token(&operator.text) };
                self.push(seen);
                offset + 2
            }
            Some(_) | None => 0,
        }
    }

    /// `ROWS FROM (f(), g())` is shown as `(SELECT * FROM f(), g())`.
    fn rows_from(&mut self) -> usize {
        self.push(Seen::LParen);
        self.push_keyword("select", Keyword::SELECT);
        self.push(Seen::Mul);
        self.push_keyword("from", Keyword::FROM);
        3
    }

    /// Whether the `)` before this token closes a `ROWS FROM (`.
    fn closes_rows_from(&self) -> bool {
        let mut depth = 0_usize;
        let before = self.tokens.get(..self.at).unwrap_or_default();
        let opens = |token: &Token<'_>| {
            depth += usize::from(token.is_mark(")"));
            depth -= usize::from(token.is_mark("("));
            depth == 0
        };
        let Some(index) = before.iter().rposition(opens) else { return false };
        let word = |back: usize, name: &str| {
            index.checked_sub(back).and_then(|i| self.tokens.get(i)).is_some_and(|t| t.is_word(name))
        };
        word(1, "from") && word(2, "rows")
    }

    /// `f(…) AS (a int, …)`: a list of columns without a name before it.
    fn begins_column_definitions(&self) -> bool {
        self.mark_at(1, "(")
            && self.token(2).is_some_and(Token::is_name)
            && !self.one_of(2, &["select", "with", "values", "table", "insert", "update", "delete", "merge"])
    }

    /// `numeric(4, 1) '1.5'` is shown as `numeric '1.5'`.
    fn literal_with_modifier(&mut self, token: &Token<'_>) -> usize {
        let number = |offset| self.token(offset).is_some_and(|t| t.kind == Kind::Number);
        let close = if !self.mark_at(1, "(") || !number(2) {
            return 0;
        } else if self.mark_at(3, ",") && number(4) {
            5
        } else {
            3
        };
        if !self.mark_at(close, ")") || !self.token(close + 1).is_some_and(Token::is_string) {
            return 0;
        }
        self.push_keyword(&token.name, Keyword::NoKeyword);
        close + 1
    }

    /// sqlparser knows only some operators before `ANY (…)`; PostgreSQL takes every one.
    fn shape_operator(&mut self, token: &Token<'_>) -> usize {
        if self.one_of(1, QUANTIFIERS) && self.mark_at(2, "(") {
            self.push(Seen::Eq);
            return 1;
        }
        let star_of_row = token.text == "*" && self.after_mark(".");
        if star_of_row && self.tokens.get(self.at.wrapping_sub(2)).is_some_and(|t| t.is_mark(")")) {
            // `(x).*` is shown as `(x)`: the dot was left out already.
            return 1;
        }
        0
    }

    fn shape_mark(&mut self, token: &Token<'_>) -> usize {
        let empty_set = token.is_mark("(") && self.mark_at(1, ")");
        if empty_set && self.within_grouping_sets() && (self.after_mark("(") || self.after_mark(",")) {
            self.push_keyword("null", Keyword::NULL);
            return 2;
        }
        let dot_star =
            token.is_mark(".") && self.after_mark(")") && self.token(1).is_some_and(|t| t.text == "*");
        usize::from(dot_star)
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
                Seen::EscapedStringLiteral(between(&token.text, "'"))
            }
            Kind::String => Seen::SingleQuotedString(between(&token.text, "'")),
            Kind::PrefixedString => match token.text.as_bytes().first() {
                Some(b'e' | b'E') => Seen::EscapedStringLiteral(between(&token.text, "'")),
                Some(b'b' | b'B') => Seen::SingleQuotedByteStringLiteral(between(&token.text, "'")),
                _ => Seen::HexStringLiteral(between(&token.text, "'")),
            },
            Kind::DollarString => {
                Seen::DollarQuotedString(DollarQuotedString { value: dollar_body(&token.text), tag: None })
            }
            Kind::Operator => operator_token(&token.text),
            Kind::Punctuation => mark(&token.text),
        }
    }

    /// The keyword that an unquoted word is here.
    fn keyword(&self, word: &str) -> Keyword {
        if self.after_mark(".") {
            return Keyword::NoKeyword;
        }
        let call = self.mark_at(1, "(");
        let literal = self.token(1).is_some_and(Token::is_string);
        let keyword = match word {
            "at" if !self.word_at(1, "time") => return Keyword::NoKeyword,
            "extract" | "overlay" | "position" | "substring" | "trim" | "cube" | "rollup" if !call => {
                return Keyword::NoKeyword;
            }
            "time" if self.after_word(&["at", "with", "without"]) => Keyword::TIME,
            "time" | "timestamp" if !call && !self.one_of(1, &["with", "without"]) => {
                return Keyword::NoKeyword;
            }
            "interval" if !call && !literal && !self.one_of(1, INTERVAL_FIELDS) => return Keyword::NoKeyword,
            "interval" if !call && !literal && !self.after_mark("::") && !self.after_word(&["as"]) => {
                return Keyword::NoKeyword;
            }
            "double" if !self.word_at(1, "precision") => return Keyword::NoKeyword,
            "precision" if !self.after_word(&["double"]) => return Keyword::NoKeyword,
            "character" | "char" | "bit" if !self.word_at(1, "varying") => return Keyword::NoKeyword,
            "varying" if !self.after_word(&["character", "char", "bit"]) => return Keyword::NoKeyword,
            "zone" if !self.after_word(&["time"]) => return Keyword::NoKeyword,
            "without" if !self.word_at(1, "time") => return Keyword::NoKeyword,
            "filter" if !(call && self.after_mark(")")) => return Keyword::NoKeyword,
            "over" if !self.after_mark(")") => return Keyword::NoKeyword,
            "within" if !self.word_at(1, "group") => return Keyword::NoKeyword,
            "partition" if !self.word_at(1, "by") => return Keyword::NoKeyword,
            "current" if !self.word_at(1, "row") => return Keyword::NoKeyword,
            "unbounded" if !self.one_of(1, &["preceding", "following"]) => return Keyword::NoKeyword,
            "first" if !self.after_word(&["fetch", "nulls"]) => return Keyword::NoKeyword,
            "next" if !self.after_word(&["fetch"]) => return Keyword::NoKeyword,
            "last" if !self.after_word(&["nulls"]) => return Keyword::NoKeyword,
            "nulls" if !self.one_of(1, &["first", "last"]) => return Keyword::NoKeyword,
            "ties" | "ordinality" | "recursive" if !self.after_word(&["with"]) => return Keyword::NoKeyword,
            "materialized" if !self.after_word(&["as", "not"]) => return Keyword::NoKeyword,
            "grouping" if !self.word_at(1, "sets") => return Keyword::NoKeyword,
            "sets" if !self.after_word(&["grouping"]) => return Keyword::NoKeyword,
            "unknown" | "normalized" | "nfc" | "nfd" | "nfkc" | "nfkd"
                if !self.after_word(&["is", "not", "nfc", "nfd", "nfkc", "nfkd"]) =>
            {
                return Keyword::NoKeyword;
            }
            "bernoulli" | "system" if !self.after_word(&["tablesample"]) => return Keyword::NoKeyword,
            "repeatable" if !(call && self.after_mark(")")) => return Keyword::NoKeyword,
            field if INTERVAL_FIELDS.contains(&field) && !self.is_interval_field() => {
                return Keyword::NoKeyword;
            }
            other => keyword_named(other),
        };
        if keyword == Keyword::NoKeyword { keyword_named(word) } else { keyword }
    }

    /// Whether a word such as `day` stands where an interval's fields stand.
    fn is_interval_field(&self) -> bool {
        self.previous().is_some_and(Token::is_string) || self.after_word(&["interval", "to"])
    }
}

const QUANTIFIERS: &[&str] = &["any", "all", "some"];
const INTERVAL_FIELDS: &[&str] = &["year", "month", "day", "hour", "minute", "second"];
const TYPES_WITH_MODIFIERS: &[&str] = &[
    "bit",
    "bpchar",
    "char",
    "character",
    "dec",
    "decimal",
    "interval",
    "numeric",
    "time",
    "timestamp",
    "timestamptz",
    "timetz",
    "varbit",
    "varchar",
];

/// PostgreSQL's keywords that mean something in a query, and nothing else.
const KEYWORDS: &[(&str, Keyword)] = &[
    ("all", Keyword::ALL),
    ("and", Keyword::AND),
    ("any", Keyword::ANY),
    ("array", Keyword::ARRAY),
    ("as", Keyword::AS),
    ("asc", Keyword::ASC),
    ("at", Keyword::AT),
    ("bernoulli", Keyword::BERNOULLI),
    ("between", Keyword::BETWEEN),
    ("bit", Keyword::BIT),
    ("both", Keyword::BOTH),
    ("by", Keyword::BY),
    ("case", Keyword::CASE),
    ("cast", Keyword::CAST),
    ("char", Keyword::CHAR),
    ("character", Keyword::CHARACTER),
    ("collate", Keyword::COLLATE),
    ("cross", Keyword::CROSS),
    ("cube", Keyword::CUBE),
    ("current", Keyword::CURRENT),
    ("current_catalog", Keyword::CURRENT_CATALOG),
    ("current_date", Keyword::CURRENT_DATE),
    ("current_time", Keyword::CURRENT_TIME),
    ("current_timestamp", Keyword::CURRENT_TIMESTAMP),
    ("current_user", Keyword::CURRENT_USER),
    ("day", Keyword::DAY),
    ("desc", Keyword::DESC),
    ("distinct", Keyword::DISTINCT),
    ("double", Keyword::DOUBLE),
    ("else", Keyword::ELSE),
    ("end", Keyword::END),
    ("escape", Keyword::ESCAPE),
    ("except", Keyword::EXCEPT),
    ("exists", Keyword::EXISTS),
    ("extract", Keyword::EXTRACT),
    ("false", Keyword::FALSE),
    ("fetch", Keyword::FETCH),
    ("filter", Keyword::FILTER),
    ("first", Keyword::FIRST),
    ("following", Keyword::FOLLOWING),
    ("for", Keyword::FOR),
    ("from", Keyword::FROM),
    ("full", Keyword::FULL),
    ("group", Keyword::GROUP),
    ("grouping", Keyword::GROUPING),
    ("groups", Keyword::GROUPS),
    ("having", Keyword::HAVING),
    ("hour", Keyword::HOUR),
    ("ilike", Keyword::ILIKE),
    ("in", Keyword::IN),
    ("inner", Keyword::INNER),
    ("intersect", Keyword::INTERSECT),
    ("interval", Keyword::INTERVAL),
    ("is", Keyword::IS),
    ("join", Keyword::JOIN),
    ("last", Keyword::LAST),
    ("lateral", Keyword::LATERAL),
    ("leading", Keyword::LEADING),
    ("left", Keyword::LEFT),
    ("like", Keyword::LIKE),
    ("limit", Keyword::LIMIT),
    ("localtime", Keyword::LOCALTIME),
    ("localtimestamp", Keyword::LOCALTIMESTAMP),
    ("materialized", Keyword::MATERIALIZED),
    ("minute", Keyword::MINUTE),
    ("month", Keyword::MONTH),
    ("natural", Keyword::NATURAL),
    ("next", Keyword::NEXT),
    ("nfc", Keyword::NFC),
    ("nfd", Keyword::NFD),
    ("nfkc", Keyword::NFKC),
    ("nfkd", Keyword::NFKD),
    ("normalized", Keyword::NORMALIZED),
    ("not", Keyword::NOT),
    ("notnull", Keyword::NOTNULL),
    ("null", Keyword::NULL),
    ("nulls", Keyword::NULLS),
    ("offset", Keyword::OFFSET),
    ("on", Keyword::ON),
    ("only", Keyword::ONLY),
    ("or", Keyword::OR),
    ("order", Keyword::ORDER),
    ("ordinality", Keyword::ORDINALITY),
    ("outer", Keyword::OUTER),
    ("over", Keyword::OVER),
    ("overlaps", Keyword::OVERLAPS),
    ("overlay", Keyword::OVERLAY),
    ("partition", Keyword::PARTITION),
    ("placing", Keyword::PLACING),
    ("position", Keyword::POSITION),
    ("preceding", Keyword::PRECEDING),
    ("precision", Keyword::PRECISION),
    ("range", Keyword::RANGE),
    ("recursive", Keyword::RECURSIVE),
    ("repeatable", Keyword::REPEATABLE),
    ("right", Keyword::RIGHT),
    ("rollup", Keyword::ROLLUP),
    ("row", Keyword::ROW),
    ("rows", Keyword::ROWS),
    ("second", Keyword::SECOND),
    ("select", Keyword::SELECT),
    ("session_user", Keyword::SESSION_USER),
    ("sets", Keyword::SETS),
    ("similar", Keyword::SIMILAR),
    ("some", Keyword::SOME),
    ("substring", Keyword::SUBSTRING),
    ("system", Keyword::SYSTEM),
    ("tablesample", Keyword::TABLESAMPLE),
    ("then", Keyword::THEN),
    ("ties", Keyword::TIES),
    ("time", Keyword::TIME),
    ("timestamp", Keyword::TIMESTAMP),
    ("to", Keyword::TO),
    ("trailing", Keyword::TRAILING),
    ("trim", Keyword::TRIM),
    ("true", Keyword::TRUE),
    ("unbounded", Keyword::UNBOUNDED),
    ("union", Keyword::UNION),
    ("unknown", Keyword::UNKNOWN),
    ("user", Keyword::USER),
    ("using", Keyword::USING),
    ("values", Keyword::VALUES),
    ("varying", Keyword::VARYING),
    ("when", Keyword::WHEN),
    ("where", Keyword::WHERE),
    ("window", Keyword::WINDOW),
    ("with", Keyword::WITH),
    ("within", Keyword::WITHIN),
    ("without", Keyword::WITHOUT),
    ("year", Keyword::YEAR),
    ("zone", Keyword::ZONE),
];

/// Whether PostgreSQL gives this word a meaning in a query, here or elsewhere.
pub(super) fn is_keyword(word: &str) -> bool {
    keyword_named(word) != Keyword::NoKeyword || matches!(word, "asymmetric" | "symmetric" | "variadic")
}

fn keyword_named(word: &str) -> Keyword {
    KEYWORDS
        .binary_search_by_key(&word, |(name, _)| name)
        .ok()
        .and_then(|index| KEYWORDS.get(index))
        .map_or(Keyword::NoKeyword, |(_, keyword)| *keyword)
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
fn operator_token(text: &str) -> Seen {
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

/// What stands between the first and the last `quote`.
fn between(text: &str, quote: &str) -> String {
    let inner = text.split_once(quote).map_or("", |(_, rest)| rest);
    inner.strip_suffix(quote).unwrap_or(inner).to_owned()
}

fn dollar_body(text: &str) -> String {
    let fence = text.get(1..).and_then(|rest| rest.find('$')).map_or(0, |end| end + 2);
    text.get(fence..text.len().saturating_sub(fence)).unwrap_or_default().to_owned()
}
