//! The parameters of a connection string reach the server and the kernel, and passwords come from where libpq takes them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use mcp_server_suite::postgres::{Database, Dsn, DsnEnvironment};
use serde_json::{Value, json};

use crate::cluster::{Cluster, PASSWORD};
use crate::sql::run::{Rig, config, query};
use crate::support::{Client, command};

#[test]
fn parameters_of_the_session_are_those_of_the_dsn() {
    let rig = Rig::new("");
    rig.view(
        "session",
        3,
        "SELECT current_setting('application_name'), current_setting('work_mem'), current_setting('search_path')",
    );
    let shared = Cluster::shared();
    let session = |options: &str| {
        let dsn = format!("{}{options}", shared.url(&rig.name));
        query(&Database::new(config(&dsn)), "SELECT * FROM public.session").unwrap()["rows"][0].clone()
    };
    let path = |own: &str| format!("{own}, pg_temp");
    let usual = path("\"$user\", public");
    assert_eq!(session(""), json!(["mcp-server-suite", "4MB", usual]));
    assert_eq!(
        session("?application_name=analyst&options=-c%20work_mem%3D1MB"),
        json!(["analyst", "1MB", usual])
    );
    assert_eq!(session("?fallback_application_name=spare"), json!(["spare", "4MB", usual]));
    assert_eq!(session("?options=-csearch_path%3Dhere"), json!(["mcp-server-suite", "4MB", path("here")]));
    // A bound of our own is ours to set.
    assert_eq!(session("?options=-cstatement_timeout%3D1")[0], "mcp-server-suite");
}

/// The timer that the kernel shows for the client's side of a connection: none, or seconds until the next probe.
fn keepalive(client: u16, server: u16) -> Option<u32> {
    let sockets = fs::read_to_string("/proc/net/tcp").unwrap();
    let (local, remote) = (format!("0100007F:{client:04X}"), format!("0100007F:{server:04X}"));
    let line = sockets.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let line =
        line.into_iter().find(|fields| fields[1] == local && fields[2] == remote).expect("the connection");
    // `02`: keepalive; then hundredths of a second.
    let (timer, when) = line[5].split_once(':').unwrap();
    (timer == "02").then(|| u32::from_str_radix(when, 16).unwrap() / 100)
}

#[test]
fn keepalives_are_those_of_the_dsn() {
    let rig = Rig::new("");
    rig.view("client", 1, "SELECT client_port FROM pg_stat_activity WHERE pid = pg_backend_pid()");
    let shared = Cluster::shared();
    for (options, expected) in [
        ("", Some(0..=10)),
        ("?keepalives_idle=600", Some(500..=600)),
        ("?keepalives=1&keepalives_idle=60", Some(40..=60)),
        ("?keepalives=0", None),
    ] {
        let db = Database::new(config(&format!("{}{options}", shared.url(&rig.name))));
        let port = query(&db, "SELECT c1 FROM client").unwrap()["rows"][0][0].as_u64().unwrap();
        let seen = keepalive(port.try_into().unwrap(), shared.port());
        match expected {
            Some(seconds) => assert!(seen.is_some_and(|seen| seconds.contains(&seen)), "{options}: {seen:?}"),
            None => assert_eq!(seen, None, "{options}"),
        }
    }
}

#[test]
fn a_password_comes_from_where_libpq_takes_it() {
    let shared = Cluster::shared();
    let home = tempfile::tempdir().unwrap();
    let write = |name: &str, mode: u32, password: &str| {
        let path = home.path().join(name);
        let escaped = password.replace('\\', "\\\\").replace(':', "\\:");
        fs::write(&path, format!("127.0.0.1:{}:*:reader:{escaped}\n", shared.port())).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path.display().to_string()
    };
    let (good, bad) = (write("good", 0o600, PASSWORD), write("bad", 0o600, "horse"));
    let readable = write("readable", 0o644, PASSWORD);
    let none = home.path().join("none").display().to_string();
    let home = home.path().display().to_string();
    let base = format!("host=127.0.0.1 port={} user=reader dbname=seed", shared.port());
    let in_file = |file: &str| format!("{base} passfile={file}");
    for (dsn, environment, accepted) in [
        (base.clone(), vec![("PGPASSWORD", PASSWORD)], true),
        (base.clone(), vec![("PGPASSWORD", "horse")], false),
        (base.clone(), vec![("PGPASSFILE", &*good)], true),
        (base.clone(), vec![("PGPASSFILE", &*bad)], false),
        (base.clone(), vec![], false),
        (in_file(&good), vec![], true),
        (in_file(&good), vec![("PGPASSFILE", &*bad)], true),
        // The environment's password comes before any file, the DSN's before the environment's.
        (in_file(&good), vec![("PGPASSWORD", "horse")], false),
        (format!("{base} password='{PASSWORD}'"), vec![("PGPASSWORD", "horse")], true),
        (format!("{base} password=horse"), vec![("PGPASSWORD", PASSWORD)], false),
        // A file that others may read is as good as none.
        (in_file(&readable), vec![], false),
        (in_file(&none), vec![], false),
    ] {
        let mut psql = std::process::Command::new(shared.binary("psql"));
        psql.env_clear().env("HOME", &home).envs(environment.iter().copied());
        psql.args(["-X", "-q", "-w", "-c", "SELECT 1", "-d", &dsn]).stdin(Stdio::null());
        let theirs = psql.output().unwrap().status.success();
        assert_eq!(theirs, accepted, "psql: {dsn} {environment:?}");
        let mut settings = vec![("MCP_SQL_DSN", dsn.as_str()), ("HOME", &home)];
        settings.extend(environment.iter().copied());
        let report = command(&settings).arg("check").output().unwrap();
        let shown = String::from_utf8(report.stdout).unwrap() + &String::from_utf8(report.stderr).unwrap();
        assert_eq!(report.status.success(), accepted, "{dsn} {environment:?}: {shown}");
        assert!(!shown.contains(PASSWORD) && !shown.contains("horse"), "{shown}");
    }
}

/// A password in a URL, with what falls apart there unless it is encoded.
#[test]
fn a_password_with_special_characters_is_diagnosed_and_never_shown() {
    let shared = Cluster::shared();
    for (encoded, cause) in [
        (PASSWORD.to_owned(), "%40"),
        (PASSWORD.replace('@', "%40"), "%2F"),
        (PASSWORD.replace('@', "%40").replace('/', "%2F"), "%3F"),
    ] {
        let url = format!("postgres://reader:{encoded}@127.0.0.1:{}/seed", shared.port());
        let error = Dsn::parse(&url, &DsnEnvironment::default()).unwrap_err().to_string();
        assert!(error.contains(cause) && !error.contains("p@ss") && !error.contains("w/o"), "{error}");
    }
    let url = shared.url("seed");
    let mut client = Client::initialized(&[("MCP_SQL_DSN", url.as_str())], "2025-11-25");
    let answer: Value = client.use_tool("read_only_sql", json!({"query": "SELECT 1"}));
    assert_eq!(answer["structuredContent"]["rows"], json!([[1]]));
    assert!(!client.end().cleanly().stderr.contains("p@ss"));
}
