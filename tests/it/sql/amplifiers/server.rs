//! A cluster whose backends are capped, and what a statement does to one of them.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use postgres::error::SqlState;
use postgres::{Client, NoTls};

use super::samples;
use crate::cluster::{Cluster, READER};
use crate::support::LIMIT;

/// The memory that a backend may take beyond that of an idle one.
const MEMORY: u64 = 256 << 20;
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(1);
/// The time after its timeout in which a statement may still run.
const LATE: Duration = Duration::from_secs(1);
/// When a backend that does not end is killed.
const KILLED: Duration = Duration::from_secs(8);
/// Statements of a connection: PostgreSQL keeps compiled patterns and more for its life.
const STATEMENTS: usize = 300;

/// As the server sets it.
const SESSION: &str = "SET jit = off; SET statement_timeout = '1s'; SET default_transaction_read_only = on";

/// The ending of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ending {
    Rows,
    /// Its timeout held.
    Canceled,
    Failed,
    OutOfMemory,
    Late,
}

impl Ending {
    pub(super) fn is_find(&self) -> bool {
        matches!(self, Self::OutOfMemory | Self::Late)
    }
}

/// A capped cluster and one connection to it.
pub(super) struct Server {
    cluster: Cluster,
    database: String,
    client: Client,
    pid: i32,
    statements: usize,
    /// Sends the watchdog the backend of a statement that begins, and `None` when it ends.
    watched: Option<Sender<Option<i32>>>,
    watchdog: Option<JoinHandle<()>>,
}

impl Server {
    pub(super) fn start() -> Self {
        let cluster = Cluster::start();
        let database = cluster.database(&samples::setup());
        let mut idle = cluster.client(READER, &database);
        let pid: i32 = idle.query_one("SELECT pg_backend_pid()", &[]).unwrap().get(0);
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let kib = status.lines().find_map(|line| line.strip_prefix("VmData:")?.trim().strip_suffix(" kB"));
        cluster.cap_memory(kib.unwrap().parse::<u64>().unwrap() * 1024 + MEMORY);
        let (watched, events) = channel();
        let watchdog = Builder::new().name("watchdog".to_owned()).spawn(move || watch(&events)).unwrap();
        let (client, pid) = connect(&cluster, &database);
        Self {
            cluster,
            database,
            client,
            pid,
            statements: 0,
            watched: Some(watched),
            watchdog: Some(watchdog),
        }
    }

    /// An administrator's connection to the database.
    pub(super) fn admin(&self) -> Client {
        self.cluster.admin(&self.database)
    }

    /// Runs a statement as the server does: as the innermost part of a query that asks for some rows of text.
    pub(super) fn run(&mut self, canonical: &str) -> Ending {
        self.statements += 1;
        if self.statements > STATEMENTS {
            self.reconnect();
        }
        let sql = format!(
            "SELECT pg_catalog.left(q.x::text, 1000) FROM (SELECT r.* FROM (\n{canonical}\n) AS r (x) OFFSET 0) AS q LIMIT 100"
        );
        let watched = self.watched.as_ref().unwrap();
        watched.send(Some(self.pid)).unwrap();
        let begun = Instant::now();
        let result = self.client.query(&sql, &[]);
        let elapsed = begun.elapsed();
        watched.send(None).unwrap();
        let ending = match result {
            Ok(_) => Ending::Rows,
            Err(error) => match error.as_db_error() {
                Some(db) if *db.code() == SqlState::OUT_OF_MEMORY => Ending::OutOfMemory,
                Some(db) if *db.code() == SqlState::QUERY_CANCELED => Ending::Canceled,
                Some(_) if !self.client.is_closed() => Ending::Failed,
                _ if elapsed > KILLED => Ending::Late,
                _ => Ending::OutOfMemory,
            },
        };
        if ending == Ending::OutOfMemory || self.client.is_closed() {
            self.reconnect();
        }
        if elapsed > STATEMENT_TIMEOUT + LATE && ending != Ending::OutOfMemory {
            Ending::Late
        } else {
            ending
        }
    }

    fn reconnect(&mut self) {
        (self.client, self.pid) = connect(&self.cluster, &self.database);
        self.statements = 0;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.watched.take());
        self.watchdog.take().map(JoinHandle::join);
    }
}

/// Kills a backend that does not end: nothing else ends a call that looks at no cancel.
fn watch(events: &Receiver<Option<i32>>) {
    while let Ok(event) = events.recv() {
        let Some(pid) = event else { continue };
        if events.recv_timeout(KILLED) == Err(RecvTimeoutError::Timeout) {
            // It may have ended this moment.
            kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap_or_default();
        }
    }
}

/// A connection like those of the server. The cluster may be recovering from a backend that was killed.
fn connect(cluster: &Cluster, database: &str) -> (Client, i32) {
    let begun = Instant::now();
    let attempt = || {
        let mut client = Client::connect(&cluster.socket_dsn(READER, database), NoTls)?;
        client.batch_execute(SESSION)?;
        let pid = client.query_one("SELECT pg_backend_pid()", &[])?.get(0);
        Ok::<_, postgres::Error>((client, pid))
    };
    loop {
        match attempt() {
            Ok(connected) => return connected,
            Err(error) => assert!(begun.elapsed() < LIMIT, "{error}"),
        }
        std::thread::yield_now();
    }
}
