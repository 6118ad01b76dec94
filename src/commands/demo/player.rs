//! The demo's client: a child server over pipes, one question at a time, no wait without a limit.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read, Write},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::{
    commands::demo::{
        END_LIMIT, Failed, Stop, TICK, end, log_tail,
        sandbox::Sandbox,
        script::{Ask, Step},
        wait,
    },
    diagnostics::complain,
};

/// How long an answer may take: the server's own deadlines are shorter.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// Lines of the server's that wait to be looked at.
const LINES: usize = 64;
/// How long a statement runs in the demo, in ms: long enough for every step but the one that must run out of time.
const STATEMENT_TIMEOUT_MS: &str = "1000";

/// What came back.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    /// A JSON-RPC response.
    Response(Value),
    /// Nothing, as it should be.
    Silence,
    /// What `check` printed.
    Printed(String),
}

/// The client and its server. Dropped, it ends the server.
#[derive(Debug)]
pub(super) struct Player {
    server: Child,
    to_server: Option<ChildStdin>,
    from_server: Receiver<String>,
    check: Command,
    log: PathBuf,
    last_id: u64,
}

impl Player {
    /// Starts a server of the sandbox, in a process group of its own, so that a Ctrl-C reaches only us.
    pub(super) fn start(sandbox: &Sandbox) -> Result<Self, Failed> {
        let log = sandbox.log();
        let stderr = File::create(&log).map_err(Failed::io("make a log for the server"))?;
        let mut server = sandbox
            .server()?
            .env("MCP_SQL_STATEMENT_TIMEOUT_MS", STATEMENT_TIMEOUT_MS)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .process_group(0)
            .spawn()
            .map_err(Failed::io("start the server"))?;
        let (to_server, stdout) = (server.stdin.take(), server.stdout.take());
        let (lines, from_server) = mpsc::sync_channel(LINES);
        // Ends with the server's stdout, or when nobody listens any more.
        let reader = move || {
            let read = stdout.map(BufReader::new).into_iter().flat_map(BufRead::lines);
            read.map_while(Result::ok).try_for_each(|line| lines.send(line)).unwrap_or_default();
        };
        let check = sandbox.check()?;
        let player = Self { server, to_server, from_server, check, log, last_id: 0 };
        thread::Builder::new()
            .name("demo-reader".to_owned())
            .spawn(reader)
            .map_err(Failed::io("start a thread"))?;
        Ok(player)
    }

    /// Asks what the step asks, and returns what comes back.
    pub(super) fn play(&mut self, step: &Step, stop: &Stop) -> Result<Answer, Failed> {
        match &step.ask {
            Ask::Legacy { method, params } => {
                let id = self.send(method, params)?;
                let answer = self.receive(id, stop)?;
                if *method == "initialize" {
                    self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
                }
                Ok(answer)
            }
            Ask::Modern { method, params } => {
                let id = self.send(method, &modern(params.clone()))?;
                self.receive(id, stop)
            }
            Ask::Call { tool, arguments } => {
                let id = self.call(tool, arguments)?;
                self.receive(id, stop)
            }
            Ask::CancelledCall { tool, arguments } => {
                let id = self.call(tool, arguments)?;
                let params = json!({ "requestId": id, "reason": "the user changed their mind" });
                self.write(
                    &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
                )?;
                // Whatever was asked earlier would be answered by now, or is never answered.
                let later = self.send("ping", &json!({}))?;
                self.receive(later, stop).map(|_| Answer::Silence)
            }
            Ask::Check => self.check(stop),
        }
    }

    /// What `check` prints, which fits a pipe, with paths as from the sandbox's own directory.
    fn check(&mut self, stop: &Stop) -> Result<Answer, Failed> {
        let command = self.check.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut check = command.spawn().map_err(Failed::io("start check"))?;
        wait(&mut check, ANSWER_LIMIT, "check", stop)?;
        let mut printed = String::new();
        let read = check.stdout.take().map(|mut stdout| stdout.read_to_string(&mut printed)).transpose();
        read.map_err(Failed::io("read what check prints"))?;
        let directory = command.get_current_dir().map(|path| format!("{}/", path.display()));
        Ok(Answer::Printed(printed.replace(&directory.unwrap_or_default(), "")))
    }

    /// Closes the server's input and waits for its end.
    pub(super) fn leave(mut self, stop: &Stop) -> Result<ExitStatus, Failed> {
        drop(self.to_server.take());
        let status = wait(&mut self.server, END_LIMIT, "the server's end", stop)?;
        match self.from_server.recv_timeout(END_LIMIT) {
            Ok(line) => Err(self.failed(format!("said at the end what nobody asked: {line}"))),
            Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => Ok(status),
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<u64, Failed> {
        self.send("tools/call", &modern(json!({ "name": tool, "arguments": arguments })))
    }

    fn send(&mut self, method: &str, params: &Value) -> Result<u64, Failed> {
        self.last_id += 1;
        let id = self.last_id;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        Ok(id)
    }

    fn write(&mut self, message: &Value) -> Result<(), Failed> {
        let written = match &mut self.to_server {
            Some(stdin) => writeln!(stdin, "{message}"),
            None => Ok(()),
        };
        written.map_err(|error| self.failed(format!("does not listen: {error}")))
    }

    /// The response to `id`. Notifications are passed over; a response to anything else is a fault.
    fn receive(&mut self, id: u64, stop: &Stop) -> Result<Answer, Failed> {
        let start = Instant::now();
        while start.elapsed() < ANSWER_LIMIT {
            stop.check()?;
            let line = match self.from_server.recv_timeout(TICK) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Err(self.failed("is gone".to_owned())),
            };
            let message: Value = serde_json::from_str(&line)
                .map_err(|error| self.failed(format!("wrote what is no JSON ({error}): {line}")))?;
            if message.get("method").is_some() {
                continue;
            }
            if message.get("id") != Some(&json!(id)) {
                return Err(self.failed(format!("answered what nobody asked: {line}")));
            }
            return Ok(Answer::Response(message));
        }
        Err(Failed::TooSlow("an answer"))
    }

    fn failed(&self, what: String) -> Failed {
        Failed::Program { program: "the server", what, log: log_tail(&self.log) }
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        drop(self.to_server.take());
        if let Err(error) = end(&mut self.server, Signal::SIGTERM) {
            complain(&format!("cannot end the server: {error}"));
        }
    }
}

/// Adds what every request of 2026-07-28 carries.
fn modern(mut params: Value) -> Value {
    if let Some(params) = params.as_object_mut() {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "demo", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        params.insert("_meta".to_owned(), meta);
    }
    params
}
