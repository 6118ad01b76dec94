//! Refusals of a path, as the model reads them.

use super::near;
use super::rel_path::{RelPath, RelPathError};
use super::root::{Root, WalkError};
use crate::call::{Failure, Interrupt, Interrupted};
use crate::problem::{Code, Problem, echo};

/// The argument that names the file or directory.
pub(super) const PATH: &str = "relative_path";

/// Parses the path argument.
pub(super) fn parse_path(text: &str) -> Result<RelPath, Problem> {
    RelPath::parse(text).map_err(|error| {
        let path = echo(text);
        let (code, detail) = match error {
            RelPathError::Empty => {
                (Code::Validation, format!("`{PATH}` is empty; the directory itself is '.'."))
            }
            RelPathError::Nul => (Code::Validation, format!("`{PATH}` holds a NUL byte.")),
            RelPathError::Absolute => {
                let detail = format!("The path {path} is absolute; give it relative to the data directory.");
                (Code::AccessDenied, detail)
            }
            RelPathError::Climbs => outside(&path),
        };
        Problem::new(code, detail).param(PATH)
    })
}

fn outside(path: &str) -> (Code, String) {
    (Code::AccessDenied, format!("The path {path} leads outside the data directory."))
}

/// Returns the refusal of a walk to `path`, written as `text`, that failed; names a neighbour of what is missing.
pub(super) fn refusal_of_walk(
    error: WalkError,
    root: &Root,
    path: &RelPath,
    text: &str,
    interrupt: &Interrupt,
) -> Failure {
    let near = (error == WalkError::Missing).then(|| near::find(root, path, interrupt)).flatten();
    let Some(near) = near else { return refusal(error, text) };
    let codes = near.chars().filter(|c| !c.is_ascii() && !text.contains(*c)).take(8);
    let codes: Vec<String> = codes.map(|c| format!("U+{:04X}", u32::from(c))).collect();
    let with = if codes.is_empty() { String::new() } else { format!(" (with {})", codes.join(", ")) };
    let (text, near) = (echo(text), echo(&near));
    let detail = format!(
        "There is no {text} in the data directory. {near}{with} is there: it differs only in a kind of space or quote, \
         or in its normal form."
    );
    Problem::new(Code::NotFound, detail).param(PATH).into()
}

/// Returns the refusal of a walk to `path` that failed.
pub(super) fn refusal(error: WalkError, path: &str) -> Failure {
    let path = echo(path);
    let (code, detail) = match error {
        WalkError::Outside => outside(&path),
        WalkError::TooManyLinks => {
            (Code::AccessDenied, format!("The path {path} runs through too many symbolic links."))
        }
        WalkError::NotRegular => {
            let cure = "a directory is listed with sandbox_fs_list.";
            (Code::AccessDenied, format!("{path} is not a regular file; {cure}"))
        }
        WalkError::Unreadable => (Code::AccessDenied, format!("The server may not read {path}.")),
        WalkError::Missing => (Code::NotFound, format!("There is no {path} in the data directory.")),
        WalkError::NotDirectory => {
            (Code::NotFound, format!("{path} is not a directory; a file is read with sandbox_fs_read."))
        }
        WalkError::Io(why) => return Failure::Internal(format!("a file could not be read: {why}")),
        WalkError::Interrupted => return Interrupted.into(),
    };
    Problem::new(code, detail).param(PATH).into()
}
