//! A page of a file: bytes from an offset on, and the text in them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use nix::errno::Errno;

use super::super::root::WalkError;
use crate::call::Interrupt;

/// Bytes asked of the file at a time; the interrupt is looked at in between.
const CHUNK: usize = 64 * 1024;
/// Bytes asked at a time where the file should have ended: enough for one look, or a page of `/proc`.
const SMALL_CHUNK: usize = 4 * 1024;
/// Bytes read behind the page: three to end its last character, one to know whether more follows.
pub(super) const LOOKAHEAD: usize = 4;

/// A page of a file.
pub(super) struct Page {
    /// The bytes from the offset on: [`LOOKAHEAD`] more than were asked for, fewer only at the end of the file.
    pub(super) bytes: Vec<u8>,
    /// The file's size, as far as the system knows it (`/proc` says 0).
    pub(super) size: u64,
}

impl Page {
    /// Reads `max_bytes` from `offset` on.
    pub(super) fn read(
        file: &File,
        offset: u64,
        max_bytes: usize,
        interrupt: &Interrupt,
    ) -> Result<Self, WalkError> {
        let size = file.metadata().map_err(|error| failed(&error))?.len();
        let wanted = max_bytes.saturating_add(LOOKAHEAD);
        let expected = usize::try_from(size.saturating_sub(offset)).unwrap_or(usize::MAX);
        let mut bytes = Vec::with_capacity(wanted.min(expected.saturating_add(SMALL_CHUNK)));
        while bytes.len() < wanted {
            interrupt.check()?;
            let filled = bytes.len();
            let chunk = expected.saturating_sub(filled).clamp(SMALL_CHUNK, CHUNK);
            bytes.resize(wanted.min(filled + chunk), 0);
            let rest = bytes.get_mut(filled..).unwrap_or_default();
            let read =
                read_at(file, rest, offset.saturating_add(filled as u64)).map_err(|error| failed(&error))?;
            bytes.truncate(filled + read);
            if read == 0 {
                break;
            }
        }
        Ok(Self { bytes, size })
    }

    /// Returns the page as text: at most `max_bytes`, up to the end of a character, but one character at least. `Err` has
    /// the position of the first byte that is not UTF-8.
    pub(super) fn text(&self, max_bytes: usize) -> Result<&str, usize> {
        let (text, valid) = match std::str::from_utf8(&self.bytes) {
            Ok(text) => (text, text.len()),
            Err(error) => {
                let valid = self.bytes.get(..error.valid_up_to()).unwrap_or_default();
                (std::str::from_utf8(valid).unwrap_or_default(), valid.len())
            }
        };
        // A fault behind the page is found by the next page. A character that begins in the page and is whole in
        // the file is whole here: the lookahead holds its end.
        if valid < self.bytes.len().min(max_bytes) {
            return Err(valid);
        }
        let end = match text.floor_char_boundary(max_bytes) {
            0 => text.chars().next().map_or(0, char::len_utf8),
            end => end,
        };
        Ok(text.get(..end).unwrap_or(text))
    }
}

fn failed(error: &io::Error) -> WalkError {
    let errno = Errno::from_raw(error.raw_os_error().unwrap_or_default());
    let is_denied = matches!(errno, Errno::EACCES | Errno::EPERM);
    if is_denied { WalkError::Unreadable } else { WalkError::Io(errno) }
}

/// Reads at `offset`; nothing beyond the largest offset of a file.
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    if offset.checked_add(buffer.len() as u64).is_none_or(|end| end > i64::MAX.unsigned_abs()) {
        return Ok(0);
    }
    loop {
        match file.read_at(buffer, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

/// Returns whether a character begins before `offset` and ends behind it.
pub(super) fn is_inside_character(file: &File, offset: u64) -> bool {
    let back = usize::try_from(offset.min(3)).unwrap_or(0);
    let mut around = [0; 6];
    let Ok(read) = read_at(file, &mut around, offset - back as u64) else { return false };
    let around = around.get(..read).unwrap_or_default();
    (0..back).any(|start| {
        let lengths = back - start + 1..=4;
        lengths.into_iter().any(|length| {
            let character = around.get(start..start + length).map(std::str::from_utf8);
            character.and_then(Result::ok).is_some_and(|text| text.chars().count() == 1)
        })
    })
}
