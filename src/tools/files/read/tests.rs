use super::super::refusal::{PATH, parse_path};
use super::super::root::Root;
use super::SandboxFsRead;
use super::page::Page;
use crate::call::{Failure, Interrupt};
use crate::problem::Code;
use crate::tools::Tool as _;
use crate::tools::testing::{answer, problem, run};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

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
    for offset in
        [5, 6, 1 << 40, (1 << 53) + 1, i64::MAX as u64 - 1, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX]
    {
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
fn bytes_that_are_not_text_are_refused_with_their_place() {
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
    // A fault behind the page is found by the next page.
    check(b"ab\xff", &json!({"max_bytes": 2}), ("ab", 2, Some(2)));
    check(b"ab\xe2\x82", &json!({"max_bytes": 2}), ("ab", 2, Some(2)));
}

#[test]
fn an_offset_inside_a_character_is_a_wrong_argument() {
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
fn the_longest_path_fits_the_announced_bound() {
    let sandbox = sandbox("");
    let name = "\u{1f600}".repeat(60);
    let path = [name.as_str(); 4].join("/");
    fs::create_dir_all(sandbox.directory.path().join(&path)).unwrap();
    let file = format!("{path}/{}file", "./".repeat(380));
    fs::write(sandbox.directory.path().join(&path).join("file"), "x").unwrap();
    assert_eq!(answer(&sandbox.tool, &json!({"relative_path": file, "max_bytes": 1}))["relative_path"], file);
}

#[test]
fn a_refusal_names_the_cure_and_nothing_of_the_host() {
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
fn outside_paths_get_the_same_answer_whether_they_exist_or_not() {
    let sandbox = sandbox("x");
    let at = |name: &str| sandbox.directory.path().join(name);
    let answered = |path: &str| {
        let problem = problem(&sandbox.tool, &json!({"relative_path": path}), Code::AccessDenied, PATH);
        problem.to_string().replace(path, "PATH")
    };
    let there = ["/etc/passwd", "/etc", "/dev/null", "/proc/self/environ", "/root", "/tmp"];
    let missing = ["/etc/passwdx", "/nonexistent", "/dev/nul", "/proc/self/environx", "/roo", "/tmp/a/b"];
    let up = "../".repeat(20);
    for (there, missing) in there.into_iter().zip(missing) {
        assert_eq!(answered(there), answered(missing));
        assert_eq!(answered(&format!("{up}{there}")), answered(&format!("{up}{missing}")));
        symlink(there, at("there")).unwrap();
        symlink(missing, at("missing")).unwrap();
        assert_eq!(answered("there"), answered("missing"));
        assert_eq!(answered("there/x"), answered("missing/x"));
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
    let page = answer(&sparse.tool, &json!({"relative_path": "file", "offset": end, "encoding": "base64"}));
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
    let read = |file: &File, offset| {
        let page = Page::read(file, offset, 10, &interrupt).unwrap();
        (page.text(10).unwrap().to_owned(), page.size)
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
fn a_read_ends_when_the_call_is_interrupted() {
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
