//! The part of the environment that a connection string falls back on.

use std::fmt;
use std::path::PathBuf;

/// Values that the environment adds to a DSN. Read by `settings`, never here.
#[derive(Clone, Debug, Default)]
pub struct DsnEnvironment {
    /// `PGPASSWORD`: used when the DSN has no password.
    pub pgpassword: Option<Password>,
    /// `PGPASSFILE`: used when the DSN has no `passfile`.
    pub pgpassfile: Option<PathBuf>,
    /// `HOME`: where `.pgpass` and `.postgresql/root.crt` are looked for.
    pub home: Option<PathBuf>,
    /// The operating system's name of our user: the default of `user`.
    pub user: Option<String>,
}

/// A password. It is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password")
    }
}
