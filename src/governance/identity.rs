//! The caller. Never read from arguments, `_meta` or `clientInfo`.

/// A caller, as the server knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    id: String,
    tenant: String,
}

impl Identity {
    /// Returns the one caller of a session on stdin: the user who started this process.
    pub fn local() -> Self {
        Self { id: "local".to_owned(), tenant: "local".to_owned() }
    }

    /// Returns the caller's name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the name of the group whose data the caller works on.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }
}
