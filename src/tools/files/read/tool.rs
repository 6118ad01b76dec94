//! The tool: arguments, bounds, and the answer around a page.

use std::fs::File;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::line::{MAX_LINE_BYTES, fitting, line_cost};
use super::super::refusal::{PATH, parse_path, refusal, refusal_of_walk};
use super::super::root::Root;
use super::page::{LOOKAHEAD, Page, is_inside_character};
use crate::call::{Answer, Call, Failure};
use crate::governance::Permit;
use crate::problem::{Code, Problem, echo};
use crate::tools::{Bound, CheckedSpec, TypedTool};
use crate::wire::ascii::{AsciiWriter, string_cost};

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
pub(crate) struct Arguments {
    /// Relative to the data directory, such as reports/2026.csv.
    #[schemars(length(min = 1, max = 1024))]
    relative_path: String,
    /// Byte to start at.
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

/// The shape of the answer; `answer` writes it.
#[derive(Serialize, JsonSchema)]
struct Output {
    relative_path: String,
    encoding: Encoding,
    /// The page: text, or base64 with padding.
    content: String,
    offset: u64,
    bytes_read: u64,
    size_bytes: u64,
    truncated: bool,
    /// Null at the end.
    next_offset: Option<u64>,
}

/// Reads files beneath the data directory.
#[derive(Debug)]
pub struct SandboxFsRead {
    root: Arc<Root>,
    spec: CheckedSpec,
}

impl SandboxFsRead {
    /// Reads beneath `root`, at most `max_bytes_ceiling` bytes a call (`MCP_FS_MAX_BYTES`).
    pub fn new(root: Arc<Root>, max_bytes_ceiling: u64) -> Self {
        let description = format!(
            "Reads one file of the data directory, at most {max_bytes_ceiling} bytes a call. To read on, pass next_offset \
                 as offset until it is null. Text must be UTF-8; read other files as base64. sandbox_fs_list shows what is \
                 there."
        );
        let spec = CheckedSpec::of::<Arguments, Output>("sandbox_fs_read", "Read a file", description)
            .with_maximum("max_bytes", max_bytes_ceiling);
        Self { root, spec }
    }
}

impl TypedTool for SandboxFsRead {
    type Arguments = Arguments;

    fn spec(&self) -> &CheckedSpec {
        &self.spec
    }

    fn bind(&self, request: Arguments) -> Result<Bound<'_>, Problem> {
        let path = parse_path(&request.relative_path)?;
        let max_body_bytes = max_body_bytes(&request);
        let run = move |_: Permit, call: &Call| {
            let interrupt = call.interrupt();
            let refused = |error| refusal(error, &request.relative_path);
            let opened = self.root.open_file(&path, interrupt);
            let file = opened.map_err(|error| {
                refusal_of_walk(error, &self.root, &path, &request.relative_path, interrupt)
            })?;
            let page = Page::read(&file, request.offset, max_bytes(&request), interrupt).map_err(refused)?;
            answer(&page, &file, &request)
        };
        Ok((max_body_bytes, Box::new(run)))
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

/// Writes the answer: the page as far as a line can hold it.
fn answer(page: &Page, file: &File, request: &Arguments) -> Result<Answer, Failure> {
    let mut body = AsciiWriter::default();
    body.raw("{\"relative_path\":").string(&request.relative_path);
    body.raw(",\"encoding\":").value(&request.encoding).raw(",\"content\":");
    let taken = match request.encoding {
        Encoding::Base64 => {
            let bytes = page.bytes.get(..max_bytes(request)).unwrap_or(&page.bytes);
            body.base64(bytes);
            bytes.len()
        }
        Encoding::Utf8 => {
            let budget = MAX_LINE_BYTES - 2 * MEMBERS_BYTES - line_cost(&request.relative_path);
            let text = page.text(max_bytes(request)).map_err(|bad| not_text(file, request, bad))?;
            let text = fitting(text, budget);
            body.string(text);
            text.len()
        }
    };
    let end = request.offset.saturating_add(taken as u64);
    let next = (taken < page.bytes.len()).then_some(end);
    let seen = if taken > 0 { end } else { 0 };
    body.raw(",\"offset\":").value(&request.offset);
    body.raw(",\"bytes_read\":").value(&taken);
    body.raw(",\"size_bytes\":").value(&page.size.max(seen));
    body.raw(",\"truncated\":").value(&next.is_some());
    body.raw(",\"next_offset\":").value(&next).raw("}");
    Ok(body.finish().into())
}

fn max_bytes(request: &Arguments) -> usize {
    usize::try_from(request.max_bytes).unwrap_or(usize::MAX)
}

/// Refuses a page, whose byte at `bad` is not UTF-8, as text.
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
