//! A proven entry, from which a tool is made.

use std::collections::{BTreeMap, BTreeSet};

use postgres::types::Type;
use serde_json::{Map, Value};

use super::claim::Claim;
use super::config::CatalogConfig;
use super::diagnoses;
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
use crate::protocol::tool::{ToolName, ToolSpec};
use crate::tools::CheckedSpec;

/// The longest name that fits behind `mcp__mcp-server-suite__` in the 64 characters of APIs of language models.
const MAX_NAME_CHARS: usize = 41;

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
    /// Parameters in which white space counts for nothing.
    pub(super) searches: BTreeSet<String>,
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
            diagnoses::TOOL_NAME.report(report, draft.name.line, &[&echo(&draft.name.value)]);
        }
        if draft.name.value.len() > MAX_NAME_CHARS {
            diagnoses::LONG_NAME.report(report, draft.name.line, &[&echo(&draft.name.value)]);
        }
        let proven = proof(&draft, catalog_tables, config, report);
        if draft.params.iter().any(|param| param.kind.is_none()) {
            return None;
        }
        let input_schema = params::schema(&draft.params);
        let example = example(&draft, &input_schema, report);
        let Proven { statement, placeholders, searches, member_use } = proven?;
        if draft.waived.contains_key(members::WAIVER) && member_use.is_clean() {
            diagnoses::WAIVER_UNUSED.report(report, draft.name.line, &[&members::WAIVER]);
        }
        let name = name?;
        let param = |placeholder: &Placeholder| draft.params.get(placeholder.param()?);
        let types = placeholders.iter().map(|it| param(it).map_or(Type::TEXT, Param::pg_type)).collect();
        let fixed = PreparedQuery { name: name.as_str().to_owned(), statement, types };
        let spec = ToolSpec {
            name,
            title: draft.title?.into(),
            description: draft.description?.into(),
            input_schema,
            output_schema: output::schema(&draft.columns),
        };
        let Draft { params, columns, tables, waived, .. } = draft;
        let spec = CheckedSpec::new(spec);
        Some(Self {
            spec,
            fixed,
            placeholders,
            params,
            columns,
            tables,
            searches,
            member_use,
            example,
            waived,
        })
    }
}

/// Returns the example's arguments, judged as those of a call.
fn example(draft: &Draft, schema: &Map<String, Value>, report: &mut Report<'_, Rule>) -> Map<String, Value> {
    let Some(Located { value, line }) = &draft.example else { return Map::new() };
    if let Err(problem) = Checker::new(schema).check(value.clone()) {
        diagnoses::EXAMPLE_REFUSED.report(report, *line, &[&problem.detail()]);
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
        params: &draft.params,
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
