//! Files that a connection string names.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The longest file that is read, in bytes.
const LIMIT: u64 = 1 << 20;

/// A file that a connection string names cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the file '{}' of '{key}' cannot be used: {reason}", path.display())]
pub struct FileError {
    /// The parameter that names it.
    pub key: &'static str,
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub reason: String,
}

impl FileError {
    pub(super) fn new(key: &'static str, path: &Path, reason: &dyn std::fmt::Display) -> Self {
        Self { key, path: path.to_owned(), reason: reason.to_string() }
    }
}

/// Reads a file of at most 1 MiB.
pub(super) fn read(key: &'static str, path: &Path) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LIMIT + 1).read_to_end(&mut bytes))
        .map_err(|error| FileError::new(key, path, &error))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= LIMIT) {
        Ok(bytes)
    } else {
        Err(FileError::new(key, path, &"it is longer than 1 MiB"))
    }
}
