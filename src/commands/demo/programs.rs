//! PostgreSQL's server programs: their place, and the user that runs them.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::unistd::{Uid, User, chown};

use super::child::clean_command;
use super::error::DemoError;

/// The advice when [`find_binaries`] finds none.
pub(super) const HOW_TO_GET: &str = "PostgreSQL's server programs were not found, so the SQL part is left out; to get it, install the package \
     `postgresql` (Debian, Homebrew) or `postgresql-server` (Fedora)";

/// The places of `initdb` and `postgres` outside PATH: the parent, the text before the version, the directory behind it.
const PACKAGES: [(&str, &str, &str); 4] = [
    ("/usr/lib/postgresql", "", "bin"),
    ("/usr", "pgsql-", "bin"),
    ("/opt/homebrew/opt", "postgresql@", "bin"),
    ("/usr/local/opt", "postgresql@", "bin"),
];
/// Finds the directory of `initdb` and `postgres`: in PATH, else the newest of the usual places.
pub(super) fn find_binaries(path: &OsStr) -> Option<PathBuf> {
    let is_complete = |bin: &PathBuf| {
        bin.is_absolute() && ["initdb", "postgres"].iter().all(|name| bin.join(name).is_file())
    };
    let packaged = || {
        let installed =
            PACKAGES.iter().flat_map(|(parent, before, behind)| installed(parent, before, behind));
        let mut installed: Vec<_> = installed.filter(|(_, bin)| is_complete(bin)).collect();
        installed.sort();
        installed.pop().map(|(_, bin)| bin)
    };
    env::split_paths(path).find(is_complete).or_else(packaged)
}

/// Lists versions and their directories of programs.
fn installed(
    parent: &str,
    before: &'static str,
    behind: &'static str,
) -> impl Iterator<Item = (u32, PathBuf)> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let name = entry.file_name().into_string().ok()?;
        let version = name.strip_prefix(before)?.split('.').next()?.parse().ok()?;
        Some((version, entry.path().join(behind)))
    })
}

/// The user that runs PostgreSQL: our own, or an unprivileged one when we are root, which PostgreSQL refuses.
pub(super) struct Account {
    /// Our own name, for peer authentication.
    pub(super) own_name: String,
    /// The unprivileged user.
    other: Option<User>,
}

impl Account {
    pub(super) fn choose() -> Result<Self, DemoError> {
        let user = |found: nix::Result<Option<User>>| found.map_err(DemoError::cannot("look up a user"));
        let own = user(User::from_uid(Uid::effective()))?.ok_or("the user that runs the demo has no name");
        let own_name = own.map_err(DemoError::cannot("look up a user"))?.name;
        if !Uid::effective().is_root() {
            return Ok(Self { own_name, other: None });
        }
        for name in ["postgres", "nobody"] {
            if let Some(other) = user(User::from_name(name))? {
                return Ok(Self { own_name, other: Some(other) });
            }
        }
        let cannot = DemoError::cannot("find an unprivileged user");
        Err(cannot("PostgreSQL refuses root, and there is neither `postgres` nor `nobody`"))
    }

    pub(super) fn give(&self, path: &Path) -> Result<(), DemoError> {
        let Some(other) = &self.other else { return Ok(()) };
        chown(path, Some(other.uid), Some(other.gid))
            .map_err(DemoError::cannot("give a directory to PostgreSQL's user"))
    }

    /// Prepares a program of PostgreSQL in a clean environment, as the right user, in a process group of its own (so that
    /// Ctrl-C reaches only this process, which then ends it), its output in the log.
    pub(super) fn command(&self, program: &Path, home: &Path) -> Result<Command, DemoError> {
        let log = File::options().append(true).create(true).open(home.join("log"));
        let log = log.map_err(DemoError::cannot("make a log for PostgreSQL"))?;
        let mut command = clean_command(program);
        command.current_dir(home).process_group(0);
        command.stdin(Stdio::null());
        command.stdout(log.try_clone().map_err(DemoError::cannot("make a log for PostgreSQL"))?).stderr(log);
        if let Some(other) = &self.other {
            command.uid(other.uid.as_raw()).gid(other.gid.as_raw());
        }
        Ok(command)
    }
}
