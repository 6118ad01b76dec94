//! Paths and names as clients write them.

use std::path::{Component, Path};

use super::name::{bytes_of, shown};
use super::rel_path::{RelPath, RelPathError, Step};
use crate::call::sanitizer::is_forbidden;

/// A path against the standard library's reading of it.
pub fn paths(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let expected = expected(&text);
    match RelPath::parse(&text) {
        Err(error) => assert_eq!(Err(error), expected, "{text:?}"),
        Ok(path) => {
            let steps: Vec<&Step> = path.steps.iter().collect();
            let moves: Vec<Step> =
                steps.iter().filter(|step| ***step != Step::Stay).copied().cloned().collect();
            assert_eq!(Ok(moves), expected, "{text:?}");
            let ends_in_directory = text.ends_with('/') || text == "." || text.ends_with("/.");
            assert_eq!(steps.last() == Some(&&Step::Stay), ends_in_directory, "{text:?}");
        }
    }
}

/// The steps down and up.
fn expected(text: &str) -> Result<Vec<Step>, RelPathError> {
    if text.is_empty() {
        return Err(RelPathError::Empty);
    }
    if text.contains('\0') {
        return Err(RelPathError::Nul);
    }
    let mut depth = 0_i64;
    let mut steps = Vec::new();
    for component in Path::new(text).components() {
        match component {
            Component::Prefix(_) | Component::RootDir => return Err(RelPathError::Absolute),
            Component::CurDir => {}
            Component::ParentDir => {
                depth -= 1;
                steps.push(Step::Up);
            }
            Component::Normal(name) => {
                depth += 1;
                steps.push(Step::Down(name.to_owned()));
            }
        }
        if depth < 0 {
            return Err(RelPathError::Climbs);
        }
    }
    Ok(steps)
}

/// A name is shown without loss and harmlessly; a text that is never shown is not read.
pub fn names(data: &[u8]) {
    let (text, readable) = shown(data);
    assert_eq!(bytes_of(&text).as_deref(), Some(data), "{text:?}");
    assert_eq!(readable, text.as_bytes() == data, "{text:?}");
    assert!(!text.chars().any(|c| c.is_control() || is_forbidden(c)), "{text:?}");
    let text = String::from_utf8_lossy(data);
    if let Some(raw) = bytes_of(&text) {
        assert_eq!(shown(&raw).0, text);
    }
}
