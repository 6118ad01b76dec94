//! Paths outside: the time of a refusal must not depend on their existence.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Instant;

use super::child::{Child, call};
use super::contest::{median, micros};
use super::{Outcome, report};

const ROUNDS: usize = 3_000;

pub(super) fn measure() -> Outcome {
    report::plain_section("a path outside, in µs: something is there, nothing is there, the difference")?;
    let base = tempfile::tempdir()?;
    let (data, outside) = (base.path().join("data"), base.path().join("outside"));
    fs::create_dir(&data)?;
    fs::create_dir(&outside)?;
    let there = outside.join("there");
    fs::write(&there, "secret")?;
    let gone = outside.join("stray");
    symlink(&there, data.join("there"))?;
    symlink(&gone, data.join("stray"))?;
    let name = |path: &std::path::Path| path.to_str().map(str::to_owned).ok_or("a path is not UTF-8");
    let absolute = [name(&there)?, name(&gone)?];
    let climbing = ["../outside/there", "../outside/stray"].map(str::to_owned);
    let linked = ["there", "stray"].map(str::to_owned);
    let mut server = Child::server(&[("MCP_SAFE_DATA_DIR", &name(&data)?)])?;
    for (what, paths) in [("absolute", absolute), ("climbing", climbing), ("behind a link", linked)] {
        let [there, gone] =
            paths.map(|path| call(1, "sandbox_fs_read", &format!(r#"{{"relative_path":"{path}"}}"#)));
        let mut times = (Vec::with_capacity(ROUNDS), Vec::with_capacity(ROUNDS));
        for _ in 0..ROUNDS {
            times.0.push(round_trip(&mut server, &there)?);
            times.1.push(round_trip(&mut server, &gone)?);
        }
        let (there, gone) = (median(times.0), median(times.1));
        report::times(what, there, gone, there - gone)?;
    }
    server.end()
}

fn round_trip(server: &mut Child, line: &[u8]) -> Outcome<f64> {
    let begin = Instant::now();
    server.ask(line)?;
    Ok(micros(begin.elapsed()))
}
