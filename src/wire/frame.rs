//! Newline frames of bounded length; survives an endless line in constant memory.

use std::io::{self, BufRead as _, BufReader, Read};

use memchr::memchr;

/// The most bytes asked of the stream at once: the capacity of a pipe on Linux.
const READ_BYTES: usize = 64 * 1024;

/// One line of input without its line end: at most the reader's limit of bytes, never blank.
#[derive(Debug)]
pub struct Frame<'a>(&'a [u8]);

impl Frame<'_> {
    /// The bytes of the line.
    pub fn bytes(&self) -> &[u8] {
        self.0
    }
}

/// A frame could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The line is longer than the limit. Reported once, as soon as it is known; the line is discarded, the next one read.
    #[error("message is longer than {limit} bytes")]
    TooLong {
        /// The limit in bytes, line end not counted.
        limit: usize,
    },
    /// The stream failed.
    #[error("the input stream failed")]
    Io(#[source] io::Error),
}

/// Cuts a byte stream into frames.
///
/// Holds at most the limit, a `\r` and one read of bytes.
#[derive(Debug)]
pub struct FrameReader<R> {
    stream: BufReader<R>,
    limit: usize,
    /// The line under way, at most a `\r` longer than the limit.
    line: Vec<u8>,
    /// The rest of a line that was refused comes next.
    is_refused: bool,
    /// The stream has ended and is not read again.
    has_ended: bool,
}

impl<R: Read> FrameReader<R> {
    /// A reader of lines of at most `limit` bytes (line end not counted).
    pub fn new(stream: R, limit: usize) -> Self {
        let stream = BufReader::with_capacity(READ_BYTES, stream);
        Self { stream, limit, line: Vec::new(), is_refused: false, has_ended: false }
    }

    /// Bytes of memory that lines take.
    #[cfg(any(test, fuzzing))]
    pub(super) fn held_bytes(&self) -> usize {
        self.stream.capacity() + self.line.capacity()
    }

    /// The next frame, or `None` at the end of the stream. Blank lines are passed over.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        if std::mem::take(&mut self.is_refused) {
            self.stream.skip_until(b'\n').map_err(FrameError::Io)?;
        }
        loop {
            self.read_line()?;
            // Memory that a long line took is given back.
            if self.line.len() <= READ_BYTES {
                self.line.shrink_to(READ_BYTES);
            }
            if !is_blank(&self.line) {
                return Ok(Some(Frame(without_carriage_return(&self.line))));
            }
            if self.has_ended {
                return Ok(None);
            }
        }
    }

    /// Reads a line up to its line end, which is left out, or up to the end of the stream.
    fn read_line(&mut self) -> Result<(), FrameError> {
        self.line.clear();
        while !self.has_ended {
            let buffer = match self.stream.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                filled => filled.map_err(FrameError::Io)?,
            };
            self.has_ended = buffer.is_empty();
            let line_end = memchr(b'\n', buffer);
            let piece = buffer.get(..line_end.unwrap_or(buffer.len())).unwrap_or(buffer);
            let free = self.limit.saturating_add(1) - self.line.len();
            let fitting = piece.get(..free).unwrap_or(piece);
            if fitting.len() > self.line.capacity() - self.line.len() {
                // Doubled like any vector, but never beyond the longest line.
                self.line.reserve_exact(fitting.len().max(self.line.len()).min(free));
            }
            self.line.extend_from_slice(fitting);
            let is_too_long = piece.len() > free || without_carriage_return(&self.line).len() > self.limit;
            let taken = line_end.map_or(buffer.len(), |at| at + 1);
            self.stream.consume(taken);
            if is_too_long {
                self.is_refused = line_end.is_none();
                return Err(FrameError::TooLong { limit: self.limit });
            }
            if line_end.is_some() {
                break;
            }
        }
        Ok(())
    }
}

fn without_carriage_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns whether a line holds nothing but JSON's white space.
fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every frame or refusal of `input`, read in chunks of the given lengths (the last one again and again).
    fn frames(input: &[u8], limit: usize, chunks: &[usize]) -> Vec<String> {
        let mut reader = FrameReader::new(Chunks { rest: input, lengths: chunks, next: 0 }, limit);
        let mut seen = Vec::new();
        loop {
            match reader.next_frame() {
                Ok(Some(frame)) => seen.push(String::from_utf8_lossy(frame.bytes()).into_owned()),
                Ok(None) => break,
                Err(error) => seen.push(error.to_string()),
            }
        }
        assert!(reader.next_frame().unwrap().is_none(), "the end is the end");
        seen
    }

    /// Hands out bytes in chunks, and is interrupted before each.
    struct Chunks<'a> {
        rest: &'a [u8],
        lengths: &'a [usize],
        next: usize,
    }

    impl Read for Chunks<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.next += 1;
            if self.next % 2 == 1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let length =
                self.lengths.get(self.next / 2 - 1).or(self.lengths.last()).copied().unwrap_or(usize::MAX);
            let (chunk, rest) = self.rest.split_at(length.max(1).min(self.rest.len()).min(buffer.len()));
            buffer[..chunk.len()].copy_from_slice(chunk);
            self.rest = rest;
            Ok(chunk.len())
        }
    }

    #[track_caller]
    fn check(input: &str, limit: usize, expected: &[&str]) {
        for chunk in [usize::MAX, 1, 2, 3, 5] {
            assert_eq!(frames(input.as_bytes(), limit, &[chunk]), expected, "in chunks of {chunk}");
        }
    }

    #[test]
    fn lines_are_frames() {
        check("", 4, &[]);
        check("ab\ncd\n", 4, &["ab", "cd"]);
        check("ab\r\ncd\r\n", 4, &["ab", "cd"]);
        check("a\rb\n", 4, &["a\rb"]);
        check("ab\ncd", 4, &["ab", "cd"]);
        check("ab\ncd\r", 4, &["ab", "cd"]);
        check("\n\r\n \t\r\n\nab\n  \n", 4, &["ab"]);
        check("  ", 4, &[]);
    }

    #[test]
    fn a_line_too_long_is_refused_once_and_the_next_line_is_read() {
        let refused = "message is longer than 4 bytes";
        check("1234\n1234\r\n", 4, &["1234", "1234"]);
        check("12345\nok\n", 4, &[refused, "ok"]);
        check("12345\r\nok\n", 4, &[refused, "ok"]);
        check("1234\r\r\nok\n", 4, &[refused, "ok"]);
        check("1234567890123\n1234567890\nok", 4, &[refused, refused, "ok"]);
        check("     \nok\n", 4, &[refused, "ok"]);
        check("ok\n1234567890", 4, &["ok", refused]);
        check("ok\n1234\r", 4, &["ok", "1234"]);
    }

    #[test]
    fn every_line_of_a_buffer_is_handed_out_before_the_stream_is_read_again() {
        struct Once(Option<&'static [u8]>);
        impl Read for Once {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let bytes = self.0.take().ok_or(io::ErrorKind::TimedOut)?;
                buffer[..bytes.len()].copy_from_slice(bytes);
                Ok(bytes.len())
            }
        }
        let mut reader = FrameReader::new(Once(Some(b"a\nb\nc\nrest")), 9);
        for expected in [b"a", b"b", b"c"] {
            assert_eq!(reader.next_frame().unwrap().unwrap().bytes(), expected);
        }
        assert!(matches!(reader.next_frame(), Err(FrameError::Io(_))), "only now the stream is asked");
    }

    #[test]
    fn an_endless_line_costs_constant_memory() {
        let limit = 1024 * 1024;
        let endless = io::repeat(b'x').take(100_000_000).chain(&b"\nok\n"[..]);
        let mut reader = FrameReader::new(endless, limit);
        assert!(matches!(reader.next_frame(), Err(FrameError::TooLong { .. })));
        assert!(reader.held_bytes() <= limit + 1 + READ_BYTES, "{}", reader.held_bytes());
        assert_eq!(reader.next_frame().unwrap().unwrap().bytes(), b"ok");
        assert!(reader.held_bytes() <= 2 * READ_BYTES, "{}", reader.held_bytes());
    }

    #[test]
    fn the_memory_of_a_large_frame_is_given_back() {
        let limit = 16 * 1024 * 1024;
        let length = u64::try_from(limit).unwrap();
        let stream = io::repeat(b'x').take(length).chain(&b"\r\n"[..]).chain(&b"a"[..]).chain(&b"\nb"[..]);
        let mut reader = FrameReader::new(stream, limit);
        assert_eq!(reader.next_frame().unwrap().unwrap().bytes().len(), limit);
        assert!(reader.held_bytes() <= limit + 1 + READ_BYTES, "{}", reader.held_bytes());
        assert_eq!(reader.next_frame().unwrap().unwrap().bytes(), b"a");
        assert!(reader.held_bytes() <= 2 * READ_BYTES, "{}", reader.held_bytes());
        assert_eq!(reader.next_frame().unwrap().unwrap().bytes(), b"b");
    }

    proptest! {
        #[test]
        fn frames_do_not_depend_on_how_the_input_is_split(
            input in "[ab \r\n]{0,200}",
            limit in 1_usize..20,
            chunks in prop::collection::vec(1_usize..40, 1..10),
        ) {
            prop_assert_eq!(
                frames(input.as_bytes(), limit, &chunks),
                frames(input.as_bytes(), limit, &[usize::MAX])
            );
        }
    }
}
