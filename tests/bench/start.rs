//! From the start of the process to its first answer.

use std::process::{Command, Stdio};
use std::time::Instant;

use super::child::{Child, SERVER, initialize, request};
use super::contest::{median, micros};
use super::echo::{self, Shape};
use super::{Outcome, report};

const ROUNDS: usize = 40;

const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

pub(super) fn measure() -> Outcome {
    report::plain_section("from start to answer, in µs")?;
    let discover = vec![format!("{DISCOVER}\n").into_bytes()];
    let list = vec![initialize(), request(1, "tools/list")];
    versus_echo("server/discover", &discover)?;
    versus_echo("initialize, then tools/list", &list)?;
    let ends = |program| move || time(|| run(program));
    let answers = || first_answers(server(), &discover);
    versus("server/discover, beside /bin/true", answers, ends("/bin/true"))?;
    versus("end of input at once, beside /bin/true", ends(SERVER), ends("/bin/true"))
}

/// Runs a program without input to its end.
fn run(program: &str) -> Outcome {
    let output = Command::new(program).env_clear().stdin(Stdio::null()).output()?;
    if output.status.success() { Ok(()) } else { Err(format!("{program} failed").into()) }
}

fn server() -> Command {
    let mut command = Command::new(SERVER);
    command.env_clear();
    command
}

fn versus_echo(what: &str, lines: &[Vec<u8>]) -> Outcome {
    let echo = || first_answers(echo::command(Shape::Direct, 400)?, lines);
    versus(what, || first_answers(server(), lines), echo)
}

fn versus(what: &str, server: impl Fn() -> Outcome<f64>, limit: impl Fn() -> Outcome<f64>) -> Outcome {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        times.push((server()?, limit()?));
    }
    report::times(
        what,
        median(times.iter().map(|(server, _)| *server)),
        median(times.iter().map(|(_, limit)| *limit)),
        median(times.iter().map(|(server, limit)| server / limit)),
    )
}

/// Time until the last of `lines`, each sent once the one before is answered, has its answer.
fn first_answers(command: Command, lines: &[Vec<u8>]) -> Outcome<f64> {
    let mut child = None;
    let taken = time(|| {
        let started = child.insert(Child::start(command)?);
        lines.iter().try_for_each(|line| started.ask(line).map(drop))
    })?;
    child.map_or(Ok(()), Child::end)?;
    Ok(taken)
}

fn time(work: impl FnOnce() -> Outcome) -> Outcome<f64> {
    let begin = Instant::now();
    work()?;
    Ok(micros(begin.elapsed()))
}
