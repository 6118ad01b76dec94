//! The resources that confinement leaves, and its outcome: restrictions in force, and those that are missing.

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// The resources that the server still has to reach once it is confined.
#[derive(Debug, Default)]
pub struct Needs {
    /// The directory of files, read beneath.
    pub data_root: Option<OwnedFd>,
    /// Single files that are read by their paths; missing ones are left out.
    pub files: Vec<PathBuf>,
    /// TCP ports of the database's servers.
    pub tcp_ports: Vec<u16>,
    /// Host names are looked up.
    pub names: bool,
    /// The most descriptors that are open at once.
    pub descriptors: u64,
}

/// A restriction that is not in force.
#[derive(Debug, PartialEq, Eq)]
pub struct Unenforced {
    /// The ability that the process keeps, and the reason.
    pub text: String,
    /// The remedy for the operator.
    pub cure: &'static str,
}

impl Unenforced {
    pub(super) fn new(what: &'static str, why: impl fmt::Display, cure: &'static str) -> Self {
        Self { text: format!("{what}: not given up, {why}"), cure }
    }
}

impl fmt::Display for Unenforced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; cure: {}", self.text, self.cure)
    }
}

/// The restrictions in force, and the missing ones. Keep it for as long as the process serves.
#[derive(Debug, Default)]
#[must_use]
pub struct Confinement {
    /// The restrictions in force, in words.
    pub in_force: Vec<String>,
    /// The missing restrictions.
    pub unenforced: Vec<Unenforced>,
    /// Files of `/proc` exist only while they are looked at: under memory pressure the kernel forgets them, rule included,
    /// and makes others of the same names. A descriptor keeps them.
    pub(super) pins: Vec<OwnedFd>,
}

impl Confinement {
    pub(super) fn add(&mut self, outcome: Result<String, Unenforced>) {
        match outcome {
            Ok(what) => self.in_force.push(what),
            Err(missing) => self.unenforced.push(missing),
        }
    }
}
