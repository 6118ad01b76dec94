//! Names that PostgreSQL looks up in the `search_path`: functions, operators and types that a statement uses by name alone.
//!
//! Only the server knows whether a user-defined object shadows such a name. Taken from the tokens; the tree only adds which
//! names are fields.

use std::collections::BTreeMap;

use super::roles::NameRole;
use crate::guard::lexer::{Place, Token, TokenKind};

/// A use of something that is looked up by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Use {
    /// A call, with the schema if one is written.
    Call { schema: Option<String>, name: String },
    /// `x.name`, which is a call of `name` when x has no such column.
    Field(String),
    /// An operator, also where a keyword stands for it.
    Operator(String),
    /// The target type of a cast, as `pg_type` names it.
    Cast(String),
}

/// Operators that keywords stand for.
#[rustfmt::skip]
const BEHIND_WORDS: &[(&str, &[&str])] = &[
    ("between", &["<", "<=", ">", ">="]), ("case", &["="]), ("distinct", &["="]), ("ilike", &["!~~*", "~~*"]),
    ("in", &["<>", "="]), ("like", &["!~~", "~~"]), ("natural", &["="]), ("nullif", &["="]),
    ("similar", &["!~", "~"]), ("using", &["="]),
];

/// Types that have other names in the grammar than in `pg_type`.
#[rustfmt::skip]
const TYPES_BEHIND_WORDS: &[(&str, &[&str])] = &[
    ("bigint", &["int8"]), ("bit", &["bit", "varbit"]), ("boolean", &["bool"]),
    ("char", &["bpchar", "varchar"]), ("character", &["bpchar", "varchar"]), ("dec", &["numeric"]),
    ("decimal", &["numeric"]), ("double", &["float8"]), ("float", &["float4", "float8"]), ("int", &["int4"]),
    ("integer", &["int4"]), ("real", &["float4"]), ("smallint", &["int2"]), ("time", &["time", "timetz"]),
    ("timestamp", &["timestamp", "timestamptz"]),
];

/// Returns the uses, each with the index of the token where it stands first.
pub(crate) fn of(tokens: &[Token<'_>], roles: &[NameRole]) -> BTreeMap<Use, usize> {
    let mut uses = BTreeMap::new();
    for place in Place::all(tokens) {
        let token = place.token;
        let qualified = place.after_mark(".");
        let mut add = |used: Use| {
            uses.entry(used).or_insert(place.index);
        };
        let role = roles.get(place.index).copied().unwrap_or_default();
        if token.is_name()
            && place.mark_at(1, "(")
            && !matches!(role, NameRole::Type | NameRole::OpenType | NameRole::Columns)
        {
            let schema = place.schema().map(str::to_owned);
            add(Use::Call { schema, name: token.name.clone() });
        }
        if role == NameRole::Field {
            add(Use::Field(token.name.clone()));
        }
        // `t.*` and `OPERATOR(pg_catalog.+)` have a dot before a token that looks like an operator.
        if token.kind == TokenKind::Operator && !qualified && !is_all(place) {
            let name = if token.text == "!=" { "<>" } else { &token.text };
            add(Use::Operator(name.to_owned()));
        }
        // `SELECT DISTINCT` and `count(DISTINCT …)` compare by the type's own order.
        let compares = !token.is_word("distinct") || place.after_word(&["is", "not"]);
        for operator in meanings(BEHIND_WORDS, token).iter().filter(|_| compares) {
            add(Use::Operator((*operator).to_owned()));
        }
        let cast = if qualified { place.before(3) } else { place.before(1) };
        if token.is_name() && cast.is_some_and(|t| t.is_mark("::") || t.is_word("as")) {
            match meanings(TYPES_BEHIND_WORDS, token) {
                // PostgreSQL's own name for an array of `x` is `_x`.
                [] => add(Use::Cast(token.name.strip_prefix('_').unwrap_or(&token.name).to_owned())),
                names => names.iter().for_each(|name| add(Use::Cast((*name).to_owned()))),
            }
        }
    }
    uses
}

fn meanings(table: &'static [(&str, &[&str])], token: &Token<'_>) -> &'static [&'static str] {
    table.iter().find(|(word, _)| token.is_word(word)).map_or(&[], |(_, meanings)| meanings)
}

/// Returns whether this is the `*` of `SELECT *` or `count(*)`. The grammar has no prefix `*`, but `OPERATOR(*)`.
fn is_all(place: Place<'_, '_>) -> bool {
    let named = place.before(2).is_some_and(|t| t.is_word("operator"));
    // Behind a dot, these words are columns.
    let is_column = place.before(2).is_some_and(|t| t.is_mark("."));
    let begins = place.after_mark("(") && !named
        || place.after_mark(",")
        || place.after_word(&["select", "distinct", "all"]) && !is_column;
    place.token.text == "*" && (begins || place.index == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::{config::GuardConfig, statement::ReadOnlyStatement};

    #[track_caller]
    fn check(sql: &str, expected: &str) {
        let statement = ReadOnlyStatement::parse(sql, &GuardConfig::parse("s.f").unwrap()).unwrap();
        let shown: Vec<String> = statement.uses().keys().map(shown).collect();
        assert_eq!(shown.join(" "), expected, "{sql}");
    }

    fn shown(used: &Use) -> String {
        match used {
            Use::Call { schema: None, name } => format!("{name}()"),
            Use::Call { schema: Some(schema), name } => format!("{schema}.{name}()"),
            Use::Field(name) => format!(".{name}"),
            Use::Operator(name) => name.clone(),
            Use::Cast(name) => format!("::{name}"),
        }
    }

    #[test]
    fn names_that_are_looked_up_are_listed() {
        check("SELECT a, t.b, public.t.c FROM s.t", ".b .c");
        check("SELECT 1, (x).f, (x[1]).g[1].h, (t.*).i FROM t", ".f .g .h .i");
        check(
            "SELECT ABS(1), \"lower\" ('x'), pg_catalog.upper('x'), s.f()",
            "abs() lower() pg_catalog.upper() s.f()",
        );
        check("SELECT * FROM unnest(a) AS q (x)", "unnest() ::q");
        check("SELECT 1 + 2, a != b, c OPERATOR(pg_catalog.-) d, e OPERATOR(*) f, t.*", "operator() * + <>");
        check("SELECT count(*), count(DISTINCT a), 2 * 3", "count() *");
        check("SELECT DISTINCT * FROM t UNION SELECT ALL * FROM t", "");
        check("SELECT p.all * p.b FROM t p", ".all .b *");
        check("SELECT p.distinct * p.b FROM t p", ".b .distinct *");
        check("SELECT p.select * p.b FROM t p", ".b .select *");
        check("SELECT a LIKE b", "!~~ ~~");
        check("SELECT a IS NOT DISTINCT FROM b", "=");
        check("SELECT DISTINCT a", "");
        check("SELECT a NOT IN (1)", "in() <> =");
        check("SELECT nullif(a, b)", "nullif() =");
        check(
            "SELECT a::int[], CAST(b AS pg_catalog.int8), c::numeric(3, 1), '1'::_text",
            "cast() ::int4 ::int8 ::numeric ::pg_catalog ::text",
        );
        check(
            "SELECT a::double precision, a::timestamp with time zone",
            "::float8 ::timestamp ::timestamptz",
        );
    }

    #[test]
    fn the_tables_are_sorted() {
        assert!(BEHIND_WORDS.is_sorted() && TYPES_BEHIND_WORDS.is_sorted());
    }
}
