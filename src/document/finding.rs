//! What is wrong with a document: every fault at once, each with its rule, its place and its cure.

use std::{fmt, path::PathBuf};

/// Whether a finding keeps the server from starting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It does.
    Error,
    /// It is told only.
    Warning,
}

/// Where in the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// One fault of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding<R> {
    /// The rule that it breaks; its severity is that of the finding.
    pub rule: R,
    /// Where.
    pub place: Place,
    /// The entry's name, once it is known.
    pub entry: Option<String>,
    /// What is wrong, in a sentence.
    pub text: String,
    /// What to do about it.
    pub cure: String,
}

/// The rules of one kind of document. Three of them every kind has.
pub trait DocumentRule: Copy + Eq + fmt::Display + fmt::Debug {
    /// The file cannot be read, is not TOML, or is of another version.
    const SYNTAX: Self;
    /// A key that the document does not have.
    const UNKNOWN_KEY: Self;
    /// A key that is missing, or a value of the wrong kind.
    const INVALID_VALUE: Self;

    /// Whether breaking it keeps the server from starting.
    fn severity(self) -> Severity;
}

impl<R: DocumentRule> Finding<R> {
    /// That of its rule.
    pub fn severity(&self) -> Severity {
        self.rule.severity()
    }
}

impl<R: DocumentRule> fmt::Display for Finding<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, place: Place { file, line }, entry, text, cure } = self;
        write!(f, "{}:{line}: ", file.display())?;
        if let Some(entry) = entry {
            write!(f, "{entry}: ")?;
        }
        write!(f, "{rule}: {text} {cure}")
    }
}
