//! The writer thread: stdout.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::thread;

use nix::errno::Errno;

use super::outbox::Outbox;
use super::shared::Shared;
use crate::wire::stream::Output;

/// A pipe of this size spares a large answer most of its wake-ups.
const LARGE_PIPE_BYTES: usize = 1 << 20;

/// A Linux pipe's usual size: a line that fits goes out in one piece anyway.
const USUAL_PIPE_BYTES: usize = 64 << 10;

/// The writer owns stdout. It ends when the outbox is closed and empty, or when the client is gone.
pub(super) fn start_writer(shared: Arc<Shared>, output: Output) -> io::Result<()> {
    let write = move || {
        match write_lines(&shared.outbox, output) {
            Ok(()) => {}
            Err(error) if is_departure(&error) => {
                log::info!(target: "session", "the client is gone: {error}")
            }
            Err(error) => {
                log::error!(target: "session", "stdout cannot be written: {error}");
                shared.notices.fail(error);
            }
        }
        shared.notices.ended(&shared.notices.writer_ended);
    };
    thread::Builder::new().name("writer".to_owned()).spawn(write).map(drop)
}

/// Writes everything queued in as few writes as it fits, until the outbox is closed and empty.
fn write_lines(outbox: &Outbox, output: Output) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(USUAL_PIPE_BYTES, Counted { stream: output, outbox });
    let mut enlarged = false;
    while let Some(lines) = outbox.take() {
        for line in lines {
            let bytes = line.held_bytes();
            if bytes > USUAL_PIPE_BYTES && !enlarged {
                out.get_ref().stream.enlarge_pipe(LARGE_PIPE_BYTES);
                enlarged = true;
            }
            line.write_to(&mut out)?;
            drop(line);
            outbox.written(bytes);
        }
        if outbox.is_empty() {
            out.flush()?;
        }
    }
    out.flush()
}

/// A stream that counts the bytes it accepts in the outbox.
#[derive(Debug)]
struct Counted<'a, W> {
    stream: W,
    outbox: &'a Outbox,
}

impl<W: Write> Write for Counted<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let accepted = self.stream.write(bytes)?;
        self.outbox.count_accepted(accepted);
        Ok(accepted)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// Returns whether a failed write means that the client is gone: a pipe or socket without a peer, a terminal that hung up.
fn is_departure(error: &io::Error) -> bool {
    let hung_up = error.raw_os_error() == Some(Errno::EIO as i32);
    hung_up || matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}
