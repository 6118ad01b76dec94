//! PostgreSQL's words, by their meaning in a query.

use std::sync::LazyLock;

use sqlparser::keywords::{ALL_KEYWORDS, ALL_KEYWORDS_INDEX, Keyword};

use crate::guard::lexer::{Token, TokenKind};

/// PostgreSQL's keywords that mean something in a query, and no others.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "all", "and", "any", "array", "as", "asc", "at", "bernoulli", "between", "bit", "both", "by", "case",
    "cast", "char", "character", "collate", "cross", "cube", "current", "current_catalog", "current_date",
    "current_time", "current_timestamp", "current_user", "day", "desc", "distinct", "double", "else", "end",
    "escape", "except", "exists", "extract", "false", "fetch", "filter", "first", "following", "for",
    "from", "full", "group", "grouping", "groups", "having", "hour", "ilike", "in", "inner", "intersect",
    "interval", "is", "join", "last", "lateral", "leading", "left", "like", "limit", "localtime",
    "localtimestamp", "materialized", "minute", "month", "natural", "next", "nfc", "nfd", "nfkc", "nfkd",
    "normalized", "not", "notnull", "null", "nulls", "offset", "on", "only", "or", "order", "ordinality",
    "outer", "over", "overlaps", "overlay", "partition", "placing", "position", "preceding", "precision",
    "range", "recursive", "repeatable", "right", "rollup", "row", "rows", "second", "select",
    "session_user", "sets", "similar", "some", "substring", "system", "tablesample", "then", "ties", "time",
    "timestamp", "to", "trailing", "trim", "true", "unbounded", "union", "unknown", "user", "using",
    "values", "varying", "when", "where", "window", "with", "within", "without", "year", "zone",
];

/// Words that PostgreSQL never takes for a column's name. sqlparser does: it makes a condition of `SELECT a AND FROM t`, in
/// which `and` names the column.
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

/// Unquoted words that may stand before a parenthesis: PostgreSQL's grammar does not give them to functions.
#[rustfmt::skip]
const NEVER_FUNCTIONS: &[&str] = &[
    "all", "and", "any", "array", "as", "asc", "between", "both", "by", "case", "cast", "coalesce",
    "collate", "current_time", "current_timestamp", "desc", "distinct", "else", "except", "exists",
    "extract", "for", "from", "greatest", "grouping", "having", "in", "intersect", "lateral", "leading",
    "least", "limit", "localtime", "localtimestamp", "not", "nullif", "offset", "on", "only", "or",
    "overlay", "placing", "position", "row", "select", "some", "substring", "symmetric", "then", "to",
    "trailing", "trim", "union", "using", "values", "variadic", "when", "where", "with",
    // Types whose names no function can have.
    "bit", "char", "character", "dec", "decimal", "float", "interval", "numeric", "time", "timestamp",
    "varchar",
];

/// The parser's keyword of every entry of [`KEYWORDS`].
static PARSERS: LazyLock<Vec<Keyword>> = LazyLock::new(|| {
    let index = |word: &&str| ALL_KEYWORDS.binary_search(&word.to_ascii_uppercase().as_str()).ok();
    let keyword = |word| index(word).and_then(|index| ALL_KEYWORDS_INDEX.get(index)).copied();
    KEYWORDS.iter().map(|word| keyword(word).unwrap_or(Keyword::NoKeyword)).collect()
});

/// Returns the parser's keyword of this name, if PostgreSQL gives the word a meaning in a query.
pub(super) fn keyword_named(word: &str) -> Keyword {
    let index = KEYWORDS.binary_search(&word).ok();
    index.and_then(|index| PARSERS.get(index)).copied().unwrap_or(Keyword::NoKeyword)
}

/// Returns whether the word can name a column only in quotes.
pub(in crate::guard) fn is_reserved(word: &str) -> bool {
    RESERVED.binary_search(&word).is_ok()
}

/// Returns whether PostgreSQL gives this word a meaning in a query, at any place.
pub(in crate::guard) fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word).is_ok() || matches!(word, "asymmetric" | "symmetric" | "variadic")
}

/// Returns whether a function cannot have this name without quotes.
pub(in crate::guard) fn is_never_a_function(word: &str) -> bool {
    NEVER_FUNCTIONS.contains(&word)
}

/// Returns whether an expression can end with this token.
pub(in crate::guard) fn is_operand(token: &Token<'_>) -> bool {
    match token.kind {
        TokenKind::QuotedName
        | TokenKind::Number
        | TokenKind::String
        | TokenKind::PrefixedString
        | TokenKind::DollarString
        | TokenKind::Placeholder => true,
        TokenKind::Word => {
            let name = token.name.as_str();
            !is_never_a_function(name)
                || name.starts_with("current_")
                || name.starts_with("localtime")
                || matches!(name, "not" | "row")
        }
        TokenKind::Punctuation => token.is_mark(")") || token.is_mark("]"),
        TokenKind::Operator => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_sorted_and_keywords_are_the_parsers() {
        assert!(KEYWORDS.is_sorted() && RESERVED.is_sorted());
        for word in KEYWORDS {
            assert_eq!(format!("{:?}", keyword_named(word)).to_lowercase(), *word);
        }
    }
}
