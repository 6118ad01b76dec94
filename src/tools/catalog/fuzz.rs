//! A catalog's file: every finding points into it and is bounded, and every proven statement is one that the guard
//! accepts.

use std::path::PathBuf;

use super::config::CatalogConfig;
use super::document;
use super::entry::Entry;
use super::rule::Finding;
use crate::document::file::Source;
use crate::document::finding::Severity;
use crate::document::section::Report;
use crate::guard::SensitiveWords;
use crate::guard::config::GuardConfig;
use crate::guard::statement::ReadOnlyStatement;

/// The longest text of a finding, in bytes: names and values are quoted, and cut.
const MAX_FINDING_BYTES: usize = 8_192;

/// Runs the target.
pub fn run(data: &[u8]) {
    let source = Source::new(PathBuf::from("catalog.toml"), String::from_utf8_lossy(data).into_owned());
    let guard = GuardConfig::default();
    let config = CatalogConfig { words: SensitiveWords::default(), guard: &guard, max_rows: 1_000 };
    let mut report = Report::new(&source);
    let document = document::read(&mut report, config.max_rows);
    let tables: Vec<String> = document.tables.into_iter().map(|table| table.value).collect();
    for draft in document.drafts {
        let before = report.findings.len();
        let entry = Entry::new(draft, &tables, &config, &mut report);
        let found = report.findings.get(before..).unwrap_or_default();
        let is_wrong = found.iter().any(|finding| finding.severity() == Severity::Error);
        assert!(entry.is_some() || is_wrong || before > 0, "an entry without a finding is missing");
        if let Some(entry) = entry.filter(|_| !is_wrong) {
            assert!(entry.placeholders.len() == entry.fixed.types.len() && !entry.columns.is_empty());
            let canonical = entry.fixed.statement.canonical();
            let is_query = entry.placeholders.is_empty();
            assert!(!is_query || ReadOnlyStatement::parse(canonical, &guard).is_ok(), "{canonical}");
        }
    }
    let lines = source.text.split('\n').count();
    report.findings.iter().for_each(|finding| check_finding(finding, lines));
}

fn check_finding(finding: &Finding, lines: usize) {
    let text = finding.to_string();
    assert!((1..=lines).contains(&finding.place.line), "{text}");
    assert!(text.len() <= MAX_FINDING_BYTES, "{text}");
}
