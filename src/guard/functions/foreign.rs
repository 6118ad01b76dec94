//! Functions and types of other databases, which PostgreSQL does not have, and what to write instead.

/// Functions, sorted by name, and the rewrite.
#[rustfmt::skip]
const FUNCTIONS: &[(&str, &str)] = &[
    ("add_months", "d + n * interval '1 month'"),
    ("addtime", "a + b"),
    ("approx_count_distinct", "count(DISTINCT x)"),
    ("approx_distinct", "count(DISTINCT x)"),
    ("approx_percentile", "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)"),
    ("arg_max", "(array_agg(x ORDER BY y DESC))[1]"),
    ("arg_min", "(array_agg(x ORDER BY y))[1]"),
    ("array_concat", "a || b"),
    ("array_contains", "x = ANY (a)"),
    ("array_size", "cardinality(a)"),
    ("avgif", "avg(x) FILTER (WHERE condition)"),
    ("charindex", "strpos(text, part)"),
    ("choose", "(ARRAY[a, b])[n]"),
    ("convert_tz", "t AT TIME ZONE 'from' AT TIME ZONE 'to'"),
    ("countif", "count(*) FILTER (WHERE condition)"),
    ("curdate", "current_date"),
    ("curtime", "localtime"),
    ("database", "current_database()"),
    ("date_diff", "a - b, or extract(epoch FROM a - b)"),
    ("date_format", "to_char(d, 'YYYY-MM-DD')"),
    ("date_from_parts", "make_date(year, month, day)"),
    ("date_part_year", "extract(year FROM d)"),
    ("date_sub", "d - interval '1 day'"),
    ("dateadd", "d + n * interval '1 day'"),
    ("datediff", "a::date - b::date for days, or extract(epoch FROM a - b)"),
    ("datefromparts", "make_date(year, month, day)"),
    ("datename", "to_char(d, 'Month')"),
    ("datepart", "extract(field FROM d)"),
    ("datetime", "d::timestamp"),
    ("datetime_trunc", "date_trunc('hour', t)"),
    ("datetrunc", "date_trunc('month', d)"),
    ("day", "extract(day FROM d)"),
    ("dayname", "to_char(d, 'Day')"),
    ("dayofmonth", "extract(day FROM d)"),
    ("dayofweek", "extract(dow FROM d) + 1 for Sunday = 1"),
    ("dayofyear", "extract(doy FROM d)"),
    ("db_name", "current_database()"),
    ("div0", "coalesce(a / nullif(b, 0), 0)"),
    ("elt", "(ARRAY[a, b])[n]"),
    ("endswith", "right(text, length(part)) = part"),
    ("eomonth", "date_trunc('month', d) + interval '1 month - 1 day'"),
    ("explode", "unnest(a)"),
    ("field", "array_position(ARRAY['a', 'b'], x)"),
    ("find_in_set", "array_position(string_to_array(list, ','), x)"),
    ("flatten", "jsonb_array_elements(data)"),
    ("from_days", "date '0001-01-01' + n - 366"),
    ("from_unixtime", "to_timestamp(seconds)"),
    ("generate_date_array", "generate_series(a, b, interval '1 day')"),
    ("generate_uuid", "gen_random_uuid()"),
    ("getdate", "now()"),
    ("getutcdate", "now() AT TIME ZONE 'UTC'"),
    ("group_concat", "string_agg(x, ',')"),
    ("hash", "md5(text)"),
    ("hex", "to_hex(n), or encode(bytes, 'hex')"),
    ("hour", "extract(hour FROM t)"),
    ("if", "CASE WHEN condition THEN a ELSE b END"),
    ("iff", "CASE WHEN condition THEN a ELSE b END"),
    ("ifnull", "coalesce(a, b)"),
    ("iif", "CASE WHEN condition THEN a ELSE b END"),
    ("instr", "strpos(text, part)"),
    ("isnull", "coalesce(a, b), or a IS NULL"),
    ("json_contains", "data @> '{\"a\": 1}'"),
    ("json_extract", "data #> '{a,b}' for jsonb, or data ->> 'a'"),
    ("json_extract_scalar", "data ->> 'a'"),
    ("json_length", "jsonb_array_length(data)"),
    ("json_unquote", "data ->> 'a'"),
    ("julianday", "extract(julian FROM d)"),
    ("last_day", "date_trunc('month', d) + interval '1 month - 1 day'"),
    ("last_insert_id", "max(id)"),
    ("lcase", "lower(text)"),
    ("len", "length(text)"),
    ("listagg", "string_agg(x, ',' ORDER BY x)"),
    ("locate", "strpos(text, part)"),
    ("log2", "log(2, x)"),
    ("maketime", "make_time(hour, minute, second)"),
    ("max_by", "(array_agg(x ORDER BY y DESC))[1]"),
    ("median", "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)"),
    ("mid", "substr(text, start, length)"),
    ("min_by", "(array_agg(x ORDER BY y))[1]"),
    ("minute", "extract(minute FROM t)"),
    ("month", "extract(month FROM d)"),
    ("monthname", "to_char(d, 'Month')"),
    ("months_between", "extract(year FROM age(a, b)) * 12 + extract(month FROM age(a, b))"),
    ("newid", "gen_random_uuid()"),
    ("newsequentialid", "gen_random_uuid()"),
    ("next_day", "date_trunc('week', d) + interval '1 week'"),
    ("nullifzero", "nullif(x, 0)"),
    ("nvl", "coalesce(a, b)"),
    ("nvl2", "CASE WHEN a IS NOT NULL THEN b ELSE c END"),
    ("object_id", "'name'::regclass"),
    ("parse_date", "to_date(text, 'YYYY-MM-DD')"),
    ("parse_json", "text::jsonb"),
    ("patindex", "strpos(text, part), or text ~ 'pattern'"),
    ("percentile", "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)"),
    ("quantile", "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)"),
    ("quarter", "extract(quarter FROM d)"),
    ("rand", "random()"),
    ("regexp_contains", "text ~ 'pattern'"),
    ("regexp_extract", "substring(text FROM 'pattern')"),
    ("regexp_extract_all", "regexp_matches(text, 'pattern', 'g')"),
    ("replicate", "repeat(text, n)"),
    ("rlike", "text ~ 'pattern'"),
    ("safe_cast", "CAST(x AS type)"),
    ("safe_divide", "a / nullif(b, 0)"),
    ("schema", "current_schema()"),
    ("sec_to_time", "n * interval '1 second'"),
    ("second", "extract(second FROM t)"),
    ("sequence", "generate_series(a, b)"),
    ("sha2", "sha256(bytes)"),
    ("space", "repeat(' ', n)"),
    ("split", "string_to_array(text, ',')"),
    ("square", "power(x, 2)"),
    ("startswith", "starts_with(text, part)"),
    ("stdev", "stddev(x)"),
    ("stdevp", "stddev_pop(x)"),
    ("str_to_date", "to_date(text, 'YYYY-MM-DD')"),
    ("strftime", "to_char(d, 'YYYY-MM-DD')"),
    ("string_split", "string_to_table(text, ',')"),
    ("stuff", "overlay(text PLACING 'new' FROM start FOR length)"),
    ("substring_index", "split_part(text, ',', 1)"),
    ("sumif", "sum(x) FILTER (WHERE condition)"),
    ("sys_guid", "gen_random_uuid()"),
    ("sysdate", "now()"),
    ("sysdatetime", "now()"),
    ("time_format", "to_char(t, 'HH24:MI')"),
    ("time_to_sec", "extract(epoch FROM t)"),
    ("timediff", "a - b"),
    ("timestamp_diff", "extract(epoch FROM a - b)"),
    ("timestamp_trunc", "date_trunc('hour', t)"),
    ("timestampadd", "t + n * interval '1 minute'"),
    ("timestampdiff", "extract(epoch FROM a - b)"),
    ("to_days", "d - date '0001-01-01' + 366"),
    ("todate", "d::date"),
    ("tomonth", "extract(month FROM d)"),
    ("top", "LIMIT n at the end of the query"),
    ("tostring", "x::text"),
    ("total", "coalesce(sum(x), 0)"),
    ("toyear", "extract(year FROM d)"),
    ("truncate", "trunc(x, 2)"),
    ("try_cast", "CAST(x AS type)"),
    ("try_convert", "CAST(x AS type)"),
    ("try_to_number", "CAST(x AS type)"),
    ("ucase", "upper(text)"),
    ("unix_timestamp", "extract(epoch FROM t)"),
    ("utc_timestamp", "now() AT TIME ZONE 'UTC'"),
    ("uuid", "gen_random_uuid()"),
    ("var", "var_samp(x)"),
    ("varp", "var_pop(x)"),
    ("week", "extract(week FROM d)"),
    ("weekday", "extract(isodow FROM d) - 1 for Monday = 0"),
    ("weekofyear", "extract(week FROM d)"),
    ("wm_concat", "string_agg(x, ',')"),
    ("year", "extract(year FROM d)"),
    ("yearweek", "to_char(d, 'IYYYIW')"),
    ("zeroifnull", "coalesce(x, 0)"),
];

/// Types, sorted by name, and PostgreSQL's own.
#[rustfmt::skip]
const TYPES: &[(&str, &str)] = &[
    ("bignumeric", "numeric"),
    ("binary", "bytea"),
    ("blob", "bytea"),
    ("bytes", "bytea"),
    ("clob", "text"),
    ("datetime", "timestamp"),
    ("datetime2", "timestamp"),
    ("datetimeoffset", "timestamptz"),
    ("double", "double precision"),
    ("float32", "real"),
    ("float64", "double precision"),
    ("image", "bytea"),
    ("int16", "smallint"),
    ("int32", "integer"),
    ("int64", "bigint"),
    ("longblob", "bytea"),
    ("longtext", "text"),
    ("mediumblob", "bytea"),
    ("mediumint", "integer"),
    ("mediumtext", "text"),
    ("nchar", "char(n)"),
    ("ntext", "text"),
    ("number", "numeric"),
    ("nvarchar", "varchar"),
    ("nvarchar2", "varchar"),
    ("object", "jsonb"),
    ("raw", "bytea"),
    ("rowversion", "bytea"),
    ("signed", "bigint"),
    ("smalldatetime", "timestamp"),
    ("smallmoney", "money"),
    ("sql_variant", "text"),
    ("string", "text"),
    ("timestamp_ltz", "timestamptz"),
    ("timestamp_ntz", "timestamp"),
    ("timestamp_tz", "timestamptz"),
    ("tinyblob", "bytea"),
    ("tinyint", "smallint"),
    ("tinytext", "text"),
    ("uint64", "numeric"),
    ("uniqueidentifier", "uuid"),
    ("unsigned", "bigint"),
    ("varbinary", "bytea"),
    ("varchar2", "varchar"),
    ("variant", "jsonb"),
    ("year", "integer"),
];

/// Functions that other databases have under a name of PostgreSQL's: the numbers of arguments that PostgreSQL's takes, and what to
/// write for the other.
#[rustfmt::skip]
const NAMESAKES: &[(&str, &[usize], &str)] = &[
    ("convert", &[3], "CAST(x AS type)"),
    ("current_date", &[], "current_date without parentheses"),
    ("current_time", &[1], "current_time without parentheses"),
    ("current_timestamp", &[1], "current_timestamp without parentheses"),
    ("decode", &[2], "CASE x WHEN a THEN b ELSE c END"),
    ("localtime", &[1], "localtime without parentheses"),
    ("localtimestamp", &[1], "localtimestamp without parentheses"),
    ("to_char", &[2], "x::text, or to_char(x, 'YYYY-MM-DD')"),
    ("to_date", &[2], "x::date, or to_date(x, 'YYYY-MM-DD')"),
    ("to_number", &[2], "x::numeric, or to_number(x, '999D99')"),
];

/// Returns the names of functions that PostgreSQL does not have.
pub fn of_other_databases() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, _)| *name)
}

/// Returns the rewrite of another database's function.
pub(crate) fn function(name: &str) -> Option<&'static str> {
    find(FUNCTIONS, name.strip_prefix("pg_catalog.").unwrap_or(name))
}

/// Returns the sentence for a call of another database's function that shares its name with one of PostgreSQL's.
pub(crate) fn namesake(name: &str, arguments: usize) -> Option<String> {
    let (_, takes, rewrite) = NAMESAKES.iter().find(|(known, ..)| *known == name)?;
    (!takes.contains(&arguments))
        .then(|| format!("PostgreSQL has no function '{name}' with {arguments} arguments; write {rewrite}."))
}

/// Returns PostgreSQL's type for another database's.
pub(crate) fn data_type(name: &str) -> Option<&'static str> {
    find(TYPES, name)
}

fn find(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    let index = table.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?;
    table.get(index).map(|(_, rewrite)| *rewrite)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::GuardConfig;
    use crate::guard::corpus::verdict_alone;
    use crate::guard::functions::table;
    use crate::guard::statement::ReadOnlyStatement;

    #[test]
    fn the_tables_are_sorted_and_name_nothing_that_postgresql_has() {
        assert!(FUNCTIONS.is_sorted() && TYPES.is_sorted());
        for (name, _) in FUNCTIONS {
            assert!(table::find(name).is_none(), "{name}");
        }
    }

    #[test]
    fn a_function_of_another_database_is_refused_with_the_rewrite() {
        let refused = |sql: String| {
            verdict_alone(&sql, &GuardConfig::default()).map(drop).expect_err(&sql).detail().to_owned()
        };
        for (name, rewrite) in FUNCTIONS {
            let sql = if *name == "isnull" {
                "SELECT \"isnull\"(a) FROM t".to_owned()
            } else {
                format!("SELECT {name}(a) FROM t")
            };
            let detail = refused(sql);
            assert!(detail.contains(rewrite) && !detail.contains("operator"), "{name}: {detail}");
            let named = refused(format!("SELECT pg_catalog.\"{name}\"(a) FROM t"));
            assert!(named.contains(rewrite), "{name}: {named}");
        }
        for (name, takes, rewrite) in NAMESAKES {
            for arguments in (0..6).filter(|arguments| !takes.contains(arguments)) {
                let detail = refused(format!("SELECT {name}({}) FROM t", vec!["a"; arguments].join(", ")));
                assert!(detail.contains(rewrite), "{name}: {detail}");
            }
            for count in *takes {
                let own = format!("SELECT {name}({}) FROM t", vec!["1"; *count].join(", "));
                assert!(verdict_alone(&own, &GuardConfig::default()).is_ok(), "{own}");
            }
        }
        for (name, own) in TYPES {
            let detail = refused(format!("SELECT a::{name} FROM t"));
            assert!(detail.contains(own) && !detail.contains("operator"), "{name}: {detail}");
        }
        for sql in ["SELECT app.len(a) FROM t", "SELECT app.convert(a) FROM t", "SELECT a::app.string FROM t"]
        {
            assert!(refused(sql.to_owned()).contains("operator"), "{sql}");
        }
        // An operator may have allowed it.
        let config = GuardConfig::parse("len, decode, string").unwrap();
        for sql in ["SELECT len(a) FROM t", "SELECT decode(a, 1, 2) FROM t", "SELECT a::string FROM t"] {
            assert!(verdict_alone(sql, &config).is_ok(), "{sql}");
        }
    }

    #[test]
    fn the_syntax_of_another_database_is_refused_with_the_rewrite() {
        for (sql, part) in [
            ("SHOW search_path", "current_setting('name')"),
            ("show all", "pg_settings"),
            ("DESCRIBE t", "describe_database"),
            ("SELECT isnull(a, 'b') FROM t", "coalesce(a, b)"),
            ("SELECT current_date() FROM t", "without parentheses"),
            ("SELECT user() FROM t", "without parentheses"),
            ("SELECT current_user() FROM t", "without parentheses"),
            ("SELECT current_timestamp() FROM t", "without parentheses"),
            ("SELECT group_concat(a SEPARATOR ',') FROM t", "string_agg(x, ',')"),
            ("SELECT a FROM t WHERE a REGEXP 'b'", "~ 'pattern'"),
            ("SELECT a + interval 1 day FROM t", "interval '1 day'"),
            ("SELECT date_sub(a, interval 1 day) FROM t", "interval '1 day'"),
            ("SELECT CAST(a AS unsigned integer) FROM t", "bigint"),
            ("SELECT a mod 2 FROM t", "a % b"),
            ("SELECT a div 2 FROM t", "div(a, b)"),
            ("SELECT * EXCLUDE (a) FROM t", "name the columns"),
            ("SELECT TOP (10) a FROM t", "LIMIT n"),
            ("SELECT TOP 10 a FROM t", "LIMIT n"),
            ("SELECT convert(varchar(10), a) FROM t", "CAST(x AS type)"),
        ] {
            let detail =
                verdict_alone(sql, &GuardConfig::default()).map(drop).expect_err(sql).detail().to_owned();
            let is_clear = detail.contains(part) && !detail.contains("ask the operator");
            assert!(is_clear, "{sql}: {detail}");
        }
        // Each word is a name where PostgreSQL takes it for one.
        for sql in ["SELECT a isnull, mod, regexp FROM separator", "SELECT a \"div\" FROM unsigned, signed"] {
            assert!(verdict_alone(sql, &GuardConfig::default()).is_ok(), "{sql}");
        }
    }

    #[test]
    fn the_rewrites_are_accepted() {
        let namesakes = NAMESAKES.iter().map(|(name, _, rewrite)| (name, rewrite));
        for (name, rewrite) in FUNCTIONS.iter().map(|(name, rewrite)| (name, rewrite)).chain(namesakes) {
            for part in rewrite.split(", or ") {
                let expr = part.split(" for ").next().unwrap_or(part);
                let sql = format!("SELECT {expr} FROM t");
                let outcome = ReadOnlyStatement::parse(&sql, &GuardConfig::default());
                let skipped =
                    ["condition", "type", "field", "LIMIT", "without"].iter().any(|word| part.contains(word));
                assert!(skipped || outcome.is_ok(), "{name}: {sql}: {outcome:?}");
            }
        }
    }
}
