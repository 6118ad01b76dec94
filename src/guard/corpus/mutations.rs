//! Random statements for the fuzz target: accepted ones with edits, random tokens, any text.

use super::statements::accepted;
use crate::guard::fuzz;

/// Pieces of random statements: words of the grammar, other words, denied names.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "SELECT", "select", "FROM", "WHERE", "t", "a", "b.c", "\"Q q\"", "1", "2.5", "'x'", "'it''s'", "E'\\''",
    "$$d$$", "B'1'", "(", ")", "[", "]", ",", ".", "*", "+", "-", "||", "->>", "=", "<", "::", "int",
    "text", "numeric(3,1)", "AND", "OR", "NOT", "IS", "NULL", "ISNULL", "IN", "LIKE", "BETWEEN",
    "SYMMETRIC", "CASE", "WHEN", "THEN", "ELSE", "END", "AS", "x", "UNION", "ALL", "VALUES", "TABLE",
    "WITH", "RECURSIVE", "ORDER", "BY", "GROUP", "HAVING", "LIMIT", "OFFSET", "FETCH", "FIRST", "ROWS",
    "ONLY", "JOIN", "LEFT", "ON", "USING", "LATERAL", "abs(", "count(*)", "FILTER", "OVER", "PARTITION",
    "WINDOW", "EXCLUDE", "TIES", "ROW", "ARRAY[", "ARRAY(", "EXISTS", "ANY", "INTERVAL", "DAY", "TO", "AT",
    "TIME", "ZONE", "LOCAL", "COLLATE", "\"C\"", "EXTRACT(", "SUBSTRING(", "SIMILAR", "ESCAPE", "GROUPING",
    "SETS", "ROLLUP", "CUBE", "VARIADIC", "OPERATOR(", "pg_catalog", "public", "SEARCH", "DEPTH", "CYCLE",
    "SET", "DISTINCT", "INTO", "FOR", "UPDATE", "DELETE", "pg_sleep", "pg_sleep(", "f(", "--c\n", "/*c*/",
    "\n", ";", "generate_series(1,", "ORDINALITY", "TABLESAMPLE", "BERNOULLI", "NULLS", "LAST", "DESC",
    "double", "precision",
];

/// Makes statements of accepted ones, with pieces inserted, replaced and removed.
fn mutated() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let bases: Vec<String> = accepted().map(|(sql, _)| sql).collect();
    let edits =
        prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..3_u8), 0..6);
    (prop::sample::select(bases), edits).prop_map(|(base, edits)| {
        let mut words: Vec<String> = base.split_inclusive(' ').map(str::to_owned).collect();
        for (place, piece, edit) in edits {
            let at = place.index(words.len().max(1)).min(words.len());
            let piece = format!("{} ", PIECES[piece.index(PIECES.len())]);
            match edit {
                0 => words.insert(at, piece),
                1 if at < words.len() => words[at] = piece,
                _ if at < words.len() => drop(words.remove(at)),
                _ => {}
            }
        }
        words.concat()
    })
}

fn soup() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    prop::collection::vec(prop::sample::select(PIECES), 0..40)
        .prop_map(|pieces| format!("SELECT {}", pieces.join(" ")))
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 500, ..proptest::test_runner::Config::default() })]

    #[test]
    fn mutated_statements_are_judged_alike_again(sql in mutated()) {
        fuzz::run(sql.as_bytes());
    }

    #[test]
    fn random_tokens_are_judged(sql in soup()) {
        fuzz::run(sql.as_bytes());
    }

    #[test]
    fn any_text_is_judged(sql in ".{0,200}") {
        fuzz::run(sql.as_bytes());
        fuzz::run(format!("SELECT {sql}").as_bytes());
    }
}
