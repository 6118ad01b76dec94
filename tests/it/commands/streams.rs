//! Stdout, stderr and the log: messages, errors, the journal, and readers that do not read.

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use serde_json::json;

use super::{check, finish, suite};

#[test]
fn errors_go_to_the_log_when_stderr_is_the_clients_own_stream() {
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
fn stdout_carries_only_messages_also_when_stderr_is_the_same_pipe() {
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
fn lines_for_the_journal_have_priorities() {
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

/// Writes calls, one a line.
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
fn a_log_without_a_reader_delays_no_caller() {
    let (unread, pipe) = io::pipe().unwrap();
    check_unread_log(pipe);
    drop(unread);
    let terminal = nix::pty::openpty(None, None).unwrap();
    check_unread_log(terminal.slave);
    drop(terminal.master);
}

#[test]
fn a_log_beyond_the_limit_of_size_does_not_end_the_process() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let mut server = suite(&[], &[("MCP_LOG_FILE", log.to_str().unwrap()), ("MCP_LOG_LEVEL", "trace")]);
    let child = server.stdin(Stdio::piped()).spawn().unwrap();
    let limits = Command::new("prlimit").args(["--fsize=600", "--pid", &child.id().to_string()]).status();
    assert!(limits.unwrap().success());
    let mut child = child;
    child.stdin.take().unwrap().write_all(calls(50).as_bytes()).unwrap();
    let output = finish(child);
    assert_eq!(output.status.code(), Some(0), "{:?}", output.status);
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 50);
    assert_eq!(fs::metadata(&log).unwrap().len(), 600);
}

#[test]
fn a_connection_string_is_never_read_from_stdin() {
    for path in ["/dev/stdin", "/proc/self/fd/0"] {
        let mut server = suite(&[], &[("MCP_SQL_DSN_FILE", path)]);
        let mut child = server.stdin(Stdio::piped()).spawn().unwrap();
        let held = child.stdin.take();
        let output = finish(child);
        drop(held);
        assert_eq!(output.status.code(), Some(78), "{path}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("it is stdin, on which the client speaks"), "{path}: {said}");
    }
}
