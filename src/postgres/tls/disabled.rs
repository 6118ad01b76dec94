//! The connector of a build without TLS, of which there is none.

use std::path::PathBuf;

use super::super::stream::Negotiation;
use super::trust::{TlsError, Trust};

/// Cannot exist in this build.
#[derive(Clone, Debug)]
pub(crate) enum Connector {}

impl Connector {
    /// Refuses.
    pub(crate) fn build(_: &Trust, _: Option<&(PathBuf, PathBuf)>, _: Negotiation) -> Result<Self, TlsError> {
        Err(TlsError::Unavailable("this binary was built without TLS: only sslmode=disable is possible"))
    }
}
