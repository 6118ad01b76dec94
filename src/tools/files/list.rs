//! `sandbox_fs_list`: one page of a directory, sorted by the bytes of the names.
//!
//! Memory is that of one page: of all names only the smallest behind `after` are kept. A symbolic link is shown as such,
//! never where it leads.

use std::{collections::BinaryHeap, ffi::CString, sync::Arc};

use jiff::Timestamp;
use nix::{
    dir::Dir,
    errno::Errno,
    fcntl::AtFlags,
    sys::stat::{FileStat, SFlag, fstatat},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    name::{self, MAX_SHOWN_CHARS},
    parse_path, refusal,
    root::{Root, WalkError},
};
use crate::{
    call::Interrupt,
    problem::{Code, Problem},
    protocol::tool::{Effect, ToolName, ToolSpec},
    tools::{
        Failure, Lane, Prepared, Tool,
        arguments::{self, schema_of},
    },
    wire::ascii::AsciiJson,
};

/// Names looked at between two looks at the interrupt.
const NAMES_PER_CHECK: usize = 256;
/// Bytes of an entry's JSON beside its name, at most.
const ENTRY_BYTES: usize = 160;
/// Bytes that a name takes in the body, at most: 255 bytes, each shown as `\\\\xNN`.
const NAME_BYTES: usize = 255 * 5;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Path of the directory, relative to the data directory; `.` is the data directory itself.
    #[serde(default = "default_relative_path")]
    #[schemars(length(min = 1, max = 1024))]
    relative_path: String,
    /// Most entries to return.
    #[serde(default = "default_max_entries")]
    #[schemars(range(min = 1, max = 1000))]
    max_entries: u64,
    /// Continue behind this name: the `next_after` of the previous answer.
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
    /// The entries, sorted by the bytes of their names.
    entries: Vec<Entry>,
    /// Whether the directory goes on behind these.
    truncated: bool,
    /// Give this as `after` to go on; null at the end.
    next_after: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    /// The name; backslashes, control characters and bytes that are not UTF-8 are shown as \xNN.
    name: String,
    /// What it is.
    kind: Kind,
    /// Size of a file in bytes; null for anything else.
    size_bytes: Option<u64>,
    /// When it was last modified (RFC 3339, UTC).
    modified: String,
    /// Whether `name` is shown as it is, so that it can be used in a path.
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
    spec: ToolSpec,
}

impl SandboxFsList {
    /// Lists beneath `root`.
    pub fn new(root: Arc<Root>) -> Self {
        let spec = ToolSpec {
            name: ToolName::new("sandbox_fs_list"),
            title: "List a directory".into(),
            description: "Lists one directory beneath the data directory, not what is below it: name, kind, size and \
                          time of each entry, sorted by name, at most 1000 a call. A larger directory is listed page by \
                          page: pass next_after as after until it is null. Files are read with sandbox_fs_read."
                .into(),
            input_schema: schema_of::<Arguments>(),
            output_schema: schema_of::<Output>(),
            effect: Effect::Read,
        };
        Self { root, spec }
    }
}

impl Tool for SandboxFsList {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn lane(&self) -> Lane {
        Lane::General
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared<'_>, Problem> {
        let (request, arguments) = arguments::parse::<Arguments>(arguments, &self.spec.input_schema)?;
        let path = parse_path(&request.relative_path)?;
        let after = request.after.as_deref().map(parse_after).transpose()?;
        let max_entries = usize::try_from(request.max_entries).unwrap_or(usize::MAX);
        Ok(Prepared {
            arguments,
            max_body_bytes: max_entries.saturating_add(1).saturating_mul(ENTRY_BYTES + NAME_BYTES),
            run: Box::new(move |_permit, call| {
                let interrupt = call.interrupt();
                let told = |error| refusal(error, &request.relative_path);
                let directory = self.root.open_directory(&path, interrupt).map_err(told)?;
                let mut directory = Dir::from_fd(directory).map_err(|errno| told(errno.into()))?;
                let names = page_of(&mut directory, after, max_entries, interrupt).map_err(told)?;
                let output = describe(&directory, names, max_entries).map_err(told)?;
                Ok::<_, Failure>(AsciiJson::of(&output).into())
            }),
        })
    }
}

fn parse_after(shown: &str) -> Result<Vec<u8>, Problem> {
    name::bytes_of(shown).ok_or_else(|| {
        Problem::new(Code::Validation, "`after` must be a name exactly as `next_after` gave it.")
            .param("after")
    })
}

/// The smallest names behind `after`, sorted: one more than `max_entries` when there are more.
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

/// Looks at each name of the page. One that is gone meanwhile is left out.
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
