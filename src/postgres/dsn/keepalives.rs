//! Probes on an idle connection.

use std::time::Duration;

use super::error::DsnError;
use super::text::Parameters;

/// Probes on an idle connection, so that a dead peer is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keepalives {
    /// True if they are sent.
    pub(crate) enabled: bool,
    /// Idle time before the first probe.
    pub(crate) idle: Duration,
    /// Time between probes.
    pub(crate) interval: Duration,
    /// Unanswered probes that end the connection.
    pub(crate) count: u32,
}

/// Reads them, with defaults that end a dead peer within half a minute; libpq leaves that to the kernel, which takes hours.
pub(super) fn read(parameters: &mut Parameters) -> Result<Keepalives, DsnError> {
    let seconds = |seconds: Option<u32>, default: u32| {
        Duration::from_secs(seconds.filter(|seconds| *seconds > 0).unwrap_or(default).into())
    };
    Ok(Keepalives {
        enabled: parameters.number("keepalives")? != Some(0),
        idle: seconds(parameters.number("keepalives_idle")?, 10),
        interval: seconds(parameters.number("keepalives_interval")?, 5),
        count: parameters.number("keepalives_count")?.filter(|count| *count > 0).unwrap_or(3),
    })
}
