//! `sandbox_fs_read`: a page of one file, as text that is never cut inside a character, or as base64.

use std::{borrow::Cow, fs::File, io, os::unix::fs::FileExt as _, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    PATH,
    line::{MAX_LINE_BYTES, fitting, line_cost},
    parse_path, refusal,
    root::{Root, WalkError},
};
use crate::{
    arguments::{self, schema_of, with_maximum},
    call::{Answer, Failure, Interrupt},
    problem::{Code, Problem, echo},
    protocol::tool::{Effect, ToolName, ToolSpec},
    tools::{Lane, Prepared, Tool},
    wire::ascii::{AsciiWriter, string_cost},
};

/// Bytes asked of the file at a time; the interrupt is looked at in between.
const CHUNK: usize = 64 * 1024;
/// Bytes asked at a time where the file should have ended: enough for one look, or a page of `/proc`.
const SMALL_CHUNK: usize = 4 * 1024;
/// Bytes read behind the page: three to end its last character, one to know whether more follows.
const LOOKAHEAD: usize = 4;
/// The body's members beside content and path, generously.
const MEMBERS_BYTES: usize = 512;

/// How the content is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    #[serde(rename = "utf-8")]
    Utf8,
    Base64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Path of the file, relative to the data directory, such as `reports/2026.csv`.
    #[schemars(length(min = 1, max = 1024))]
    relative_path: String,
    /// Byte to start at; give the `next_offset` of the previous answer to read on.
    #[serde(default)]
    offset: u64,
    /// Most bytes of the file to return.
    #[serde(default = "default_max_bytes")]
    #[schemars(range(min = 1))]
    max_bytes: u64,
    /// `utf-8` for text, `base64` for anything else.
    #[serde(default = "default_encoding")]
    encoding: Encoding,
}

fn default_max_bytes() -> u64 {
    65_536
}

fn default_encoding() -> Encoding {
    Encoding::Utf8
}

/// The shape of the answer; `Page::write` writes it.
#[derive(Serialize, JsonSchema)]
struct Output {
    /// The path as asked for.
    relative_path: String,
    /// How `content` is written.
    encoding: Encoding,
    /// The page: text, or base64 with padding.
    content: String,
    /// Byte of the file at which the page begins.
    offset: u64,
    /// Bytes of the file in the page.
    bytes_read: u64,
    /// Size of the file in bytes.
    size_bytes: u64,
    /// Whether the file goes on behind the page.
    truncated: bool,
    /// Where the next page begins; null at the end.
    next_offset: Option<u64>,
}

/// Reads files beneath the data directory.
#[derive(Debug)]
pub struct SandboxFsRead {
    root: Arc<Root>,
    spec: ToolSpec,
}

impl SandboxFsRead {
    /// Reads beneath `root`, at most `max_bytes_ceiling` bytes a call (`MCP_FS_MAX_BYTES`).
    pub fn new(root: Arc<Root>, max_bytes_ceiling: u64) -> Self {
        let spec = ToolSpec {
            name: ToolName::new("sandbox_fs_read"),
            title: "Read a file".into(),
            description: Cow::Owned(format!(
                "Reads one file of the data directory, at most {max_bytes_ceiling} bytes a call. A larger file is \
                 read page by page: pass next_offset as offset until it is null. Text must be UTF-8; read other \
                 files with encoding base64. Paths are relative; nothing outside the directory can be reached. \
                 sandbox_fs_list shows what is there."
            )),
            input_schema: with_maximum(schema_of::<Arguments>(), "max_bytes", max_bytes_ceiling),
            output_schema: schema_of::<Output>(),
            effect: Effect::Read,
        };
        Self { root, spec }
    }
}

impl Tool for SandboxFsRead {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn lane(&self) -> Lane {
        Lane::General
    }

    fn prepare(&self, arguments: Map<String, Value>) -> Result<Prepared<'_>, Problem> {
        let (request, arguments) = arguments::parse::<Arguments>(arguments, &self.spec.input_schema)?;
        let path = parse_path(&request.relative_path)?;
        Ok(Prepared {
            arguments,
            max_body_bytes: max_body_bytes(&request),
            run: Box::new(move |_permit, call| {
                let interrupt = call.interrupt();
                let file = self
                    .root
                    .open_file(&path, interrupt)
                    .map_err(|error| refusal(error, &request.relative_path))?;
                let page = Page::read(&file, &request, interrupt)?;
                page.write(&file, &request)
            }),
        })
    }
}

/// The most bytes an answer to `request` can take, and the page that it is made from.
fn max_body_bytes(request: &Arguments) -> usize {
    let content = match request.encoding {
        // At worst six bytes for one of the file; never more than half a line, whose second copy is the longer one.
        Encoding::Utf8 => {
            max_bytes(request).saturating_add(LOOKAHEAD).saturating_mul(6).min(MAX_LINE_BYTES / 2)
        }
        Encoding::Base64 => max_bytes(request).div_ceil(3).saturating_mul(4),
    };
    let members = string_cost(&request.relative_path).saturating_add(MEMBERS_BYTES);
    content.saturating_add(members).saturating_add(max_bytes(request))
}

/// What was read of a file.
struct Page {
    /// The bytes from the offset on: [`LOOKAHEAD`] more than were asked for, fewer only at the end of the file.
    bytes: Vec<u8>,
    /// The file's size, as far as the system tells it (`/proc` says 0).
    size: u64,
}

impl Page {
    fn read(file: &File, request: &Arguments, interrupt: &Interrupt) -> Result<Self, Failure> {
        let size = file.metadata().map_err(|error| read_failure(&error, request))?.len();
        let wanted = max_bytes(request).saturating_add(LOOKAHEAD);
        let expected = usize::try_from(size.saturating_sub(request.offset)).unwrap_or(usize::MAX);
        let mut bytes = Vec::with_capacity(wanted.min(expected.saturating_add(SMALL_CHUNK)));
        while bytes.len() < wanted {
            interrupt.check()?;
            let filled = bytes.len();
            let chunk = expected.saturating_sub(filled).clamp(SMALL_CHUNK, CHUNK);
            bytes.resize(wanted.min(filled + chunk), 0);
            let room = bytes.get_mut(filled..).unwrap_or_default();
            let read = read_at(file, room, request.offset.saturating_add(filled as u64))
                .map_err(|error| read_failure(&error, request))?;
            bytes.truncate(filled + read);
            if read == 0 {
                break;
            }
        }
        Ok(Self { bytes, size })
    }

    fn write(&self, file: &File, request: &Arguments) -> Result<Answer, Failure> {
        let mut body = AsciiWriter::default();
        body.raw("{\"relative_path\":").string(&request.relative_path);
        body.raw(",\"encoding\":").value(&request.encoding).raw(",\"content\":");
        let taken = match request.encoding {
            Encoding::Base64 => {
                let bytes = self.bytes.get(..max_bytes(request)).unwrap_or(&self.bytes);
                body.base64(bytes);
                bytes.len()
            }
            Encoding::Utf8 => {
                let budget = MAX_LINE_BYTES - 2 * MEMBERS_BYTES - line_cost(&request.relative_path);
                let text = self.text(max_bytes(request)).map_err(|bad| not_text(file, request, bad))?;
                let text = fitting(text, budget);
                body.string(text);
                text.len()
            }
        };
        let end = request.offset.saturating_add(taken as u64);
        let next = (taken < self.bytes.len()).then_some(end);
        let seen = if taken > 0 { end } else { 0 };
        body.raw(",\"offset\":").value(&request.offset);
        body.raw(",\"bytes_read\":").value(&taken);
        body.raw(",\"size_bytes\":").value(&self.size.max(seen));
        body.raw(",\"truncated\":").value(&next.is_some());
        body.raw(",\"next_offset\":").value(&next).raw("}");
        Ok(body.finish().into())
    }

    /// The page as text: at most `max_bytes`, up to the end of a character, but one character at least. `Err` has the
    /// position of the first byte that is no UTF-8.
    fn text(&self, max_bytes: usize) -> Result<&str, usize> {
        let (text, valid) = match std::str::from_utf8(&self.bytes) {
            Ok(text) => (text, text.len()),
            Err(error) => {
                let valid = self.bytes.get(..error.valid_up_to()).unwrap_or_default();
                (std::str::from_utf8(valid).unwrap_or_default(), valid.len())
            }
        };
        // What is wrong behind the page is the next page's matter. A character that begins in the page and is whole in
        // the file is whole here: the lookahead has room for its end.
        if valid < self.bytes.len().min(max_bytes) {
            return Err(valid);
        }
        let end = match text.floor_char_boundary(max_bytes) {
            0 => text.chars().next().map_or(0, char::len_utf8),
            end => end,
        };
        Ok(text.get(..end).unwrap_or(text))
    }
}

fn max_bytes(request: &Arguments) -> usize {
    usize::try_from(request.max_bytes).unwrap_or(usize::MAX)
}

/// Reads at `offset`; nothing beyond where a file can reach.
fn read_at(file: &File, room: &mut [u8], offset: u64) -> io::Result<usize> {
    if offset.checked_add(room.len() as u64).is_none_or(|end| end > i64::MAX.unsigned_abs()) {
        return Ok(0);
    }
    loop {
        match file.read_at(room, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            outcome => return outcome,
        }
    }
}

fn read_failure(error: &io::Error, request: &Arguments) -> Failure {
    if error.kind() == io::ErrorKind::PermissionDenied {
        return refusal(WalkError::Unreadable, &request.relative_path);
    }
    Failure::Internal(format!("a file could not be read: {error}"))
}

/// Why the page, whose byte at `bad` is no UTF-8, cannot be text.
fn not_text(file: &File, request: &Arguments, bad: usize) -> Failure {
    let position = request.offset.saturating_add(bad as u64);
    if is_inside_character(file, position) {
        let detail = format!(
            "`offset` {position} is inside a character; give the next_offset of the previous answer."
        );
        return Problem::new(Code::Validation, detail).param("offset").into();
    }
    let path = echo(&request.relative_path);
    let detail = format!("{path} is not UTF-8 text at byte {position}; read it with encoding 'base64'.");
    Problem::new(Code::UnsupportedContent, detail).param(PATH).into()
}

/// Whether a character begins before `offset` and ends behind it.
fn is_inside_character(file: &File, offset: u64) -> bool {
    let back = usize::try_from(offset.min(3)).unwrap_or(0);
    let mut around = [0; 6];
    let Ok(read) = read_at(file, &mut around, offset - back as u64) else { return false };
    let around = around.get(..read).unwrap_or_default();
    (0..back).any(|start| {
        let lengths = back - start + 1..=4;
        lengths.into_iter().any(|length| {
            let character = around.get(start..start + length).map(std::str::from_utf8);
            character.and_then(Result::ok).is_some_and(|text| text.chars().count() == 1)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::testing::{answer, problem, run};
    use proptest::prelude::*;
    use serde_json::json;
    use std::{fs, io::Write as _, os::unix::fs::symlink, path::Path};

    struct Sandbox {
        directory: tempfile::TempDir,
        tool: SandboxFsRead,
    }

    /// A root with one file.
    fn sandbox(content: impl AsRef<[u8]>) -> Sandbox {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("file"), content).unwrap();
        let root = Root::open(directory.path()).unwrap();
        Sandbox { tool: SandboxFsRead::new(Arc::new(root), 2_097_152), directory }
    }

    /// The answer's content, bytes read and next offset.
    #[track_caller]
    fn check(content: impl AsRef<[u8]>, arguments: &Value, expected: (&str, usize, Option<u64>)) {
        let size = content.as_ref().len();
        let sandbox = sandbox(content);
        let mut whole = json!({"relative_path": "file"});
        whole.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
        let (content, bytes_read, next_offset) = expected;
        assert_eq!(
            answer(&sandbox.tool, &whole),
            json!({
                "relative_path": "file",
                "encoding": arguments.get("encoding").cloned().unwrap_or("utf-8".into()),
                "content": content,
                "offset": arguments.get("offset").cloned().unwrap_or(0.into()),
                "bytes_read": bytes_read,
                "size_bytes": size,
                "truncated": next_offset.is_some(),
                "next_offset": next_offset,
            })
        );
    }

    #[test]
    fn a_page_of_text_begins_at_the_offset_and_ends_at_a_character() {
        check("", &json!({}), ("", 0, None));
        check("hello", &json!({}), ("hello", 5, None));
        check("hello", &json!({"max_bytes": 5}), ("hello", 5, None));
        check("hello", &json!({"max_bytes": 4}), ("hell", 4, Some(4)));
        check("hello", &json!({"max_bytes": 1, "offset": 4}), ("o", 1, None));
        check("hello", &json!({"offset": 2, "max_bytes": 2}), ("ll", 2, Some(4)));
        check("a\"\\\n\0\u{7f}z", &json!({}), ("a\"\\\n\0\u{7f}z", 7, None));
        check("\u{feff}bom", &json!({}), ("\u{feff}bom", 6, None));
        // `é` has two bytes, `€` three, the face four.
        check("aé", &json!({"max_bytes": 2}), ("a", 1, Some(1)));
        check("a€b", &json!({"max_bytes": 3}), ("a", 1, Some(1)));
        check("a€b", &json!({"max_bytes": 4}), ("a€", 4, Some(4)));
        check("a\u{1f600}b", &json!({"max_bytes": 2}), ("a", 1, Some(1)));
        check("a\u{1f600}b", &json!({"max_bytes": 4}), ("a", 1, Some(1)));
        check("a\u{1f600}b", &json!({"max_bytes": 5}), ("a\u{1f600}", 5, Some(5)));
        check("a\u{1f600}b", &json!({"offset": 1, "max_bytes": 1}), ("\u{1f600}", 4, Some(5)));
        check("a\u{1f600}b", &json!({"offset": 1, "max_bytes": 3}), ("\u{1f600}", 4, Some(5)));
        check("\u{1f600}", &json!({"max_bytes": 1}), ("\u{1f600}", 4, None));
        check("é", &json!({"max_bytes": 1}), ("é", 2, None));
        check("a€b", &json!({"offset": 4}), ("b", 1, None));
    }

    #[test]
    fn an_offset_at_or_past_the_end_brings_nothing() {
        for offset in [
            5,
            6,
            1 << 40,
            (1 << 53) + 1,
            i64::MAX as u64 - 1,
            i64::MAX as u64,
            i64::MAX as u64 + 1,
            u64::MAX,
        ] {
            check("hello", &json!({"offset": offset}), ("", 0, None));
            check("hello", &json!({"offset": offset, "encoding": "base64"}), ("", 0, None));
        }
    }

    #[test]
    fn base64_takes_any_bytes() {
        check("", &json!({"encoding": "base64"}), ("", 0, None));
        check(b"\xff\xfe\0", &json!({"encoding": "base64"}), ("//4A", 3, None));
        check(b"\xff\xfe\0a", &json!({"encoding": "base64"}), ("//4AYQ==", 4, None));
        check(b"\xff\xfe\0a", &json!({"encoding": "base64", "max_bytes": 2}), ("//4=", 2, Some(2)));
        check("a€", &json!({"encoding": "base64", "offset": 2}), ("gqw=", 2, None));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_with_their_place() {
        for (content, offset, max_bytes, place) in [
            (&b"a\xffb"[..], 0, 10, 1),
            (b"\xff\xfea\0", 0, 10, 0),
            (b"ab\x80", 2, 10, 2),
            (b"ab\xe2\x82", 0, 10, 2),
            (b"ab\xe2\x82", 0, 3, 2),
            (b"ab\xe2\x82(c", 0, 3, 2),
            (b"\xc0\xaf", 0, 1, 0),
            (b"\xed\xa0\x80", 0, 1, 0),
            (b"\xf4\x90\x80\x80", 0, 1, 0),
            (b"\xe2\x82\x82\x82", 3, 1, 3),
        ] {
            let arguments = json!({"relative_path": "file", "offset": offset, "max_bytes": max_bytes});
            let problem = problem(&sandbox(content).tool, &arguments, Code::UnsupportedContent, PATH);
            assert_eq!(
                problem["detail"],
                format!("'file' is not UTF-8 text at byte {place}; read it with encoding 'base64'.")
            );
        }
        // What is wrong behind the page is the next page's matter.
        check(b"ab\xff", &json!({"max_bytes": 2}), ("ab", 2, Some(2)));
        check(b"ab\xe2\x82", &json!({"max_bytes": 2}), ("ab", 2, Some(2)));
    }

    #[test]
    fn an_offset_inside_a_character_is_an_argument_that_is_wrong() {
        #[track_caller]
        fn refused(content: &str, offsets: std::ops::Range<u64>) {
            let sandbox = sandbox(content);
            for (offset, max_bytes) in offsets.flat_map(|offset| [(offset, 1), (offset, 100)]) {
                let arguments = json!({"relative_path": "file", "offset": offset, "max_bytes": max_bytes});
                problem(&sandbox.tool, &arguments, Code::Validation, "offset");
            }
        }
        refused("é", 1..2);
        refused("aé", 2..3);
        refused("a€b", 2..4);
        refused("a\u{1f600}b", 2..5);
    }

    #[test]
    fn pages_put_together_are_the_file() {
        let content = "aé€\u{1f600}\n".repeat(40_000);
        let sandbox = sandbox(&content);
        for max_bytes in [65_535, 65_536, 65_537, 100_003] {
            let (mut text, mut offset) = (String::new(), json!(0));
            while !offset.is_null() {
                let arguments = json!({"relative_path": "file", "offset": offset, "max_bytes": max_bytes});
                let page = answer(&sandbox.tool, &arguments);
                text.push_str(page["content"].as_str().unwrap());
                offset = page["next_offset"].clone();
            }
            assert!(text == content, "pages of {max_bytes}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn pages_of_any_text_and_size_are_the_file(content in "\\PC{0,40}", max_bytes in 1..9_u64) {
            let sandbox = sandbox(&content);
            let (mut text, mut offset) = (String::new(), json!(0));
            while !offset.is_null() {
                let arguments = json!({"relative_path": "file", "offset": offset, "max_bytes": max_bytes});
                let page = answer(&sandbox.tool, &arguments);
                prop_assert!(page["bytes_read"].as_u64().unwrap() <= max_bytes.max(4));
                text.push_str(page["content"].as_str().unwrap());
                offset = page["next_offset"].clone();
            }
            prop_assert_eq!(text, content);
        }

        #[test]
        fn any_bytes_are_a_page_or_a_refusal(content: Vec<u8>, offset in 0..100_u64, max_bytes in 1..100_u64) {
            let sandbox = sandbox(&content);
            let arguments = json!({"relative_path": "file", "offset": offset, "max_bytes": max_bytes});
            let start = usize::try_from(offset).unwrap().min(content.len());
            match run(&sandbox.tool, &arguments, Interrupt::default()) {
                Ok(page) => {
                    let text = page["content"].as_str().unwrap().as_bytes();
                    prop_assert!(content[start..].starts_with(text));
                    prop_assert_eq!(text.is_empty(), start == content.len());
                }
                Err(Failure::Problem(_)) => prop_assert!(std::str::from_utf8(&content[start..]).is_err()),
                Err(failure) => panic!("{failure}"),
            }
        }
    }

    #[test]
    fn a_page_that_would_make_a_line_too_long_is_cut_earlier() {
        // `run` checks the length of the line.
        for unit in ["\0", "é", "\"", "a"] {
            let content = unit.repeat(2_097_152 / unit.len());
            let sandbox = sandbox(&content);
            let page = answer(&sandbox.tool, &json!({"relative_path": "file", "max_bytes": 2_097_152}));
            let text = page["content"].as_str().unwrap();
            assert!(content.starts_with(text) && text.len() > 600_000, "{unit:?}: {}", text.len());
            assert_eq!(page["truncated"], text.len() < content.len());
            if text.len() < content.len() {
                assert_eq!(page["next_offset"], text.len());
            }
            assert_eq!(text.len() == content.len(), unit == "a", "{unit:?}: {}", text.len());
        }
        let bytes = vec![0; 2_097_152];
        let page = answer(
            &sandbox(&bytes).tool,
            &json!({"relative_path": "file", "max_bytes": 2_097_152, "encoding": "base64"}),
        );
        assert_eq!(page["next_offset"], Value::Null);
    }

    #[test]
    fn the_longest_path_is_echoed_within_the_room_that_was_announced() {
        let sandbox = sandbox("");
        let name = "\u{1f600}".repeat(60);
        let path = [name.as_str(); 4].join("/");
        fs::create_dir_all(sandbox.directory.path().join(&path)).unwrap();
        let file = format!("{path}/{}file", "./".repeat(380));
        fs::write(sandbox.directory.path().join(&path).join("file"), "x").unwrap();
        assert_eq!(
            answer(&sandbox.tool, &json!({"relative_path": file, "max_bytes": 1}))["relative_path"],
            file
        );
    }

    #[test]
    fn a_refusal_says_what_to_change_and_nothing_of_the_host() {
        let sandbox = sandbox("x");
        fs::create_dir(sandbox.directory.path().join("dir")).unwrap();
        symlink("/etc/passwd", sandbox.directory.path().join("link")).unwrap();
        for (path, code, detail) in [
            ("missing", Code::NotFound, "There is no 'missing' in the data directory."),
            ("file/x", Code::NotFound, "There is no 'file/x' in the data directory."),
            (
                "dir",
                Code::AccessDenied,
                "'dir' is not a regular file; a directory is listed with sandbox_fs_list.",
            ),
            ("link", Code::AccessDenied, "The path 'link' leads outside the data directory."),
            ("../x", Code::AccessDenied, "The path '../x' leads outside the data directory."),
            ("/x", Code::AccessDenied, "The path '/x' is absolute; give it relative to the data directory."),
        ] {
            let problem = problem(&sandbox.tool, &json!({"relative_path": path}), code, PATH);
            assert_eq!(problem["detail"], detail);
        }
        for (arguments, parameter) in [
            (json!({}), PATH),
            (json!({"relative_path": ""}), PATH),
            (json!({"relative_path": "a".repeat(1025)}), PATH),
            (json!({"relative_path": "file", "max_bytes": 0}), "max_bytes"),
            (json!({"relative_path": "file", "max_bytes": 2_097_153}), "max_bytes"),
            (json!({"relative_path": "file", "offset": -1}), "offset"),
            (json!({"relative_path": "file", "encoding": "latin-1"}), "encoding"),
            (json!({"relative_path": "file", "mode": "w"}), "mode"),
        ] {
            problem(&sandbox.tool, &arguments, Code::Validation, parameter);
        }
    }

    #[test]
    fn outside_paths_get_the_same_answer_whether_something_is_there_or_not() {
        let sandbox = sandbox("x");
        let at = |name: &str| sandbox.directory.path().join(name);
        let told = |path: &str| {
            let problem = problem(&sandbox.tool, &json!({"relative_path": path}), Code::AccessDenied, PATH);
            problem.to_string().replace(path, "PATH")
        };
        let there = ["/etc/passwd", "/etc", "/dev/null", "/proc/self/environ", "/root", "/tmp"];
        let missing = ["/etc/passwdx", "/nonexistent", "/dev/nul", "/proc/self/environx", "/roo", "/tmp/a/b"];
        let up = "../".repeat(20);
        for (there, missing) in there.into_iter().zip(missing) {
            assert_eq!(told(there), told(missing));
            assert_eq!(told(&format!("{up}{there}")), told(&format!("{up}{missing}")));
            symlink(there, at("there")).unwrap();
            symlink(missing, at("missing")).unwrap();
            assert_eq!(told("there"), told("missing"));
            assert_eq!(told("there/x"), told("missing/x"));
            fs::remove_file(at("there")).unwrap();
            fs::remove_file(at("missing")).unwrap();
        }
    }

    #[test]
    fn files_whose_size_is_not_their_content_are_read_as_they_are() {
        let proc = SandboxFsRead::new(Arc::new(Root::open(Path::new("/proc/self")).unwrap()), 1_048_576);
        let page = answer(&proc, &json!({"relative_path": "status", "max_bytes": 10}));
        assert_eq!(
            (&page["bytes_read"], &page["size_bytes"], &page["next_offset"]),
            (&json!(10), &json!(10), &json!(10))
        );
        assert_eq!(answer(&proc, &json!({"relative_path": "status"}))["next_offset"], Value::Null);

        let sparse = sandbox("x");
        let file = fs::OpenOptions::new().write(true).open(sparse.directory.path().join("file")).unwrap();
        file.set_len(1 << 40).unwrap();
        let end = (1_u64 << 40) - 2;
        let page =
            answer(&sparse.tool, &json!({"relative_path": "file", "offset": end, "encoding": "base64"}));
        assert_eq!((&page["content"], &page["next_offset"]), (&json!("AAA="), &Value::Null));
        let page = answer(&sparse.tool, &json!({"relative_path": "file", "offset": 1, "max_bytes": 2}));
        assert_eq!((&page["content"], &page["size_bytes"]), (&json!("\0\0"), &json!(1_u64 << 40)));
    }

    #[test]
    fn a_file_that_grows_shrinks_or_is_replaced_is_read_as_it_was_opened() {
        let sandbox = sandbox("hello");
        let path = sandbox.directory.path().join("file");
        let root = Root::open(sandbox.directory.path()).unwrap();
        let interrupt = Interrupt::default();
        let open = || root.open_file(&parse_path("file").unwrap(), &interrupt).unwrap();
        let request = |offset| Arguments {
            relative_path: "file".to_owned(),
            offset,
            max_bytes: 10,
            encoding: Encoding::Utf8,
        };
        let read = |file: &File, offset| {
            let page = Page::read(file, &request(offset), &interrupt).unwrap();
            let answer = page.write(file, &request(offset)).unwrap();
            let body: Value = serde_json::from_slice(&answer.body.to_vec()).unwrap();
            (body["content"].as_str().unwrap().to_owned(), body["size_bytes"].as_u64().unwrap())
        };
        let file = open();
        fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b" you").unwrap();
        assert_eq!(read(&file, 0), ("hello you".to_owned(), 9), "grown");
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(2).unwrap();
        assert_eq!(read(&file, 0), ("he".to_owned(), 2), "shrunk");
        assert_eq!(read(&file, 5), (String::new(), 2), "shrunk to before the offset");
        fs::write(sandbox.directory.path().join("other"), "other").unwrap();
        fs::rename(sandbox.directory.path().join("other"), &path).unwrap();
        assert_eq!(read(&file, 0), ("he".to_owned(), 2), "replaced");
        assert_eq!(read(&open(), 0), ("other".to_owned(), 5), "opened again");
    }

    #[test]
    fn a_read_ends_when_the_call_is_told_to_stop() {
        let interrupt = Interrupt::default();
        assert!(interrupt.set().is_none());
        let outcome = run(&sandbox("x").tool, &json!({"relative_path": "file"}), interrupt);
        assert!(matches!(outcome, Err(Failure::Interrupted(_))));
    }

    #[test]
    fn the_ceiling_is_in_the_schema() {
        let root = Arc::new(Root::open(Path::new("/")).unwrap());
        let tool = SandboxFsRead::new(root, 100);
        let max_bytes = &tool.spec().input_schema["properties"]["max_bytes"];
        assert_eq!(
            (&max_bytes["minimum"], &max_bytes["maximum"], &max_bytes["default"]),
            (&json!(1), &json!(100), &json!(100))
        );
    }
}
