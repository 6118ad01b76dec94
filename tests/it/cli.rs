//! The commands and their exit codes, settings as a launcher gives them, and the demo with what it leaves behind.

use std::{
    fs,
    io::{self, BufRead, BufReader, Read},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::{
            fs::{MetadataExt, PermissionsExt},
            net::UnixStream,
        },
    },
    path::Path,
    process::{Child, Command, Output, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use postgres::{Config, NoTls, error::SqlState};
use serde_json::{Value, json};

/// No command takes longer, however busy the host is.
const LIMIT: Duration = Duration::from_secs(120);

fn suite(arguments: &[&str], settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-server-suite"));
    command.args(arguments).env_clear().envs(settings.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn signal(child: u32, signal: Signal) {
    kill(Pid::from_raw(child.try_into().unwrap()), signal).unwrap();
}

#[track_caller]
fn finish(child: Child) -> Output {
    let id = child.id();
    let (done, output) = mpsc::channel();
    let waiter = thread::Builder::new().name("waiter".to_owned());
    waiter.spawn(move || done.send(child.wait_with_output().unwrap()).unwrap()).unwrap();
    output.recv_timeout(LIMIT).unwrap_or_else(|_| {
        signal(id, Signal::SIGKILL);
        panic!("the command does not end");
    })
}

/// Runs a command and returns what it wrote to stdout and stderr.
#[track_caller]
fn check(arguments: &[&str], settings: &[(&str, &str)], exit_code: i32) -> (String, String) {
    let output = finish(suite(arguments, settings).spawn().unwrap());
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(exit_code), "stdout:\n{stdout}\nstderr:\n{stderr}");
    (stdout, stderr)
}

/// A directory for temporary files that PostgreSQL's user can pass through when the tests run as root.
fn temporary() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o711)).unwrap();
    directory
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn help_and_version_are_answers_and_nonsense_is_usage() {
    assert_eq!(
        check(&["--version"], &[], 0).0,
        concat!("mcp-server-suite ", env!("CARGO_PKG_VERSION"), "\n")
    );
    let (help, _) = check(&["--help"], &[], 0);
    assert!(help.contains("client-config") && help.contains("MCP_SAFE_DATA_DIR"), "{help}");
    let (stdout, stderr) = check(&["nonsense"], &[], 2);
    assert!(stdout.is_empty() && stderr.contains("'nonsense'"), "{stdout}{stderr}");
}

#[test]
fn every_wrong_setting_is_a_line_on_stderr_and_the_exit_code_is_78() {
    let wrong =
        [("MCP_LOG_LEVEL", "loud"), ("MCP_SQL_DSN", "mysql://u:hunter2@h/d"), ("MCP_POLICY", "/p.toml")];
    for command in ["serve", "client-config", "check"] {
        let (stdout, stderr) = check(&[command], &wrong, 78);
        let names: Vec<&str> = stderr.lines().map(|line| line.split_once(':').unwrap().0).collect();
        assert_eq!(names, ["MCP_LOG_LEVEL", "MCP_SQL_DSN", "MCP_POLICY"]);
        assert_eq!(stdout.is_empty(), command != "check", "{stdout}");
        assert!(!format!("{stdout}{stderr}").contains("hunter2"), "{stdout}{stderr}");
    }
}

#[test]
fn check_reports_like_a_doctor() {
    let (report, _) = check(&["check"], &[("MCP_METRICS_ENABLED", "false")], 0);
    assert!(report.contains("off   metrics: MCP_METRICS_ENABLED is false\n"), "{report}");
    assert!(report.ends_with("\nready\n"), "{report}");
    let near_miss = [("MCP_SQL_DNS", "x")];
    check(&["check"], &near_miss, 0);
    let (report, _) = check(&["check", "--strict", "--json"], &near_miss, 1);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["ready"], false);
    let warning = "MCP_SQL_DNS is no setting; did you mean MCP_SQL_DSN?";
    assert!(
        report["findings"].as_array().unwrap().iter().any(|finding| finding["text"] == warning),
        "{report}"
    );
    let (report, _) = check(&["check", "--json"], &[("MCP_FS_MAX_BYTES", "0")], 78);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["findings"][0]["cure"], "allowed: 1 to 2097152");
}

#[test]
fn check_fails_when_the_database_is_down() {
    let (report, _) = check(&["check"], &[("MCP_SQL_DSN", "postgres://reader@127.0.0.1:1/assets")], 1);
    assert!(report.contains("FAIL  sql: ") && report.ends_with("\nnot ready\n"), "{report}");
}

#[test]
fn client_config_prints_what_to_paste_and_no_secret() {
    let settings =
        [("MCP_SQL_DSN", "postgres://reader:hunter2@localhost/assets"), ("MCP_SQL_MAX_ROWS", "50")];
    let (stdout, stderr) = check(&["client-config", "--client", "vscode"], &settings, 0);
    let block: Value = serde_json::from_str(&stdout).unwrap();
    let server = &block["servers"]["mcp-server-suite"];
    assert_eq!(server["command"], env!("CARGO_BIN_EXE_mcp-server-suite"));
    assert_eq!(server["env"]["MCP_SQL_MAX_ROWS"], "50");
    assert!(
        stderr.contains("MCP_SQL_DSN_FILE") && !format!("{stdout}{stderr}").contains("hunter2"),
        "{stderr}"
    );
}

#[test]
fn client_config_names_files_of_the_connection_string_by_absolute_paths() {
    let directory = tempfile::tempdir().unwrap();
    let passfile = directory.path().join("pass file");
    fs::write(&passfile, "*:*:*:*:hunter2\n").unwrap();
    fs::set_permissions(&passfile, fs::Permissions::from_mode(0o600)).unwrap();
    let dsn = "host=localhost sslmode=disable user=r passfile='pass file'";
    fs::write(directory.path().join("dsn"), dsn).unwrap();
    let printed = |name: &str, value: &str| {
        let mut command = suite(&["client-config"], &[(name, value)]);
        let output = finish(command.current_dir(&directory).spawn().unwrap());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let block: Value = serde_json::from_slice(&output.stdout).unwrap();
        let said = format!("{block}{}", String::from_utf8(output.stderr).unwrap());
        assert!(!said.contains("hunter2"), "{said}");
        (block["mcpServers"]["mcp-server-suite"]["env"][name].as_str().unwrap().to_owned(), said)
    };
    let passfile = passfile.to_str().unwrap();
    let (given, _) = printed("MCP_SQL_DSN", dsn);
    assert_eq!(given, dsn.replace("pass file", passfile));
    let (_, said) = printed("MCP_SQL_DSN_FILE", "dsn");
    assert!(said.contains("passfile: a client starts the server in a directory of its own"), "{said}");
    assert!(said.contains(&format!("write {passfile} into the connection string")), "{said}");
}

#[test]
fn client_config_tells_what_a_client_would_replace() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("${HOME}");
    fs::create_dir(&path).unwrap();
    let (_, stderr) = check(&["client-config"], &[("MCP_METRICS_DISK_PATH", path.to_str().unwrap())], 0);
    assert!(stderr.starts_with("MCP_METRICS_DISK_PATH: clients put something of their own"), "{stderr}");
}

#[test]
fn client_config_tells_where_a_password_of_the_environment_belongs() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "postgres://reader@localhost/assets").unwrap();
    for (name, value) in [
        ("MCP_SQL_DSN", "postgres://reader@localhost/assets"),
        ("MCP_SQL_DSN_FILE", file.path().to_str().unwrap()),
    ] {
        let (stdout, stderr) = check(&["client-config"], &[(name, value), ("PGPASSWORD", "hunter2")], 0);
        assert!(
            stdout.contains("MCP_SQL_DSN_FILE") && stderr.contains("MCP_SQL_DSN_FILE"),
            "{stdout}{stderr}"
        );
        assert!(!format!("{stdout}{stderr}").contains("hunter2"), "{stdout}{stderr}");
    }
}

#[test]
fn what_is_wrong_is_told_in_the_log_when_stderr_is_the_clients_own_stream() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let (mut client, server) = UnixStream::pair().unwrap();
    let stream = || Stdio::from(OwnedFd::from(server.try_clone().unwrap()));
    let wrong = [("MCP_LOG_LEVEL", "loud"), ("MCP_LOG_FILE", log.to_str().unwrap())];
    let mut command = suite(&["serve"], &wrong);
    let child = command.stdin(stream()).stdout(stream()).stderr(stream()).spawn().unwrap();
    assert_eq!(finish(child).status.code(), Some(78));
    drop((command, server));
    let mut said = String::new();
    client.read_to_string(&mut said).unwrap();
    assert_eq!(said, "");
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("ERROR session MCP_LOG_LEVEL: 'loud' is not one of the words"), "{log}");
}

#[test]
fn stdout_carries_messages_only_also_when_stderr_is_the_same_pipe() {
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("input");
    fs::write(&input, [calls(1), "nonsense".to_owned()].join("\n")).unwrap();
    let input = || fs::File::open(&input).unwrap();

    let (mut both, stdout) = io::pipe().unwrap();
    let mut server = suite(&[], &[("MCP_LOG_LEVEL", "trace")]);
    let child = server.stdin(input()).stderr(stdout.try_clone().unwrap()).stdout(stdout).spawn().unwrap();
    assert_eq!(finish(child).status.code(), Some(0));
    drop(server);
    let mut said = String::new();
    both.read_to_string(&mut said).unwrap();
    assert_eq!(said.lines().filter(|line| line.starts_with('{')).count(), said.lines().count(), "{said}");
    assert_eq!(said.lines().count(), 2);

    let path = directory.path().join("output");
    for log in ["/dev/stdout", path.to_str().unwrap()] {
        let mut server = suite(&[], &[("MCP_LOG_FILE", log)]);
        if log != "/dev/stdout" {
            server.stdout(fs::File::create(&path).unwrap());
        }
        let output = finish(server.stdin(input()).spawn().unwrap());
        assert_eq!(output.status.code(), Some(78), "{log}");
        assert!(output.stdout.is_empty() && output.stderr.starts_with(b"MCP_LOG_FILE: "), "{log}");
    }
    assert_eq!(fs::read(path).unwrap(), b"");
}

#[test]
fn what_the_journal_reads_has_priorities() {
    let directory = tempfile::tempdir().unwrap();
    let said = |settings: &[(&str, &str)], journal: bool| {
        let (mut ours, stderr) = io::pipe().unwrap();
        let facts = fs::metadata(format!("/proc/self/fd/{}", ours.as_raw_fd())).unwrap();
        let stream = format!("{}:{}", facts.dev(), facts.ino() + u64::from(!journal));
        let mut command = suite(&["serve"], settings);
        let child = command.env("JOURNAL_STREAM", stream).stderr(stderr).spawn().unwrap();
        let exit = finish(child).status.code().unwrap();
        drop(command);
        let mut said = String::new();
        ours.read_to_string(&mut said).unwrap();
        (exit, said)
    };
    let wrong = [("MCP_LOG_LEVEL", "loud"), ("MCP_MAX_CONCURRENCY", "0")];
    let log = directory.path().join("log");
    for settings in [&wrong[..], &[wrong[0], wrong[1], ("MCP_LOG_FILE", log.to_str().unwrap())]] {
        let (exit, said) = said(settings, true);
        assert_eq!((exit, said.lines().count()), (78, 2), "{said}");
        assert!(said.lines().all(|line| line.starts_with("<3>MCP_")), "{said}");
    }
    assert!(said(&wrong, false).1.starts_with("MCP_LOG_LEVEL: "));
    let (exit, said) = said(&[("MCP_QUEUE_WIAT_MS", "1")], true);
    assert_eq!(exit, 0, "{said}");
    assert!(said.starts_with("<4>session ") && said.contains("\n<6>session "), "{said}");
}

#[test]
fn a_human_may_have_both_streams_in_one_pipe() {
    let (mut both, stdout) = io::pipe().unwrap();
    let mut command = suite(&["client-config"], &[("MCP_LOG_LEVEL", "loud")]);
    let child = command.stderr(stdout.try_clone().unwrap()).stdout(stdout).spawn().unwrap();
    assert_eq!(finish(child).status.code(), Some(78));
    drop(command);
    let mut said = String::new();
    both.read_to_string(&mut said).unwrap();
    assert!(said.starts_with("MCP_LOG_LEVEL: 'loud'"), "{said}");
}

#[test]
fn the_log_goes_to_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let (_, stderr) = check(&[], &[("MCP_LOG_FILE", log.to_str().unwrap()), ("MCP_SQL_DNS", "x")], 0);
    assert_eq!(stderr, "");
    assert_eq!(fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("WARN  session MCP_SQL_DNS is no setting"), "{log}");
}

/// Calls, one a line.
fn calls(count: usize) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "system_metrics", "arguments": { "sample_ms": 0 }, "_meta": meta });
    let call =
        |id| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string();
    (0..count).map(call).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check_unread_log(stderr: impl Into<Stdio>) {
    const CALLS: usize = 2_000;
    let directory = tempfile::tempdir().unwrap();
    let input = directory.path().join("input");
    fs::write(&input, calls(CALLS)).unwrap();
    let mut server = suite(&[], &[("MCP_LOG_LEVEL", "trace"), ("MCP_SHUTDOWN_GRACE_MS", "60000")]);
    let server = server.stdin(fs::File::open(&input).unwrap()).stderr(stderr).spawn().unwrap();
    let output = finish(server);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout.iter().filter(|byte| **byte == b'\n').count(), CALLS);
}

#[test]
fn a_log_that_nobody_reads_makes_no_caller_wait() {
    let (unread, pipe) = io::pipe().unwrap();
    check_unread_log(pipe);
    drop(unread);
    let terminal = nix::pty::openpty(None, None).unwrap();
    check_unread_log(terminal.slave);
    drop(terminal.master);
}

#[test]
fn the_demo_plays_its_script_leaves_nothing_behind_and_notices_drift() {
    let directory = temporary();
    let settings = [("TMPDIR", directory.path().to_str().unwrap())];
    let (transcript, stderr) = check(&["demo"], &settings, 0);
    assert!(transcript.contains("A write that hides in a CTE"), "{transcript}{stderr}");
    assert!(!transcript.contains('\u{1b}'), "colour in a pipe");
    assert!(is_empty(directory.path()));

    let files = tempfile::tempdir().unwrap();
    let stored = files.path().join("README.md");
    fs::write(&stored, format!("# Demo\n<!-- demo transcript -->\n```text\n{transcript}```\n")).unwrap();
    check(&["demo", "--check", stored.to_str().unwrap()], &settings, 0);
    fs::write(&stored, transcript.replace("Two statements", "Three statements")).unwrap();
    let (diff, _) = check(&["demo", "--check", stored.to_str().unwrap()], &settings, 1);
    assert!(
        diff.contains("Three statements in one\n+ ") && diff.contains("Two statements in one\n"),
        "{diff}"
    );
    assert!(is_empty(directory.path()));
}

#[test]
fn the_demo_plays_the_rest_where_postgresql_cannot_run() {
    let directory = temporary();
    let too_long = directory.path().join("x".repeat(100));
    fs::create_dir(&too_long).unwrap();
    let (transcript, stderr) = check(&["demo"], &[("TMPDIR", too_long.to_str().unwrap())], 0);
    assert!(transcript.contains("system_metrics") && !transcript.contains("CTE"), "{transcript}");
    assert!(stderr.contains("the SQL part is left out: ") && stderr.lines().count() == 1, "{stderr}");
    assert!(is_empty(&too_long));
}

#[test]
fn the_demo_builds_nothing_for_a_transcript_that_is_not_there() {
    let settings = [("TMPDIR", "/nonexistent")];
    let (_, stderr) = check(&["demo", "--check", "/nonexistent/README.md"], &settings, 1);
    assert!(stderr.contains("cannot read the stored transcript"), "{stderr}");
}

#[test]
fn the_demo_cleans_up_after_a_signal() {
    let directory = temporary();
    let settings = [("TMPDIR", directory.path().to_str().unwrap())];
    let mut demo = suite(&["demo"], &settings).spawn().unwrap();
    let mut stdout = BufReader::new(demo.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    signal(demo.id(), Signal::SIGINT);
    let output = finish(demo);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(is_empty(directory.path()));
}

#[test]
fn the_demo_serves_its_sandbox_until_the_end_of_the_input() {
    let directory = temporary();
    let settings = [("TMPDIR", directory.path().to_str().unwrap())];
    check(&["demo", "--serve"], &settings, 0);
    assert!(is_empty(directory.path()));
}

#[test]
fn a_demo_that_is_killed_leaves_nothing_behind() {
    let directory = temporary();
    let settings = [("TMPDIR", directory.path().to_str().unwrap())];
    let mut demo = suite(&["demo", "--serve"], &settings).stdin(Stdio::piped()).spawn().unwrap();
    let stdin = demo.stdin.take();
    BufReader::new(demo.stderr.take().unwrap()).read_line(&mut String::new()).unwrap();
    let sandbox = fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
    let mut database = Config::new();
    database.host_path(sandbox.join("pg")).user("mcp_reader").dbname("assets");
    let mut database = database.connect(NoTls).unwrap();
    signal(demo.id(), Signal::SIGKILL);
    assert_eq!(demo.wait().unwrap().code(), None);
    let ended = database.batch_execute("SELECT pg_sleep(30)").unwrap_err();
    assert!(ended.code().is_none_or(|code| *code == SqlState::CRASH_SHUTDOWN), "{ended:?}");
    drop(stdin);
    let deadline = Instant::now() + LIMIT;
    while !is_empty(directory.path()) {
        assert!(Instant::now() < deadline, "{} is still there", sandbox.display());
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_served_sandbox_is_cleaned_up_after_a_signal() {
    let directory = temporary();
    let settings = [("TMPDIR", directory.path().to_str().unwrap())];
    let mut demo = suite(&["demo", "--serve"], &settings).stdin(Stdio::piped()).spawn().unwrap();
    let stdin = demo.stdin.take();
    BufReader::new(demo.stderr.take().unwrap()).read_line(&mut String::new()).unwrap();
    signal(demo.id(), Signal::SIGTERM);
    assert_eq!(finish(demo).status.code(), Some(0));
    drop(stdin);
    assert!(is_empty(directory.path()));
}
