//! A file of a catalog, read key by key, before anything is proven.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::DeValue;

use super::claim::ParamClaim;
use super::output::{Column, ColumnKind};
use super::params::Param;
use super::rule::Rule;
use super::{members, names};
use crate::document;
use crate::document::section::{Located, Report, Section, json, prose, wrong};
use crate::problem::echo;

/// A file's content.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// All tables that the catalog may read.
    pub(super) tables: Vec<Located<String>>,
    pub(super) drafts: Vec<Draft>,
}

/// An entry as written.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) name: Located<String>,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) tables: Vec<String>,
    pub(super) columns: Vec<Column>,
    /// The line is that of the statement's first line. Absent when it is missing, or when so much of the rest is
    /// wrong that a proof would only repeat it.
    pub(super) sql: Option<Located<String>>,
    /// Every parameter, whether it is right or not.
    pub(super) claims: Vec<ParamClaim>,
    /// The parameters; absent when one is wrong.
    pub(super) params: Option<Vec<Param>>,
    /// Absent: the entry is called without arguments.
    pub(super) example: Option<Located<Map<String, Value>>>,
    /// The waivers: names of secrets, or the rule on members, and the written reasons.
    pub(super) waived: BTreeMap<String, String>,
}

/// Reads a file. An entry without a name is reported and left out.
pub(super) fn read(report: &mut Report<'_, Rule>, max_rows: u32) -> Document {
    let content = document::parse::parse(report, "a catalog", |section, report| {
        let tables = section.texts("tables", report);
        check_tables(&tables, report);
        let mut drafts = Vec::new();
        for entry in section.tables("query", report) {
            drafts.extend(read_entry(entry, max_rows, report));
            report.entry = None;
        }
        Document { tables, drafts }
    });
    content.unwrap_or_default()
}

/// Every table has a name, once. `false`: one has none.
fn check_tables(tables: &[Located<String>], report: &mut Report<'_, Rule>) -> bool {
    for (index, Located { value: name, line }) in tables.iter().enumerate() {
        if !names::is_table(name) {
            let text = format!("No table can be called {}.", echo(name));
            report.add(
                Rule::InvalidName,
                *line,
                text,
                "Write name or schema.name, in letters, digits and _.",
            );
        }
        if tables.iter().take(index).any(|other| other.value == *name) {
            report.add(
                Rule::DuplicateName,
                *line,
                format!("The table {name} is listed twice."),
                "List it once.",
            );
        }
    }
    tables.iter().all(|table| names::is_table(&table.value))
}

fn read_entry(value: &Spanned<DeValue<'_>>, max_rows: u32, report: &mut Report<'_, Rule>) -> Option<Draft> {
    let mut section = Section::of(value, "a query", "query", report)?;
    let name = section.required("name", report);
    report.entry = name.as_ref().map(|name| name.value.clone());
    let title = prose(section.required("title", report), "title", report);
    let description = prose(section.required("description", report), "description", report);
    let tables = section.texts("tables", report);
    let mut is_provable = check_tables(&tables, report);
    let sql = section.required("sql", report).map(|sql| first_line(sql, &mut section, report));
    let columns = read_columns(&mut section, report);
    let unlike = columns.iter().map(|column| &column.name).collect::<BTreeSet<_>>().len();
    is_provable &= !columns.is_empty() && unlike == columns.len();
    is_provable &= columns.iter().all(|column| names::is_identifier(&column.name));
    let (mut claims, mut params) = (Vec::new(), Some(Vec::new()));
    for (name, value) in section.members("params", report) {
        is_provable &= names::check_param(&name, report);
        let (claim, param) = Param::read(&name, value, max_rows, report);
        claims.push(claim);
        params = params.zip(param).map(|(params, param)| [params, vec![param]].concat());
    }
    let example = read_example(&mut section, report);
    let waived = read_waivers(&mut section, sql.as_ref(), report);
    section.finish(report);
    let tables = tables.into_iter().map(|table| table.value).collect();
    let sql = sql.filter(|_| is_provable);
    Some(Draft { name: name?, title, description, tables, columns, sql, claims, params, example, waived })
}

/// Corrects the line of the statement: a text of several lines begins on the line behind its quotes.
fn first_line(sql: Located<String>, section: &mut Section<'_>, report: &Report<'_, Rule>) -> Located<String> {
    let written = section.take("sql").and_then(|value| report.source.text.get(value.span()));
    let is_behind = written.is_some_and(|text| {
        ["\"\"\"", "'''"].iter().any(|quotes| {
            text.strip_prefix(quotes).is_some_and(|text| text.starts_with('\n') || text.starts_with("\r\n"))
        })
    });
    Located { line: sql.line + usize::from(is_behind), ..sql }
}

fn read_columns(section: &mut Section<'_>, report: &mut Report<'_, Rule>) -> Vec<Column> {
    let names = section.texts("columns", report);
    let kinds = section.pairs("types", report);
    if names.is_empty() {
        let cure = "Write columns = [\"…\"], the names of the statement's output in order.";
        report.add(Rule::NoColumns, section.line, "The entry declares no columns.", cure);
    }
    for (index, Located { value: name, line }) in names.iter().enumerate() {
        if !names::is_identifier(name) {
            let text = format!("No column can be called {}.", echo(name));
            report.add(
                Rule::InvalidName,
                *line,
                text,
                "Use letters, digits and _; name an expression with AS.",
            );
        }
        if names.iter().take(index).any(|other| other.value == *name) {
            report.add(
                Rule::DuplicateName,
                *line,
                format!("The column {name} is declared twice."),
                "Name one otherwise with AS.",
            );
        }
    }
    let mut columns: Vec<Column> =
        names.into_iter().map(|name| Column { name: name.value, kind: None }).collect();
    for (name, kind) in kinds {
        match columns.iter_mut().find(|column| column.name == name) {
            Some(column) => column.kind = ColumnKind::read(&kind, report),
            None => {
                let text = format!("The type of {} is given, which is no declared column.", echo(&name));
                report.add(Rule::UnknownKey, kind.line, text, "Declare it in columns, or remove it here.");
            }
        }
    }
    columns
}

fn read_example(
    section: &mut Section<'_>,
    report: &mut Report<'_, Rule>,
) -> Option<Located<Map<String, Value>>> {
    let value = section.take("example")?;
    let line = report.line(value);
    match json(value.get_ref()) {
        Some(Value::Object(value)) => Some(Located { value, line }),
        _ => {
            wrong(report, line, "example", "a table of arguments");
            None
        }
    }
}

fn read_waivers(
    section: &mut Section<'_>,
    sql: Option<&Located<String>>,
    report: &mut Report<'_, Rule>,
) -> BTreeMap<String, String> {
    let waivers = section.pairs("waive", report);
    for (name, reason) in &waivers {
        if reason.value.trim().is_empty() {
            let text = format!("The waiver of {} has no reason.", echo(name));
            report.add(Rule::InvalidValue, reason.line, text, "Write why this entry may use the name.");
        }
        // The waiver of the rule on members names no name.
        if name != members::WAIVER
            && sql.is_some_and(|sql| !sql.value.to_lowercase().contains(&name.to_lowercase()))
        {
            let text = format!("The waiver of {} waives nothing: the statement does not use it.", echo(name));
            report.add(Rule::InvalidValue, reason.line, text, "Remove it.");
        }
    }
    waivers.into_iter().map(|(name, reason)| (name, reason.value)).collect()
}
