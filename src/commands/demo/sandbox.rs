//! The demo's sandbox: a temporary directory with a few files and, where PostgreSQL is installed, a cluster.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::time::SystemTime;
use std::{env, io};

use nix::fcntl::AT_FDCWD;
use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;
use nix::unistd::Uid;

use super::child::{DemoError, Stop, clean_command, failed};
use super::cluster::{Cluster, HOW_TO_GET, find_binaries};
use crate::diagnostics::report_fatal;

/// The asset inventory's catalog, which `deploy catalog` prints, too.
pub(crate) const CATALOG: &str = include_str!("catalog.toml");

/// The time of every file's last change: 2026-02-01T12:00:00Z, so that listings are the same on every run.
const MODIFIED: TimeSpec = TimeSpec::new(1_769_947_200, 0);

/// The files that a client may reach, one of which is not UTF-8.
const FILES: [(&str, &[u8]); 3] = [
    ("runbook.md", "# Runbook\n\n1. Look at the oldest open ticket.\n2. Ask its owner – by name.\n3. Write down what helped.\n".as_bytes()),
    ("sites.csv", b"site,city,desks\nHarbour,Hamburg,40\nMill,Leiden,25\nFoundry,Bilbao,60\n"),
    ("legacy.txt", b"Caf\xe9 in Latin-1, which is not UTF-8\n"),
];

/// A catalog that no server starts with.
const BROKEN: &str = include_str!("broken.toml");

/// Removes a directory as soon as our end of its standard input closes. PostgreSQL may still be busy ending in there.
const CLEANER: &str = r#"
read -r line
for attempt in 1 2 3 4 5; do
    rm -rf -- "$1" && exit
    sleep 1
done
exit 1
"#;

/// A temporary directory of our own. The cleaner removes it when it is dropped, and when this process is killed.
#[derive(Debug)]
struct Directory {
    path: PathBuf,
    cleaner: Child,
}

impl Directory {
    fn create() -> io::Result<Self> {
        let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |elapsed| elapsed.subsec_nanos());
        // Short, because a socket's path is.
        let path = env::temp_dir().join(format!("mcp-{:x}-{now:x}", process::id()));
        // PostgreSQL's own user must pass through when we are root; other users cannot list it.
        let mode = if Uid::effective().is_root() { 0o711 } else { 0o700 };
        DirBuilder::new().mode(mode).create(&path)?;
        // In a process group of its own, so that signals to ours do not reach it.
        let mut cleaner = clean_command(Path::new("/bin/sh"));
        cleaner.args(["-c", CLEANER, "sh"]).arg(&path).current_dir("/").process_group(0);
        let cleaner = cleaner.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        Ok(Self { path, cleaner })
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // The wait closes its standard input.
        if !self.cleaner.wait().is_ok_and(|status| status.success()) {
            report_fatal(&format!("cannot remove {}", self.path.display()));
        }
    }
}

/// The sandbox. Dropped, it stops the cluster first and removes everything then: the order of its fields.
#[derive(Debug)]
pub(super) struct Sandbox {
    cluster: Option<Cluster>,
    directory: Directory,
}

impl Sandbox {
    /// Makes it, with a cluster when PostgreSQL's programs are found in `path` or in the usual places and can run here.
    pub(super) fn build(path: &OsStr, stop: &Stop) -> Result<Self, DemoError> {
        let directory = Directory::create().map_err(failed("cannot make a temporary directory"))?;
        fill(&directory.path).map_err(failed("cannot write the demo's files"))?;
        let start = |binaries: PathBuf| Cluster::start(&binaries, directory.path.join("pg"), stop);
        let cluster = match find_binaries(path).map(start).transpose() {
            Err(DemoError::Failed(what, why)) => {
                let why = why.replace('\n', "; ");
                report_fatal(&format!(
                    "PostgreSQL cannot run here, so the SQL part is left out: {what}: {why}"
                ));
                None
            }
            started => started?.or_else(|| {
                report_fatal(HOW_TO_GET);
                None
            }),
        };
        Ok(Self { cluster, directory })
    }

    pub(super) fn has_database(&self) -> bool {
        self.cluster.is_some()
    }

    /// Prepares this program as a server of the sandbox, in a clean environment.
    pub(super) fn server(&self) -> io::Result<Command> {
        let mut server = clean_command(&env::current_exe()?);
        server.arg("serve").env("MCP_SAFE_DATA_DIR", self.directory.path.join("data"));
        if let Some(cluster) = &self.cluster {
            server.env("MCP_SQL_DSN", cluster.dsn());
            // Both: reviewed queries, and a model's own.
            server.env("MCP_CATALOG", self.directory.path.join("catalog.toml")).env("MCP_SQL_ADHOC", "true");
        }
        Ok(server)
    }

    /// Prepares this program to check the broken catalog.
    pub(super) fn check(&self) -> io::Result<Command> {
        let mut check = clean_command(&env::current_exe()?);
        check.arg("check").env("MCP_CATALOG", self.directory.path.join("broken.toml"));
        Ok(check)
    }

    /// Makes the paths in a text relative to the sandbox.
    pub(super) fn relative(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.directory.path.display()), "")
    }
}

/// Writes the files, and beside their directory one that clients may not reach.
fn fill(directory: &Path) -> io::Result<()> {
    let data = directory.join("data");
    DirBuilder::new().mode(0o700).create(&data)?;
    fs::write(directory.join("secret.txt"), "no client may read this\n")?;
    fs::write(directory.join("catalog.toml"), CATALOG)?;
    fs::write(directory.join("broken.toml"), BROKEN)?;
    for (name, content) in FILES {
        fs::write(data.join(name), content)?;
    }
    symlink("../secret.txt", data.join("way-out"))?;
    symlink("runbook.md", data.join("start-here.md"))?;
    for entry in fs::read_dir(&data)? {
        utimensat(AT_FDCWD, &entry?.path(), &MODIFIED, &MODIFIED, UtimensatFlags::NoFollowSymlink)?;
    }
    File::open(&data)?.set_modified(SystemTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_private_filled_and_gone_when_dropped() {
        let directory = Directory::create().unwrap();
        fill(&directory.path).unwrap();
        let path = directory.path.clone();
        let names: Vec<_> =
            fs::read_dir(path.join("data")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), FILES.len() + 2);
        assert!(std::str::from_utf8(&fs::read(path.join("data/legacy.txt")).unwrap()).is_err());
        assert_eq!(fs::read(path.join("data/way-out")).unwrap(), b"no client may read this\n");
        drop(directory);
        assert!(!path.exists());
    }
}
