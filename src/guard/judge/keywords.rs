//! Which words are keywords, and where.

use sqlparser::keywords::Keyword;

use super::view::View;
use crate::guard::lexer::Token;

const INTERVAL_FIELDS: &[&str] = &["year", "month", "day", "hour", "minute", "second"];

impl View<'_, '_> {
    /// The keyword that an unquoted word is here.
    pub(super) fn keyword(&self, word: &str) -> Keyword {
        if self.after_mark(".") {
            return Keyword::NoKeyword;
        }
        let call = self.mark_at(1, "(");
        let literal = self.token(1).is_some_and(Token::is_string);
        let keyword = match word {
            "at" if !self.word_at(1, "time") => return Keyword::NoKeyword,
            "end" if !self.within_case() => return Keyword::NoKeyword,
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

/// Words that PostgreSQL never takes for a column's name. sqlparser does: of `SELECT a AND FROM t`, in which `and` names the
/// column, it makes a condition.
#[rustfmt::skip]
const RESERVED: &[&str] = &[
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "asymmetric",
    "authorization", "binary", "both", "case", "cast", "check", "collate", "collation", "column",
    "concurrently", "constraint", "create", "cross", "deferrable", "desc", "distinct", "do", "else",
    "except", "fetch", "for", "foreign", "freeze", "from", "full", "grant", "group",
    "having", "ilike", "in", "initially", "inner", "intersect", "into", "is", "isnull",
    "join", "lateral", "leading", "left", "like", "limit", "natural", "not", "notnull",
    "offset", "on", "only", "or", "order", "outer", "overlaps", "placing", "primary",
    "references", "returning", "right", "select", "similar", "some", "symmetric", "table", "tablesample",
    "then", "to", "trailing", "union", "unique", "using", "variadic", "verbose", "when",
    "where", "window", "with",
];

/// Whether the word can stand for a column only in quotes.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.binary_search(&word).is_ok()
}

/// Whether PostgreSQL gives this word a meaning in a query, here or elsewhere.
pub(super) fn is_keyword(word: &str) -> bool {
    keyword_named(word) != Keyword::NoKeyword || matches!(word, "asymmetric" | "symmetric" | "variadic")
}

pub(super) fn keyword_named(word: &str) -> Keyword {
    KEYWORDS
        .binary_search_by_key(&word, |(name, _)| name)
        .ok()
        .and_then(|index| KEYWORDS.get(index))
        .map_or(Keyword::NoKeyword, |(_, keyword)| *keyword)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted_and_shown_by_their_own_names() {
        assert!(KEYWORDS.is_sorted_by_key(|(name, _)| name) && RESERVED.is_sorted());
        for (name, keyword) in KEYWORDS {
            assert_eq!(format!("{keyword:?}").to_lowercase(), *name);
        }
    }
}
