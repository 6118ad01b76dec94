//! The ways in which a JSON text is refused, each with its place in the frame.

/// Levels of arrays and objects that a text may nest; the outermost is the first.
pub(super) const MAX_DEPTH: usize = 64;
/// Values of a text that are held, all levels counted; a quarantined value has as many of its own. A value takes 72 bytes
/// of memory, and two of a text: the memory that a text can take is bounded before it is judged.
pub(super) const MAX_VALUES: usize = 16_384;

/// A fault of a JSON text and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}")]
pub struct Fault {
    /// The fault itself.
    pub kind: FaultKind,
    /// Byte offset in the frame.
    pub offset: usize,
}

/// A way in which a text is not JSON, or not JSON that we accept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// Not JSON (RFC 8259); the text names the expected token.
    #[error("not JSON: expected {0}")]
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
    /// Arrays and objects nested deeper than is read.
    #[error("nesting deeper than {MAX_DEPTH}")]
    TooDeep,
    /// More values than are held.
    #[error("more than {MAX_VALUES} values")]
    TooMany,
    /// An integer outside i64 and u64, or a number outside a double's range.
    #[error("a number that cannot be represented")]
    NumberRange,
    /// Half of a UTF-16 surrogate pair in an escape.
    #[error("a lone surrogate")]
    LoneSurrogate,
}

impl FaultKind {
    /// Returns whether the text is JSON by its grammar, though not JSON we accept: a reader can pass over it and go on.
    pub(super) fn is_grammatical(&self) -> bool {
        match self {
            Self::Syntax(_) | Self::InvalidUtf8 | Self::ByteOrderMark => false,
            Self::DuplicateKey | Self::TooDeep | Self::TooMany | Self::NumberRange | Self::LoneSurrogate => {
                true
            }
        }
    }
}
