//! A data directory in hostile surroundings, and every path that may be asked of it: one table. The tests beside this file
//! run it against both ways of looking a name up, `tests/it/files.rs` against the real binary on both.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

/// Stands in every file outside the root.
pub(crate) const CANARY: &str = "canary";

/// The verdict on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// The content of the file.
    Content(&'static str),
    /// Refused by its text alone: nothing is looked up.
    Unseen,
    Outside,
    TooManyLinks,
    Missing,
    NotRegular,
}

use Expected::{Content, Missing, NotRegular, Outside, TooManyLinks, Unseen};

/// Every row of the table.
pub(crate) fn attacks() -> Vec<(String, Expected)> {
    let short = [INSIDE, ABSENT, CLIMBING, LINKS, LINKS_OUT].into_iter().flatten();
    let long = [
        ("n".repeat(255), Content("long")),
        ("n".repeat(256), Missing),
        (format!("{}file", "./".repeat(500)), Content("file")),
        (format!("{}file", "dir/../".repeat(140)), Content("file")),
        // `PATH_MAX` bytes, and more than the kernel takes at once.
        (format!("{}file", "./".repeat(2_046)), Content("file")),
        (format!("{}file", "deep/../".repeat(2_000)), Content("file")),
        (format!("{}secret", "../".repeat(300)), Unseen),
        (format!("{}{}secret", "dir/".repeat(150), "../".repeat(151)), Unseen),
    ];
    short.map(|(path, expected)| ((*path).to_owned(), *expected)).chain(long).collect()
}

const INSIDE: &[(&str, Expected)] = &[
    ("file", Content("file")),
    ("./file", Content("file")),
    (".//file", Content("file")),
    ("dir/file", Content("dir/file")),
    ("dir//sub///file", Content("dir/sub/file")),
    ("dir/./sub/./file", Content("dir/sub/file")),
    ("dir/../file", Content("file")),
    ("dir/sub/../../file", Content("file")),
    ("dir/sub/../file", Content("dir/file")),
    ("deep/1/2/3/../../../../file", Content("file")),
    ("empty", Content("")),
    ("hard", Content("file")),
    ("new\nline", Content("new\nline")),
    ("...", Content("...")),
    ("..dir/..file", Content("..dir/..file")),
];

const ABSENT: &[(&str, Expected)] = &[
    ("missing", Missing),
    ("missing/file", Missing),
    ("dir/missing", Missing),
    ("FILE", Missing),
    ("file ", Missing),
    ("file/", Missing),
    ("file/.", Missing),
    ("file/..", Missing),
    ("file/../file", Missing),
    ("file/file", Missing),
    ("missing/../file", Missing),
    (".", NotRegular),
    ("./", NotRegular),
    ("dir", NotRegular),
    ("dir/", NotRegular),
    ("dir/..", NotRegular),
    ("fifo", NotRegular),
    ("socket", NotRegular),
    // Not ways up.
    ("....", Missing),
    ("..\\secret", Missing),
    ("%2e%2e/secret", Missing),
    ("\u{ff0e}\u{ff0e}/secret", Missing),
    ("~/secret", Missing),
    ("file:///etc/passwd", Missing),
];

const CLIMBING: &[(&str, Expected)] = &[
    ("", Unseen),
    ("/", Unseen),
    ("/etc/passwd", Unseen),
    ("/nonexistent", Unseen),
    ("//file", Unseen),
    ("..", Unseen),
    ("../", Unseen),
    ("../root/file", Unseen),
    ("../secret", Unseen),
    ("../rootling/secret", Unseen),
    ("dir/../../secret", Unseen),
    ("dir/../../root/file", Unseen),
    ("dir/sub/../../../secret", Unseen),
    ("missing/../../secret", Unseen),
    ("file/../../secret", Unseen),
    ("file/..//./../secret", Unseen),
    ("./.././root/file", Unseen),
    ("file\0/../..", Unseen),
];

const LINKS: &[(&str, Expected)] = &[
    ("to-file", Content("file")),
    ("to-dir/file", Content("dir/file")),
    ("to-dir/../file", Content("file")),
    ("to-dir-slash/file", Content("dir/file")),
    ("to-zigzag", Content("dir/file")),
    ("dir/to-parent", Content("file")),
    ("to-dir/to-parent", Content("file")),
    ("dir/sub/to-up-and-down", Content("dir/file")),
    ("to-here/to-here/file", Content("file")),
    ("to-root/file", Content("file")),
    ("dir/../to-root/dir/file", Content("dir/file")),
    ("to-root-slash/file", Content("file")),
    ("to-absolute", Content("dir/file")),
    ("to-absolute-dots", Content("dir/file")),
    ("chain-39", Content("file")),
    ("chain-40", Content("file")),
    ("chain-41", TooManyLinks),
    ("loop", TooManyLinks),
    ("loop-a", TooManyLinks),
    ("loop/file", TooManyLinks),
    ("to-file/", Missing),
    ("to-file-slash", Missing),
    ("to-absolute-slash", Missing),
    ("to-file/..", Missing),
    ("dangling", Missing),
    ("dangling/file", Missing),
    ("dangling-deep", Missing),
    ("through-file", Missing),
    ("to-dir", NotRegular),
    ("to-root", NotRegular),
    ("to-fifo", NotRegular),
];

const LINKS_OUT: &[(&str, Expected)] = &[
    ("to-above", Outside),
    ("to-above/root/file", Outside),
    ("to-secret", Outside),
    ("dir/to-secret", Outside),
    ("to-dir/to-secret", Outside),
    ("out-and-in", Outside),
    ("out-and-in-late", Outside),
    ("missing-and-out", Outside),
    ("to-outside/secret", Outside),
    ("to-outside/missing", Outside),
    ("to-outside-missing", Outside),
    ("to-outside-twice", Outside),
    ("to-slash", Outside),
    ("to-slash/etc/passwd", Outside),
    ("to-passwd", Outside),
    ("to-nonexistent", Outside),
    ("to-sibling", Outside),
    ("to-absolute-secret", Outside),
    ("to-absolute-out-and-in", Outside),
    ("to-absolute-around", Outside),
    ("to-proc-root", Outside),
    ("to-proc-root/etc/passwd", Outside),
    ("to-proc-cwd", Outside),
    ("to-proc-fd", Outside),
    ("to-proc-fds/0", Outside),
    ("to-proc-environ", Outside),
    ("to-proc-exe", Outside),
    // A link to the root itself, and one more `..` than the path alone shows.
    ("dir/../to-here/..", Outside),
    ("to-here/missing/../..", Outside),
    ("dir/../to-here/missing/../..", Outside),
    ("deep/1/../../to-root/dir/../../secret", Outside),
    ("to-root/to-root/missing/../../file", Outside),
    ("to-root/to-root/../file", Outside),
];

/// A `root` with the usual content of a data directory, and its surroundings:
///
/// ```text
/// outside/secret  rootling/secret  root/{file, empty, dir/{file, sub/file}, a fifo, a socket, links}
/// ```
pub(crate) fn tree() -> tempfile::TempDir {
    let base = tempfile::tempdir().unwrap();
    let at = |path: &str| base.path().join(path);
    for directory in ["root/dir/sub", "root/deep/1/2/3", "root/..dir", "outside/dir", "rootling"] {
        fs::create_dir_all(at(directory)).unwrap();
    }
    for secret in ["outside/secret", "outside/dir/secret", "rootling/secret", "secret"] {
        fs::write(at(secret), CANARY).unwrap();
    }
    for file in ["file", "dir/file", "dir/sub/file", "deep/1/2/3/file", "new\nline", "...", "..dir/..file"] {
        fs::write(at("root").join(file), file).unwrap();
    }
    fs::write(at("root/empty"), "").unwrap();
    fs::hard_link(at("root/file"), at("root/hard")).unwrap();
    mkfifo(&at("root/fifo"), Mode::S_IRWXU).unwrap();
    drop(UnixListener::bind(at("root/socket")).unwrap());
    fs::write(at("root").join("n".repeat(255)), "long").unwrap();

    plant_links(base.path());
    base
}

fn plant_links(base: &Path) {
    let at = |path: &str| base.join(path);
    let link = |target: &str, name: &str| symlink(target, at("root").join(name)).unwrap();
    let absolute = |target: &str, name: &str| symlink(at(target), at("root").join(name)).unwrap();
    link("file", "to-file");
    link("dir", "to-dir");
    link("dir/", "to-dir-slash");
    link("file/", "to-file-slash");
    link("./dir/../dir/./file", "to-zigzag");
    link("../file", "dir/to-parent");
    link("../../dir/sub/../file", "dir/sub/to-up-and-down");
    link(".", "to-here");
    link("missing", "dangling");
    link("dir/missing/file", "dangling-deep");
    link("file/below", "through-file");
    link("loop", "loop");
    link("loop-b", "loop-a");
    link("loop-a", "loop-b");
    link("fifo", "to-fifo");
    link("..", "to-above");
    link("../secret", "to-secret");
    link("../root/file", "out-and-in");
    link("dir/../../root/file", "out-and-in-late");
    link("missing/../../secret", "missing-and-out");
    link("../../secret", "dir/to-secret");
    link("../outside", "to-outside");
    link("../outside/missing", "to-outside-missing");
    link("to-outside/secret", "to-outside-twice");
    link("/", "to-slash");
    link("/etc/passwd", "to-passwd");
    link("/nonexistent", "to-nonexistent");
    link("/proc/self/root", "to-proc-root");
    link("/proc/self/cwd/Cargo.toml", "to-proc-cwd");
    link("/proc/self/fd/0", "to-proc-fd");
    link("/proc/self/fd", "to-proc-fds");
    link("/proc/self/environ", "to-proc-environ");
    link("/proc/self/exe", "to-proc-exe");
    absolute("root", "to-root");
    absolute("root/", "to-root-slash");
    absolute("root/dir/file", "to-absolute");
    absolute("root/dir/file/", "to-absolute-slash");
    absolute("root/./dir//file", "to-absolute-dots");
    absolute("root/../root/file", "to-absolute-out-and-in");
    absolute("rootling/secret", "to-sibling");
    absolute("outside/../root/file", "to-absolute-around");
    absolute("outside/secret", "to-absolute-secret");
    link("file", "chain-1");
    for length in 2..=41 {
        link(&format!("chain-{}", length - 1), &format!("chain-{length}"));
    }
}
