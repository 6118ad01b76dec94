//! The settings of the process itself: log, confinement, threads and their bounds.

use log::LevelFilter;

use super::error::Wrong;
use super::reader::Reader;
use crate::diagnostics::{self, Target};
use crate::{confine, server};

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
