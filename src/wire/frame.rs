//! Newline frames of bounded length; survives an endless line in constant memory.

use std::io::{self, Read};
use std::ops::Range;

/// The most bytes asked of the stream at once: the capacity of a pipe on Linux.
const READ_BYTES: usize = 64 * 1024;
/// The buffer that is kept between frames; a larger one, grown for a long line, is given back.
const KEPT_BYTES: usize = 2 * READ_BYTES;

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
    /// The line is longer than the limit. Told once, as soon as it is known; the line is discarded, the next one read.
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
/// Holds at most the limit, a `\r` and two reads of bytes.
#[derive(Debug)]
pub struct FrameReader<R> {
    stream: R,
    limit: usize,
    /// Bytes `start..end` were read and not handed out; `start..scanned` holds no line end.
    buffer: Vec<u8>,
    start: usize,
    scanned: usize,
    end: usize,
    state: State,
}

/// The kind of the bytes at `start`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The beginning of a line.
    Line,
    /// The inside of a line that was refused.
    Refused,
    /// The last ones: the stream has ended and is not read again.
    Ended,
}

impl<R: Read> FrameReader<R> {
    /// A reader of lines of at most `limit` bytes (line end not counted).
    pub fn new(stream: R, limit: usize) -> Self {
        Self { stream, limit, buffer: Vec::new(), start: 0, scanned: 0, end: 0, state: State::Line }
    }

    /// Bytes of memory that the buffer takes.
    #[cfg(any(test, fuzzing))]
    pub(super) fn held_bytes(&self) -> usize {
        self.buffer.capacity()
    }

    /// The next frame, or `None` at the end of the stream. Blank lines are passed over.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        loop {
            let Some(line) = self.next_line()? else { return Ok(None) };
            if line.len() > self.limit {
                return Err(FrameError::TooLong { limit: self.limit });
            }
            if !is_blank(self.buffer.get(line.clone()).unwrap_or_default()) {
                return Ok(self.buffer.get(line).map(Frame));
            }
        }
    }

    /// Finds the next line in the buffer, without its line end. Of a line that will be refused, its first bytes:
    /// more than the limit.
    fn next_line(&mut self) -> Result<Option<Range<usize>>, FrameError> {
        self.discard_refused()?;
        loop {
            if let Some(line_end) = self.find_line_end() {
                let line = std::mem::replace(&mut self.start, self.scanned)..line_end;
                return Ok(Some(self.without_carriage_return(line)));
            }
            let line = self.without_carriage_return(self.start..self.end);
            if line.len() > self.limit {
                self.start = self.end;
                self.state = State::Refused;
                return Ok(Some(line));
            }
            if !self.fill()? {
                let rest = std::mem::replace(&mut self.start, self.end)..self.end;
                return Ok((!rest.is_empty()).then(|| self.without_carriage_return(rest)));
            }
        }
    }

    /// Discards the rest of a refused line while it streams in.
    fn discard_refused(&mut self) -> Result<(), FrameError> {
        while self.state == State::Refused {
            if self.find_line_end().is_some() {
                self.state = State::Line;
            } else {
                self.fill()?;
            }
            self.start = self.scanned;
        }
        Ok(())
    }

    /// Looks for a line end where none was looked for yet, and passes it.
    fn find_line_end(&mut self) -> Option<usize> {
        let unseen = self.buffer.get(self.scanned..self.end).unwrap_or_default();
        let line_end = memchr::memchr(b'\n', unseen).map(|at| self.scanned + at);
        self.scanned = line_end.map_or(self.end, |line_end| line_end + 1);
        line_end
    }

    fn without_carriage_return(&self, line: Range<usize>) -> Range<usize> {
        let bytes = self.buffer.get(line.clone()).unwrap_or_default();
        line.start..line.end - usize::from(bytes.ends_with(b"\r"))
    }

    /// Reads once; `false` at the end of the stream.
    fn fill(&mut self) -> Result<bool, FrameError> {
        if self.state == State::Ended {
            return Ok(false);
        }
        self.make_room();
        let free_ends = self.buffer.len().min(self.end + READ_BYTES);
        let free = self.buffer.get_mut(self.end..free_ends).unwrap_or_default();
        let read = loop {
            match self.stream.read(free) {
                Ok(read) => break read.min(free.len()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(FrameError::Io(error)),
            }
        };
        self.end += read;
        if read == 0 {
            self.state = State::Ended;
        }
        Ok(read > 0)
    }

    /// Moves the held bytes to the front and makes the buffer as large as the next read needs, and no larger for long.
    fn make_room(&mut self) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.scanned -= self.start;
            self.start = 0;
        }
        if self.end + READ_BYTES > self.buffer.len() {
            let most = self.limit.saturating_add(1 + READ_BYTES).max(KEPT_BYTES);
            let wanted = (2 * self.buffer.len()).max(KEPT_BYTES).min(most);
            self.buffer.reserve_exact(wanted.saturating_sub(self.buffer.len()));
            self.buffer.resize(wanted, 0);
        } else if self.end <= READ_BYTES && self.buffer.len() > KEPT_BYTES {
            self.buffer.truncate(KEPT_BYTES);
            self.buffer.shrink_to_fit();
        }
    }
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
        assert!(reader.held_bytes() <= KEPT_BYTES, "{}", reader.held_bytes());
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
        assert!(reader.held_bytes() <= KEPT_BYTES, "{}", reader.held_bytes());
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
