//! `system_metrics`: CPU, memory, swap, disk, uptime of the host and limits of the server's own control group.

use std::path::PathBuf;

use nix::sys::statvfs::{Statvfs, statvfs};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use sysinfo::{MemoryRefreshKind, System};

use super::cgroup::{self, Cgroup};
use super::cpu::watch_cpu;
use super::share::{finite, percent};
use crate::call::{Call, Failure};
use crate::governance::Permit;
use crate::problem::Problem;
use crate::tools::{Bound, CheckedSpec, TypedTool};
use crate::wire::ascii::AsciiJson;

/// The most bytes of an answer: some 30 numbers.
const MAX_BODY_BYTES: usize = 2048;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Milliseconds to watch the CPU; 0: the mean since the host started.
    #[serde(default = "default_sample_ms")]
    #[schemars(range(min = 0, max = 2000))]
    sample_ms: u64,
}

fn default_sample_ms() -> u64 {
    100
}

/// The answer. The schema names the members of its parts in words: a model pays for the listing with every request.
#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// logical_count, usage_percent, load_average of one, five, fifteen minutes
    #[schemars(schema_with = "object")]
    cpu: Cpu,
    /// total_bytes, available_bytes, used_bytes, used_percent
    #[schemars(schema_with = "object")]
    memory: Memory,
    /// total_bytes, used_bytes, used_percent
    #[schemars(schema_with = "object")]
    swap: Swap,
    /// total_bytes, available_bytes, used_percent
    #[schemars(schema_with = "object")]
    disk: Disk,
    /// The server's control group: memory_max_bytes, memory_current_bytes, memory_used_percent, cpu_max, pids_max, pids_current
    #[schemars(schema_with = "object_or_null")]
    cgroup: Option<Cgroup>,
    uptime_seconds: u64,
    sampled_ms: u64,
}

fn object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

fn object_or_null(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [{ "type": "object" }, { "type": "null" }] })
}

#[derive(Debug, Serialize)]
struct Cpu {
    /// Logical processors that are online.
    logical_count: u64,
    /// Share of all processors' time that was not idle, 0 to 100.
    usage_percent: f64,
    /// Mean number of runnable tasks.
    load_average: LoadAverage,
}

#[derive(Debug, Serialize)]
struct LoadAverage {
    /// Over one minute.
    one: f64,
    /// Over five minutes.
    five: f64,
    /// Over fifteen minutes.
    fifteen: f64,
}

#[derive(Debug, Serialize)]
struct Memory {
    total_bytes: u64,
    /// What new work can get without swapping.
    available_bytes: u64,
    /// Total less available.
    used_bytes: u64,
    /// 0 to 100.
    used_percent: f64,
}

#[derive(Debug, Serialize)]
struct Swap {
    total_bytes: u64,
    used_bytes: u64,
    /// 0 to 100.
    used_percent: f64,
}

#[derive(Debug, Serialize)]
struct Disk {
    total_bytes: u64,
    /// What an unprivileged user can still write.
    available_bytes: u64,
    /// Used space of what unprivileged users can have, 0 to 100, as `df` computes it.
    used_percent: f64,
}

/// Reports metrics of the host.
#[derive(Debug)]
pub struct SystemMetrics {
    disk_path: PathBuf,
    spec: CheckedSpec,
}

impl SystemMetrics {
    /// Watches the file system that holds `disk_path` (`MCP_METRICS_DISK_PATH`).
    pub fn new(disk_path: PathBuf) -> Self {
        let description = "Reports the host's CPU usage and load, memory, swap, disk space and uptime, and the limits of the \
                          server's own control group. CPU usage is watched for sample_ms, which is how long the call takes.";
        let spec = CheckedSpec::of::<Arguments, Output>("system_metrics", "Host metrics", description);
        Self { disk_path, spec }
    }

    fn measure(&self, sample_ms: u64, call: &Call) -> Result<Output, Failure> {
        let cpu = watch_cpu(sample_ms, call)?;
        let failed =
            |error: sysinfo::Error| Failure::Internal(format!("the host cannot be measured: {error}"));
        let mut system = System::new().map_err(failed)?;
        system.refresh_memory_specifics(MemoryRefreshKind::everything());
        let total_bytes = system.total_memory();
        let available_bytes = system.available_memory().min(total_bytes);
        let used_bytes = total_bytes - available_bytes;
        let swap_total = system.total_swap();
        let swap_used = system.used_swap().min(swap_total);
        let disk = statvfs(&self.disk_path)
            .map_err(|errno| Failure::Internal(format!("the disk path cannot be measured: {errno}")))?;
        let load = System::load_average().map_err(failed)?;
        Ok(Output {
            cpu: Cpu {
                logical_count: cpu.logical_count,
                usage_percent: cpu.usage_percent,
                load_average: LoadAverage {
                    one: finite(load.one),
                    five: finite(load.five),
                    fifteen: finite(load.fifteen),
                },
            },
            memory: Memory {
                total_bytes,
                available_bytes,
                used_bytes,
                used_percent: percent(used_bytes, total_bytes),
            },
            swap: Swap {
                total_bytes: swap_total,
                used_bytes: swap_used,
                used_percent: percent(swap_used, swap_total),
            },
            disk: disk_of(&disk),
            cgroup: cgroup::of_this_process(),
            uptime_seconds: System::uptime().map_err(failed)?,
            sampled_ms: cpu.sampled_ms,
        })
    }
}

/// Lists every file that is read for an answer, by this folder and by `sysinfo`.
pub fn host_files() -> Vec<PathBuf> {
    let host = ["/proc/stat", "/proc/meminfo", "/proc/loadavg", "/proc/uptime"].map(PathBuf::from);
    host.into_iter().chain(cgroup::files()).collect()
}

impl TypedTool for SystemMetrics {
    type Arguments = Arguments;

    fn spec(&self) -> &CheckedSpec {
        &self.spec
    }

    fn bind(&self, request: Arguments) -> Result<Bound<'_>, Problem> {
        let run = move |_: Permit, call: &Call| {
            let output = self.measure(request.sample_ms, call)?;
            Ok(AsciiJson::of(&output).into())
        };
        Ok((MAX_BODY_BYTES, Box::new(run)))
    }
}

fn disk_of(disk: &Statvfs) -> Disk {
    let bytes = |blocks: u64| blocks.saturating_mul(disk.fragment_size());
    // Blocks reserved for root count as neither used nor available.
    let used = disk.blocks().saturating_sub(disk.blocks_free());
    Disk {
        total_bytes: bytes(disk.blocks()),
        available_bytes: bytes(disk.blocks_available()),
        used_percent: percent(used, used.saturating_add(disk.blocks_available())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        call::Interrupt,
        tools::testing::{answer, run},
    };
    use serde_json::{Value, json};
    use std::{
        process::Command,
        sync::atomic::{AtomicBool, Ordering::Relaxed},
        time::{Duration, Instant},
    };

    fn metrics(arguments: &Value) -> Value {
        answer(&SystemMetrics::new(PathBuf::from("/")), arguments)
    }

    /// The number in kibibytes that `/proc/meminfo` has for `key`, in bytes.
    fn meminfo(key: &str) -> f64 {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        line.trim_start_matches(':').trim().trim_end_matches(" kB").parse::<f64>().unwrap() * 1024.0
    }

    #[track_caller]
    fn about(reported: &Value, expected: f64, within: f64) {
        let reported = reported.as_f64().unwrap();
        assert!((reported - expected).abs() <= within, "{reported} is not within {within} of {expected}");
    }

    /// `reported` is within two hundredths of `whole` of the values before and after, or between the two.
    #[track_caller]
    fn amid(reported: &Value, (before, after): (f64, f64), whole: f64) {
        let (reported, within) = (reported.as_f64().unwrap(), whole * 0.02);
        let (least, most) = (before.min(after) - within, before.max(after) + within);
        assert!((least..=most).contains(&reported), "{reported} is not within {least} and {most}");
    }

    #[test]
    fn memory_and_swap_are_as_the_kernel_reports_them() {
        let now = || ["MemAvailable", "SwapFree"].map(meminfo);
        let before = now();
        let metrics = metrics(&json!({"sample_ms": 0}));
        let after = now();
        let (memory, swap) = (&metrics["memory"], &metrics["swap"]);
        let (total, swap_total) = (meminfo("MemTotal"), meminfo("SwapTotal"));
        about(&memory["total_bytes"], total, 0.0);
        amid(&memory["available_bytes"], (before[0], after[0]), total);
        amid(&memory["used_bytes"], (total - before[0], total - after[0]), total);
        about(&memory["used_percent"], 100.0 * memory["used_bytes"].as_f64().unwrap() / total, 0.006);
        about(&swap["total_bytes"], swap_total, 0.0);
        amid(&swap["used_bytes"], (swap_total - before[1], swap_total - after[1]), swap_total);
    }

    /// Asks `df` about the file system at `path`: size, available bytes, used percent if it has any space.
    fn df(path: &str) -> [Option<f64>; 3] {
        let mut df = Command::new("df");
        let table = df.args(["--block-size=1", "--output=size,avail,pcent", path]).output().unwrap();
        let table = String::from_utf8(table.stdout).unwrap().replace('%', "");
        let mut row = table.lines().nth(1).unwrap().split_whitespace().map(|number| number.parse().ok());
        [(); 3].map(|()| row.next().unwrap())
    }

    #[test]
    fn the_disk_is_as_df_reports_it_on_every_kind_of_file_system() {
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        let memory = mounts.lines().filter_map(|line| line.split_once(' ')?.1.split_once(" tmpfs "));
        let paths: Vec<&str> = memory.map(|(path, _)| path).filter(|path| !path.contains('\\')).collect();
        assert!(!paths.is_empty(), "no tmpfs is mounted here");
        for path in paths.into_iter().chain(["/"]) {
            let before = df(path);
            let disk =
                answer(&SystemMetrics::new(PathBuf::from(path)), &json!({"sample_ms": 0}))["disk"].take();
            let after = df(path);
            let [Some(size), Some(available), percent] = before else { panic!("{path}: {before:?}") };
            about(&disk["total_bytes"], size, 0.0);
            amid(&disk["available_bytes"], (available, after[1].unwrap()), size);
            // df rounds up, and has no percentage of nothing.
            let percents = percent.zip(after[2]).map_or((0.0, 0.0), |(one, other)| (one - 0.5, other - 0.5));
            amid(&disk["used_percent"], percents, 50.0);
        }
    }

    #[test]
    fn load_and_uptime_are_as_the_kernel_reports_them() {
        let metrics = metrics(&json!({}));
        let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
        about(&metrics["uptime_seconds"], uptime.split(' ').next().unwrap().parse().unwrap(), 2.0);
        let load = std::fs::read_to_string("/proc/loadavg").unwrap();
        let load = load.split(' ').nth(2).unwrap().parse().unwrap();
        about(&metrics["cpu"]["load_average"]["fifteen"], load, 0.5);
        assert!(metrics["sampled_ms"].as_u64().unwrap() >= 100, "the default");
        assert!((0.0..=100.0).contains(&metrics["cpu"]["usage_percent"].as_f64().unwrap()));
    }

    #[test]
    fn a_busy_processor_is_seen() {
        let stop = AtomicBool::new(false);
        let spin = || {
            while !stop.load(Relaxed) {
                std::hint::spin_loop();
            }
        };
        std::thread::scope(|scope| {
            std::thread::Builder::new().name("spin".to_owned()).spawn_scoped(scope, spin).unwrap();
            let metrics = metrics(&json!({"sample_ms": 300}));
            stop.store(true, Relaxed);
            let share = 100.0 / metrics["cpu"]["logical_count"].as_f64().unwrap();
            assert!(metrics["cpu"]["usage_percent"].as_f64().unwrap() > share / 3.0, "{metrics}");
        });
    }

    #[test]
    fn sampling_ends_when_the_call_is_interrupted() {
        let tool = SystemMetrics::new(PathBuf::from("/"));
        let interrupt = Interrupt::default();
        let stopper = interrupt.clone();
        let started = Instant::now();
        let thread =
            std::thread::Builder::new().name("stopper".to_owned()).spawn(move || stopper.set().is_none());
        let outcome = run(&tool, &json!({"sample_ms": 2000}), interrupt);
        assert!(matches!(outcome, Err(Failure::Interrupted(_))));
        assert!(thread.unwrap().join().unwrap());
        assert!(started.elapsed() < Duration::from_secs(2));
    }

    #[test]
    fn a_missing_disk_path_is_an_internal_error_and_is_not_reported() {
        let tool = SystemMetrics::new(PathBuf::from("/nonexistent/secret"));
        match run(&tool, &json!({"sample_ms": 0}), Interrupt::default()) {
            Err(Failure::Internal(why)) => assert!(!why.contains("secret")),
            outcome => panic!("{outcome:?}"),
        }
    }
}
