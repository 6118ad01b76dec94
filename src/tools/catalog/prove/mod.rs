//! The proof that an entry's statement reads no more than the entry declares. On the syntax tree and on tokens, never by
//! regular expressions; what cannot be verified is refused. Pure.
//!
//! ```text
//! :name ─ lexer ─▶ tokens ─ placeholders, names ─┐
//!                    └─ parser ─▶ tree ─ walk ───┼─▶ every Fault, or Proven
//!                                  └─ the guard ─┘
//! ```
//! The walk also gathers of which values text is made (`flow`), and they are followed to the columns that they come from
//! (`trace`); of which types these are, the database tells later (`members`). The guard of ad-hoc queries holds here too;
//! these rules come on top of it. What the parser is shown in another form than it is written (`judge::view`) is looked at
//! on the tokens.

mod placeholders;
mod names;
mod walk;
mod scope;
mod from;
mod tables;
mod rows;
mod keys;
mod calls;
mod flow;
mod trace;
mod patterns;
mod limit;
mod columns;
mod output;
mod parts;
mod faults;

use std::collections::BTreeMap;

use super::{Rule, members::Needs, params::Match};
use crate::{
    document::finding::{DocumentRule as _, Severity},
    guard::{
        SensitiveWords,
        statement::{GuardConfig, Parsed, Position, ReadOnlyStatement},
    },
};

use faults::Faults;

/// What an entry declares, which its statement has to keep to.
#[derive(Clone, Debug)]
pub(super) struct Claim<'a> {
    /// The statement as written, with `:name` for each parameter.
    pub(super) sql: &'a str,
    /// Every table that the catalog may touch, as written: `name` or `schema.name`.
    pub(super) catalog_tables: &'a [String],
    /// The entry's own.
    pub(super) tables: &'a [String],
    /// The output's columns, in order.
    pub(super) columns: &'a [String],
    /// Its parameters, in order.
    pub(super) params: &'a [ParamClaim],
    /// Names that the words would refuse, and the written reason why this entry may use them.
    pub(super) waived: &'a BTreeMap<String, String>,
    pub(super) words: &'a SensitiveWords,
    pub(super) guard: &'a GuardConfig,
}

/// What the statement may rely on of a parameter, also of one that is wrong otherwise.
#[derive(Clone, Debug)]
pub(super) struct ParamClaim {
    pub(super) name: String,
    pub(super) matching: Option<Match>,
    /// Whether it is a number or a list of numbers, which no pattern can hide in.
    pub(super) numeric: bool,
    /// Whether it may be NULL: `optional = true`.
    pub(super) optional: bool,
}

/// A statement that keeps to its claim.
#[derive(Clone, Debug)]
pub(super) struct Proven {
    /// Its canonical text holds `$1`, `$2`, … for the placeholders.
    pub(super) statement: ReadOnlyStatement,
    /// What `$1`, `$2`, … stand for; a name that is used twice has one number.
    pub(super) placeholders: Vec<Placeholder>,
    /// What the database has to say of the types of what it reads.
    pub(super) needs: Needs,
}

/// What a placeholder is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placeholder {
    /// The parameter of this index in the claim.
    Param(usize),
    /// `:limit`, the parameter of this index: bound to one more than the argument.
    Limit(usize),
    /// `:caller`, the caller's identity.
    Caller,
    /// `:tenant`, the caller's tenant.
    Tenant,
}

/// A rule that the statement breaks. Its place is relative to the SQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) rule: Rule,
    pub(super) at: Option<Position>,
    pub(super) text: String,
    pub(super) cure: String,
}

/// The outcome: without an error among the faults there is a proof; a warning may stand beside it.
pub(super) fn prove(claim: &Claim<'_>) -> (Option<Proven>, Vec<Fault>) {
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
    let mut gathered = walk::walk(claim, &parsed, &mut faults);
    tables::check(claim, &gathered.tables, &mut faults);
    limit::check(claim, tree, tokens, &mut gathered, &mut faults);
    patterns::check(claim, tokens, &mut gathered, &mut faults);
    columns::check(claim, tree, tokens, &mut faults);
    let faults = faults.in_order();
    if faults.iter().any(|fault| fault.rule.severity() == Severity::Error) {
        return (None, faults);
    }
    (statement.map(|statement| Proven { statement, placeholders, needs: gathered.needs }), faults)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod against_postgresql;
