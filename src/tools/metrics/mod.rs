//! The host's CPU, memory, swap, disk, load and uptime, and the control group of the server.
//!
//! Only single files of `/proc` are read, never the list of processes. Paths and names of the host never reach an answer.

mod share;
mod cgroup;
mod cpu;
pub(in crate::tools) mod system_metrics;
#[cfg(any(test, fuzzing))]
pub mod fuzz;

pub use system_metrics::{SystemMetrics, host_files};
