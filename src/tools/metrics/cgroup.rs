//! The process's own control group, version 2 (kernel documentation, admin-guide/cgroup-v2).
//!
//! Version 1 and hosts that mix both count as no control group.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use super::share::{finite, percent};

/// The mount of version 2.
const MOUNT: &str = "/sys/fs/cgroup";
/// The most bytes of a file that is read here: each holds one line or two, `/proc/self/cgroup` a few paths.
const MAX_BYTES: u64 = 16 * 1024;

/// Limits and use. A member is null where there is no limit, or the kernel does not count it here.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Cgroup {
    memory_max_bytes: Option<u64>,
    memory_current_bytes: Option<u64>,
    /// Use of the memory limit, 0 to 100.
    memory_used_percent: Option<f64>,
    /// The CPU limit, in processors: 1.5 is one and a half.
    cpu_max: Option<f64>,
    pids_max: Option<u64>,
    pids_current: Option<u64>,
}

/// Names the control group of this process.
const MEMBERSHIP: &str = "/proc/self/cgroup";
/// The files of a group that are read.
const FILES: [&str; 5] = ["memory.max", "memory.current", "cpu.max", "pids.max", "pids.current"];

/// Reads limits and use of the control group of this process.
pub(super) fn of_this_process() -> Option<Cgroup> {
    Cgroup::read(&own_directory()?)
}

/// Lists the files that [`of_this_process`] reads, as long as the process stays in its group.
pub(super) fn files() -> Vec<PathBuf> {
    let group = own_directory().into_iter().flat_map(|directory| FILES.map(|name| directory.join(name)));
    group.chain([PathBuf::from(MEMBERSHIP)]).collect()
}

fn own_directory() -> Option<PathBuf> {
    directory(Path::new(MOUNT), &read(Path::new(MEMBERSHIP))?)
}

/// Returns the directory of the control group's files: the line `0::/path` of `/proc/self/cgroup`, beneath the mount.
pub(super) fn directory(mount: &Path, membership: &str) -> Option<PathBuf> {
    let path = membership.lines().find_map(|line| line.strip_prefix("0::/"))?;
    // A group outside the namespace is shown as `/../…`, one that was removed ends in ` (deleted)`.
    let beneath = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    beneath.then(|| mount.join(path))
}

impl Cgroup {
    /// `None` when not one of the files is there: version 1, or the group at the top, which has no limits.
    fn read(directory: &Path) -> Option<Self> {
        let [memory_max, memory_current, cpu_max, pids_max, pids_current] =
            FILES.map(|name| read(&directory.join(name)));
        let memory_max_bytes = memory_max.as_deref().and_then(number);
        let memory_current_bytes = memory_current.as_deref().and_then(number);
        let cgroup = Self {
            memory_max_bytes,
            memory_current_bytes,
            memory_used_percent: memory_current_bytes
                .zip(memory_max_bytes)
                .map(|(current, max)| percent(current, max)),
            cpu_max: cpu_max.as_deref().and_then(processors),
            pids_max: pids_max.as_deref().and_then(number),
            pids_current: pids_current.as_deref().and_then(number),
        };
        (cgroup != Self::default()).then_some(cgroup)
    }
}

fn read(path: &Path) -> Option<String> {
    let mut text = String::with_capacity(1024);
    File::open(path).ok()?.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// One number; `max` is none.
pub(super) fn number(text: &str) -> Option<u64> {
    text.trim_ascii_end().parse().ok()
}

/// `quota period` in microseconds; `max period` is none.
pub(super) fn processors(text: &str) -> Option<f64> {
    let (quota, period) = text.trim_ascii_end().split_once(' ')?;
    let (quota, period) = (number(quota)?, number(period)?);
    (period > 0).then(|| finite(quota as f64 / period as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_is_found_beneath_the_mount_and_nowhere_else() {
        #[track_caller]
        fn check(membership: &str, expected: Option<&str>) {
            assert_eq!(directory(Path::new("/m"), membership), expected.map(PathBuf::from), "{membership:?}");
        }
        check("0::/\n", Some("/m/"));
        check("0::/user.slice/app.scope\n", Some("/m/user.slice/app.scope"));
        check("9:cpu:/a\n0::/b\n", Some("/m/b"));
        check("9:name=systemd:/a\n4:memory:/b\n", None);
        check("0::/../other\n", None);
        check("0::/a/../../other\n", None);
        check("0:://etc\n", None);
        check("", None);
    }

    #[test]
    fn limits_are_numbers_or_none() {
        #[track_caller]
        fn check(files: &[(&str, &str)], expected: Option<&Cgroup>) {
            let directory = tempfile::tempdir().unwrap();
            for (name, text) in files {
                std::fs::write(directory.path().join(name), text).unwrap();
            }
            assert_eq!(Cgroup::read(directory.path()).as_ref(), expected);
        }
        check(&[], None);
        check(&[("cgroup.procs", "1\n")], None);
        check(
            &[
                ("memory.max", "1000\n"),
                ("memory.current", "250\n"),
                ("cpu.max", "150000 100000\n"),
                ("pids.max", "64\n"),
                ("pids.current", "3\n"),
            ],
            Some(&Cgroup {
                memory_max_bytes: Some(1000),
                memory_current_bytes: Some(250),
                memory_used_percent: Some(25.0),
                cpu_max: Some(1.5),
                pids_max: Some(64),
                pids_current: Some(3),
            }),
        );
        check(
            &[
                ("memory.max", "max\n"),
                ("memory.current", "250\n"),
                ("cpu.max", "max 100000\n"),
                ("pids.max", "max\n"),
            ],
            Some(&Cgroup { memory_current_bytes: Some(250), ..Cgroup::default() }),
        );
        check(
            &[("memory.max", "100"), ("memory.current", "250")],
            Some(&Cgroup {
                memory_max_bytes: Some(100),
                memory_current_bytes: Some(250),
                memory_used_percent: Some(100.0),
                ..Cgroup::default()
            }),
        );
        for nonsense in ["", "-1\n", "99999999999999999999\n", "1 0\n", "x y\n"] {
            check(&[("memory.max", nonsense), ("cpu.max", nonsense)], None);
        }
    }
}
