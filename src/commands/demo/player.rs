//! The demo's client: a child server over pipes, one question at a time, no wait without a limit.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::child::{DemoError, END_LIMIT, Running, Stop, failed};
use super::sandbox::Sandbox;
use super::script::{Ask, Step};
use super::transcript;

/// The longest wait for an answer: the server's own deadlines are shorter.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// Lines of the server that may wait to be read.
const LINES: usize = 64;
/// The statement timeout, in ms: long enough for every step but the one that must exceed it.
const STATEMENT_TIMEOUT_MS: &str = "1000";
const SERVER: &str = "the server";

/// The client and its server. Dropped, it ends the server.
#[derive(Debug)]
pub(super) struct Player<'s> {
    sandbox: &'s Sandbox,
    server: Running,
    from_server: Receiver<String>,
    last_id: u64,
    stop: &'s Stop,
}

impl<'s> Player<'s> {
    /// Starts a server of the sandbox, in a process group of its own, so that a Ctrl-C reaches only us. It logs errors.
    pub(super) fn start(sandbox: &'s Sandbox, stop: &'s Stop) -> Result<Self, DemoError> {
        let mut server = sandbox.server().map_err(failed(SERVER))?;
        server.env("MCP_SQL_STATEMENT_TIMEOUT_MS", STATEMENT_TIMEOUT_MS).env("MCP_LOG_LEVEL", "error");
        server.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = Running::start(&mut server, SERVER)?;
        let stdout = server.child.stdout.take();
        let (lines, from_server) = mpsc::sync_channel(LINES);
        // Ends with the server's stdout, or when the player is dropped.
        let reader = move || {
            let read = stdout.map(BufReader::new).into_iter().flat_map(BufRead::lines);
            read.map_while(Result::ok).try_for_each(|line| lines.send(line)).unwrap_or_default();
        };
        thread::Builder::new().name("demo-reader".to_owned()).spawn(reader).map_err(failed("a thread"))?;
        Ok(Self { sandbox, server, from_server, last_id: 0, stop })
    }

    /// Asks the question of a step, and returns the answer as lines.
    pub(super) fn play(&mut self, step: &Step) -> Result<Vec<String>, DemoError> {
        let Step(ask, _, name, _) = *step;
        let arguments = step.arguments();
        let id = match ask {
            Ask::Check => return self.check(),
            Ask::Legacy => self.send(name, &arguments)?,
            Ask::Modern => self.send(name, &modern(arguments))?,
            Ask::Call | Ask::DatabaseCall | Ask::CancelledCall => {
                self.send("tools/call", &modern(json!({ "name": name, "arguments": arguments })))?
            }
        };
        if ask == Ask::CancelledCall {
            let params = json!({ "requestId": id, "reason": "the user changed their mind" });
            self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }))?;
            // An earlier request would be answered before this one, or it never is.
            let later = self.send("ping", &json!({}))?;
            return self.receive(later).map(|_| vec!["(nothing; the session goes on)".to_owned()]);
        }
        let answer = self.receive(id)?;
        if name == "initialize" {
            self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        }
        Ok(transcript::answer(&answer))
    }

    /// Runs `check`, whose report fits a pipe, and returns it with paths relative to the sandbox.
    fn check(&self) -> Result<Vec<String>, DemoError> {
        let mut check = self.sandbox.check().map_err(failed("check"))?;
        check.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut check = Running::start(&mut check, "check")?;
        check.wait(ANSWER_LIMIT, self.stop)?;
        let printed = check.child.stdout.take().map(io::read_to_string).transpose();
        let printed = printed.map_err(failed("check"))?.unwrap_or_default();
        Ok(self.sandbox.relative(&printed).lines().map(str::to_owned).collect())
    }

    /// Closes the server's input and waits for its end.
    pub(super) fn leave(mut self) -> Result<ExitStatus, DemoError> {
        drop(self.server.child.stdin.take());
        let status = self.server.wait(END_LIMIT, self.stop)?;
        let unasked = self.from_server.recv_timeout(END_LIMIT).ok();
        unasked.map_or(Ok(status), |line| Err(failed(SERVER)(format!("wrote at its end: {line}"))))
    }

    fn send(&mut self, method: &str, params: &Value) -> Result<u64, DemoError> {
        self.last_id += 1;
        let id = self.last_id;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        Ok(id)
    }

    fn write(&mut self, message: &Value) -> Result<(), DemoError> {
        let mut stdin = self.server.child.stdin.iter_mut();
        stdin.try_for_each(|stdin| writeln!(stdin, "{message}")).map_err(failed(SERVER))
    }

    /// Receives the response to `id`; another message is a fault.
    fn receive(&self, id: u64) -> Result<Value, DemoError> {
        let line = self.stop.wait(SERVER, ANSWER_LIMIT, || match self.from_server.try_recv() {
            Ok(line) => Ok(Some(line)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(gone @ TryRecvError::Disconnected) => Err(failed(SERVER)(gone)),
        })?;
        let message: Value = serde_json::from_str(&line).map_err(failed(SERVER))?;
        if message.get("id") == Some(&json!(id)) {
            Ok(message)
        } else {
            Err(failed(SERVER)(format!("answered a question that was not asked: {line}")))
        }
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
