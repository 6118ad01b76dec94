//! The settings of the database, and of the queries that it is asked: the guard, the catalog.

use std::path::Path;

use super::dsn_file;
use super::error::{Quoted, Wrong};
use super::reader::Reader;
use crate::document::finding::Severity;
use crate::guard::config::GuardConfig;
use crate::guard::sensitive::SensitiveWords;
use crate::postgres::{Dsn, Need, Pooler, SqlConfig, UnsafeRole};
use crate::server;
use crate::tools::catalog::{Catalog, CatalogConfig, Finding};

const DSN_FILE: &str = "MCP_SQL_DSN_FILE";

/// Reads every SQL setting, also without a database: a fault is reported before the setting is needed.
pub(super) fn sql(
    reader: &mut Reader,
    server: &server::Config,
    guard: GuardConfig,
    max_rows: u32,
    need: Need,
) -> Option<SqlConfig> {
    let dsn = dsn(reader);
    let pooler = match reader.word("MCP_SQL_POOLER") {
        "transaction" => Pooler::Transaction,
        _ => Pooler::None,
    };
    let unsafe_role = match reader.word("MCP_SQL_UNSAFE_ROLE") {
        "warn" => UnsafeRole::Warn,
        "strict" => UnsafeRole::Strict,
        _ => UnsafeRole::Refuse,
    };
    let connections = reader.size("MCP_SQL_POOL_MAX_SIZE").min(server.max_concurrency);
    Some(SqlConfig {
        pool_max_size: u32::try_from(connections).unwrap_or(u32::MAX),
        pooler,
        connect_timeout: reader.millis_below("MCP_SQL_CONNECT_TIMEOUT_MS", server.call_timeout),
        statement_timeout: reader.millis_below("MCP_SQL_STATEMENT_TIMEOUT_MS", server.call_timeout),
        max_rows,
        max_cell_chars: reader.small("MCP_SQL_MAX_CELL_CHARS"),
        max_response_bytes: reader.size("MCP_MAX_RESPONSE_BYTES"),
        call_timeout: server.call_timeout,
        max_stuck: u32::try_from(server.max_concurrency).unwrap_or(u32::MAX),
        guard,
        unsafe_role,
        need,
        dsn: dsn?,
    })
}

/// Decides whether clients may write queries of their own: a catalog replaces them, unless both are asked for.
pub(super) fn sql_adhoc(reader: &mut Reader) -> bool {
    const NAME: &str = "MCP_SQL_ADHOC";
    reader.word(NAME) == "true" && (reader.has(NAME) || !reader.has("MCP_CATALOG"))
}

/// Loads the catalog, or returns its findings.
pub(super) fn catalog(
    reader: &mut Reader,
    guard: &GuardConfig,
    max_rows: u32,
    words: SensitiveWords,
) -> (Option<Catalog>, Vec<Finding>) {
    const NAME: &str = "MCP_CATALOG";
    let Some(path) = reader.path(NAME) else { return (None, Vec::new()) };
    let config = CatalogConfig { words, guard, max_rows };
    match Catalog::load(&path, &config) {
        Ok(catalog) => {
            if !["MCP_SQL_DSN", DSN_FILE].iter().any(|dsn| reader.has(dsn)) {
                reader.warnings.push(format!("{NAME}: none of its tools is on; cure: set MCP_SQL_DSN"));
            }
            (Some(catalog), Vec::new())
        }
        Err(findings) => {
            let errors = findings.iter().filter(|finding| finding.severity() == Severity::Error).count();
            reader.fail(NAME, Wrong::Catalog(Quoted::path(&path), errors));
            (None, findings)
        }
    }
}

fn dsn(reader: &mut Reader) -> Option<Dsn> {
    let (name, text) = match (reader.text("MCP_SQL_DSN"), reader.path(DSN_FILE)) {
        (Some(_), Some(_)) => {
            reader.fail(DSN_FILE, Wrong::SecondDsn);
            return None;
        }
        (Some(text), None) => ("MCP_SQL_DSN", text),
        (None, Some(path)) => (DSN_FILE, dsn_from_file(reader, &path)?),
        (None, None) => return None,
    };
    let dsn = Dsn::parse(&text, &reader.libpq).map_err(Wrong::refused);
    reader.accept(name, dsn)
}

fn dsn_from_file(reader: &mut Reader, path: &Path) -> Option<String> {
    let read = dsn_file::read(path).map_err(|error| Wrong::io("read", path, error));
    let (text, is_public) = reader.accept(DSN_FILE, read)?;
    if text.is_empty() {
        reader.fail(DSN_FILE, Wrong::EmptyFile);
        return None;
    }
    if is_public {
        let warning = format!("{DSN_FILE}: everybody on this host can read the file; cure: chmod 600");
        reader.warnings.push(warning);
    }
    Some(text)
}
