//! `describe_database`: what the role may read, from PostgreSQL's catalogs.
//!
//! Everything of the relations that are asked for, if it fits; else the names of all of them first, and columns on request.
//! `queries` holds the statements.

mod queries;

use std::sync::Arc;

use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::{Json, ToSql, Type};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::queries::{NAMES, TABLES, Wish, bound as parameter};
use super::run::bound;
use crate::call::Failure;
use crate::postgres::transaction::{End, Transaction};
use crate::postgres::{Database, SqlConfig, sqlstate};
use crate::problem::{Code, Problem, echo};
use crate::tools::{Bound, CheckedSpec, TypedTool};
use crate::wire::ascii::{AsciiJson, AsciiWriter};

/// The arguments.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Only this schema; `*` stands for anything.
    #[schemars(length(min = 1, max = 63))]
    schema: Option<String>,
    /// Only this table or view, also as schema.table; `*` stands for anything.
    #[schemars(length(min = 1, max = 130))]
    table: Option<String>,
    /// The next_after of an answer, to go on behind it.
    #[schemars(length(min = 1, max = 260))]
    after: Option<String>,
}

/// The answer. Members without a value are left out.
#[derive(Serialize, JsonSchema)]
struct Output {
    /// The database's name.
    database: String,
    /// PostgreSQL's version.
    version: String,
    /// The time zone in which queries are evaluated.
    time_zone: String,
    /// Each schema: name and tables.
    #[schemars(schema_with = "schemas_schema")]
    schemas: Vec<Value>,
    /// True if columns or tables were left out: ask for fewer tables, or go on with after = next_after.
    truncated: bool,
}

fn schemas_schema(_: &mut SchemaGenerator) -> Schema {
    let table = "A table: name, kind, comment, row_estimate, columns (name, type, nullable, default, generated, identity, \
                 labels of an enum, comment), withheld_columns, primary_key, unique_keys, foreign_keys, checks, indexes";
    json_schema!({ "type": "array", "items": { "type": "object", "required": ["name", "tables"], "properties": {
        "name": { "type": "string" },
        "tables": { "type": "array", "items": { "type": "object", "description": table } },
    } } })
}

/// The bytes kept for the end of the answer: the open table list and schema, the flag, and where to go on.
const TAIL_BYTES: usize = r#"]}],"truncated":false,"next_after":""}"#.len() + 6 * 130;
/// The bytes that a column takes at least: with more columns than this allows, everything is not even tried.
const LEAST_COLUMN_BYTES: usize = 40;

/// The tool.
#[derive(Debug)]
pub struct DescribeDatabase {
    spec: CheckedSpec,
    database: Arc<Database>,
}

impl DescribeDatabase {
    /// The tool on this database.
    pub fn new(database: Arc<Database>) -> Self {
        let description = "Lists the schemas, tables and views that can be read, with columns, keys, checks, indexes and \
                          estimated row counts. When all does not fit, it lists the names of all tables, and truncated is \
                          true: ask for columns by schema and table then. Call it before writing a query.";
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
        Ok(bound(&self.database, move |transaction| describe(transaction, config, &request)))
    }
}

/// One row of either statement.
struct Relation {
    schema: String,
    name: String,
    line: Value,
    columns: usize,
}

/// Reads the names, and then everything, if it fits.
fn describe(
    transaction: &mut Transaction,
    config: &SqlConfig,
    request: &Arguments,
) -> Result<(AsciiJson, End), Failure> {
    let wish = Wish::new(request.schema.as_deref(), request.table.as_deref(), request.after.as_deref());
    let mut names = Listing::new(transaction, config)?;
    let (mut relations, mut columns) = (0_usize, 0_usize);
    let end = ask(transaction, NAMES, &wish, None, |relation| {
        relations += 1;
        columns = columns.saturating_add(relation.columns);
        names.push(&relation)
    })?;
    if relations == 0 && request.after.is_none() && (request.schema.is_some() || request.table.is_some()) {
        return Err(not_found(request).into());
    }
    let may_fit = columns.saturating_mul(LEAST_COLUMN_BYTES) <= config.max_response_bytes;
    if !may_fit && relations > 1 || end == End::Busy {
        names.is_cut = true;
        return Ok((names.finish(), end));
    }
    let chars = i32::try_from(config.max_cell_chars).unwrap_or(i32::MAX);
    // Without comments more columns fit.
    for comment_chars in [chars, 0] {
        let mut all = Listing::new(transaction, config)?;
        all.is_cut = comment_chars == 0;
        let end = ask(transaction, TABLES, &wish, Some(comment_chars), |relation| {
            all.push(&relation) || comment_chars == 0 && relations == 1 && all.push_part(relation)
        })?;
        match end {
            End::Idle => return Ok((all.finish(), End::Idle)),
            End::Busy if relations > 1 => break,
            End::Busy => {}
        }
    }
    // The second statement was not read to its end.
    names.is_cut = true;
    Ok((names.finish(), End::Busy))
}

/// Asks one of the statements. `Busy`: `push` took no more, or a row is too long for any answer.
fn ask(
    transaction: &mut Transaction,
    statement: &str,
    wish: &Wish,
    comment_chars: Option<i32>,
    mut push: impl FnMut(Relation) -> bool,
) -> Result<End, Failure> {
    let failed = |error: postgres::Error| sqlstate::failure(&error, None);
    let parameters = wish.parameters();
    let chars = comment_chars.as_ref().map(|chars| (chars as &(dyn ToSql + Sync), Type::INT4));
    let parameters = parameters.iter().map(parameter).chain(chars);
    let client = &mut transaction.session()?.client;
    let mut rows = client.query_typed_raw(statement, parameters).map_err(failed)?;
    loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(End::Idle),
            Err(error) if sqlstate::is_row_too_long(&error) => return Ok(End::Busy),
            Err(error) => return Err(failed(error)),
        };
        let relation = || {
            let Json(line) = row.try_get(2).ok()?;
            let columns: i64 = row.try_get(3).ok()?;
            let columns = usize::try_from(columns).unwrap_or_default();
            Some(Relation { schema: row.try_get(0).ok()?, name: row.try_get(1).ok()?, line, columns })
        };
        let Some(relation) = relation() else {
            let why = "a table's description is not in the form it should be";
            return Err(Failure::Internal(why.to_owned()));
        };
        if !push(relation) {
            return Ok(End::Busy);
        }
    }
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
    /// The last relation, as `after` takes it.
    last: Option<String>,
    /// True if something was left out.
    is_cut: bool,
    /// True if a relation was left out.
    has_more: bool,
}

impl Listing {
    fn new(transaction: &mut Transaction, config: &SqlConfig) -> Result<Self, Failure> {
        let info = &transaction.session()?.info;
        let mut out = AsciiWriter::default();
        out.raw(r#"{"database":"#)
            .string(info.database())
            .raw(r#","version":"#)
            .string(info.server_version());
        out.raw(r#","time_zone":"#).string(&info.time_zone).raw(r#","schemas":["#);
        let budget = config.max_response_bytes;
        Ok(Self { out, budget, schema: None, last: None, is_cut: false, has_more: false })
    }

    /// Takes one more relation; `false` when it does not fit.
    fn push(&mut self, Relation { schema, name, line, columns: _ }: &Relation) -> bool {
        let mark = self.out.len();
        match &self.schema {
            Some(open) if open == schema => self.out.raw(","),
            Some(_) => self.out.raw(r#"]},{"name":"#).string(schema).raw(r#","tables":["#),
            None => self.out.raw(r#"{"name":"#).string(schema).raw(r#","tables":["#),
        };
        self.out.value(line);
        let fits = self.out.len() + TAIL_BYTES <= self.budget;
        if fits {
            self.schema = Some(schema.clone());
            self.last = Some(format!("{schema}.{name}"));
        } else {
            self.out.rewind(mark);
            self.has_more = true;
        }
        fits
    }

    /// Takes the only relation, without some of its columns.
    fn push_part(&mut self, mut relation: Relation) -> bool {
        loop {
            let columns = relation.line.get_mut("columns").and_then(Value::as_array_mut);
            let Some(columns) = columns.filter(|columns| !columns.is_empty()) else { return false };
            columns.truncate(columns.len() / 2);
            if self.push(&relation) {
                (self.is_cut, self.has_more) = (true, false);
                return true;
            }
        }
    }

    fn finish(mut self) -> AsciiJson {
        if self.schema.is_some() {
            self.out.raw("]}");
        }
        self.out.raw(r#"],"truncated":"#).value(&(self.is_cut || self.has_more));
        if let Some(last) = self.last.filter(|_| self.has_more) {
            self.out.raw(r#","next_after":"#).value(&json!(last));
        }
        self.out.raw("}");
        self.out.finish()
    }
}
