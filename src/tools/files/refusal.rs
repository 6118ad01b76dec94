//! Refusals of a path, as the model reads them.

use super::rel_path::{RelPath, RelPathError};
use super::root::WalkError;
use crate::call::Failure;
use crate::problem::{Code, Problem, echo};

/// The argument that names the file or directory.
pub(super) const PATH: &str = "relative_path";

/// Parses the path argument.
pub(super) fn parse_path(text: &str) -> Result<RelPath, Problem> {
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

/// Returns the refusal of a walk to `path` that failed.
pub(super) fn refusal(error: WalkError, path: &str) -> Failure {
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
