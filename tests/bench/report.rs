//! The table on stdout.

use std::io::{self, Write};

use super::Outcome;
use super::contest::Score;

/// Begins a block of contests.
pub(super) fn section(title: &str) -> Outcome {
    let columns = "server     limit  ratio |  cpu: µs     limit  ratio | switches  limit";
    line(&format!("\n{title:50} {columns}"))
}

/// Begins a block of anything else.
pub(super) fn plain_section(title: &str) -> Outcome {
    line(&format!("\n{title}"))
}

/// The cost of a request, of the server and of the limit: time, CPU time, context switches.
pub(super) fn row(what: &str, score: Score) -> Outcome {
    let Score { server, limit, ratio, cpu_ratio } = score;
    line(&format!(
        "{what:46} {:10.1} {:9.1} {ratio:6.2} | {:9.1} {:9.1} {cpu_ratio:6.2} | {:8.2} {:6.2}",
        server.micros, limit.micros, server.cpu_micros, limit.cpu_micros, server.switches, limit.switches,
    ))
}

/// Two times in microseconds, and their ratio.
pub(super) fn times(what: &str, server: f64, limit: f64, ratio: f64) -> Outcome {
    line(&format!("{what:46} {server:10.1} {limit:9.1} {ratio:6.2} |"))
}

/// A value without a contest.
pub(super) fn fact(what: &str, value: &str) -> Outcome {
    line(&format!("{what:46} {value:>10}"))
}

fn line(line: &str) -> Outcome {
    Ok(writeln!(io::stdout(), "{line}")?)
}
