//! The reader of single settings, each by its kind in the table. Faults are kept until all settings were read.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::{self, PathBuf};
use std::time::Duration;

use super::error::{Quoted, SettingError, Wrong};
use super::setting::{Kind, Setting};
use super::{suggest, table};
use crate::postgres::{DsnEnvironment, Password};

/// The environment, from which settings are taken one by one, and the faults that were found.
pub(super) struct Reader {
    pub(super) given: BTreeMap<String, OsString>,
    pub(super) libpq: DsnEnvironment,
    pub(super) errors: Vec<SettingError>,
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
            pgpassword: text("PGPASSWORD").map(Password),
            pgpassfile: text("PGPASSFILE").map(PathBuf::from),
            home: text("HOME").map(PathBuf::from),
            user: text("USER"),
        };
        let warnings = given.keys().filter_map(|name| suggest::warning(name)).collect();
        Self { given, libpq, errors: Vec::new(), warnings }
    }

    /// Reports whether the setting was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// Records a fault.
    pub(super) fn fail(&mut self, name: &'static str, wrong: Wrong) {
        let allowed = table::find(name).map_or_else(String::new, Setting::allowed);
        self.errors.push(SettingError { name, wrong, allowed });
    }

    /// Returns the value, or records its fault.
    pub(super) fn accept<T>(&mut self, name: &'static str, value: Result<T, Wrong>) -> Option<T> {
        value.map_err(|wrong| self.fail(name, wrong)).ok()
    }

    /// Returns the value as text; `None` when it is unset or not text.
    pub(super) fn text(&mut self, name: &'static str) -> Option<String> {
        let value = self.given.get(name)?.clone().into_string();
        self.accept(name, value.map_err(|_| Wrong::NotUtf8))
    }

    /// Returns the text as its own parser reads it; the default when it is unset or refused.
    pub(super) fn parsed<T: Default, E: Display>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> T {
        let text = self.text(name).unwrap_or_default();
        self.accept(name, parse(&text).map_err(Wrong::refused)).unwrap_or_default()
    }

    fn other_kind<T: Default>(&mut self, name: &'static str) -> T {
        self.fail(name, Wrong::OtherKind);
        T::default()
    }

    pub(super) fn number(&mut self, name: &'static str) -> u64 {
        let Some(Kind::Number { default, min, max }) = kind(name) else { return self.other_kind(name) };
        let Some(text) = self.text(name) else { return *default };
        match text.trim().parse() {
            Ok(number) if (*min..=*max).contains(&number) => return number,
            Ok(_) => self.fail(name, Wrong::OutOfRange(Quoted::new(&text))),
            Err(_) => self.fail(name, Wrong::NotNumber(Quoted::new(&text))),
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

    /// Returns a duration. A default above `ceiling` is lowered to it; a given value is not.
    pub(super) fn millis_below(&mut self, name: &'static str, ceiling: Duration) -> Duration {
        let value = self.millis(name);
        if self.has(name) { value } else { value.min(ceiling) }
    }

    pub(super) fn word(&mut self, name: &'static str) -> &'static str {
        let Some(Kind::Word { default, allowed }) = kind(name) else { return self.other_kind(name) };
        let Some(text) = self.text(name) else { return default };
        if let Some(word) = allowed.iter().find(|word| **word == text.trim()) {
            return word;
        }
        self.fail(name, Wrong::NotListed(Quoted::new(&text)));
        default
    }

    pub(super) fn path(&mut self, name: &'static str) -> Option<PathBuf> {
        let Some(Kind::Path { default }) = kind(name) else { return self.other_kind(name) };
        let default = Some(*default).filter(|default| !default.is_empty()).map(PathBuf::from);
        let path = self.given.get(name).map(PathBuf::from).or(default)?;
        self.accept(name, path::absolute(&path).map_err(|error| Wrong::Refused(error.to_string())))
    }
}

fn kind(name: &str) -> Option<&'static Kind> {
    table::find(name).map(|setting| &setting.kind)
}
