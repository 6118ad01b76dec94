//! A directory of 100,000 entries: the cost of its first page.

use std::fs::{self, File};

use super::child::{Child, call};
use super::contest::{median, micros};
use super::{Outcome, report};

const ENTRIES: usize = 100_000;
const ROUNDS: usize = 15;

pub(super) fn measure() -> Outcome {
    report::plain_section("the first page of a directory of 100,000 entries")?;
    let directory = tempfile::tempdir()?;
    for number in 0..ENTRIES {
        File::create(directory.path().join(format!("{:06}.txt", number * 7_919 % ENTRIES)))?;
    }
    let data = directory.path().to_str().ok_or("the temporary directory is not UTF-8")?;
    let mut server = Child::server(&[("MCP_SAFE_DATA_DIR", data)])?;
    let before = server.peak_kib()?;
    let mut times = Vec::with_capacity(ROUNDS);
    let mut bare = Vec::with_capacity(ROUNDS);
    for round in 0..ROUNDS {
        let line = call(round, "sandbox_fs_list", r#"{"max_entries":1000}"#);
        let begin = std::time::Instant::now();
        server.ask(&line)?;
        times.push(micros(begin.elapsed()));
        let begin = std::time::Instant::now();
        for entry in fs::read_dir(directory.path())? {
            entry?;
        }
        bare.push(micros(begin.elapsed()));
    }
    let (time, bare) = (median(times), median(bare));
    report::times("1,000 entries, in µs, beside readdir(3) alone", time, bare, time / bare)?;
    report::fact("  the memory it took, in KiB", &(server.peak_kib()? - before).to_string())?;
    server.end()
}
