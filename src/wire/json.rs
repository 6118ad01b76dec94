//! A strict JSON reader: no duplicate keys, bounded depth, no number that cannot be held, no lone surrogate.

/// What is wrong with a JSON text, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}")]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Byte offset in the frame.
    pub offset: usize,
}

/// The ways in which a text is not JSON, or not JSON we accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// Not JSON (RFC 8259); the text says what was expected.
    #[error("not JSON: {0}")]
    Syntax(&'static str),
    /// A byte sequence that is not UTF-8.
    #[error("invalid UTF-8")]
    InvalidUtf8,
    /// A byte order mark (RFC 8259 section 8.1 forbids sending one).
    #[error("a byte order mark")]
    ByteOrderMark,
    /// The same key twice in one object.
    #[error("a duplicate key")]
    DuplicateKey,
    /// Arrays and objects nested deeper than the limit.
    #[error("nesting deeper than {limit}")]
    TooDeep {
        /// The limit in levels.
        limit: usize,
    },
    /// An integer outside i64 and u64, or a number outside a double's range.
    #[error("a number that cannot be represented")]
    NumberRange,
    /// Half of a UTF-16 surrogate pair in an escape.
    #[error("a lone surrogate")]
    LoneSurrogate,
}
