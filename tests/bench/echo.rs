//! The limit: a process with the server's threads and the least work that they can do.
//!
//! A reader takes lines from stdin, a worker turns each into an answer, a writer puts all that is queued on stdout in one
//! write. No line is parsed, checked, recorded or encoded. A request that the server answers in its reader has no worker here.

use std::io::{self, BufRead, BufReader, Write};
use std::process::Command;
use std::sync::Arc;
use std::thread;

use crossbeam_channel::{Receiver, bounded};
use nix::fcntl::{FcntlArg, fcntl};

/// Makes the bench binary an echo process.
pub(super) const COMMAND: &str = "echo";

/// Lines on their way.
const QUEUE: usize = 1024;
/// Above this many bytes the server enlarges its pipe, to as many as it does.
const USUAL_PIPE_BYTES: usize = 64 << 10;
const LARGE_PIPE_BYTES: i32 = 1 << 20;

/// The thread that answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The reader: reader, writer.
    Direct,
    /// A worker: reader, worker, writer.
    Worker,
}

/// A command that answers each line with `answer_bytes` bytes.
pub(super) fn command(shape: Shape, answer_bytes: usize) -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    let worker = if shape == Shape::Worker { "worker" } else { "direct" };
    command.args([COMMAND, worker, &answer_bytes.to_string()]);
    Ok(command)
}

/// The echo process, with the arguments that [`command`] gives it.
pub(super) fn run(mut arguments: impl Iterator<Item = String>) -> io::Result<()> {
    let has_worker = arguments.next().as_deref() == Some("worker");
    let answer_bytes = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(1);
    let (reader, mut lines) = bounded(QUEUE);
    if has_worker {
        let (worker, worked) = bounded(QUEUE);
        let queue = std::mem::replace(&mut lines, worked);
        let work = move || queue.into_iter().try_for_each(|line| worker.send(line));
        thread::Builder::new().name("worker".to_owned()).spawn(work)?;
    }
    let writer =
        thread::Builder::new().name("writer".to_owned()).spawn(move || write(&lines, answer_bytes))?;
    let mut stdin = BufReader::with_capacity(USUAL_PIPE_BYTES, io::stdin());
    loop {
        let mut line = Vec::new();
        if stdin.read_until(b'\n', &mut line)? == 0 || reader.send(line).is_err() {
            break;
        }
    }
    drop(reader);
    writer.join().unwrap_or_else(|_| Err(io::Error::other("the writer panicked")))
}

fn write(lines: &Receiver<Vec<u8>>, answer_bytes: usize) -> io::Result<()> {
    let mut answer = vec![b'x'; answer_bytes.saturating_sub(1)];
    answer.push(b'\n');
    let answer: Arc<[u8]> = answer.into();
    let mut stdout = io::stdout().lock();
    if answer_bytes > USUAL_PIPE_BYTES {
        fcntl(&stdout, FcntlArg::F_SETPIPE_SZ(LARGE_PIPE_BYTES))?;
    }
    let mut out = io::BufWriter::with_capacity(USUAL_PIPE_BYTES, &mut stdout);
    while let Ok(_line) = lines.recv() {
        out.write_all(&answer)?;
        for _line in lines.try_iter() {
            out.write_all(&answer)?;
        }
        out.flush()?;
    }
    Ok(())
}
