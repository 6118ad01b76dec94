//! The catalog: its files read, its entries proven.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::config::CatalogConfig;
use super::diagnoses;
use super::document::{self, Document, Draft};
use super::entry::Entry;
use super::examine::{self, Examination, ExamineError};
use super::query::Query;
use super::rule::{Finding, Rule};
use crate::document::file;
use crate::document::finding::{Place, Severity};
use crate::document::section::{Located, Report};
use crate::guard::SensitiveWords;
use crate::postgres::Database;
use crate::protocol::tool::ToolSpec;
use crate::tools::{BUILT_IN, Tool};
use crate::wire::ascii::AsciiJson;

/// The most entries of a catalog: all of them are listed to a client, and a model has to choose.
pub const MAX_ENTRIES: usize = 1_000;

/// The most bytes of `tools/list` for the catalog: the whole line has 8 MiB.
const MAX_LISTING_BYTES: usize = 6 * 1024 * 1024;

/// A catalog whose entries are all proven.
#[derive(Debug)]
pub struct Catalog {
    entries: Vec<Arc<Entry>>,
    /// All tables that it may read, as written: `name` or `schema.name`.
    pub tables: Vec<String>,
    words: Arc<SensitiveWords>,
    /// Findings that are no errors.
    pub warnings: Vec<Finding>,
}

impl Catalog {
    /// Reads and proves the catalog of a file or a directory.
    ///
    /// # Errors
    /// All findings, warnings included.
    pub fn load(path: &Path, config: &CatalogConfig<'_>) -> Result<Self, Vec<Finding>> {
        let sources = file::read(path, "catalog").map_err(|finding| vec![finding])?;
        let mut files = Vec::with_capacity(sources.len());
        for source in &sources {
            let mut report = Report::new(source);
            let document = document::read(&mut report, config.max_rows);
            files.push((report, document));
        }
        let mut tables: Vec<String> =
            files.iter().flat_map(|(_, file)| &file.tables).map(|table| table.value.clone()).collect();
        tables.sort();
        tables.dedup();
        let mut taken = BTreeMap::new();
        let mut entries = Vec::new();
        let mut findings = Vec::new();
        for (mut report, Document { tables: _, drafts }) in files {
            for draft in drafts {
                check_name(&draft, &mut taken, &mut report);
                entries.extend(Entry::new(draft, &tables, config, &mut report).map(Arc::new));
            }
            report.findings.sort_by_key(|finding| finding.place.line);
            findings.append(&mut report.findings);
        }
        if findings.is_empty() {
            findings.extend(size_fault(path, &entries));
        }
        if findings.iter().any(|finding| finding.severity() == Severity::Error) {
            return Err(findings);
        }
        Ok(Self { entries, tables, words: Arc::new(config.words.clone()), warnings: findings })
    }

    /// Returns a tool for each entry, in the order in which they are written.
    pub fn tools(&self, database: &Arc<Database>) -> impl Iterator<Item = Box<dyn Tool>> {
        self.entries.iter().map(|entry| Box::new(self.query(entry, database)) as Box<dyn Tool>)
    }

    /// Waivers of all entries: names of secrets that an entry may use, for a written reason.
    pub fn waived(&self) -> Vec<String> {
        self.entries.iter().flat_map(|entry| entry.waived.keys().cloned()).collect()
    }

    /// Parameters of all entries, by name.
    pub fn parameters(&self) -> Vec<String> {
        self.entries.iter().flat_map(|entry| entry.params.iter().map(|param| param.name.clone())).collect()
    }

    /// Prepares every entry and runs its example, in read-only transactions.
    ///
    /// # Errors
    /// No statement can be run at all.
    pub fn examine(&self, database: &Arc<Database>) -> Result<Vec<Examination>, ExamineError> {
        self.entries
            .iter()
            .map(|entry| examine::examine(entry, self.query(entry, database), database))
            .collect()
    }

    fn query(&self, entry: &Arc<Entry>, database: &Arc<Database>) -> Query {
        let (entry, words, database) = (Arc::clone(entry), Arc::clone(&self.words), Arc::clone(database));
        Query { entry, words, database }
    }

    /// The number of its tools: never 0, since a catalog without an entry is an error.
    pub fn count(&self) -> usize {
        self.entries.len()
    }
}

/// Reports a tool name that is taken, and where.
fn check_name(draft: &Draft, taken: &mut BTreeMap<String, (PathBuf, usize)>, report: &mut Report<'_, Rule>) {
    let Located { value: name, line } = &draft.name;
    report.entry = Some(name.clone());
    if BUILT_IN.contains(&name.as_str()) {
        diagnoses::TOOL_BUILT_IN.report(report, *line, &[]);
    }
    if let Some((file, first)) = taken.get(name) {
        return diagnoses::TOOL_TWICE.report(report, *line, &[&file.display(), first]);
    }
    taken.insert(name.clone(), (report.source.path.clone(), *line));
}

/// Finds too few or too many entries, or a listing that is too long for a client.
fn size_fault(path: &Path, entries: &[Arc<Entry>]) -> Option<Finding> {
    let listed = |entry: &Arc<Entry>| {
        let ToolSpec { title, description, input_schema, output_schema, .. } = &*entry.spec;
        let schemas = [input_schema, output_schema].map(|schema| AsciiJson::of(schema).len());
        schemas.iter().sum::<usize>() + AsciiJson::of(description).len() + AsciiJson::of(title).len()
    };
    let (text, cure) = if entries.is_empty() {
        ("The catalog has no entry.".to_owned(), "Write a [[query]], or unset MCP_CATALOG.")
    } else if entries.len() > MAX_ENTRIES {
        let text = format!("The catalog has {} entries.", entries.len());
        (text, "Keep 1,000: a model cannot choose among more.")
    } else if entries.iter().map(listed).sum::<usize>() > MAX_LISTING_BYTES {
        ("Its descriptions and schemas together are too long for tools/list.".to_owned(), "Shorten them.")
    } else {
        return None;
    };
    let place = Place { file: path.to_owned(), line: 1 };
    Some(Finding { rule: Rule::InvalidValue, place, entry: None, text, cure: cure.to_owned() })
}
