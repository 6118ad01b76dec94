//! A password, which nothing shows.

use std::fmt;

/// A password. It is not shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Password(pub(super) String);

impl Password {
    /// The password itself, for the driver.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}
