//! The kind of server that is wanted among several.

use super::error::DsnError;
use super::text::Parameters;

/// The kind of server that is wanted (libpq's `target_session_attrs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionTarget {
    /// Any.
    Any,
    /// One that accepts writes by default.
    ReadWrite,
    /// One that does not.
    ReadOnly,
    /// Not a standby.
    Primary,
    /// A standby.
    Standby,
    /// A standby if there is one.
    PreferStandby,
}

/// Reads `target_session_attrs`.
pub(super) fn read(parameters: &mut Parameters) -> Result<SessionTarget, DsnError> {
    let target = parameters.choice(
        "target_session_attrs",
        &[
            ("any", SessionTarget::Any),
            ("read-write", SessionTarget::ReadWrite),
            ("read-only", SessionTarget::ReadOnly),
            ("primary", SessionTarget::Primary),
            ("standby", SessionTarget::Standby),
            ("prefer-standby", SessionTarget::PreferStandby),
        ],
    )?;
    Ok(target.unwrap_or(SessionTarget::Any))
}
