//! Keywords by their place: the words that are keywords here, and plain names elsewhere.

use sqlparser::keywords::Keyword;

use super::view::View;
use super::words::keyword_named;
use crate::guard::lexer::Token;

const INTERVAL_FIELDS: &[&str] = &["year", "month", "day", "hour", "minute", "second"];

/// Returns the keyword that an unquoted word is at this place.
pub(super) fn keyword_at(view: &View<'_, '_>, word: &str) -> Keyword {
    if !view.after_mark(".") && is_keyword_at(view, word) { keyword_named(word) } else { Keyword::NoKeyword }
}

fn is_keyword_at(view: &View<'_, '_>, word: &str) -> bool {
    let call = view.mark_at(1, "(");
    let literal = || view.token(1).is_some_and(Token::is_string);
    match word {
        "at" | "without" => view.word_at(1, "time"),
        "end" => view.within_case(),
        "extract" | "overlay" | "position" | "substring" | "trim" | "cube" | "rollup" => call,
        "time" if view.after_word(&["at", "with", "without"]) => true,
        "time" | "timestamp" => call || view.one_of(1, &["with", "without"]),
        "interval" => {
            let cast = view.after_mark("::") || view.after_word(&["as"]);
            call || literal() || cast && view.one_of(1, INTERVAL_FIELDS)
        }
        "double" => view.word_at(1, "precision"),
        "precision" => view.after_word(&["double"]),
        "character" | "char" | "bit" => view.word_at(1, "varying"),
        "varying" => view.after_word(&["character", "char", "bit"]),
        "zone" => view.after_word(&["time"]),
        "filter" | "repeatable" => call && view.after_mark(")"),
        "over" => view.after_mark(")"),
        "within" => view.word_at(1, "group"),
        "partition" => view.word_at(1, "by"),
        "current" => view.word_at(1, "row"),
        "unbounded" => view.one_of(1, &["preceding", "following"]),
        "first" => view.after_word(&["fetch", "nulls"]),
        "next" => view.after_word(&["fetch"]),
        "last" => view.after_word(&["nulls"]),
        "nulls" => view.one_of(1, &["first", "last"]),
        "ties" | "ordinality" | "recursive" => view.after_word(&["with"]),
        "materialized" => view.after_word(&["as", "not"]),
        "grouping" => view.word_at(1, "sets"),
        "sets" => view.after_word(&["grouping"]),
        "unknown" | "normalized" | "nfc" | "nfd" | "nfkc" | "nfkd" => {
            view.after_word(&["is", "not", "nfc", "nfd", "nfkc", "nfkd"])
        }
        "bernoulli" | "system" => view.after_word(&["tablesample"]),
        field if INTERVAL_FIELDS.contains(&field) => {
            view.previous().is_some_and(Token::is_string) || view.after_word(&["interval", "to"])
        }
        _ => true,
    }
}
