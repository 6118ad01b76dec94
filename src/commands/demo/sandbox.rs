//! What the demo serves: a temporary directory that holds a few files and, where PostgreSQL is installed, a cluster.

use std::{
    env,
    ffi::OsStr,
    fs::{self, DirBuilder, File},
    io,
    os::unix::{
        fs::{DirBuilderExt, symlink},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{self, Child, Command, Stdio},
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
        fill(&directory.path).map_err(Failed::io("write the demo's files"))?;
        let started = find_binaries(path)
            .map(|binaries| Cluster::start(&binaries, directory.path.join("pg"), stop))
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
        server.arg("serve").env("MCP_SAFE_DATA_DIR", self.directory.path.join("data"));
        if let Some(cluster) = &self.cluster {
            server.env("MCP_SQL_DSN", cluster.dsn());
            // Both worlds: reviewed queries, and a model's own.
            server.env("MCP_CATALOG", self.directory.path.join(CATALOG_FILE)).env("MCP_SQL_ADHOC", "true");
        }
        Ok(server)
    }

    /// This program as it checks the broken catalog.
    pub(super) fn check(&self) -> Result<Command, Failed> {
        let program = env::current_exe().map_err(Failed::io("find this program"))?;
        let mut check = clean_command(&program);
        check.arg("check").current_dir(&self.directory.path);
        check.env("MCP_CATALOG", self.directory.path.join(BROKEN_FILE));
        Ok(check)
    }

    /// Where a server may log.
    pub(super) fn log(&self) -> PathBuf {
        self.directory.path.join("server.log")
    }
}

/// Removes a directory as soon as our end of its standard input closes. PostgreSQL may still be busy ending in there.
const UNDERTAKER: &str = r#"
read -r line
for attempt in 1 2 3 4 5; do
    rm -rf -- "$1" && exit
    sleep 1
done
"#;

/// A temporary directory of our own, removed when dropped, and by the undertaker when we are killed.
#[derive(Debug)]
struct Directory {
    path: PathBuf,
    undertaker: Child,
}

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
                Ok(()) => return Ok(Self { undertaker: undertaker(&path)?, path }),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            complain(&format!("cannot remove {}: {error}", self.path.display()));
        }
        if let Err(error) = self.undertaker.kill().and_then(|()| self.undertaker.wait()) {
            complain(&format!("cannot end the shell that would remove it: {error}"));
        }
    }
}

/// In a process group of its own, so that what is sent to ours does not reach it.
fn undertaker(directory: &Path) -> io::Result<Child> {
    let mut shell = clean_command(Path::new("/bin/sh"));
    shell.args(["-c", UNDERTAKER, "sh"]).arg(directory).current_dir("/").process_group(0);
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
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
