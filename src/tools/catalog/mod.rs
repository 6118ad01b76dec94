//! The catalog: reviewed, parameterised SQL, one tool an entry. Arguments are only ever bind values, and an entry that
//! cannot be proven safe keeps the server from starting.
//!
//! ```text
//! MCP_CATALOG ─ file.rs ─▶ Source ─ document.rs, params.rs ─▶ Draft ─ entry.rs, prove/ ─▶ Entry ─ query.rs ─▶ a Tool
//!               bounded             key by key                        proven              bound, run, rebuilt
//! ```
//!
//! Whatever is wrong on the way is a [`Finding`], and all of them are told at once.

mod rule;
mod names;
mod kinds;
mod params;
mod output;
mod document;
mod members;
mod prove;
mod entry;
mod bind;
mod scrub;
mod rows;
mod query;
mod examine;
#[cfg(any(test, fuzzing))]
pub mod fuzz;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

pub use examine::{Examination, Ran, Sound};
pub use rule::{Finding, Rule};

use self::{
    document::{Document, Draft},
    entry::Entry,
    query::Query,
};
use super::{BUILT_IN, Tool};
use crate::{
    document::{
        file,
        finding::{Place, Severity},
        section::Report,
    },
    guard::{GuardConfig, SensitiveWords},
    postgres::Database,
    wire::ascii::AsciiJson,
};

/// Entries in a catalog: a client is told of all of them, and a model has to choose.
pub const MAX_ENTRIES: usize = 1_000;

/// What `tools/list` may take for the catalog, in bytes: the whole line has 8 MiB.
const MAX_LISTING_BYTES: usize = 6 * 1024 * 1024;

/// What a catalog is judged by.
#[derive(Clone, Debug)]
pub struct CatalogConfig<'c> {
    /// Names that are secrets (`MCP_SENSITIVE_WORDS`).
    pub words: SensitiveWords,
    /// What ad-hoc queries may do holds here too (`MCP_SQL_ALLOW_FUNCTIONS`).
    pub guard: &'c GuardConfig,
    /// The most rows that a caller may ask for (`MCP_SQL_MAX_ROWS`).
    pub max_rows: u32,
}

/// Entries, every one of them proven.
#[derive(Debug)]
pub struct Catalog {
    entries: Vec<Arc<Entry>>,
    tables: Vec<String>,
    words: Arc<SensitiveWords>,
    warnings: Vec<Finding>,
}

impl Catalog {
    /// Reads and proves the catalog of a file or a directory.
    ///
    /// # Errors
    /// Everything that is wrong with it, warnings included.
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
        let mut names = Names::default();
        let mut entries = Vec::new();
        let mut findings = Vec::new();
        for (mut report, Document { tables: _, drafts }) in files {
            for draft in drafts {
                names.check(&draft, &mut report);
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

    /// A tool for each entry, in the order in which they are written.
    pub fn tools(&self, database: &Arc<Database>) -> impl Iterator<Item = Box<dyn Tool>> {
        self.entries.iter().map(|entry| {
            let query = Query::new(Arc::clone(entry), Arc::clone(&self.words), Arc::clone(database));
            Box::new(query) as Box<dyn Tool>
        })
    }

    /// Everything that it may touch, as written: `name` or `schema.name`.
    pub fn tables(&self) -> &[String] {
        &self.tables
    }

    /// Names that say they hold a secret and that an entry may use, for a written reason.
    pub fn waived(&self) -> Vec<String> {
        self.entries.iter().flat_map(|entry| entry.waived.keys().cloned()).collect()
    }

    /// What is no error.
    pub fn warnings(&self) -> &[Finding] {
        &self.warnings
    }

    /// How many tools it is.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Never: a catalog without an entry is an error.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// The names that are taken.
#[derive(Default)]
struct Names {
    taken: BTreeMap<String, (PathBuf, usize)>,
}

impl Names {
    fn check(&mut self, draft: &Draft, report: &mut Report<'_, Rule>) {
        report.entry = Some(draft.name.value.clone());
        let (name, line) = (&draft.name.value, draft.name.line);
        if BUILT_IN.contains(&name.as_str()) {
            report.add(Rule::DuplicateName, line, "A built-in tool has this name.", "Use another one.");
        }
        if let Some((file, first)) = self.taken.get(name) {
            let text = format!("Another entry has this name: {}:{first}.", file.display());
            return report.add(Rule::DuplicateName, line, text, "Use another one.");
        }
        self.taken.insert(name.clone(), (report.source.path.clone(), line));
    }
}

/// Too few or too many entries, or more of them than a client reads.
fn size_fault(path: &Path, entries: &[Arc<Entry>]) -> Option<Finding> {
    let listed = |entry: &Arc<Entry>| {
        let spec = &entry.spec;
        let schemas = [&spec.input_schema, &spec.output_schema].map(|schema| AsciiJson::of(schema).len());
        schemas.iter().sum::<usize>()
            + AsciiJson::of(&spec.description).len()
            + AsciiJson::of(&spec.title).len()
    };
    let (text, cure) = if entries.is_empty() {
        ("The catalog has no entry.".to_owned(), "Write a [[query]], or unset MCP_CATALOG.")
    } else if entries.len() > MAX_ENTRIES {
        (format!("The catalog has {} entries.", entries.len()), "Keep 1,000: nobody chooses among more.")
    } else if entries.iter().map(listed).sum::<usize>() > MAX_LISTING_BYTES {
        ("Its descriptions and schemas together are too long for tools/list.".to_owned(), "Shorten them.")
    } else {
        return None;
    };
    let place = Place { file: path.to_owned(), line: 1 };
    Some(Finding { rule: Rule::InvalidValue, place, entry: None, text, cure: cure.to_owned() })
}

#[cfg(test)]
mod tests;
