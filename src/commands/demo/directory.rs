//! A temporary directory that is removed with its owner.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Stdio};
use std::time::SystemTime;
use std::{env, io};

use nix::unistd::Uid;

use super::child::clean_command;
use crate::diagnostics::report_fatal;

/// Removes a directory as soon as our end of its standard input closes. PostgreSQL may still be busy ending in there.
const CLEANER: &str = r#"
read -r line
for attempt in 1 2 3 4 5; do
    rm -rf -- "$1" && exit
    sleep 1
done
"#;

/// A temporary directory of our own, removed when dropped, and by the cleaner when this process is killed.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) path: PathBuf,
    cleaner: Child,
}

impl Directory {
    pub(super) fn create() -> io::Result<Self> {
        let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |elapsed| elapsed.subsec_nanos());
        // Short, because a socket's path is: the next one is tried when the name is taken.
        let names = (0..100_u32).map(|n| format!("mcp-{:x}-{:x}", process::id(), now.wrapping_add(n)));
        // PostgreSQL's own user must pass through when we are root; other users cannot list it.
        let mode = if Uid::effective().is_root() { 0o711 } else { 0o700 };
        for path in names.map(|name| env::temp_dir().join(name)) {
            match DirBuilder::new().mode(mode).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
                Err(error) => return Err(error),
                Ok(()) => return Ok(Self { cleaner: cleaner(&path)?, path }),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            report_fatal(&format!("cannot remove {}: {error}", self.path.display()));
        }
        if let Err(error) = self.cleaner.kill().and_then(|()| self.cleaner.wait()) {
            report_fatal(&format!("cannot end the shell that would remove it: {error}"));
        }
    }
}

/// Starts the cleaner in a process group of its own, so that signals to ours do not reach it.
fn cleaner(directory: &Path) -> io::Result<Child> {
    let mut shell = clean_command(Path::new("/bin/sh"));
    shell.args(["-c", CLEANER, "sh"]).arg(directory).current_dir("/").process_group(0);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}
