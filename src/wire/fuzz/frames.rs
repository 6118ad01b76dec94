//! The frames of a stream do not depend on how it is cut, and memory stays bounded.

use std::io::{self, Read};

use crate::wire::frame::{FrameError, FrameReader};

/// Bytes that control how the text behind them is read.
const CONTROLS: usize = 5;
/// The letters that the byte 0xff of the text stands for: two of them are more than the reader asks for at once.
const RUN_LETTERS: usize = 40_000;
/// The number of bytes that stand for so much.
const MAX_RUNS: usize = 4;
/// The number of reads that are cut: byte by byte to its end, a long stream would take the fuzzer's time.
const MAX_CUTS: usize = 1_000;
/// The memory that the reader may hold beyond its limit: a `\r` and two reads.
const SLACK_BYTES: usize = 1 + 2 * 64 * 1024;

/// Runs the target.
pub fn run(data: &[u8]) {
    let Some((&[limit, ref cuts @ ..], text)) = data.split_first_chunk::<CONTROLS>() else { return };
    // From 1 to 131,085.
    let limit = (1 << (limit % 18)) + usize::from(limit / 18);
    let stream = expanded(text);
    let expected = expected(&stream, limit);
    assert_eq!(found(Cut { rest: &stream, lengths: cuts.iter().cycle().take(MAX_CUTS) }, limit), expected);
    assert_eq!(found(stream.as_slice(), limit), expected);
}

/// The text with its runs written out.
fn expanded(text: &[u8]) -> Vec<u8> {
    let mut runs = 0;
    let mut stream = Vec::new();
    for byte in text {
        if *byte == 0xff && runs < MAX_RUNS {
            runs += 1;
            stream.resize(stream.len() + RUN_LETTERS, b'x');
        } else {
            stream.push(*byte);
        }
    }
    stream
}

/// Every frame, or why there is none.
fn found(stream: impl Read, limit: usize) -> Vec<Result<Vec<u8>, String>> {
    let mut reader = FrameReader::new(stream, limit);
    let mut found = Vec::new();
    while let Some(frame) = reader.next_frame().map(|frame| frame.map(|it| it.bytes().to_vec())).transpose() {
        found.push(frame.map_err(|error| error.to_string()));
        assert!(reader.held_bytes() <= limit + SLACK_BYTES, "{} bytes are held", reader.held_bytes());
    }
    assert!(reader.next_frame().is_ok_and(|frame| frame.is_none()), "the end is the end");
    found
}

/// The frames by the contract's words, with the whole stream at hand.
fn expected(stream: &[u8], limit: usize) -> Vec<Result<Vec<u8>, String>> {
    let lines = stream.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let is_blank = |line: &[u8]| line.iter().all(|byte| b" \t\r".contains(byte));
    lines
        .filter(|line| line.len() > limit || !is_blank(line))
        .map(|line| {
            if line.len() > limit {
                Err(FrameError::TooLong { limit }.to_string())
            } else {
                Ok(line.to_vec())
            }
        })
        .collect()
}

/// A stream that comes in pieces.
struct Cut<'a, L> {
    rest: &'a [u8],
    /// Small numbers are bytes, large ones pages; zero is as much as the buffer takes.
    lengths: L,
}

impl<'a, L: Iterator<Item = &'a u8>> Read for Cut<'a, L> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = match self.lengths.next() {
            None | Some(0) => buffer.len(),
            Some(length @ 1..=200) => usize::from(*length),
            Some(length) => usize::from(length - 200) * 4096,
        };
        let length = length.min(buffer.len());
        let mut piece = self.rest.take(u64::try_from(length).unwrap_or_default());
        let read = piece.read(buffer)?;
        self.rest = self.rest.get(read..).unwrap_or_default();
        Ok(read)
    }
}
