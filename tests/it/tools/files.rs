//! Attacks on the data directory, through the real binary, with both ways to look a name up: `openat2`, and the walk of
//! older kernels.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OpenHow, openat2};
use nix::libc::SYS_openat2;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use serde_json::{Value, json};

use crate::support::{Client, Settings, command, problem};

/// The table, and the tree it is about.
#[path = "../../../src/tools/files/root/attacks.rs"]
mod attacks;
use attacks::{CANARY, Expected, attacks, tree};

const DENIED: &str = "MCP_ACCESS_DENIED";
const MISSING: &str = "MCP_NOT_FOUND";
const INVALID: &str = "MCP_VALIDATION_ERROR";
/// The longest path that the schema takes, in characters.
const MAX_PATH_CHARS: usize = 1_024;

/// The way in which the server looks a name up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Walk {
    Openat2,
    /// There is no `openat2`.
    Plain,
}

impl Walk {
    const BOTH: [Self; 2] = [Self::Openat2, Self::Plain];

    /// Starts a server of the files beneath `data`.
    fn serve(self, data: &Path) -> Client {
        let settings: Settings = &[("MCP_SAFE_DATA_DIR", data.to_str().unwrap())];
        let start = || Client::initialized(settings, "2025-11-25");
        match self {
            Self::Openat2 => start(),
            // A filter holds for the thread that installs it, and for what this thread starts.
            Self::Plain => thread::scope(|scope| {
                let filtered = || {
                    take_openat2_away();
                    start()
                };
                thread::Builder::new().spawn_scoped(scope, filtered).unwrap().join().unwrap()
            }),
        }
    }
}

fn take_openat2_away() {
    let (others, this) = (SeccompAction::Allow, SeccompAction::Errno(Errno::ENOSYS as u32));
    let rules = BTreeMap::from([(SYS_openat2, Vec::new())]);
    let filter = SeccompFilter::new(rules, others, this, std::env::consts::ARCH.try_into().unwrap()).unwrap();
    seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
    assert_eq!(openat2(AT_FDCWD, ".", OpenHow::new()).map(drop), Err(Errno::ENOSYS));
}

fn read(client: &mut Client, path: &str) -> Value {
    client.use_tool("sandbox_fs_read", json!({"relative_path": path}))
}

/// Returns the content, or the problem's code and its detail without the path.
fn outcome(result: &Value, path: &str) -> (String, String) {
    if result["isError"] == false {
        return (
            result["structuredContent"]["content"].as_str().unwrap_or("entries").to_owned(),
            String::new(),
        );
    }
    let problem = problem(result);
    let detail = problem["detail"].as_str().unwrap().replace(path, "");
    (problem["code"].as_str().unwrap().to_owned(), detail)
}

/// Returns the expected outcome of reading such a path.
fn expected_of(path: &str, expected: Expected) -> (&'static str, &'static str) {
    if path.is_empty() || path.contains('\0') || path.chars().count() > MAX_PATH_CHARS {
        return (INVALID, "");
    }
    match expected {
        Expected::Content(content) => (content, ""),
        Expected::Unseen if path.starts_with('/') => (DENIED, "is absolute"),
        Expected::Unseen | Expected::Outside => (DENIED, "leads outside the data directory"),
        Expected::TooManyLinks => (DENIED, "runs through too many symbolic links"),
        Expected::Missing => (MISSING, "in the data directory"),
        Expected::NotRegular => (DENIED, "is not a regular file"),
    }
}

#[test]
fn every_path_of_the_table_has_its_outcome_on_both_walks() {
    let base = tree();
    for walk in Walk::BOTH {
        let mut client = walk.serve(&base.path().join("root"));
        for (path, expected) in attacks() {
            let (found, detail) = outcome(&read(&mut client, &path), &path);
            let (code, clue) = expected_of(&path, expected);
            assert_eq!(found, code, "{path:?} by {walk:?}: {detail}");
            assert!(detail.contains(clue), "{path:?} by {walk:?}: {detail}");

            let result = client.use_tool("sandbox_fs_list", json!({"relative_path": path}));
            let (listed, detail) = outcome(&result, &path);
            if clue.is_empty() || clue == "is not a regular file" {
                // The path exists, or the arguments are wrong; a directory has entries.
                assert!([INVALID, MISSING, "entries"].contains(&&*listed), "{path:?}: {listed}");
            } else {
                assert!(listed == code && detail.contains(clue), "{path:?} by {walk:?}: {listed} {detail}");
            }
        }
        client.end().cleanly();
    }
}

#[test]
fn devices_are_refused() {
    for walk in Walk::BOTH {
        let mut client = walk.serve(Path::new("/dev"));
        for path in ["null", "zero", "tty"] {
            assert_eq!(outcome(&read(&mut client, path), path).0, DENIED, "{path} by {walk:?}");
        }
        client.end().cleanly();
    }
}

#[test]
fn a_root_may_be_a_link_and_may_be_renamed_or_replaced_while_it_is_served() {
    for walk in Walk::BOTH {
        let base = tree();
        let at = |path: &str| base.path().join(path);
        symlink("root", at("alias")).unwrap();
        let mut client = walk.serve(&at("alias"));
        let mut check = |path: &str, expected: &str, when: &str| {
            assert_eq!(outcome(&read(&mut client, path), path).0, expected, "{path} {when}, by {walk:?}");
        };
        check("to-absolute", "dir/file", "at first");
        fs::remove_file(at("alias")).unwrap();
        symlink("outside", at("alias")).unwrap();
        check("dir/file", "dir/file", "after its link went elsewhere");
        check("secret", MISSING, "after its link went elsewhere");
        fs::rename(at("root"), at("elsewhere")).unwrap();
        check("dir/file", "dir/file", "after it was renamed");
        symlink("outside", at("root")).unwrap();
        check("dir/file", "dir/file", "after it was replaced");
        check("secret", MISSING, "after it was replaced");
        check("to-secret", DENIED, "after it was replaced");
        check("to-absolute", "dir/file", "by the name it was opened by");
        client.end().cleanly();
    }
}

#[test]
fn an_unreadable_file_is_denied_without_naming_the_host() {
    let base = tree();
    let at = |path: &str| base.path().join("root").join(path);
    let mode = |mode| fs::Permissions::from_mode(mode);
    fs::set_permissions(at("file"), mode(0o000)).unwrap();
    fs::set_permissions(at("dir"), mode(0o000)).unwrap();
    // Root may read everything: without these two capabilities it is an owner like any other.
    let server = command(&[("MCP_SAFE_DATA_DIR", base.path().join("root").to_str().unwrap())]);
    let (program, settings) = (server.get_program().to_owned(), server.get_envs());
    let mut unprivileged = std::process::Command::new("setpriv");
    unprivileged.env_clear().envs(settings.filter_map(|(name, value)| Some((name, value?))));
    if nix::unistd::geteuid().is_root() {
        unprivileged.args(["--bounding-set", "-dac_override,-dac_read_search"]);
    }
    unprivileged.arg(program);
    let mut client = Client::of(unprivileged);
    client.initialize("2025-11-25");
    for (path, expected) in [
        ("file", DENIED),
        ("hard", DENIED),
        ("to-file", DENIED),
        ("dir/file", DENIED),
        ("dir/missing", DENIED),
        ("empty", ""),
    ] {
        let result = read(&mut client, path);
        assert_eq!(outcome(&result, path).0, expected, "{path}");
        assert!(!result.to_string().contains(base.path().to_str().unwrap()), "{result}");
    }
    let listing = client.use_tool("sandbox_fs_list", json!({"relative_path": "dir"}));
    assert_eq!(outcome(&listing, "dir").0, DENIED);
    client.end().cleanly();
    fs::set_permissions(at("dir"), mode(0o755)).unwrap();
}

/// `expected`: content and `next_offset`, or a code and null.
#[track_caller]
fn check_content(client: &mut Client, arguments: &Value, expected: (&str, Option<u64>)) {
    let result = client.use_tool("sandbox_fs_read", arguments.clone());
    let next = result["structuredContent"]["next_offset"].as_u64();
    assert_eq!((&*outcome(&result, "file").0, next), expected, "{arguments}");
}

#[test]
fn files_of_every_kind_are_read_or_refused_by_their_content() {
    const BINARY: &str = "MCP_UNSUPPORTED_CONTENT";
    let data = tempfile::tempdir().unwrap();
    let contents: [(&str, &[u8]); 7] = [
        ("empty", b""),
        ("bom", b"\xef\xbb\xbfhello"),
        ("utf-16", b"\xff\xfeh\0i\0"),
        ("euro", "ab€cd".as_bytes()),
        ("lone", b"ab\x82cd"),
        ("cut", b"ab\xe2\x82"),
        ("five", b"hello"),
    ];
    for (name, content) in contents {
        fs::write(data.path().join(name), content).unwrap();
    }
    File::create(data.path().join("sparse")).unwrap().set_len(1 << 40).unwrap();
    let mut client = Walk::Openat2.serve(data.path());
    for (name, more, expected) in [
        ("empty", json!({}), ("", None)),
        ("empty", json!({"offset": 1}), ("", None)),
        ("bom", json!({}), ("\u{feff}hello", None)),
        ("bom", json!({"offset": 3}), ("hello", None)),
        ("bom", json!({"offset": 1}), (INVALID, None)),
        ("utf-16", json!({}), (BINARY, None)),
        ("utf-16", json!({"encoding": "base64"}), ("//5oAGkA", None)),
        ("euro", json!({"max_bytes": 3}), ("ab", Some(2))),
        ("euro", json!({"max_bytes": 4}), ("ab", Some(2))),
        ("euro", json!({"max_bytes": 5}), ("ab€", Some(5))),
        ("euro", json!({"offset": 2, "max_bytes": 1}), ("€", Some(5))),
        ("euro", json!({"offset": 4}), (INVALID, None)),
        ("lone", json!({"max_bytes": 2}), ("ab", Some(2))),
        ("lone", json!({"max_bytes": 3}), (BINARY, None)),
        ("lone", json!({"offset": 2}), (BINARY, None)),
        ("cut", json!({"max_bytes": 2}), ("ab", Some(2))),
        ("cut", json!({}), (BINARY, None)),
        ("five", json!({"offset": 4}), ("o", None)),
        ("five", json!({"offset": 5}), ("", None)),
        ("five", json!({"offset": 6}), ("", None)),
        ("five", json!({"offset": (1_u64 << 53) + 1}), ("", None)),
        ("five", json!({"offset": u64::MAX}), ("", None)),
        ("five", json!({"offset": -1}), (INVALID, None)),
        ("sparse", json!({"offset": (1_u64 << 40) - 1}), ("\0", None)),
        ("sparse", json!({"offset": 1_u64 << 40}), ("", None)),
        ("sparse", json!({"offset": 1, "max_bytes": 2, "encoding": "base64"}), ("AAA=", Some(3))),
    ] {
        let mut arguments = json!({"relative_path": name});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        check_content(&mut client, &arguments, expected);
    }
    client.end().cleanly();
}

/// Each answer comes from one of the files that had the name, and has the length that it gives.
#[test]
fn a_file_that_grows_shrinks_or_is_replaced_while_it_is_read_is_never_mixed_up() {
    const BYTES: usize = 300_000;
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("file");
    fs::write(&file, "a".repeat(BYTES)).unwrap();
    let mut client = Walk::Openat2.serve(data.path());
    let stop = AtomicBool::new(false);
    let change = || {
        let mut changes = 0;
        while !stop.load(Relaxed) {
            let mut same = OpenOptions::new().write(true).open(&file).unwrap();
            same.set_len(100).unwrap();
            same.write_all("a".repeat(BYTES).as_bytes()).unwrap();
            fs::write(data.path().join("other"), "b".repeat(BYTES / 2)).unwrap();
            fs::rename(data.path().join("other"), &file).unwrap();
            fs::write(data.path().join("other"), "a".repeat(BYTES)).unwrap();
            fs::rename(data.path().join("other"), &file).unwrap();
            changes += 1;
        }
        changes
    };
    thread::scope(|scope| {
        let changer = thread::Builder::new().spawn_scoped(scope, change).unwrap();
        for _ in 0..100 {
            let arguments = json!({"relative_path": "file", "max_bytes": BYTES});
            let page = client.use_tool("sandbox_fs_read", arguments)["structuredContent"].take();
            let content = page["content"].as_str().unwrap();
            assert!(["a", "b"].iter().any(|one| content.split(one).all(str::is_empty)), "mixed");
            assert_eq!(page["bytes_read"], content.len());
        }
        stop.store(true, Relaxed);
        assert!(changer.join().unwrap() > 1);
    });
    client.end().cleanly();
}

#[test]
fn names_that_would_control_a_terminal_are_listed_escaped() {
    let data = tempfile::tempdir().unwrap();
    let names: [&[u8]; 6] =
        [b"\x1b[2Jwiped", b"a\nb", b"back\\slash", "\u{202e}txt".as_bytes(), b"\xff\xfe", &[b'n'; 255]];
    for name in names {
        fs::write(data.path().join(std::ffi::OsStr::from_bytes(name)), "").unwrap();
    }
    let mut client = Walk::Openat2.serve(data.path());
    let page = client.use_tool("sandbox_fs_list", json!({}))["structuredContent"].take();
    let shown = |entry: &Value| (entry["name"].as_str().unwrap().to_owned(), entry["readable"] == true);
    let entries: Vec<(String, bool)> = page["entries"].as_array().unwrap().iter().map(shown).collect();
    let long = "n".repeat(255);
    let expected = [
        (r"\x1b[2Jwiped", false),
        (r"a\x0ab", false),
        (r"back\x5cslash", false),
        (&long, true),
        (r"\xe2\x80\xaetxt", false),
        (r"\xff\xfe", false),
    ];
    assert_eq!(entries, expected.map(|(name, readable)| (name.to_owned(), readable)));
    client.end().cleanly();
}

/// Tries two hundred paths outside: in each pair one exists and one does not.
#[test]
fn a_path_outside_gets_the_same_answer_whether_or_not_it_exists() {
    let base = tree();
    let existing = ["/etc/passwd", "/etc", "/proc/self/environ", "/dev/null", "/tmp"].map(str::to_owned);
    let outside = (0..95).map(|number| {
        let path = base.path().join("outside").join(number.to_string());
        fs::write(&path, CANARY).unwrap();
        path.to_str().unwrap().to_owned()
    });
    let pairs: Vec<[String; 2]> =
        existing.into_iter().chain(outside).map(|there| [there.clone(), there + "-missing"]).collect();
    assert_eq!(pairs.iter().flatten().count(), 200);
    for walk in Walk::BOTH {
        let mut client = walk.serve(&base.path().join("root"));
        let mut answers = Vec::new();
        for (index, path) in pairs.iter().flatten().enumerate() {
            assert_eq!(Path::new(path).exists(), index % 2 == 0, "{path}");
            let link = base.path().join("root/way-out");
            symlink(path, &link).unwrap();
            let climbing = format!("../..{path}");
            let mut problem_of = |tool: &str, asked: &str| {
                let result = client.use_tool(tool, json!({"relative_path": asked}));
                problem(&result).to_string().replace(asked, "PATH")
            };
            answers.push(["sandbox_fs_read", "sandbox_fs_list"].map(|tool| {
                [path.as_str(), &climbing, "way-out", "way-out/x"].map(|asked| problem_of(tool, asked))
            }));
            fs::remove_file(&link).unwrap();
        }
        let first = &answers[0];
        assert!(answers.iter().all(|answer| answer == first), "{walk:?}: {answers:?}");
        client.end().cleanly();
    }
}

#[test]
fn the_host_is_never_named() {
    let base = tree();
    let mut client = Walk::Openat2.serve(&base.path().join("root"));
    let host = base.path().to_str().unwrap();
    for tool in ["sandbox_fs_read", "sandbox_fs_list"] {
        for (path, _) in attacks() {
            let result = client.use_tool(tool, json!({"relative_path": path})).to_string();
            assert!(!result.contains(host) && !result.contains(CANARY), "{tool} {path}: {result}");
        }
    }
    client.end().cleanly();
}
