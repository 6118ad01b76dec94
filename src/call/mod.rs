//! A running call, its outcome, and the check that every argument must pass first.
//!
//! | file | holds |
//! |---|---|
//! | `running` | [`Call`]: deadline, interrupt, wait guard; [`Serial`]: the number of a call |
//! | `interrupt` | [`Interrupt`]: stops a call, by its action if it has one |
//! | `outcome` | [`Answer`] or [`Failure`] of a tool, [`Outcome`] of a call |
//! | `wait_group` | [`WaitGroup`]: the end of a session waits for the work behind its answers |
//! | [`sanitizer`] | the structure and code points of arguments |

mod interrupt;
mod wait_group;
mod running;
mod outcome;
pub mod sanitizer;
#[cfg(any(test, fuzzing))]
pub mod fuzz;

pub use interrupt::{Interrupt, Interrupted, StopAction, StopGuard};
pub use outcome::{Answer, Failure, Outcome, Unavailable};
pub use running::{Call, Serial};
pub use wait_group::{WaitGroup, WaitGuard};
