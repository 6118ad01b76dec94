//! The rights that the process gives up before its first thread starts, so that a fault in it reaches less.
//!
//! Everything that the settings name is open by then. Only the resources listed in [`Needs`] can be opened later: no file is
//! written or executed, no TCP port is bound, no other process is signalled, no core is dumped. UDP and sockets that have a
//! path are not covered: the kernels that this was tried on do not offer it (Landlock ABI 9 and 10).
//!
//! INVARIANT: [`apply`] comes before the first thread. Landlock and `no_new_privs` hold for the calling thread and for
//! the threads that it starts afterwards.
//!
//! | file | holds |
//! |---|---|
//! | `confinement` | the resources that are left, and the outcome: restrictions in force, and those that are missing |
//! | `descriptors` | inherited descriptors, and their number |
//! | `reach` | files, TCP and other processes, by Landlock |
//! | `steps` | all steps, in their order |

mod confinement;
mod descriptors;
mod reach;
mod steps;

pub use self::{
    confinement::{Confinement, Needs, Unenforced},
    descriptors::Inherited,
    steps::{Mode, apply},
};
