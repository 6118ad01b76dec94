//! A private PostgreSQL cluster: its own directory, no TCP, gone when dropped.
//!
//! Its only door is a Unix socket in a directory of mode 0700, and behind it peer authentication: the kernel vouches for
//! the user that runs the demo. There is no password to leak.

use std::{
    ffi::OsStr,
    fs::{self, DirBuilder, File},
    os::unix::{fs::DirBuilderExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use nix::{
    sys::signal::Signal,
    unistd::{Uid, User, chown},
};
use postgres::{Client, Config, NoTls};

use crate::commands::demo::{END_LIMIT, Failed, Stop, TICK, clean_command, end, log_tail, wait};

/// What to do when [`find_binaries`] finds none.
pub(super) const HOW_TO_GET: &str = "PostgreSQL's server programs were not found, so the SQL part is left out; to get it, install the package \
     `postgresql` (Debian, Homebrew) or `postgresql-server` (Fedora)";

/// Where packages put `initdb` and `postgres` outside PATH: parent, what stands before the version, what behind.
const PACKAGES: [(&str, &str, &str); 4] = [
    ("/usr/lib/postgresql", "", "bin"),
    ("/usr", "pgsql-", "bin"),
    ("/opt/homebrew/opt", "postgresql@", "bin"),
    ("/usr/local/opt", "postgresql@", "bin"),
];
/// The user that owns the cluster's objects.
const OWNER: &str = "postgres";
const DATABASE: &str = "assets";
const SCHEMA: &str = include_str!("schema.sql");
/// The longest path of a Unix socket in bytes (`sun_path` of unix(7), less its NUL).
const MAX_SOCKET_PATH: usize = 107;
/// How long `initdb`, the start and the load may take, each.
const LIMIT: Duration = Duration::from_secs(60);

/// What becomes `postgres`: first it leaves a child behind that ends it as soon as our end of standard input closes, which
/// the kernel does for us when we are killed.
const POSTGRES: &str = r#"
exec 3<&0
{ read -r line <&3; kill -QUIT $$; } &
exec "$@" 3<&- </dev/null
"#;

/// A running cluster.
#[derive(Debug)]
pub(super) struct Cluster {
    postmaster: Child,
    home: PathBuf,
}

impl Cluster {
    /// Makes a cluster in the new directory `home`, starts it and loads the inventory.
    pub(super) fn start(binaries: &Path, home: PathBuf, stop: &Stop) -> Result<Self, Failed> {
        if home.as_os_str().len() + "/.s.PGSQL.5432".len() > MAX_SOCKET_PATH {
            let why = std::io::Error::other("TMPDIR is too long a path for a socket");
            return Err(Failed::io("place PostgreSQL's socket")(why));
        }
        let account = Account::choose()?;
        DirBuilder::new().mode(0o700).create(&home).map_err(Failed::io("make a directory for PostgreSQL"))?;
        account.give(&home)?;
        account.initdb(binaries, &home, stop)?;
        let postmaster = account
            .command(Path::new("/bin/sh"), &home)?
            .args(["-c", POSTGRES, "sh"])
            .arg(binaries.join("postgres"))
            .stdin(Stdio::piped())
            .arg("-D")
            .arg(home.join("data"))
            .arg("-k")
            .arg(&home)
            .args(["-p", "5432", "-c", "listen_addresses=", "-c", "unix_socket_permissions=0700"])
            .args(["-c", "fsync=off", "-c", "shared_buffers=16MB", "-c", "max_connections=20"])
            .spawn()
            .map_err(Failed::io("start postgres"))?;
        let mut cluster = Self { postmaster, home };
        cluster.load(stop)?;
        Ok(cluster)
    }

    /// How the server connects: as the role that may only read.
    pub(super) fn dsn(&self) -> String {
        let host = self.home.to_string_lossy().replace('\\', r"\\").replace('\'', r"\'");
        format!("host='{host}' port=5432 user=mcp_reader dbname={DATABASE}")
    }

    fn load(&mut self, stop: &Stop) -> Result<(), Failed> {
        self.connect_first(stop)?.batch_execute(&format!("CREATE DATABASE {DATABASE}"))?;
        self.config(DATABASE).connect(NoTls)?.batch_execute(SCHEMA)?;
        Ok(())
    }

    /// Connects as soon as the postmaster lets us.
    fn connect_first(&mut self, stop: &Stop) -> Result<Client, Failed> {
        let start = Instant::now();
        loop {
            let refused = match self.config("postgres").connect(NoTls) {
                Ok(client) => return Ok(client),
                Err(refused) => refused,
            };
            let ended = self.postmaster.try_wait().map_err(Failed::io("wait for postgres"))?;
            if ended.is_some() || start.elapsed() > LIMIT {
                let log = log_tail(&self.home.join("log"));
                return Err(Failed::Program {
                    program: "postgres",
                    what: format!("does not start: {refused}"),
                    log,
                });
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

impl Drop for Cluster {
    /// An immediate shutdown: nothing in here is worth a checkpoint.
    fn drop(&mut self) {
        drop(self.postmaster.stdin.take());
        let ended = wait(&mut self.postmaster, END_LIMIT, "postgres", &Stop::default());
        if ended.is_err()
            && let Err(error) = end(&mut self.postmaster, Signal::SIGQUIT)
        {
            crate::diagnostics::complain(&format!("cannot stop postgres: {error}"));
        }
    }
}

/// The directory that holds `initdb` and `postgres`: from PATH, else the newest of the usual places.
pub(super) fn find_binaries(path: &OsStr) -> Option<PathBuf> {
    let is_complete = |bin: &PathBuf| {
        bin.is_absolute() && ["initdb", "postgres"].iter().all(|name| bin.join(name).is_file())
    };
    let packaged = || {
        let installed =
            PACKAGES.iter().flat_map(|(parent, before, behind)| installed(parent, before, behind));
        let mut installed: Vec<_> = installed.filter(|(_, bin)| is_complete(bin)).collect();
        installed.sort();
        installed.pop().map(|(_, bin)| bin)
    };
    std::env::split_paths(path).find(is_complete).or_else(packaged)
}

/// Versions and their directories of programs.
fn installed(
    parent: &str,
    before: &'static str,
    behind: &'static str,
) -> impl Iterator<Item = (u32, PathBuf)> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let name = entry.file_name().into_string().ok()?;
        let version = name.strip_prefix(before)?.split('.').next()?.parse().ok()?;
        Some((version, entry.path().join(behind)))
    })
}

/// Who runs PostgreSQL: we ourselves, or an unprivileged user when we are root, whom it refuses.
struct Account {
    /// Our own name, for peer authentication.
    own_name: String,
    /// The other user.
    other: Option<User>,
}

impl Account {
    fn choose() -> Result<Self, Failed> {
        let user = |found: nix::Result<Option<User>>| {
            found.map_err(|errno| Failed::io("look up a user")(errno.into()))
        };
        let own = user(User::from_uid(Uid::effective()))?;
        let unknown =
            || Failed::io("look up a user")(std::io::Error::other("the user that runs the demo has no name"));
        let own_name = own.ok_or_else(unknown)?.name;
        if !Uid::effective().is_root() {
            return Ok(Self { own_name, other: None });
        }
        for name in ["postgres", "nobody"] {
            if let Some(other) = user(User::from_name(name))? {
                return Ok(Self { own_name, other: Some(other) });
            }
        }
        let nobody =
            std::io::Error::other("PostgreSQL refuses root, and there is neither `postgres` nor `nobody`");
        Err(Failed::io("find an unprivileged user")(nobody))
    }

    fn give(&self, path: &Path) -> Result<(), Failed> {
        let Some(other) = &self.other else { return Ok(()) };
        chown(path, Some(other.uid), Some(other.gid))
            .map_err(|errno| Failed::io("give a directory to PostgreSQL's user")(errno.into()))
    }

    /// A program of PostgreSQL's in a clean environment, as the right user, in a process group of its own (so that a
    /// Ctrl-C reaches only us, who then end it), its output in the log.
    fn command(&self, program: &Path, home: &Path) -> Result<Command, Failed> {
        let log = File::options().append(true).create(true).open(home.join("log"));
        let log = log.map_err(Failed::io("make a log for PostgreSQL"))?;
        let mut command = clean_command(program);
        command.current_dir(home).process_group(0);
        command.stdin(Stdio::null());
        command.stdout(log.try_clone().map_err(Failed::io("make a log for PostgreSQL"))?).stderr(log);
        if let Some(other) = &self.other {
            command.uid(other.uid.as_raw()).gid(other.gid.as_raw());
        }
        Ok(command)
    }

    fn initdb(&self, binaries: &Path, home: &Path, stop: &Stop) -> Result<(), Failed> {
        let data = home.join("data");
        let mut initdb = self
            .command(&binaries.join("initdb"), home)?
            .arg("-D")
            .arg(&data)
            .args(["-U", OWNER, "-E", "UTF8", "--locale=C", "--auth=peer", "--no-sync"])
            .spawn()
            .map_err(Failed::io("start initdb"))?;
        let status = match wait(&mut initdb, LIMIT, "initdb", stop) {
            Ok(status) => status,
            Err(failed) => {
                end(&mut initdb, Signal::SIGTERM).map_err(Failed::io("stop initdb"))?;
                return Err(failed);
            }
        };
        if !status.success() {
            let (what, log) = (format!("failed ({status})"), log_tail(&home.join("log")));
            return Err(Failed::Program { program: "initdb", what, log });
        }
        let name = &self.own_name;
        let map = format!("demo \"{name}\" {OWNER}\ndemo \"{name}\" mcp_reader\n");
        fs::write(data.join("pg_hba.conf"), "local all all peer map=demo\n")
            .and_then(|()| fs::write(data.join("pg_ident.conf"), map))
            .map_err(Failed::io("configure PostgreSQL"))
    }
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
        let postmaster = cluster.postmaster.id();
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
        needs_nothing_more_than_its_catalog(&cluster, directory.path());
        drop(cluster);
        assert!(!Path::new(&format!("/proc/{postmaster}")).exists());
        assert!(!directory.path().join("pg/.s.PGSQL.5432").exists());
    }

    /// Every example of the catalog finds something, and the role may do nothing beyond it.
    fn needs_nothing_more_than_its_catalog(cluster: &Cluster, directory: &Path) {
        let file = directory.join("catalog.toml");
        fs::write(&file, crate::commands::demo::CATALOG).unwrap();
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
    fn a_start_is_given_up_when_a_signal_came() {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), std::os::unix::fs::PermissionsExt::from_mode(0o711)).unwrap();
        let binaries = find_binaries(OsStr::new("")).unwrap();
        let stop = Stop::default();
        stop.0.store(true, std::sync::atomic::Ordering::Relaxed);
        let started = Cluster::start(&binaries, directory.path().join("pg"), &stop);
        assert!(matches!(started, Err(Failed::Interrupted)), "{started:?}");
    }
}
