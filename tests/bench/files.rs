//! Large files: beside the bare work of reading and encoding them, and their memory when the client is slow.

use std::path::PathBuf;
use std::time::Duration;
use std::{fs, thread};

use mcp_server_suite::wire::ascii::AsciiWriter;
use mcp_server_suite::wire::line::{Line, Part};
use mcp_server_suite::wire::request_id::RequestId;
use nix::time::ClockId;
use tempfile::TempDir;

use super::child::{Child, call};
use super::contest::{Task, contest, median, micros};
use super::echo::{self, Shape};
use super::{Outcome, report};

/// A file of 100 bytes.
pub(super) const SMALL: &str = "small.txt";
/// Files of 1 MiB: prose, bytes that each take six in JSON, bytes that are no text.
const TEXT: &str = "text.txt";
const CONTROLS: &str = "controls.txt";
const BINARY: &str = "binary.bin";

const MIB: usize = 1 << 20;
const ROUNDS: usize = 15;
const ROUND_TRIPS: usize = 5;
/// Answers that a slow client asks for at once.
const OWED: usize = 256;

/// The files that are read.
#[derive(Debug)]
pub(super) struct DataDir {
    directory: TempDir,
    path: String,
}

impl DataDir {
    pub(super) fn new() -> Outcome<Self> {
        let directory = TempDir::new()?;
        let path = directory.path().to_str().ok_or("the temporary directory is not UTF-8")?.to_owned();
        let prose = "The quick brown fox jumps over the lazy dog, said \"nobody\".\n";
        let files = [
            (SMALL, "x".repeat(100)),
            (TEXT, prose.repeat(MIB / prose.len())),
            (CONTROLS, "\u{1}".repeat(MIB)),
            (BINARY, "\0\u{7f}\u{80}".repeat(MIB / 4)),
        ];
        for (name, content) in files {
            fs::write(directory.path().join(name), content)?;
        }
        Ok(Self { directory, path })
    }

    /// The settings of a server that reads them.
    pub(super) fn settings(&self) -> [(&str, &str); 2] {
        [("MCP_SAFE_DATA_DIR", &self.path), ("MCP_QUEUE_WAIT_MS", "600000")]
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

fn read(id: usize, name: &str, encoding: &str) -> Vec<u8> {
    let arguments = format!(r#"{{"relative_path":"{name}","max_bytes":{MIB},"encoding":"{encoding}"}}"#);
    call(id, "sandbox_fs_read", &arguments)
}

/// The files of 1 MiB, and the arguments that ask for them.
const LARGE: [(&str, &str); 2] = [(TEXT, "utf-8"), (BINARY, "base64")];

pub(super) fn measure(data: &DataDir) -> Outcome {
    for (name, encoding) in LARGE {
        let mut server = Child::server(&data.settings())?;
        let line = read(1, name, encoding);
        let answer_bytes = server.ask(&line)?.len();
        let mut limit = Child::start(echo::command(Shape::Worker, answer_bytes)?)?;
        let task = Task::RoundTrips(&line, ROUND_TRIPS);
        let score = contest(ROUNDS, (&mut server, task), (&mut limit, task))?;
        report::row(&format!("sandbox_fs_read, 1 MiB as {encoding}: round trip"), score)?;
        server.end()?;
        limit.end()?;
    }
    Ok(())
}

/// Measures the work of the server's process for a page, its write included, beside the bare work.
///
/// To be called on one core: where reader and writer of a pipe run at once, the kernel has each spin for the other's lock
/// (`mutex_spin_on_owner`), for as long as the client takes.
pub(super) fn measure_work(data: &DataDir) -> Outcome {
    for (name, encoding) in LARGE {
        let mut server = Child::server(&data.settings())?;
        let line = read(1, name, encoding);
        let mut costs = Vec::with_capacity(ROUNDS);
        for _ in 0..=ROUNDS {
            costs.push(Task::RoundTrips(&line, ROUND_TRIPS).cost(&mut server)?.cpu_micros);
        }
        server.end()?;
        let (cpu, bare) = (median(costs.into_iter().skip(1)), bare_micros(data, name, encoding)?);
        let what = format!("sandbox_fs_read, 1 MiB as {encoding}: CPU, beside the bare work");
        report::times(&what, cpu, bare, cpu / bare)?;
    }
    Ok(())
}

/// Reads a file and encodes the answer: the bare work.
fn bare_micros(data: &DataDir, name: &str, encoding: &str) -> Outcome<f64> {
    let mut times = Vec::with_capacity(ROUNDS);
    let mut out = Vec::new();
    for _ in 0..ROUNDS {
        let begin = ClockId::CLOCK_THREAD_CPUTIME_ID.now()?;
        let content = fs::read(data.file(name))?;
        let mut body = AsciiWriter::default();
        match encoding {
            "base64" => body.base64(&content),
            _ => body.string(std::str::from_utf8(&content)?),
        };
        let body = body.finish();
        let parts = vec![Part::Quoted, Part::Plain];
        out.clear();
        Line::result_of_parts(&RequestId::Unsigned(1), &body, parts).write_to(&mut out)?;
        times.push(micros((ClockId::CLOCK_THREAD_CPUTIME_ID.now()? - begin).into()));
    }
    Ok(median(times))
}

/// Measures the server's peak memory: idle, and with more answers than its client reads.
pub(super) fn measure_memory(data: &DataDir) -> Outcome {
    report::plain_section("the most memory, in KiB")?;
    let idle = Child::server(&data.settings())?;
    let mut echo = Child::start(echo::command(Shape::Worker, 1)?)?;
    echo.ask(b"\n")?;
    let (server_kib, echo_kib) = (idle.peak_kib()?, echo.peak_kib()?);
    report::fact("an initialized session", &format!("{server_kib} (echo: {echo_kib})"))?;
    idle.end()?;
    echo.end()?;
    for (name, encoding) in [(TEXT, "utf-8"), (BINARY, "base64"), (CONTROLS, "utf-8")] {
        let mut server = Child::server(&data.settings())?;
        let lines: Vec<u8> = (1..=OWED).flat_map(|id| read(id, name, encoding)).collect();
        server.send(&lines)?;
        until_at_rest(&server)?;
        server.skip(OWED)?;
        let what = format!("{OWED} pages of 1 MiB ({name}), read late");
        report::fact(&what, &server.peak_kib()?.to_string())?;
        server.end()?;
    }
    Ok(())
}

/// Waits until the server uses no more CPU time: it cannot go on before its client reads.
fn until_at_rest(server: &Child) -> Outcome {
    loop {
        let before = server.usage()?.cpu;
        thread::sleep(Duration::from_millis(50));
        if server.usage()?.cpu - before < Duration::from_millis(1) {
            return Ok(());
        }
    }
}
