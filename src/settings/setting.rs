//! One setting: its name, the values that it takes, and its value as written.

use std::ffi::OsString;
use std::fmt;

/// One environment variable.
#[derive(Debug)]
pub struct Setting {
    /// Its name, `MCP_…`.
    pub name: &'static str,
    /// The values that it takes.
    pub kind: Kind,
    /// The allowed values in words, where the kind does not give them.
    pub(super) allowed: &'static str,
    /// Its effect, in a sentence.
    pub doc: &'static str,
}

/// The values that a setting takes.
#[derive(Debug)]
pub enum Kind {
    /// A whole number, both ends allowed.
    Number {
        /// The value when unset.
        default: u64,
        /// The least.
        min: u64,
        /// The most.
        max: u64,
    },
    /// One word of a closed list.
    Word {
        /// The value when unset.
        default: &'static str,
        /// The list.
        allowed: &'static [&'static str],
    },
    /// A path; a relative one starts at the working directory.
    Path {
        /// The value when unset.
        default: &'static str,
    },
    /// Text with a grammar of its own.
    Text,
    /// Text that is never shown.
    Secret,
    /// A promise that this build cannot keep. Setting it is an error: its author relies on it.
    Unsupported,
}

impl Setting {
    /// Describes the value when it is unset.
    pub fn default(&self) -> String {
        match self.kind {
            Kind::Number { default, .. } => default.to_string(),
            Kind::Path { default: "" } | Kind::Text | Kind::Secret | Kind::Unsupported => "unset".to_owned(),
            Kind::Word { default, .. } | Kind::Path { default } => default.to_owned(),
        }
    }

    /// Describes the allowed values.
    pub fn allowed(&self) -> String {
        match self.kind {
            Kind::Number { min, max, .. } => format!("{min} to {max}"),
            Kind::Word { allowed, .. } => allowed.join(", "),
            Kind::Path { .. } | Kind::Text | Kind::Secret | Kind::Unsupported => self.allowed.to_owned(),
        }
    }

    /// Reports whether this build can honour it.
    pub fn is_supported(&self) -> bool {
        !matches!(self.kind, Kind::Unsupported)
    }
}

/// A setting's value as written. Its debug output hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Given(pub(super) OsString);

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Given(…)")
    }
}
