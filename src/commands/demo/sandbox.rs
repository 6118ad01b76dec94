//! The demo's sandbox: a temporary directory with a few files and, where PostgreSQL is installed, a cluster.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;
use std::{env, io};

use nix::fcntl::AT_FDCWD;
use nix::sys::stat::{UtimensatFlags, utimensat};
use nix::sys::time::TimeSpec;

use super::child::clean_command;
use super::cluster::Cluster;
use super::directory::Directory;
use super::error::DemoError;
use super::programs::{HOW_TO_GET, find_binaries};
use super::stop::Stop;
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

/// The catalog's file, beside the directory that clients may reach.
const CATALOG_FILE: &str = "catalog.toml";
/// A catalog that no server starts with, beside it.
const BROKEN_FILE: &str = "broken.toml";
const BROKEN: &str = include_str!("broken.toml");

/// The sandbox. Dropped, it stops the cluster first and removes everything then: the order of its fields.
#[derive(Debug)]
pub(super) struct Sandbox {
    cluster: Option<Cluster>,
    directory: Directory,
}

impl Sandbox {
    /// Makes it, with a cluster when PostgreSQL's programs are found in `path` or in the usual places and can run here.
    pub(super) fn build(path: &OsStr, stop: &Stop) -> Result<Self, DemoError> {
        let directory = Directory::create().map_err(DemoError::cannot("make a temporary directory"))?;
        fill(&directory.path).map_err(DemoError::cannot("write the demo's files"))?;
        let started = find_binaries(path)
            .map(|binaries| Cluster::start(&binaries, directory.path.join("pg"), stop))
            .transpose();
        let cluster = match started {
            Ok(Some(cluster)) => Some(cluster),
            Ok(None) => {
                report_fatal(HOW_TO_GET);
                None
            }
            Err(DemoError::Interrupted) => return Err(DemoError::Interrupted),
            Err(failed) => {
                let why = failed.to_string().replace('\n', "; ");
                report_fatal(&format!("PostgreSQL cannot run here, so the SQL part is left out: {why}"));
                None
            }
        };
        Ok(Self { cluster, directory })
    }

    pub(super) fn has_database(&self) -> bool {
        self.cluster.is_some()
    }

    /// Prepares this program as a server of the sandbox, in a clean environment.
    pub(super) fn server(&self) -> Result<Command, DemoError> {
        let program = env::current_exe().map_err(DemoError::cannot("find this program"))?;
        let mut server = clean_command(&program);
        server.arg("serve").env("MCP_SAFE_DATA_DIR", self.directory.path.join("data"));
        if let Some(cluster) = &self.cluster {
            server.env("MCP_SQL_DSN", cluster.dsn());
            // Both: reviewed queries, and a model's own.
            server.env("MCP_CATALOG", self.directory.path.join(CATALOG_FILE)).env("MCP_SQL_ADHOC", "true");
        }
        Ok(server)
    }

    /// Prepares this program to check the broken catalog.
    pub(super) fn check(&self) -> Result<Command, DemoError> {
        let program = env::current_exe().map_err(DemoError::cannot("find this program"))?;
        let mut check = clean_command(&program);
        check.arg("check").current_dir(&self.directory.path);
        check.env("MCP_CATALOG", self.directory.path.join(BROKEN_FILE));
        Ok(check)
    }

    /// Returns the file of the server's log.
    pub(super) fn log(&self) -> PathBuf {
        self.directory.path.join("server.log")
    }
}

/// Writes the files, and beside their directory one that clients may not reach.
fn fill(directory: &Path) -> io::Result<()> {
    let data = directory.join("data");
    DirBuilder::new().mode(0o700).create(&data)?;
    fs::write(directory.join("secret.txt"), "no client may read this\n")?;
    fs::write(directory.join(CATALOG_FILE), CATALOG)?;
    fs::write(directory.join(BROKEN_FILE), BROKEN)?;
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
