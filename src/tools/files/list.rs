//! `sandbox_fs_list`: one page of a directory, sorted by the bytes of the names.
//!
//! Memory is that of one page: of all names only the smallest behind `after` are kept. A symbolic link is shown as
//! such, never where it leads.

use std::collections::BinaryHeap;
use std::ffi::CString;
use std::sync::Arc;

use jiff::Timestamp;
use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::AtFlags;
use nix::sys::stat::{FileStat, SFlag, fstatat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::name::{self, MAX_SHOWN_CHARS};
use super::refusal::{parse_path, refusal, refusal_of_walk};
use super::root::{Root, WalkError};
use crate::call::{Call, Interrupt};
use crate::governance::Permit;
use crate::problem::{Code, Problem};
use crate::tools::{Bound, CheckedSpec, TypedTool};
use crate::wire::ascii::AsciiJson;

/// Names looked at between two looks at the interrupt.
const NAMES_PER_CHECK: usize = 256;
/// Bytes of an entry's JSON beside its name, at most.
const ENTRY_BYTES: usize = 160;
/// Bytes that a name takes in the body, at most: 255 bytes, each shown as `\\\\xNN`.
const NAME_BYTES: usize = 255 * 5;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// Relative to the data directory, which is `.`.
    #[serde(default = "default_relative_path")]
    #[schemars(length(min = 1, max = 1024))]
    relative_path: String,
    /// Most entries to return.
    #[serde(default = "default_max_entries")]
    #[schemars(range(min = 1, max = 1000))]
    max_entries: u64,
    /// The next_after of the previous answer.
    #[schemars(length(min = 1, max = MAX_SHOWN_CHARS))]
    after: Option<String>,
}

fn default_relative_path() -> String {
    ".".to_owned()
}

fn default_max_entries() -> u64 {
    200
}

#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    entries: Vec<Entry>,
    truncated: bool,
    /// Null at the end.
    next_after: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    /// Special characters and bytes are shown as \xNN.
    name: String,
    kind: Kind,
    /// Null for anything but a file.
    size_bytes: Option<u64>,
    modified: String,
    /// True if name can be used in a path.
    readable: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    File,
    Directory,
    Symlink,
    Other,
}

/// Lists directories beneath the data directory.
#[derive(Debug)]
pub struct SandboxFsList {
    root: Arc<Root>,
    spec: CheckedSpec,
}

impl SandboxFsList {
    /// Lists beneath `root`.
    pub fn new(root: Arc<Root>) -> Self {
        let description = "Lists one directory beneath the data directory, not what is below it, sorted by name. To list on, pass \
                          next_after as after until it is null. sandbox_fs_read reads files.";
        let spec = CheckedSpec::of::<Arguments, Output>("sandbox_fs_list", "List a directory", description);
        Self { root, spec }
    }
}

impl TypedTool for SandboxFsList {
    type Arguments = Arguments;

    fn spec(&self) -> &CheckedSpec {
        &self.spec
    }

    fn bind(&self, request: Arguments) -> Result<Bound<'_>, Problem> {
        let path = parse_path(&request.relative_path)?;
        let after = request.after.as_deref().map(parse_after).transpose()?;
        let max_entries = usize::try_from(request.max_entries).unwrap_or(usize::MAX);
        let max_body_bytes = max_entries.saturating_add(1).saturating_mul(ENTRY_BYTES + NAME_BYTES);
        let run = move |_: Permit, call: &Call| {
            let interrupt = call.interrupt();
            let refused = |error| refusal(error, &request.relative_path);
            let opened = self.root.open_directory(&path, interrupt);
            let directory = opened.map_err(|error| {
                refusal_of_walk(error, &self.root, &path, &request.relative_path, interrupt)
            })?;
            let mut directory = Dir::from_fd(directory).map_err(|errno| refused(errno.into()))?;
            let names = page_of(&mut directory, after, max_entries, interrupt).map_err(refused)?;
            let output = describe(&directory, names, max_entries).map_err(refused)?;
            Ok(AsciiJson::of(&output).into())
        };
        Ok((max_body_bytes, Box::new(run)))
    }
}

fn parse_after(shown: &str) -> Result<Vec<u8>, Problem> {
    name::bytes_of(shown).ok_or_else(|| {
        Problem::new(Code::Validation, "`after` must be a name exactly as `next_after` gave it.")
            .param("after")
    })
}

/// Finds the smallest names behind `after`, sorted: one more than `max_entries` when there are more.
fn page_of(
    directory: &mut Dir,
    after: Option<Vec<u8>>,
    max_entries: usize,
    interrupt: &Interrupt,
) -> Result<Vec<CString>, WalkError> {
    let after = after.unwrap_or_default();
    let mut smallest = BinaryHeap::<CString>::new();
    for (index, entry) in directory.iter().enumerate() {
        if index % NAMES_PER_CHECK == 0 {
            interrupt.check()?;
        }
        let entry = entry?;
        let name = entry.file_name();
        let bytes = name.to_bytes();
        if bytes <= after.as_slice() || bytes == b"." || bytes == b".." {
            continue;
        }
        if smallest.len() > max_entries {
            if smallest.peek().is_some_and(|largest| name >= largest.as_c_str()) {
                continue;
            }
            smallest.pop();
        }
        smallest.push(name.to_owned());
    }
    Ok(smallest.into_sorted_vec())
}

/// Describes each name of the page. One that is gone meanwhile is left out.
fn describe(directory: &Dir, mut names: Vec<CString>, max_entries: usize) -> Result<Output, WalkError> {
    let truncated = names.len() > max_entries;
    names.truncate(max_entries);
    let next_after = names.last().filter(|_| truncated).map(|last| name::shown(last.to_bytes()).0);
    let mut entries = Vec::with_capacity(names.len());
    for raw in names {
        match fstatat(directory, raw.as_c_str(), AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(facts) => entries.push(entry_of(raw.to_bytes(), &facts)),
            Err(Errno::ENOENT) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(Output { entries, truncated, next_after })
}

fn entry_of(raw: &[u8], facts: &FileStat) -> Entry {
    let (name, readable) = name::shown(raw);
    let kind = match SFlag::from_bits_truncate(facts.st_mode) & SFlag::S_IFMT {
        SFlag::S_IFREG => Kind::File,
        SFlag::S_IFDIR => Kind::Directory,
        SFlag::S_IFLNK => Kind::Symlink,
        _ => Kind::Other,
    };
    let size_bytes = if kind == Kind::File { u64::try_from(facts.st_size).ok() } else { None };
    let edge = if facts.st_mtime < 0 { Timestamp::MIN } else { Timestamp::MAX };
    let modified = Timestamp::from_second(facts.st_mtime).unwrap_or(edge).to_string();
    Entry { name, kind, size_bytes, modified, readable }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        call::Failure,
        tools::testing::{answer, problem, run},
    };
    use serde_json::{Value, json};
    use std::{
        ffi::OsStr,
        fs,
        os::unix::{ffi::OsStrExt as _, fs::symlink},
        time::{Duration, SystemTime},
    };

    fn sandbox() -> (tempfile::TempDir, SandboxFsList) {
        let directory = tempfile::tempdir().unwrap();
        let root = Root::open(directory.path()).unwrap();
        (directory, SandboxFsList::new(Arc::new(root)))
    }

    fn names(page: &Value) -> Vec<&str> {
        page["entries"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect()
    }

    /// Page by page, each `next_after` taken as it came.
    fn all_names(tool: &SandboxFsList, max_entries: usize) -> Vec<String> {
        let mut seen = Vec::new();
        let mut arguments = json!({"max_entries": max_entries});
        loop {
            let mut page = answer(tool, &arguments);
            seen.extend(names(&page).into_iter().map(str::to_owned));
            let next = page["next_after"].take();
            assert_eq!(page["truncated"], !next.is_null());
            if next.is_null() {
                return seen;
            }
            arguments["after"] = next;
        }
    }

    #[test]
    fn each_entry_has_its_kind_size_and_time() {
        let (directory, tool) = sandbox();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("file"), "hello").unwrap();
        fs::create_dir(at("dir")).unwrap();
        symlink("/etc/passwd", at("link")).unwrap();
        symlink("missing", at("dangling")).unwrap();
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_999);
        fs::File::open(at("file")).unwrap().set_modified(time).unwrap();
        let mut page = answer(&tool, &json!({}));
        assert_eq!(page["entries"][2]["modified"], "2023-11-14T22:13:20Z");
        for entry in page["entries"].as_array_mut().unwrap() {
            entry.as_object_mut().unwrap().shift_remove("modified");
        }
        let entry = |name: &str, kind: &str, size: Option<u64>| {
            let (size_bytes, readable) = (size, true);
            json!({"name": name, "kind": kind, "size_bytes": size_bytes, "readable": readable})
        };
        let entries = [
            entry("dangling", "symlink", None),
            entry("dir", "directory", None),
            entry("file", "file", Some(5)),
            entry("link", "symlink", None),
            entry("pipe", "other", None),
        ];
        assert_eq!(page, json!({"entries": entries, "truncated": false, "next_after": null}));
    }

    #[test]
    fn times_before_1970_and_beyond_the_calendar_are_shown_too() {
        let (directory, tool) = sandbox();
        let path = directory.path().join("old");
        fs::write(&path, "").unwrap();
        fs::File::open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH - Duration::from_secs(1)).unwrap();
        assert_eq!(answer(&tool, &json!({}))["entries"][0]["modified"], "1969-12-31T23:59:59Z");
    }

    #[test]
    fn names_are_sorted_by_their_bytes_and_shown_without_harm() {
        let (directory, tool) = sandbox();
        let raw: [&[u8]; 11] = [
            b"\x1b[31mred",
            b"B",
            b"a",
            b"a b",
            b"a\nb",
            b"back\\slash",
            b"z",
            "é".as_bytes(),
            "\u{202e}x".as_bytes(),
            b"\xff\xfe",
            b"..hidden",
        ];
        for name in raw {
            fs::write(directory.path().join(OsStr::from_bytes(name)), "").unwrap();
        }
        let page = answer(&tool, &json!({}));
        let shown = [
            r"\x1b[31mred",
            "..hidden",
            "B",
            "a",
            r"a\x0ab",
            "a b",
            r"back\x5cslash",
            "z",
            "é",
            r"\xe2\x80\xaex",
            r"\xff\xfe",
        ];
        assert_eq!(names(&page), shown);
        let readable =
            page["entries"].as_array().unwrap().iter().map(|entry| entry["readable"].as_bool().unwrap());
        assert_eq!(readable.collect::<Vec<_>>(), shown.map(|name| !name.contains('\\')));
        for max_entries in [1, 2, 3, 10, 11] {
            assert_eq!(all_names(&tool, max_entries), shown, "{max_entries} at a time");
        }
    }

    #[test]
    fn a_page_ends_where_it_is_full() {
        let (directory, tool) = sandbox();
        let empty = json!({"entries": [], "truncated": false, "next_after": null});
        assert_eq!(answer(&tool, &json!({})), empty);
        for name in ["a", "b", "c"] {
            fs::write(directory.path().join(name), "").unwrap();
        }
        #[track_caller]
        fn check(tool: &SandboxFsList, arguments: &Value, expected: &[&str], next: Option<&str>) {
            let page = answer(tool, arguments);
            assert_eq!((names(&page), &page["next_after"]), (expected.to_vec(), &json!(next)));
        }
        check(&tool, &json!({"max_entries": 3}), &["a", "b", "c"], None);
        check(&tool, &json!({"max_entries": 2}), &["a", "b"], Some("b"));
        check(&tool, &json!({"max_entries": 2, "after": "b"}), &["c"], None);
        check(&tool, &json!({"max_entries": 2, "after": "aa"}), &["b", "c"], None);
        check(&tool, &json!({"after": "c"}), &[], None);
        check(&tool, &json!({"after": "zzz"}), &[], None);
    }

    #[test]
    fn thousands_of_names_of_any_order_come_page_by_page() {
        let (directory, tool) = sandbox();
        let count = 3_000;
        for number in 0..count {
            // Seven does not divide the count: the order of creation is not that of the names.
            fs::write(directory.path().join(format!("{:06}", number * 7 % count)), "").unwrap();
        }
        let expected = (0..count).map(|number| format!("{number:06}"));
        assert!(all_names(&tool, 999).into_iter().eq(expected));
    }

    #[test]
    fn the_longest_names_fit_the_announced_bound() {
        let (directory, tool) = sandbox();
        for number in 0..20_u8 {
            let name = [&[0xff; 254][..], &[number + 1]].concat();
            fs::write(directory.path().join(OsStr::from_bytes(&name)), "").unwrap();
        }
        let page = answer(&tool, &json!({"max_entries": 19}));
        assert_eq!(page["next_after"].as_str().unwrap().len(), MAX_SHOWN_CHARS);
        assert_eq!(names(&answer(&tool, &json!({"after": page["next_after"]}))).len(), 1);
    }

    #[test]
    fn a_refusal_names_the_cure() {
        let (directory, tool) = sandbox();
        fs::write(directory.path().join("file"), "").unwrap();
        symlink("..", directory.path().join("up")).unwrap();
        for (arguments, code, parameter) in [
            (json!({"relative_path": "missing"}), Code::NotFound, "relative_path"),
            (json!({"relative_path": "file"}), Code::NotFound, "relative_path"),
            (json!({"relative_path": "up"}), Code::AccessDenied, "relative_path"),
            (json!({"relative_path": ".."}), Code::AccessDenied, "relative_path"),
            (json!({"relative_path": "/"}), Code::AccessDenied, "relative_path"),
            (json!({"max_entries": 0}), Code::Validation, "max_entries"),
            (json!({"max_entries": 1001}), Code::Validation, "max_entries"),
            (json!({"after": r"\x41"}), Code::Validation, "after"),
            (json!({"after": "\\"}), Code::Validation, "after"),
            (json!({"after": 1}), Code::Validation, "after"),
        ] {
            problem(&tool, &arguments, code, parameter);
        }
    }

    #[test]
    fn a_listing_ends_when_the_call_is_interrupted() {
        let interrupt = Interrupt::default();
        assert!(interrupt.set().is_none());
        assert!(matches!(run(&sandbox().1, &json!({}), interrupt), Err(Failure::Interrupted(_))));
    }
}
