//! Takes values from bytes that may end anywhere.

use bytes::{Buf as _, TryGetError};

/// The bytes are not in the binary form of their type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a value that the server sent is not in the binary form of its type")]
pub(crate) struct Undecodable;

impl From<TryGetError> for Undecodable {
    fn from(_: TryGetError) -> Self {
        Self
    }
}

/// Takes a value with its length before it; a negative length is NULL.
pub(super) fn take_sized<'a>(bytes: &mut &'a [u8]) -> Result<Option<&'a [u8]>, Undecodable> {
    let Ok(length) = usize::try_from(bytes.try_get_i32()?) else { return Ok(None) };
    bytes.split_off(..length).map(Some).ok_or(Undecodable)
}

/// Refuses bytes that are left.
pub(super) fn end(bytes: &[u8]) -> Result<(), Undecodable> {
    if bytes.is_empty() { Ok(()) } else { Err(Undecodable) }
}
