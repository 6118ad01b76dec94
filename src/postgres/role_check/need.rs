//! The role's need, beyond which every privilege is a finding.

use crate::guard::sensitive::SensitiveWords;

/// The role's need: what it has to read.
#[derive(Clone, Debug, Default)]
pub struct Need {
    /// Every table that it has to read, as SQL names it: those of the catalog, if there are no ad-hoc queries. `None`:
    /// everything that it was granted.
    pub tables: Option<Vec<String>>,
    /// Names of columns that it does not have to read.
    pub words: SensitiveWords,
    /// Columns that it has to read although `words` speaks against them.
    pub waived: Vec<String>,
}
