//! A throw-away PostgreSQL cluster that ends with the test process, after any kind of end.
//!
//! A shell child makes the cluster, starts it, and waits for its standard input to end. The other end of that pipe is ours
//! alone, so the kernel closes it when this process is gone, even after SIGKILL; then the child stops the server and removes
//! everything. Nothing is left running after `cargo test`.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use postgres::{Client, Config, NoTls};

/// The longest time until a killed server is gone.
const LIMIT: Duration = Duration::from_secs(60);
const HOW_TO_INSTALL: &str = "PostgreSQL's server binaries (initdb, postgres, pg_ctl) were not found in PATH or the usual \
     places: install them, for example with `apt-get install postgresql` or `dnf install postgresql-server` or \
     `brew install postgresql`";

/// The script of the child. Its arguments: directory, binaries, port, our end of the pipe as its standard input. For a standby also the
/// directory and the port of its primary.
const LIFE: &str = r#"
set -eu
trap '' INT TERM HUP
cd "$1"
if [ -n "${4-}" ]; then
    # Where initdb really is, beside the server or beside psql.
    PATH="$(dirname "$(readlink -f "$2/initdb")"):$PATH"
    pg_basebackup -D data -R -c fast --no-sync -h "$4" -p "$5" -U postgres >initdb.log 2>&1
else
    "$2/initdb" -D data -U postgres -A trust --no-sync -E UTF8 --locale=C >initdb.log 2>&1
    cat >data/pg_hba.conf <<END
local all,replication all trust
host all all 127.0.0.1/32 scram-sha-256
END
fi
cat >>data/postgresql.conf <<END
listen_addresses = '127.0.0.1'
port = $3
unix_socket_directories = '$1'
fsync = off
shared_buffers = 16MB
max_connections = 200
log_statement = all
log_min_messages = warning
timezone = 'UTC'
END
"$2/pg_ctl" -D data -w -t 60 -l server.log start >pg_ctl.log 2>&1 </dev/null
echo ready
cat >/dev/null
"$2/pg_ctl" -D data -m immediate -w stop >pg_ctl.log 2>&1 </dev/null || true
cd /
rm -rf "$1"
"#;

/// The role that tests log in with: it may read what [`SCHEMA`] makes, and no more.
pub(crate) const READER: &str = "reader";
/// Its password, with everything that needs care in a URL.
pub(crate) const PASSWORD: &str = "p@ss:w/o?r%d#";
/// [`PASSWORD`] in a URL.
pub(crate) const PASSWORD_IN_URL: &str = "p%40ss%3Aw%2Fo%3Fr%25d%23";

/// The beginning of every test's database.
const SCHEMA: &str = "
    CREATE TABLE item (id int PRIMARY KEY, name varchar(40) NOT NULL, parent int REFERENCES item);
    COMMENT ON TABLE item IS 'Things';
    COMMENT ON COLUMN item.name IS 'What it is called';
    INSERT INTO item SELECT n, 'item ' || n, nullif(n / 2, 0) FROM generate_series(1, 1000) n;
    CREATE TABLE hidden (secret text);
    GRANT SELECT ON item TO reader;
    CREATE TYPE mood AS ENUM ('sad', 'so so');
    CREATE DOMAIN positive AS int CHECK (VALUE > 0);
    CREATE TYPE pair AS (a int, b text, at timestamptz);
    CREATE TYPE shape AS (name text, area box);
    ANALYZE item;
";

/// A running cluster.
pub(crate) struct Cluster {
    directory: PathBuf,
    port: u16,
    // Dropping the pipe's end is what ends the cluster.
    pipe: Option<ChildStdin>,
    child: Child,
    databases: AtomicU32,
}

impl Cluster {
    /// The cluster that all tests of this process share.
    pub(crate) fn shared() -> &'static Self {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    /// A cluster of one's own, for tests that stop it or configure it.
    pub(crate) fn start() -> Self {
        let cluster = Self::begin(&[]);
        let mut admin = cluster.admin("postgres");
        admin.batch_execute(&format!("CREATE ROLE {READER} LOGIN PASSWORD '{PASSWORD}'")).unwrap();
        admin.batch_execute("CREATE DATABASE seed").unwrap();
        cluster.admin("seed").batch_execute(SCHEMA).unwrap();
        cluster
    }

    /// A hot standby of this cluster.
    pub(crate) fn standby(&self) -> Self {
        Self::begin(&[&self.directory.display().to_string(), &self.port.to_string()])
    }

    fn begin(primary: &[&str]) -> Self {
        let binaries = binaries();
        let directory = tempfile::Builder::new().prefix("mcp-it-").tempdir().unwrap().keep();
        // Asked for and let go: another process may take it meanwhile, which shows as a server that does not start.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("sh");
        command.args(["-c", LIFE, "cluster"]).arg(&directory).arg(&binaries).arg(port.to_string());
        command.args(primary);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        if let Some((user, group)) = as_owner(&mut command) {
            chown(&directory, Some(user), Some(group)).unwrap();
        }
        let mut child = command.spawn().unwrap();
        let pipe = child.stdin.take();
        let mut answer = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut answer).unwrap();
        if answer != "ready\n" {
            let logs = ["initdb.log", "pg_ctl.log", "server.log"]
                .map(|name| std::fs::read_to_string(directory.join(name)).unwrap_or_default());
            std::fs::remove_dir_all(&directory).unwrap();
            panic!("the cluster did not start: {}", logs.concat());
        }
        Self { directory, port, pipe, child, databases: AtomicU32::new(0) }
    }

    /// A superuser's connection.
    pub(crate) fn admin(&self, database: &str) -> Client {
        self.client("postgres", database)
    }

    /// Connects as a user.
    pub(crate) fn client(&self, user: &str, database: &str) -> Client {
        let mut config = Config::new();
        config.host_path(&self.directory).port(self.port).user(user).dbname(database);
        config.connect(NoTls).unwrap()
    }

    /// A database of one's own: the schema above and then `setup`.
    pub(crate) fn database(&self, setup: &str) -> String {
        let name = format!("it{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.admin("postgres").batch_execute(&format!("CREATE DATABASE {name} TEMPLATE seed")).unwrap();
        self.admin(&name).batch_execute(setup).unwrap();
        name
    }

    /// The URL under which the reader reaches `database` over TCP.
    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://{READER}:{PASSWORD_IN_URL}@127.0.0.1:{}/{database}", self.port)
    }

    /// The connection string under which `user` reaches `database` over the Unix socket, without a password.
    pub(crate) fn socket_dsn(&self, user: &str, database: &str) -> String {
        format!("host='{}' port={} user={user} dbname={database}", self.directory.display(), self.port)
    }

    /// Everything that the server has logged.
    pub(crate) fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.directory.join("server.log")).unwrap()).into_owned()
    }

    /// The server's `server_version_num`.
    pub(crate) fn version(&self) -> u32 {
        let version: String =
            self.admin("postgres").query_one("SHOW server_version_num", &[]).unwrap().get(0);
        version.parse().unwrap()
    }

    /// The port, over TCP on 127.0.0.1 and in the socket's name.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    fn postmaster(&self) -> Pid {
        let file = std::fs::read_to_string(self.directory.join("data/postmaster.pid")).unwrap();
        Pid::from_raw(file.lines().next().unwrap().parse().unwrap())
    }

    /// Freezes every process of the server until the returned guard is dropped: it accepts connections and is silent.
    pub(crate) fn freeze(&self) -> Frozen {
        let postmaster = self.postmaster();
        // First the one that makes the others.
        kill(postmaster, Signal::SIGSTOP).unwrap();
        let backends = children(postmaster);
        let stopped = backends.into_iter().filter(|pid| kill(*pid, Signal::SIGSTOP).is_ok());
        Frozen([postmaster].into_iter().chain(stopped).collect())
    }

    /// Kills the server as a power cut would: all of it, at once.
    pub(crate) fn crash(&self) {
        let postmaster = self.postmaster();
        kill(postmaster, Signal::SIGSTOP).unwrap();
        let mut all = children(postmaster);
        all.push(postmaster);
        // Some may have ended by themselves.
        all.iter().for_each(|pid| kill(*pid, Signal::SIGKILL).unwrap_or_default());
        let begun = Instant::now();
        while all.iter().any(|pid| is_running(*pid)) {
            assert!(begun.elapsed() < LIMIT, "the server does not die");
            std::thread::yield_now();
        }
        // Where orphans are not collected, a zombie has its number and would pass for the server.
        for lock in ["data/postmaster.pid", &format!(".s.PGSQL.{}.lock", self.port)] {
            std::fs::remove_file(self.directory.join(lock)).unwrap();
        }
    }

    /// Caps what each backend that starts from now on may allocate.
    pub(crate) fn cap_memory(&self, bytes: u64) {
        let mut command = Command::new("prlimit");
        command.args([format!("--pid={}", self.postmaster()), format!("--data={bytes}")]);
        as_owner(&mut command);
        assert!(command.status().unwrap().success(), "prlimit of util-linux");
    }

    /// A program that came with the server.
    pub(crate) fn binary(&self, name: &str) -> PathBuf {
        Some(binaries().join(name)).filter(|path| path.is_file()).unwrap_or(name.into())
    }

    /// Returns the directory of its files.
    pub(crate) fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// `pg_ctl` on this cluster, as the account that owns it.
    pub(crate) fn pg_ctl(&self, arguments: &[&str]) {
        let mut command = Command::new(binaries().join("pg_ctl"));
        command.arg("-D").arg(self.directory.join("data")).args(["-w", "-s"]).args(arguments);
        command.current_dir(&self.directory).stdin(Stdio::null()).stdout(Stdio::null());
        as_owner(&mut command);
        let log = || std::fs::read_to_string(self.directory.join("server.log")).unwrap_or_default();
        assert!(command.status().unwrap().success(), "pg_ctl {arguments:?}: {}", log());
    }
}

/// Runs the command as `nobody` when the test is run by root, as which PostgreSQL refuses to run.
fn as_owner(command: &mut Command) -> Option<(u32, u32)> {
    nix::unistd::geteuid().is_root().then_some(())?;
    let nobody = nix::unistd::User::from_name("nobody").unwrap().expect("the account nobody");
    let (user, group) = (nobody.uid.as_raw(), nobody.gid.as_raw());
    command.uid(user).gid(group);
    Some((user, group))
}

/// A server that does nothing. Dropped, it goes on.
#[must_use]
pub(crate) struct Frozen(Vec<Pid>);

impl Drop for Frozen {
    fn drop(&mut self) {
        // Some may be gone.
        self.0.iter().for_each(|pid| kill(*pid, Signal::SIGCONT).unwrap_or_default());
    }
}

/// The processes that this one started.
fn children(parent: Pid) -> Vec<Pid> {
    let line = format!("PPid:\t{parent}\n");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let processes = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes
        .map(Pid::from_raw)
        .filter(|pid| status(*pid).is_some_and(|status| status.contains(&line)))
        .collect()
}

/// Reports whether the process exists and is not a zombie.
fn is_running(process: Pid) -> bool {
    status(process).is_some_and(|status| !status.contains("\nState:\tZ"))
}

fn status(process: Pid) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{process}/status")).ok()
}

/// TLS and authentication, for their tests.
#[cfg(feature = "tls")]
impl Cluster {
    /// Puts `lines` in place of those of `pg_hba.conf` that are for TCP.
    pub(crate) fn hba(&self, lines: &str) {
        let file = self.directory.join("data/pg_hba.conf");
        std::fs::write(file, format!("local all all trust\n{lines}\n")).unwrap();
        self.pg_ctl(&["restart", "-m", "fast", "-l", "server.log"]);
    }

    /// Turns TLS on, with these files.
    pub(crate) fn encrypt(&self, certificate: &Path, key: &Path, authority: &Path) {
        use std::{
            fs::Permissions,
            os::unix::fs::{MetadataExt as _, PermissionsExt as _},
        };

        let data = self.directory.join("data");
        for (source, name) in [(certificate, "server.crt"), (key, "server.key"), (authority, "root.crt")] {
            let target = data.join(name);
            std::fs::copy(source, &target).unwrap();
            std::fs::set_permissions(&target, Permissions::from_mode(0o600)).unwrap();
            let owner = std::fs::metadata(&data).unwrap();
            chown(&target, Some(owner.uid()), Some(owner.gid())).unwrap();
        }
        self.admin("postgres").batch_execute("ALTER SYSTEM SET ssl = on").unwrap();
        self.admin("postgres").batch_execute("ALTER SYSTEM SET ssl_ca_file = 'root.crt'").unwrap();
        self.pg_ctl(&["restart", "-m", "fast", "-l", "server.log"]);
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.pipe.take());
        self.child.wait().unwrap();
    }
}

/// The directory of the server binaries: PATH, else the newest in the usual places.
pub(crate) fn binaries() -> PathBuf {
    let complete =
        |directory: &Path| ["initdb", "postgres", "pg_ctl"].iter().all(|name| directory.join(name).is_file());
    #[expect(clippy::disallowed_methods, reason = "a test's own environment")]
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::split_paths(&path).find(|directory| complete(directory));
    let children = |parent: &str| -> Vec<PathBuf> {
        let mut children: Vec<PathBuf> = std::fs::read_dir(parent)
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default();
        children.sort();
        children.reverse();
        children
    };
    let homebrew = ["/opt/homebrew/opt", "/usr/local/opt"].into_iter().flat_map(children);
    let homebrew = homebrew.filter(|formula| formula.display().to_string().contains("postgresql"));
    let redhat =
        children("/usr").into_iter().filter(|directory| directory.display().to_string().contains("/pgsql-"));
    path.or_else(|| {
        let usual = children("/usr/lib/postgresql").into_iter().chain(redhat).chain(homebrew);
        usual.map(|directory| directory.join("bin")).find(|directory| complete(directory))
    })
    .expect(HOW_TO_INSTALL)
}
