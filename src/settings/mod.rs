//! The environment as written to checked settings: read once, all errors at once, secrets never shown.
//!
//! A setting that cannot be honoured is an error, never a silent default: whoever wrote it relies on it.

pub mod table;
mod near_miss;
mod reader;
mod dsn_file;
mod database;

use std::{ffi::OsString, fmt, fs, io, os::fd::AsFd, path::PathBuf};

use log::LevelFilter;

pub use self::reader::Complaint;
use crate::{
    confine::{self, Needs},
    diagnostics,
    guard::sensitive::SensitiveWords,
    postgres::{Need, SqlConfig},
    server,
    settings::{
        reader::{Reader, shown},
        table::Setting,
    },
    tools::{
        catalog::{self, Catalog},
        files::root::Root,
        metrics,
    },
};

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
    /// `MCP_SQL_ADHOC`: whether clients may write queries of their own.
    pub sql_adhoc: bool,
    /// `MCP_CATALOG`, proven.
    pub catalog: Option<Catalog>,
    /// Names that hold secrets (`MCP_SENSITIVE_WORDS`).
    pub sensitive_words: SensitiveWords,
    /// The directory of files, if there is one.
    pub files: Option<Files>,
    /// The path whose file system `system_metrics` tells of; none when it is switched off.
    pub metrics_disk_path: Option<PathBuf>,
    /// Whether `PGPASSWORD` was given.
    pub has_pgpassword: bool,
    /// `PGPASSFILE`, if it was given.
    pub passfile: Option<PathBuf>,
    /// What is likely a mistake but no error; one line each.
    pub warnings: Vec<String>,
    /// The known settings that were given, in the table's order.
    pub given: Vec<(&'static Setting, Given)>,
}

/// Why there are no settings.
#[derive(Debug)]
pub struct Misconfigured {
    /// Every setting that is wrong, in the table's order; at least one.
    pub complaints: Vec<Complaint>,
    /// What is wrong with the catalog; its setting is among the complaints then.
    pub catalog: Vec<catalog::Finding>,
    /// What is likely a mistake besides.
    pub warnings: Vec<String>,
    /// Where to tell it when stderr is the client's.
    pub log_target: diagnostics::Target,
}

/// `MCP_SAFE_DATA_DIR`, opened once.
#[derive(Debug)]
pub struct Files {
    /// The directory.
    pub root: Root,
    /// `MCP_FS_MAX_BYTES`.
    pub max_bytes: u64,
}

/// A setting's value as written. Shown only by whoever asks for it.
#[derive(Clone, PartialEq, Eq)]
pub struct Given(OsString);

impl Given {
    /// The value. It may be a secret: see the setting's kind.
    pub fn reveal(&self) -> &OsString {
        &self.0
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Given(…)")
    }
}

impl Settings {
    /// Reads an environment. Touches no more than the files that it names.
    ///
    /// # Errors
    /// Every setting that is wrong.
    pub fn read(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Result<Self, Misconfigured> {
        let mut reader = Reader::new(vars);
        reader.refuse_what_is_not_built();
        let server = reader.server();
        let guard = reader.guard();
        let max_rows = reader.small("MCP_SQL_MAX_ROWS");
        let words = reader.sensitive_words();
        let (catalog, findings) = reader.catalog(&guard, max_rows, words.clone());
        let sql_adhoc = reader.sql_adhoc();
        let need = Need {
            // Ad-hoc queries may read whatever the role may.
            tables: catalog.as_ref().filter(|_| !sql_adhoc).map(|catalog| catalog.tables().to_vec()),
            waived: catalog.as_ref().map(Catalog::waived).unwrap_or_default(),
            words: words.clone(),
        };
        let settings = Self {
            log_level: reader.log_level(),
            log_target: reader.log_target(),
            sql: reader.sql(&server, guard, max_rows, need),
            confine: reader.confine(),
            sql_adhoc,
            catalog,
            sensitive_words: words,
            files: reader.files(),
            metrics_disk_path: reader.metrics_disk_path(),
            server,
            has_pgpassword: reader.libpq.pgpassword.is_some(),
            passfile: reader.libpq.pgpassfile.clone(),
            warnings: Vec::new(),
            given: Vec::new(),
        };
        let Reader { mut given, mut complaints, warnings, .. } = reader;
        if !complaints.is_empty() {
            complaints.sort_by_key(|complaint| {
                table::ALL.iter().position(|setting| setting.name == complaint.name)
            });
            let log_target = settings.log_target;
            return Err(Misconfigured { complaints, catalog: findings, warnings, log_target });
        }
        let given =
            table::ALL.iter().filter_map(|setting| Some((setting, Given(given.remove(setting.name)?))));
        Ok(Self { warnings, given: given.collect(), ..settings })
    }
}

/// What follows from the settings together.
impl Settings {
    /// Whether there is a tool that asks the database.
    pub fn uses_sql(&self) -> bool {
        self.sql.is_some() && (self.sql_adhoc || self.catalog.is_some())
    }

    /// What serving by these settings still has to reach once it is confined.
    ///
    /// # Errors
    /// No descriptor is left.
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

/// Settings that belong together.
impl Reader {
    fn refuse_what_is_not_built(&mut self) {
        for setting in table::ALL.iter().filter(|setting| !setting.is_supported()) {
            if self.given.contains_key(setting.name) {
                self.complain(setting.name, "is set, and this build would not keep what it promises");
            }
        }
    }

    fn log_level(&mut self) -> LevelFilter {
        self.word("MCP_LOG_LEVEL").parse().unwrap_or(LevelFilter::Info)
    }

    fn log_target(&mut self) -> diagnostics::Target {
        let Some(path) = self.path("MCP_LOG_FILE") else { return diagnostics::Target::Stderr };
        match diagnostics::open_file(&path) {
            Ok(file) if !diagnostics::is_clients(&file) => return diagnostics::Target::File(file),
            Ok(_) => self.complain("MCP_LOG_FILE", "is stdin or stdout, on which the client speaks"),
            Err(error) => {
                let path = shown(&path.to_string_lossy());
                self.complain("MCP_LOG_FILE", format!("cannot open {path}: {error}"));
            }
        }
        diagnostics::Target::Stderr
    }

    fn confine(&mut self) -> confine::Mode {
        match self.word("MCP_CONFINE") {
            "require" => confine::Mode::Require,
            "off" => confine::Mode::Off,
            _ => confine::Mode::Auto,
        }
    }

    fn server(&mut self) -> server::Config {
        let max_concurrency = self.size("MCP_MAX_CONCURRENCY");
        server::Config {
            max_frame_bytes: self.size("MCP_MAX_FRAME_BYTES"),
            max_concurrency,
            queue_wait: self.millis("MCP_QUEUE_WAIT_MS"),
            queue_capacity: self.size("MCP_QUEUE_CAPACITY"),
            call_timeout: self.millis("MCP_CALL_TIMEOUT_MS"),
            shutdown_grace: self.millis("MCP_SHUTDOWN_GRACE_MS"),
            sql_lane: self.size("MCP_SQL_POOL_MAX_SIZE").min(max_concurrency),
        }
    }

    fn files(&mut self) -> Option<Files> {
        let max_bytes = self.number("MCP_FS_MAX_BYTES");
        let path = self.path("MCP_SAFE_DATA_DIR")?;
        let shown = shown(&path.to_string_lossy());
        let opened = Root::open(&path).map_err(|error| format!("cannot open {shown}: {error}"));
        let judged = opened.and_then(|root| match root.shows_processes() {
            Ok(false) => Ok(root),
            Ok(true) => {
                Err(format!("{shown} holds /proc, which tells the connection string and other secrets"))
            }
            Err(error) => Err(format!("cannot tell whether {shown} holds /proc: {error}")),
        });
        let root = judged.map_err(|wrong| self.complain("MCP_SAFE_DATA_DIR", wrong)).ok()?;
        Some(Files { root, max_bytes })
    }

    fn metrics_disk_path(&mut self) -> Option<PathBuf> {
        const NAME: &str = "MCP_METRICS_DISK_PATH";
        let path = self.path(NAME)?;
        if let Err(error) = fs::metadata(&path) {
            self.complain(NAME, format!("cannot find {}: {error}", shown(&path.to_string_lossy())));
        }
        (self.word("MCP_METRICS_ENABLED") == "true").then_some(path)
    }
}

#[cfg(test)]
mod tests;
