//! The session over real pipes, with tools that hang, panic, or wait at a gate.

mod tools;
mod cases;

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{Config, run};
use crate::governance::Governor;
use crate::tools::Toolbox;

/// The longest wait; one that reaches it has failed.
const LIMIT: Duration = Duration::from_secs(20);

/// Numbers small enough to run into.
const SMALL: Config = Config {
    max_frame_bytes: 4096,
    max_concurrency: 2,
    queue_wait: Duration::from_secs(60),
    queue_capacity: 8,
    call_timeout: Duration::from_secs(60),
    shutdown_grace: Duration::from_secs(60),
};

/// A client of a session that runs in this process.
struct Client {
    to_server: Option<PipeWriter>,
    lines: Receiver<Value>,
    ended: Receiver<()>,
}

impl Client {
    /// A session that is initialized already.
    fn start(config: Config, toolbox: Toolbox) -> Self {
        let mut client = Self::start_unread(config, toolbox).reading();
        client.send(r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#);
        assert_eq!(client.next()["id"], "hello");
        client
    }

    fn start_unread(config: Config, toolbox: Toolbox) -> Unread {
        let (stdin, to_server) = pipe().unwrap();
        let (from_server, stdout) = pipe().unwrap();
        let (end, ended) = channel();
        let serve = move || {
            run(config, toolbox, Governor, stdin.into(), stdout.into()).unwrap();
            end.send(()).ok();
        };
        thread::Builder::new().name("main".to_owned()).spawn(serve).unwrap();
        Unread { to_server, from_server, ended }
    }

    fn send(&mut self, line: &str) {
        let to_server = self.to_server.as_mut().expect("stdin is open");
        to_server.write_all(line.as_bytes()).unwrap();
        to_server.write_all(b"\n").unwrap();
    }

    fn call(&mut self, id: u64, tool: &str) {
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#
        ));
    }

    fn cancel(&mut self, id: u64) {
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        ));
    }

    fn next(&self) -> Value {
        self.lines.recv_timeout(LIMIT).expect("an answer in time")
    }

    /// Closes stdin and returns the lines until the session ends.
    fn end(mut self) -> Vec<Value> {
        self.to_server = None;
        let rest = self.lines.iter().collect();
        assert_ne!(self.ended.recv_timeout(LIMIT), Err(std::sync::mpsc::RecvTimeoutError::Timeout));
        rest
    }

    fn assert_silent(&self) {
        match self.lines.recv_timeout(Duration::from_millis(50)) {
            Err(RecvTimeoutError::Timeout) => {}
            other => panic!("silence expected, not {other:?}"),
        }
    }
}

/// A client that does not read yet.
struct Unread {
    to_server: PipeWriter,
    from_server: PipeReader,
    ended: Receiver<()>,
}

impl Unread {
    fn reading(self) -> Client {
        let (to_client, lines) = channel();
        let from_server = self.from_server;
        let read = move || {
            for line in BufReader::new(from_server).lines() {
                let line = line.unwrap();
                assert!(line.is_ascii(), "{line}");
                to_client.send(serde_json::from_str(&line).unwrap()).ok();
            }
        };
        thread::Builder::new().name("client".to_owned()).spawn(read).unwrap();
        Client { to_server: Some(self.to_server), lines, ended: self.ended }
    }
}
