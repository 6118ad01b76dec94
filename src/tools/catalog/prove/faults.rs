//! Faults, each one once, in the order of the text.

use std::fmt::Display;

use super::super::diagnoses::Diagnosis;
use super::super::rule::Rule;
use crate::guard::position::{Position, position_in};
use crate::guard::refusal::{Reason, Refusal};

/// A rule that the statement breaks. Its place is relative to the SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) rule: Rule,
    pub(crate) at: Option<Position>,
    pub(crate) text: String,
    pub(crate) cure: String,
}

pub(super) struct Faults<'s> {
    sql: &'s str,
    /// With the byte of the text where each stands.
    found: Vec<(Option<usize>, Fault)>,
}

impl<'s> Faults<'s> {
    pub(super) const fn new(sql: &'s str) -> Self {
        Self { sql, found: Vec::new() }
    }

    /// Adds a fault at byte `at`, or of the statement as a whole. A rule reports a place once.
    pub(super) fn add(&mut self, diagnosis: &Diagnosis, at: Option<usize>, facts: &[&dyn Display]) {
        let [text, cure] = diagnosis.with(facts);
        self.insert(diagnosis.rule, at, text, cure);
    }

    fn insert(&mut self, rule: Rule, at: Option<usize>, text: String, cure: String) {
        let known = |(place, fault): &(Option<usize>, Fault)| {
            fault.rule == rule && *place == at && (at.is_some() || fault.text == text)
        };
        if !self.found.iter().any(known) {
            let position = at.map(|at| position_in(self.sql, at));
            self.found.push((at, Fault { rule, at: position, text, cure }));
        }
    }

    pub(super) fn has(&self, rule: Rule) -> bool {
        self.found.iter().any(|(_, fault)| fault.rule == rule)
    }

    /// Adds a refusal of the guard. Its sentence holds the cure, behind a semicolon.
    pub(super) fn refused(&mut self, refusal: &Refusal) {
        let (rule, cure) = match refusal.reason {
            Reason::Function => (Rule::ForbiddenFunction, "Call what ad-hoc queries may call."),
            Reason::Statement => (Rule::NotSelect, "Write a SELECT."),
            Reason::Write => (Rule::WriteKeyword, "Write a SELECT that only reads."),
            Reason::SecondStatement => (Rule::MultiStatement, "Keep one statement an entry."),
            Reason::Construct => (Rule::ForbiddenConstruct, "Write it in another way."),
        };
        // A second statement is no matter of calls here, and what the parser expects is no cure.
        let own = refusal
            .detail
            .split_once("; ")
            .filter(|(_, cure)| rule != Rule::MultiStatement && !cure.starts_with("expected "));
        let (text, cure) = own.map_or_else(
            || (refusal.detail.clone(), cure.to_owned()),
            |(text, cure)| (format!("{text}."), capitalized(cure)),
        );
        self.insert(rule, Some(refusal.at), text, cure);
    }

    pub(super) fn in_order(mut self) -> Vec<Fault> {
        self.found.sort_by_key(|(at, _)| *at);
        self.found.into_iter().map(|(_, fault)| fault).collect()
    }
}

fn capitalized(sentence: &str) -> String {
    let mut characters = sentence.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}
