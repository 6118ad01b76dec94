//! Every fuzz target by its name, and what `fuzz/` holds for it: what was found once is tried again by `cargo test`.

use std::{
    fs,
    panic::catch_unwind,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::{call, guard, postgres, protocol, tools, wire};

/// Runs on any bytes; a panic is a find.
type Target = fn(&[u8]);

/// What a target is called in `fuzz/`, and its logic, which stands in the room that it tries.
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

/// How long one input may take in a debug build on a busy machine; the fuzzers allow 10 s.
const LIMIT: Duration = Duration::from_secs(30);
/// What all corpora may weigh in a checkout, in bytes.
const MAX_CORPORA_BYTES: u64 = 1 << 20;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_input_of_the_corpora_is_judged_as_it_should_be() {
    let mut failed = Vec::new();
    for (name, target) in TARGETS {
        let inputs = files(&fuzz().join("corpus").join(name));
        assert!(inputs.len() > 3, "{name} has no corpus");
        for path in inputs {
            let input = fs::read(&path).unwrap();
            let begin = Instant::now();
            let outcome = catch_unwind(|| target(&input));
            if outcome.is_err() || begin.elapsed() > LIMIT {
                failed.push(path);
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_target_has_its_program_its_dictionary_and_its_corpus_and_there_are_no_others() {
    let mut names = TARGETS.map(|(name, _)| name);
    names.sort_unstable();
    for (directory, extension) in [("fuzz_targets", ".rs"), ("dict", ".dict"), ("corpus", "")] {
        let files = files(&fuzz().join(directory));
        let found: Vec<_> = files.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(found, names.map(|name| format!("{name}{extension}")), "fuzz/{directory}");
    }
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    for name in names {
        let path = format!("path = \"fuzz_targets/{name}.rs\"");
        assert!(manifest.contains(&path), "{name} is not in fuzz/Cargo.toml");
    }
}

#[test]
fn the_corpora_are_small() {
    let inputs = files(&fuzz().join("corpus")).into_iter().flat_map(|corpus| files(&corpus));
    let bytes: u64 = inputs.map(|path| fs::metadata(path).unwrap().len()).sum();
    assert!(bytes <= MAX_CORPORA_BYTES, "{bytes} bytes");
}
