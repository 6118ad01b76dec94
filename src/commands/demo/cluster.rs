//! A private PostgreSQL cluster: its own directory, no TCP, gone when dropped.
//!
//! It is reached only by a Unix socket in a directory of mode 0700, with peer authentication: the kernel vouches for the user
//! that runs the demo. There is no password to leak.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, io};

use nix::unistd::{Uid, User, chown};
use postgres::{Client, Config, NoTls};

use super::child::{DemoError, Running, Stop, clean_command, failed};

/// The advice when [`find_binaries`] finds none.
pub(super) const HOW_TO_GET: &str = "PostgreSQL's server programs were not found, so the SQL part is left out; to get it, install the package \
     `postgresql` (Debian, Homebrew) or `postgresql-server` (Fedora)";
/// The places of `bin/initdb` and `bin/postgres` outside PATH: the parent directory, the text before the version.
const PACKAGES: [(&str, &str); 4] = [
    ("/usr/lib/postgresql", ""),
    ("/usr", "pgsql-"),
    ("/opt/homebrew/opt", "postgresql@"),
    ("/usr/local/opt", "postgresql@"),
];
/// The user that owns the cluster's objects.
const OWNER: &str = "postgres";
const DATABASE: &str = "assets";
const SCHEMA: &str = include_str!("schema.sql");
/// The longest time of `initdb`, the start and the load, each.
const LIMIT: Duration = Duration::from_secs(60);

/// The shell that becomes `postgres`. Before, it starts a child that ends it as soon as our end of standard input closes,
/// which the kernel does when this process is killed.
const POSTGRES: &str = r#"
exec 3<&0
{ read -r line <&3; kill -QUIT $$; } &
exec "$@" 3<&- </dev/null
"#;

/// Finds the directory of `initdb` and `postgres`: in PATH, else the newest of the usual places.
pub(super) fn find_binaries(path: &OsStr) -> Option<PathBuf> {
    let is_complete = |bin: &PathBuf| {
        bin.is_absolute() && ["initdb", "postgres"].iter().all(|name| bin.join(name).is_file())
    };
    let packaged = || {
        let installed = PACKAGES.iter().flat_map(|(parent, before)| installed(parent, before));
        installed.filter(|(_, bin)| is_complete(bin)).max().map(|(_, bin)| bin)
    };
    env::split_paths(path).find(is_complete).or_else(packaged)
}

/// Lists versions and their directories of programs.
fn installed(parent: &str, before: &'static str) -> impl Iterator<Item = (u32, PathBuf)> {
    fs::read_dir(parent).into_iter().flatten().flatten().filter_map(move |entry| {
        let name = entry.file_name().into_string().ok()?;
        let version = name.strip_prefix(before)?.split('.').next()?.parse().ok()?;
        Some((version, entry.path().join("bin")))
    })
}

/// A running cluster.
#[derive(Debug)]
pub(super) struct Cluster {
    postmaster: Running,
    home: PathBuf,
}

impl Cluster {
    /// Makes a cluster in the new directory `home`, starts it and loads the inventory.
    pub(super) fn start(binaries: &Path, home: PathBuf, stop: &Stop) -> Result<Self, DemoError> {
        let user = unprivileged()?;
        make_home(&home, user.as_ref()).map_err(failed("cannot make a directory for PostgreSQL"))?;
        let program = |program: &Path| {
            let command = command(program, &home, user.as_ref());
            command.map_err(failed("cannot make a log for PostgreSQL"))
        };
        let mut initdb = program(&binaries.join("initdb"))?;
        initdb.arg("-D").arg(home.join("data"));
        initdb.args(["-U", OWNER, "-E", "UTF8", "--locale=C", "--auth=peer", "--no-sync"]);
        if !Running::start(&mut initdb, "initdb")?.wait(LIMIT, stop)?.success() {
            return Err(failed("initdb")(log_tail(&home)));
        }
        let name = own_name()?;
        let map = format!("demo \"{name}\" {OWNER}\ndemo \"{name}\" mcp_reader\n");
        fs::write(home.join("data/pg_hba.conf"), "local all all peer map=demo\n")
            .and_then(|()| fs::write(home.join("data/pg_ident.conf"), map))
            .map_err(failed("cannot configure PostgreSQL"))?;
        let mut postgres = program(Path::new("/bin/sh"))?;
        postgres.args(["-c", POSTGRES, "sh"]).arg(binaries.join("postgres")).stdin(Stdio::piped());
        postgres.arg("-D").arg(home.join("data")).arg("-k").arg(&home);
        postgres.args(["-p", "5432", "-c", "listen_addresses=", "-c", "unix_socket_permissions=0700"]);
        postgres.args(["-c", "fsync=off", "-c", "shared_buffers=16MB", "-c", "max_connections=20"]);
        let postmaster = Running::start(&mut postgres, "postgres")?;
        let mut cluster = Self { postmaster, home };
        let mut first = stop.wait("postgres", LIMIT, || cluster.connect())?;
        let created = first.batch_execute(&format!("CREATE DATABASE {DATABASE}"));
        let database = created.and_then(|()| cluster.config(DATABASE).connect(NoTls));
        database.and_then(|mut database| database.batch_execute(SCHEMA)).map_err(failed("PostgreSQL"))?;
        Ok(cluster)
    }

    /// Returns the connection string of the server: its role may only read.
    pub(super) fn dsn(&self) -> String {
        let host = self.home.to_string_lossy().replace('\\', r"\\").replace('\'', r"\'");
        format!("host='{host}' port=5432 user=mcp_reader dbname={DATABASE}")
    }

    /// Connects, if the postmaster accepts connections by now.
    fn connect(&mut self) -> Result<Option<Client>, DemoError> {
        match (self.config("postgres").connect(NoTls), self.postmaster.child.try_wait()) {
            (Ok(client), _) => Ok(Some(client)),
            (Err(_), Ok(None)) => Ok(None),
            (Err(_), _) => Err(failed("postgres")(log_tail(&self.home))),
        }
    }

    fn config(&self, database: &str) -> Config {
        let mut config = Config::new();
        config.host_path(&self.home).port(5432).user(OWNER).dbname(database).connect_timeout(LIMIT);
        config.options(&format!("-c statement_timeout={}", LIMIT.as_millis()));
        config
    }
}

/// Returns the name of our user, for whom the kernel vouches.
fn own_name() -> Result<String, DemoError> {
    let user = User::from_uid(Uid::effective()).map_err(failed("cannot look up this account"))?;
    user.map(|user| user.name).ok_or("no user has its number").map_err(failed("this account has no name"))
}

/// Finds the user that runs PostgreSQL when we are root, which PostgreSQL refuses.
fn unprivileged() -> Result<Option<User>, DemoError> {
    if !Uid::effective().is_root() {
        return Ok(None);
    }
    let known = ["postgres", "nobody"].iter().find_map(|name| User::from_name(name).ok().flatten());
    known
        .map(Some)
        .ok_or("there is neither `postgres` nor `nobody`")
        .map_err(failed("PostgreSQL refuses root"))
}

fn make_home(home: &Path, user: Option<&User>) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(home)?;
    Ok(chown(home, user.map(|user| user.uid), user.map(|user| user.gid))?)
}

/// Prepares a program of PostgreSQL in a clean environment, as the right user, in a process group of its own (so that
/// Ctrl-C reaches only this process, which then ends it), its output in the log.
fn command(program: &Path, home: &Path, user: Option<&User>) -> io::Result<Command> {
    let log = File::options().append(true).create(true).open(home.join("log"))?;
    let mut command = clean_command(program);
    command.current_dir(home).process_group(0);
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    if let Some(user) = user {
        command.uid(user.uid.as_raw()).gid(user.gid.as_raw());
    }
    Ok(command)
}

/// Returns the last lines of the log.
fn log_tail(home: &Path) -> String {
    const LINES: usize = 10;
    let log = fs::read_to_string(home.join("log")).unwrap_or_default();
    let lines: Vec<&str> = log.lines().collect();
    lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{postgres::Database, settings::Settings};
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
        assert!(catalog.warnings.is_empty(), "{:?}", catalog.warnings);
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
