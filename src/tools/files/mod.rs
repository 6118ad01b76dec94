//! One directory of files, read without races: paths that cannot climb, walked beneath a descriptor.
//!
//! A hard link is the file it names, and a mount beneath the root belongs to the root: both are the operator's own doing.
//! Everything else that leads outside is refused, and the refusal does not depend on what exists there.
//!
//! | file | holds |
//! |---|---|
//! | [`rel_path`] | a relative path, parsed into steps |
//! | [`root`] | the directory, and the walk beneath it |
//! | `name` | names with bytes that are no text |
//! | `line` | the size of a text in an answer |
//! | `near` | names that look like the one asked for |
//! | `refusal` | refusals of a path |
//! | [`read`], [`list`] | the tools |

pub mod rel_path;
pub mod root;
mod name;
mod line;
mod near;
mod refusal;
pub mod read;
pub mod list;
#[cfg(any(test, fuzzing))]
pub mod fuzz;

pub use list::SandboxFsList;
pub use read::SandboxFsRead;
pub use root::{Root, RootError};
