//! The settings of the process and of its host: log, confinement, threads and their bounds, files, metrics.

use std::path::PathBuf;
use std::{fs, io};

use log::LevelFilter;

use super::error::{Quoted, Wrong};
use super::reader::Reader;
use crate::diagnostics::{self, Target};
use crate::problem::echo;
use crate::tools::catalog::Catalog;
use crate::tools::files::root::Root;
use crate::{confine, server, tools};

pub(super) fn log_level(reader: &mut Reader) -> LevelFilter {
    reader.word("MCP_LOG_LEVEL").parse().unwrap_or(LevelFilter::Info)
}

pub(super) fn log_target(reader: &mut Reader) -> Target {
    const NAME: &str = "MCP_LOG_FILE";
    let Some(path) = reader.path(NAME) else { return Target::Stderr };
    let file = match diagnostics::open_file(&path) {
        Ok(file) if diagnostics::is_clients(&file) => Err(Wrong::ClientStream),
        Ok(file) => Ok(file),
        Err(error) => Err(Wrong::io("open", &path, error)),
    };
    reader.accept(NAME, file).map_or(Target::Stderr, Target::File)
}

pub(super) fn confine(reader: &mut Reader) -> confine::Mode {
    match reader.word("MCP_CONFINE") {
        "require" => confine::Mode::Require,
        "off" => confine::Mode::Off,
        _ => confine::Mode::Auto,
    }
}

pub(super) fn server(reader: &mut Reader) -> server::Config {
    let max_concurrency = reader.size("MCP_MAX_CONCURRENCY");
    server::Config {
        max_frame_bytes: reader.size("MCP_MAX_FRAME_BYTES"),
        max_concurrency,
        queue_wait: reader.millis("MCP_QUEUE_WAIT_MS"),
        queue_capacity: reader.size("MCP_QUEUE_CAPACITY"),
        call_timeout: reader.millis("MCP_CALL_TIMEOUT_MS"),
        shutdown_grace: reader.millis("MCP_SHUTDOWN_GRACE_MS"),
    }
}

/// Reads the names of arguments that no tool sees. A name that a tool has among its arguments would take it away.
pub(super) fn ignored_arguments(reader: &mut Reader, catalog: Option<&Catalog>) -> Vec<String> {
    reader.parsed("MCP_IGNORE_ARGUMENTS", |list| {
        let names = list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
        let names: Vec<String> = names.collect();
        if names.is_empty() {
            return Ok(names);
        }
        let mut declared = tools::built_in_arguments();
        declared.extend(catalog.into_iter().flat_map(Catalog::parameters));
        match names.iter().find(|name| declared.contains(*name)) {
            Some(name) => Err(format!("{} is an argument of a tool", echo(name))),
            None => Ok(names),
        }
    })
}

/// `MCP_SAFE_DATA_DIR`, opened once.
#[derive(Debug)]
pub struct Files {
    /// The directory.
    pub root: Root,
    /// `MCP_FS_MAX_BYTES`.
    pub max_bytes: u64,
}

/// Opens the directory of files.
pub(super) fn files(reader: &mut Reader) -> Option<Files> {
    const NAME: &str = "MCP_SAFE_DATA_DIR";
    let max_bytes = reader.number("MCP_FS_MAX_BYTES");
    let path = reader.path(NAME)?;
    let opened = Root::open(&path).map_err(|error| Wrong::io("open", &path, error));
    let judged = opened.and_then(|root| match root.shows_processes() {
        Ok(false) => Ok(root),
        Ok(true) => Err(Wrong::HoldsProc(Quoted::path(&path))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Wrong::NoProc(Quoted::path(&path))),
        Err(error) => Err(Wrong::io("look for /proc in", &path, error)),
    });
    let root = reader.accept(NAME, judged)?;
    Some(Files { root, max_bytes })
}

/// Finds the path of the metrics; `None` when they are switched off.
pub(super) fn metrics_disk_path(reader: &mut Reader) -> Option<PathBuf> {
    const NAME: &str = "MCP_METRICS_DISK_PATH";
    let path = reader.path(NAME)?;
    reader.accept(NAME, fs::metadata(&path).map_err(|error| Wrong::io("find", &path, error)));
    (reader.word("MCP_METRICS_ENABLED") == "true").then_some(path)
}
