//! Newline frames of bounded length; survives an endless line in constant memory.

use std::io::{self, Read};

/// One line of input without its line end: at most the reader's limit of bytes, never empty.
#[derive(Debug)]
pub struct Frame<'a>(&'a [u8]);

impl Frame<'_> {
    /// The bytes of the line.
    pub fn bytes(&self) -> &[u8] {
        self.0
    }
}

/// Why no frame could be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The line is longer than the limit; its bytes were discarded and the next line can be read.
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
#[derive(Debug)]
pub struct FrameReader<R> {
    stream: R,
    limit: usize,
}

impl<R: Read> FrameReader<R> {
    /// A reader of lines of at most `limit` bytes (line end not counted).
    pub fn new(stream: R, limit: usize) -> Self {
        Self { stream, limit }
    }

    /// The next frame, or `None` at the end of the stream. Blank lines are passed over.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        let _ = (&mut self.stream, self.limit);
        todo!()
    }
}
