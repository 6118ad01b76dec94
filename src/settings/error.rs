//! A setting that is wrong, and the situations in which it is.

use std::fmt;
use std::path::Path;

use crate::diagnostics::escape;

/// A setting is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingError {
    /// The setting.
    pub name: &'static str,
    /// The fault, without the value of a secret.
    pub wrong: Wrong,
    /// The allowed values, in words.
    pub allowed: String,
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; allowed: {}", self.name, self.wrong, self.allowed)
    }
}

/// The fault of a setting. The text continues a sentence that begins with the setting's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// The value is not text.
    #[error("is not UTF-8")]
    NotUtf8,
    /// The value does not parse as a number.
    #[error("{0} is not a whole number")]
    NotNumber(Quoted),
    /// The number lies beyond its bounds.
    #[error("{0} is out of range")]
    OutOfRange(Quoted),
    /// The word is not in the closed list.
    #[error("{0} is not one of the words")]
    NotListed(Quoted),
    /// The setting is not of the kind that it is read as: a fault of this program.
    #[error("is of another kind in the table of settings")]
    OtherKind,
    /// This build cannot honour the setting.
    #[error("is set, and this build would not keep what it promises")]
    Unsupported,
    /// The log would go to the client.
    #[error("is stdin or stdout, on which the client speaks")]
    ClientStream,
    /// There are two connection strings.
    #[error("is set, and so is MCP_SQL_DSN: which of the two holds is unclear")]
    SecondDsn,
    /// The file of the connection string is empty.
    #[error("names an empty file")]
    EmptyFile,
    /// The system refused an access to the path.
    #[error("cannot {0} {1}: {2}")]
    Io(&'static str, Quoted, String),
    /// The directory would show the process's own environment.
    #[error("{0} holds /proc, which tells the connection string and other secrets")]
    HoldsProc(Quoted),
    /// The kernel's list of mounts, which shows that the directory holds no `/proc`, is not there.
    #[error("{0} cannot be judged without /proc; mount it there (`mount -t proc proc /proc`)")]
    NoProc(Quoted),
    /// The catalog has faults, which are reported one by one besides.
    #[error("{0} has {1} {noun}", noun = if *.1 == 1 { "fault" } else { "faults" })]
    Catalog(Quoted, usize),
    /// A parser of the setting's own grammar refused the value; the text is safe to show.
    #[error("{0}")]
    Refused(String),
}

impl Wrong {
    /// The system refused to do something with the path.
    pub(super) fn io(verb: &'static str, path: &Path, error: impl fmt::Display) -> Self {
        Self::Io(verb, Quoted::path(path), error.to_string())
    }

    /// The parser of the setting's own grammar refused the value.
    pub(super) fn refused(error: impl fmt::Display) -> Self {
        Self::Refused(escape(&error.to_string()))
    }
}

/// The beginning of a value that is not a secret, escaped and in quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quoted(String);

impl Quoted {
    pub(super) fn new(value: &str) -> Self {
        const MAX_CHARS: usize = 64;
        let start: String = value.chars().take(MAX_CHARS).collect();
        let mark = if start.len() < value.len() { "…" } else { "" };
        Self(format!("'{}{mark}'", escape(&start)))
    }

    pub(super) fn path(path: &Path) -> Self {
        Self::new(&path.to_string_lossy())
    }
}

impl fmt::Display for Quoted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
