//! The demo's client: a child server over pipes, one question at a time, no wait without a limit.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::child::{END_LIMIT, Running, TICK, log_tail};
use super::error::DemoError;
use super::sandbox::Sandbox;
use super::script::{Ask, Step};
use super::stop::Stop;

/// The longest wait for an answer: the server's own deadlines are shorter.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// Lines of the server that may wait to be read.
const LINES: usize = 64;
/// The statement timeout, in ms: long enough for every step but the one that must exceed it.
const STATEMENT_TIMEOUT_MS: &str = "1000";

/// The answer to a step.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    /// A JSON-RPC response.
    Response(Value),
    /// No answer, which is right after a cancellation.
    Silence,
    /// The report of `check`.
    Printed(String),
}

/// The client and its server. Dropped, it ends the server.
#[derive(Debug)]
pub(super) struct Player {
    // Dropped before the server, which ends with its input.
    to_server: Option<ChildStdin>,
    server: Running,
    from_server: Receiver<String>,
    check: Command,
    log: PathBuf,
    last_id: u64,
}

impl Player {
    /// Starts a server of the sandbox, in a process group of its own, so that a Ctrl-C reaches only us.
    pub(super) fn start(sandbox: &Sandbox) -> Result<Self, DemoError> {
        let log = sandbox.log();
        let stderr = File::create(&log).map_err(DemoError::cannot("make a log for the server"))?;
        let mut server = sandbox.server()?;
        server.env("MCP_SQL_STATEMENT_TIMEOUT_MS", STATEMENT_TIMEOUT_MS).process_group(0);
        server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        let mut server = Running::start(&mut server, "the server")?;
        let (to_server, stdout) = (server.child.stdin.take(), server.child.stdout.take());
        let (lines, from_server) = mpsc::sync_channel(LINES);
        // Ends with the server's stdout, or when the player is dropped.
        let reader = move || {
            let read = stdout.map(BufReader::new).into_iter().flat_map(BufRead::lines);
            read.map_while(Result::ok).try_for_each(|line| lines.send(line)).unwrap_or_default();
        };
        let check = sandbox.check()?;
        let player = Self { to_server, server, from_server, check, log, last_id: 0 };
        thread::Builder::new()
            .name("demo-reader".to_owned())
            .spawn(reader)
            .map_err(DemoError::cannot("start a thread"))?;
        Ok(player)
    }

    /// Asks the question of a step, and returns the answer.
    pub(super) fn play(&mut self, step: &Step, stop: &Stop) -> Result<Answer, DemoError> {
        let arguments = step.arguments();
        let id = match step.ask {
            Ask::Check => return self.check(stop),
            Ask::Legacy => self.send(step.name, &arguments)?,
            Ask::Modern => self.send(step.name, &modern(arguments))?,
            Ask::Call | Ask::CancelledCall => {
                self.send("tools/call", &modern(json!({ "name": step.name, "arguments": arguments })))?
            }
        };
        if step.ask == Ask::CancelledCall {
            let params = json!({ "requestId": id, "reason": "the user changed their mind" });
            self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }))?;
            // An earlier request would be answered before this one, or it never is.
            let later = self.send("ping", &json!({}))?;
            return self.receive(later, stop).map(|_| Answer::Silence);
        }
        let answer = self.receive(id, stop)?;
        if step.name == "initialize" {
            self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        }
        Ok(answer)
    }

    /// Runs `check`, whose report fits a pipe, and returns it with paths relative to the sandbox.
    fn check(&mut self, stop: &Stop) -> Result<Answer, DemoError> {
        let command = self.check.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut check = Running::start(command, "check")?;
        check.wait(ANSWER_LIMIT, stop)?;
        let mut printed = String::new();
        let read =
            check.child.stdout.take().map(|mut stdout| stdout.read_to_string(&mut printed)).transpose();
        read.map_err(DemoError::cannot("read what check prints"))?;
        let directory = command.get_current_dir().map(|path| format!("{}/", path.display()));
        Ok(Answer::Printed(printed.replace(&directory.unwrap_or_default(), "")))
    }

    /// Closes the server's input and waits for its end.
    pub(super) fn leave(mut self, stop: &Stop) -> Result<ExitStatus, DemoError> {
        drop(self.to_server.take());
        let status = self.server.wait(END_LIMIT, stop)?;
        match self.from_server.recv_timeout(END_LIMIT) {
            Ok(line) => Err(self.failed(format!("wrote at the end what was not asked for: {line}"))),
            Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => Ok(status),
        }
    }

    fn send(&mut self, method: &str, params: &Value) -> Result<u64, DemoError> {
        self.last_id += 1;
        let id = self.last_id;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        Ok(id)
    }

    fn write(&mut self, message: &Value) -> Result<(), DemoError> {
        let written = match &mut self.to_server {
            Some(stdin) => writeln!(stdin, "{message}"),
            None => Ok(()),
        };
        written.map_err(|error| self.failed(format!("does not listen: {error}")))
    }

    /// Receives the response to `id`. Notifications are skipped; a response to another request is a fault.
    fn receive(&mut self, id: u64, stop: &Stop) -> Result<Answer, DemoError> {
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
                return Err(self.failed(format!("answered what was not asked: {line}")));
            }
            return Ok(Answer::Response(message));
        }
        Err(DemoError::TooSlow("an answer"))
    }

    fn failed(&self, what: String) -> DemoError {
        DemoError::Program { program: "the server", what, log: log_tail(&self.log) }
    }
}

/// Adds the `_meta` that every request of 2026-07-28 carries.
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
