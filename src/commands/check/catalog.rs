//! The catalog's part of the report: its faults with their places, and each entry's run on the database.

use std::sync::Arc;

use super::finding::{Finding, Level, Spot};
use crate::diagnostics::escape;
use crate::document::finding::{DocumentRule as _, Severity};
use crate::postgres::Database;
use crate::tools::catalog::{self, Catalog, Examination, Ran, Sound};

const SUBJECT: &str = "catalog";

/// One of the catalog's own findings.
pub(super) fn finding(finding: &catalog::Finding) -> Finding {
    let catalog::Finding { rule, place, entry, text, cure } = finding;
    let level = match rule.severity() {
        Severity::Error => Level::Fail,
        Severity::Warning => Level::Warn,
    };
    let spot = Spot {
        file: escape(&place.file.display().to_string()),
        line: place.line,
        entry: entry.as_deref().map(escape),
        rule: rule.name(),
    };
    Finding { spot: Some(spot), ..Finding::new(level, SUBJECT, escape(text)).cured_by(escape(cure)) }
}

/// A catalog without faults.
pub(super) fn summary(catalog: &Catalog) -> Vec<Finding> {
    let noun = if catalog.len() == 1 { "entry" } else { "entries" };
    let proven = Finding::new(Level::Ok, SUBJECT, format!("{} {noun}, every one proven", catalog.len()));
    let warnings = catalog.warnings().iter().map(finding);
    std::iter::once(proven).chain(warnings).collect()
}

/// Runs each entry on a database that can be reached.
pub(super) fn on_database(catalog: &Catalog, database: &Arc<Database>) -> Vec<Finding> {
    match catalog.examine(database) {
        Ok(examinations) => examinations.into_iter().flat_map(examined).collect(),
        Err(why) => {
            vec![Finding::new(
                Level::Fail,
                SUBJECT,
                format!("no entry can be run: {}", escape(&why.to_string())),
            )]
        }
    }
}

fn examined(examination: Examination) -> Vec<Finding> {
    let Examination { entry, waived, outcome } = examination;
    let mut findings = vec![match outcome {
        Ok(sound) => sound_entry(&entry, sound),
        Err(why) => Finding::new(Level::Fail, SUBJECT, format!("{entry}: {}", escape(&why.to_string())))
            .cured_by("change the entry, its columns or the role's grants"),
    }];
    findings.extend(waived.into_iter().map(|(name, why)| {
        Finding::new(Level::Ok, SUBJECT, format!("{entry}: may use {}: {}", escape(&name), escape(&why)))
    }));
    findings
}

fn sound_entry(entry: &str, Sound { cost, ran, types }: Sound) -> Finding {
    let cost = cost.map_or_else(String::new, |cost| format!(", plan cost {cost:.2}"));
    let finding = match ran {
        Some(Ran { rows, has_more, took }) => {
            let more = if has_more { " and more" } else { "" };
            let noun = if rows == 1 { "row" } else { "rows" };
            let took = took.as_secs_f64() * 1000.0;
            let text = format!("{entry}: its example brings {rows} {noun}{more} in {took:.1} ms{cost}");
            Finding::new(Level::Ok, SUBJECT, text)
        }
        None => {
            let unplanned = if cost.is_empty() { ", without which it cannot be planned" } else { "" };
            let text = format!("{entry}: prepares, and has no example to run{unplanned}{cost}");
            return Finding::new(Level::Warn, SUBJECT, text).cured_by("write example = { … }");
        }
    };
    match types {
        Some(types) => finding.cured_by(format!("could say {types}")),
        None => finding,
    }
}
