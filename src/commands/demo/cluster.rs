//! A private PostgreSQL cluster: its own directory, no TCP, gone when dropped.
//!
//! It is reached by a Unix socket in a directory of mode 0700 only, with peer authentication: the kernel vouches for the
//! user that runs the demo. There is no password to leak.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use postgres::{Client, Config, NoTls};

use super::child::{Running, TICK, log_tail};
use super::error::DemoError;
use super::programs::Account;
use super::stop::Stop;

/// The user that owns the cluster's objects.
const OWNER: &str = "postgres";
const DATABASE: &str = "assets";
const SCHEMA: &str = include_str!("schema.sql");
/// The longest path of a Unix socket in bytes (`sun_path` of unix(7), less its NUL).
const MAX_SOCKET_PATH: usize = 107;
/// The longest time of `initdb`, the start and the load, each.
const LIMIT: Duration = Duration::from_secs(60);

/// The shell that becomes `postgres`. Before, it starts a child that ends it as soon as our end of standard input closes,
/// which the kernel does when this process is killed.
const POSTGRES: &str = r#"
exec 3<&0
{ read -r line <&3; kill -QUIT $$; } &
exec "$@" 3<&- </dev/null
"#;

/// A running cluster.
#[derive(Debug)]
pub(super) struct Cluster {
    postmaster: Running,
    home: PathBuf,
}

impl Cluster {
    /// Makes a cluster in the new directory `home`, starts it and loads the inventory.
    pub(super) fn start(binaries: &Path, home: PathBuf, stop: &Stop) -> Result<Self, DemoError> {
        if home.as_os_str().len() + "/.s.PGSQL.5432".len() > MAX_SOCKET_PATH {
            let cannot = DemoError::cannot("place PostgreSQL's socket");
            return Err(cannot("TMPDIR is too long a path for a socket"));
        }
        let account = Account::choose()?;
        DirBuilder::new()
            .mode(0o700)
            .create(&home)
            .map_err(DemoError::cannot("make a directory for PostgreSQL"))?;
        account.give(&home)?;
        initdb(&account, binaries, &home, stop)?;
        let mut postgres = account.command(Path::new("/bin/sh"), &home)?;
        postgres.args(["-c", POSTGRES, "sh"]).arg(binaries.join("postgres")).stdin(Stdio::piped());
        postgres.arg("-D").arg(home.join("data")).arg("-k").arg(&home);
        postgres.args(["-p", "5432", "-c", "listen_addresses=", "-c", "unix_socket_permissions=0700"]);
        postgres.args(["-c", "fsync=off", "-c", "shared_buffers=16MB", "-c", "max_connections=20"]);
        let postmaster = Running::start(&mut postgres, "postgres")?;
        let mut cluster = Self { postmaster, home };
        cluster.load(stop)?;
        Ok(cluster)
    }

    /// Returns the connection string of the server: its role may only read.
    pub(super) fn dsn(&self) -> String {
        let host = self.home.to_string_lossy().replace('\\', r"\\").replace('\'', r"\'");
        format!("host='{host}' port=5432 user=mcp_reader dbname={DATABASE}")
    }

    fn load(&mut self, stop: &Stop) -> Result<(), DemoError> {
        self.connect_first(stop)?.batch_execute(&format!("CREATE DATABASE {DATABASE}"))?;
        self.config(DATABASE).connect(NoTls)?.batch_execute(SCHEMA)?;
        Ok(())
    }

    /// Connects as soon as the postmaster accepts connections.
    fn connect_first(&mut self, stop: &Stop) -> Result<Client, DemoError> {
        let start = Instant::now();
        loop {
            let refused = match self.config("postgres").connect(NoTls) {
                Ok(client) => return Ok(client),
                Err(refused) => refused,
            };
            if self.postmaster.status()?.is_some() || start.elapsed() > LIMIT {
                let (what, log) = (format!("does not start: {refused}"), log_tail(&self.home.join("log")));
                return Err(DemoError::Program { program: "postgres", what, log });
            }
            stop.check()?;
            std::thread::sleep(TICK);
        }
    }

    fn config(&self, database: &str) -> Config {
        let mut config = Config::new();
        config.host_path(&self.home).port(5432).user(OWNER).dbname(database).connect_timeout(LIMIT);
        config.options(&format!("-c statement_timeout={}", LIMIT.as_millis()));
        config
    }
}

/// Makes the cluster's files, and lets the kernel vouch for our user.
fn initdb(account: &Account, binaries: &Path, home: &Path, stop: &Stop) -> Result<(), DemoError> {
    let data = home.join("data");
    let mut initdb = account.command(&binaries.join("initdb"), home)?;
    initdb.arg("-D").arg(&data);
    initdb.args(["-U", OWNER, "-E", "UTF8", "--locale=C", "--auth=peer", "--no-sync"]);
    let status = Running::start(&mut initdb, "initdb")?.wait(LIMIT, stop)?;
    if !status.success() {
        let (what, log) = (format!("failed ({status})"), log_tail(&home.join("log")));
        return Err(DemoError::Program { program: "initdb", what, log });
    }
    let name = &account.own_name;
    let map = format!("demo \"{name}\" {OWNER}\ndemo \"{name}\" mcp_reader\n");
    fs::write(data.join("pg_hba.conf"), "local all all peer map=demo\n")
        .and_then(|()| fs::write(data.join("pg_ident.conf"), map))
        .map_err(DemoError::cannot("configure PostgreSQL"))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;
    use crate::{commands::demo::programs::find_binaries, postgres::Database, settings::Settings};
    use postgres::error::SqlState;

    #[test]
    fn a_cluster_holds_the_inventory_keeps_secrets_and_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), std::os::unix::fs::PermissionsExt::from_mode(0o711)).unwrap();
        let binaries =
            find_binaries(OsStr::new("")).expect("PostgreSQL's server programs: install `postgresql`");
        let cluster = Cluster::start(&binaries, directory.path().join("pg"), &Stop::default()).unwrap();
        let postmaster = cluster.postmaster.child.id();
        let mut reader = cluster.dsn().parse::<Config>().unwrap().connect(NoTls).unwrap();
        let devices: i64 = reader.query_one("SELECT count(*) FROM devices", &[]).unwrap().get(0);
        assert_eq!(devices, 60);
        for query in [
            "SELECT * FROM people",
            "SELECT mfa_secret FROM people",
            "SELECT password_hash FROM people",
            "SELECT count(*) FROM api_tokens",
            "CREATE TEMP TABLE t (x int)",
        ] {
            let refused = reader.batch_execute(query).unwrap_err();
            let code = refused.code().unwrap();
            assert!(
                [&SqlState::INSUFFICIENT_PRIVILEGE, &SqlState::READ_ONLY_SQL_TRANSACTION].contains(&code),
                "{query}"
            );
        }
        drop(reader);
        check_role_needs_no_more_than_its_catalog(&cluster, directory.path());
        drop(cluster);
        assert!(!Path::new(&format!("/proc/{postmaster}")).exists());
        assert!(!directory.path().join("pg/.s.PGSQL.5432").exists());
    }

    /// Checks that every example of the catalog finds rows, and that the role has no further privileges.
    fn check_role_needs_no_more_than_its_catalog(cluster: &Cluster, directory: &Path) {
        let file = directory.join("catalog.toml");
        fs::write(&file, crate::commands::demo::sandbox::CATALOG).unwrap();
        let vars = [("MCP_SQL_DSN", cluster.dsn().into()), ("MCP_CATALOG", file.into_os_string())];
        let settings = Settings::read(vars.map(|(name, value)| (name.into(), value))).unwrap();
        let database = Database::new(settings.sql.unwrap());
        assert_eq!(database.probe().unwrap().findings, []);
        let catalog = settings.catalog.unwrap();
        assert!(catalog.warnings().is_empty(), "{:?}", catalog.warnings());
        let examined = catalog.examine(&database).unwrap();
        assert_eq!(examined.len(), 7);
        for examination in examined {
            let sound = examination.outcome.unwrap();
            assert!(sound.ran.is_some_and(|ran| ran.rows > 0), "{}", examination.entry);
        }
    }

    #[test]
    fn a_start_ends_when_a_signal_arrived() {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), std::os::unix::fs::PermissionsExt::from_mode(0o711)).unwrap();
        let binaries = find_binaries(OsStr::new("")).unwrap();
        let stop = Stop::default();
        stop.0.store(true, std::sync::atomic::Ordering::Relaxed);
        let started = Cluster::start(&binaries, directory.path().join("pg"), &stop);
        assert!(matches!(started, Err(DemoError::Interrupted)), "{started:?}");
    }
}
