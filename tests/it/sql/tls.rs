//! TLS to a real server: the verdict of every `sslmode` is psql's own.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use mcp_server_suite::postgres::{Database, Dsn, DsnEnvironment};

use crate::cluster::{Cluster, PASSWORD};
use crate::sql::run::config;

/// A file of `tests/it/tls`.
pub(crate) fn asset(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/tls").join(name)
}

/// Returns whether psql gets in, with nothing of this machine's own settings in its way, and whether it is over TLS.
fn psql(cluster: &Cluster, dsn: &str) -> Option<bool> {
    let mut command = Command::new(cluster.binary("psql"));
    let sql = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    command
        .env_clear()
        .env("HOME", "/nonexistent")
        .args(["-X", "-q", "-A", "-t", "-w", "-c", sql, "-d", dsn]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    output.status.success().then(|| output.stdout == b"t\n")
}

/// The reader's way to the seed, by name.
fn dsn(cluster: &Cluster, options: &str) -> String {
    let port = cluster.port();
    format!(
        "host=localhost hostaddr=127.0.0.1 port={port} user=reader password='{PASSWORD}' dbname=seed {options}"
    )
}

/// Ours: why not, or whether it is over TLS.
fn ours(dsn: &str) -> Result<bool, String> {
    match Dsn::parse(dsn, &DsnEnvironment::default()) {
        Err(error) => Err(error.to_string()),
        Ok(_) => Database::new(config(dsn))
            .probe()
            .map(|probe| probe.tls.is_some())
            .map_err(|error| error.to_string()),
    }
}

/// Every mode with each of these authorities: whether there is a connection, and whether it is encrypted, as with psql.
#[track_caller]
fn matrix(cluster: &Cluster, server: &str, roots: &[&str], more: &str) {
    let check = &|mode: &str| {
        for root in roots {
            let root = if root.is_empty() {
                String::new()
            } else {
                format!("sslrootcert={}", asset(root).display())
            };
            let dsn = dsn(cluster, &format!("sslmode={mode} {root} {more}"));
            let verdict = ours(&dsn);
            assert_eq!(
                verdict.clone().ok(),
                psql(cluster, &dsn),
                "{server}: {mode} {root} {more}: {verdict:?}"
            );
        }
    };
    std::thread::scope(|scope| {
        for mode in ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"] {
            scope.spawn(move || check(mode));
        }
    });
}

/// Compares our verdict on a connection string with psql's; ours shows whether the connection was encrypted.
#[track_caller]
fn check(cluster: &Cluster, options: &str, expected: Result<bool, &str>) {
    let dsn = dsn(cluster, options);
    let verdict = ours(&dsn);
    assert_eq!(psql(cluster, &dsn), expected.ok(), "psql does not agree on {options}: {verdict:?}");
    match (verdict, expected) {
        (Ok(verdict), Ok(encrypted)) => assert_eq!(verdict, encrypted, "{options}"),
        (Err(error), Err(cause)) => assert!(error.contains(cause), "{options}: {error}"),
        (verdict, _) => panic!("{options}: {verdict:?}"),
    }
}

/// A file with a key that only its owner may read, as psql wants it.
pub(crate) fn private(directory: &tempfile::TempDir, name: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let path = directory.path().join(name);
    std::fs::copy(asset(name), &path).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}

#[test]
fn every_mode_judges_as_libpq_does() {
    let cluster = Cluster::start();
    let (ca, other) = (asset("ca.pem"), asset("other.pem"));
    let (ca, other) = (ca.display(), other.display());
    for mode in ["disable", "allow", "prefer"] {
        check(&cluster, &format!("sslmode={mode}"), Ok(false));
    }
    check(&cluster, "sslmode=require", Err("does not support TLS"));
    check(&cluster, &format!("sslmode=verify-full sslrootcert={ca}"), Err("does not support TLS"));

    cluster.encrypt(&asset("server.pem"), &asset("server.key"), &asset("ca.pem"));
    check(&cluster, "sslmode=disable", Ok(false));
    check(&cluster, "sslmode=allow", Ok(false));
    for mode in ["prefer", "require"] {
        check(&cluster, &format!("sslmode={mode}"), Ok(true));
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        check(&cluster, &format!("sslmode={mode} sslrootcert={ca}"), Ok(true));
        check(&cluster, &format!("sslmode={mode} sslrootcert={other}"), Err("does not hold the authority"));
    }
    check(&cluster, &format!("sslmode=verify-full sslrootcert={ca} channel_binding=require"), Ok(true));
    check(&cluster, "sslmode=verify-full", Err("need 'sslrootcert'"));

    cluster.hba("hostssl all all 127.0.0.1/32 scram-sha-256");
    check(&cluster, "sslmode=disable", Err("pg_hba.conf"));
    check(&cluster, "sslmode=allow", Ok(true));
    check(&cluster, "sslmode=prefer", Ok(true));
    check(&cluster, &format!("sslmode=prefer sslrootcert={other}"), Err("does not hold the authority"));
    cluster.hba("hostnossl all all 127.0.0.1/32 scram-sha-256");
    check(&cluster, "sslmode=allow", Ok(false));
    check(&cluster, "sslmode=prefer", Ok(false));
    check(&cluster, "sslmode=require", Err("pg_hba.conf"));

    cluster.hba("hostssl all all 127.0.0.1/32 cert");
    let directory = tempfile::tempdir().unwrap();
    let client = format!(
        "sslmode=verify-full sslrootcert={ca} sslcert={} sslkey={}",
        asset("client.pem").display(),
        private(&directory, "client.key").display()
    );
    check(&cluster, &client, Ok(true));
    check(&cluster, &format!("sslmode=verify-full sslrootcert={ca}"), Err(""));

    cluster.hba("host all all 127.0.0.1/32 scram-sha-256");
    cluster.encrypt(&asset("elsewhere.pem"), &asset("elsewhere.key"), &asset("ca.pem"));
    check(&cluster, &format!("sslmode=verify-ca sslrootcert={ca}"), Ok(true));
    check(&cluster, &format!("sslmode=verify-full sslrootcert={ca}"), Err("made out to another name"));
    cluster.encrypt(&asset("expired.pem"), &asset("expired.key"), &asset("ca.pem"));
    check(&cluster, "sslmode=require", Ok(true));
    check(&cluster, &format!("sslmode=verify-ca sslrootcert={ca}"), Err("xpired"));
}

#[test]
fn the_verdict_is_libpqs_whatever_the_server_is_like() {
    let cluster = Cluster::start();
    let directory = tempfile::tempdir().unwrap();
    let key = private(&directory, "client.key");
    let identity = format!("sslcert={} sslkey={}", asset("client.pem").display(), key.display());
    let (all, right) = (["", "ca.pem", "other.pem"], ["", "ca.pem"]);
    matrix(&cluster, "without TLS", &all, "");
    for (server, certificate) in [("another name", "elsewhere"), ("expired", "expired"), ("right", "server")]
    {
        let (certificate, key) = (asset(&format!("{certificate}.pem")), asset(&format!("{certificate}.key")));
        cluster.encrypt(&certificate, &key, &asset("ca.pem"));
        matrix(&cluster, server, &all, "");
    }
    matrix(&cluster, "right", &right, "channel_binding=require");
    for (server, line, more) in [
        ("TLS only", "hostssl all all 127.0.0.1/32 scram-sha-256", &[""][..]),
        ("no TLS", "hostnossl all all 127.0.0.1/32 scram-sha-256", &[""]),
        ("a client's certificate", "hostssl all all 127.0.0.1/32 cert", &["", &identity]),
        ("both", "hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca", &["", &identity]),
    ] {
        cluster.hba(line);
        more.iter().for_each(|more| matrix(&cluster, server, &right, more));
    }
}

#[test]
fn a_key_that_others_may_read_is_refused_as_libpq_does() {
    use std::os::unix::fs::PermissionsExt as _;
    let cluster = Cluster::start();
    cluster.encrypt(&asset("server.pem"), &asset("server.key"), &asset("ca.pem"));
    let directory = tempfile::tempdir().unwrap();
    let key = private(&directory, "client.key");
    let options =
        format!("sslmode=require sslcert={} sslkey={}", asset("client.pem").display(), key.display());
    let is_root = nix::unistd::geteuid().is_root();
    for (mode, accepted) in [
        (0o600, true),
        (0o400, true),
        (0o640, is_root),
        (0o440, is_root),
        (0o660, false),
        (0o650, false),
        (0o604, false),
        (0o644, false),
    ] {
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(mode)).unwrap();
        check(&cluster, &options, if accepted { Ok(true) } else { Err("chmod it to 0600") });
    }
    let directory = format!("sslmode=require sslcert={} sslkey=/tmp", asset("client.pem").display());
    check(&cluster, &directory, Err("no regular file"));
}

/// Cases that psql of PostgreSQL 15 does not know, or treats another way.
#[test]
fn parameters_of_newer_libpqs_are_known() {
    let cluster = Cluster::start();
    cluster.encrypt(&asset("server.pem"), &asset("server.key"), &asset("ca.pem"));
    // No authority that the system trusts has signed it.
    let system = ours(&dsn(&cluster, "sslrootcert=system")).unwrap_err();
    assert!(
        system.contains("does not hold the authority") || system.contains("bundle was not found"),
        "{system}"
    );
    let direct = ours(&dsn(&cluster, "sslmode=require sslnegotiation=direct"));
    if cluster.version() < 170_000 {
        // It does not expect TLS unasked.
        let direct = direct.unwrap_err();
        assert!(direct.contains("PostgreSQL 17"), "{direct}");
    } else {
        assert_eq!(direct, Ok(true));
    }
    assert_eq!(ours(&dsn(&cluster, "sslmode=require sslnegotiation=postgres")), Ok(true));
}
