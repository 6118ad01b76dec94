//! A proven entry, from which a tool is made.

use std::collections::BTreeMap;

use postgres::types::Type;
use serde_json::{Map, Value};

use super::claim::Claim;
use super::config::CatalogConfig;
use super::document::Draft;
use super::members::{self, MemberUse};
use super::output::{self, Column};
use super::params::{self, Param};
use super::prove::{Placeholder, Proven, prove};
use super::rule::Rule;
use crate::arguments::Checker;
use crate::document::section::{Located, Report};
use crate::postgres::prepared::PreparedQuery;
use crate::problem::echo;
use crate::protocol::tool::{Effect, ToolName, ToolSpec};
use crate::tools::CheckedSpec;

/// An entry of the catalog.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) spec: CheckedSpec,
    pub(super) params: Vec<Param>,
    /// The statement that stays prepared on each connection.
    pub(super) fixed: PreparedQuery,
    /// The values of `$1`, `$2`, …
    pub(super) placeholders: Vec<Placeholder>,
    pub(super) columns: Vec<Column>,
    /// The tables that it reads, as written.
    pub(super) tables: Vec<String>,
    /// The uses of names that may turn out to hold members.
    pub(super) member_use: MemberUse,
    pub(super) example: Map<String, Value>,
    pub(super) waived: BTreeMap<String, String>,
}

impl Entry {
    /// Proves a draft. Faults are reported; an entry without a fault may still have a warning.
    pub(super) fn new(
        draft: Draft,
        catalog_tables: &[String],
        config: &CatalogConfig<'_>,
        report: &mut Report<'_, Rule>,
    ) -> Option<Self> {
        report.entry = Some(draft.name.value.clone());
        let name = ToolName::parse(&draft.name.value);
        if name.is_none() {
            let text = format!("No tool can be called {}.", echo(&draft.name.value));
            let cure = "Use 1 to 64 letters, digits, _ and -.";
            report.add(Rule::InvalidName, draft.name.line, text, cure);
        }
        let proven = proof(&draft, catalog_tables, config, report);
        let params = draft.params.clone()?;
        let input_schema = params::schema(&params);
        let example = example(&draft, &input_schema, report);
        let Proven { statement, placeholders, member_use } = proven?;
        if draft.waived.contains_key(members::WAIVER) && member_use.exposed.is_empty() {
            let text = "The waiver of members waives nothing: the statement exposes none.";
            report.add(Rule::InvalidValue, draft.name.line, text, "Remove it.");
        }
        let name = name?;
        let types = placeholders.iter().map(|placeholder| pg_type(*placeholder, &params)).collect();
        let fixed = PreparedQuery { name: name.as_str().to_owned(), statement, types };
        let spec = ToolSpec {
            name,
            title: draft.title?.into(),
            description: draft.description?.into(),
            input_schema,
            output_schema: output::schema(&draft.columns),
            effect: Effect::Read,
        };
        let Draft { columns, tables, waived, .. } = draft;
        let spec = CheckedSpec::new(spec);
        Some(Self { spec, fixed, placeholders, params, columns, tables, member_use, example, waived })
    }
}

fn pg_type(placeholder: Placeholder, params: &[Param]) -> Type {
    match placeholder {
        Placeholder::Param(index) | Placeholder::Limit(index) => {
            params.get(index).map_or(Type::TEXT, Param::pg_type)
        }
        Placeholder::Caller | Placeholder::Tenant => Type::TEXT,
    }
}

/// Returns the example's arguments, judged as those of a call.
fn example(draft: &Draft, schema: &Map<String, Value>, report: &mut Report<'_, Rule>) -> Map<String, Value> {
    let Some(Located { value, line }) = &draft.example else { return Map::new() };
    if let Err(problem) = Checker::new(schema).check(value.clone()) {
        let cure = "Write arguments that the entry's own parameters accept.";
        report.add(
            Rule::InvalidExample,
            *line,
            format!("A call with the example is refused: {}", problem.detail()),
            cure,
        );
    }
    value.clone()
}

fn proof(
    draft: &Draft,
    catalog_tables: &[String],
    config: &CatalogConfig<'_>,
    report: &mut Report<'_, Rule>,
) -> Option<Proven> {
    let sql = draft.sql.as_ref()?;
    let columns: Vec<String> = draft.columns.iter().map(|column| column.name.clone()).collect();
    let claim = Claim {
        sql: &sql.value,
        catalog_tables,
        tables: &draft.tables,
        columns: &columns,
        params: &draft.claims,
        waived: &draft.waived,
        words: &config.words,
        guard: config.guard,
    };
    let (proven, faults) = prove(&claim);
    for fault in faults {
        let line = sql.line + fault.at.map_or(0, |at| at.line.saturating_sub(1));
        report.add(fault.rule, line, fault.text, fault.cure);
    }
    proven
}
