//! The commands and their exit codes, settings as a launcher gives them.

mod cli;
mod streams;
mod demo;

use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The longest time of a command, on a busy host, too.
pub(super) const LIMIT: Duration = Duration::from_secs(120);

pub(super) fn suite(arguments: &[&str], settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-server-suite"));
    command.args(arguments).env_clear().envs(settings.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(super) fn signal(child: u32, signal: Signal) {
    kill(Pid::from_raw(child.try_into().unwrap()), signal).unwrap();
}

#[track_caller]
pub(super) fn finish(child: Child) -> Output {
    let id = child.id();
    let (done, output) = mpsc::channel();
    let waiter = thread::Builder::new().name("waiter".to_owned());
    waiter.spawn(move || done.send(child.wait_with_output().unwrap()).unwrap()).unwrap();
    output.recv_timeout(LIMIT).unwrap_or_else(|_| {
        signal(id, Signal::SIGKILL);
        panic!("the command does not end");
    })
}

/// Runs a command and returns its stdout and stderr.
#[track_caller]
pub(super) fn check(arguments: &[&str], settings: &[(&str, &str)], exit_code: i32) -> (String, String) {
    let output = finish(suite(arguments, settings).spawn().unwrap());
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(exit_code), "stdout:\n{stdout}\nstderr:\n{stderr}");
    (stdout, stderr)
}
