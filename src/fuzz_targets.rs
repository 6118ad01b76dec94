//! Every fuzz target by its name; `cargo test` replays the corpora that `fuzz/` holds for them.
//!
//! A corpus is `fuzz/corpus/NAME.tar`, the inputs that a fuzzer collected, and the files of `fuzz/corpus/NAME/`: finds, and
//! inputs written by hand, each with a name that says what it is.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::{call, guard, postgres, protocol, tools, wire};

/// Runs on any bytes; a panic is a find.
type Target = fn(&[u8]);

/// A target's name in `fuzz/`, and its logic, which stands in the layer that it tries.
const TARGETS: [(&str, Target); 13] = [
    ("frames", wire::fuzz::frames::run),
    ("json", wire::fuzz::json::run),
    ("ascii", wire::fuzz::ascii::run),
    ("messages", protocol::fuzz::run),
    ("sanitizer", call::fuzz::run),
    ("paths", tools::files::fuzz::paths),
    ("names", tools::files::fuzz::names),
    ("sql", guard::fuzz::run),
    ("cells", postgres::cells::fuzz::run),
    ("catalog", tools::catalog::fuzz::run),
    ("dsn", postgres::dsn::fuzz::strings),
    ("passfile", postgres::dsn::fuzz::passwords),
    ("cgroup", tools::metrics::fuzz::run),
];

/// The time that one input may take in a debug build on a busy machine; the fuzzers allow 10 s.
const LIMIT: Duration = Duration::from_secs(30);
/// The inputs of all corpora together, in bytes: every checkout carries them.
const MAX_CORPORA_BYTES: usize = 1 << 20;
/// The unit of a tar archive, in bytes.
const TAR_BLOCK: usize = 512;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The inputs of a target by their names: those of its archive, then those of its directory.
fn corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let path = fuzz().join("corpus").join(name);
    let mut inputs =
        fs::read(path.with_extension("tar")).map_or_else(|_| Vec::new(), |archive| unpack(&archive));
    if path.is_dir() {
        inputs.extend(files(&path).iter().map(|path| (path.display().to_string(), fs::read(path).unwrap())));
    }
    inputs
}

/// The files of a ustar archive (POSIX.1-1988) by their names. Anything but plain files with short names is a mistake.
fn unpack(mut archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let text =
        |field: &[u8]| String::from_utf8(field.split(|byte| *byte == 0).next().unwrap().to_vec()).unwrap();
    let mut unpacked = Vec::new();
    while archive.iter().take(TAR_BLOCK).any(|byte| *byte != 0) {
        let (header, rest) = archive.split_at(TAR_BLOCK);
        assert_eq!(
            (&header[257..262], header[156]),
            (&b"ustar"[..], b'0'),
            "not a plain file of a ustar archive"
        );
        let size = usize::from_str_radix(text(&header[124..136]).trim(), 8).unwrap();
        unpacked.push((text(&header[..100]), rest[..size].to_vec()));
        archive = &rest[size.next_multiple_of(TAR_BLOCK)..];
    }
    unpacked
}

#[test]
fn every_input_of_the_corpora_is_judged_as_it_should_be() {
    let mut failed = Vec::new();
    for (name, target) in TARGETS {
        let inputs = corpus(name);
        assert!(inputs.len() > 3, "{name} has no corpus");
        for (input_name, input) in inputs {
            let begin = Instant::now();
            let outcome = catch_unwind(|| target(&input));
            if outcome.is_err() || begin.elapsed() > LIMIT {
                failed.push(format!("{name}: {input_name}"));
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_target_has_a_program_a_dictionary_and_a_corpus_and_there_are_no_others() {
    let mut names = TARGETS.map(|(name, _)| name);
    names.sort_unstable();
    let found = |directory: &str| -> Vec<String> {
        let stem = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut stems: Vec<String> = files(&fuzz().join(directory)).into_iter().map(stem).collect();
        stems.dedup();
        stems
    };
    for directory in ["fuzz_targets", "dict", "corpus"] {
        assert_eq!(found(directory), names, "fuzz/{directory}");
    }
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    for name in names {
        let path = format!("path = \"fuzz_targets/{name}.rs\"");
        assert!(manifest.contains(&path), "{name} is not in fuzz/Cargo.toml");
    }
}

#[test]
fn the_corpora_are_small() {
    let inputs = TARGETS.iter().flat_map(|(name, _)| corpus(name));
    let bytes: usize = inputs.map(|(_, input)| input.len()).sum();
    assert!(bytes <= MAX_CORPORA_BYTES, "{bytes} bytes");
}

#[test]
fn inputs_that_a_fuzzer_named_by_their_hash_are_in_an_archive() {
    let is_hash = |name: &str| name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    for directory in files(&fuzz().join("corpus")).iter().filter(|path| path.is_dir()) {
        let loose =
            files(directory).into_iter().find(|path| is_hash(path.file_name().unwrap().to_str().unwrap()));
        assert_eq!(loose, None, "give a find a name, or pack it: fuzz/README.md");
    }
}
