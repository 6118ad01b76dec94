//! Files that a connection string names.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::dsn::DsnError;

/// The longest file that is read, in bytes.
const LIMIT: u64 = 1 << 20;

/// Reads a file of at most 1 MiB.
pub(super) fn read(key: &'static str, path: &Path) -> Result<Vec<u8>, DsnError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(LIMIT + 1).read_to_end(&mut bytes))
        .map_err(|error| DsnError::file(key, path, &error))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= LIMIT) {
        Ok(bytes)
    } else {
        Err(DsnError::file(key, path, &"it is longer than 1 MiB"))
    }
}
