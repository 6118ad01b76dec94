//! Settings taken one by one, each by its kind in the table; what is wrong is kept until all were read.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt,
    path::{self, PathBuf},
    time::Duration,
};

use crate::{
    diagnostics::escape,
    postgres::DsnEnvironment,
    settings::{
        near_miss,
        table::{Kind, Setting},
    },
};

/// One setting that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The setting.
    pub name: &'static str,
    /// What is wrong, without the value of a secret.
    pub wrong: String,
    /// What is allowed.
    pub allowed: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; allowed: {}", self.name, self.wrong, self.allowed)
    }
}

/// Takes settings one by one and keeps what is wrong with them.
pub(super) struct Reader {
    pub(super) given: BTreeMap<String, OsString>,
    pub(super) libpq: DsnEnvironment,
    pub(super) complaints: Vec<Complaint>,
    pub(super) warnings: Vec<String>,
}

impl Reader {
    pub(super) fn new(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut given: BTreeMap<String, OsString> = vars
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .collect();
        let mut text = |name: &str| given.remove(name).and_then(|value| value.into_string().ok());
        let libpq = DsnEnvironment {
            pgpassword: text("PGPASSWORD"),
            pgpassfile: text("PGPASSFILE").map(PathBuf::from),
            home: text("HOME").map(PathBuf::from),
            user: text("USER"),
        };
        let warnings = given.keys().filter_map(|name| near_miss::warning(name)).collect();
        Self { given, libpq, complaints: Vec::new(), warnings }
    }

    pub(super) fn complain(&mut self, name: &'static str, wrong: impl Into<String>) {
        let allowed = Setting::find(name).map_or_else(String::new, Setting::allowed);
        self.complaints.push(Complaint { name, wrong: wrong.into(), allowed });
    }

    /// The value as text; none when unset or not text.
    pub(super) fn text(&mut self, name: &'static str) -> Option<String> {
        let value = self.given.get(name)?.clone().into_string();
        if value.is_err() {
            self.complain(name, "is not UTF-8");
        }
        value.ok()
    }

    pub(super) fn number(&mut self, name: &'static str) -> u64 {
        let Some(Kind::Number { default, min, max }) = Setting::find(name).map(|setting| &setting.kind)
        else {
            self.complain(name, "is no number in the table of settings");
            return 0;
        };
        let Some(text) = self.text(name) else { return *default };
        match text.trim().parse() {
            Ok(number) if (*min..=*max).contains(&number) => return number,
            Ok(_) => self.complain(name, format!("{} is out of range", shown(&text))),
            Err(_) => self.complain(name, format!("{} is not a whole number", shown(&text))),
        }
        *default
    }

    pub(super) fn size(&mut self, name: &'static str) -> usize {
        usize::try_from(self.number(name)).unwrap_or(usize::MAX)
    }

    pub(super) fn small(&mut self, name: &'static str) -> u32 {
        u32::try_from(self.number(name)).unwrap_or(u32::MAX)
    }

    pub(super) fn millis(&mut self, name: &'static str) -> Duration {
        Duration::from_millis(self.number(name))
    }

    /// The same, but a default above a lowered `ceiling` follows it down.
    pub(super) fn millis_below(&mut self, name: &'static str, ceiling: Duration) -> Duration {
        let value = self.millis(name);
        if self.given.contains_key(name) { value } else { value.min(ceiling) }
    }

    pub(super) fn word(&mut self, name: &'static str) -> &'static str {
        let Some(Kind::Word { default, allowed }) = Setting::find(name).map(|setting| &setting.kind) else {
            self.complain(name, "is no word in the table of settings");
            return "";
        };
        let Some(text) = self.text(name) else { return default };
        if let Some(word) = allowed.iter().find(|word| **word == text.trim()) {
            return word;
        }
        self.complain(name, format!("{} is not one of the words", shown(&text)));
        default
    }

    pub(super) fn path(&mut self, name: &'static str) -> Option<PathBuf> {
        let Some(Kind::Path { default, .. }) = Setting::find(name).map(|setting| &setting.kind) else {
            self.complain(name, "is no path in the table of settings");
            return None;
        };
        let default = Some(*default).filter(|default| !default.is_empty()).map(PathBuf::from);
        let path = self.given.get(name).map(PathBuf::from).or(default)?;
        path::absolute(&path).map_err(|error| self.complain(name, error.to_string())).ok()
    }
}

/// A value that is no secret, as a complaint shows it.
pub(super) fn shown(value: &str) -> String {
    const MAX_CHARS: usize = 64;
    let start: String = value.chars().take(MAX_CHARS).collect();
    let mark = if start.len() < value.len() { "…" } else { "" };
    format!("'{}{mark}'", escape(&start))
}
