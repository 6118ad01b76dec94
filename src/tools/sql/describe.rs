//! `describe_database`: what the role may read, from PostgreSQL's catalogs, by one constant statement of ours.

use std::sync::Arc;

use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::{Json, ToSql, Type};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run::bound;
use crate::call::Failure;
use crate::postgres::transaction::{End, Transaction};
use crate::postgres::{Database, SqlConfig, sqlstate};
use crate::problem::{Code, Problem, echo};
use crate::tools::{Bound, CheckedSpec, TypedTool};
use crate::wire::ascii::{AsciiJson, AsciiWriter};

/// What a caller says.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Only this schema; without it every schema but PostgreSQL's own.
    #[schemars(length(min = 1, max = 63))]
    schema: Option<String>,
    /// Only the table or view of this name.
    #[schemars(length(min = 1, max = 63))]
    table: Option<String>,
}

/// What comes back.
#[derive(Serialize, JsonSchema)]
struct Output {
    /// The schemas that hold something readable.
    schemas: Vec<SchemaOutput>,
    /// Whether something was left out because the answer would have been too long: narrow it by `schema` or `table`.
    truncated: bool,
}

/// A schema.
#[derive(Serialize, JsonSchema)]
struct SchemaOutput {
    /// Its name.
    name: String,
    /// Its tables and views.
    tables: Vec<Table>,
}

/// A table or view.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Table {
    /// Its name.
    name: String,
    /// `table`, `partitioned table`, `view`, `materialized view` or `foreign table`.
    kind: String,
    /// Its comment.
    comment: Option<String>,
    /// The planner's idea of its number of rows; null when it has none.
    row_estimate: Option<f64>,
    /// The columns that the role may read.
    columns: Vec<Column>,
    /// The columns of its primary key, in the key's order.
    primary_key: Vec<String>,
    /// Its foreign keys.
    foreign_keys: Vec<ForeignKey>,
}

/// A column.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Column {
    /// Its name.
    name: String,
    /// Its type as SQL writes it, such as `character varying(20)`.
    r#type: String,
    /// Whether it can be NULL.
    nullable: bool,
    /// Its comment.
    comment: Option<String>,
}

/// A foreign key.
#[derive(Serialize, Deserialize, JsonSchema)]
struct ForeignKey {
    /// Its columns.
    columns: Vec<String>,
    /// The schema of the table it refers to.
    references_schema: String,
    /// The table it refers to.
    references_table: String,
    /// The columns it refers to.
    references_columns: Vec<String>,
}

/// One row a table: its schema, and the table as JSON. Runs with `pg_catalog` first in the path: an operator
/// that it has for exactly these types is the one that is meant; the others are qualified. Comments are cut: `$3`.
const TABLES: &str = r"
SELECT n.nspname::text, pg_catalog.json_build_object(
    'name', c.relname,
    'kind', CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'partitioned table' WHEN 'v' THEN 'view'
        WHEN 'm' THEN 'materialized view' ELSE 'foreign table' END,
    'comment', pg_catalog.left(pg_catalog.obj_description(c.oid, 'pg_class'), $3),
    'row_estimate', CASE WHEN c.reltuples OPERATOR(pg_catalog.>=) 0 AND c.relkind <> 'v' THEN c.reltuples END,
    'columns', COALESCE((
        SELECT pg_catalog.json_agg(pg_catalog.json_build_object(
            'name', a.attname,
            'type', pg_catalog.format_type(a.atttypid, a.atttypmod),
            'nullable', NOT a.attnotnull,
            'comment', pg_catalog.left(pg_catalog.col_description(c.oid, a.attnum), $3)) ORDER BY a.attnum)
        FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            AND pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT')), '[]'),
    'primary_key', COALESCE((
        SELECT pg_catalog.json_agg(a.attname ORDER BY k.place)
        FROM pg_catalog.pg_constraint p
        CROSS JOIN LATERAL pg_catalog.unnest(p.conkey) WITH ORDINALITY AS k(attnum, place)
        JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
        WHERE p.conrelid = c.oid AND p.contype = 'p'), '[]'),
    'foreign_keys', COALESCE((
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
            AND pg_catalog.has_any_column_privilege(fc.oid, 'SELECT')), '[]'))
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
    AND ($1::text IS NULL AND n.nspname OPERATOR(pg_catalog.!~~) 'pg\_%' AND n.nspname <> 'information_schema' OR n.nspname = $1::text)
    AND ($2::text IS NULL OR c.relname = $2::text)
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
    AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
ORDER BY n.nspname, c.relname";

/// The bytes kept for the end of the answer: the open table list and schema, and the flag.
const TAIL_BYTES: usize = r#"]}],"truncated":false}"#.len();

/// The tool.
#[derive(Debug)]
pub struct DescribeDatabase {
    spec: CheckedSpec,
    database: Arc<Database>,
}

impl DescribeDatabase {
    /// The tool on this database.
    pub fn new(database: Arc<Database>) -> Self {
        let description = "Lists the schemas, tables and views that can be read: columns with their types and comments, \
                          primary and foreign keys, estimated row counts. Narrow it by schema and table when truncated is \
                          true. Call it before writing a query for read_only_sql.";
        let spec =
            CheckedSpec::of::<Arguments, Output>("describe_database", "Describe the database", description);
        Self { spec, database }
    }
}

impl TypedTool for DescribeDatabase {
    type Arguments = Arguments;

    fn spec(&self) -> &CheckedSpec {
        &self.spec
    }

    fn bind(&self, request: Arguments) -> Result<Bound<'_>, Problem> {
        let config = self.database.config();
        let chars = i32::try_from(config.max_cell_chars).unwrap_or(i32::MAX);
        Ok(bound(&self.database, move |transaction| describe(transaction, config, &request, chars)))
    }
}

/// Reads tables until the answer is full, with comments of at most so many characters; without them, if the first table's
/// alone are more than any answer holds.
fn describe(
    transaction: &mut Transaction,
    config: &SqlConfig,
    wish: &Arguments,
    comment_chars: i32,
) -> Result<(AsciiJson, End), Failure> {
    let failed = |error: postgres::Error| sqlstate::failure(&error, None);
    let parameters: [(&(dyn ToSql + Sync), Type); 3] =
        [(&wish.schema, Type::TEXT), (&wish.table, Type::TEXT), (&comment_chars, Type::INT4)];
    let client = &mut transaction.session()?.client;
    let mut rows = client.query_typed_raw(TABLES, parameters).map_err(failed)?;
    let mut listing = Listing::new(config.max_response_bytes);
    loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => break,
            Err(error) if sqlstate::is_row_too_long(&error) && listing.schema.is_some() => {
                return Ok((listing.finish(true), End::Busy));
            }
            Err(error) if sqlstate::is_row_too_long(&error) && comment_chars > 0 => {
                drop(rows);
                return describe(transaction, config, wish, 0);
            }
            Err(error) => return Err(failed(error)),
        };
        let table = || Some((row.try_get::<_, String>(0).ok()?, row.try_get::<_, Json<Table>>(1).ok()?));
        let Some((schema, Json(table))) = table() else {
            return Err(Failure::Internal(
                "a table's description is not in the form it should be".to_owned(),
            ));
        };
        if !listing.push(&schema, table) {
            return Ok((listing.finish(true), End::Busy));
        }
    }
    if listing.schema.is_none() && (wish.schema.is_some() || wish.table.is_some()) {
        return Err(not_found(wish).into());
    }
    // Comments that are missing are missed.
    let cut = listing.cut || comment_chars == 0;
    Ok((listing.finish(cut), End::Idle))
}

fn not_found(wish: &Arguments) -> Problem {
    let named = [("schema", &wish.schema), ("table", &wish.table)];
    let given = named.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    let text: Vec<String> = given.clone().map(|(name, value)| format!("{name} {}", echo(value))).collect();
    let problem = Problem::new(
        Code::NotFound,
        format!("There is no readable table or view for {}. Names are case-sensitive.", text.join(", ")),
    );
    given.fold(problem, |problem, (name, _)| problem.param(name))
}

/// The answer as it grows.
struct Listing {
    out: AsciiWriter,
    budget: usize,
    /// The schema whose list of tables is open.
    schema: Option<String>,
    /// True if a table lost columns.
    cut: bool,
}

impl Listing {
    fn new(budget: usize) -> Self {
        let mut out = AsciiWriter::default();
        out.raw(r#"{"schemas":["#);
        Self { out, budget, schema: None, cut: false }
    }

    /// Takes one more table; `false` when it does not fit. The first one is made to fit by leaving out columns, so that
    /// an answer never is empty.
    fn push(&mut self, schema: &str, mut table: Table) -> bool {
        let mark = self.out.len();
        loop {
            match &self.schema {
                Some(open) if open == schema => self.out.raw(","),
                Some(_) => self.out.raw(r#"]},{"name":"#).string(schema).raw(r#","tables":["#),
                None => self.out.raw(r#"{"name":"#).string(schema).raw(r#","tables":["#),
            };
            self.out.value(&table);
            if self.out.len() + TAIL_BYTES <= self.budget {
                self.schema = Some(schema.to_owned());
                return true;
            }
            self.out.rewind(mark);
            if self.schema.is_some() || table.columns.is_empty() {
                return false;
            }
            self.cut = true;
            table.columns.truncate(table.columns.len() / 2);
        }
    }

    fn finish(mut self, truncated: bool) -> AsciiJson {
        if self.schema.is_some() {
            self.out.raw("]}");
        }
        self.out.raw(r#"],"truncated":"#).value(&truncated).raw("}");
        self.out.finish()
    }
}
