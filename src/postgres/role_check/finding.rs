//! A finding about the role, the need that it exceeds, and the setting that decides on it.

use crate::guard::sensitive::SensitiveWords;

/// A fact about the role that an operator should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleFinding {
    /// True if it breaks the read-only promise. Otherwise it is merely more than reading needs.
    pub dangerous: bool,
    /// The fault.
    pub text: String,
    /// The SQL or the setting that mends it.
    pub cure: String,
}

/// The treatment of a role that may do more than read (`MCP_SQL_UNSAFE_ROLE`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnsafeRole {
    /// Dangerous privileges refuse every call.
    #[default]
    Refuse,
    /// They are logged; for a laptop.
    Warn,
    /// Any privilege beyond the need refuses every call.
    Strict,
}

impl UnsafeRole {
    /// Returns whether the finding forbids a call.
    pub(crate) fn refuses(self, finding: &RoleFinding) -> bool {
        match self {
            Self::Refuse => finding.dangerous,
            Self::Warn => false,
            Self::Strict => true,
        }
    }
}

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

/// A name in SQL's double quotes.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_refuses_its_own_findings() {
        let finding = |dangerous| RoleFinding { dangerous, text: String::new(), cure: String::new() };
        for (mode, dangerous, beyond) in [
            (UnsafeRole::Refuse, true, false),
            (UnsafeRole::Warn, false, false),
            (UnsafeRole::Strict, true, true),
        ] {
            assert_eq!(mode.refuses(&finding(true)), dangerous, "{mode:?}");
            assert_eq!(mode.refuses(&finding(false)), beyond, "{mode:?}");
        }
    }
}
