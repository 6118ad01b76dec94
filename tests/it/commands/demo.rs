//! The demo: its transcript, its sandbox, and its clean-up after every kind of end.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{fs, thread};

use nix::sys::signal::Signal;
use postgres::error::SqlState;
use postgres::{Config, NoTls};

use super::{LIMIT, check, finish, signal, suite};

/// Makes a directory for temporary files that PostgreSQL's user can pass through when the tests run as root.
fn temporary() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o711)).unwrap();
    directory
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).unwrap().next().is_none()
}

#[test]
fn the_demo_plays_its_script_removes_everything_and_reports_drift() {
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
fn the_demo_leaves_the_sql_part_out_where_postgresql_cannot_run() {
    let directory = temporary();
    let too_long = directory.path().join("x".repeat(100));
    fs::create_dir(&too_long).unwrap();
    let (transcript, stderr) = check(&["demo"], &[("TMPDIR", too_long.to_str().unwrap())], 0);
    assert!(transcript.contains("system_metrics") && !transcript.contains("CTE"), "{transcript}");
    assert!(stderr.contains("the SQL part is left out: ") && stderr.lines().count() == 1, "{stderr}");
    assert!(is_empty(&too_long));
}

#[test]
fn the_demo_does_not_start_for_a_missing_transcript() {
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
fn a_demo_that_is_killed_is_cleaned_up() {
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
