//! PgBouncer in transaction mode between us and the server.

use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use std::{fs, thread};

use serde_json::{Value, json};

use crate::cluster::{Cluster, READER};
use crate::support::{Client, LIMIT, command, problem, took};

/// A running PgBouncer, which ends when its standard input does: with us at the latest.
struct Bouncer {
    child: Child,
    port: u16,
    directory: tempfile::TempDir,
}

impl Bouncer {
    /// With three connections for all clients of a user and database.
    fn start(cluster: &Cluster) -> Self {
        let directory = tempfile::Builder::new().prefix("mcp-host-").tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let path = directory.path();
        let server = cluster.socket_dsn("x", "x");
        let host = server.split(' ').next().unwrap();
        let settings = format!(
            "[databases]\n* = {host} port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = trust\nauth_file = {path}/users\nlogfile = {path}/log\npool_mode = transaction\n\
             default_pool_size = 3\nmax_client_conn = 500\n",
            cluster.port(),
            path = path.display()
        );
        fs::write(path.join("settings"), settings).unwrap();
        fs::write(path.join("users"), format!("\"{READER}\" \"\"\n")).unwrap();
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "PATH=$PATH:/usr/sbin; pgbouncer -q \"$1\" & cat >/dev/null; kill $!; wait $!",
            "pgbouncer",
        ]);
        command.arg(path.join("settings")).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        if nix::unistd::geteuid().is_root() {
            // PgBouncer refuses to run as root.
            let nobody = nix::unistd::User::from_name("nobody").unwrap().expect("the account nobody");
            chown(path, Some(nobody.uid.as_raw()), Some(nobody.gid.as_raw())).unwrap();
            command.uid(nobody.uid.as_raw()).gid(nobody.gid.as_raw());
        }
        let bouncer = Self { child: command.spawn().unwrap(), port, directory };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < LIMIT, "pgbouncer does not start; is it installed? {}", bouncer.log());
            thread::yield_now();
        }
        bouncer
    }

    fn log(&self) -> String {
        let mut log = String::new();
        let path: &Path = self.directory.path();
        fs::File::open(path.join("log"))
            .and_then(|mut file| file.read_to_string(&mut log))
            .unwrap_or_default();
        log
    }

    fn dsn(&self, database: &str) -> String {
        format!("postgres://{READER}@127.0.0.1:{}/{database}", self.port)
    }
}

impl Drop for Bouncer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

fn ask(client: &mut Client, sql: &str) -> Value {
    client.call("read_only_sql", json!({ "query": sql }))
}

#[test]
fn six_hundred_calls_of_three_processes_each_get_their_own_answer() {
    let cluster = Cluster::start();
    let nap = "CREATE VIEW nap AS SELECT pg_sleep(60)::text; GRANT SELECT ON nap TO reader";
    let database = cluster.database(nap);
    let bouncer = Bouncer::start(&cluster);
    let dsn = bouncer.dsn(&database);
    let settings = [
        ("MCP_SQL_DSN", dsn.as_str()),
        ("MCP_SQL_POOLER", "transaction"),
        ("MCP_QUEUE_WAIT_MS", "60000"),
        ("MCP_SQL_STATEMENT_TIMEOUT_MS", "2000"),
    ];
    let process = |process: usize| {
        let mut client = Client::initialized(&settings, "2025-11-25");
        // Some that are cancelled under way, and some that run into their timeout: the others notice nothing.
        let cancelled = ask(&mut client, "SELECT * FROM nap");
        let late = ask(&mut client, "SELECT * FROM nap");
        let calls: Vec<Value> = (1..=200)
            .map(|own: usize| {
                ask(&mut client, &format!("SELECT {process}, {own}, name FROM item WHERE id = {own}"))
            })
            .collect();
        client.cancel(&cancelled);
        for (own, id) in (1..=200_usize).zip(&calls) {
            let answer = client.answer(id);
            let rows = json!([[process, own, format!("item {own}")]]);
            assert_eq!(answer["result"]["structuredContent"]["rows"], rows, "{answer}");
        }
        assert_eq!(problem(&client.answer(&late)["result"])["code"], "MCP_EXECUTION_TIMEOUT");
        // The pooler lives, and so does this session.
        let answer = client.use_tool("read_only_sql", json!({"query": "SELECT count(*) FROM item"}));
        assert_eq!(answer["structuredContent"]["rows"], json!([[1000]]), "{answer}");
        client.end().cleanly();
    };
    let begun = Instant::now();
    let process = &process;
    thread::scope(|scope| (0..3_usize).for_each(|number| drop(scope.spawn(move || process(number)))));
    took(begun, 0, 120_000);
    // Nothing stays on its three connections: no setting, no statement, no transaction.
    let sessions = "SELECT count(*) <= 3 AND bool_and(state = 'idle') FROM pg_stat_activity \
        WHERE usename = 'reader' AND datname = current_database()";
    let mut admin = cluster.admin(&database);
    let begun = Instant::now();
    while !admin.query_one(sessions, &[]).unwrap().get::<_, bool>(0) {
        assert!(begun.elapsed() < LIMIT, "a transaction is left");
        thread::yield_now();
    }
    let report = checked(&[("MCP_SQL_DSN", &dsn), ("MCP_SQL_POOLER", "transaction")]);
    assert!(report.ends_with("ready\n") && !report.contains("FAIL"), "{report}");
}

#[test]
fn a_pooler_that_was_not_announced_is_reported_with_its_cure() {
    let cluster = Cluster::start();
    let bouncer = Bouncer::start(&cluster);
    let report = checked(&[("MCP_SQL_DSN", &bouncer.dsn("seed"))]);
    assert!(report.contains("FAIL  sql: ") && report.contains("MCP_SQL_POOLER=transaction"), "{report}");
    drop(cluster);
    let report = checked(&[("MCP_SQL_DSN", &bouncer.dsn("seed")), ("MCP_SQL_POOLER", "transaction")]);
    assert!(report.contains("FAIL  sql: ") && report.contains("-> "), "{report}");
}

/// Returns the output of `check`.
fn checked(settings: &[(&str, &str)]) -> String {
    let output = command(settings).arg("check").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}
