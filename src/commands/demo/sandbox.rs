//! What the demo serves: a temporary directory that holds a few files and, where PostgreSQL is installed, a cluster.

use std::{
    env,
    ffi::OsStr,
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::{DirBuilderExt, symlink},
    path::{Path, PathBuf},
    process::{self, Command},
    time::SystemTime,
};

use nix::{
    fcntl::AT_FDCWD,
    sys::{
        stat::{UtimensatFlags, utimensat},
        time::TimeSpec,
    },
    unistd::Uid,
};

use crate::{
    commands::demo::{
        CATALOG, Failed, Stop, clean_command,
        cluster::{Cluster, HOW_TO_GET, find_binaries},
    },
    diagnostics::complain,
};

/// When every file was last changed: 2026-02-01T12:00:00Z, so that listings are the same on every run.
const MODIFIED: TimeSpec = TimeSpec::new(1_769_947_200, 0);

/// The files that a client may reach, and what is wrong with them.
const FILES: [(&str, &[u8]); 3] = [
    ("runbook.md", "# Runbook\n\n1. Look at the oldest open ticket.\n2. Ask its owner – by name.\n3. Write down what helped.\n".as_bytes()),
    ("sites.csv", b"site,city,desks\nHarbour,Hamburg,40\nMill,Leiden,25\nFoundry,Bilbao,60\n"),
    ("legacy.txt", b"Caf\xe9 in Latin-1, which is not UTF-8\n"),
];

/// Where the catalog is, beside the directory that clients may reach.
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
    pub(super) fn build(path: &OsStr, stop: &Stop) -> Result<Self, Failed> {
        let directory = Directory::create().map_err(Failed::io("make a temporary directory"))?;
        fill(&directory.0).map_err(Failed::io("write the demo's files"))?;
        let started = find_binaries(path)
            .map(|binaries| Cluster::start(&binaries, directory.0.join("pg"), stop))
            .transpose();
        let cluster = match started {
            Ok(Some(cluster)) => Some(cluster),
            Ok(None) => {
                complain(HOW_TO_GET);
                None
            }
            Err(Failed::Interrupted) => return Err(Failed::Interrupted),
            Err(failed) => {
                let why = failed.to_string().replace('\n', "; ");
                complain(&format!("PostgreSQL cannot run here, so the SQL part is left out: {why}"));
                None
            }
        };
        Ok(Self { cluster, directory })
    }

    pub(super) fn has_database(&self) -> bool {
        self.cluster.is_some()
    }

    /// This program as a server of the sandbox, in a clean environment.
    pub(super) fn server(&self) -> Result<Command, Failed> {
        let program = env::current_exe().map_err(Failed::io("find this program"))?;
        let mut server = clean_command(&program);
        server.arg("serve").env("MCP_SAFE_DATA_DIR", self.directory.0.join("data"));
        if let Some(cluster) = &self.cluster {
            server.env("MCP_SQL_DSN", cluster.dsn());
            // Both worlds: reviewed queries, and a model's own.
            server.env("MCP_CATALOG", self.directory.0.join(CATALOG_FILE)).env("MCP_SQL_ADHOC", "true");
        }
        Ok(server)
    }

    /// This program as it checks the broken catalog.
    pub(super) fn check(&self) -> Result<Command, Failed> {
        let program = env::current_exe().map_err(Failed::io("find this program"))?;
        let mut check = clean_command(&program);
        check.arg("check").current_dir(&self.directory.0);
        check.env("MCP_CATALOG", self.directory.0.join(BROKEN_FILE));
        Ok(check)
    }

    /// Where a server may log.
    pub(super) fn log(&self) -> PathBuf {
        self.directory.0.join("server.log")
    }
}

/// A temporary directory of our own, removed when dropped.
#[derive(Debug)]
struct Directory(PathBuf);

impl Directory {
    fn create() -> io::Result<Self> {
        let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |elapsed| elapsed.subsec_nanos());
        // Short, because a socket's path is: the next one is tried when somebody took the name.
        let names = (0..100_u32).map(|n| format!("mcp-{:x}-{:x}", process::id(), now.wrapping_add(n)));
        // PostgreSQL's own user must find its way through when we are root; nobody else can list it.
        let mode = if Uid::effective().is_root() { 0o711 } else { 0o700 };
        for path in names.map(|name| env::temp_dir().join(name)) {
            match DirBuilder::new().mode(mode).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
                Err(error) => return Err(error),
                Ok(()) => return Ok(Self(path)),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            complain(&format!("cannot remove {}: {error}", self.0.display()));
        }
    }
}

/// Writes the files, and beside their directory one that no client may reach.
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
        fill(&directory.0).unwrap();
        let path = directory.0.clone();
        let names: Vec<_> =
            fs::read_dir(path.join("data")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), FILES.len() + 2);
        assert!(std::str::from_utf8(&fs::read(path.join("data/legacy.txt")).unwrap()).is_err());
        assert_eq!(fs::read(path.join("data/way-out")).unwrap(), b"no client may read this\n");
        drop(directory);
        assert!(!path.exists());
    }
}
