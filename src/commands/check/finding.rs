//! One line of the report.

use serde::Serialize;

use crate::diagnostics::escape;

/// The place of a finding in the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Spot {
    pub(super) file: String,
    pub(super) line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) entry: Option<String>,
    pub(super) rule: &'static str,
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

impl Level {
    /// Makes a finding. Its text may come from outside.
    pub(super) fn about(self, subject: &'static str, text: impl AsRef<str>) -> Finding {
        Finding { level: self, subject, text: escape(text.as_ref()), cure: None, spot: None }
    }
}

impl Finding {
    pub(super) fn cured_by(self, cure: impl AsRef<str>) -> Self {
        Self { cure: Some(escape(cure.as_ref())), ..self }
    }
}
