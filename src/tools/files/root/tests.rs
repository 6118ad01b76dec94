//! The walk on both ways of looking a name up, against the table of attacks, against the kernel, and against a racer.

use super::attacks::{CANARY, Expected, attacks, tree};
use super::*;
use std::io::Read as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use std::{fs, thread};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use proptest::prelude::*;

/// Both ways to look a name up, on one directory.
fn roots(path: &Path) -> [Root; 2] {
    [Lookup::Openat2, Lookup::Openat].map(|lookup| Root { lookup, ..Root::open(path).unwrap() })
}

/// Reads `path`: the content, or in brackets the refusal.
fn outcome(root: &Root, path: &str) -> String {
    let Ok(path) = RelPath::parse(path) else { return "(refused unseen)".to_owned() };
    match root.open_file(&path, &Interrupt::default()) {
        Ok(mut file) => {
            let mut content = String::new();
            file.read_to_string(&mut content).unwrap();
            content
        }
        Err(error) => format!("({error:?})"),
    }
}

/// The same in the words of the table.
fn expected_outcome(expected: Expected) -> &'static str {
    match expected {
        Expected::Content(content) => content,
        Expected::Unseen => UNSEEN,
        Expected::Outside => OUTSIDE,
        Expected::TooManyLinks => LINKS,
        Expected::Missing => MISSING,
        Expected::NotRegular => NO_FILE,
    }
}

#[track_caller]
fn check_all<P: AsRef<str>>(path: &Path, rows: &[(P, &str)]) {
    for root in roots(path) {
        for (path, expected) in rows {
            assert_eq!(outcome(&root, path.as_ref()), *expected, "{:?} by {:?}", path.as_ref(), root.lookup);
        }
    }
}

const UNSEEN: &str = "(refused unseen)";
const OUTSIDE: &str = "(Outside)";
const MISSING: &str = "(Missing)";
const NO_FILE: &str = "(NotRegular)";
const LINKS: &str = "(TooManyLinks)";

#[test]
fn the_kernel_of_this_host_has_openat2() {
    // Else the table would run on the plain walk twice.
    assert_eq!(Root::open(Path::new("/")).unwrap().lookup, Lookup::Openat2);
}

#[test]
fn every_path_of_the_table_has_its_verdict_on_both_walks() {
    let base = tree();
    let rows: Vec<_> =
        attacks().into_iter().map(|(path, expected)| (path, expected_outcome(expected))).collect();
    check_all(&base.path().join("root"), &rows);
}

#[test]
fn magic_links_of_proc_are_not_jumped_through() {
    check_all(
        Path::new("/proc/self"),
        &[
            ("root/etc/passwd", OUTSIDE),
            ("cwd/Cargo.toml", OUTSIDE),
            ("exe", OUTSIDE),
            ("task/../root/etc/passwd", OUTSIDE),
            ("ns/net", MISSING),
            ("fd", NO_FILE),
            ("missing", MISSING),
        ],
    );
    check_all(Path::new("/dev"), &[("null", NO_FILE), ("zero", NO_FILE)]);
}

#[test]
fn a_root_of_everything_holds_everything() {
    let base = tree();
    let file = base.path().join("root/to-absolute");
    let file = file.strip_prefix("/").unwrap().to_str().unwrap();
    check_all(Path::new("/"), &[(file, "dir/file"), ("..", UNSEEN), ("tmp/../..", UNSEEN)]);
}

#[test]
fn a_root_may_be_a_link_and_may_be_renamed_or_replaced() {
    let base = tree();
    let at = |path: &str| base.path().join(path);
    symlink("root", at("alias")).unwrap();
    for root in roots(&at("alias")) {
        assert_eq!(outcome(&root, "to-absolute"), "dir/file");
        fs::rename(at("root"), at("elsewhere")).unwrap();
        assert_eq!(outcome(&root, "dir/file"), "dir/file", "renamed");
        symlink("outside", at("root")).unwrap();
        assert_eq!(outcome(&root, "dir/file"), "dir/file", "replaced");
        assert_eq!(outcome(&root, "secret"), MISSING, "replaced");
        assert_eq!(outcome(&root, "to-absolute"), "dir/file", "inside by the name it was opened by");
        fs::remove_file(at("root")).unwrap();
        fs::rename(at("elsewhere"), at("root")).unwrap();
    }
}

#[test]
fn a_file_replaced_after_its_lookup_is_judged_by_its_descriptor() {
    let base = tree();
    let roots = roots(&base.path().join("root"));
    let names = ["file", "fifo", "socket", "dir", "to-file", "to-secret", "missing"];
    let (sender, receiver) = std::sync::mpsc::channel();
    // As if each had been a regular file a moment ago.
    let leaf = |root: &Root, name: &str| {
        let path = RelPath::parse(name).unwrap();
        Walk::new(root, &path, &Interrupt::default()).open_leaf(OsStr::new(name)).map(drop)
    };
    let open = move || roots.map(|root| sender.send(names.map(|name| leaf(&root, name))));
    thread::Builder::new().name("opener".to_owned()).spawn(open).unwrap();
    for _ in [Lookup::Openat2, Lookup::Openat] {
        let outcomes =
            receiver.recv_timeout(Duration::from_secs(20)).expect("a FIFO's writer was waited for");
        let (other, gone) = (Err(WalkError::NotRegular), Err(WalkError::Missing));
        assert_eq!(outcomes, [Ok(()), other, other, other, gone, gone, gone], "{names:?}");
    }
}

#[test]
fn only_a_directory_can_be_the_root() {
    let base = tree();
    for path in ["root/file", "root/fifo", "root/missing", "root/loop"] {
        let error = Root::open(&base.path().join(path)).unwrap_err();
        assert!(!error.to_string().contains(base.path().to_str().unwrap()));
    }
}

#[test]
fn directories_are_opened_as_such() {
    let base = tree();
    for root in roots(&base.path().join("root")) {
        for (path, expected) in [
            (".", Ok(())),
            ("dir", Ok(())),
            ("dir/", Ok(())),
            ("dir/sub/..", Ok(())),
            ("to-dir", Ok(())),
            ("to-root", Ok(())),
            ("file", Err(WalkError::NotDirectory)),
            ("to-file", Err(WalkError::NotDirectory)),
            ("fifo", Err(WalkError::NotDirectory)),
            ("file/", Err(WalkError::Missing)),
            ("missing", Err(WalkError::Missing)),
            ("to-outside", Err(WalkError::Outside)),
            ("to-above", Err(WalkError::Outside)),
            ("loop", Err(WalkError::TooManyLinks)),
        ] {
            let opened = root.open_directory(&RelPath::parse(path).unwrap(), &Interrupt::default());
            assert_eq!(opened.map(drop), expected, "{path}");
        }
    }
}

#[test]
fn a_file_without_permission_is_unreadable() {
    let base = tree();
    let at = |path: &str| base.path().join(path);
    let mode = fs::Permissions::from_mode;
    fs::set_permissions(base.path(), mode(0o755)).unwrap();
    fs::set_permissions(at("root/file"), mode(0o000)).unwrap();
    fs::set_permissions(at("root/dir"), mode(0o000)).unwrap();
    let roots = roots(&at("root"));
    let rows = thread::Builder::new().name("nobody".to_owned()).spawn(move || {
        // Root may read anything; this thread alone becomes another user for the file system (setfsuid(2)).
        if nix::unistd::geteuid().is_root() {
            nix::unistd::setfsuid(nix::unistd::Uid::from_raw(65_534));
        }
        roots.map(|root| {
            ["file", "to-file", "dir/file", "dir/missing", "empty"].map(|path| outcome(&root, path))
        })
    });
    for row in rows.unwrap().join().unwrap() {
        assert_eq!(row, ["(Unreadable)", "(Unreadable)", "(Unreadable)", "(Unreadable)", ""]);
    }
    fs::set_permissions(at("root/dir"), mode(0o755)).unwrap();
}

#[test]
fn a_maze_of_links_costs_a_bounded_number_of_lookups() {
    let base = tempfile::tempdir().unwrap();
    let deep = vec!["d"; 100].join("/");
    fs::create_dir_all(base.path().join(&deep)).unwrap();
    fs::write(base.path().join(&deep).join("file"), "found").unwrap();
    for (name, pairs) in [("few", 50), ("many", 800)] {
        symlink(format!("{}file", "../d/".repeat(pairs)), base.path().join(&deep).join(name)).unwrap();
    }
    for root in roots(base.path()) {
        assert_eq!(outcome(&root, &format!("{deep}/few")), "found");
        assert_eq!(outcome(&root, &format!("{deep}/many")), LINKS);
    }
}

#[test]
fn a_walk_ends_when_the_call_is_interrupted() {
    let base = tree();
    let interrupt = Interrupt::default();
    assert!(interrupt.set().is_none());
    for root in roots(&base.path().join("root")) {
        let path = RelPath::parse("dir/sub/file").unwrap();
        assert_eq!(root.open_file(&path, &interrupt).unwrap_err(), WalkError::Interrupted);
    }
}

#[test]
fn hundreds_of_directories_are_walked_down_and_up() {
    let base = tempfile::tempdir().unwrap();
    let deep = vec!["d"; 200].join("/");
    fs::create_dir_all(base.path().join(&deep)).unwrap();
    fs::write(base.path().join(&deep).join("file"), "deep").unwrap();
    let back = format!("{deep}{}file", "/..".repeat(200) + "/" + &deep + "/");
    for root in roots(base.path()) {
        assert_eq!(outcome(&root, &format!("{deep}/file")), "deep");
        assert_eq!(outcome(&root, &back), "deep");
    }
}

/// A tree of up to 12 entries named `a` to `c` on three levels; links are relative.
fn plant(base: &Path, entries: &[(Vec<usize>, Option<String>)]) {
    for (place, link) in entries {
        let names = place.iter().map(|name| ["a", "b", "c"][*name]).collect::<Vec<_>>();
        let path = base.join(names.join("/"));
        // Impossible entries, such as a file below a file, are left out.
        if fs::create_dir_all(path.parent().unwrap()).is_ok() && !path.is_symlink() && !path.exists() {
            match link {
                Some(target) => symlink(target, path).unwrap(),
                None => fs::write(path, "inside").unwrap(),
            }
        }
    }
}

/// Asks the kernel about the whole path at once; it has no rule about the parts behind a missing one.
fn kernel_finds_a_file(root: &Root, path: &str) -> Result<bool, Errno> {
    loop {
        let how = OpenHow::new().flags(OFlag::O_PATH).resolve(ResolveFlag::RESOLVE_BENEATH);
        match openat2(&root.directory, path, how) {
            // An unrelated rename happened meanwhile: the kernel cannot answer for `..`.
            Err(Errno::EAGAIN) => {}
            found => return Ok(kind_of(found?.as_fd())? == SFlag::S_IFREG),
        }
    }
}

fn a_path() -> impl Strategy<Value = String> {
    let part = prop_oneof![4 => "[abc]", 3 => Just("..".to_owned()), 1 => Just(".".to_owned())];
    (prop::collection::vec(part, 1..8), prop_oneof![Just(""), Just("/")])
        .prop_map(|(parts, end)| parts.join("/") + end)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_walk_and_the_kernel_agree(
        entries in prop::collection::vec(
            (prop::collection::vec(0..3_usize, 1..4), prop::option::weighted(0.7, a_path())), 1..12,
        ),
        paths in prop::collection::vec(a_path(), 40),
    ) {
        let base = tempfile::tempdir().unwrap();
        plant(base.path(), &entries);
        for root in roots(base.path()) {
            for path in &paths {
                let ours = outcome(&root, path);
                if ours == UNSEEN {
                    prop_assert!(climbs(0, steps_of(OsStr::new(path)).collect::<Vec<_>>().iter()));
                    continue;
                }
                let allowed: &[&str] = match kernel_finds_a_file(&root, path) {
                    Ok(true) => &["inside"],
                    Ok(false) => &[NO_FILE],
                    Err(Errno::EXDEV) => &[OUTSIDE],
                    Err(Errno::ELOOP) => &[LINKS],
                    Err(Errno::ENOENT | Errno::ENOTDIR) => &[MISSING, OUTSIDE],
                    Err(errno) => panic!("{errno}"),
                };
                prop_assert!(allowed.contains(&ours.as_str()), "{path}: {ours}, not {allowed:?}: {entries:?}");
            }
        }
    }
}

/// Directories and files are swapped for links to the outside, as fast as can be, while others read.
#[test]
fn no_byte_from_outside_is_read_while_the_tree_is_swapped_for_ten_seconds() {
    thread::scope(|scope| {
        for lookup in [Lookup::Openat2, Lookup::Openat] {
            let race = move || race(lookup, Duration::from_secs(10));
            thread::Builder::new().name(format!("{lookup:?}")).spawn_scoped(scope, race).unwrap();
        }
    });
}

fn race(lookup: Lookup, duration: Duration) {
    let base = tempfile::tempdir().unwrap();
    let at = |path: &str| base.path().join(path);
    fs::create_dir_all(at("root/dir/sub")).unwrap();
    fs::create_dir_all(at("outside/sub")).unwrap();
    for inside in ["root/leaf", "root/dir/file", "root/dir/sub/file"] {
        fs::write(at(inside), "inside").unwrap();
    }
    for outside in ["outside/file", "outside/sub/file", "secret"] {
        fs::write(at(outside), CANARY).unwrap();
    }
    symlink(at("outside"), at("root/evil-dir")).unwrap();
    symlink("../../outside/sub", at("root/dir/evil-sub")).unwrap();
    symlink("../secret", at("root/evil-leaf")).unwrap();
    mkfifo(&at("root/pipe"), Mode::S_IRWXU).unwrap();
    let root = Root { lookup, ..Root::open(&at("root")).unwrap() };
    let until = Instant::now() + duration;
    let swap = || {
        let mut swaps = 0;
        while Instant::now() < until {
            let swapped = [
                ("root/leaf", "root/evil-leaf"),
                ("root/dir/sub", "root/dir/evil-sub"),
                ("root/dir", "root/evil-dir"),
                ("root/dir", "root/evil-dir"),
                ("root/dir/sub", "root/dir/evil-sub"),
                ("root/leaf", "root/evil-leaf"),
                ("root/leaf", "root/pipe"),
                ("root/leaf", "root/pipe"),
            ];
            swapped.iter().for_each(|(one, other)| exchange(&at(one), &at(other)));
            swaps += swapped.len();
        }
        swaps
    };
    let read = || {
        let mut inside = 0;
        while Instant::now() < until {
            let paths = ["leaf", "dir/file", "dir/sub/file", "dir/sub/../file", "dir/../leaf"];
            let contents = paths.map(|path| outcome(&root, path));
            assert!(!contents.iter().any(|content| content.contains(CANARY)), "{contents:?} by {lookup:?}");
            inside += contents.iter().filter(|content| *content == "inside").count();
        }
        inside
    };
    thread::scope(|scope| {
        let named = |name: &str| thread::Builder::new().name(name.to_owned());
        let swapper = named("swapper").spawn_scoped(scope, swap).unwrap();
        let readers = ["reader-0", "reader-1"].map(|name| named(name).spawn_scoped(scope, read).unwrap());
        let inside =
            readers.map(|reader| reader.join().expect("something else was read")).iter().sum::<usize>();
        let swaps = swapper.join().unwrap();
        assert!(inside > 100 && swaps > 100, "nothing raced: {inside} reads, {swaps} swaps");
    });
}

fn exchange(one: &Path, other: &Path) {
    let here = nix::fcntl::AT_FDCWD;
    nix::fcntl::renameat2(here, one, here, other, nix::fcntl::RenameFlags::RENAME_EXCHANGE).unwrap();
}

#[test]
fn a_fifo_is_not_opened() {
    let base = tree();
    let roots = roots(&base.path().join("root"));
    let stop = AtomicBool::new(false);
    let walk = || {
        while !stop.load(Relaxed) {
            roots.iter().for_each(|root| assert_eq!(outcome(root, "fifo"), NO_FILE));
        }
    };
    thread::scope(|scope| {
        let walker = thread::Builder::new().name("walker".to_owned()).spawn_scoped(scope, walk).unwrap();
        // A writer that does not wait gets ENXIO as long as the FIFO is not open for reading (fifo(7)).
        let mut options = fs::OpenOptions::new();
        options.write(true).custom_flags(OFlag::O_NONBLOCK.bits());
        let opened = (0..2000).map(|_| options.open(base.path().join("root/fifo")));
        let no_reader = Some(Errno::ENXIO as i32);
        let refused =
            opened.filter_map(Result::err).filter(|error| error.raw_os_error() == no_reader).count();
        stop.store(true, Relaxed);
        walker.join().unwrap();
        assert_eq!(refused, 2000, "the FIFO was open for reading");
    });
}
