//! The files of a document: one, or every `*.toml` of a directory in the order of their names. Bounded before they are read.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use super::finding::{DocumentRule, Finding, Place};
use crate::diagnostics::escape;

/// The longest file, in bytes: some ten thousand lines, more than a reviewer reads in one piece.
pub(crate) const MAX_FILE_BYTES: u64 = 1024 * 1024;
/// All files together, in bytes.
pub(crate) const MAX_TOTAL_BYTES: u64 = 8 * MAX_FILE_BYTES;
/// Files in a directory.
const MAX_FILES: usize = 1_000;

/// A file as written.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    /// The offsets of its line ends.
    ends: Vec<usize>,
}

impl Source {
    pub(crate) fn new(path: PathBuf, text: String) -> Self {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
        Self { path, text, ends }
    }

    /// Returns the line of the byte at `offset`, from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.ends.partition_point(|end| *end < offset) + 1
    }
}

/// Reads the file, or the files of the directory.
pub(crate) fn read<R: DocumentRule>(path: &Path, noun: &str) -> Result<Vec<Source>, Finding<R>> {
    let files = list(path).map_err(|error| unreadable(path, noun, &error))?;
    let mut remaining = MAX_TOTAL_BYTES;
    let mut read = |path: PathBuf| {
        let text = read_file(&path, &mut remaining).map_err(|error| unreadable(&path, noun, &error))?;
        Ok(Source::new(path, text))
    };
    files.into_iter().map(&mut read).collect()
}

fn list(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !fs::metadata(path)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let files = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
    let is_document = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml");
    let mut files =
        files.filter(|path| path.as_ref().map_or(true, is_document)).collect::<io::Result<Vec<_>>>()?;
    if files.is_empty() {
        return Err(io::Error::other("the directory holds no file whose name ends in .toml"));
    }
    if files.len() > MAX_FILES {
        return Err(io::Error::other(format!("the directory holds more than {MAX_FILES} files")));
    }
    files.sort();
    Ok(files)
}

/// Reads a regular file, of at most `remaining` bytes. Never waits: a FIFO is refused.
fn read_file(path: &Path, remaining: &mut u64) -> io::Result<String> {
    let flags = OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    let length = u64::try_from(file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?).unwrap_or(u64::MAX);
    if length > MAX_FILE_BYTES {
        return Err(io::Error::other(format!("it is longer than {MAX_FILE_BYTES} bytes")));
    }
    let exceeded =
        || io::Error::other(format!("with this file the directory exceeds {MAX_TOTAL_BYTES} bytes"));
    *remaining = remaining.checked_sub(length).ok_or_else(exceeded)?;
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}

fn unreadable<R: DocumentRule>(path: &Path, noun: &str, error: &io::Error) -> Finding<R> {
    Finding {
        rule: R::SYNTAX,
        place: Place { file: path.to_owned(), line: 1 },
        entry: None,
        text: format!("The {noun} cannot be read: {}.", escape(&error.to_string())),
        cure: "Name a TOML file or a directory of them.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::sample::Rule;

    #[test]
    fn a_directory_is_its_toml_files_in_the_order_of_their_names() {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in [("b.toml", "2"), ("a.toml", "1"), ("notes.md", "x"), ("c.toml~", "y")] {
            fs::write(directory.path().join(name), text).unwrap();
        }
        let texts: Vec<String> = read::<Rule>(directory.path(), "document")
            .unwrap()
            .into_iter()
            .map(|source| source.text)
            .collect();
        assert_eq!(texts, ["1", "2"]);
    }

    #[track_caller]
    fn check(path: &Path, why: &str) {
        let finding = read::<Rule>(path, "document").unwrap_err();
        assert_eq!(finding.rule, Rule::Syntax);
        assert!(finding.text.contains(why), "{}", finding.text);
    }

    #[test]
    fn a_document_that_cannot_be_read_whole_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        check(directory.path(), "holds no file");
        check(&directory.path().join("none"), "No such file");
        let one = directory.path().join("one.toml");
        fs::write(&one, vec![b' '; 1024 * 1024 + 1]).unwrap();
        check(&one, "longer than 1048576 bytes");
        fs::write(&one, [0xff]).unwrap();
        check(directory.path(), "not UTF-8");
        fs::remove_file(&one).unwrap();
        nix::unistd::mkfifo(&one, nix::sys::stat::Mode::S_IRWXU).unwrap();
        check(&one, "not a regular file");
        fs::remove_file(&one).unwrap();
        for index in 0..9 {
            fs::write(directory.path().join(format!("{index}.toml")), vec![b' '; 1024 * 1024]).unwrap();
        }
        check(directory.path(), "exceeds 8388608 bytes");
    }

    #[test]
    fn lines_are_counted_from_one() {
        let source = Source::new(PathBuf::new(), "a\nb\n".to_owned());
        assert_eq!([0, 1, 2, 3, 9].map(|offset| source.line(offset)), [1, 1, 2, 2, 3]);
    }
}
