//! The steps of confinement, in their order.

use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::resource::{Resource, setrlimit};

use super::confinement::{Confinement, Needs, Unenforced};
use super::descriptors::{self, Inherited};
use super::reach;

/// The strictness that the operator asks for (`MCP_CONFINE`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Everything that the kernel offers; each missing restriction is a warning.
    Auto,
    /// All of it, or the server does not start.
    Require,
    /// Nothing.
    Off,
}

/// Gives up everything but `needs`, for good. A step that fails is reported; the others are taken all the same.
pub fn apply(needs: &Needs, inherited: Inherited) -> Confinement {
    let mut confinement = Confinement::default();
    confinement.add(no_new_privileges());
    confinement.add(no_core_dumps());
    confinement.add(inherited.close());
    confinement.add(descriptors::allow(needs.descriptors));
    reach::restrict(needs, &mut confinement);
    confinement
}

fn no_new_privileges() -> Result<String, Unenforced> {
    prctl::set_no_new_privs()
        .map(|()| "no new privileges".to_owned())
        .map_err(|errno| Unenforced::new("new privileges", errno, "Linux 3.5 or newer"))
}

/// A core or a debugger would show the password.
fn no_core_dumps() -> Result<String, Unenforced> {
    let given_up = || -> Result<(), Errno> {
        setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
        prctl::set_dumpable(false)
    };
    given_up().map(|()| "no core dumps, no debugger".to_owned()).map_err(|errno| {
        Unenforced::new("core dumps", errno, "allow setrlimit and prctl in the sandbox around us")
    })
}
