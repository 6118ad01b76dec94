//! Constructs that are not supported, each with a sentence that names what to write instead.

use super::words::{is_keyword, is_operand, is_reserved};
use crate::guard::lexer::{Place, Token, TokenKind};
use crate::guard::refusal::Refusal;

/// XML. PostgreSQL's parser for it, libxml2, has too many known holes to be within a model's reach.
pub(in crate::guard) const XML: &str =
    "XML is not supported here; select the column as it is, or build JSON with jsonb_build_object.";
/// The JSON constructors of PostgreSQL 16.
pub(in crate::guard) const JSON_BUILDER: &str = "SQL/JSON constructors are not supported here; use json_build_object('key', value), json_build_array(...), \
     json_agg, json_object_agg or to_json.";
/// Locks of rows.
pub(in crate::guard) const LOCKS: &str =
    "Locking rows (FOR UPDATE, FOR SHARE) is not allowed; leave the clause out.";
/// The JSON query functions of PostgreSQL 17.
const JSON_PATH: &str = "SQL/JSON query functions are not supported here; use jsonb_path_query, jsonb_path_query_first, jsonb_path_exists or \
     jsonb_to_recordset.";

/// The word before the parenthesis, and the sentence.
#[rustfmt::skip]
const CONSTRUCTS: &[(&[&str], &str)] = &[
    (
        &[
            "xmlagg", "xmlattributes", "xmlcomment", "xmlconcat", "xmlelement", "xmlexists", "xmlforest",
            "xmlnamespaces", "xmlparse", "xmlpi", "xmlroot", "xmlserialize", "xmltable", "xpath",
            "xpath_exists",
        ],
        XML,
    ),
    (&["json"], "JSON(x) is not supported here; write x::json."),
    (&["json_array", "json_arrayagg", "json_objectagg", "json_scalar", "json_serialize"], JSON_BUILDER),
    (&["json_exists", "json_query", "json_table", "json_value"], JSON_PATH),
];

/// Syntax of other databases, by the word before or at which the parser fails.
const ELSEWHERE: &[(&str, &str)] = &[
    ("div", "DIV is not an operator of PostgreSQL; write div(a, b)."),
    ("exclude", "EXCLUDE is not PostgreSQL's; name the columns that are wanted."),
    ("mod", "MOD is not an operator of PostgreSQL; write a % b."),
    ("qualify", "QUALIFY is not PostgreSQL's; filter around the query: SELECT * FROM (...) AS q WHERE ..."),
    ("regexp", "REGEXP is not PostgreSQL's; write a ~ 'pattern', or ~* to ignore case."),
    ("rlike", "RLIKE is not PostgreSQL's; write a ~ 'pattern', or ~* to ignore case."),
    ("separator", "SEPARATOR is not PostgreSQL's; write string_agg(x, ',')."),
    ("signed", "PostgreSQL has no type SIGNED; write bigint."),
    ("top", "TOP is not PostgreSQL's; write LIMIT n at the end of the query."),
    ("unsigned", "PostgreSQL has no type UNSIGNED; write bigint."),
];

/// Keywords of PostgreSQL that other databases call, failing at the parenthesis.
const CALLED_ELSEWHERE: &[(&[&str], &str)] = &[
    (&["isnull"], "PostgreSQL has no function isnull; write coalesce(a, b), or a IS NULL."),
    (
        &["current_catalog", "current_date", "current_role", "current_user", "session_user", "user"],
        "This word is written without parentheses in PostgreSQL.",
    ),
];
const INTERVAL: &str = "The length of an interval is quoted in PostgreSQL: interval '1 day'.";
pub(super) const BARE_LABEL: &str =
    "A keyword names a result only behind AS; write AS before it, or quote it.";
const LIMIT_COMMA: &str = "LIMIT a, b is not PostgreSQL's; write LIMIT b OFFSET a.";

/// The sentence for an operator of a schema other than PostgreSQL's own.
pub(in crate::guard) const FOREIGN_OPERATOR: &str =
    "Only PostgreSQL's own operators may be named: OPERATOR(pg_catalog.+), or just +.";

/// Returns the sentence for a construct of this name.
pub(in crate::guard) fn named(name: &str) -> Option<&'static str> {
    CONSTRUCTS.iter().find(|(names, _)| names.contains(&name)).map(|(_, sentence)| *sentence)
}

/// Returns the refusal of a construct, or of another database's syntax, at which the parser failed.
pub(super) fn refusal(failed: Place<'_, '_>) -> Option<Refusal> {
    let violation = around(failed).map(|(token, sentence)| Refusal::violation(token.at, sentence));
    violation.or_else(|| elsewhere(failed).map(|(token, sentence)| Refusal::invalid(token.at, sentence)))
}

/// Returns the construct around a token: the word that begins it, and its sentence.
fn around<'t, 's>(failed: Place<'t, 's>) -> Option<(&'t Token<'s>, &'static str)> {
    if failed.token.is_word("document") && failed.after_word(&["is", "not"]) {
        return Some((failed.token, XML));
    }
    let mut closed = 0_usize;
    failed.tokens.get(..failed.index)?.windows(2).rev().find_map(|pair| {
        let [name, token] = pair else { return None };
        closed += usize::from(token.is_mark(")"));
        if !token.is_mark("(") {
            return None;
        }
        let Some(depth) = closed.checked_sub(1) else {
            // This parenthesis is still open. `json_object` is a plain function, too, whose arguments are written otherwise.
            let sentence = if name.is_word("json_object") { Some(JSON_BUILDER) } else { named(&name.name) };
            return sentence.filter(|_| name.kind == TokenKind::Word).map(|sentence| (name, sentence));
        };
        closed = depth;
        None
    })
}

/// Returns true for a keyword behind an operand: the name of a result, without AS before it.
fn is_bare_label(failed: Place<'_, '_>) -> bool {
    failed.token.kind == TokenKind::Word
        && (is_keyword(&failed.token.name) || is_reserved(&failed.token.name))
        && failed.before(1).is_some_and(|before| is_operand(before) || before.is_mark(")"))
        && failed
            .after(1)
            .is_none_or(|after| after.is_mark(",") || after.is_mark(")") || after.is_word("from"))
}

/// Returns the syntax of another database at a token: its word and the sentence.
fn elsewhere<'t, 's>(failed: Place<'t, 's>) -> Option<(&'t Token<'s>, &'static str)> {
    let mut words = [Some(failed.token), failed.before(1)].into_iter().flatten();
    let word = words.find_map(|token| {
        ELSEWHERE.iter().find(|(word, _)| token.is_word(word)).map(|(_, sentence)| (token, *sentence))
    });
    let called = failed.before(1).filter(|_| failed.token.is_mark("(")).and_then(|word| {
        CALLED_ELSEWHERE
            .iter()
            .find(|(words, _)| word.is_one_of(words))
            .map(|(_, sentence)| (word, *sentence))
    });
    let interval = failed
        .before(1)
        .filter(|word| word.is_word("interval") && failed.token.kind == TokenKind::Number)
        .map(|word| (word, INTERVAL));
    let word = word.or(called).or(interval);
    let label = is_bare_label(failed).then_some((failed.token, BARE_LABEL));
    let limit = failed.token.is_mark(",") && failed.before(2).is_some_and(|token| token.is_word("limit"));
    word.or(limit.then_some((failed.token, LIMIT_COMMA))).or(label)
}
