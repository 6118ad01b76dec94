//! The walk beneath a descriptor: it opens a path without ever leaving the root, whatever happens to
//! the directory tree meanwhile.
//!
//! The kernel is only ever asked for one name in one open directory, never for a path, and never to follow a link.
//! Links are read and taken apart here. What is open is beneath the root because each step was. For `..` the walk
//! remembers names, not descriptors: it goes down again from the root, so a call holds three descriptors at most,
//! however deep it goes, and no `..` is ever left to the kernel.

mod processes;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat, openat2, readlinkat};
use nix::sys::stat::{Mode, SFlag, fstat};

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

/// The way in which one name is looked up. Verdicts are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lookup {
    /// `openat2(2)`, Linux 5.6: the kernel, too, sees to it that nothing is followed and nothing is left.
    Openat2,
    /// `openat(2)` of a single name with `O_NOFOLLOW`.
    Openat,
}

/// A directory that cannot be the root.
#[derive(Debug, thiserror::Error)]
#[error("cannot be opened as a directory: {0}")]
pub struct RootError(#[source] io::Error);

/// A walk that did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkError {
    /// The path, or a symbolic link on it, leads above the root at some point.
    Outside,
    /// More than 40 symbolic links, or more than 16,384 names looked up because of them.
    TooManyLinks,
    /// A part is missing, or is no directory and has something behind it.
    Missing,
    /// A file was asked for, and something else is there.
    NotRegular,
    /// A directory was asked for, and something else is there.
    NotDirectory,
    /// The process may not open it, or may not search a directory on the way.
    Unreadable,
    /// The system failed.
    Io(Errno),
    /// The call was interrupted.
    Interrupted,
}

impl From<Interrupted> for WalkError {
    fn from(Interrupted: Interrupted) -> Self {
        Self::Interrupted
    }
}

impl From<Errno> for WalkError {
    fn from(errno: Errno) -> Self {
        if matches!(errno, Errno::ENOENT | Errno::ENOTDIR | Errno::ENAMETOOLONG | Errno::ELOOP) {
            // A name longer than the file system's longest cannot be there. ELOOP and ENOTDIR mean that the tree
            // changed after it was looked at: the former object is gone.
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
        Walk::new(self, path, interrupt).arrive(Wanted::File).map(File::from)
    }

    /// Opens the directory at `path` for listing.
    pub fn open_directory(&self, path: &RelPath, interrupt: &Interrupt) -> Result<OwnedFd, WalkError> {
        Walk::new(self, path, interrupt).arrive(Wanted::Directory)
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

/// The purpose of the walk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    File,
    Directory,
}

/// The kind of the object behind one name.
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
    /// The directory of the walk, if that is open; else it is opened again through `names`.
    here: Option<OwnedFd>,
    /// Steps still to take, the next one last.
    pending: Vec<Step>,
    links: usize,
    lookups: usize,
}

impl<'w> Walk<'w> {
    fn new(root: &'w Root, path: &RelPath, interrupt: &'w Interrupt) -> Self {
        let pending = path.steps.iter().rev().cloned().collect();
        Self { root, interrupt, names: Vec::new(), here: None, pending, links: 0, lookups: 0 }
    }

    fn arrive(mut self, wanted: Wanted) -> Result<OwnedFd, WalkError> {
        let unwanted = match wanted {
            Wanted::File => WalkError::NotRegular,
            Wanted::Directory => WalkError::NotDirectory,
        };
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
                Entry::Regular | Entry::Other => return Err(unwanted),
            }
        }
        match wanted {
            Wanted::File => Err(unwanted),
            Wanted::Directory => self.descend(OsStr::new("."), OFlag::O_RDONLY | OFlag::O_DIRECTORY),
        }
    }

    /// Finds the kind of `name` in the directory of the walk. An `O_PATH` descriptor opens nothing: no FIFO's writer wakes up, no
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

    /// Opens the regular file `name` in the directory of the walk, and judges the open file: the name may have been
    /// given to something else since it was looked at.
    fn open_leaf(&mut self, name: &OsStr) -> Result<OwnedFd, WalkError> {
        let file = self.descend(name, OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY)?;
        match kind_of(file.as_fd())? {
            SFlag::S_IFREG => Ok(file),
            _ => Err(WalkError::NotRegular),
        }
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

/// Finds the kind of an open object, by its descriptor.
fn kind_of(fd: BorrowedFd<'_>) -> nix::Result<SFlag> {
    Ok(SFlag::from_bits_truncate(fstat(fd)?.st_mode) & SFlag::S_IFMT)
}

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod tests;
