//! TLS to a real server: the verdict of every `sslmode` is psql's own.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use mcp_server_suite::tools::sql::{Database, Dsn, DsnEnvironment};

use crate::{
    cluster::{Cluster, PASSWORD},
    sql_run::config,
};

/// A file of `tests/it/tls`.
pub(crate) fn asset(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/tls").join(name)
}

/// Whether psql gets in, with nothing of this machine's own settings in its way.
fn psql(cluster: &Cluster, dsn: &str) -> bool {
    let mut command = Command::new(cluster.binary("psql"));
    for variable in ["PGPASSWORD", "PGPASSFILE", "PGSSLMODE", "PGSSLROOTCERT", "PGSERVICE", "PGOPTIONS"] {
        command.env_remove(variable);
    }
    command.env("HOME", "/nonexistent").args(["-X", "-q", "-t", "-c", "SELECT 1", "-d", dsn]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
}

/// Ours and psql's verdict on a connection string; ours tells whether the connection was encrypted.
#[track_caller]
fn check(cluster: &Cluster, options: &str, expected: Result<bool, &str>) {
    let dsn = format!(
        "host=localhost hostaddr=127.0.0.1 port={} user=reader password='{PASSWORD}' dbname=seed {options}",
        cluster.port()
    );
    let verdict = match Dsn::parse(&dsn, &DsnEnvironment::default()) {
        Err(error) => Err(error.to_string()),
        Ok(_) => Database::new(config(&dsn)).probe().map_err(|error| error.to_string()),
    };
    assert_eq!(psql(cluster, &dsn), expected.is_ok(), "psql does not agree on {options}: {verdict:?}");
    match (verdict, expected) {
        (Ok(probe), Ok(encrypted)) => assert_eq!(probe.tls.is_some(), encrypted, "{options}: {probe:?}"),
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
