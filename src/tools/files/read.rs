//! `sandbox_fs_read`: a page of one file, as text that is never cut inside a character, or as base64.

use std::{borrow::Cow, fs::File, io, os::unix::fs::FileExt as _, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    PATH, parse_path, refusal,
    root::{Root, WalkError},
};
use crate::{
    call::Interrupt,
    problem::{Code, Problem, echo},
    protocol::tool::{Effect, ToolName, ToolSpec},
    tools::{
        Answer, Failure, Lane, Prepared, Tool,
        arguments::{self, schema_of, with_maximum},
    },
    wire::ascii::{AsciiWriter, string_cost},
};

/// Bytes asked of the file at a time; the interrupt is looked at in between.
const CHUNK: usize = 64 * 1024;
/// Bytes read behind the page: three to end its last character, one to know whether more follows.
const LOOKAHEAD: usize = 4;
/// The longest line we write, less room for the envelope around the body (CONTRACT section 7: no line over 8 MiB).
const MAX_LINE_BYTES: usize = 8 * 1024 * 1024 - 4096;
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

/// The most bytes an answer to `request` can take.
fn max_body_bytes(request: &Arguments) -> usize {
    let content = match request.encoding {
        // At worst six bytes for one of the file, and never more than six parts of the thirteen a line has for both copies.
        Encoding::Utf8 => {
            max_bytes(request).saturating_add(LOOKAHEAD).saturating_mul(6).min(MAX_LINE_BYTES / 2)
        }
        Encoding::Base64 => max_bytes(request).div_ceil(3).saturating_mul(4),
    };
    content.saturating_add(string_cost(&request.relative_path)).saturating_add(MEMBERS_BYTES)
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
        let mut bytes = Vec::with_capacity(wanted.min(expected.saturating_add(1)));
        while bytes.len() < wanted {
            interrupt.check()?;
            let filled = bytes.len();
            bytes.resize(wanted.min(filled + CHUNK), 0);
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
                let budget = MAX_LINE_BYTES - 2 * MEMBERS_BYTES - line_cost(request.relative_path.as_bytes());
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
    match error.kind() {
        io::ErrorKind::PermissionDenied => refusal(WalkError::Unreadable, &request.relative_path),
        _ => Failure::Internal(format!("a file could not be read: {error}")),
    }
}

/// Why the page, whose byte at `bad` is no UTF-8, cannot be text.
fn not_text(file: &File, request: &Arguments, bad: usize) -> Failure {
    let position = request.offset.saturating_add(bad as u64);
    if bad == 0 && is_inside_character(file, position) {
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

/// The longest beginning of `text` whose two copies in a line, the body's and the escaped one, fit `budget`.
fn fitting(text: &str, budget: usize) -> &str {
    // No byte costs more than a control character.
    if text.len().saturating_mul(13) <= budget {
        return text;
    }
    let mut left = budget;
    let mut end = 0;
    for chunk in text.as_bytes().chunks(CHUNK) {
        let cost = line_cost(chunk);
        if cost > left {
            // Counted by bytes: the character that does not fit ends at a boundary all the same.
            end += chunk.iter().take_while(|byte| spend(&mut left, line_cost(&[**byte]))).count();
            break;
        }
        left -= cost;
        end += chunk.len();
    }
    text.get(..text.floor_char_boundary(end)).unwrap_or_default()
}

fn spend(left: &mut usize, cost: usize) -> bool {
    left.checked_sub(cost).map(|rest| *left = rest).is_some()
}

/// The most bytes that `text` (UTF-8) takes in a line: once in the body, and once more in the text block, where the
/// quotes and backslashes of the first copy are escaped again.
fn line_cost(text: &[u8]) -> usize {
    text.iter()
        .map(|byte| match byte {
            // `"`: `\"` and `\\\"`.
            b'"' | b'\\' => 6,
            b' '..=b'~' => 2,
            // `\n` and `\\n`.
            b'\n' | b'\r' | b'\t' => 5,
            // `\u0000` and `\\u0000`.
            0..=0x1f | 0x7f => 13,
            // Counted at the byte that leads the character; two surrogates for the longest.
            0x80..=0xbf => 0,
            0xc0..=0xef => 13,
            0xf0..=0xff => 26,
        })
        .sum()
}
