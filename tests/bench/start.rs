//! From the start of the process to its first answer.

use std::{
    collections::BTreeSet,
    env,
    process::{Command, Stdio},
    time::Instant,
};

use super::{
    Outcome,
    child::{Child, SERVER, initialize, request},
    contest::{median, micros},
    echo::{self, Shape},
    report::Report,
};

const ROUNDS: usize = 40;

const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

pub(super) fn measure(report: &mut Report) -> Outcome {
    report.section("from start to answer, in µs")?;
    let discover = vec![format!("{DISCOVER}\n").into_bytes()];
    let list = vec![initialize(), request(1, "tools/list")];
    versus_echo(report, "server/discover", &discover)?;
    versus_echo(report, "initialize, then tools/list", &list)?;
    let ends = |program| move || time(|| Ok(drop(Command::new(program).stdin(Stdio::null()).output()?)));
    let answers = || first_answers(server(), &discover);
    versus(report, "server/discover, beside /bin/true", answers, ends("/bin/true"))?;
    versus(report, "end of input at once, beside /bin/true", ends(SERVER), ends("/bin/true"))
}

fn server() -> Command {
    let mut command = Command::new(SERVER);
    command.env_clear();
    command
}

fn versus_echo(report: &mut Report, what: &str, lines: &[Vec<u8>]) -> Outcome {
    let echo = || first_answers(echo::command(Shape::Direct, 400)?, lines);
    versus(report, what, || first_answers(server(), lines), echo)
}

fn versus(
    report: &mut Report,
    what: &str,
    server: impl Fn() -> Outcome<f64>,
    limit: impl Fn() -> Outcome<f64>,
) -> Outcome {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        times.push((server()?, limit()?));
    }
    report.times(
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

/// How many crates the binary is made of.
pub(super) fn crates() -> Outcome<usize> {
    let cargo = env::var_os("CARGO").ok_or("CARGO is not set: run this by `cargo bench`")?;
    let tree = ["tree", "--edges", "normal", "--prefix", "none", "--offline", "--locked"];
    let output = Command::new(cargo).args(tree).output()?;
    let names = String::from_utf8(output.stdout)?;
    let names =
        names.lines().filter_map(|line| line.split_once(" (").map_or(Some(line), |(name, _)| Some(name)));
    Ok(names.collect::<BTreeSet<_>>().len())
}
