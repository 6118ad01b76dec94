//! All settings, checked together.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::path::{self, PathBuf};

use log::LevelFilter;

use super::error::{SettingError, Wrong};
use super::process::Files;
use super::reader::Reader;
use super::setting::{Given, Kind, Setting};
use super::{database, process, table};
use crate::confine::{self, Needs};
use crate::guard::config::GuardConfig;
use crate::guard::sensitive::SensitiveWords;
use crate::postgres::{Need, SqlConfig};
use crate::tools::catalog::{self, Catalog};
use crate::tools::metrics;
use crate::{diagnostics, server};

/// Every setting, checked.
#[derive(Debug)]
pub struct Settings {
    /// `MCP_LOG_LEVEL`.
    pub log_level: LevelFilter,
    /// `MCP_LOG_FILE`, open, or stderr.
    pub log_target: diagnostics::Target,
    /// `MCP_CONFINE`.
    pub confine: confine::Mode,
    /// The threads and their bounds.
    pub server: server::Config,
    /// The database, if there is one.
    pub sql: Option<SqlConfig>,
    /// `MCP_SQL_ADHOC`: clients may write queries of their own.
    pub sql_adhoc: bool,
    /// `MCP_CATALOG`, proven.
    pub catalog: Option<Catalog>,
    /// Arguments that are dropped (`MCP_IGNORE_ARGUMENTS`).
    pub ignored_arguments: Vec<String>,
    /// Names that hold secrets (`MCP_SENSITIVE_WORDS`).
    pub sensitive_words: SensitiveWords,
    /// The directory of files, if there is one.
    pub files: Option<Files>,
    /// The path whose file system `system_metrics` reports; `None` when it is switched off.
    pub metrics_disk_path: Option<PathBuf>,
    /// `PGPASSWORD` was given.
    pub has_pgpassword: bool,
    /// `PGPASSFILE`, if it was given.
    pub passfile: Option<PathBuf>,
    /// Likely mistakes that are not errors, one line each.
    pub warnings: Vec<String>,
    /// The known settings that were given, in the table's order.
    pub given: Vec<(&'static Setting, Given)>,
}

/// The environment is wrong.
#[derive(Debug)]
pub struct Misconfigured {
    /// Every setting that is wrong, in the table's order; at least one.
    pub errors: Vec<SettingError>,
    /// The findings of the catalog; its setting is among the errors then.
    pub catalog: Vec<catalog::Finding>,
    /// Likely mistakes besides.
    pub warnings: Vec<String>,
    /// The log, which takes the errors when stderr is the client's.
    pub log_target: diagnostics::Target,
}

impl Settings {
    /// Reads an environment. Touches no more than the files that it names.
    ///
    /// # Errors
    /// Every setting that is wrong.
    pub fn read(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Result<Self, Misconfigured> {
        let mut reader = Reader::new(vars);
        for setting in table::ALL.iter().filter(|setting| !setting.is_supported()) {
            if reader.has(setting.name) {
                reader.fail(setting.name, Wrong::Unsupported);
            }
        }
        let server = process::server(&mut reader);
        let guard = reader.parsed("MCP_SQL_ALLOW_FUNCTIONS", GuardConfig::parse);
        let max_rows = reader.small("MCP_SQL_MAX_ROWS");
        let words = reader.parsed("MCP_SENSITIVE_WORDS", SensitiveWords::parse);
        let (catalog, findings) = database::catalog(&mut reader, &guard, max_rows, words.clone());
        let sql_adhoc = database::sql_adhoc(&mut reader);
        let need = Need {
            // Ad-hoc queries may read every table that the role may.
            tables: catalog.as_ref().filter(|_| !sql_adhoc).map(|catalog| catalog.tables.clone()),
            waived: catalog.as_ref().map(Catalog::waived).unwrap_or_default(),
            words: words.clone(),
        };
        let ignored_arguments = process::ignored_arguments(&mut reader, catalog.as_ref());
        let settings = Self {
            ignored_arguments,
            log_level: process::log_level(&mut reader),
            log_target: process::log_target(&mut reader),
            sql: database::sql(&mut reader, &server, guard, max_rows, need),
            confine: process::confine(&mut reader),
            sql_adhoc,
            catalog,
            sensitive_words: words,
            files: process::files(&mut reader),
            metrics_disk_path: process::metrics_disk_path(&mut reader),
            server,
            has_pgpassword: reader.libpq.pgpassword.is_some(),
            passfile: reader.libpq.pgpassfile.clone(),
            warnings: Vec::new(),
            given: Vec::new(),
        };
        let Reader { mut given, mut errors, warnings, .. } = reader;
        if !errors.is_empty() {
            errors.sort_by_key(|error| table::ALL.iter().position(|setting| setting.name == error.name));
            let log_target = settings.log_target;
            return Err(Misconfigured { errors, catalog: findings, warnings, log_target });
        }
        let given =
            table::ALL.iter().filter_map(|setting| Some((setting, Given(given.remove(setting.name)?))));
        Ok(Self { warnings, given: given.collect(), ..settings })
    }

    /// Lists the given settings with their values as text, paths absolute, secrets included.
    ///
    /// # Errors
    /// A value is not UTF-8.
    pub fn portable(&self) -> io::Result<Vec<(&'static Setting, String)>> {
        let text = |(setting, Given(value)): &(&'static Setting, Given)| {
            let is_path = matches!(setting.kind, Kind::Path { .. });
            let value = if is_path { path::absolute(value)?.into_os_string() } else { value.clone() };
            let not_text = |_| io::Error::other(format!("{} is not UTF-8", setting.name));
            Ok((*setting, value.into_string().map_err(not_text)?))
        };
        self.given.iter().map(text).collect()
    }

    /// Reports whether the database's password stands in a variable that is not passed on.
    pub fn needs_pgpassword(&self) -> bool {
        self.has_pgpassword && self.sql.as_ref().is_some_and(|sql| !sql.dsn.has_password())
    }

    /// Reports whether there is a tool that asks the database.
    pub fn uses_sql(&self) -> bool {
        self.sql.is_some() && (self.sql_adhoc || self.catalog.is_some())
    }

    /// Lists the resources that a server with these settings has to reach once it is confined.
    ///
    /// # Errors
    /// No free descriptor is left.
    pub fn needs(&self) -> io::Result<Needs> {
        let sql = self.sql.as_ref().filter(|_| self.uses_sql());
        Ok(Needs {
            data_root: self
                .files
                .as_ref()
                .map(|files| files.root.as_fd().try_clone_to_owned())
                .transpose()?,
            files: self.metrics_disk_path.as_ref().map_or_else(Vec::new, |_| metrics::host_files()),
            tcp_ports: sql.into_iter().flat_map(|sql| sql.dsn.tcp()).map(|(_, port)| port).collect(),
            names: sql.is_some_and(|sql| sql.dsn.tcp().any(|(address, _)| address.is_none())),
            descriptors: self.server.descriptors().saturating_add(sql.map_or(0, SqlConfig::descriptors)),
        })
    }
}
