//! Collects the uses of names for the rule `members-exposed`: where a marked name must not stand, and which names it passes
//! its mark to. Works on names alone and resolves nothing.
//!
//! A marked name may stand (1) as an output column, (2) left of an operator that names a member on its right, (3) as an
//! argument that a function inspects or keeps, (4) before IS [NOT] NULL. What a function keeps, and the column of a scalar
//! subquery, count as the name itself. A member that is taken, `data -> 'name'`, may be used in any way: its name is
//! written where a reviewer sees it.

use sqlparser::ast::{Expr, FunctionArg, Ident, Query, SetExpr, SetOperator, SetQuantifier, TableAlias};

use super::super::members::{Exposed, MemberUse};
use super::found::Found;
use super::from::FUNCTION_COLUMN;
use super::literals::{is_written, operator};
use super::output::{self, exprs_of};
use super::parts::{Call, Part, argument, fields, parts_around, parts_of, placeholders};
use crate::guard::functions::{self, Members};
use crate::guard::position::position_in;

/// Operators whose left side may be marked. The right side names members, and is written out.
const OPERATORS: &[&str] = &["#>", "#>>", "->", "->>", "?", "?&", "?|", "@>", "@?", "@@"];

/// The name of a column that PostgreSQL gives none.
const UNNAMED: &str = "?column?";

/// Collects the uses of a statement.
pub(super) fn collect(found: &Found<'_>, sql: &str) -> MemberUse {
    let mut uses = Uses { left: Vec::new(), renames: Vec::new(), exposed: found.using.clone() };
    for query in &found.queries {
        uses.query(query);
    }
    for (query, names) in &found.renamed {
        let columns = columns(query, Through::Members);
        columns.iter().zip(*names).for_each(|(column, name)| uses.rename(column, &name.name.value));
    }
    for (call, alias) in &found.functions {
        uses.function(call, *alias);
    }
    uses.left.extend(&found.roots);
    uses.exprs();
    let exposed = |name: &Ident| {
        let at = found.place(name).map(|at| position_in(sql, at));
        Exposed { name: name.value.clone(), at }
    };
    let mut exposed: Vec<Exposed> = uses.exposed.into_iter().map(exposed).collect();
    exposed.sort_by_key(|exposed| exposed.at.map(|at| (at.line, at.column)));
    MemberUse { renames: uses.renames.into_iter().filter(|(from, to)| from != to).collect(), exposed }
}

struct Uses<'t> {
    /// Expressions that are left to look at, and whether a marked value may stand there.
    left: Vec<(&'t Expr, bool)>,
    renames: Vec<(String, String)>,
    exposed: Vec<&'t Ident>,
}

impl<'t> Uses<'t> {
    fn rename(&mut self, from: &[&Ident], to: &str) {
        self.renames.extend(from.iter().map(|from| (from.value.clone(), to.to_owned())));
    }

    /// The names of a query's columns. INTERSECT and EXCEPT compare them.
    fn query(&mut self, query: &'t Query) {
        let names = output::columns(query).unwrap_or_default();
        for (column, (name, _)) in columns(query, Through::Members).iter().zip(names) {
            self.rename(column, name.as_deref().unwrap_or(UNNAMED));
        }
        if compares(query) {
            self.exposed.extend(columns(query, Through::Value).into_iter().flatten());
        }
    }

    /// The rows of a function, whose one column is called as the alias, the function or `value`.
    fn function(&mut self, call: &Call<'t>, alias: Option<&TableAlias>) {
        self.arguments(call);
        if keeps(call) {
            let kept: Vec<&Ident> =
                kept(call).into_iter().flat_map(|expr| names(expr, Through::Members)).collect();
            let first =
                alias.and_then(|alias| alias.columns.first()).map(|column| column.name.value.as_str());
            let called = alias.map_or(call.name, |alias| &alias.name);
            let all = [FUNCTION_COLUMN, &called.value].into_iter().chain(first);
            all.for_each(|name| self.rename(&kept, name));
        }
    }

    /// The arguments of a call, each in its place.
    fn arguments(&mut self, call: &Call<'t>) {
        let args = call.args.iter().enumerate();
        self.left.extend(args.filter_map(|(index, arg)| Some((argument(arg)?, takes(call, index)))));
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "any other place exposes a marked name")]
    fn exprs(&mut self) {
        while let Some((expr, may_be_marked)) = self.left.pop() {
            if !may_be_marked {
                self.exposed.extend(names(expr, Through::Value));
            }
            match expr {
                Expr::Nested(inner) | Expr::IsNull(inner) | Expr::IsNotNull(inner) => {
                    self.left.push((inner, true));
                }
                Expr::BinaryOp { left, op, right }
                    if operator(op).is_some_and(|op| OPERATORS.contains(&op)) && is_written(right) =>
                {
                    self.left.extend([(left.as_ref(), true), (right.as_ref(), false)]);
                }
                // Their queries have places of their own.
                Expr::Subquery(_) | Expr::Exists { subquery: _, negated: _ } => {}
                Expr::Function(function) => {
                    Call::of(expr).iter().for_each(|call| self.arguments(call));
                    self.parts(parts_around(function));
                }
                Expr::CompoundFieldAccess { root: _, access_chain } => {
                    self.exposed.extend(fields(access_chain));
                    self.parts(parts_of(expr));
                }
                _ => self.parts(parts_of(expr)),
            }
        }
    }

    fn parts(&mut self, parts: Vec<Part<'t>>) {
        for part in parts {
            match part {
                Part::Expr(expr) => self.left.push((expr, false)),
                Part::Query(query) => {
                    self.exposed.extend(columns(query, Through::Value).into_iter().flatten())
                }
            }
        }
    }
}

/// The expressions that pass a mark on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Through {
    /// Those that are the value itself.
    Value,
    /// Members that are taken from it, too.
    Members,
}

/// The names that an expression has its mark from.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other expression is marked")]
fn names(expr: &Expr, through: Through) -> Vec<&Ident> {
    let (mut found, mut left) = (Vec::new(), vec![expr]);
    while let Some(next) = left.pop() {
        match next {
            Expr::Identifier(name) => found.push(name),
            Expr::CompoundIdentifier(parts) => found.extend(parts.last()),
            Expr::Nested(inner) => left.push(inner),
            Expr::BinaryOp { left: value, op, right: _ }
                if through == Through::Members && matches!(operator(op), Some("->" | "#>")) =>
            {
                left.push(value);
            }
            Expr::Subquery(query) => found.extend(columns(query, through).into_iter().flatten()),
            Expr::Function(_) => {
                let call = Call::of(next).filter(keeps);
                left.extend(call.iter().flat_map(kept));
            }
            _ => {}
        }
    }
    found
}

/// The names that the columns of a query have their marks from. The parts of a set operation are put together.
fn columns(query: &Query, through: Through) -> Vec<Vec<&Ident>> {
    let named = |exprs: Vec<_>| exprs.into_iter().flat_map(|expr| names(expr, through)).collect();
    exprs_of(query).into_iter().map(named).collect()
}

/// The arguments of a call that may be marked.
fn kept<'t>(call: &Call<'t>) -> Vec<&'t Expr> {
    let taken = call.args.iter().enumerate().filter(|(index, _)| takes(call, *index));
    taken.filter_map(|(_, arg)| argument(arg)).collect()
}

/// Returns whether the argument of this index may be marked.
fn takes(call: &Call<'_>, index: usize) -> bool {
    let name = call.built_in();
    let is_literal = |arg: &FunctionArg| argument(arg).is_some_and(is_written);
    match name {
        "json_build_object" | "jsonb_build_object" => !index.is_multiple_of(2),
        "coalesce" => index == 0 && call.args.iter().skip(1).all(is_literal),
        _ => index == 0 && matches!(members(call), Members::Inspects | Members::Keeps),
    }
}

/// The column of the table of functions.
fn members(call: &Call<'_>) -> Members {
    functions::find(call.built_in()).map_or(Members::Exposes, |function| function.members)
}

fn keeps(call: &Call<'_>) -> bool {
    members(call) == Members::Keeps
}

/// Returns whether the set operations compare rows. UNION does so with a parameter; otherwise it only drops equal rows.
fn compares(query: &Query) -> bool {
    let (mut left, mut is_distinct) = (vec![query.body.as_ref()], false);
    while let Some(part) = left.pop() {
        if let SetExpr::SetOperation { op, set_quantifier, left: first, right } = part {
            if *op != SetOperator::Union {
                return true;
            }
            is_distinct |= *set_quantifier != SetQuantifier::All;
            left.extend([first.as_ref(), right]);
        }
    }
    let mut columns = exprs_of(query).into_iter().flatten();
    is_distinct && columns.any(|column| !placeholders(column).is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Case, case, filter};

    /// The columns that the database marks.
    const MARKED: &str = "data d c cs ps h hs x";

    /// The statement is proven; once the columns are marked, the first of these names is exposed, or none.
    #[track_caller]
    fn check(cases: &[Case], expected: &str) {
        let mut wrong = Vec::new();
        for case in cases {
            let (proven, faults) = case.clone().guard("@hstore,member_of,creds_of,cred").prove();
            let Some(proven) = proven else {
                wrong.push(format!("{}\n  {faults:#?}", case.sql));
                continue;
            };
            let marked = MARKED.split(' ').map(str::to_owned).collect();
            let exposed = proven.member_use.judge(marked).map_or("", |exposed| &exposed.name);
            if exposed != expected {
                wrong.push(format!("{}\n  exposes {exposed:?}", case.sql));
            }
            assert!(proven.member_use.judge(Default::default()).is_none(), "{}", case.sql);
        }
        assert!(wrong.is_empty(), "not {expected:?}:\n{}", wrong.join("\n"));
    }

    /// `SELECT … AS full_name FROM people`
    fn select(expr: &str) -> Case {
        case(&format!("SELECT {expr} AS full_name FROM people p"))
    }

    #[test]
    fn a_marked_name_is_an_output_column() {
        check(
            &[
                select("data"),
                select("(p.c)"),
                select("(SELECT cs)"),
                case(
                    "SELECT full_name FROM (SELECT data AS full_name FROM people UNION ALL SELECT h FROM people) q",
                ),
                case("WITH q(full_name) AS (SELECT c FROM people) SELECT full_name FROM q"),
                case("SELECT DISTINCT data AS full_name FROM people"),
                case("SELECT q.column1 AS full_name FROM people, LATERAL (VALUES (data)) q"),
            ],
            "",
        );
        check(
            &[
                select("data::text"),
                select("data::jsonb"),
                select("CAST(p.data AS varchar)"),
                select("upper(data::text)"),
                select("substr(data::text, :n::int, 100)").params("n#"),
                select("(regexp_match(data::text, 'ZS.*'))[1]"),
                select("''::text || data"),
                select("data || '{}'"),
                select("jsonb_concat(data, '{}')"),
                select("concat(data)"),
                select("format('%s', data)"),
                select("to_tsvector('simple', data)"),
                select("to_jsonb(data)"),
                select("CASE WHEN true THEN data END"),
                select("ARRAY[data]"),
                select("nullif(data, '1')"),
                select("max(p.data)"),
            ],
            "data",
        );
    }

    #[test]
    fn a_marked_name_is_not_compared_or_taken_apart() {
        check(
            &[
                select("mode() WITHIN GROUP (ORDER BY data)"),
                select("count(*) FILTER (WHERE data = '1')"),
                select("rank() OVER (ORDER BY data)"),
                case("SELECT rank() OVER w AS full_name FROM people WINDOW w AS (PARTITION BY data)"),
                select("(data).text"),
                select("(note).data"),
                select("data['a']"),
                select("(SELECT data)::text"),
                select("ARRAY(SELECT data FROM people)"),
                select("ARRAY(VALUES ((SELECT data)))"),
                case("SELECT DISTINCT ON (data) full_name FROM people"),
                case("SELECT full_name FROM people GROUP BY full_name, data"),
                case("SELECT full_name FROM people ORDER BY data LIMIT 9"),
                case("SELECT full_name FROM people JOIN sites USING (data)").tables("people sites"),
                case("SELECT full_name FROM people p JOIN sites s ON p.data = s.data").tables("people sites"),
                case("SELECT data AS full_name FROM people INTERSECT SELECT ROW(1, :x)").params("x"),
                case("SELECT data AS full_name FROM people UNION SELECT ROW(1, :x)").params("x"),
                case("SELECT data AS full_name FROM people EXCEPT (SELECT note FROM people)"),
                case("SELECT e.data::text AS full_name FROM people, creds_of(id) AS e"),
                filter("data = '1'"),
                filter("data > :x").params("x"),
                filter("data IN ('1')"),
                filter("data BETWEEN '1' AND '2'"),
                filter("data IS DISTINCT FROM '1'"),
                filter("'1' IN (SELECT data FROM people)"),
                filter("'1' = ANY (SELECT data FROM people)"),
                filter("data = ANY ('{}')"),
                filter("member_of(data, 'a') = 'x'"),
            ],
            "data",
        );
    }

    #[test]
    fn a_composite_value_is_selected_whole() {
        check(
            &[
                select("c::text"),
                select("concat(c)"),
                select("(c).login"),
                select("(c).extra::text"),
                select("(to_jsonb(c) -> 'login')::text"),
                filter("c = ROW('bob', :k, NULL)::cred").params("k"),
                filter("c IN (SELECT ROW('bob', :k, NULL)::cred)").params("k"),
                filter("(SELECT c) IN (ROW(1, :k))").params("k"),
                filter("nullif(c, ROW(1, :k)) IS NULL").params("k"),
                case("SELECT full_name FROM people a, (SELECT ROW(1, :k) AS k) q WHERE a.c > q.k")
                    .params("k"),
                case("SELECT full_name FROM people JOIN (SELECT ROW(1, :k) AS c) q USING (c)").params("k"),
                case("SELECT full_name FROM people, jsonb_populate_record(c, '{}') AS e"),
            ],
            "c",
        );
        check(
            &[
                select("cs::text"),
                select("(cs).text"),
                select("(cs[1]).login"),
                select("array_to_string(cs, ',')"),
            ],
            "cs",
        );
        check(&[select("h::text")], "h");
        check(&[select("hs::text")], "hs");
        check(&[select("x::text"), select("to_jsonb(x)")], "x");
        check(
            &[
                case("SELECT z AS full_name FROM people, unnest(ps) AS z"),
                case("SELECT z.a AS full_name FROM people, unnest(ps) AS z(a)"),
            ],
            "ps",
        );
    }

    #[test]
    fn an_operator_takes_a_member_by_a_written_name() {
        check(
            &[
                select("data -> 'a'"),
                select("data ->> 'a'"),
                select("data #> '{a,b}'"),
                select("upper(data #>> ARRAY['a', 'b'])"),
                select("data -> 0 -> 'b'"),
                select("data -> n::int"),
                select("lower(h -> 'a')"),
                // The member is taken by its name, as `->>` takes it.
                select("(data -> 'a')::int"),
                filter(
                    "data @> '{\"a\": 1}' AND data ? 'a' AND data ?| ARRAY['a'] AND data ?& '{a}'::text[]",
                ),
                filter("data @? '$.a[*]' AND data @@ '$.a == 1'"),
                filter("data @> jsonb_build_object('a', :x)").params("x"),
                filter("h @> hstore('a', :x)").params("x"),
                filter("data OPERATOR(pg_catalog.->>) 'a' = :x").params("x"),
            ],
            "",
        );
        check(
            &[
                filter("data @> note::jsonb"),
                filter("data @> (SELECT '1'::jsonb)"),
                filter("'{}' @> data"),
                filter("data <@ '{}'"),
                filter("data #- '{a}' IS NULL"),
                filter("data - 'a' IS NULL"),
                case("SELECT full_name FROM people, (SELECT :k AS k) q WHERE data @> jsonb_build_object(q.k, 1)")
                    .params("k"),
                case("WITH args AS (SELECT :k AS flt) SELECT full_name FROM people, args WHERE data @> flt::jsonb")
                    .params("k"),
                case("SELECT full_name FROM people JOIN (VALUES ('{' || :k || '}')) AS p (j) ON data @> p.j::jsonb")
                    .params("k"),
            ],
            "data",
        );
    }

    #[test]
    fn a_function_inspects_or_keeps_its_first_argument() {
        check(
            &[
                select("count(data)"),
                select("jsonb_typeof(data)"),
                select("pg_catalog.jsonb_array_length(data -> 'a')"),
                select("concat(cardinality(cs), array_length(cs, 1), num_nulls(c))"),
                select("jsonb_extract_path_text(data, 'a')"),
                select("jsonb_extract_path(data, 'a', 'b')"),
                select("jsonb_agg(data)"),
                select("array_agg(c ORDER BY id)"),
                select("coalesce(data, '{}'::jsonb)"),
                select("json_build_object('a', data, 'b', coalesce(cs, NULL))"),
                select("json_agg(json_build_object('a', (SELECT data -> 'b')))"),
                select("hstore_to_jsonb(h)"),
                select("jsonb_array_elements(data)"),
                case("SELECT e AS full_name FROM people, jsonb_array_elements(data -> 'a') AS e"),
                case(
                    "SELECT e -> 'a' AS full_name FROM people, jsonb_array_elements(data) WITH ORDINALITY AS t(e, n) WHERE n = 1",
                ),
            ],
            "",
        );
        check(
            &[
                select("jsonb_agg(data)::text"),
                select("upper(coalesce(data, '{}')::text)"),
                select("concat(jsonb_build_object('a', data))"),
                select("coalesce(data, note::jsonb)"),
                select("coalesce(note::jsonb, data)"),
                select("jsonb_build_object(data, 1)"),
                select("jsonb_object_agg(full_name, data)"),
                select("jsonb_array_length(jsonb_concat(data, '[]'))"),
                select("jsonb_object_keys(data)"),
                select("jsonb_path_query(data, '$.a')"),
                select("concat(jsonb_path_query_first(data, '$.a'))"),
                select("num_nulls(1, data)"),
                select("jsonb_array_elements_text(data)"),
                select("jsonb_populate_record(cred, data)::text"),
                case("SELECT x.y || '' AS full_name FROM people, jsonb_path_query(data, '$.a') AS x(y)"),
                case("SELECT r.a::text AS full_name FROM people, jsonb_to_record(data) AS r(a jsonb)"),
                case("SELECT replace(e, :x, '') AS full_name FROM people, jsonb_array_elements_text(data) AS e")
                    .params("x"),
            ],
            "data",
        );
    }

    #[test]
    fn before_is_null() {
        check(&[filter("data IS NULL AND (p.c) IS NOT NULL AND (SELECT h) IS NULL")], "");
        check(&[filter("data IS NOT NULL = (c IS NULL) AND data::text IS NULL")], "data");
    }

    #[test]
    fn a_mark_is_passed_on_to_aliases() {
        check(
            &[
                case("SELECT y::text AS full_name FROM (SELECT data AS y FROM people) q"),
                case("SELECT q.y::text AS full_name FROM (SELECT data FROM people) q(y)"),
                case("SELECT y::text AS full_name FROM (SELECT data -> 'a' AS y FROM people) q"),
                case("SELECT y::text AS full_name FROM (SELECT data #> '{a}' AS y FROM people) q"),
                case("SELECT y::text AS full_name FROM (SELECT jsonb_agg(data) AS y FROM people) q"),
                case("SELECT y::text AS full_name FROM (SELECT (SELECT data) AS y FROM people) q"),
                case(
                    "SELECT y::text AS full_name FROM (SELECT a AS y FROM (SELECT data AS a FROM people) q) q",
                ),
                case(
                    "SELECT y::text AS full_name FROM (SELECT full_name AS y FROM people UNION ALL SELECT data FROM people) q",
                ),
                case(
                    "SELECT y::text AS full_name FROM (SELECT full_name AS y FROM people UNION ALL (SELECT data FROM people)) q",
                ),
                case("SELECT y::text AS full_name FROM people, LATERAL (VALUES (1, data)) q(a, y)"),
                case(
                    "WITH q(y) AS (SELECT 1 UNION SELECT data #> '{a}' FROM people) SELECT concat(y) AS full_name FROM q",
                ),
                case("WITH q AS (SELECT data FROM people) SELECT concat(r.y) AS full_name FROM q AS r(y)"),
                case(
                    "WITH RECURSIVE q(y) AS (SELECT data FROM people UNION ALL SELECT y -> 'a' FROM q) SELECT y::text AS full_name FROM q",
                ),
                case("SELECT y::text AS full_name FROM people, jsonb_array_elements(data) AS y"),
                case("SELECT y::text AS full_name FROM people, jsonb_array_elements(data) AS q(y)"),
                case("SELECT data AS y FROM people ORDER BY y LIMIT 9").columns("y"),
            ],
            "y",
        );
        check(&[case("SELECT value::text AS full_name FROM people, jsonb_array_elements(data)")], "value");
        check(
            &[case("SELECT q.coalesce::text AS full_name FROM (SELECT coalesce(data, '{}') FROM people) q")],
            "coalesce",
        );
        check(
            &[case("SELECT q.column1::text AS full_name FROM people, LATERAL (VALUES (data)) q")],
            "column1",
        );
        check(
            &[case("SELECT \"?column?\"::text AS full_name FROM (SELECT data -> 'a' FROM people) q")],
            "?column?",
        );
        // Another column of the query, a name that is given to something else.
        check(
            &[
                case("SELECT y::text AS full_name FROM (SELECT data, id AS y FROM people) q"),
                case("SELECT y::text AS full_name FROM (SELECT data ->> 'a' AS y FROM people) q"),
                case("SELECT y::text AS full_name FROM (SELECT count(data) AS y FROM people) q"),
                case("SELECT y::text AS full_name FROM (SELECT coalesce(full_name, '') AS y FROM people) q"),
                case(
                    "SELECT n::text AS full_name FROM people, jsonb_array_elements(data) WITH ORDINALITY AS t(e, n)",
                ),
            ],
            "",
        );
    }

    #[test]
    fn text_of_a_member_that_is_taken_by_its_name_is_left_to_the_reviewer() {
        check(
            &[
                select("(data -> 'in')::text"),
                select("(SELECT data #> '{a}')::text"),
                select("format('%s', coalesce(data #> '{a}', '1'))"),
                select("(CASE WHEN true THEN data #> '{a}' END)::text"),
                select("quote_literal(ARRAY[data #> '{a}'])"),
                select("(data #> '{a}').text"),
                select("substr(data ->> 'a', :n::int)").params("n#"),
                select("trim(leading :x from data #>> '{a}')").params("x"),
                select("split_part(lower(data ->> 'a'), ':', :n::int)").params("n#"),
                select("(string_to_array(data ->> 'a', ','))[(:n)::int]").params("n#"),
                case("SELECT right(q.a, :n::int) AS full_name FROM (SELECT data ->> 'a' AS a FROM people) q")
                    .params("n#"),
                // A text column that holds JSON.
                select("upper(note::json::text)"),
            ],
            "",
        );
    }
}
