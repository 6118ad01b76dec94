//! `sandbox_fs_read`: a page of one file, as text that is never cut inside a character, or as base64.

mod page;
pub(in crate::tools) mod tool;
#[cfg(test)]
mod tests;

pub use tool::SandboxFsRead;
