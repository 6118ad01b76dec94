//! Names that look like the one asked for: models write plain spaces and quotes where a file's name has others.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use nix::dir::Dir;
use unicode_normalization::UnicodeNormalization as _;

use super::name;
use super::rel_path::{RelPath, Step};
use super::root::{Root, WalkError};
use crate::call::Interrupt;

/// The most names that are compared in one directory.
const MAX_NAMES: usize = 10_000;

/// Finds the path beneath `root` that differs from `path`, which is missing, only by kinds of spaces and quotes and by the
/// normal form. It may be listed: only names are read, in directories that a listing opens.
pub(super) fn find(root: &Root, path: &RelPath, interrupt: &Interrupt) -> Option<String> {
    let mut found = RelPath { steps: Vec::new() };
    let mut differs = false;
    for step in &path.steps {
        let Step::Down(wanted) = step else { return None };
        let name = find_name(root, &found, wanted, interrupt).ok()??;
        differs |= name != *wanted;
        found.steps.push(Step::Down(name));
    }
    let names = found.steps.iter().filter_map(|step| match step {
        Step::Down(name) => Some(name::shown(name.as_bytes()).0),
        Step::Up | Step::Stay => None,
    });
    differs.then(|| names.collect::<Vec<_>>().join("/"))
}

/// Finds the name itself, else the smallest that looks like it.
fn find_name(
    root: &Root,
    parent: &RelPath,
    wanted: &OsStr,
    interrupt: &Interrupt,
) -> Result<Option<OsString>, WalkError> {
    let mut directory = Dir::from_fd(root.open_directory(parent, interrupt)?)?;
    let looks = wanted.to_str().map(looks_of);
    let mut near: Option<OsString> = None;
    for entry in directory.iter().take(MAX_NAMES) {
        interrupt.check()?;
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == wanted {
            return Ok(Some(name.to_owned()));
        }
        let is_near = looks.is_some() && name.to_str().map(looks_of) == looks;
        if is_near && near.as_deref().is_none_or(|near| name < near) {
            near = Some(name.to_owned());
        }
    }
    Ok(near)
}

/// Returns the name with one kind of space and of each quote, in one normal form.
fn looks_of(name: &str) -> String {
    let plain = name.chars().map(|c| match c {
        '‘' | '’' | '‚' | '‛' | '′' | '`' | '´' | 'ʼ' => '\'',
        '“' | '”' | '„' | '‟' | '″' => '"',
        c if c.is_whitespace() => ' ',
        c => c,
    });
    plain.nfkc().collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[track_caller]
    fn check(there: &str, asked: &str, is_near: bool) {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(there);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
        let root = Root::open(directory.path()).unwrap();
        let found = find(&root, &RelPath::parse(asked).unwrap(), &Interrupt::default());
        assert_eq!(found.as_deref(), is_near.then_some(there), "{asked}");
    }

    #[test]
    fn a_name_that_differs_by_space_quote_or_normal_form_is_near() {
        check("at 10.04\u{202f}PM.png", "at 10.04 PM.png", true);
        check("a\u{a0}b", "a b", true);
        check("a b", "a\u{2009}b", true);
        check("Anna’s “list”.txt", "Anna's \"list\".txt", true);
        check("it's", "it’s", true);
        check("u\u{308}ber", "über", true);
        check("über", "u\u{308}ber", true);
        check("a\u{a0}b/c\u{a0}d/e", "a b/c d/e", true);
        check("a b", "a  b", false);
        check("ab", "a b", false);
        check("A", "a", false);
        check("uber", "über", false);
        check("a", "a", false);
        check("a\u{a0}b", "x/../a b", false);
    }

    #[test]
    fn a_name_that_is_there_comes_before_its_neighbours() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a\u{a0}b", "a b"] {
            fs::create_dir(directory.path().join(name)).unwrap();
        }
        fs::write(directory.path().join("a b/c\u{a0}d"), "").unwrap();
        let root = Root::open(directory.path()).unwrap();
        let found = find(&root, &RelPath::parse("a b/c d").unwrap(), &Interrupt::default());
        assert_eq!(found.as_deref(), Some("a b/c\u{a0}d"));
    }
}
