//! One directory of files, read without races: paths that cannot climb, walked beneath a descriptor.
//!
//! A hard link cannot be told from the file it names, and what is mounted beneath the root belongs to it: both are the
//! operator's own doing. Everything else that leads outside is refused, and the refusal is the same whether something
//! is there or not.

pub mod rel_path;
pub mod root;
mod name;
mod line;
pub mod read;
pub mod list;
#[cfg(any(test, fuzzing))]
pub mod fuzz;

pub use list::SandboxFsList;
pub use read::SandboxFsRead;
pub use root::{Root, RootError};

use rel_path::{RelPath, RelPathError};
use root::WalkError;

use crate::{
    call::Failure,
    problem::{Code, Problem, echo},
};

/// The argument that names the file or directory.
const PATH: &str = "relative_path";

/// Reads the path argument.
fn parse_path(text: &str) -> Result<RelPath, Problem> {
    RelPath::parse(text).map_err(|error| {
        let path = echo(text);
        let problem = match error {
            RelPathError::Empty => {
                Problem::new(Code::Validation, format!("`{PATH}` is empty; the directory itself is '.'."))
            }
            RelPathError::Nul => Problem::new(Code::Validation, format!("`{PATH}` holds a NUL byte.")),
            RelPathError::Absolute => Problem::new(
                Code::AccessDenied,
                format!("The path {path} is absolute; give it relative to the data directory."),
            ),
            RelPathError::Climbs => outside(&path),
        };
        problem.param(PATH)
    })
}

fn outside(path: &str) -> Problem {
    Problem::new(Code::AccessDenied, format!("The path {path} leads outside the data directory."))
}

/// What the model is told when the walk to `path` did not arrive.
fn refusal(error: WalkError, path: &str) -> Failure {
    let path = echo(path);
    let problem = match error {
        WalkError::Outside => outside(&path),
        WalkError::TooManyLinks => {
            Problem::new(Code::AccessDenied, format!("The path {path} runs through too many symbolic links."))
        }
        WalkError::NotRegular => Problem::new(
            Code::AccessDenied,
            format!("{path} is not a regular file; a directory is listed with sandbox_fs_list."),
        ),
        WalkError::Unreadable => Problem::new(Code::AccessDenied, format!("The server may not read {path}.")),
        WalkError::Missing => {
            Problem::new(Code::NotFound, format!("There is no {path} in the data directory."))
        }
        WalkError::NotDirectory => Problem::new(
            Code::NotFound,
            format!("{path} is not a directory; a file is read with sandbox_fs_read."),
        ),
        WalkError::Io(why) => return Failure::Internal(format!("a file could not be opened: {why}")),
        WalkError::Interrupted(interrupted) => return interrupted.into(),
    };
    problem.param(PATH).into()
}
