//! The in-flight table: the calls that are owed an answer, and the runs of the workers. Pure state, without clock or lock.
//!
//! | file | holds |
//! |---|---|
//! | `arbiter` | [`Table`]: the one owner of every answer |
//! | `slots` | the order in which calls run, by lane |
//! | `timers` | the instants at which the watchdog looks at a call |
//! | `handover` | the values that the table takes and gives |

mod slots;
mod timers;
mod handover;
mod arbiter;
#[cfg(test)]
mod tests;

pub(super) use arbiter::{MAX_SUBSCRIPTIONS, Table};
pub(super) use handover::{Due, Job, Picked, Request, Taken};
pub(super) use slots::Hung;
