//! Attacks on the data directory, through the real binary. `src/tools/files/root.rs` has the long tables; here is what
//! a client sees of them.

use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
};

use nix::{sys::stat::Mode, unistd::mkfifo};
use serde_json::json;

use crate::support::{Client, problem};

/// A data directory in hostile surroundings.
fn data_directory() -> tempfile::TempDir {
    let base = tempfile::tempdir().unwrap();
    let at = |path: &str| base.path().join(path);
    fs::create_dir_all(at("data/dir/sub")).unwrap();
    for (path, content) in [("data/file", "inside"), ("data/dir/file", "inside"), ("secret", "canary")] {
        fs::write(at(path), content).unwrap();
    }
    fs::create_dir(at("data2")).unwrap();
    fs::write(at("data2/secret"), "canary").unwrap();
    mkfifo(&at("data/fifo"), Mode::S_IRWXU).unwrap();
    drop(UnixListener::bind(at("data/socket")).unwrap());
    for (target, name) in [
        ("file", "to-file"),
        ("../secret", "to-secret"),
        ("../missing", "to-missing"),
        ("../data/file", "out-and-in"),
        ("/etc/passwd", "to-passwd"),
        ("/proc/self/environ", "to-environ"),
        ("/proc/self/root", "to-root"),
        ("/proc/self/fd/0", "to-stdin"),
        ("loop", "loop"),
        ("dangling-target", "dangling"),
    ] {
        symlink(target, at("data").join(name)).unwrap();
    }
    symlink(at("data/dir/file"), at("data/to-absolute")).unwrap();
    symlink(at("data2/secret"), at("data/to-sibling")).unwrap();
    base
}

fn client(base: &tempfile::TempDir) -> Client {
    let data = base.path().join("data");
    Client::initialized(&[("MCP_SAFE_DATA_DIR", data.to_str().unwrap())], "2025-11-25")
}

/// What reading and listing `path` bring: the content, or the problem's code.
fn outcomes(client: &mut Client, path: &str) -> [String; 2] {
    ["sandbox_fs_read", "sandbox_fs_list"].map(|tool| {
        let result = client.use_tool(tool, json!({"relative_path": path}));
        if result["isError"] == false {
            let content = &result["structuredContent"];
            return content["content"].as_str().unwrap_or("entries").to_owned();
        }
        problem(&result)["code"].as_str().unwrap().to_owned()
    })
}

#[test]
fn nothing_outside_is_read_or_listed() {
    const DENIED: &str = "MCP_ACCESS_DENIED";
    const MISSING: &str = "MCP_NOT_FOUND";
    const INVALID: &str = "MCP_VALIDATION_ERROR";
    let base = data_directory();
    let mut client = client(&base);
    let absolute = base.path().join("data/file");
    for (path, read, list) in [
        ("file", "inside", MISSING),
        ("./dir//file", "inside", MISSING),
        ("dir/sub/../file", "inside", MISSING),
        ("to-file", "inside", MISSING),
        ("to-absolute", "inside", MISSING),
        (".", DENIED, "entries"),
        ("dir/", DENIED, "entries"),
        ("dir/..", DENIED, "entries"),
        ("missing", MISSING, MISSING),
        ("file/", MISSING, MISSING),
        ("file/..", MISSING, MISSING),
        ("dangling", MISSING, MISSING),
        ("fifo", DENIED, MISSING),
        ("socket", DENIED, MISSING),
        ("..", DENIED, DENIED),
        ("../secret", DENIED, DENIED),
        ("../data/file", DENIED, DENIED),
        ("dir/../../secret", DENIED, DENIED),
        ("missing/../../secret", DENIED, DENIED),
        ("/etc/passwd", DENIED, DENIED),
        ("/nonexistent", DENIED, DENIED),
        ("//", DENIED, DENIED),
        (absolute.to_str().unwrap(), DENIED, DENIED),
        ("to-secret", DENIED, DENIED),
        ("to-missing", DENIED, DENIED),
        ("out-and-in", DENIED, DENIED),
        ("to-passwd", DENIED, DENIED),
        ("to-environ", DENIED, DENIED),
        ("to-root/etc/passwd", DENIED, DENIED),
        ("to-stdin", DENIED, DENIED),
        ("to-sibling", DENIED, DENIED),
        ("loop", DENIED, DENIED),
        ("", INVALID, INVALID),
        ("file\0", INVALID, INVALID),
        ("\u{202e}file", INVALID, INVALID),
        ("file\u{1b}[2J", INVALID, INVALID),
    ] {
        assert_eq!(outcomes(&mut client, path), [read, list], "{path:?}");
    }
    client.end().cleanly();
}

#[test]
fn a_path_outside_is_answered_alike_whether_it_is_there_or_not() {
    let base = data_directory();
    let mut client = client(&base);
    let mut told = |path: &str| {
        let result = client.use_tool("sandbox_fs_read", json!({"relative_path": path}));
        problem(&result).to_string().replace(path, "PATH")
    };
    let expected = told("/etc/passwd");
    let climbing = told("../secret");
    for number in 0..100 {
        assert_eq!(told(&format!("/nonexistent-{number}")), expected);
        assert_eq!(told(&format!("../missing-{number}")), climbing);
    }
    assert_eq!(told("/proc/self/environ"), expected);
    assert_eq!(told("../data2/secret"), climbing);
    assert_eq!(told("to-secret"), told("to-missing"));
    client.end().cleanly();
}

#[test]
fn the_host_is_never_told() {
    let base = data_directory();
    let mut client = client(&base);
    let host = base.path().to_str().unwrap();
    for tool in ["sandbox_fs_read", "sandbox_fs_list"] {
        for path in ["missing", "to-secret", "to-absolute/x", "fifo", "..", "/", ".", "to-sibling", "loop"] {
            let result = client.use_tool(tool, json!({"relative_path": path})).to_string();
            assert!(!result.contains(host) && !result.contains("canary"), "{tool} {path}: {result}");
        }
    }
    client.end().cleanly();
}
