//! A server that cannot be reached, or refuses the login: each call reports it in time, and `check` names cause and cure.

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::time::{Duration, Instant};

use mcp_server_suite::call::{Failure, Unavailable};
use mcp_server_suite::postgres::Database;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrIn, bind, connect, getsockname, listen, socket,
};
use serde_json::{Value, json};

use crate::cluster::{Cluster, PASSWORD};
use crate::sql::faults::wait_until;
use crate::sql::run::{LIMIT, Rig, config, query};
use crate::support::{Client, command, took};

/// The output of `check` with these settings, and its exit code.
fn checked(settings: &[(&str, &str)]) -> (String, Option<i32>) {
    let output = command(settings).arg("check").output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

/// `check` fails on this connection string, and neither it nor a call takes long or shows a password.
#[track_caller]
fn check(dsn: &str, expected: &[&str]) {
    let begun = Instant::now();
    let (report, code) = checked(&[("MCP_SQL_DSN", dsn), ("MCP_SQL_CONNECT_TIMEOUT_MS", "1000")]);
    took(begun, 0, 15_000);
    assert_eq!(code, Some(1), "{report}");
    for part in expected {
        assert!(report.contains(part), "{part} is not in {report}");
    }
    assert!(!report.contains("horse") && !report.contains("p@ss"), "{report}");
    let mut settings = config(dsn);
    settings.connect_timeout = Duration::from_secs(1);
    let begun = Instant::now();
    let outcome = query(&Database::new(settings), "SELECT 1");
    took(begun, 0, 15_000);
    assert!(matches!(outcome, Err(Failure::Unavailable(Unavailable::Database { .. }, _))), "{outcome:?}");
}

#[test]
fn a_server_that_cannot_be_reached_or_refuses_is_reported_with_its_cure() {
    let shared = Cluster::shared();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    check(
        &format!("postgres://reader:wrong-horse@127.0.0.1:{free}/seed"),
        &["refused", "is PostgreSQL running"],
    );
    check("host=/nowhere user=reader dbname=seed", &["is PostgreSQL running, and does it listen there?"]);
    // No resolver is asked for a name that cannot be one.
    let name = "x".repeat(64);
    check(&format!("postgres://reader@{name}.invalid/seed"), &["lookup", "check the host's name in the DSN"]);
    check(
        &format!("postgres://reader:wrong-horse@127.0.0.1:{}/seed", shared.port()),
        &["check the password"],
    );
    check(
        &format!("postgres://nobody:wrong-horse@127.0.0.1:{}/seed", shared.port()),
        &["check the password"],
    );
    check(&format!("postgres://reader@127.0.0.1:{}/seed", shared.port()), &["give a password"]);
    check(&shared.url("nowhere"), &["does not exist", "check the database's name"]);
    check(&format!("{}?target_session_attrs=standby", shared.url("seed")), &["target_session_attrs"]);
    check(&format!("{}?options=-c%20nonsense%3D1", shared.url("seed")), &["nonsense", "'options'"]);
    #[cfg(feature = "tls")]
    check(&format!("{}?sslmode=require", shared.url("seed")), &["does not support TLS", "sslmode=prefer"]);
    let closed = shared.database("");
    shared
        .admin("postgres")
        .batch_execute(&format!("REVOKE CONNECT ON DATABASE {closed} FROM PUBLIC"))
        .unwrap();
    check(&shared.url(&closed), &["permission denied", "GRANT CONNECT"]);
    shared
        .admin("postgres")
        .batch_execute(&format!("ALTER DATABASE {closed} ALLOW_CONNECTIONS false"))
        .unwrap();
    check(&shared.url(&closed), &["not currently accepting connections", "ALLOW_CONNECTIONS"]);
}

/// A socket whose queue of connections is full: what else comes is dropped without a word, as a firewall does.
struct Dropping {
    address: SockaddrIn,
    _sockets: Vec<OwnedFd>,
}

impl Dropping {
    fn new() -> Self {
        let open = |flags| socket(AddressFamily::Inet, SockType::Stream, flags, None).unwrap();
        let listener = open(SockFlag::empty());
        bind(listener.as_raw_fd(), &SockaddrIn::new(127, 0, 0, 1, 0)).unwrap();
        listen(&listener, Backlog::new(0).unwrap()).unwrap();
        let address: SockaddrIn = getsockname(listener.as_raw_fd()).unwrap();
        let mut sockets = vec![listener];
        // One fills the queue; the others are there if the kernel rounds up.
        for _ in 0..8 {
            let socket = open(SockFlag::SOCK_NONBLOCK);
            // In progress, or waiting for room.
            connect(socket.as_raw_fd(), &address).unwrap_or_default();
            sockets.push(socket);
        }
        Self { address, _sockets: sockets }
    }
}

#[test]
fn a_server_behind_a_firewall_that_drops_is_given_up_in_time() {
    let dropping = Dropping::new();
    let port = dropping.address.port();
    check(
        &format!("postgres://reader:wrong-horse@127.0.0.1:{port}/seed"),
        &["firewall", "MCP_SQL_CONNECT_TIMEOUT_MS"],
    );
    // Another server is asked for, and the name that leads nowhere does not matter.
    let several = format!(
        "host=127.0.0.1,{name},127.0.0.1 port={port},{port},{} user=reader password='{PASSWORD}' dbname=seed \
         connect_timeout=2 target_session_attrs=primary",
        Cluster::shared().port(),
        name = "x".repeat(64),
    );
    query(&Database::new(config(&several)), "SELECT 1").unwrap();
}

/// Eight calls at once on so few connections: rows, or one error that hides nothing; and then all is well.
#[track_caller]
fn crowd(url: &str, at_least: usize, log: &str, make_room: impl FnOnce()) {
    let settings = [("MCP_SQL_DSN", url), ("MCP_SQL_UNSAFE_ROLE", "warn")];
    let mut client = Client::initialized(&settings, "2025-11-25");
    let ask = |client: &mut Client| client.call("read_only_sql", json!({"query": "SELECT 1"}));
    let begun = Instant::now();
    let calls: Vec<Value> = (0..8).map(|_| ask(&mut client)).collect();
    let answers: Vec<Value> = calls.iter().map(|id| client.answer(id)).collect();
    took(begun, 0, 20_000);
    let served =
        answers.iter().filter(|answer| answer["result"]["structuredContent"]["rows"] == json!([[1]]));
    let refused =
        answers.iter().filter(|answer| answer["error"]["message"] == "The database cannot be reached");
    let (served, refused) = (served.count(), refused.count());
    assert!(served >= at_least && served + refused == 8, "{answers:?}");
    make_room();
    let id = ask(&mut client);
    assert_eq!(client.answer(&id)["result"]["structuredContent"]["rows"], json!([[1]]));
    let stderr = client.end().cleanly().stderr;
    assert_eq!(stderr.contains(log), refused > 0, "{stderr}");
}

#[test]
fn a_connection_limit_that_is_reached_is_reported_and_ends_with_its_cause() {
    let rig = Rig::new("CREATE ROLE few LOGIN CONNECTION LIMIT 1; GRANT SELECT ON item TO few");
    let shared = Cluster::shared();
    let dsn = shared.socket_dsn("few", &rig.name);
    let mut taken = Some(shared.client("few", &rig.name));
    let limit = "too many connections for role \"few\"";
    check(&dsn, &[limit, "raise max_connections, or the CONNECTION LIMIT of the role"]);
    crowd(&dsn, 0, limit, || drop(taken.take()));
    let others = format!(
        "SELECT count(*) = 0 FROM pg_stat_activity WHERE usename = 'few' AND datname = '{}'",
        rig.name
    );
    wait_until(&mut rig.admin(), &others);
    // One connection is enough for eight calls that wait for their turn.
    crowd(&dsn, 8, limit, || ());

    let name = &rig.name;
    shared.admin("postgres").batch_execute(&format!("ALTER DATABASE {name} CONNECTION LIMIT 0")).unwrap();
    check(&shared.url(name), &["too many connections for database", "CONNECTION LIMIT"]);
}

#[test]
fn a_server_whose_connections_are_all_taken_is_reported() {
    let cluster = Cluster::start();
    cluster.admin("postgres").batch_execute("ALTER SYSTEM SET max_connections = 5").unwrap();
    cluster.pg_ctl(&["restart", "-m", "fast", "-l", "server.log"]);
    let url = cluster.url("seed");
    let mut taken: Vec<_> = (0..2).map(|_| cluster.client("reader", "seed")).collect();
    // Of PostgreSQL's wordings: the one for all slots, the one for those that are not reserved.
    check(&url, &["remaining connection slots are reserved", "raise max_connections"]);
    crowd(&url, 0, "remaining connection slots are reserved", || {
        taken.clear();
        let begun = Instant::now();
        while Database::new(config(&url)).probe().is_err() {
            assert!(begun.elapsed() < LIMIT);
        }
    });
}
