//! Statements of a grammar, each from a number: typed expressions in every place where one can stand.
//!
//! Left out is everything that PostgreSQL may answer in several ways: the clock, ties, the order of what is not ordered.

use crate::sql::random::Random;

/// The type of an expression's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Int,
    Numeric,
    Float,
    Text,
    Bool,
    Date,
    Time,
    Json,
    Ints,
    Span,
}

use Kind::{Bool, Date, Float, Int, Ints, Json, Numeric, Span, Text, Time};

const KINDS: &[Kind] = &[Int, Int, Numeric, Float, Text, Text, Bool, Bool, Date, Time, Json, Ints, Span];

/// Tables and their columns.
const TABLES: &[(&str, &[(&str, Kind)])] = &[
    (
        "t1",
        &[
            ("id", Int),
            ("i", Int),
            ("n", Numeric),
            ("f", Float),
            ("t", Text),
            ("b", Bool),
            ("d", Date),
            ("s", Time),
            ("j", Json),
            ("a", Ints),
            ("v", Span),
        ],
    ),
    ("t2", &[("id", Int), ("i", Int), ("t", Text), ("n", Numeric), ("b", Bool)]),
];

/// Expressions; a letter in braces stands for one of that kind, `{q…}` for a subquery of one column, `{c}` for a small number.
#[rustfmt::skip]
const EXPRESSIONS: &[(Kind, &[&str])] = &[
    (Int, &[
        "{i} + {i}", "{i} - {i}", "{i} * {c}", "{i} / {i}", "{i} % {c}", "- {i}", "+ {i}", "@ {i}", "{i} & {i}", "{i} | {c}",
        "{i} # {i}", "{i} << {c}", "~ {i}", "abs({i})", "length({t})", "array_length({a}, 1)", "cardinality({a})",
        "coalesce({i}, {c})", "nullif({i}, {i})", "greatest({i}, {c}, {i})", "least({i}, {i})",
        "CASE WHEN {b} THEN {i} ELSE {i} END", "CASE {i} WHEN {i} THEN {i} END", "extract(day FROM {s})::int",
        "({j} ->> 'a')::int", "{a}[{c}]", "({a})[{c}]", "({q:i})", "position({t} IN {t})", "strpos({t}, {t})", "{d} - {d}",
        "{n}::int", "cast({f} AS int)", "ascii({t})", "mod({i}, {c})", "pg_catalog.abs({i})", "\"abs\"({i})",
        "array_position({a}, {i})", "jsonb_array_length({j} -> 'b')", "width_bucket({f}, 0, 10, {c})", "num_nulls({i}, {t})",
        "{i} OPERATOR(pg_catalog.+) {i}", "(SELECT count(*) FROM ({q:t}) AS q)::int", "date_part('month', {d})::int",
        "int4 '7'", "octet_length({t})", "(ROW({i}, {t})).f1", "scale({n})",
    ]),
    (Numeric, &[
        "{n} + {n}", "{n} - {i}", "{n} * {n}", "{n} / {n}", "{n} ^ {c}", "round({n}, {c})", "trunc({n}, 1)", "ceil({n})",
        "floor({n})", "{i}::numeric", "numeric(6,2) '12.345'", "coalesce({n}, 0.5)", "abs({n})", "- {n}", "({q:n})",
        "div({n}, {n})", "CASE WHEN {b} THEN {n} END", "extract(epoch FROM {s})", "'1e3'::numeric", "{n}::numeric(8,3)",
        "greatest({n}, {i})", "sign({n})", "trim_scale({n})",
    ]),
    (Float, &[
        "{f} + {f}", "{f} * {c}", "{f} / {f}", "{i}::float8", "{n}::double precision", "sqrt({f})", "floor({f})", "round({f})",
        "'Infinity'::float8", "'NaN'::float8", "coalesce({f}, 0.25)", "- {f}", "|/ {f}", "({q:f})", "abs({f})",
        "date_part('hour', {s})", "CASE WHEN {b} THEN {f} ELSE {f} END", "power({f}, {c})",
    ]),
    (Text, &[
        "{t} || {t}", "{t} || {i}", "lower({t})", "upper({t})", "substring({t} FROM {c} FOR {c})", "substr({t}, {c})",
        "trim(BOTH 'a' FROM {t})", "trim({t})", "ltrim({t}, 'ab')", "replace({t}, {t}, 'x')", "repeat({t}, {c})", "left({t}, {c})",
        "{i}::text", "{b}::text", "{d}::text", "{j}::text", "{v}::text", "{n}::text", "{a}::text", "concat({t}, {i}, {b})",
        "concat_ws('-', {t}, {t})", "coalesce({t}, 'none')", "nullif({t}, {t})", "reverse({t})", "to_char({d}, 'YYYY-MM-DD')",
        "to_char({i}, '999')", "md5({t})", "overlay({t} PLACING {t} FROM {c})", "split_part({t}, 'a', {c})", "{j} ->> 'a'",
        "{j} #>> '{b,0}'", "array_to_string({a}, ',', '-')", "initcap({t})", "lpad({t}, {c}, 'x')", "translate({t}, 'ab', 'ba')",
        "regexp_replace({t}, '[a-c]', 'x', 'g')", "quote_literal({t})", "quote_ident({t})", "format('%s-%L', {t}, {i})", "({q:t})",
        "CASE WHEN {b} THEN {t} ELSE {t} END", "{t} COLLATE \"C\"", "chr(65 + {c})", "E'a\\'b'", "$$it's$$", "'it''s'", "to_hex({c})",
        "{i}::varchar(2)", "cast({t} AS varchar(3))", "pg_typeof({i})::text", "max({t}) OVER ()", "encode({t}::bytea, 'hex')",
    ]),
    (Bool, &[
        "{i} = {i}", "{i} <> {i}", "{i} != {c}", "{i} < {i}", "{t} >= {t}", "{d} > {d}", "{n} <= {n}", "{b} AND {b}", "{b} OR {b}",
        "NOT {b}", "{i} IS NULL", "{t} IS NOT NULL", "{b} IS TRUE", "{b} IS NOT UNKNOWN", "{i} IS DISTINCT FROM {i}",
        "{i} IS NOT DISTINCT FROM {i}", "{i} BETWEEN {i} AND {i}", "{i} NOT BETWEEN SYMMETRIC {i} AND {i}", "{i} IN ({i}, {c})",
        "{i} NOT IN ({q:i})", "{i} IN ({q:i})", "{i} = ANY ({a})", "{i} < ALL ({a})", "{i} = SOME ({q:i})", "EXISTS ({q:t})",
        "NOT EXISTS ({q:i})", "{t} LIKE 'a%'", "{t} NOT ILIKE '_1%' ESCAPE '!'", "{t} LIKE ANY (ARRAY['a%', 'b%'])",
        "{t} SIMILAR TO '(a|b)%'", "{t} ~ '^[a-c]'", "{t} !~* 'A'", "{j} @> '{\"a\":1}'", "{j} ? 'a'", "{a} && {a}", "{a} @> ARRAY[{i}]",
        "({i}, {t}) = ({i}, {t})", "({i}, {i}) < ({i}, {i})", "ROW({i}, {b}) IS NULL", "{i} ISNULL", "{b} NOTNULL",
        "starts_with({t}, 'a')", "{v} > interval '1 day'", "({s}, {s}) OVERLAPS ({s}, {s})", "coalesce({b}, false)",
        "int4range(1, 5) @> {i}", "{j} IS NULL", "isfinite({d})", "({i}, {t}) IN (({i}, {t}), ({i}, {t}))", "bool 't'", "({q:b})",
        "{t} ^@ 'a'", "CASE WHEN {b} THEN {b} END", "jsonb_path_exists({j}, '$.a')", "jsonb_typeof({j}) = 'object'",
    ]),
    (Date, &[
        "{d} + {c}", "{d} - {c}", "{s}::date", "date '2024-02-29'", "make_date(2024, 2, {c})", "coalesce({d}, date '2000-01-01')",
        "greatest({d}, {d})", "date_trunc('month', {s})::date", "({q:d})", "to_date('2024-03-01', 'YYYY-MM-DD')", "'0044-03-15 BC'::date",
    ]),
    (Time, &[
        "{s} + {v}", "{s} - interval '1 hour'", "{d}::timestamp", "date_trunc('day', {s})", "timestamp '2024-02-29 12:00:00.5'",
        "{s} + interval '1' day", "make_timestamp(2024, 2, {c}, 1, 2, 3.5)", "({s} AT TIME ZONE 'UTC') AT TIME ZONE 'Europe/Berlin'",
        "date_bin(interval '6 hours', {s}, timestamp '2024-01-01')", "({q:s})", "'infinity'::timestamp", "{s}::timestamp(0)",
    ]),
    (Json, &[
        "to_jsonb({i})", "to_jsonb({t})", "jsonb_build_object('k', {i}, 'l', {t})", "jsonb_build_array({i}, {b}, {t})", "{j} -> 'b'",
        "{j} -> {c}", "{j} || '{\"z\":1}'", "{j} - 'a'", "{j} #- '{b,0}'", "jsonb_set({j}, ARRAY['a'], {j})", "jsonb_strip_nulls({j})",
        "'[1,2.50,null]'::jsonb", "({q:j})", "to_jsonb({a})", "jsonb_path_query_first({j}, '$.b[0]')", "{j}['a']",
        "jsonb_object(ARRAY['x', {t}])",
    ]),
    (Ints, &[
        "ARRAY[{i}, {i}]", "ARRAY[{i}, {c}, {i}]", "ARRAY({q:i} ORDER BY 1)", "{a} || {i}", "{a} || {a}", "array_append({a}, {i})",
        "array_remove({a}, {i})", "{a}[1:2]", "({a})[2:]", "'{1,2,NULL}'::int[]", "coalesce({a}, '{}')", "trim_array({a}, 1)",
        "string_to_array('1,2', ',')::int[]", "array_replace({a}, {i}, {c})", "ARRAY[]::int[]",
    ]),
    (Span, &[
        "{v} + {v}", "{v} * {c}", "- {v}", "{s} - {s}", "interval '1 day 2 hours'", "make_interval(days => {c}, hours := {c})",
        "justify_hours({v})", "interval '3' hour", "({q:v})", "age({s}, {s})", "coalesce({v}, '1 month')",
        "interval '1-2' year to month",
    ]),
];

/// Expressions over groups of rows.
#[rustfmt::skip]
const AGGREGATES: &[(Kind, &[&str])] = &[
    (Int, &[
        "count(*)::int", "sum({i})::int", "max({i})", "min({i})", "count(DISTINCT {t})::int", "count({i}) FILTER (WHERE {b})::int",
        "bit_or({i})", "percentile_disc(0.5) WITHIN GROUP (ORDER BY {i})", "mode() WITHIN GROUP (ORDER BY {c})",
    ]),
    (Numeric, &["sum({n})", "avg({i})", "max({n})", "var_pop({i})"]),
    (Float, &["max({f})", "min({f})", "percentile_cont(0.25) WITHIN GROUP (ORDER BY {i})"]),
    (Text, &["max({t})", "string_agg({t}, ',' ORDER BY {t})", "min({t}) FILTER (WHERE {b})"]),
    (Bool, &["bool_and({b})", "bool_or({b})", "every({b})", "count(*) > 1"]),
    (Date, &["max({d})", "min({d})"]),
    (Time, &["max({s})"]),
    (Json, &["jsonb_agg({i} ORDER BY {i})", "to_jsonb(count(*))", "jsonb_agg(DISTINCT {t})"]),
    (Ints, &["array_agg({i} ORDER BY {i} DESC NULLS LAST)", "array_agg(DISTINCT {i})"]),
    (Span, &["max({v})", "sum({v})"]),
];

/// Expressions over windows; rows that are equal in the window's order get equal values.
#[rustfmt::skip]
const WINDOWS: &[(Kind, &[&str])] = &[
    (Int, &[
        "(rank() OVER (PARTITION BY {b} ORDER BY {i}))::int", "(dense_rank() OVER (ORDER BY {t} DESC NULLS FIRST))::int",
        "(count(*) OVER (ORDER BY {i} RANGE BETWEEN 1 PRECEDING AND CURRENT ROW))::int", "max({i}) OVER (PARTITION BY {t})",
        "(sum({i}) OVER (ORDER BY {i} GROUPS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING EXCLUDE GROUP))::int",
        "max({i}) FILTER (WHERE {b}) OVER (ORDER BY {i})",
    ]),
    (Float, &["percent_rank() OVER (ORDER BY {i})", "cume_dist() OVER (PARTITION BY {b} ORDER BY {t})"]),
    (Numeric, &["avg({i}) OVER (PARTITION BY {b})"]),
];

/// An expression of any kind that would have an effect, or reveal what was not asked for.
const HOSTILE: &[&str] = &[
    "pg_sleep(0)",
    "nextval('seq')",
    "setval('seq', 5)",
    "set_config('a.b', 'c', false)",
    "evil({t})",
    "public.evil({t})",
    "({t}).evil",
    "pg_advisory_lock({i})",
    "lo_create(0)",
    "lo_from_bytea(0, '\\x00')",
    "query_to_xml('DELETE FROM t1', true, true, '')",
    "pg_current_xact_id()",
    "txid_current()",
    "'seq'::regproc",
    "CAST({t} AS regrole)",
    "pg_notify('a', {t})",
    "currval('seq')",
    "(SELECT 1 FROM pg_ls_dir('.'))",
    "pg_read_file('PG_VERSION')",
    "{i} OPERATOR(public.<->) {i}",
    "(WITH w AS (DELETE FROM t1 RETURNING id) SELECT id FROM w)",
    "(SELECT id FROM t1 FOR UPDATE)",
    "EXISTS (SELECT 1 INTO x)",
    "pg_export_snapshot()",
    "PG_TERMINATE_BACKEND({i})",
    "\"pg_sleep\"(0)",
    "pg_catalog . pg_sleep (0)",
    "(SELECT x FROM ROWS FROM (evil({t})) AS q (x))",
    "pg_advisory_xact_lock(1)",
    "({t} COLLATE \"evil\")",
    "pg_create_restore_point('x')",
    "current_setting('port')",
    "('seq'::text).nextval",
    "(SELECT query FROM pg_stat_activity)",
    "repeat('x', 1000000000)",
    "ts_stat('SELECT 1')",
    "pg_logical_emit_message(true, 'a', 'b')",
    "(TABLE pg_authid)",
    "dblink('', 'x')",
];

/// A statement, and whether something hostile is in it.
pub(super) struct Statement {
    pub(super) sql: String,
    pub(super) hostile: bool,
}

/// A column that can be named here.
#[derive(Clone)]
struct Column {
    name: String,
    kind: Kind,
}

/// Makes one statement.
pub(super) struct Generator {
    random: Random,
    /// Names given so far.
    names: usize,
    ctes: Vec<(String, Vec<Kind>)>,
    /// True if something hostile is still to be put somewhere, and whether it was.
    hostile: (bool, bool),
}

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        let mut generator =
            Self { random: Random(seed), names: 0, ctes: Vec::new(), hostile: (false, false) };
        generator.hostile.0 = generator.random.chance(15);
        generator
    }

    pub(super) fn statement(mut self) -> Statement {
        let mut with = String::new();
        for _ in 0..self.random.below(3) {
            let kinds = self.kinds(3);
            let query = self.query(&kinds, 2, &[]);
            let name = self.name("w");
            let materialized = self.random.pick(&["", "", "MATERIALIZED ", "NOT MATERIALIZED "]);
            let columns = columns(kinds.len());
            with += if with.is_empty() { "WITH " } else { ", " };
            with += &format!("{name} ({columns}) AS {materialized}({query})");
            self.ctes.push((name, kinds));
        }
        let kinds = self.kinds(4);
        let query = self.query(&kinds, 3, &[]);
        let order: Vec<String> = (1..=kinds.len()).map(|i| i.to_string()).collect();
        let limit = self.random.pick(&["", "", " LIMIT 5", " OFFSET 2 LIMIT 7", " FETCH FIRST 3 ROWS ONLY"]);
        let end = self.random.pick(&["", "", ";", " -- end"]);
        let sql = format!("{with} {query} ORDER BY {}{limit}", order.join(", "));
        Statement { sql: self.spelled(sql.trim()) + end, hostile: self.hostile.1 }
    }

    /// A query whose columns are of these kinds, without ORDER BY.
    fn query(&mut self, kinds: &[Kind], depth: usize, outer: &[Column]) -> String {
        match self.random.below(10) {
            0 => {
                let row = |this: &mut Self| this.list(kinds, 1, outer);
                let (first, second) = (row(self), row(self));
                format!("VALUES ({first}), ({second})")
            }
            1 if depth > 0 => {
                let operator = self.random.pick(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "EXCEPT ALL"]);
                let (left, right) =
                    (self.select(kinds, depth - 1, outer), self.query(kinds, depth - 1, outer));
                format!("{left} {operator} ({right})")
            }
            _ => self.select(kinds, depth, outer),
        }
    }

    fn select(&mut self, kinds: &[Kind], depth: usize, outer: &[Column]) -> String {
        let mut scope = Vec::new();
        let from = self.from(depth, &mut scope, outer);
        let own = scope.len();
        scope.extend_from_slice(outer);
        let condition = if self.random.chance(50) {
            format!(" WHERE {}", self.expr(Bool, depth, &scope))
        } else {
            String::new()
        };
        if own > 0 && self.random.chance(25) {
            return self.grouped(kinds, depth, &from, &condition, &scope);
        }
        let distinct = self.random.pick(&["", "", "", "DISTINCT ", "ALL "]);
        let items: Vec<String> = kinds
            .iter()
            .enumerate()
            .map(|(i, kind)| {
                let windows = own > 0 && self.random.chance(10);
                let item = if windows { self.of(WINDOWS, *kind, depth, &scope) } else { None };
                format!("{} AS c{}", item.unwrap_or_else(|| self.expr(*kind, depth, &scope)), i + 1)
            })
            .collect();
        format!("SELECT {distinct}{}{from}{condition}", items.join(", "))
    }

    fn grouped(
        &mut self,
        kinds: &[Kind],
        depth: usize,
        from: &str,
        condition: &str,
        scope: &[Column],
    ) -> String {
        let by = scope[self.random.below(scope.len())].name.clone();
        let items: Vec<String> = kinds
            .iter()
            .enumerate()
            .map(|(i, kind)| {
                let aggregate = self.of(AGGREGATES, *kind, depth.min(1), scope);
                format!("{} AS c{}", aggregate.unwrap_or_else(|| "NULL".to_owned()), i + 1)
            })
            .collect();
        let group = match self.random.below(5) {
            0 => format!("ROLLUP ({by})"),
            1 => format!("GROUPING SETS (({by}), ())"),
            2 => format!("CUBE ({by})"),
            _ => by,
        };
        let having = if self.random.chance(30) { " HAVING count(*) > 1" } else { "" };
        format!("SELECT {}{from}{condition} GROUP BY {group}{having}", items.join(", "))
    }

    fn from(&mut self, depth: usize, scope: &mut Vec<Column>, outer: &[Column]) -> String {
        let mut from = String::new();
        let count = self.random.pick(&[0, 1, 1, 1, 2]);
        for index in 0..count {
            let known = scope.len();
            let (source, lateral) = self.source(depth, scope, outer);
            if index == 0 {
                from = format!(" FROM {source}");
                continue;
            }
            let joins: &[&str] = if lateral {
                &["CROSS JOIN", "JOIN", "LEFT JOIN"]
            } else {
                &[",", "CROSS JOIN", "JOIN", "INNER JOIN", "LEFT JOIN", "RIGHT OUTER JOIN", "FULL JOIN"]
            };
            let join = self.random.pick(joins);
            let on = match join {
                "," | "CROSS JOIN" => String::new(),
                // A full join must be one by equality.
                "FULL JOIN" => {
                    let [left, right] = [0, known].map(|at| scope[at].name.clone());
                    let same = scope[0].kind == scope[known].kind;
                    format!(" ON {}", if same { format!("{left} = {right}") } else { "true".to_owned() })
                }
                _ => format!(" ON {}", self.expr(Bool, 1, scope)),
            };
            from += &format!("{}{join} {source}{on}", if join == "," { "" } else { " " });
        }
        from
    }

    /// Something to read from, whose columns are added to the scope, and whether it needs what stands before it.
    fn source(&mut self, depth: usize, scope: &mut Vec<Column>, outer: &[Column]) -> (String, bool) {
        let name = self.name("x");
        let add = |scope: &mut Vec<Column>, columns: &[(&str, Kind)]| {
            let columns =
                columns.iter().map(|(column, kind)| Column { name: format!("{name}.{column}"), kind: *kind });
            scope.extend(columns);
        };
        match self.random.below(if depth > 0 { 12 } else { 7 }) {
            0 => {
                add(scope, &[("c1", Int)]);
                (format!("generate_series(1, {}) AS {name} (c1)", self.random.below(6)), false)
            }
            1 => {
                add(scope, &[("c1", Int), ("c2", Int)]);
                (format!("unnest(ARRAY[3, NULL, 5]) WITH ORDINALITY AS {name} (c1, c2)"), false)
            }
            2 => {
                add(scope, &[("a", Int), ("b", Text)]);
                let json = "'[{\"a\":1,\"b\":\"x\"},{\"a\":null}]'";
                (format!("json_to_recordset({json}) AS {name} (a int, b text)"), false)
            }
            3 => {
                add(scope, &[("c1", Int), ("c2", Text)]);
                let functions = "generate_series(1, 3), regexp_split_to_table('a-b', '-')";
                (format!("ROWS FROM ({functions}) AS {name} (c1, c2)"), false)
            }
            4..=6 if !self.ctes.is_empty() && self.random.chance(40) => {
                let at = self.random.below(self.ctes.len());
                let (cte, kinds) = self.ctes[at].clone();
                scope.extend(named(&name, &kinds));
                (format!("{cte} AS {name}"), false)
            }
            7 | 8 => {
                let kinds = self.kinds(3);
                let query = self.query(&kinds, depth - 1, outer);
                scope.extend(named(&name, &kinds));
                (format!("({query}) AS {name} ({})", columns(kinds.len())), false)
            }
            9 => {
                let kinds = self.kinds(2);
                let seen: Vec<Column> = scope.iter().chain(outer).cloned().collect();
                let query = self.query(&kinds, depth - 1, &seen);
                scope.extend(named(&name, &kinds));
                (format!("LATERAL ({query}) AS {name} ({})", columns(kinds.len())), true)
            }
            _ => {
                let (table, columns) = TABLES[self.random.below(TABLES.len())];
                add(scope, columns);
                let (as_word, only) =
                    (self.random.pick(&["AS ", ""]), self.random.pick(&["", "", "public.", "ONLY "]));
                (format!("{only}{table} {as_word}{name}"), false)
            }
        }
    }

    /// An expression of this kind.
    fn expr(&mut self, kind: Kind, depth: usize, scope: &[Column]) -> String {
        if self.hostile == (true, false) && self.random.chance(10) {
            self.hostile.1 = true;
            let hostile = self.random.pick(HOSTILE);
            return self.expanded(hostile, 0, scope);
        }
        if depth == 0 || self.random.chance(30) {
            let columns: Vec<&Column> = scope.iter().filter(|column| column.kind == kind).collect();
            if !columns.is_empty() && self.random.chance(80) {
                return columns[self.random.below(columns.len())].name.clone();
            }
            return self.literal(kind);
        }
        let expr = self.of(EXPRESSIONS, kind, depth - 1, scope).unwrap_or_default();
        // Without brackets its neighbours may bind tighter: that is PostgreSQL's to say.
        if self.random.chance(70) { format!("({expr})") } else { expr }
    }

    fn of(
        &mut self,
        table: &[(Kind, &[&str])],
        kind: Kind,
        depth: usize,
        scope: &[Column],
    ) -> Option<String> {
        let (_, templates) = table.iter().find(|(of, _)| *of == kind)?;
        let template = self.random.pick(templates);
        Some(self.expanded(template, depth, scope))
    }

    fn expanded(&mut self, template: &str, depth: usize, scope: &[Column]) -> String {
        let mut text = String::new();
        let mut rest = template;
        while let Some((before, behind)) = rest.split_once('{') {
            text += before;
            let Some((hole, after)) = behind.split_once('}') else { break };
            let what = match hole {
                "c" => Some((self.random.below(5) + 1).to_string()),
                _ => match hole.strip_prefix("q:") {
                    Some(letter) => kind_of(letter).map(|kind| self.query(&[kind], depth, scope)),
                    None => kind_of(hole).map(|kind| self.expr(kind, depth, scope)),
                },
            };
            match what {
                Some(what) => text += &what,
                // Braces of a literal.
                None => text += &format!("{{{hole}}}"),
            }
            rest = after;
        }
        text + rest
    }

    fn literal(&mut self, kind: Kind) -> String {
        let choices: &[&str] = match kind {
            Int => &["0", "1", "-3", "42", "NULL::int", "2147483647"],
            Numeric => {
                &["0.5", "1.25", "-7.75", "NULL::numeric", "'NaN'::numeric", "12345678901234567890.125"]
            }
            Float => &["0.25::float8", "'1e100'::float8", "-2.5::float8", "NULL::float8"],
            Text => &["'a1'", "''", "'Zoë'", "'b''c'", "NULL::text", "'\\'", "text 'x'"],
            Bool => &["true", "false", "NULL::bool", "'yes'::bool"],
            Date => &["date '2024-02-29'", "'2023-12-31'::date", "NULL::date"],
            Time => &["timestamp '2024-02-29 23:59'", "NULL::timestamp"],
            Json => &["'{\"a\":[1,{\"b\":null}]}'::jsonb", "'null'::jsonb", "jsonb '[]'", "NULL::jsonb"],
            Ints => &["ARRAY[1,2]", "'{}'::int[]", "NULL::int[]"],
            Span => &["interval '1 day'", "'-2 hours'::interval", "NULL::interval"],
        };
        self.random.pick(choices).to_owned()
    }

    fn list(&mut self, kinds: &[Kind], depth: usize, scope: &[Column]) -> String {
        kinds.iter().map(|kind| self.expr(*kind, depth, scope)).collect::<Vec<_>>().join(", ")
    }

    fn kinds(&mut self, most: usize) -> Vec<Kind> {
        (0..=self.random.below(most)).map(|_| self.random.pick(KINDS)).collect()
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// The same statement in another spelling: case, space and comments outside of quotes.
    fn spelled(&mut self, sql: &str) -> String {
        let mut text = String::new();
        let mut quote = None;
        let mut lower = false;
        for c in sql.chars() {
            match quote {
                Some(open) if c == open => quote = None,
                None if matches!(c, '\'' | '"' | '$') => quote = Some(c),
                Some(_) | None => {}
            }
            if c == ' ' && quote.is_none() {
                lower = self.random.chance(30);
                text += self.random.pick(&[
                    " ",
                    " ",
                    " ",
                    " ",
                    "\n",
                    "\t",
                    " /* ' */ ",
                    " /* /* */ pg_sleep( */",
                    " -- '\n",
                    "\r\n",
                ]);
            } else if lower && quote.is_none() {
                text.extend(c.to_lowercase());
            } else {
                text.push(c);
            }
        }
        text
    }
}

fn kind_of(letter: &str) -> Option<Kind> {
    Some(match letter {
        "i" => Int,
        "n" => Numeric,
        "f" => Float,
        "t" => Text,
        "b" => Bool,
        "d" => Date,
        "s" => Time,
        "j" => Json,
        "a" => Ints,
        "v" => Span,
        _ => return None,
    })
}

fn columns(count: usize) -> String {
    (1..=count).map(|i| format!("c{i}")).collect::<Vec<_>>().join(", ")
}

fn named(alias: &str, kinds: &[Kind]) -> Vec<Column> {
    kinds
        .iter()
        .enumerate()
        .map(|(i, kind)| Column { name: format!("{alias}.c{}", i + 1), kind: *kind })
        .collect()
}
