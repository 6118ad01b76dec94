//! Who calls. Never read from arguments, `_meta` or `clientInfo`.

/// A caller, as the server knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    id: String,
    tenant: String,
}

impl Identity {
    /// Whoever started this process: all there is until callers are told apart.
    pub fn local() -> Self {
        Self { id: "local".to_owned(), tenant: "local".to_owned() }
    }

    /// Names the caller.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whose data the caller works on.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }
}
