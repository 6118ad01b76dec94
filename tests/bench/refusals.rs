//! Refused input beside accepted input of the same size: it must never cost more.

use super::child::{Child, request};
use super::contest::{Task, contest};
use super::{Outcome, report};

const ROUNDS: usize = 15;
const SMALL_LINES: usize = 1000;
const LARGE_LINES: usize = 20;
/// Just below `MCP_MAX_FRAME_BYTES`.
const LARGE_BYTES: usize = (1 << 20) - 100;

pub(super) fn measure() -> Outcome {
    let mut refused = Child::server(&[])?;
    let mut taken = Child::server(&[])?;
    let mut row = |what: &str, bad: &[u8], good: &[u8], count: usize| {
        let (bad, good) = (bad.repeat(count), good.repeat(count));
        let bad = (&mut refused, Task::Pipeline(&bad, count));
        report::row(what, contest(ROUNDS, bad, (&mut taken, Task::Pipeline(&good, count)))?)
    };
    let ping = request(1, "ping");
    row(
        "no JSON, beside a ping",
        br#"{"jsonrpc":"2.0","id":1,"method":"ping",}
"#,
        &ping,
        SMALL_LINES,
    )?;
    row(
        "no message, beside a ping",
        br#"{"jsonrpc":"2.0","id":1,"method":"ping","a":1}
"#,
        &ping,
        SMALL_LINES,
    )?;
    row("no method, beside a ping", &request(1, "pong"), &ping, SMALL_LINES)?;
    let large = padded(LARGE_BYTES);
    let mut broken = large.clone();
    broken.truncate(broken.len() - 2);
    broken.push(b'\n');
    row("no JSON at the end of 1 MiB, beside 1 MiB", &broken, &large, LARGE_LINES)?;
    row("2 MiB, beside 1 MiB", &padded(2 * LARGE_BYTES), &large, LARGE_LINES)?;
    refused.end()?;
    taken.end()
}

/// A ping of `bytes` bytes, roughly.
fn padded(bytes: usize) -> Vec<u8> {
    let pad = "x".repeat(bytes);
    let mut line = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"pad":""#.to_owned();
    line.push_str(&pad);
    line.push_str("\"}}}\n");
    line.into_bytes()
}
