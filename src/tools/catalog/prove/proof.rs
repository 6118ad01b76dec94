//! All rules, one after the other.

use std::collections::BTreeSet;

use super::super::claim::Claim;
use super::super::members::MemberUse;
use super::faults::{Fault, Faults};
use super::placeholders::{self, Placeholder};
use super::walk::walk;
use super::{columns, keys, limit, member_use, names, patterns, rows, searches, tables};
use crate::document::finding::{DocumentRule as _, Severity};
use crate::guard::statement::{Parsed, ReadOnlyStatement};

/// A statement that keeps to its claim.
#[derive(Clone, Debug)]
pub(crate) struct Proven {
    /// The statement. Its canonical text holds `$1`, `$2`, … for the placeholders.
    pub(crate) statement: ReadOnlyStatement,
    /// The meaning of `$1`, `$2`, …; a name that is used twice has one number.
    pub(crate) placeholders: Vec<Placeholder>,
    /// Texts that are searched for, in which white space counts for nothing.
    pub(crate) searches: BTreeSet<String>,
    /// The uses of names that are judged once the database has marked some.
    pub(crate) member_use: MemberUse,
}

/// Proves a claim. Without an error among the faults there is a proof; a warning may stand beside it.
pub(crate) fn prove(claim: &Claim<'_>) -> (Option<Proven>, Vec<Fault>) {
    let mut faults = Faults::new(claim.sql);
    let parsed = match Parsed::with_placeholders(claim.sql) {
        Ok(parsed) => parsed,
        Err(refusal) => {
            faults.refused(&refusal);
            return (None, faults.in_order());
        }
    };
    let statement = parsed.judge(claim.guard).map_err(|refusal| faults.refused(&refusal)).ok();
    let (tree, tokens) = (&parsed.tree, &parsed.tokens);
    let placeholders = placeholders::resolve(claim, tokens, &mut faults);
    names::secrets(claim, tokens, &mut faults);
    names::forms(tokens, &mut faults);
    let found = walk(&parsed, &mut faults);
    rows::check(claim, &found, &mut faults);
    keys::check(claim, &found, &mut faults);
    tables::check(claim, &found.tables, &mut faults);
    let limit = limit::check(claim, tree, tokens, &mut faults);
    patterns::check(claim, &found, limit, &mut faults);
    let searches = searches::check(claim, &found, &mut faults);
    columns::check(claim, tree, tokens, &mut faults);
    let member_use = member_use::collect(claim, &found);
    let faults = faults.in_order();
    if faults.iter().any(|fault| fault.rule.severity() == Severity::Error) {
        return (None, faults);
    }
    (statement.map(|statement| Proven { statement, placeholders, searches, member_use }), faults)
}
