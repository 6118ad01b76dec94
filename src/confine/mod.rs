//! What the process gives up before its first thread starts, so that a fault in it reaches less.
//!
//! Everything named by the settings is open by then; what is opened later is listed in [`Needs`] and nothing else can be:
//! no file is written or executed, no TCP port is bound, no other process is signalled, no core is dumped. Not covered,
//! because the kernels we could try it on do not offer it: UDP, and sockets that have a path (Landlock ABI 9 and 10).
//!
//! INVARIANT: [`apply`] comes before the first thread. Landlock and `no_new_privs` hold for the calling thread and for
//! what it starts afterwards.

mod reach;
mod descriptors;

use std::{fmt, os::fd::OwnedFd, path::PathBuf};

use nix::{
    errno::Errno,
    sys::{
        prctl,
        resource::{Resource, setrlimit},
    },
};

pub use self::descriptors::Inherited;

/// How much the operator insists on (`MCP_CONFINE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// What the kernel offers; what it lacks is a warning.
    Auto,
    /// All of it, or no start.
    Require,
    /// Nothing.
    Off,
}

/// What serving still has to reach once it is confined.
#[derive(Debug, Default)]
pub struct Needs {
    /// The directory of files, read beneath.
    pub data_root: Option<OwnedFd>,
    /// Single files that are read by their paths; those that do not exist are left out.
    pub files: Vec<PathBuf>,
    /// TCP ports of the database's servers.
    pub tcp_ports: Vec<u16>,
    /// Whether names of hosts are looked up.
    pub names: bool,
    /// The most descriptors that are open at once.
    pub descriptors: u64,
}

/// A restriction that is not in force.
#[derive(Debug, PartialEq, Eq)]
pub struct Lack {
    /// What can still be done, and why that could not be given up.
    pub text: String,
    /// What an operator can do.
    pub cure: &'static str,
}

impl Lack {
    fn new(what: &'static str, why: impl fmt::Display, cure: &'static str) -> Self {
        Self { text: format!("{what}: not given up, {why}"), cure }
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; cure: {}", self.text, self.cure)
    }
}

/// What is in force and what is not. Keep it for as long as the process serves.
#[derive(Debug, Default)]
#[must_use]
pub struct Confinement {
    /// What is in force, in words.
    pub in_force: Vec<String>,
    /// What is not.
    pub lacking: Vec<Lack>,
    /// Files of `/proc` exist only while they are looked at: under memory pressure the kernel forgets them, rule included,
    /// and makes others of the same names. A descriptor keeps them.
    pins: Vec<OwnedFd>,
}

impl Confinement {
    fn add(&mut self, outcome: Result<String, Lack>) {
        match outcome {
            Ok(what) => self.in_force.push(what),
            Err(lack) => self.lacking.push(lack),
        }
    }
}

/// Gives up everything but what is needed, for good. A step that fails is told and does not hold up the others.
pub fn apply(needs: &Needs, inherited: Inherited) -> Confinement {
    let mut confinement = Confinement::default();
    confinement.add(no_new_privileges());
    confinement.add(no_core_dumps());
    confinement.add(inherited.close());
    confinement.add(descriptors::allow(needs.descriptors));
    reach::restrict(needs, &mut confinement);
    confinement
}

fn no_new_privileges() -> Result<String, Lack> {
    prctl::set_no_new_privs()
        .map(|()| "no new privileges".to_owned())
        .map_err(|errno| Lack::new("new privileges", errno, "Linux 3.5 or newer"))
}

/// A core or a debugger would show the password.
fn no_core_dumps() -> Result<String, Lack> {
    let given_up = || -> Result<(), Errno> {
        setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
        prctl::set_dumpable(false)
    };
    given_up()
        .map(|()| "no core dumps, no debugger".to_owned())
        .map_err(|errno| Lack::new("core dumps", errno, "allow setrlimit and prctl in the sandbox around us"))
}
