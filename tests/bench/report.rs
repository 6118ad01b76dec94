//! The table on stdout.

use std::io::{self, Write};

use super::{Outcome, contest::Score};

/// Prints each row as soon as it is known.
#[derive(Debug, Default)]
pub(super) struct Report;

impl Report {
    /// Begins a block of rows.
    pub(super) fn section(&mut self, title: &str) -> Outcome {
        let columns = "server     limit  ratio |  cpu: µs     limit  ratio | switches  limit";
        self.line(&format!("\n{title:50} {columns}"))
    }

    /// What a request costs the server, and the limit: time, CPU time, context switches.
    pub(super) fn row(&mut self, what: &str, score: Score) -> Outcome {
        let Score { server, limit, ratio, cpu_ratio } = score;
        self.line(&format!(
            "{what:46} {:10.1} {:9.1} {ratio:6.2} | {:9.1} {:9.1} {cpu_ratio:6.2} | {:8.2} {:6.2}",
            server.micros, limit.micros, server.cpu_micros, limit.cpu_micros, server.switches, limit.switches,
        ))
    }

    /// Two times in microseconds, and their ratio.
    pub(super) fn times(&mut self, what: &str, server: f64, limit: f64, ratio: f64) -> Outcome {
        self.line(&format!("{what:46} {server:10.1} {limit:9.1} {ratio:6.2} |"))
    }

    /// Something that is no contest.
    pub(super) fn fact(&mut self, what: &str, value: &str) -> Outcome {
        self.line(&format!("{what:46} {value:>10}"))
    }

    fn line(&mut self, line: &str) -> Outcome {
        Ok(writeln!(io::stdout(), "{line}")?)
    }
}
