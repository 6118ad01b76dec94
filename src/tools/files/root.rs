//! The walk beneath a descriptor: how a path becomes an open file without ever leaving the root, whatever happens to
//! the directory tree meanwhile.
//!
//! The kernel is only ever asked for one name in one open directory, never for a path, and never to follow a link.
//! Links are read and taken apart here. What is open is beneath the root because each step was. For `..` the walk
//! remembers names, not descriptors: it goes down again from the root, so a call holds three descriptors at most,
//! however deep it goes, and no `..` is ever left to the kernel.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd},
    path::Path,
};

use nix::{
    errno::Errno,
    fcntl::{OFlag, OpenHow, ResolveFlag, openat, openat2, readlinkat},
    sys::stat::{Mode, SFlag, fstat},
};

use super::rel_path::{RelPath, Step, climbs, steps_of};
use crate::call::{Interrupt, Interrupted};

/// Symbolic links followed in one walk; one more is a loop. Linux's own number (path_resolution(7)).
const MAX_LINKS: usize = 40;
/// Names looked up in one walk. A path of 1,024 characters has at most 512; only links that zigzag come near.
const MAX_LOOKUPS: usize = 16_384;

/// A directory that was opened once. Its path is never looked up again: it may be renamed or replaced.
#[derive(Debug)]
pub struct Root {
    directory: OwnedFd,
    /// The parts of the path it had when it was opened, without links: an absolute link is inside when it begins so.
    canonical: Option<Vec<OsString>>,
    lookup: Lookup,
}

/// How one name is looked up. Verdicts are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lookup {
    /// `openat2(2)`, Linux 5.6: the kernel, too, sees to it that nothing is followed and nothing is left.
    Openat2,
    /// `openat(2)` of a single name with `O_NOFOLLOW`.
    Openat,
}

/// Why a directory cannot be the root.
#[derive(Debug, thiserror::Error)]
#[error("cannot be opened as a directory: {0}")]
pub struct RootError(#[source] io::Error);

/// Why a walk did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WalkError {
    /// The path, or a symbolic link on it, leads above the root at some point.
    #[error("leads outside the root")]
    Outside,
    /// More than 40 symbolic links, or more than 16,384 names looked up because of them.
    #[error("too many symbolic links")]
    TooManyLinks,
    /// A part is missing, or is no directory and has something behind it.
    #[error("there is no such thing")]
    Missing,
    /// A file was asked for, and something else is there.
    #[error("not a regular file")]
    NotRegular,
    /// A directory was asked for, and something else is there.
    #[error("not a directory")]
    NotDirectory,
    /// The process may not open it, or may not search a directory on the way.
    #[error("not readable")]
    Unreadable,
    /// The system failed.
    #[error("{0}")]
    Io(Errno),
    /// The call was told to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl From<Errno> for WalkError {
    fn from(errno: Errno) -> Self {
        if matches!(errno, Errno::ENOENT | Errno::ENOTDIR | Errno::ENAMETOOLONG | Errno::ELOOP) {
            // A name longer than the file system's longest cannot be there. ELOOP and ENOTDIR mean that the tree
            // changed after it was looked at: what was there is gone.
            Self::Missing
        } else if matches!(errno, Errno::EACCES | Errno::EPERM) {
            Self::Unreadable
        } else if errno == Errno::EXDEV {
            Self::Outside
        } else if matches!(errno, Errno::ENXIO | Errno::ENODEV) {
            // A socket, or a device without a driver, took the name meanwhile.
            Self::NotRegular
        } else {
            Self::Io(errno)
        }
    }
}

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }
}

impl Root {
    /// Opens the directory at `path` (which may be a symbolic link to one).
    pub fn open(path: &Path) -> Result<Self, RootError> {
        let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let directory =
            nix::fcntl::open(path, flags, Mode::empty()).map_err(|errno| RootError(errno.into()))?;
        // The kernel's own answer for this very descriptor. Without /proc no absolute link counts as inside.
        let canonical = std::fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd())).ok();
        let canonical = canonical.map(|path| path.iter().skip(1).map(OsStr::to_owned).collect());
        let mut root = Self { directory, canonical, lookup: Lookup::Openat2 };
        // Older kernels do not have it, and some sandboxes answer for it: EPERM, ENOSYS.
        if root.open_in(root.directory.as_fd(), OsStr::new("."), flags).is_err() {
            root.lookup = Lookup::Openat;
        }
        Ok(root)
    }

    /// Opens the regular file at `path` for reading.
    pub fn open_file(&self, path: &RelPath, interrupt: &Interrupt) -> Result<File, WalkError> {
        match Walk::new(self, path, interrupt).arrive(Wanted::File)? {
            End::File(file) => Ok(file),
            End::Directory(_) => Err(WalkError::NotRegular),
        }
    }

    /// Opens the directory at `path` for listing.
    pub fn open_directory(&self, path: &RelPath, interrupt: &Interrupt) -> Result<OwnedFd, WalkError> {
        match Walk::new(self, path, interrupt).arrive(Wanted::Directory)? {
            End::Directory(directory) => Ok(directory),
            End::File(_) => Err(WalkError::NotDirectory),
        }
    }

    /// Opens the single `name` in `directory`. Never follows a link.
    fn open_in(&self, directory: BorrowedFd<'_>, name: &OsStr, flags: OFlag) -> nix::Result<OwnedFd> {
        let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        loop {
            let opened = match self.lookup {
                Lookup::Openat2 => {
                    let resolve = ResolveFlag::RESOLVE_BENEATH
                        | ResolveFlag::RESOLVE_NO_MAGICLINKS
                        | ResolveFlag::RESOLVE_NO_SYMLINKS;
                    openat2(directory, name, OpenHow::new().flags(flags).resolve(resolve))
                }
                Lookup::Openat => openat(directory, name, flags, Mode::empty()),
            };
            match opened {
                Err(Errno::EINTR) => {}
                outcome => return outcome,
            }
        }
    }
}

/// What the walk is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    File,
    Directory,
}

/// Where the walk ended.
enum End {
    File(File),
    Directory(OwnedFd),
}

/// What one name turned out to be.
enum Entry {
    Directory(OwnedFd),
    Link(OsString),
    Regular,
    Other,
}

/// A walk under way.
struct Walk<'w> {
    root: &'w Root,
    interrupt: &'w Interrupt,
    /// Directories from the root to where the walk stands; none is a link, `.` or `..`.
    names: Vec<OsString>,
    /// Where the walk stands, if that is open; else it is opened again through `names`.
    here: Option<OwnedFd>,
    /// Steps still to take, the next one last.
    pending: Vec<Step>,
    links: usize,
    lookups: usize,
}

impl<'w> Walk<'w> {
    fn new(root: &'w Root, path: &RelPath, interrupt: &'w Interrupt) -> Self {
        let pending = path.steps().rev().cloned().collect();
        Self { root, interrupt, names: Vec::new(), here: None, pending, links: 0, lookups: 0 }
    }

    fn arrive(mut self, wanted: Wanted) -> Result<End, WalkError> {
        while let Some(step) = self.pending.pop() {
            let name = match step {
                Step::Stay => continue,
                Step::Up => {
                    self.names.pop().ok_or(WalkError::Outside)?;
                    self.here = None;
                    continue;
                }
                Step::Down(name) => name,
            };
            match self.look(&name).map_err(|error| self.absent(error))? {
                Entry::Directory(directory) => {
                    self.names.push(name);
                    self.here = Some(directory);
                }
                Entry::Link(target) => self.follow(&target)?,
                Entry::Regular | Entry::Other if !self.pending.is_empty() => {
                    return Err(self.absent(WalkError::Missing));
                }
                Entry::Regular if wanted == Wanted::File => return self.open_leaf(&name),
                Entry::Regular => return Err(WalkError::NotDirectory),
                Entry::Other if wanted == Wanted::File => return Err(WalkError::NotRegular),
                Entry::Other => return Err(WalkError::NotDirectory),
            }
        }
        match wanted {
            Wanted::File => Err(WalkError::NotRegular),
            Wanted::Directory => self.open_here().map(End::Directory),
        }
    }

    /// What `name` is, where the walk stands. An `O_PATH` descriptor opens nothing: no FIFO's writer wakes up, no
    /// device does anything, and a link stays a link.
    fn look(&mut self, name: &OsStr) -> Result<Entry, WalkError> {
        let found = self.descend(name, OFlag::O_PATH)?;
        Ok(match kind_of(found.as_fd())? {
            SFlag::S_IFDIR => Entry::Directory(found),
            SFlag::S_IFLNK => Entry::Link(readlinkat(found, "")?),
            SFlag::S_IFREG => Entry::Regular,
            _ => Entry::Other,
        })
    }

    /// Puts the target of a link in front of the steps still to take.
    fn follow(&mut self, target: &OsStr) -> Result<(), WalkError> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(WalkError::TooManyLinks);
        }
        let mut steps = steps_of(target);
        if Path::new(target).is_absolute() {
            let canonical = self.root.canonical.as_ref().ok_or(WalkError::Outside)?;
            // Compared part by part: `/data2` does not begin with `/data`.
            let mut parts = steps.by_ref().filter(|step| *step != Step::Stay);
            let inside = canonical.iter().all(|part| parts.next() == Some(Step::Down(part.clone())));
            if !inside {
                return Err(WalkError::Outside);
            }
            self.names.clear();
            self.here = None;
        }
        let steps = steps.collect::<Vec<_>>();
        self.pending.extend(steps.into_iter().rev());
        Ok(())
    }

    /// A path that climbs behind a missing part is outside, whether the part is there or not.
    fn absent(&self, error: WalkError) -> WalkError {
        let depth = self.names.len() + 1;
        let missing = error == WalkError::Missing;
        if missing && climbs(depth, self.pending.iter().rev()) { WalkError::Outside } else { error }
    }

    /// Opens the regular file `name` where the walk stands, and judges what was really opened: the name may have been
    /// given to something else since it was looked at.
    fn open_leaf(&mut self, name: &OsStr) -> Result<End, WalkError> {
        let file = self.descend(name, OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY)?;
        match kind_of(file.as_fd())? {
            SFlag::S_IFREG => Ok(End::File(File::from(file))),
            _ => Err(WalkError::NotRegular),
        }
    }

    /// Opens the directory where the walk stands for listing.
    fn open_here(&mut self) -> Result<OwnedFd, WalkError> {
        self.descend(OsStr::new("."), OFlag::O_RDONLY | OFlag::O_DIRECTORY)
    }

    /// Opens `name` where the walk stands.
    fn descend(&mut self, name: &OsStr, flags: OFlag) -> Result<OwnedFd, WalkError> {
        if self.here.is_none() {
            for parent in self.names.clone() {
                self.here = Some(self.open_counted(&parent, OFlag::O_PATH | OFlag::O_DIRECTORY)?);
            }
        }
        self.open_counted(name, flags)
    }

    fn open_counted(&mut self, name: &OsStr, flags: OFlag) -> Result<OwnedFd, WalkError> {
        self.interrupt.check()?;
        self.lookups += 1;
        if self.lookups > MAX_LOOKUPS {
            return Err(WalkError::TooManyLinks);
        }
        let here = self.here.as_ref().unwrap_or(&self.root.directory);
        Ok(self.root.open_in(here.as_fd(), name, flags)?)
    }
}

/// The kind of what is open, by the descriptor itself.
fn kind_of(fd: BorrowedFd<'_>) -> nix::Result<SFlag> {
    Ok(SFlag::from_bits_truncate(fstat(fd)?.st_mode) & SFlag::S_IFMT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        fs,
        io::Read as _,
        os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink},
        sync::atomic::{AtomicBool, Ordering::Relaxed},
        thread,
        time::{Duration, Instant},
    };

    use nix::{sys::stat::Mode, unistd::mkfifo};
    use proptest::prelude::*;

    /// Stands in every file outside the root.
    const CANARY: &str = "canary";

    /// `root` with what a data directory may hold, and its surroundings:
    ///
    /// ```text
    /// outside/secret  rootling/secret  root/{file, empty, dir/{file, sub/file}, a fifo, a socket, links}
    /// ```
    fn tree() -> tempfile::TempDir {
        let base = tempfile::tempdir().unwrap();
        let at = |path: &str| base.path().join(path);
        for directory in ["root/dir/sub", "root/deep/1/2/3", "outside/dir", "rootling"] {
            fs::create_dir_all(at(directory)).unwrap();
        }
        for secret in ["outside/secret", "outside/dir/secret", "rootling/secret", "secret"] {
            fs::write(at(secret), CANARY).unwrap();
        }
        for file in ["file", "dir/file", "dir/sub/file", "deep/1/2/3/file"] {
            fs::write(at("root").join(file), file).unwrap();
        }
        fs::write(at("root/empty"), "").unwrap();
        fs::hard_link(at("root/file"), at("root/hard")).unwrap();
        mkfifo(&at("root/fifo"), Mode::S_IRWXU).unwrap();
        drop(std::os::unix::net::UnixListener::bind(at("root/socket")).unwrap());
        let long = "n".repeat(255);
        fs::write(at("root").join(&long), "long").unwrap();

        plant_links(base.path());
        base
    }

    fn plant_links(base: &Path) {
        let at = |path: &str| base.join(path);
        let link = |target: &str, name: &str| symlink(target, at("root").join(name)).unwrap();
        let absolute = |target: &str, name: &str| symlink(at(target), at("root").join(name)).unwrap();
        link("file", "to-file");
        link("dir", "to-dir");
        link("dir/", "to-dir-slash");
        link("file/", "to-file-slash");
        link("./dir/../dir/./file", "to-zigzag");
        link("../file", "dir/to-parent");
        link("../../dir/sub/../file", "dir/sub/to-up-and-down");
        link(".", "to-here");
        link("missing", "dangling");
        link("dir/missing/file", "dangling-deep");
        link("file/below", "through-file");
        link("loop", "loop");
        link("loop-b", "loop-a");
        link("loop-a", "loop-b");
        link("fifo", "to-fifo");
        link("..", "to-above");
        link("../secret", "to-secret");
        link("../root/file", "out-and-in");
        link("dir/../../root/file", "out-and-in-late");
        link("missing/../../secret", "missing-and-out");
        link("../../secret", "dir/to-secret");
        link("../outside", "to-outside");
        link("../outside/missing", "to-outside-missing");
        link("to-outside/secret", "to-outside-twice");
        link("/", "to-slash");
        link("/etc/passwd", "to-passwd");
        link("/nonexistent", "to-nonexistent");
        link("/proc/self/root", "to-proc-root");
        link("/proc/self/cwd/Cargo.toml", "to-proc-cwd");
        link("/proc/self/fd/0", "to-proc-fd");
        absolute("root", "to-root");
        absolute("root/", "to-root-slash");
        absolute("root/dir/file", "to-absolute");
        absolute("root/dir/file/", "to-absolute-slash");
        absolute("root/./dir//file", "to-absolute-dots");
        absolute("root/../root/file", "to-absolute-out-and-in");
        absolute("rootling/secret", "to-sibling");
        absolute("outside/../root/file", "to-absolute-around");
        absolute("outside/secret", "to-absolute-secret");
        link("file", "chain-1");
        for length in 2..=41 {
            link(&format!("chain-{}", length - 1), &format!("chain-{length}"));
        }
    }

    /// Both ways to look a name up, on one directory.
    fn roots(path: &Path) -> [Root; 2] {
        [Lookup::Openat2, Lookup::Openat].map(|lookup| Root { lookup, ..Root::open(path).unwrap() })
    }

    /// What reading `path` brings: the content, or in brackets why there is none.
    fn outcome(root: &Root, path: &str) -> String {
        let Ok(path) = RelPath::parse(path) else { return "(refused unseen)".to_owned() };
        match root.open_file(&path, &Interrupt::default()) {
            Ok(mut file) => {
                let mut content = String::new();
                file.read_to_string(&mut content).unwrap();
                content
            }
            Err(error) => format!("({error})"),
        }
    }

    #[track_caller]
    fn check_all(path: &Path, rows: &[(&str, &str)]) {
        for root in roots(path) {
            for (path, expected) in rows {
                assert_eq!(outcome(&root, path), *expected, "{path:?} by {:?}", root.lookup);
            }
        }
    }

    const UNSEEN: &str = "(refused unseen)";
    const OUTSIDE: &str = "(leads outside the root)";
    const MISSING: &str = "(there is no such thing)";
    const NO_FILE: &str = "(not a regular file)";
    const LINKS: &str = "(too many symbolic links)";

    #[test]
    fn the_kernel_of_this_host_has_openat2() {
        // Else the tables below would run the plain walk twice.
        assert_eq!(Root::open(Path::new("/")).unwrap().lookup, Lookup::Openat2);
    }

    #[test]
    fn a_path_leads_to_what_is_beneath_the_root() {
        let base = tree();
        let long = "n".repeat(255);
        let slashes = format!("{}file", "./".repeat(2000));
        let deep = format!("{}file", "deep/../".repeat(500));
        check_all(
            &base.path().join("root"),
            &[
                ("file", "file"),
                ("./file", "file"),
                (".//file", "file"),
                ("dir/file", "dir/file"),
                ("dir//sub///file", "dir/sub/file"),
                ("dir/./sub/./file", "dir/sub/file"),
                ("dir/../file", "file"),
                ("dir/sub/../../file", "file"),
                ("dir/sub/../file", "dir/file"),
                ("deep/1/2/3/../../../../file", "file"),
                ("empty", ""),
                ("hard", "file"),
                (&long, "long"),
                (&slashes, "file"),
                (&deep, "file"),
            ],
        );
    }

    #[test]
    fn what_is_missing_or_no_file_is_told_as_such() {
        let base = tree();
        let too_long = "n".repeat(256);
        check_all(
            &base.path().join("root"),
            &[
                ("missing", MISSING),
                ("missing/file", MISSING),
                ("dir/missing", MISSING),
                ("FILE", MISSING),
                ("file ", MISSING),
                ("file/", MISSING),
                ("file/.", MISSING),
                ("file/..", MISSING),
                ("file/../file", MISSING),
                ("file/file", MISSING),
                (&too_long, MISSING),
                ("missing/../file", MISSING),
                (".", NO_FILE),
                ("./", NO_FILE),
                ("dir", NO_FILE),
                ("dir/", NO_FILE),
                ("dir/..", NO_FILE),
                ("fifo", NO_FILE),
                ("socket", NO_FILE),
                // Not ways up.
                ("...", MISSING),
                ("..\\secret", MISSING),
                ("%2e%2e/secret", MISSING),
                ("\u{ff0e}\u{ff0e}/secret", MISSING),
                ("~/secret", MISSING),
            ],
        );
    }

    #[test]
    fn what_climbs_is_refused_before_anything_is_looked_up() {
        let base = tree();
        check_all(
            &base.path().join("root"),
            &[
                ("", UNSEEN),
                ("/", UNSEEN),
                ("/etc/passwd", UNSEEN),
                ("//file", UNSEEN),
                ("..", UNSEEN),
                ("../", UNSEEN),
                ("../root/file", UNSEEN),
                ("../secret", UNSEEN),
                ("dir/../../secret", UNSEEN),
                ("dir/../../root/file", UNSEEN),
                ("missing/../../secret", UNSEEN),
                ("file/../../secret", UNSEEN),
                ("./.././root/file", UNSEEN),
                ("file\0/../..", UNSEEN),
            ],
        );
    }

    #[test]
    fn a_link_is_followed_inside() {
        let base = tree();
        check_all(
            &base.path().join("root"),
            &[
                ("to-file", "file"),
                ("to-dir/file", "dir/file"),
                ("to-dir/../file", "file"),
                ("to-dir-slash/file", "dir/file"),
                ("to-zigzag", "dir/file"),
                ("dir/to-parent", "file"),
                ("to-dir/to-parent", "file"),
                ("dir/sub/to-up-and-down", "dir/file"),
                ("to-here/to-here/file", "file"),
                ("to-root/file", "file"),
                ("dir/../to-root/dir/file", "dir/file"),
                ("to-root-slash/file", "file"),
                ("to-absolute", "dir/file"),
                ("to-absolute-dots", "dir/file"),
                ("chain-39", "file"),
                ("chain-40", "file"),
                ("chain-41", LINKS),
                ("loop", LINKS),
                ("loop-a", LINKS),
                ("loop/file", LINKS),
                ("to-file/", MISSING),
                ("to-file-slash", MISSING),
                ("to-absolute-slash", MISSING),
                ("to-file/..", MISSING),
                ("dangling", MISSING),
                ("dangling/file", MISSING),
                ("dangling-deep", MISSING),
                ("through-file", MISSING),
                ("to-dir", NO_FILE),
                ("to-root", NO_FILE),
                ("to-fifo", NO_FILE),
            ],
        );
    }

    #[test]
    fn a_link_that_leads_outside_at_some_point_is_refused() {
        let base = tree();
        check_all(
            &base.path().join("root"),
            &[
                ("to-above", OUTSIDE),
                ("to-above/root/file", OUTSIDE),
                ("to-secret", OUTSIDE),
                ("dir/to-secret", OUTSIDE),
                ("to-dir/to-secret", OUTSIDE),
                ("out-and-in", OUTSIDE),
                ("out-and-in-late", OUTSIDE),
                ("missing-and-out", OUTSIDE),
                ("to-outside/secret", OUTSIDE),
                ("to-outside/missing", OUTSIDE),
                ("to-outside-missing", OUTSIDE),
                ("to-outside-twice", OUTSIDE),
                ("to-slash", OUTSIDE),
                ("to-slash/etc/passwd", OUTSIDE),
                ("to-passwd", OUTSIDE),
                ("to-nonexistent", OUTSIDE),
                ("to-sibling", OUTSIDE),
                ("to-absolute-secret", OUTSIDE),
                ("to-absolute-out-and-in", OUTSIDE),
                ("to-absolute-around", OUTSIDE),
                ("to-proc-root", OUTSIDE),
                ("to-proc-cwd", OUTSIDE),
                ("to-proc-fd", OUTSIDE),
                // A link to the root itself, and one more `..` than the path alone shows.
                ("dir/../to-here/..", OUTSIDE),
                ("to-here/missing/../..", OUTSIDE),
                ("dir/../to-here/missing/../..", OUTSIDE),
                ("deep/1/../../to-root/dir/../../secret", OUTSIDE),
                ("to-root/to-root/missing/../../file", OUTSIDE),
                ("to-root/to-root/../file", OUTSIDE),
            ],
        );
    }

    #[test]
    fn magic_links_of_proc_are_not_jumped_through() {
        check_all(
            Path::new("/proc/self"),
            &[
                ("root/etc/passwd", OUTSIDE),
                ("cwd/Cargo.toml", OUTSIDE),
                ("exe", OUTSIDE),
                ("task/../root/etc/passwd", OUTSIDE),
                ("ns/net", MISSING),
                ("fd", NO_FILE),
                ("missing", MISSING),
            ],
        );
        check_all(Path::new("/dev"), &[("null", NO_FILE), ("zero", NO_FILE)]);
    }

    #[test]
    fn a_root_of_everything_holds_everything() {
        let base = tree();
        let file = base.path().join("root/to-absolute");
        let file = file.strip_prefix("/").unwrap().to_str().unwrap();
        check_all(Path::new("/"), &[(file, "dir/file"), ("..", UNSEEN), ("tmp/../..", UNSEEN)]);
    }

    #[test]
    fn a_root_may_be_a_link_and_may_be_renamed_or_replaced() {
        let base = tree();
        let at = |path: &str| base.path().join(path);
        symlink("root", at("alias")).unwrap();
        for root in roots(&at("alias")) {
            assert_eq!(outcome(&root, "to-absolute"), "dir/file");
            fs::rename(at("root"), at("elsewhere")).unwrap();
            assert_eq!(outcome(&root, "dir/file"), "dir/file", "renamed");
            symlink("outside", at("root")).unwrap();
            assert_eq!(outcome(&root, "dir/file"), "dir/file", "replaced");
            assert_eq!(outcome(&root, "secret"), MISSING, "replaced");
            assert_eq!(outcome(&root, "to-absolute"), "dir/file", "inside by the name it was opened by");
            fs::remove_file(at("root")).unwrap();
            fs::rename(at("elsewhere"), at("root")).unwrap();
        }
    }

    #[test]
    fn what_takes_a_files_name_after_it_was_looked_at_is_judged_by_its_descriptor() {
        let base = tree();
        let roots = roots(&base.path().join("root"));
        let names = ["file", "fifo", "socket", "dir", "to-file", "to-secret", "missing"];
        let (sender, receiver) = std::sync::mpsc::channel();
        // As if each had been a regular file a moment ago.
        let leaf = |root: &Root, name: &str| {
            let path = RelPath::parse(name).unwrap();
            Walk::new(root, &path, &Interrupt::default()).open_leaf(OsStr::new(name)).map(drop)
        };
        let open = move || roots.map(|root| sender.send(names.map(|name| leaf(&root, name))));
        thread::Builder::new().name("opener".to_owned()).spawn(open).unwrap();
        for _ in [Lookup::Openat2, Lookup::Openat] {
            let outcomes =
                receiver.recv_timeout(Duration::from_secs(20)).expect("a FIFO's writer was waited for");
            let (other, gone) = (Err(WalkError::NotRegular), Err(WalkError::Missing));
            assert_eq!(outcomes, [Ok(()), other, other, other, gone, gone, gone], "{names:?}");
        }
    }

    #[test]
    fn only_a_directory_can_be_the_root() {
        let base = tree();
        for path in ["root/file", "root/fifo", "root/missing", "root/loop"] {
            let error = Root::open(&base.path().join(path)).unwrap_err();
            assert!(!error.to_string().contains(base.path().to_str().unwrap()));
        }
    }

    #[test]
    fn directories_are_opened_as_such() {
        let base = tree();
        for root in roots(&base.path().join("root")) {
            for (path, expected) in [
                (".", Ok(())),
                ("dir", Ok(())),
                ("dir/", Ok(())),
                ("dir/sub/..", Ok(())),
                ("to-dir", Ok(())),
                ("to-root", Ok(())),
                ("file", Err(WalkError::NotDirectory)),
                ("to-file", Err(WalkError::NotDirectory)),
                ("fifo", Err(WalkError::NotDirectory)),
                ("file/", Err(WalkError::Missing)),
                ("missing", Err(WalkError::Missing)),
                ("to-outside", Err(WalkError::Outside)),
                ("to-above", Err(WalkError::Outside)),
                ("loop", Err(WalkError::TooManyLinks)),
            ] {
                let opened = root.open_directory(&RelPath::parse(path).unwrap(), &Interrupt::default());
                assert_eq!(opened.map(drop), expected, "{path}");
            }
        }
    }

    #[test]
    fn what_may_not_be_read_is_unreadable() {
        let base = tree();
        let at = |path: &str| base.path().join(path);
        let mode = fs::Permissions::from_mode;
        fs::set_permissions(base.path(), mode(0o755)).unwrap();
        fs::set_permissions(at("root/file"), mode(0o000)).unwrap();
        fs::set_permissions(at("root/dir"), mode(0o000)).unwrap();
        let roots = roots(&at("root"));
        let rows = thread::Builder::new().name("nobody".to_owned()).spawn(move || {
            // Root may read anything; this thread alone becomes somebody else for the file system (setfsuid(2)).
            if nix::unistd::geteuid().is_root() {
                nix::unistd::setfsuid(nix::unistd::Uid::from_raw(65_534));
            }
            roots.map(|root| {
                ["file", "to-file", "dir/file", "dir/missing", "empty"].map(|path| outcome(&root, path))
            })
        });
        for row in rows.unwrap().join().unwrap() {
            assert_eq!(row, ["(not readable)", "(not readable)", "(not readable)", "(not readable)", ""]);
        }
        fs::set_permissions(at("root/dir"), mode(0o755)).unwrap();
    }

    #[test]
    fn a_maze_of_links_costs_a_bounded_number_of_lookups() {
        let base = tempfile::tempdir().unwrap();
        let deep = vec!["d"; 100].join("/");
        fs::create_dir_all(base.path().join(&deep)).unwrap();
        fs::write(base.path().join(&deep).join("file"), "found").unwrap();
        for (name, pairs) in [("few", 50), ("many", 800)] {
            symlink(format!("{}file", "../d/".repeat(pairs)), base.path().join(&deep).join(name)).unwrap();
        }
        for root in roots(base.path()) {
            assert_eq!(outcome(&root, &format!("{deep}/few")), "found");
            assert_eq!(outcome(&root, &format!("{deep}/many")), LINKS);
        }
    }

    #[test]
    fn a_walk_ends_when_the_call_is_told_to_stop() {
        let base = tree();
        let interrupt = Interrupt::default();
        assert!(interrupt.set().is_none());
        for root in roots(&base.path().join("root")) {
            let path = RelPath::parse("dir/sub/file").unwrap();
            assert_eq!(root.open_file(&path, &interrupt).unwrap_err(), WalkError::Interrupted(Interrupted));
        }
    }

    #[test]
    fn hundreds_of_directories_are_walked_down_and_up() {
        let base = tempfile::tempdir().unwrap();
        let deep = vec!["d"; 200].join("/");
        fs::create_dir_all(base.path().join(&deep)).unwrap();
        fs::write(base.path().join(&deep).join("file"), "deep").unwrap();
        let back = format!("{deep}{}file", "/..".repeat(200) + "/" + &deep + "/");
        for root in roots(base.path()) {
            assert_eq!(outcome(&root, &format!("{deep}/file")), "deep");
            assert_eq!(outcome(&root, &back), "deep");
        }
    }

    /// A tree of up to 12 entries named `a` to `c` on three levels; links are relative.
    fn plant(base: &Path, entries: &[(Vec<usize>, Option<String>)]) {
        for (place, link) in entries {
            let names = place.iter().map(|name| ["a", "b", "c"][*name]).collect::<Vec<_>>();
            let path = base.join(names.join("/"));
            // What cannot be there, such as a file below a file, is left out.
            if fs::create_dir_all(path.parent().unwrap()).is_ok() && !path.is_symlink() && !path.exists() {
                match link {
                    Some(target) => symlink(target, path).unwrap(),
                    None => fs::write(path, "inside").unwrap(),
                }
            }
        }
    }

    /// What the kernel says to the whole path at once; it has no rule about what lies behind a missing part.
    fn kernel_finds_a_file(root: &Root, path: &str) -> Result<bool, Errno> {
        loop {
            let how = OpenHow::new().flags(OFlag::O_PATH).resolve(ResolveFlag::RESOLVE_BENEATH);
            match openat2(&root.directory, path, how) {
                // Something, somewhere, was renamed meanwhile: the kernel does not tell for `..`.
                Err(Errno::EAGAIN) => {}
                found => return Ok(kind_of(found?.as_fd())? == SFlag::S_IFREG),
            }
        }
    }

    fn a_path() -> impl Strategy<Value = String> {
        let part = prop_oneof![4 => "[abc]", 3 => Just("..".to_owned()), 1 => Just(".".to_owned())];
        (prop::collection::vec(part, 1..8), prop_oneof![Just(""), Just("/")])
            .prop_map(|(parts, end)| parts.join("/") + end)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_walk_and_the_kernel_agree(
            entries in prop::collection::vec(
                (prop::collection::vec(0..3_usize, 1..4), prop::option::weighted(0.7, a_path())), 1..12,
            ),
            paths in prop::collection::vec(a_path(), 40),
        ) {
            let base = tempfile::tempdir().unwrap();
            plant(base.path(), &entries);
            for root in roots(base.path()) {
                for path in &paths {
                    let ours = outcome(&root, path);
                    if ours == UNSEEN {
                        prop_assert!(climbs(0, steps_of(OsStr::new(path)).collect::<Vec<_>>().iter()));
                        continue;
                    }
                    let allowed: &[&str] = match kernel_finds_a_file(&root, path) {
                        Ok(true) => &["inside"],
                        Ok(false) => &[NO_FILE],
                        Err(Errno::EXDEV) => &[OUTSIDE],
                        Err(Errno::ELOOP) => &[LINKS],
                        Err(Errno::ENOENT | Errno::ENOTDIR) => &[MISSING, OUTSIDE],
                        Err(errno) => panic!("{errno}"),
                    };
                    prop_assert!(allowed.contains(&ours.as_str()), "{path}: {ours}, not {allowed:?}: {entries:?}");
                }
            }
        }
    }

    /// Swaps directories and files for links to the outside as fast as it can while others read.
    #[test]
    fn no_byte_from_outside_is_read_while_the_tree_is_swapped() {
        for lookup in [Lookup::Openat2, Lookup::Openat] {
            race(lookup, Duration::from_millis(1200));
        }
    }

    fn race(lookup: Lookup, duration: Duration) {
        let base = tempfile::tempdir().unwrap();
        let at = |path: &str| base.path().join(path);
        fs::create_dir_all(at("root/dir/sub")).unwrap();
        fs::create_dir_all(at("outside/sub")).unwrap();
        for inside in ["root/leaf", "root/dir/file", "root/dir/sub/file"] {
            fs::write(at(inside), "inside").unwrap();
        }
        for outside in ["outside/file", "outside/sub/file", "secret"] {
            fs::write(at(outside), CANARY).unwrap();
        }
        symlink(at("outside"), at("root/evil-dir")).unwrap();
        symlink("../../outside/sub", at("root/dir/evil-sub")).unwrap();
        symlink("../secret", at("root/evil-leaf")).unwrap();
        mkfifo(&at("root/pipe"), Mode::S_IRWXU).unwrap();
        let root = Root { lookup, ..Root::open(&at("root")).unwrap() };
        let until = Instant::now() + duration;
        let swap = || {
            let mut swaps = 0;
            while Instant::now() < until {
                let swapped = [
                    ("root/leaf", "root/evil-leaf"),
                    ("root/dir/sub", "root/dir/evil-sub"),
                    ("root/dir", "root/evil-dir"),
                    ("root/dir", "root/evil-dir"),
                    ("root/dir/sub", "root/dir/evil-sub"),
                    ("root/leaf", "root/evil-leaf"),
                    ("root/leaf", "root/pipe"),
                    ("root/leaf", "root/pipe"),
                ];
                swapped.iter().for_each(|(one, other)| exchange(&at(one), &at(other)));
                swaps += swapped.len();
            }
            swaps
        };
        let read = || {
            let mut inside = 0;
            while Instant::now() < until {
                let paths = ["leaf", "dir/file", "dir/sub/file", "dir/sub/../file", "dir/../leaf"];
                let contents = paths.map(|path| outcome(&root, path));
                assert!(
                    !contents.iter().any(|content| content.contains(CANARY)),
                    "{contents:?} by {lookup:?}"
                );
                inside += contents.iter().filter(|content| *content == "inside").count();
            }
            inside
        };
        thread::scope(|scope| {
            let named = |name: &str| thread::Builder::new().name(name.to_owned());
            let swapper = named("swapper").spawn_scoped(scope, swap).unwrap();
            let readers = ["reader-0", "reader-1"].map(|name| named(name).spawn_scoped(scope, read).unwrap());
            let inside =
                readers.map(|reader| reader.join().expect("something else was read")).iter().sum::<usize>();
            let swaps = swapper.join().unwrap();
            assert!(inside > 100 && swaps > 100, "nothing raced: {inside} reads, {swaps} swaps");
        });
    }

    fn exchange(one: &Path, other: &Path) {
        let here = nix::fcntl::AT_FDCWD;
        nix::fcntl::renameat2(here, one, here, other, nix::fcntl::RenameFlags::RENAME_EXCHANGE).unwrap();
    }

    #[test]
    fn a_fifo_is_not_opened() {
        let base = tree();
        let roots = roots(&base.path().join("root"));
        let stop = AtomicBool::new(false);
        let walk = || {
            while !stop.load(Relaxed) {
                roots.iter().for_each(|root| assert_eq!(outcome(root, "fifo"), NO_FILE));
            }
        };
        thread::scope(|scope| {
            let walker = thread::Builder::new().name("walker".to_owned()).spawn_scoped(scope, walk).unwrap();
            // A writer that does not wait gets ENXIO as long as nobody has the FIFO open for reading (fifo(7)).
            let mut options = fs::OpenOptions::new();
            options.write(true).custom_flags(OFlag::O_NONBLOCK.bits());
            let opened = (0..2000).map(|_| options.open(base.path().join("root/fifo")));
            let nobody = Some(Errno::ENXIO as i32);
            let refused =
                opened.filter_map(Result::err).filter(|error| error.raw_os_error() == nobody).count();
            stop.store(true, Relaxed);
            walker.join().unwrap();
            assert_eq!(refused, 2000, "somebody had it open");
        });
    }
}
