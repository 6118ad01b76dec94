//! The catalog's part of the report: its faults with their places, and each entry's run on the database.

use std::iter;
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
    let file = escape(&place.file.display().to_string());
    let spot = Spot { file, line: place.line, entry: entry.as_deref().map(escape), rule: rule.name() };
    Finding { spot: Some(spot), ..level.about(SUBJECT, text).cured_by(cure) }
}

/// A catalog without faults.
pub(super) fn summary(catalog: &Catalog) -> Vec<Finding> {
    let noun = if catalog.count() == 1 { "entry" } else { "entries" };
    let proven = Level::Ok.about(SUBJECT, format!("{} {noun}, every one proven", catalog.count()));
    iter::once(proven).chain(catalog.warnings.iter().map(finding)).collect()
}

/// Runs each entry on a database that can be reached.
pub(super) fn on_database(catalog: &Catalog, database: &Arc<Database>) -> Vec<Finding> {
    match catalog.examine(database) {
        Ok(examinations) => examinations.into_iter().flat_map(examined).collect(),
        Err(why) => vec![Level::Fail.about(SUBJECT, format!("no entry can be run: {why}"))],
    }
}

fn examined(Examination { entry, waived, outcome }: Examination) -> Vec<Finding> {
    let outcome = match outcome {
        Ok(sound) => sound_entry(&entry, sound),
        Err(why) => Level::Fail
            .about(SUBJECT, format!("{entry}: {why}"))
            .cured_by("change the entry, its columns or the role's grants"),
    };
    let waiver = |(name, why)| Level::Ok.about(SUBJECT, format!("{entry}: may use {name}: {why}"));
    iter::once(outcome).chain(waived.into_iter().map(waiver)).collect()
}

fn sound_entry(entry: &str, Sound { cost, ran, types }: Sound) -> Finding {
    let cost = cost.map_or_else(String::new, |cost| format!(", plan cost {cost:.2}"));
    let Some(Ran { rows, has_more, took }) = ran else {
        let unplanned = if cost.is_empty() { ", without which it cannot be planned" } else { "" };
        let text = format!("{entry}: prepares, and has no example to run{unplanned}{cost}");
        return Level::Warn.about(SUBJECT, text).cured_by("write example = { … }");
    };
    let more = if has_more { " and more" } else { "" };
    let noun = if rows == 1 { "row" } else { "rows" };
    let took = took.as_secs_f64() * 1000.0;
    let text = format!("{entry}: its example brings {rows} {noun}{more} in {took:.1} ms{cost}");
    let finding = Level::Ok.about(SUBJECT, text);
    match types {
        Some(types) => finding.cured_by(format!("could say {types}")),
        None => finding,
    }
}
