//! The findings of a file that is being read, each with its line.

use toml::Spanned;

use super::file::Source;
use super::finding::{DocumentRule, Finding, Place};

/// A value and the line on which it stands.
#[derive(Clone, Debug)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) line: usize,
}

/// The findings of one file, collected while it is read.
#[derive(Debug)]
pub(crate) struct Report<'s, R> {
    pub(crate) source: &'s Source,
    /// The name of the entry that is being read.
    pub(crate) entry: Option<String>,
    pub(crate) findings: Vec<Finding<R>>,
}

impl<'s, R: DocumentRule> Report<'s, R> {
    pub(crate) fn new(source: &'s Source) -> Self {
        Self { source, entry: None, findings: Vec::new() }
    }

    pub(crate) fn add(&mut self, rule: R, line: usize, text: impl Into<String>, cure: impl Into<String>) {
        let place = Place { file: self.source.path.clone(), line };
        let (text, cure, entry) = (text.into(), cure.into(), self.entry.clone());
        self.findings.push(Finding { rule, place, entry, text, cure });
    }

    /// Returns the line of a value.
    pub(crate) fn line<T>(&self, value: &Spanned<T>) -> usize {
        self.source.line(value.span().start)
    }
}

/// Reports a value of the wrong kind.
pub(crate) fn wrong<R: DocumentRule>(report: &mut Report<'_, R>, line: usize, key: &str, kind: &str) {
    report.add(
        R::INVALID_VALUE,
        line,
        format!("The value of `{key}` is of the wrong kind."),
        format!("It must be {kind}."),
    );
}
