//! Settings for the tests of what is printed.

use std::ffi::OsString;

use crate::settings::Settings;

pub(super) fn settings(vars: &[(&str, &str)]) -> Settings {
    Settings::read(vars.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)))).unwrap()
}
