//! The two constant statements that ask PostgreSQL's catalogs, and the wish that they answer.
//!
//! Both run with `pg_catalog` first in the path: an operator that it has for exactly these types is the one that is meant;
//! the others are qualified. They show only what the role may read.

use postgres::types::{ToSql, Type};

/// The relations that are asked for: `$1` to `$4`, and the place behind which to go on, `$5`.
#[derive(Debug)]
pub(super) struct Wish {
    schema: Option<String>,
    table: Option<String>,
    /// The parts of a table's name that was given with its schema.
    qualified: Option<(String, String)>,
    after: Option<String>,
}

impl Wish {
    pub(super) fn new(schema: Option<&str>, table: Option<&str>, after: Option<&str>) -> Self {
        let parts = table.and_then(|table| table.split_once('.'));
        let pattern = |name: &str| pattern(name.trim_matches('"'));
        Self {
            schema: schema.map(pattern),
            table: table.map(pattern),
            qualified: parts.map(|(schema, table)| (pattern(schema), pattern(table))),
            after: after.map(str::to_owned),
        }
    }

    /// The parameters `$1` to `$5`.
    pub(super) fn parameters(&self) -> [(Option<&str>, Type); 5] {
        let (schema, table) =
            self.qualified.as_ref().map(|(schema, table)| (schema.as_str(), table.as_str())).unzip();
        [self.schema.as_deref(), self.table.as_deref(), schema, table, self.after.as_deref()]
            .map(|value| (value, Type::TEXT))
    }
}

/// A parameter as the driver takes it.
pub(super) fn bound<'v>((value, kind): &'v (Option<&str>, Type)) -> (&'v (dyn ToSql + Sync), Type) {
    (value, kind.clone())
}

/// Makes a pattern of LIKE: `*` stands for anything, everything else for itself.
fn pattern(name: &str) -> String {
    let mut pattern = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '*' => pattern.push('%'),
            '%' | '_' | '\\' => pattern.extend(['\\', c]),
            other => pattern.push(other),
        }
    }
    pattern
}

/// The readable relations that are wished for, in the order of their names.
macro_rules! relations {
    () => {
        r#"
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    AND ($1::text IS NULL AND n.nspname OPERATOR(pg_catalog.!~~) 'pg\_%' AND n.nspname <> 'information_schema'
        OR n.nspname OPERATOR(pg_catalog.~~) $1::text OR n.nspname OPERATOR(pg_catalog.~~) $3::text)
    AND ($2::text IS NULL OR c.relname OPERATOR(pg_catalog.~~) $2::text
        OR n.nspname OPERATOR(pg_catalog.~~) $3::text AND c.relname OPERATOR(pg_catalog.~~) $4::text)
    AND ($5::text IS NULL OR pg_catalog.concat(n.nspname, '.', c.relname) COLLATE pg_catalog."C" > $5::text)
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
    AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
ORDER BY pg_catalog.concat(n.nspname, '.', c.relname) COLLATE pg_catalog."C""#
    };
}

/// A relation's own line: its schema, its name, its line as JSON, and the number of its columns.
pub(super) const NAMES: &str = concat!(
    r"
SELECT n.nspname::text, c.relname::text, pg_catalog.json_strip_nulls(pg_catalog.json_build_object(
    'name', c.relname,
    'kind', CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'partitioned table' WHEN 'v' THEN 'view'
        WHEN 'm' THEN 'materialized view' ELSE 'foreign table' END,
    'row_estimate', CASE WHEN c.reltuples OPERATOR(pg_catalog.>=) 0 AND c.relkind <> 'v' THEN c.reltuples END)),
    c.relnatts::int8",
    relations!()
);

/// A relation with everything. Comments, and texts of expressions, are cut: `$6`.
pub(super) const TABLES: &str = concat!(
    r"
SELECT n.nspname::text, c.relname::text, pg_catalog.json_strip_nulls(pg_catalog.json_build_object(
    'name', c.relname,
    'kind', CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'partitioned table' WHEN 'v' THEN 'view'
        WHEN 'm' THEN 'materialized view' ELSE 'foreign table' END,
    'comment', NULLIF(pg_catalog.left(pg_catalog.obj_description(c.oid, 'pg_class'), $6), ''),
    'row_estimate', CASE WHEN c.reltuples OPERATOR(pg_catalog.>=) 0 AND c.relkind <> 'v' THEN c.reltuples END,
    'columns', COALESCE((
        SELECT pg_catalog.json_agg(pg_catalog.json_build_object(
            'name', a.attname,
            'type', pg_catalog.format_type(a.atttypid, a.atttypmod),
            'nullable', NOT a.attnotnull,
            'default', CASE WHEN a.attgenerated = '' THEN pg_catalog.left(pg_catalog.pg_get_expr(d.adbin, d.adrelid), $6) END,
            'generated', CASE WHEN a.attgenerated <> '' THEN pg_catalog.left(pg_catalog.pg_get_expr(d.adbin, d.adrelid), $6) END,
            'identity', CASE a.attidentity WHEN 'a' THEN 'always' WHEN 'd' THEN 'by default' END,
            'labels', (SELECT pg_catalog.json_agg(e.enumlabel ORDER BY e.enumsortorder)
                FROM pg_catalog.pg_type t JOIN pg_catalog.pg_enum e ON e.enumtypid = t.oid OR e.enumtypid = t.typelem
                WHERE t.oid = a.atttypid),
            'comment', NULLIF(pg_catalog.left(pg_catalog.col_description(c.oid, a.attnum), $6), '')) ORDER BY a.attnum)
        FROM pg_catalog.pg_attribute a
        LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')), '[]'),
    'withheld_columns', (
        SELECT pg_catalog.json_agg(a.attname ORDER BY a.attnum)
        FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            AND NOT pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')),
    'primary_key', (
        SELECT pg_catalog.json_agg(a.attname ORDER BY k.place)
        FROM pg_catalog.pg_constraint p
        CROSS JOIN LATERAL pg_catalog.unnest(p.conkey) WITH ORDINALITY AS k(attnum, place)
        JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
        WHERE p.conrelid = c.oid AND p.contype = 'p'),
    'unique_keys', (
        SELECT pg_catalog.json_agg((SELECT pg_catalog.json_agg(a.attname ORDER BY k.place)
            FROM pg_catalog.unnest(u.conkey) WITH ORDINALITY AS k(attnum, place)
            JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum) ORDER BY u.conname)
        FROM pg_catalog.pg_constraint u
        WHERE u.conrelid = c.oid AND u.contype = 'u'),
    'foreign_keys', (
        SELECT pg_catalog.json_agg(pg_catalog.json_build_object(
            'columns', (SELECT pg_catalog.json_agg(a.attname ORDER BY k.place)
                FROM pg_catalog.unnest(f.conkey) WITH ORDINALITY AS k(attnum, place)
                JOIN pg_catalog.pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.attnum),
            'references_schema', fn.nspname,
            'references_table', fc.relname,
            'references_columns', (SELECT pg_catalog.json_agg(a.attname ORDER BY k.place)
                FROM pg_catalog.unnest(f.confkey) WITH ORDINALITY AS k(attnum, place)
                JOIN pg_catalog.pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.attnum)
            ) ORDER BY f.conname)
        FROM pg_catalog.pg_constraint f
        JOIN pg_catalog.pg_class fc ON fc.oid = f.confrelid
        JOIN pg_catalog.pg_namespace fn ON fn.oid = fc.relnamespace
        WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.conparentid OPERATOR(pg_catalog.=) 0
            AND pg_catalog.has_any_column_privilege(fc.oid, 'SELECT')),
    'checks', (
        SELECT pg_catalog.json_agg(pg_catalog.left(pg_catalog.pg_get_constraintdef(k.oid), $6) ORDER BY k.conname)
        FROM pg_catalog.pg_constraint k
        WHERE k.conrelid = c.oid AND k.contype = 'c' AND NOT EXISTS (
            SELECT FROM pg_catalog.unnest(k.conkey) AS part(attnum)
            WHERE NOT pg_catalog.has_column_privilege(c.oid, part.attnum, 'SELECT'))),
    'indexes', (
        SELECT pg_catalog.json_agg(pg_catalog.left(pg_catalog.split_part(pg_catalog.pg_get_indexdef(i.indexrelid), ' USING ', 2), $6)
            ORDER BY i.indexrelid)
        FROM pg_catalog.pg_index i
        WHERE i.indrelid = c.oid AND i.indislive AND NOT i.indisprimary
            AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype = 'u')
            AND (pg_catalog.has_table_privilege(c.oid, 'SELECT') OR i.indexprs IS NULL AND i.indpred IS NULL AND NOT EXISTS (
                SELECT FROM pg_catalog.unnest(i.indkey) AS part(attnum)
                WHERE NOT pg_catalog.has_column_privilege(c.oid, part.attnum, 'SELECT')))))),
    c.relnatts::int8",
    relations!()
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_the_only_wildcard() {
        for (name, expected) in [("a*", "a%"), ("a_b%", "a\\_b\\%"), ("\\", "\\\\"), ("*", "%")] {
            assert_eq!(pattern(name), expected);
        }
    }

    #[test]
    fn a_table_may_be_given_with_its_schema() {
        let texts = |wish: &Wish| wish.parameters().map(|(value, _)| value.map(str::to_owned));
        let wish = Wish::new(None, Some("app.t*"), Some("a.b"));
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(texts(&wish), [None, some("app.t%"), some("app"), some("t%"), some("a.b")]);
    }
}
