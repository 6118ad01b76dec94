//! Keywords by their place: the words that are keywords here, and plain names elsewhere.

use sqlparser::keywords::Keyword;

use super::view::View;
use super::words::keyword_named;
use crate::guard::lexer::{Place, Token};

const INTERVAL_FIELDS: &[&str] = &["year", "month", "day", "hour", "minute", "second"];

/// Returns the keyword that the unquoted word at this place is.
pub(super) fn keyword_at(view: &View, place: Place<'_, '_>) -> Keyword {
    let word = place.token.name.as_str();
    let is_keyword = !place.after_mark(".") && is_keyword_at(view, place, word);
    if is_keyword { keyword_named(word) } else { Keyword::NoKeyword }
}

fn is_keyword_at(view: &View, place: Place<'_, '_>, word: &str) -> bool {
    let call = place.mark_at(1, "(");
    let literal = || place.after(1).is_some_and(Token::is_string);
    match word {
        "at" | "without" => place.word_at(1, "time"),
        "end" => view.within_case(),
        "extract" | "overlay" | "position" | "substring" | "trim" | "cube" | "rollup" => call,
        "time" if place.after_word(&["at", "with", "without"]) => true,
        "time" | "timestamp" => call || place.one_of(1, &["with", "without"]),
        "interval" => {
            let cast = place.after_mark("::") || place.after_word(&["as"]);
            call || literal() || cast && place.one_of(1, INTERVAL_FIELDS)
        }
        "double" => place.word_at(1, "precision"),
        "precision" => place.after_word(&["double"]),
        "character" | "char" | "bit" => place.word_at(1, "varying"),
        "varying" => place.after_word(&["character", "char", "bit"]),
        "zone" => place.after_word(&["time"]),
        "filter" | "repeatable" => call && place.after_mark(")"),
        "over" => place.after_mark(")"),
        "within" => place.word_at(1, "group"),
        "partition" => place.word_at(1, "by"),
        "current" => place.word_at(1, "row"),
        "unbounded" => place.one_of(1, &["preceding", "following"]),
        "first" => place.after_word(&["fetch", "nulls"]),
        "next" => place.after_word(&["fetch"]),
        "last" => place.after_word(&["nulls"]),
        "nulls" => place.one_of(1, &["first", "last"]),
        "exists" => call,
        "ties" | "ordinality" => place.after_word(&["with"]),
        // `WITH recursive AS (…)` names a query.
        "recursive" => place.after_word(&["with"]) && !place.word_at(1, "as") && !place.mark_at(1, "("),
        "materialized" => place.after_word(&["as", "not"]),
        "grouping" => place.word_at(1, "sets"),
        "sets" => place.after_word(&["grouping"]),
        "unknown" | "normalized" | "nfc" | "nfd" | "nfkc" | "nfkd" => {
            place.after_word(&["is", "not", "nfc", "nfd", "nfkc", "nfkd"])
        }
        "bernoulli" | "system" => place.after_word(&["tablesample"]),
        field if INTERVAL_FIELDS.contains(&field) => {
            place.before(1).is_some_and(Token::is_string) || place.after_word(&["interval", "to"])
        }
        _ => true,
    }
}
