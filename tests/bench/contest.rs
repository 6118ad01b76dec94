//! Two processes that take turns at the same task.

use std::time::{Duration, Instant};

use super::Outcome;
use super::child::Child;

/// The cost of one request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    /// Until its answer was there, in microseconds; of a pipeline, the share of one request.
    pub(super) micros: f64,
    /// The process's CPU time in microseconds.
    pub(super) cpu_micros: f64,
    /// The process's context switches.
    pub(super) switches: f64,
}

/// The medians of a contest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Score {
    pub(super) server: Cost,
    pub(super) limit: Cost,
    /// Server by limit, round by round.
    pub(super) ratio: f64,
    pub(super) cpu_ratio: f64,
}

/// The order in which requests are sent to a process.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task<'a> {
    /// One after the other, so many times.
    RoundTrips(&'a [u8], usize),
    /// All at once: lines, and the number of their answers.
    Pipeline(&'a [u8], usize),
}

impl Task<'_> {
    /// Has `child` do it once.
    pub(super) fn cost(self, child: &mut Child) -> Outcome<Cost> {
        let before = child.usage()?;
        let (count, micros) = match self {
            Self::RoundTrips(line, count) => {
                let mut times = Vec::with_capacity(count);
                for _ in 0..count {
                    let begin = Instant::now();
                    child.ask(line)?;
                    times.push(micros(begin.elapsed()));
                }
                (count, median(times))
            }
            Self::Pipeline(lines, count) => {
                let begin = Instant::now();
                child.ask_all(lines, count)?;
                (count, micros(begin.elapsed()) / count as f64)
            }
        };
        let after = child.usage()?;
        Ok(Cost {
            micros,
            cpu_micros: micros_per(after.cpu.saturating_sub(before.cpu), count),
            switches: after.switches.saturating_sub(before.switches) as f64 / count as f64,
        })
    }
}

/// Lets both do their task `rounds` times in turn, after one round that does not count.
pub(super) fn contest(
    rounds: usize,
    (server, task): (&mut Child, Task<'_>),
    (limit, limit_task): (&mut Child, Task<'_>),
) -> Outcome<Score> {
    let mut costs = Vec::with_capacity(rounds);
    for round in 0..=rounds {
        let cost = (task.cost(server)?, limit_task.cost(limit)?);
        if round > 0 {
            costs.push(cost);
        }
    }
    let cost = |of: fn(&(Cost, Cost)) -> Cost| Cost {
        micros: median(costs.iter().map(|both| of(both).micros)),
        cpu_micros: median(costs.iter().map(|both| of(both).cpu_micros)),
        switches: median(costs.iter().map(|both| of(both).switches)),
    };
    Ok(Score {
        server: cost(|(server, _)| *server),
        limit: cost(|(_, limit)| *limit),
        ratio: median(costs.iter().map(|(server, limit)| server.micros / limit.micros)),
        cpu_ratio: median(costs.iter().map(|(server, limit)| server.cpu_micros / limit.cpu_micros)),
    })
}

pub(super) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn micros_per(time: Duration, count: usize) -> f64 {
    micros(time) / count as f64
}

/// Returns the median; 0 of none.
pub(super) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
