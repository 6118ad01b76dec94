//! CPU time from `/proc/stat` (proc_stat(5)).
//!
//! Read here and not through `sysinfo`, which looks at most once in 200 ms and parses `/proc/cpuinfo` first.

use std::fs::File;
use std::io::{self, Read as _};
use std::time::{Duration, Instant};

use super::share::percent;
use crate::call::{Call, Failure};

/// The CPU lines stand first; 64 KiB hold those of some 600 processors.
const MAX_BYTES: u64 = 64 * 1024;

/// Time since the host started, summed over all processors, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CpuTimes {
    busy: u64,
    idle: u64,
    /// Processors that are online.
    pub(super) logical_count: u64,
}

impl CpuTimes {
    pub(super) fn read() -> io::Result<Self> {
        // Enough on most hosts: read in few steps, where an empty buffer begins with 32 bytes and doubles.
        let mut text = String::with_capacity(8 * 1024);
        File::open("/proc/stat")?.take(MAX_BYTES).read_to_string(&mut text)?;
        Self::parse(&text).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut ticks = lines.next()?.strip_prefix("cpu ")?.split_ascii_whitespace().map(str::parse::<u64>);
        let mut next = || ticks.next().and_then(Result::ok);
        let (user, nice, system, idle) = (next()?, next()?, next()?, next()?);
        // Older kernels end earlier. Time of guests, which follows, is counted in user and nice already.
        let [io_wait, irq, soft_irq, steal] = [(); 4].map(|()| next().unwrap_or(0));
        let sum = |parts: &[u64]| parts.iter().fold(0_u64, |sum, part| sum.saturating_add(*part));
        let logical_count = lines.take_while(|line| line.starts_with("cpu")).fold(0, |count, _| count + 1);
        Some(Self {
            busy: sum(&[user, nice, system, irq, soft_irq, steal]),
            idle: sum(&[idle, io_wait]),
            logical_count,
        })
    }

    /// Returns the percentage of the time since `before` that was not idle. Counters that ran backwards count as standing still.
    pub(super) fn usage_since(self, before: Self) -> f64 {
        let busy = self.busy.saturating_sub(before.busy);
        let idle = self.idle.saturating_sub(before.idle);
        percent(busy, busy.saturating_add(idle))
    }
}

/// The use of the CPU over some time.
pub(super) struct CpuSample {
    pub(super) logical_count: u64,
    pub(super) usage_percent: f64,
    pub(super) sampled_ms: u64,
}

/// Watches the CPU for `sample_ms`; 0 gives the mean since the host started.
pub(super) fn watch_cpu(sample_ms: u64, call: &Call) -> Result<CpuSample, Failure> {
    let read =
        || CpuTimes::read().map_err(|why| Failure::Internal(format!("the CPU cannot be watched: {why}")));
    let before = if sample_ms == 0 { CpuTimes::default() } else { read()? };
    let started = Instant::now();
    call.interrupt().sleep(Duration::from_millis(sample_ms))?;
    let after = read()?;
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(CpuSample {
        logical_count: after.logical_count,
        usage_percent: after.usage_since(before),
        sampled_ms: if sample_ms == 0 { 0 } else { elapsed_ms },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expected`: busy, idle, processors.
    #[track_caller]
    fn check(text: &str, expected: Option<(u64, u64, u64)>) {
        let times = CpuTimes::parse(text).map(|times| (times.busy, times.idle, times.logical_count));
        assert_eq!(times, expected);
    }

    #[test]
    fn the_first_line_is_the_sum_and_the_next_ones_are_the_processors() {
        check(
            "cpu  1 2 4 8 16 32 64 128 9 9\ncpu0 1 1 1 1\ncpu1 1 1 1 1\nintr 5\ncpu9\n",
            Some((231, 24, 2)),
        );
        check("cpu  1 2 4 8\ncpu0 1 2 4 8\n", Some((7, 8, 1)));
        check("cpu  18446744073709551615 2 4 8\n", Some((u64::MAX, 8, 0)));
    }

    #[test]
    fn a_text_that_is_not_a_stat_file_is_refused() {
        check("", None);
        check("cpu  1 2 4\n", None);
        check("cpu  1 2 4 x\n", None);
        check("cpu0 1 2 4 8\n", None);
        check("intr 1 2 4 8\n", None);
    }

    #[test]
    fn usage_is_the_busy_share_of_the_time_in_between() {
        let times = |busy, idle| CpuTimes { busy, idle, logical_count: 2 };
        assert_eq!(times(25, 175).usage_since(times(0, 100)), 25.0);
        assert_eq!(times(1, 2).usage_since(times(0, 0)), 33.33);
        assert_eq!(times(5, 5).usage_since(times(5, 5)), 0.0);
        assert_eq!(times(7, 5).usage_since(times(5, 9)), 100.0, "idle ran backwards");
        assert_eq!(times(1, 6).usage_since(times(9, 5)), 0.0, "busy ran backwards");
    }

    #[test]
    fn this_host_has_processors_and_their_time_grows() {
        let times = CpuTimes::read().unwrap();
        let online = std::thread::available_parallelism().unwrap().get() as u64;
        assert!(times.logical_count >= online);
        assert!(times.busy > 0);
    }
}
