//! A process on the other side of two pipes, and its use of resources.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

use memchr::memchr_iter;
use nix::time::ClockId;
use nix::unistd::Pid;

use super::Outcome;

/// The program that is measured.
pub(super) const SERVER: &str = env!("CARGO_BIN_EXE_mcp-server-suite");

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}}"#;

/// A child process that reads and writes lines.
#[derive(Debug)]
pub(super) struct Child {
    process: std::process::Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: Vec<u8>,
}

/// The resources that a process has used since its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    pub(super) cpu: Duration,
    /// The number of times that one of its threads gave up or lost its core.
    pub(super) switches: u64,
}

impl Child {
    /// Starts it. Its stderr is not read.
    pub(super) fn start(mut command: Command) -> Outcome<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn()?;
        let stdin = process.stdin.take().ok_or("no stdin")?;
        let stdout = BufReader::with_capacity(256 << 10, process.stdout.take().ok_or("no stdout")?);
        Ok(Self { process, stdin, stdout, line: Vec::new() })
    }

    /// A server with these settings and no others, its session initialized.
    pub(super) fn server(settings: &[(&str, &str)]) -> Outcome<Self> {
        let mut command = Command::new(SERVER);
        command.env_clear().envs(settings.iter().copied());
        let mut server = Self::start(command)?;
        server.ask(&initialize())?;
        Ok(server)
    }

    /// Sends whole lines.
    pub(super) fn send(&mut self, lines: &[u8]) -> io::Result<()> {
        self.stdin.write_all(lines)
    }

    /// Waits for one line.
    pub(super) fn receive(&mut self) -> Outcome<&[u8]> {
        self.line.clear();
        if self.stdout.read_until(b'\n', &mut self.line)? == 0 {
            return Err("the child has ended".into());
        }
        Ok(&self.line)
    }

    /// One round trip.
    pub(super) fn ask(&mut self, line: &[u8]) -> Outcome<&[u8]> {
        self.send(line)?;
        self.receive()
    }

    /// Sends `lines` while `answers` lines are read and thrown away.
    pub(super) fn ask_all(&mut self, lines: &[u8], answers: usize) -> Outcome {
        let Self { stdin, stdout, .. } = self;
        thread::scope(|scope| {
            let sender = thread::Builder::new().spawn_scoped(scope, || stdin.write_all(lines))?;
            skip_lines(stdout, answers)?;
            Ok(sender.join().map_err(|_| "the sender panicked")??)
        })
    }

    /// Reads `count` lines and throws them away.
    pub(super) fn skip(&mut self, count: usize) -> Outcome {
        skip_lines(&mut self.stdout, count)
    }

    /// Returns its use so far. Threads that have ended are not counted among the switches.
    pub(super) fn usage(&self) -> Outcome<Usage> {
        let clock = ClockId::pid_cpu_clock_id(Pid::from_raw(self.process.id().try_into()?))?;
        let mut switches = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.process.id()))? {
            let status = fs::read_to_string(thread?.path().join("status"))?;
            switches += number_in(&status, "voluntary_ctxt_switches:")?;
            switches += number_in(&status, "nonvoluntary_ctxt_switches:")?;
        }
        Ok(Usage { cpu: Duration::from(clock.now()?), switches })
    }

    /// The most memory it has had, in KiB.
    pub(super) fn peak_kib(&self) -> Outcome<u64> {
        number_in(&fs::read_to_string(format!("/proc/{}/status", self.process.id()))?, "VmHWM:")
    }

    /// Ends it by the end of its input.
    pub(super) fn end(self) -> Outcome {
        let Self { mut process, stdin, .. } = self;
        drop(stdin);
        let status = process.wait()?;
        if status.success() { Ok(()) } else { Err(format!("a child ended with {status}").into()) }
    }
}

fn skip_lines(stdout: &mut impl BufRead, mut count: usize) -> Outcome {
    while count > 0 {
        let bytes = stdout.fill_buf()?;
        if bytes.is_empty() {
            return Err("the child has ended".into());
        }
        count = count.saturating_sub(memchr_iter(b'\n', bytes).count());
        let read = bytes.len();
        stdout.consume(read);
    }
    Ok(())
}

/// The number behind `name` in a file of `name value` lines such as `/proc/PID/status`.
fn number_in(text: &str, name: &str) -> Outcome<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name));
    let digits = value.and_then(|value| value.split_whitespace().next());
    Ok(digits.ok_or_else(|| format!("no {name}"))?.parse()?)
}

/// The line that opens a session.
pub(super) fn initialize() -> Vec<u8> {
    format!("{INITIALIZE}\n").into_bytes()
}

/// A request without params.
pub(super) fn request(id: usize, method: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\"}}\n").into_bytes()
}

/// A `tools/call`; `arguments` are JSON.
pub(super) fn call(id: usize, tool: &str, arguments: &str) -> Vec<u8> {
    let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{params}}}\n")
        .into_bytes()
}
