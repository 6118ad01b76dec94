//! The restrictions of a confined process, proven from the inside, and its remaining work, through the real binary.
//!
//! Linux 6.12 has all of them. On an older kernel, only those that it has are tried.

use std::fs::{self, File, OpenOptions};
use std::net::{TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::{io, thread};

use mcp_server_suite::confine::{self, Inherited, Needs, Unenforced};
use mcp_server_suite::tools::metrics;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, FcntlArg, OFlag, RenameFlags, fcntl, renameat2};
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{self, Pid};
use serde_json::json;

use crate::cluster::Cluster;
use crate::support::{Client, command};

/// The test that runs again in a child, and the variable that tells the child so.
const INSIDE_TEST: &str = "confine::each_restriction_holds_from_the_inside";
const INSIDE: &str = "MCP_IT_INSIDE";
/// The number of a descriptor that is not in use otherwise.
const INHERITED: i32 = 50;
/// The number of descriptors that the child may have at first.
const FEW: u64 = 64;

/// The surroundings of the process that confines itself: each resource that it may reach, and its twin that it may not.
struct Surroundings {
    data: PathBuf,
    outside: PathBuf,
    port: u16,
    other_port: u16,
    abstract_socket: String,
}

impl Surroundings {
    /// Writes them as the parent passes them on.
    fn write(&self) -> String {
        let Self { data, outside, port, other_port, abstract_socket } = self;
        format!("{}\n{}\n{port}\n{other_port}\n{abstract_socket}", data.display(), outside.display())
    }

    fn read(text: &str) -> Self {
        let [data, outside, port, other_port, abstract_socket] =
            text.lines().collect::<Vec<_>>().try_into().unwrap();
        Self {
            data: data.into(),
            outside: outside.into(),
            port: port.parse().unwrap(),
            other_port: other_port.parse().unwrap(),
            abstract_socket: abstract_socket.to_owned(),
        }
    }
}

/// The feature of Landlock that refuses every attempt that is not in [`FEATURES`].
const FILES: &str = "reading, writing and executing files";
/// The features that refuse these attempts: newer kernels have them.
const FEATURES: [(&str, &[&str]); 3] = [
    ("truncating files", &["truncate it"]),
    ("TCP", &["connect to another port", "listen on a port"]),
    (
        "signals to and abstract sockets of other processes",
        &["connect to another's abstract socket", "signal another process"],
    ),
];

type Attempt<'a> = (&'static str, Box<dyn Fn() -> io::Result<()> + Sync + 'a>);

/// Attempts that succeed before and must fail after. Each can be repeated.
fn given_up(around: &Surroundings) -> Vec<Attempt<'_>> {
    let file = around.data.join("file");
    let (one, other, new) = (around.data.join("one"), around.data.join("sub/other"), around.data.join("new"));
    let secret = around.outside.join("secret");
    vec![
        attempt("read a file elsewhere", move || File::open(&secret).map(drop)),
        attempt("list a directory elsewhere", || fs::read_dir(&around.outside).map(drop)),
        attempt("read our own environment", || File::open("/proc/self/environ").map(drop)),
        attempt("read our own memory", || File::open("/proc/self/mem").map(drop)),
        attempt("list /proc", || fs::read_dir("/proc").map(drop)),
        attempt("write to a file of the data directory", {
            let file = file.clone();
            move || OpenOptions::new().append(true).open(&file).map(drop)
        }),
        attempt("truncate it", move || Ok(unistd::truncate(&file, 4)?)),
        attempt("move files between directories", move || {
            Ok(renameat2(AT_FDCWD, &one, AT_FDCWD, &other, RenameFlags::RENAME_EXCHANGE)?)
        }),
        attempt("make a file and remove it", {
            let new = new.clone();
            move || File::create_new(&new).and_then(|_| fs::remove_file(&new))
        }),
        attempt("make a directory and remove it", {
            let new = new.clone();
            move || fs::create_dir(&new).and_then(|()| fs::remove_dir(&new))
        }),
        attempt("make a symbolic link and remove it", move || {
            std::os::unix::fs::symlink("file", &new).and_then(|()| fs::remove_file(&new))
        }),
        attempt("write to a device", || OpenOptions::new().write(true).open("/dev/null").map(drop)),
        attempt("run a program", || {
            Command::new("/bin/true").stdin(Stdio::inherit()).status().map(|status| assert!(status.success()))
        }),
        attempt("connect to another port", || TcpStream::connect(("127.0.0.1", around.other_port)).map(drop)),
        attempt("listen on a port", || TcpListener::bind("127.0.0.1:0").map(drop)),
        attempt("connect to another's abstract socket", || {
            UnixStream::connect_addr(&SocketAddr::from_abstract_name(&around.abstract_socket)?).map(drop)
        }),
        // A process that does not handle it ignores it.
        attempt("signal another process", || Ok(kill(Pid::parent(), Signal::SIGURG)?)),
    ]
}

/// Attempts that succeed before and after.
fn kept(around: &Surroundings) -> Vec<Attempt<'_>> {
    let mut kept = vec![
        attempt("read a file of the data directory", || fs::read(around.data.join("file")).map(drop)),
        attempt("list a directory of it", || fs::read_dir(around.data.join("sub")).map(drop)),
        attempt("connect to the database's port", || {
            TcpStream::connect(("127.0.0.1", around.port)).map(drop)
        }),
        attempt("look up a name", || TcpStream::connect(("localhost", around.port)).map(drop)),
        attempt("signal ourselves", || Ok(kill(Pid::this(), Signal::SIGURG)?)),
    ];
    let host_files = metrics::host_files().into_iter().filter(|file| file.exists());
    kept.extend(
        host_files.map(|file| attempt("read a file of the metrics", move || fs::read(&file).map(drop))),
    );
    kept
}

fn attempt<'a>(what: &'static str, act: impl Fn() -> io::Result<()> + Sync + 'a) -> Attempt<'a> {
    (what, Box::new(act))
}

#[track_caller]
fn all_work(attempts: &[Attempt]) {
    for (what, act) in attempts {
        act().unwrap_or_else(|error| panic!("{what}: {error}"));
    }
}

/// Checks that no attempt succeeds. EACCES is Landlock's answer for files and TCP, EPERM for the rest.
#[track_caller]
fn none_works(attempts: &[Attempt], unenforced: &[Unenforced]) {
    let can_be_refused = |what: &str| {
        let feature =
            FEATURES.iter().find(|(_, attempts)| attempts.contains(&what)).map_or(FILES, |found| found.0);
        !unenforced.iter().any(|missing| missing.text.starts_with(feature))
    };
    for (what, act) in attempts.iter().filter(|(what, _)| can_be_refused(what)) {
        let errno = act().map_err(|error| error.raw_os_error().map(Errno::from_raw));
        assert!(matches!(errno, Err(Some(Errno::EACCES | Errno::EPERM))), "{what}: {errno:?}");
    }
}

/// Runs in a child of its own: a right that is given up does not come back.
fn inside(around: &Surroundings) {
    assert_eq!(fcntl(io::stdin(), FcntlArg::F_DUPFD(INHERITED)), Ok(INHERITED));
    let inherited = Inherited::list();
    let hard = getrlimit(Resource::RLIMIT_NOFILE).unwrap().1;
    setrlimit(Resource::RLIMIT_NOFILE, FEW, hard).unwrap();
    let (given_up, kept) = (given_up(around), kept(around));
    all_work(&given_up);
    all_work(&kept);

    let root = nix::fcntl::open(&around.data, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty()).unwrap();
    let needs = Needs {
        data_root: Some(root),
        files: metrics::host_files(),
        tcp_ports: vec![around.port],
        names: true,
        descriptors: FEW + 1,
    };
    let confinement = confine::apply(&needs, inherited);
    let unenforced = &confinement.unenforced;
    let not_offered = |missing: &Unenforced| missing.text.contains("the kernel does not offer it");
    assert!(unenforced.iter().all(not_offered), "{unenforced:?}");

    none_works(&given_up, unenforced);
    all_work(&kept);
    thread::scope(|scope| {
        let later = thread::Builder::new().spawn_scoped(scope, || {
            none_works(&given_up, unenforced);
            all_work(&kept);
        });
        later.unwrap().join().unwrap();
    });
    assert_eq!(unistd::close(INHERITED), Err(Errno::EBADF), "it was closed");
    assert_eq!(getrlimit(Resource::RLIMIT_CORE), Ok((0, 0)));
    assert_eq!(getrlimit(Resource::RLIMIT_NOFILE).unwrap().0, FEW + 1);
    assert_eq!(prctl::get_dumpable(), Ok(false));
    assert_eq!(prctl::get_no_new_privs(), Ok(true));
}

#[test]
fn each_restriction_holds_from_the_inside() {
    if let Some((_, around)) = std::env::vars_os().find(|(name, _)| name == INSIDE) {
        return inside(&Surroundings::read(&around.into_string().unwrap()));
    }
    let directory = tempfile::tempdir().unwrap();
    let around = Surroundings {
        data: directory.path().join("data"),
        outside: directory.path().join("outside"),
        port: 0,
        other_port: 0,
        abstract_socket: format!("mcp-it-{}", std::process::id()),
    };
    fs::create_dir_all(around.data.join("sub")).unwrap();
    fs::create_dir(&around.outside).unwrap();
    for file in ["data/file", "data/one", "data/sub/other", "outside/secret"] {
        fs::write(directory.path().join(file), "text").unwrap();
    }
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [port, other_port] = [&listeners[0], &listeners[1]].map(|it| it.local_addr().unwrap().port());
    let name = SocketAddr::from_abstract_name(&around.abstract_socket).unwrap();
    let _listener = UnixListener::bind_addr(&name).unwrap();
    let around = Surroundings { port, other_port, ..around };

    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", INSIDE_TEST, "--test-threads=1", "--nocapture"]).env(INSIDE, around.write());
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// Returns the strictest setting that this kernel can serve under.
fn confined() -> (&'static str, &'static str) {
    static MODE: OnceLock<&str> = OnceLock::new();
    let mode = MODE.get_or_init(|| {
        let check =
            command(&[("MCP_CONFINE", "require")]).arg("check").stdin(Stdio::null()).output().unwrap();
        if check.status.success() { "require" } else { "auto" }
    });
    ("MCP_CONFINE", mode)
}

#[track_caller]
fn answers(client: &mut Client) {
    let result = client.use_tool("read_only_sql", json!({"query": "SELECT max(id) FROM item"}));
    assert_eq!(result["structuredContent"]["rows"], json!([[1000]]), "{result}");
}

/// Checks that SQL works, and works again after the server ended the connection.
#[track_caller]
fn check_sql(cluster: &Cluster, dsn: &str) {
    let settings = [confined(), ("MCP_SQL_DSN", dsn)];
    let mut client = Client::initialized(&settings, "2025-11-25");
    answers(&mut client);
    let end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = 'reader'";
    let ended = cluster.admin("postgres").query(end, &[]).unwrap();
    assert!(ended.iter().any(|row| row.get(0)), "no connection was open");
    answers(&mut client);
    client.end().cleanly();
}

#[test]
fn sql_works_from_inside_over_tcp_over_a_socket_and_after_a_reconnect() {
    let cluster = Cluster::start();
    check_sql(&cluster, &cluster.url("seed"));
    check_sql(&cluster, &cluster.url("seed").replace("127.0.0.1", "localhost"));
    check_sql(&cluster, &cluster.socket_dsn("reader", "seed"));
}

#[cfg(feature = "tls")]
#[test]
fn sql_works_from_inside_over_tls_with_every_file_that_a_dsn_can_name() {
    use std::os::unix::fs::PermissionsExt as _;

    use crate::sql::tls::{asset, private};
    let cluster = Cluster::start();
    cluster.encrypt(&asset("server.pem"), &asset("server.key"), &asset("ca.pem"));
    cluster.hba("hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca");
    let directory = tempfile::tempdir().unwrap();
    let passfile = directory.path().join("passfile");
    fs::write(&passfile, format!("localhost:*:*:*:{}", crate::cluster::PASSWORD.replace(':', "\\:")))
        .unwrap();
    fs::set_permissions(&passfile, fs::Permissions::from_mode(0o600)).unwrap();
    let dsn = format!(
        "host=localhost port={} user=reader dbname=seed sslmode=verify-full sslrootcert={} sslcert={} sslkey={} passfile={}",
        cluster.port(),
        asset("ca.pem").display(),
        asset("client.pem").display(),
        private(&directory, "client.key").display(),
        passfile.display(),
    );
    check_sql(&cluster, &dsn);
}

#[test]
fn files_and_metrics_work_from_inside() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("sub")).unwrap();
    fs::write(directory.path().join("sub/file"), "text").unwrap();
    std::os::unix::fs::symlink("sub/file", directory.path().join("link")).unwrap();
    let settings = [confined(), ("MCP_SAFE_DATA_DIR", directory.path().to_str().unwrap())];
    let mut client = Client::initialized(&settings, "2025-11-25");
    let entries =
        &client.use_tool("sandbox_fs_list", json!({"relative_path": "sub"}))["structuredContent"]["entries"];
    assert_eq!(entries[0]["name"], "file");
    let read = client.use_tool("sandbox_fs_read", json!({"relative_path": "link"}));
    assert_eq!(read["structuredContent"]["content"], "text", "{read}");
    let inside = client.use_tool("system_metrics", json!({}))["structuredContent"].take();
    assert!(inside["memory"]["total_bytes"].as_u64().unwrap() > 0, "{inside}");
    let mut free = Client::initialized(&[("MCP_CONFINE", "off")], "2025-11-25");
    let outside = free.use_tool("system_metrics", json!({}))["structuredContent"].take();
    assert_eq!(inside["cgroup"].is_null(), outside["cgroup"].is_null(), "{inside} {outside}");
    assert_eq!(inside["disk"]["total_bytes"], outside["disk"]["total_bytes"]);
}

#[test]
fn every_thread_of_a_session_is_confined() {
    let mut client = Client::initialized(&[confined()], "2025-11-25");
    client.use_tool("system_metrics", json!({"sample_ms": 0}));
    let threads = client.process.no_new_privileges();
    assert!(threads.len() > 3 && threads.iter().all(|given_up| *given_up), "{threads:?}");
}

/// Runs a command that may open few files, so that a restriction is missing on any kernel. Returns exit code, stdout and stderr.
fn starved(arguments: &str, confine: &str) -> (Option<i32>, String, String) {
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        &format!("ulimit -n {FEW}; exec \"$0\" {arguments}"),
        env!("CARGO_BIN_EXE_mcp-server-suite"),
    ]);
    shell.env_clear().env("MCP_CONFINE", confine).stdin(Stdio::null());
    let output = shell.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_missing_restriction_is_a_warning_or_prevents_the_start_as_configured() {
    const MISSING: &str = "too few descriptors for these settings: the hard limit is 64, 160 may be needed";
    const CURE: &str = "raise the limit (ulimit -Hn, LimitNOFILE=), or lower MCP_MAX_CONCURRENCY";
    let (exit, stdout, stderr) = starved("serve", "require");
    let reported = format!("MCP_CONFINE: {MISSING}; cure: {CURE}\n");
    assert!(exit == Some(78) && stdout.is_empty() && stderr.contains(&reported), "{stderr}");
    let (exit, _, stderr) = starved("serve", "auto");
    assert!(
        exit == Some(0) && stderr.contains(&format!("WARN  session {MISSING}; cure: {CURE}\n")),
        "{stderr}"
    );
    let (exit, _, stderr) = starved("serve", "off");
    assert!(exit == Some(0) && !stderr.contains(MISSING), "{stderr}");

    let (exit, report, _) = starved("check", "auto");
    assert!(
        exit == Some(0) && report.contains(&format!("warn  confinement: {MISSING}\n      -> {CURE}\n")),
        "{report}"
    );
    assert!(report.contains("ok    confinement: no core dumps"), "{report}");
    assert_eq!(starved("check --strict", "auto").0, Some(1));
    let (exit, report, _) = starved("check", "require");
    assert!(exit == Some(1) && report.contains(&format!("FAIL  confinement: {MISSING}\n")), "{report}");
    let (exit, report, _) = starved("check", "off");
    assert!(exit == Some(0) && report.contains("off   confinement: MCP_CONFINE is off\n"), "{report}");
}
