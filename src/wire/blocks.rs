//! A buffer in blocks: it grows without being copied, and leaves no holes when it is freed.
//!
//! glibc gives each thread an arena of its own and learns from large pieces that are freed to keep such pieces: with one
//! buffer for each answer, sixteen workers came to hold several times their answers. Blocks stay below its
//! interest (`M_MMAP_THRESHOLD`, mallopt(3)), and one answer takes the blocks that another one has left.

use std::io::{self, Write};

/// The size of a block: with the capacity that growing may leave behind, half of glibc's threshold.
pub(super) const BLOCK_BYTES: usize = 32 << 10;

/// The first capacity: most answers are no longer, and need not grow.
const FIRST_BYTES: usize = 256;

/// A buffer. Equal bytes are held in equal blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Blocks {
    /// Each of exactly [`BLOCK_BYTES`].
    full: Vec<Vec<u8>>,
    /// Empty only when nothing is held.
    last: Vec<u8>,
}

impl Blocks {
    pub(super) fn len(&self) -> usize {
        self.full.len() * BLOCK_BYTES + self.last.len()
    }

    /// Returns the memory it takes, spare capacity included.
    pub(super) fn held_bytes(&self) -> usize {
        self.full.len() * BLOCK_BYTES + self.last.capacity()
    }

    /// Returns the bytes in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.full.iter().chain([&self.last]).map(Vec::as_slice)
    }

    /// Drops all but the first `length` bytes.
    pub(super) fn truncate(&mut self, length: usize) {
        while self.full.len() * BLOCK_BYTES >= length
            && let Some(block) = self.full.pop()
        {
            self.last = block;
        }
        self.last.truncate(length.saturating_sub(self.full.len() * BLOCK_BYTES));
    }
}

impl Write for Blocks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.last.len() {
            0 => self.last.reserve(FIRST_BYTES),
            BLOCK_BYTES => self.full.push(std::mem::replace(&mut self.last, Vec::with_capacity(BLOCK_BYTES))),
            _ => {}
        }
        let left = BLOCK_BYTES - self.last.len();
        let fitting = bytes.get(..left).unwrap_or(bytes);
        self.last.extend_from_slice(fitting);
        Ok(fitting.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Holds the first `length` bytes of a pattern, written in pieces of `piece` bytes.
    fn held(length: usize, piece: usize) -> Blocks {
        let mut blocks = Blocks::default();
        pattern(length).chunks(piece).for_each(|piece| blocks.write_all(piece).unwrap());
        blocks
    }

    fn pattern(length: usize) -> Vec<u8> {
        (0..=250).cycle().take(length).collect()
    }

    #[test]
    fn the_content_does_not_depend_on_how_it_was_written_or_taken_back() {
        for length in [0, 1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES] {
            let expected = held(length, usize::MAX);
            assert_eq!(expected.len(), length);
            assert_eq!(expected.iter().flatten().copied().collect::<Vec<u8>>(), pattern(length));
            assert_eq!(held(length, 7), expected);
            for more in [0, 1, BLOCK_BYTES, 2 * BLOCK_BYTES + 1] {
                let mut longer = held(length + more, 1000);
                longer.truncate(length);
                assert_eq!(longer, expected, "{length} of {more} more");
            }
        }
    }

    #[test]
    fn no_block_is_large() {
        let blocks = held(BLOCK_BYTES + 1, 1000);
        assert!(blocks.full.iter().chain([&blocks.last]).all(|block| block.capacity() <= 2 * BLOCK_BYTES));
    }
}
