//! The shipped binary: its size, and its parts.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use super::child::SERVER;
use super::{Outcome, report};

pub(super) fn measure() -> Outcome {
    report::plain_section("what is shipped")?;
    let kib = fs::metadata(SERVER)?.len() / 1024;
    report::fact("the release binary, stripped, in KiB", &kib.to_string())?;
    report::fact("crates in it, itself included", &crates()?.to_string())
}

fn crates() -> Outcome<usize> {
    let tree = ["tree", "--edges", "normal", "--prefix", "none", "--offline", "--locked"];
    let output = Command::new(env!("CARGO")).args(tree).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let lines = String::from_utf8(output.stdout)?;
    // `name v1.2.3`, and perhaps a remark in parentheses.
    let names = lines.lines().map(|line| line.split_once(" (").map_or(line, |(name, _)| name));
    Ok(names.collect::<BTreeSet<_>>().len())
}
