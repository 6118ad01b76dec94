//! One line of the report.

use serde::Serialize;

/// The place of a finding in the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Spot {
    pub(super) file: String,
    pub(super) line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) entry: Option<String>,
    pub(super) rule: &'static str,
}

impl Spot {
    /// The part that findings of one group share.
    pub(super) fn group(&self) -> (&str, Option<&str>) {
        (&self.file, self.entry.as_deref())
    }
}

/// The state of one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    /// As it should be.
    Ok,
    /// Not switched on.
    Off,
    /// Works, and should be looked at.
    Warn,
    /// Does not work.
    Fail,
}

/// One line of the report.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) level: Level,
    pub(super) subject: &'static str,
    pub(super) text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cure: Option<String>,
    #[serde(flatten)]
    pub(super) spot: Option<Spot>,
}

impl Finding {
    pub(super) fn new(level: Level, subject: &'static str, text: impl Into<String>) -> Self {
        Self { level, subject, text: text.into(), cure: None, spot: None }
    }

    pub(super) fn cured_by(self, cure: impl Into<String>) -> Self {
        Self { cure: Some(cure.into()), ..self }
    }
}
