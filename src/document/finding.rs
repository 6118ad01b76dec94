//! The faults of a document, each with its rule, its place and its cure.

use std::fmt;
use std::path::PathBuf;

/// The weight of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It keeps the server from starting.
    Error,
    /// It is only reported.
    Warning,
}

/// A place in the files.
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
    /// Its place.
    pub place: Place,
    /// The entry's name, once it is known.
    pub entry: Option<String>,
    /// The fault, in a sentence.
    pub text: String,
    /// The remedy, in a sentence.
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

    /// Returns the weight of breaking it.
    fn severity(self) -> Severity;
}

impl<R: DocumentRule> Finding<R> {
    /// Returns the severity of its rule.
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
