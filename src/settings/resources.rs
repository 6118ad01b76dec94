//! The settings of the host's resources: the directory of files, and the path of the metrics.

use std::fs;
use std::path::PathBuf;

use super::error::{Quoted, Wrong};
use super::reader::Reader;
use crate::tools::files::root::Root;

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
        Err(error) => Err(Wrong::ProcUnknown(Quoted::path(&path), error.to_string())),
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
