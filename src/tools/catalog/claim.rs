//! The claim of an entry: what it declares, and what its statement has to keep to.

use std::collections::BTreeMap;

use super::params::Param;
use crate::guard::SensitiveWords;
use crate::guard::config::GuardConfig;

/// The declarations of an entry.
#[derive(Clone, Debug)]
pub(super) struct Claim<'a> {
    /// The statement as written, with `:name` for each parameter.
    pub(super) sql: &'a str,
    /// Every table that the catalog may read, as written: `name` or `schema.name`.
    pub(super) catalog_tables: &'a [String],
    /// The entry's own tables.
    pub(super) tables: &'a [String],
    /// The columns of the output, in order.
    pub(super) columns: &'a [String],
    /// Its parameters, in order, also those that are wrong.
    pub(super) params: &'a [Param],
    /// Names that the words would refuse, and the written reason why this entry may use them.
    pub(super) waived: &'a BTreeMap<String, String>,
    pub(super) words: &'a SensitiveWords,
    pub(super) guard: &'a GuardConfig,
}

impl<'a> Claim<'a> {
    /// Returns the parameter of this name.
    pub(super) fn param(&self, name: &str) -> Option<&'a Param> {
        self.params.iter().find(|param| param.name == name)
    }
}
