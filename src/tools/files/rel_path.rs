//! A path that cannot climb: relative, and never above its start, whatever exists on the way.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Into the entry of this name. Never empty, `.`, `..` or with a `/` in it.
    Down(OsString),
    /// To the parent: `..`.
    Up,
    /// Stays, but the path so far must be a directory: `.`, or the end of `a/`.
    Stay,
}

/// Reads a relative path from the client, or the target of a symbolic link (its leading slashes taken away).
pub(super) fn steps_of(path: &OsStr) -> impl Iterator<Item = Step> {
    let bytes = path.as_bytes();
    let stays = bytes.ends_with(b"/").then_some(Step::Stay);
    let parts = bytes.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
    let steps = parts.map(|part| match part {
        b"." => Step::Stay,
        b".." => Step::Up,
        name => Step::Down(OsStr::from_bytes(name).to_owned()),
    });
    steps.chain(stays)
}

/// Returns whether `steps`, taken one by one from `depth` directories beneath the root, ever lead above it.
pub(super) fn climbs<'s>(depth: usize, mut steps: impl Iterator<Item = &'s Step>) -> bool {
    let end = steps.try_fold(depth, |depth, step| match step {
        Step::Down(_) => Some(depth + 1),
        Step::Up => depth.checked_sub(1),
        Step::Stay => Some(depth),
    });
    end.is_none()
}

/// A relative path that never stands above its start.
///
/// Symbolic links on the way can still lead anywhere: [`super::root::Root`] judges those.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelPath {
    pub(super) steps: Vec<Step>,
}

/// A text that is not a [`RelPath`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelPathError {
    /// There is no text.
    Empty,
    /// A NUL byte, which no file name can hold.
    Nul,
    /// It begins with a slash.
    Absolute,
    /// It stands above its start at some point, if only to come back.
    Climbs,
}

impl RelPath {
    /// Judges `text` alone; nothing is looked up.
    pub fn parse(text: &str) -> Result<Self, RelPathError> {
        if text.is_empty() {
            return Err(RelPathError::Empty);
        }
        if text.contains('\0') {
            return Err(RelPathError::Nul);
        }
        if text.starts_with('/') {
            return Err(RelPathError::Absolute);
        }
        let steps = steps_of(OsStr::new(text)).collect::<Vec<_>>();
        if climbs(0, steps.iter()) { Err(RelPathError::Climbs) } else { Ok(Self { steps }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expected`: the steps, `<` for up and `.` for stay.
    #[track_caller]
    fn check(text: &str, expected: Result<&str, RelPathError>) {
        let shown = RelPath::parse(text).map(|path| {
            let steps = path.steps.iter().map(|step| match step {
                Step::Down(name) => name.to_str().unwrap().to_owned(),
                Step::Up => "<".to_owned(),
                Step::Stay => ".".to_owned(),
            });
            steps.collect::<Vec<_>>().join(" ")
        });
        assert_eq!(shown.as_deref(), expected.as_ref().map(|steps| *steps), "{text:?}");
    }

    #[test]
    fn a_path_is_its_steps() {
        check("a", Ok("a"));
        check("a/b", Ok("a b"));
        check("a//b", Ok("a b"));
        check("a/b/", Ok("a b ."));
        check("a//", Ok("a ."));
        check(".", Ok("."));
        check("./a/./b", Ok(". a . b"));
        check("a/..", Ok("a <"));
        check("a/../b", Ok("a < b"));
        check("a/b/../../c", Ok("a b < < c"));
        check("...", Ok("..."));
        check("..a/b..", Ok("..a b.."));
        check(" ..", Ok(" .."));
        check("a\\..\\..\\b", Ok("a\\..\\..\\b"));
        check("~", Ok("~"));
        check("%2e%2e", Ok("%2e%2e"));
    }

    #[test]
    fn a_path_that_climbs_is_refused_wherever_it_climbs() {
        use RelPathError::{Absolute, Climbs, Empty, Nul};
        check("", Err(Empty));
        check("a\0b", Err(Nul));
        check("/", Err(Absolute));
        check("/a", Err(Absolute));
        check("//a", Err(Absolute));
        check("..", Err(Climbs));
        check("../", Err(Climbs));
        check("../a", Err(Climbs));
        check("./..", Err(Climbs));
        check("a/../..", Err(Climbs));
        check("a/../../a", Err(Climbs));
        check("a/./../../a", Err(Climbs));
        check("a//../..//b", Err(Climbs));
        check("a/b/../../../a/b", Err(Climbs));
        check("../root/a", Err(Climbs));
    }
}
