//! The resources that confinement leaves.

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
