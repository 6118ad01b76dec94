//! The settings of the database, and of what may be asked of it: by queries, and by a catalog.

use std::path::Path;

use super::{
    dsn_file,
    reader::{Reader, shown},
};
use crate::{
    diagnostics::escape,
    document::finding::Severity,
    guard::{sensitive::SensitiveWords, statement::GuardConfig},
    postgres::{Dsn, Need, Pooler, SqlConfig, UnsafeRole},
    server,
    tools::catalog::{Catalog, CatalogConfig, Finding},
};

impl Reader {
    /// Reads every SQL setting, also without a database: what is wrong is wrong before it is needed.
    pub(super) fn sql(
        &mut self,
        server: &server::Config,
        guard: GuardConfig,
        max_rows: u32,
        need: Need,
    ) -> Option<SqlConfig> {
        let dsn = self.dsn();
        let pooler = match self.word("MCP_SQL_POOLER") {
            "transaction" => Pooler::Transaction,
            _ => Pooler::None,
        };
        let unsafe_role = match self.word("MCP_SQL_UNSAFE_ROLE") {
            "warn" => UnsafeRole::Warn,
            "strict" => UnsafeRole::Strict,
            _ => UnsafeRole::Refuse,
        };
        let config = SqlConfig {
            pool_max_size: u32::try_from(server.sql_lane).unwrap_or(u32::MAX),
            pooler,
            connect_timeout: self.millis_below("MCP_SQL_CONNECT_TIMEOUT_MS", server.call_timeout),
            statement_timeout: self.millis_below("MCP_SQL_STATEMENT_TIMEOUT_MS", server.call_timeout),
            max_rows,
            max_cell_chars: self.small("MCP_SQL_MAX_CELL_CHARS"),
            max_response_bytes: self.size("MCP_MAX_RESPONSE_BYTES"),
            call_timeout: server.call_timeout,
            max_stuck: u32::try_from(server.max_concurrency).unwrap_or(u32::MAX),
            guard,
            unsafe_role,
            need,
            dsn: dsn?,
        };
        Some(config)
    }

    pub(super) fn guard(&mut self) -> GuardConfig {
        const NAME: &str = "MCP_SQL_ALLOW_FUNCTIONS";
        let functions = self.text(NAME).unwrap_or_default();
        GuardConfig::parse(&functions).unwrap_or_else(|wrong| {
            self.complain(NAME, escape(&wrong.to_string()));
            GuardConfig::default()
        })
    }

    /// A catalog replaces ad-hoc queries, unless both are asked for.
    pub(super) fn sql_adhoc(&mut self) -> bool {
        const NAME: &str = "MCP_SQL_ADHOC";
        let word = self.word(NAME);
        let is_given = self.given.contains_key(NAME);
        word == "true" && (is_given || !self.given.contains_key("MCP_CATALOG"))
    }

    pub(super) fn sensitive_words(&mut self) -> SensitiveWords {
        const NAME: &str = "MCP_SENSITIVE_WORDS";
        let words = self.text(NAME).unwrap_or_default();
        SensitiveWords::parse(&words).unwrap_or_else(|wrong| {
            self.complain(NAME, escape(&wrong.to_string()));
            SensitiveWords::default()
        })
    }

    /// The catalog, or what is wrong with it.
    pub(super) fn catalog(
        &mut self,
        guard: &GuardConfig,
        max_rows: u32,
        words: SensitiveWords,
    ) -> (Option<Catalog>, Vec<Finding>) {
        const NAME: &str = "MCP_CATALOG";
        let Some(path) = self.path(NAME) else { return (None, Vec::new()) };
        let config = CatalogConfig { words, guard, max_rows };
        match Catalog::load(&path, &config) {
            Ok(catalog) => {
                let has_database =
                    ["MCP_SQL_DSN", "MCP_SQL_DSN_FILE"].iter().any(|dsn| self.given.contains_key(*dsn));
                if !has_database {
                    self.warnings.push(format!("{NAME}: none of its tools is on; cure: set MCP_SQL_DSN"));
                }
                (Some(catalog), Vec::new())
            }
            Err(findings) => {
                let errors = findings.iter().filter(|finding| finding.severity() == Severity::Error).count();
                let noun = if errors == 1 { "fault" } else { "faults" };
                self.complain(NAME, format!("{} has {errors} {noun}", shown(&path.to_string_lossy())));
                (None, findings)
            }
        }
    }

    fn dsn(&mut self) -> Option<Dsn> {
        let (name, text) = match (self.text("MCP_SQL_DSN"), self.path("MCP_SQL_DSN_FILE")) {
            (Some(_), Some(_)) => {
                self.complain(
                    "MCP_SQL_DSN_FILE",
                    "is set, and so is MCP_SQL_DSN: which of the two holds is unclear",
                );
                return None;
            }
            (Some(text), None) => ("MCP_SQL_DSN", text),
            (None, Some(path)) => ("MCP_SQL_DSN_FILE", self.dsn_from_file(&path)?),
            (None, None) => return None,
        };
        Dsn::parse(&text, &self.libpq).map_err(|error| self.complain(name, escape(&error.to_string()))).ok()
    }

    fn dsn_from_file(&mut self, path: &Path) -> Option<String> {
        const NAME: &str = "MCP_SQL_DSN_FILE";
        match dsn_file::read(path) {
            Ok((text, _)) if text.is_empty() => {
                self.complain(NAME, "names an empty file");
                None
            }
            Ok((text, is_public)) => {
                if is_public {
                    self.warnings
                        .push(format!("{NAME}: everybody on this host can read the file; cure: chmod 600"));
                }
                Some(text)
            }
            Err(error) => {
                self.complain(NAME, format!("cannot read {}: {error}", shown(&path.to_string_lossy())));
                None
            }
        }
    }
}
