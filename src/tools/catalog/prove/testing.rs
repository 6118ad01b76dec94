//! Claims in the making, for the tests of the rules: what breaks a rule and only it, and the nearest that does not.

use std::collections::BTreeMap;

use serde_json::json;

use super::super::claim::Claim;
use super::super::kinds::{Kind, Scalar};
use super::super::params::{Match, Param};
use super::super::rule::Rule;
use super::faults::Fault;
use super::proof::{Proven, prove};
use crate::document::finding::{DocumentRule as _, Severity};
use crate::guard::{GuardConfig, SensitiveWords};

/// A claim in the making. Unless set otherwise it reads `people` and gives `full_name`.
#[derive(Clone)]
pub(super) struct Case {
    pub(super) sql: String,
    tables: Vec<String>,
    columns: Vec<String>,
    /// As [`param`] reads them.
    params: Vec<&'static str>,
    waived: BTreeMap<String, String>,
    guard: GuardConfig,
}

pub(super) fn list(text: &str) -> Vec<String> {
    text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A parameter as the tables of cases write it: `#` for a number, `~` for one with `match`, `?` for an optional one, `.` for a
/// text that may be empty, `[]` for a list that may.
pub(super) fn param(spec: &str) -> Param {
    let scalar = if spec.contains('#') { Scalar::Number } else { Scalar::String };
    let schema = if spec.contains(['.', '#', '[']) { json!({}) } else { json!({ "minLength": 1 }) };
    let schema = schema.as_object().cloned().unwrap_or_default();
    let kind = Kind { scalar, is_list: spec.contains('['), schema };
    Param {
        name: spec.trim_end_matches(['#', '~', '?', '.', '[', ']']).to_owned(),
        matching: spec.contains('~').then_some(Match::Contains),
        kind: Some(kind),
        optional: spec.contains('?'),
        ..Param::default()
    }
}

/// A statement; without ORDER BY and LIMIT it gets both.
pub(super) fn case(sql: &str) -> Case {
    let tail = if sql.contains("LIMIT") { "" } else { " ORDER BY 1 LIMIT 9" };
    Case {
        sql: format!("{sql}{tail}"),
        tables: list("people"),
        columns: list("full_name"),
        params: Vec::new(),
        waived: BTreeMap::new(),
        guard: GuardConfig::default(),
    }
}

/// `SELECT full_name FROM people WHERE …`
pub(super) fn filter(condition: &str) -> Case {
    case(&format!("SELECT full_name FROM people p WHERE {condition}"))
}

impl Case {
    pub(super) fn tables(self, tables: &str) -> Self {
        Self { tables: list(tables), ..self }
    }

    pub(super) fn columns(self, columns: &str) -> Self {
        Self { columns: list(columns), ..self }
    }

    pub(super) fn params(self, params: &'static str) -> Self {
        Self { params: params.split(' ').collect(), ..self }
    }

    pub(super) fn waive(mut self, name: &str, reason: &str) -> Self {
        self.waived.insert(name.to_owned(), reason.to_owned());
        self
    }

    pub(super) fn guard(self, list: &str) -> Self {
        Self { guard: GuardConfig::parse(list).unwrap(), ..self }
    }

    pub(super) fn prove(&self) -> (Option<Proven>, Vec<Fault>) {
        let params: Vec<Param> = self.params.iter().map(|spec| param(spec)).collect();
        prove(&Claim {
            sql: &self.sql,
            catalog_tables: &list("people sites devices hr.people columns"),
            tables: &self.tables,
            columns: &self.columns,
            params: &params,
            waived: &self.waived,
            words: &SensitiveWords::parse("iban").unwrap(),
            guard: &self.guard,
        })
    }
}

/// Describes an outcome that is not the expected one.
fn wrong(case: &Case, expected: &[Rule]) -> Option<String> {
    let (proven, faults) = case.prove();
    let mut rules: Vec<Rule> = faults.iter().map(|fault| fault.rule).collect();
    rules.dedup();
    let refused = faults.iter().any(|fault| fault.rule.severity() == Severity::Error);
    let reads_well = |sentence: &String| {
        sentence.ends_with('.') && sentence.len() < 300 && !sentence.starts_with(char::is_lowercase)
    };
    let read_well = faults.iter().all(|fault| reads_well(&fault.text) && reads_well(&fault.cure));
    let right = rules == expected && proven.is_none() == refused && read_well;
    (!right).then(|| format!("{}\n  {faults:#?}", case.sql))
}

#[track_caller]
fn check(cases: &[Case], expected: &[Rule]) {
    let wrong: Vec<String> = cases.iter().filter_map(|case| wrong(case, expected)).collect();
    assert!(wrong.is_empty(), "not {expected:?}:\n{}", wrong.join("\n"));
}

#[track_caller]
pub(super) fn refused(rule: Rule, cases: &[Case]) {
    check(cases, &[rule]);
}

#[track_caller]
pub(super) fn proven(cases: &[Case]) {
    check(cases, &[]);
}
