//! Functions and types of other databases, which PostgreSQL does not have, and what to write instead.

/// Functions, sorted by name, and the rewrite.
#[rustfmt::skip]
const FUNCTIONS: &[(&str, &str)] = &[
    ("add_months", "d + n * interval '1 month'"),
    ("array_concat", "a || b"),
    ("array_contains", "x = ANY (a)"),
    ("array_size", "cardinality(a)"),
    ("charindex", "strpos(text, part)"),
    ("convert_tz", "t AT TIME ZONE 'from' AT TIME ZONE 'to'"),
    ("countif", "count(*) FILTER (WHERE condition)"),
    ("curdate", "current_date"),
    ("curtime", "localtime"),
    ("date_diff", "a - b, or extract(epoch FROM a - b)"),
    ("date_format", "to_char(d, 'YYYY-MM-DD')"),
    ("date_from_parts", "make_date(year, month, day)"),
    ("date_sub", "d - interval '1 day'"),
    ("dateadd", "d + n * interval '1 day'"),
    ("datediff", "a::date - b::date for days, or extract(epoch FROM a - b)"),
    ("datefromparts", "make_date(year, month, day)"),
    ("datename", "to_char(d, 'Month')"),
    ("datepart", "extract(field FROM d)"),
    ("datetime", "d::timestamp"),
    ("day", "extract(day FROM d)"),
    ("dayname", "to_char(d, 'Day')"),
    ("dayofmonth", "extract(day FROM d)"),
    ("dayofweek", "extract(dow FROM d)"),
    ("dayofyear", "extract(doy FROM d)"),
    ("endswith", "right(text, length(part)) = part"),
    ("eomonth", "date_trunc('month', d) + interval '1 month - 1 day'"),
    ("from_unixtime", "to_timestamp(seconds)"),
    ("getdate", "now()"),
    ("group_concat", "string_agg(x, ',')"),
    ("hex", "to_hex(n), or encode(bytes, 'hex')"),
    ("hour", "extract(hour FROM t)"),
    ("if", "CASE WHEN condition THEN a ELSE b END"),
    ("iff", "CASE WHEN condition THEN a ELSE b END"),
    ("ifnull", "coalesce(a, b)"),
    ("iif", "CASE WHEN condition THEN a ELSE b END"),
    ("instr", "strpos(text, part)"),
    ("isnull", "coalesce(a, b), or a IS NULL"),
    ("json_extract", "data #> '{a,b}' for jsonb, or data ->> 'a'"),
    ("json_extract_scalar", "data ->> 'a'"),
    ("json_unquote", "data ->> 'a'"),
    ("julianday", "extract(julian FROM d)"),
    ("last_day", "date_trunc('month', d) + interval '1 month - 1 day'"),
    ("lcase", "lower(text)"),
    ("len", "length(text)"),
    ("listagg", "string_agg(x, ',' ORDER BY x)"),
    ("locate", "strpos(text, part)"),
    ("median", "percentile_cont(0.5) WITHIN GROUP (ORDER BY x)"),
    ("mid", "substr(text, start, length)"),
    ("minute", "extract(minute FROM t)"),
    ("month", "extract(month FROM d)"),
    ("monthname", "to_char(d, 'Month')"),
    ("months_between", "extract(year FROM age(a, b)) * 12 + extract(month FROM age(a, b))"),
    ("newid", "gen_random_uuid()"),
    ("nvl", "coalesce(a, b)"),
    ("nvl2", "CASE WHEN a IS NOT NULL THEN b ELSE c END"),
    ("parse_date", "to_date(text, 'YYYY-MM-DD')"),
    ("patindex", "strpos(text, part), or text ~ 'pattern'"),
    ("quarter", "extract(quarter FROM d)"),
    ("rand", "random()"),
    ("regexp_contains", "text ~ 'pattern'"),
    ("regexp_extract", "substring(text FROM 'pattern')"),
    ("replicate", "repeat(text, n)"),
    ("safe_cast", "CAST(x AS type)"),
    ("safe_divide", "a / nullif(b, 0)"),
    ("second", "extract(second FROM t)"),
    ("space", "repeat(' ', n)"),
    ("split", "string_to_array(text, ',')"),
    ("startswith", "starts_with(text, part)"),
    ("str_to_date", "to_date(text, 'YYYY-MM-DD')"),
    ("strftime", "to_char(d, 'YYYY-MM-DD')"),
    ("string_split", "string_to_table(text, ',')"),
    ("substring_index", "split_part(text, ',', 1)"),
    ("sysdate", "now()"),
    ("sysdatetime", "now()"),
    ("timediff", "a - b"),
    ("timestampadd", "t + n * interval '1 minute'"),
    ("timestampdiff", "extract(epoch FROM a - b)"),
    ("to_days", "d - date '0001-01-01'"),
    ("try_cast", "CAST(x AS type)"),
    ("ucase", "upper(text)"),
    ("unix_timestamp", "extract(epoch FROM t)"),
    ("utc_timestamp", "now() AT TIME ZONE 'UTC'"),
    ("week", "extract(week FROM d)"),
    ("weekday", "extract(isodow FROM d)"),
    ("year", "extract(year FROM d)"),
];

/// Types, sorted by name, and PostgreSQL's own.
#[rustfmt::skip]
const TYPES: &[(&str, &str)] = &[
    ("binary", "bytea"),
    ("blob", "bytea"),
    ("clob", "text"),
    ("datetime", "timestamp"),
    ("datetime2", "timestamp"),
    ("datetimeoffset", "timestamptz"),
    ("double", "double precision"),
    ("float64", "double precision"),
    ("int64", "bigint"),
    ("longtext", "text"),
    ("mediumint", "integer"),
    ("mediumtext", "text"),
    ("nchar", "char(n)"),
    ("ntext", "text"),
    ("number", "numeric"),
    ("nvarchar", "varchar"),
    ("nvarchar2", "varchar"),
    ("signed", "bigint"),
    ("smalldatetime", "timestamp"),
    ("string", "text"),
    ("timestamp_ntz", "timestamp"),
    ("timestamp_tz", "timestamptz"),
    ("tinyint", "smallint"),
    ("tinytext", "text"),
    ("uniqueidentifier", "uuid"),
    ("unsigned", "bigint"),
    ("varbinary", "bytea"),
    ("varchar2", "varchar"),
];

/// Returns the rewrite of another database's function.
pub(crate) fn function(name: &str) -> Option<&'static str> {
    find(FUNCTIONS, name)
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
            ReadOnlyStatement::parse(&sql, &GuardConfig::default()).map(drop).unwrap_err().detail().to_owned()
        };
        for (name, rewrite) in FUNCTIONS {
            let sql = if *name == "isnull" {
                "SELECT \"isnull\"(a) FROM t".to_owned()
            } else {
                format!("SELECT {name}(a) FROM t")
            };
            let detail = refused(sql);
            assert!(detail.contains(rewrite) && !detail.contains("operator"), "{name}: {detail}");
        }
        for (name, own) in TYPES {
            let detail = refused(format!("SELECT a::{name} FROM t"));
            assert!(detail.contains(own) && !detail.contains("operator"), "{name}: {detail}");
        }
        assert!(refused("SELECT app.len(a) FROM t".to_owned()).contains("operator"));
    }

    #[test]
    fn the_rewrites_are_accepted() {
        for (name, rewrite) in FUNCTIONS {
            for part in rewrite.split(", or ") {
                let expr = part.split(" for ").next().unwrap_or(part);
                let sql = format!("SELECT {expr} FROM t");
                let outcome = ReadOnlyStatement::parse(&sql, &GuardConfig::default());
                let skipped = part.contains("condition") || part.contains("type") || part.contains("field");
                assert!(skipped || outcome.is_ok(), "{name}: {sql}: {outcome:?}");
            }
        }
    }
}
