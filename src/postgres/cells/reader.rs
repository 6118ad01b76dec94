//! Reads big-endian integers and length-prefixed values from bytes that may end anywhere.

/// The bytes are not in the binary form of their type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a value that the server sent is not in the binary form of its type")]
pub(crate) struct Undecodable;

/// The bytes that are left to read.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Undecodable> {
        let (head, tail) = self.0.split_first_chunk::<N>().ok_or(Undecodable)?;
        self.0 = tail;
        Ok(*head)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Undecodable> {
        self.array().map(u8::from_be_bytes)
    }

    pub(super) fn i16(&mut self) -> Result<i16, Undecodable> {
        self.array().map(i16::from_be_bytes)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Undecodable> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn i32(&mut self) -> Result<i32, Undecodable> {
        self.array().map(i32::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Undecodable> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn i64(&mut self) -> Result<i64, Undecodable> {
        self.array().map(i64::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Undecodable> {
        self.array().map(u64::from_be_bytes)
    }

    pub(super) fn u128(&mut self) -> Result<u128, Undecodable> {
        self.array().map(u128::from_be_bytes)
    }

    /// A value with its length before it; a negative length is NULL.
    pub(super) fn sized(&mut self) -> Result<Option<&'a [u8]>, Undecodable> {
        let Ok(length) = usize::try_from(self.i32()?) else { return Ok(None) };
        let (value, tail) = self.0.split_at_checked(length).ok_or(Undecodable)?;
        self.0 = tail;
        Ok(Some(value))
    }

    /// Everything that is left.
    pub(super) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// Refuses bytes that are left.
    pub(super) fn end(&self) -> Result<(), Undecodable> {
        if self.0.is_empty() { Ok(()) } else { Err(Undecodable) }
    }
}
