//! The real binary as a child process, and a client that checks everything it writes.
//!
//! Every wait has a limit, every line is checked against MCP's own schemas, no process outlives its test.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{self, Signal};
use nix::sys::termios::{self, LocalFlags, OutputFlags, SetArg};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::schema::Judge;

/// The longest wait for anything, after which the test fails.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// The revision that is spoken without a handshake.
pub(crate) const MODERN: &str = "2026-07-28";

/// The revisions that `initialize` negotiates.
pub(crate) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Settings as a test writes them.
pub(crate) type Settings<'a> = &'a [(&'a str, &'a str)];

/// The kinds of stdin and stdout that a parent can give a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Two pipes, as MCP clients use.
    Pipes,
    /// Two pipes whose far ends do not block.
    NonBlockingPipes,
    /// One socket that is both: inetd, systemd's `Accept=yes`.
    Socket,
    /// The same socket, not blocking.
    NonBlockingSocket,
    /// One terminal that is both: a human.
    Terminal,
}

impl Style {
    pub(crate) const ALL: [Self; 5] =
        [Self::Pipes, Self::NonBlockingPipes, Self::Socket, Self::NonBlockingSocket, Self::Terminal];
}

/// Our end of the child's stdin.
#[derive(Debug)]
pub(crate) enum Input {
    Pipe(io::PipeWriter),
    Socket(UnixStream),
    Terminal(File),
}

impl Input {
    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Pipe(pipe) => pipe.write_all(bytes),
            Self::Socket(socket) => socket.write_all(bytes),
            Self::Terminal(terminal) => terminal.write_all(bytes),
        }
    }

    /// Ends the child's input without ending its output.
    pub(crate) fn end(self) {
        match self {
            Self::Pipe(pipe) => drop(pipe),
            Self::Socket(socket) => socket.shutdown(std::net::Shutdown::Write).unwrap(),
            // Ctrl-D.
            Self::Terminal(mut terminal) => terminal.write_all(b"\x04").unwrap(),
        }
    }
}

/// Prepares the binary with its settings and no other environment.
pub(crate) fn command(settings: Settings) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-server-suite"));
    command.env_clear().envs(settings.iter().copied());
    command
}

/// A running child. Killed when dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    stderr: Receiver<String>,
}

impl Process {
    /// Starts `command`, whose stdin and stdout are set; its stderr is ours.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stderr.take().unwrap();
        let (sender, stderr) = mpsc::channel();
        thread::Builder::new()
            .spawn(move || {
                let mut bytes = Vec::new();
                pipe.read_to_end(&mut bytes).unwrap();
                // The receiver is gone: the test is over.
                sender.send(String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
            })
            .unwrap();
        Self { child, stderr }
    }

    /// Waits for the end. Returns the exit status and stderr.
    pub(crate) fn wait(&mut self) -> (ExitStatus, String) {
        let stderr = self.stderr.recv_timeout(LIMIT).expect("the process does not end");
        // A process that has closed its stderr without being asked to is ending.
        (self.child.wait().unwrap(), stderr)
    }

    pub(crate) fn signal(&self, signal: Signal) {
        signal::kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).unwrap();
    }

    /// Takes our end of a stdout that was made by [`Stdio::piped`].
    pub(crate) fn stdout(&mut self) -> ChildStdout {
        self.child.stdout.take().unwrap()
    }

    /// The most memory it ever had resident, in KiB.
    pub(crate) fn peak_memory_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse().unwrap()
    }

    pub(crate) fn threads(&self) -> usize {
        self.count("task")
    }

    pub(crate) fn thread_names(&self) -> Vec<String> {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap().flatten();
        threads.filter_map(|it| fs::read_to_string(it.path().join("comm")).ok()).collect()
    }

    pub(crate) fn descriptors(&self) -> usize {
        self.count("fd")
    }

    /// Returns for each thread true when it cannot gain privileges.
    pub(crate) fn no_new_privileges(&self) -> Vec<bool> {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        threads
            .map(|it| {
                fs::read_to_string(it.unwrap().path().join("status")).unwrap().contains("NoNewPrivs:\t1")
            })
            .collect()
    }

    fn count(&self, directory: &str) -> usize {
        fs::read_dir(format!("/proc/{}/{directory}", self.child.id())).unwrap().count()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail when it has ended, which is what they are for.
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

/// Starts `serve` in this style: the child, our end of its stdin, our end of its stdout.
pub(crate) fn serve(settings: Settings, style: Style) -> (Process, Input, File) {
    let mut command = command(settings);
    let non_blocking = matches!(style, Style::NonBlockingPipes | Style::NonBlockingSocket);
    let (stdin, stdout, input, output): (OwnedFd, OwnedFd, Input, OwnedFd) = match style {
        Style::Pipes | Style::NonBlockingPipes => {
            let (child_in, ours_in) = io::pipe().unwrap();
            let (ours_out, child_out) = io::pipe().unwrap();
            (child_in.into(), child_out.into(), Input::Pipe(ours_in), ours_out.into())
        }
        Style::Socket | Style::NonBlockingSocket => {
            let (ours, child) = UnixStream::pair().unwrap();
            let reads = ours.try_clone().unwrap();
            (child.try_clone().unwrap().into(), child.into(), Input::Socket(ours), reads.into())
        }
        Style::Terminal => {
            let pty = nix::pty::openpty(None, None).unwrap();
            let mut mode = termios::tcgetattr(&pty.slave).unwrap();
            mode.local_flags.remove(LocalFlags::ECHO);
            mode.output_flags.remove(OutputFlags::OPOST);
            termios::tcsetattr(&pty.slave, SetArg::TCSANOW, &mode).unwrap();
            let writes = File::from(pty.master.try_clone().unwrap());
            (pty.slave.try_clone().unwrap(), pty.slave, Input::Terminal(writes), pty.master)
        }
    };
    if non_blocking {
        set_non_blocking(&stdin);
        set_non_blocking(&stdout);
    }
    command.stdin(stdin).stdout(stdout);
    (Process::start(command), input, output.into())
}

fn set_non_blocking(fd: &impl AsFd) {
    let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL).unwrap());
    fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK)).unwrap();
}

/// A client of one session.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) process: Process,
    /// None once ended.
    input: Option<Input>,
    lines: Receiver<Vec<u8>>,
    judge: Judge,
    /// Messages that came during a wait for another one.
    early: Vec<Value>,
    last_id: u64,
}

/// The end of a session.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stderr: String,
    /// Messages that were not taken as an answer.
    pub(crate) messages: Vec<Value>,
}

impl Ended {
    /// Checks that the exit was clean.
    #[track_caller]
    pub(crate) fn cleanly(self) -> Self {
        assert_eq!((self.status.code(), self.status.signal()), (Some(0), None), "{}", self.stderr);
        self
    }
}

impl Client {
    /// A session over pipes, without a handshake.
    pub(crate) fn start(settings: Settings) -> Self {
        Self::start_in_style(settings, Style::Pipes)
    }

    pub(crate) fn start_in_style(settings: Settings, style: Style) -> Self {
        let (process, input, output) = serve(settings, style);
        Self::over(process, input, output)
    }

    /// A session with what `command` starts, over pipes.
    pub(crate) fn of(mut command: Command) -> Self {
        let ((stdin, input), (output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
        command.stdin(stdin).stdout(stdout);
        Self::over(Process::start(command), Input::Pipe(input), OwnedFd::from(output).into())
    }

    fn over(process: Process, input: Input, output: File) -> Self {
        let (sender, lines) = mpsc::channel();
        let read = move || {
            // A terminal whose other side is gone reads as EIO, not as its end; a test that is over needs no lines.
            BufReader::new(output).split(b'\n').map_while(Result::ok).try_for_each(|line| sender.send(line))
        };
        thread::Builder::new().spawn(read).unwrap();
        let judge = Judge::default();
        Self { process, input: Some(input), lines, judge, early: Vec::new(), last_id: 0 }
    }

    /// A session over pipes after the handshake of this revision.
    pub(crate) fn initialized(settings: Settings, revision: &str) -> Self {
        let mut client = Self::start(settings);
        client.initialize(revision);
        client
    }

    pub(crate) fn initialize(&mut self, revision: &str) -> Value {
        let answer = self.ask("initialize", initialize_params(revision));
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    /// Sends bytes as they are. Lines that are not messages may be answered with one error for each line.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        self.judge.sent_raw(bytes);
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Sends a line that no [`Value`] can hold, but whose request is `message`.
    pub(crate) fn send_raw_as(&mut self, line: &str, message: &Value) {
        self.judge.sent(message);
        self.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.judge.sent(message);
        self.input.as_mut().unwrap().write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    /// Sends a request under a new id, which is returned.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = json!(self.last_id);
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
        message["params"] = params;
        self.send(&message);
        id
    }

    /// Sends a `tools/call` of the era that the session is in; its id is returned.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut params = json!({"name": tool});
        params["arguments"] = arguments;
        if self.judge.is_initialized() {
            self.request("tools/call", params)
        } else {
            self.request("tools/call", modern(params))
        }
    }

    pub(crate) fn cancel(&mut self, id: &Value) {
        let params = json!({"requestId": id});
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    }

    /// Sends a request and waits for its answer: the whole message.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(&id)
    }

    /// Calls a tool and waits for the result.
    pub(crate) fn use_tool(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.call(tool, arguments);
        self.answer(&id)["result"].take()
    }

    /// The answer to the request of this id, which may have come before.
    pub(crate) fn answer(&mut self, id: &Value) -> Value {
        if let Some(found) = self.early.iter().position(|message| is_answer_to(message, id)) {
            return self.early.remove(found);
        }
        loop {
            let message =
                self.read().unwrap_or_else(|| panic!("the session ended without an answer to {id}"));
            if is_answer_to(&message, id) {
                return message;
            }
            self.early.push(message);
        }
    }

    /// The next message.
    pub(crate) fn next(&mut self) -> Value {
        if self.early.is_empty() { self.read().expect("the session ended") } else { self.early.remove(0) }
    }

    /// Sends a signal again and again until it has an effect: two that follow closely may count as one.
    pub(crate) fn insist(&mut self, signal: Signal) {
        const PATIENCE: Duration = Duration::from_millis(50);
        let begun = Instant::now();
        while begun.elapsed() < LIMIT {
            self.process.signal(signal);
            if let Ok(line) = self.lines.recv_timeout(PATIENCE) {
                let message = self.judge.received(&line);
                return self.early.push(message);
            }
        }
        panic!("nothing came of {signal}");
    }

    /// Sends a `ping` and returns all messages before its answer.
    pub(crate) fn until_pong(&mut self) -> Vec<Value> {
        let id = self.request("ping", json!({}));
        let pong = self.answer(&id);
        assert_eq!(pong["result"], json!({}), "{pong}");
        std::mem::take(&mut self.early)
    }

    /// The next line; none at the end of the stream.
    fn read(&mut self) -> Option<Value> {
        match self.lines.recv_timeout(LIMIT) {
            Ok(line) => Some(self.judge.received(&line)),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("nothing came within {LIMIT:?}"),
        }
    }

    /// Ends the child without asking it.
    pub(crate) fn kill(&self) {
        self.process.signal(Signal::SIGKILL);
    }

    /// Ends the child's input and waits for its end.
    pub(crate) fn end(mut self) -> Ended {
        self.end_input();
        self.wait()
    }

    pub(crate) fn end_input(&mut self) {
        self.input.take().unwrap().end();
    }

    /// Waits for the child's end, for any reason.
    pub(crate) fn wait(mut self) -> Ended {
        let mut messages = std::mem::take(&mut self.early);
        messages.extend(std::iter::from_fn(|| self.read()));
        let (status, stderr) = self.process.wait();
        Ended { status, stderr, messages }
    }
}

fn is_answer_to(message: &Value, id: &Value) -> bool {
    message.get("method").is_none() && message.get("id") == Some(id)
}

/// The params of an `initialize`.
pub(crate) fn initialize_params(revision: &str) -> Value {
    json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "it", "version": "0"}})
}

/// Returns `params` with the `_meta` that makes a request modern.
pub(crate) fn modern(mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    params
}

/// The problem document inside a tool result.
#[track_caller]
pub(crate) fn problem(result: &Value) -> Value {
    assert_eq!(result["isError"], true, "{result}");
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
}

/// Asserts that something took between `least` and `most` milliseconds.
#[track_caller]
pub(crate) fn took(since: Instant, least: u64, most: u64) {
    let elapsed = since.elapsed();
    assert!(
        (Duration::from_millis(least)..=Duration::from_millis(most)).contains(&elapsed),
        "took {elapsed:?}, expected {least} to {most} ms"
    );
}
