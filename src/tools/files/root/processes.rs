//! A check that a directory does not show `/proc`: the environment of every process of this account, the connection string of
//! this one included.

use std::ffi::{OsStr, OsString};
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::Root;

impl Root {
    /// Returns whether this directory is in a `proc` file system, or one is mounted beneath it now. Asks the kernel alone: a
    /// file system that hangs cannot delay the start.
    ///
    /// # Errors
    /// It cannot be found out: there is no `/proc/self/mountinfo`.
    pub fn shows_processes(&self) -> io::Result<bool> {
        let facts = fs::read_to_string(format!("/proc/self/fdinfo/{}", self.directory.as_raw_fd()))?;
        let own = facts.lines().find_map(|line| line.strip_prefix("mnt_id:")).map(str::trim_ascii);
        let (own, root) = own.zip(self.canonical.as_ref()).ok_or(io::ErrorKind::NotFound)?;
        let mounts = fs::read("/proc/self/mountinfo")?;
        let mut procs = mounts.split(|byte| *byte == b'\n').filter_map(proc_mount);
        Ok(procs.any(|(id, place)| id == own.as_bytes() || is_beneath(&place, root)))
    }
}

/// The number of the mount, and its place, if this line of mountinfo (proc_pid_mountinfo(5)) is of a `proc` file system.
fn proc_mount(line: &[u8]) -> Option<(&[u8], OsString)> {
    let mut fields = line.split(|byte| *byte == b' ');
    let id = fields.next()?;
    let place = fields.nth(3)?;
    // Optional fields end with a hyphen; the type follows.
    (fields.skip_while(|field| *field != b"-").nth(1)? == b"proc").then(|| (id, unescaped(place)))
}

/// Without the octal escapes of spaces, tabs, line ends and backslashes.
fn unescaped(field: &[u8]) -> OsString {
    let mut parts = field.split(|byte| *byte == b'\\');
    let mut bytes = parts.next().unwrap_or_default().to_vec();
    for part in parts {
        let escape = part.split_at_checked(3).and_then(|(digits, rest)| {
            Some((u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()?, rest))
        });
        match escape {
            Some((byte, rest)) => {
                bytes.push(byte);
                bytes.extend_from_slice(rest);
            }
            None => bytes.extend_from_slice(part),
        }
    }
    OsString::from_vec(bytes)
}

/// Compared part by part: `/data2/proc` is not beneath `/data`.
fn is_beneath(place: &OsStr, root: &[OsString]) -> bool {
    let root = root.iter().collect::<PathBuf>();
    Path::new(place).strip_prefix("/").is_ok_and(|place| place.starts_with(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, root: &str, expected: bool) {
        let root = Path::new(root).iter().skip(1).map(OsStr::to_owned).collect::<Vec<_>>();
        let found = proc_mount(line.as_bytes()).is_some_and(|(_, place)| is_beneath(&place, &root));
        assert_eq!(found, expected, "{line} beneath {root:?}");
    }

    #[test]
    fn a_proc_beneath_the_root_is_found_in_the_list_of_mounts() {
        const PROC: &str = "22 1 0:20 / /proc rw,nosuid shared:5 - proc proc rw";
        check(PROC, "/", true);
        check(PROC, "/proc", true);
        check(PROC, "/srv", false);
        check(PROC, "/pro", false);
        check(PROC, "/proc/self", false);
        let jail = r"90 1 0:21 /1 /srv/my\040jail/a\134b/proc rw master:1 propagate_from:2 - proc none rw";
        check(jail, "/srv", true);
        check(jail, "/srv/my jail", true);
        check(jail, r"/srv/my jail/a\b", true);
        check(jail, "/srv/my", false);
        check("23 1 0:22 / /sys rw - sysfs sysfs rw", "/", false);
        check("24 1 8:1 / /proc rw - ext4 proc rw", "/", false);
        check("25 1 8:1 / /proc rw -", "/", false);
        check("", "/", false);
    }

    #[test]
    fn this_hosts_proc_is_found() {
        for (path, expected) in [("/", true), ("/proc", true), ("/proc/self", true), ("/etc", false)] {
            let root = Root::open(Path::new(path)).unwrap();
            assert_eq!(root.shows_processes().unwrap(), expected, "{path}");
        }
    }
}
