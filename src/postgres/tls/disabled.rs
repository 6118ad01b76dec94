//! The connector of a build without TLS, of which there is none.

use std::path::PathBuf;

use postgres::config::SslNegotiation;

use super::super::dsn::DsnError;
use super::super::stream::{Deadline, Plain};
use super::trust::Trust;

/// Cannot exist in this build.
#[derive(Clone)]
pub(crate) enum Connector {}

impl Connector {
    /// Refuses.
    pub(crate) fn build(
        _: &Trust,
        _: Option<&(PathBuf, PathBuf)>,
        _: SslNegotiation,
    ) -> Result<Self, DsnError> {
        Err(DsnError::Conflict("this binary was built without TLS: only sslmode=disable is possible"))
    }

    /// Is never called.
    pub(crate) fn with_deadline(&self, _: Deadline) -> Plain {
        match *self {}
    }
}
