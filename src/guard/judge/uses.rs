//! What a statement uses by name alone, so that PostgreSQL looks it up in the `search_path`: only the server knows
//! whether something of a user's making answers to it. Taken from the tokens; the tree tells only what is a field.

use std::collections::BTreeMap;

use super::{
    super::lexer::{Kind, Token},
    tree::Role,
};

/// Something that is looked up by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Use {
    /// A call, with the schema if one is written.
    Call { schema: Option<String>, name: String },
    /// `x.name`, which is a call of `name` when x has no such column.
    Field(String),
    /// An operator, also where a keyword stands for it.
    Operator(String),
    /// The type that something is cast to, as `pg_type` calls it.
    Cast(String),
}

/// Operators that keywords stand for.
const BEHIND_WORDS: &[(&str, &[&str])] = &[
    ("between", &["<", "<=", ">", ">="]),
    ("case", &["="]),
    ("distinct", &["="]),
    ("ilike", &["!~~*", "~~*"]),
    ("in", &["<>", "="]),
    ("like", &["!~~", "~~"]),
    ("natural", &["="]),
    ("nullif", &["="]),
    ("similar", &["!~", "~"]),
    ("using", &["="]),
];

/// Types that have other names in the grammar than in `pg_type`.
const TYPES_BEHIND_WORDS: &[(&str, &[&str])] = &[
    ("bigint", &["int8"]),
    ("bit", &["bit", "varbit"]),
    ("boolean", &["bool"]),
    ("char", &["bpchar", "varchar"]),
    ("character", &["bpchar", "varchar"]),
    ("dec", &["numeric"]),
    ("decimal", &["numeric"]),
    ("double", &["float8"]),
    ("float", &["float4", "float8"]),
    ("int", &["int4"]),
    ("integer", &["int4"]),
    ("real", &["float4"]),
    ("smallint", &["int2"]),
    ("time", &["time", "timetz"]),
    ("timestamp", &["timestamp", "timestamptz"]),
];

/// What is used, and the index of the token where it is used first.
pub(crate) fn of(tokens: &[Token<'_>], roles: &[Role]) -> BTreeMap<Use, usize> {
    let mut uses = BTreeMap::new();
    for (index, token) in tokens.iter().enumerate() {
        let before = |back: usize| index.checked_sub(back).and_then(|i| tokens.get(i));
        let qualified = before(1).is_some_and(|t| t.is_mark("."));
        let mut add = |used: Use| {
            uses.entry(used).or_insert(index);
        };
        let role = roles.get(index).copied().unwrap_or_default();
        let opens = tokens.get(index + 1).is_some_and(|next| next.is_mark("("));
        if token.is_name() && opens && !matches!(role, Role::Type | Role::Columns) {
            let schema = before(2).filter(|_| qualified).map(|schema| schema.name.clone());
            add(Use::Call { schema, name: token.name.clone() });
        }
        if role == Role::Field {
            add(Use::Field(token.name.clone()));
        }
        // `t.*` and `OPERATOR(pg_catalog.+)` have a dot before what looks like an operator.
        if token.kind == Kind::Operator && !qualified && !is_all(token, [before(1), before(2)]) {
            let name = if token.text == "!=" { "<>" } else { &token.text };
            add(Use::Operator(name.to_owned()));
        }
        // `SELECT DISTINCT` and `count(DISTINCT …)` compare by the type's own order.
        let compares =
            !token.is_word("distinct") || before(1).is_some_and(|t| t.is_word("is") || t.is_word("not"));
        for operator in meanings(BEHIND_WORDS, token).iter().filter(|_| compares) {
            add(Use::Operator((*operator).to_owned()));
        }
        let schema_before = before(2).filter(|_| qualified).and_then(|_| before(3));
        let cast = if qualified { schema_before } else { before(1) };
        if token.is_name() && cast.is_some_and(|t| t.is_mark("::") || t.is_word("as")) {
            match meanings(TYPES_BEHIND_WORDS, token) {
                [] => add(Use::Cast(element(&token.name).to_owned())),
                names => names.iter().for_each(|name| add(Use::Cast((*name).to_owned()))),
            }
        }
    }
    uses
}

fn meanings(table: &'static [(&str, &[&str])], token: &Token<'_>) -> &'static [&'static str] {
    table.iter().find(|(word, _)| token.is_word(word)).map_or(&[], |(_, meanings)| meanings)
}

/// Whether this is the `*` of `SELECT *` or `count(*)`. The grammar has no prefix `*`, but `OPERATOR(*)`.
fn is_all(token: &Token<'_>, [before, second]: [Option<&Token<'_>>; 2]) -> bool {
    let named = second.is_some_and(|t| t.is_word("operator"));
    let begins = |t: &Token<'_>| {
        t.is_mark("(") && !named
            || t.is_mark(",")
            || ["select", "distinct", "all"].iter().any(|word| t.is_word(word))
    };
    token.text == "*" && before.is_none_or(begins)
}

/// PostgreSQL's own name for an array of `x` is `_x`.
fn element(name: &str) -> &str {
    name.strip_prefix('_').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::statement::{GuardConfig, ReadOnlyStatement};

    #[track_caller]
    fn check(sql: &str, expected: &str) {
        let statement = ReadOnlyStatement::parse(sql, &GuardConfig::parse("s.f").unwrap()).unwrap();
        let told: Vec<String> = statement.uses().keys().map(told).collect();
        assert_eq!(told.join(" "), expected, "{sql}");
    }

    fn told(used: &Use) -> String {
        match used {
            Use::Call { schema: None, name } => format!("{name}()"),
            Use::Call { schema: Some(schema), name } => format!("{schema}.{name}()"),
            Use::Field(name) => format!(".{name}"),
            Use::Operator(name) => name.clone(),
            Use::Cast(name) => format!("::{name}"),
        }
    }

    #[test]
    fn what_is_looked_up_by_name_is_told() {
        check("SELECT a, t.b, public.t.c FROM s.t", ".b .c");
        check("SELECT 1, (x).f, (x[1]).g[1].h, (t.*).i FROM t", ".f .g .h .i");
        check(
            "SELECT ABS(1), \"lower\" ('x'), pg_catalog.upper('x'), s.f()",
            "abs() lower() pg_catalog.upper() s.f()",
        );
        check("SELECT * FROM unnest(a) AS q (x)", "unnest() ::q");
        check("SELECT 1 + 2, a != b, c OPERATOR(pg_catalog.-) d, e OPERATOR(*) f, t.*", "operator() * + <>");
        check("SELECT count(*), count(DISTINCT a), 2 * 3", "count() *");
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
