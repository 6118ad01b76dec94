//! Sampling the CPU: its time beyond the requested one, and its effect on other calls.

use std::time::Instant;

use super::child::{Child, call};
use super::contest::{median, micros};
use super::files::{DataDir, SMALL};
use super::{Outcome, report};

const ROUNDS: usize = 20;
/// Samples under way at once: half of the workers.
const SAMPLES: usize = 8;
/// Reads meanwhile.
const READS: usize = 500;

pub(super) fn measure(data: &DataDir) -> Outcome {
    report::plain_section("system_metrics: beyond sample_ms, the longest of 20, in ms (50 are allowed)")?;
    let mut server = Child::server(&data.settings())?;
    for sample_ms in [0, 100, 500] {
        let line = sample(1, sample_ms);
        let mut longest = 0.0_f64;
        for _ in 0..ROUNDS {
            let begin = Instant::now();
            server.ask(&line)?;
            longest = longest.max(micros(begin.elapsed()) / 1e3 - f64::from(sample_ms));
        }
        report::fact(&format!("sample_ms {sample_ms}"), &format!("{longest:.2}"))?;
    }
    report::plain_section(
        "sandbox_fs_read of 100 bytes, in µs: while 8 samples of 1 s run, and while none does",
    )?;
    let read = call(0, "sandbox_fs_read", &format!(r#"{{"relative_path":"{SMALL}"}}"#));
    let alone = reads(&mut server, &read)?;
    let samples: Vec<u8> = (1..=SAMPLES).flat_map(|id| sample(id, 1_000)).collect();
    server.send(&samples)?;
    let meanwhile = reads(&mut server, &read)?;
    server.skip(SAMPLES)?;
    report::times("the median", meanwhile, alone, meanwhile / alone)?;
    server.end()
}

fn sample(id: usize, sample_ms: u32) -> Vec<u8> {
    call(id, "system_metrics", &format!(r#"{{"sample_ms":{sample_ms}}}"#))
}

fn reads(server: &mut Child, line: &[u8]) -> Outcome<f64> {
    let mut times = Vec::with_capacity(READS);
    for _ in 0..READS {
        let begin = Instant::now();
        server.ask(line)?;
        times.push(micros(begin.elapsed()));
    }
    Ok(median(times))
}
