//! The rules of the source tree that the compiler does not check: the order of the layers, and no circles of files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The layers, each of which may use itself and those to its left. `diagnostics` and `wire` do not know each other.
const LAYERS: [&str; 18] = [
    "diagnostics",
    "wire",
    "problem",
    "protocol",
    "call",
    "arguments",
    "document",
    "governance",
    "guard",
    "postgres",
    "tools",
    "server",
    "confine",
    "settings",
    "manual",
    "commands",
    "fuzz_targets",
    "main",
];

/// Constants of the crate itself, which every layer may use.
const FREE: [&str; 2] = ["NAME", "VERSION"];

/// Folders in which files may use each other in a circle, and why.
const RECURSIVE: [(&str, &str); 1] =
    [("guard/judge", "the grammar recurses: a query holds expressions that hold queries")];

/// Files and folders that hold tests only.
const TESTS: [&str; 7] = ["tests", "testing", "attacks", "sample", "fuzz", "fuzz_targets", "corpus"];

/// The segments of a path such as `crate::wire::json`.
type Segments = Vec<String>;

/// A source file.
struct File {
    /// Its path below `src`, without `.rs`.
    name: String,
    /// The module that it defines.
    module: Segments,
    is_folder: bool,
    paths: Vec<(Position, Segments)>,
}

/// The place of a path in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// In a `pub use`.
    Export,
    Elsewhere,
}

impl File {
    fn parse(name: &str, source: &str) -> Self {
        let mut module: Segments = name.split('/').map(str::to_owned).collect();
        let is_folder = module.last().is_some_and(|last| last == "mod");
        module.truncate(module.len() - usize::from(is_folder));
        Self { name: name.to_owned(), module, is_folder, paths: paths(&code(source)) }
    }
}

/// Returns the code without comments and without the tests at its end.
fn code(source: &str) -> String {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Cuts code into names, `::`, and single characters.
fn tokens(code: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            first if is_name(first) => rest.find(|c| !is_name(c)).unwrap_or(rest.len()),
            _ if rest.starts_with("::") => 2,
            _ => first.len_utf8(),
        };
        let (token, behind) = rest.split_at(length);
        tokens.push(token);
        rest = behind.trim_start();
    }
    tokens
}

/// Returns every path of two segments or more, groups taken apart.
fn paths(code: &str) -> Vec<(Position, Segments)> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut rest = tokens.as_slice();
    while !rest.is_empty() {
        let is_export = matches!(tokens[..tokens.len() - rest.len()], [.., "pub" | ")", "use"]);
        let position = if is_export { Position::Export } else { Position::Elsewhere };
        let mut leaves = Vec::new();
        rest = leaves_of(rest, &[], &mut leaves);
        found.extend(leaves.into_iter().filter(|path| path.len() > 1).map(|path| (position, path)));
    }
    found
}

/// Adds the leaves of the path or group that `tokens` begin with, and returns the tokens behind it.
fn leaves_of<'t>(tokens: &'t [&'t str], before: &[String], leaves: &mut Vec<Segments>) -> &'t [&'t str] {
    match tokens {
        ["{", group @ ..] if !before.is_empty() => {
            let mut rest = group;
            while let [first, ..] = rest
                && *first != "}"
            {
                rest = leaves_of(rest, before, leaves);
                let end = rest.iter().position(|token| [",", "}"].contains(token)).unwrap_or(rest.len());
                rest = rest[end..].strip_prefix(&[","]).unwrap_or(&rest[end..]);
            }
            rest.get(1..).unwrap_or_default()
        }
        [name, "::", rest @ ..] => leaves_of(rest, &[before, &[(*name).to_owned()]].concat(), leaves),
        [name, rest @ ..] => {
            leaves.push([before, &[(*name).to_owned()]].concat());
            rest
        }
        [] => tokens,
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// The files of `src` by the module that they define.
struct Tree(BTreeMap<Segments, File>);

impl Tree {
    fn read() -> Self {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let parse = |path: PathBuf| {
            let name = path.strip_prefix(&src).unwrap().to_str()?.strip_suffix(".rs")?.to_owned();
            (name != "lib").then(|| File::parse(&name, &fs::read_to_string(&path).unwrap()))
        };
        let files: Vec<File> = files_below(&src).into_iter().filter_map(parse).collect();
        assert!(files.len() > 20, "the sources were not found");
        Self::of(files)
    }

    fn of(files: Vec<File>) -> Self {
        Self(files.into_iter().map(|file| (file.module.clone(), file)).collect())
    }

    /// Returns the path from the crate's root; `None` for a path into another crate.
    fn absolute(&self, file: &File, path: &[String]) -> Option<Segments> {
        let below = |height: usize, rest: &[String]| {
            [&file.module[..file.module.len().saturating_sub(height)], rest].concat()
        };
        match path.first()?.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some(below(0, &path[1..])),
            "super" => {
                let height = path.iter().take_while(|segment| *segment == "super").count();
                // A module inside a file needs one more than the file itself.
                let heights = [height, height - 1];
                heights
                    .into_iter()
                    .map(|levels| below(levels, &path[height..]))
                    .find(|path| self.defines(path).is_some())
            }
            _ => {
                let child = below(0, path);
                let is_child = file.is_folder && self.0.contains_key(&child[..file.module.len() + 1]);
                is_child.then_some(child)
            }
        }
    }

    /// Finds the file that defines the item at this absolute path, through the `pub use` of the folders on the way.
    fn defines(&self, path: &[String]) -> Option<&File> {
        let length = (1..=path.len()).rev().find(|length| self.0.contains_key(&path[..*length]))?;
        let file = &self.0[&path[..length]];
        let exported = path.get(length).filter(|_| file.is_folder).and_then(|item| {
            let mut exports = file.paths.iter().filter(|(position, _)| *position == Position::Export);
            let (_, export) = exports.find(|(_, export)| export.last() == Some(item))?;
            self.absolute(file, export)
        });
        // An export leads further down, so this ends.
        exported.filter(|target| *target != path).and_then(|target| self.defines(&target)).or(Some(file))
    }

    /// Returns the names of the files that each file uses. What a folder exports and does not use itself is no use.
    fn uses(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let is_test = |file: &&File| file.name.split('/').any(|part| TESTS.contains(&part));
        let files = self.0.values().filter(|file| !is_test(file));
        let used = |file: &File| -> BTreeSet<&str> {
            let paths = file.paths.iter().filter(|(at, _)| !file.is_folder || *at == Position::Elsewhere);
            let used = paths.filter_map(|(_, path)| self.defines(&self.absolute(file, path)?));
            used.map(|used| used.name.as_str()).filter(|used| *used != file.name).collect()
        };
        files.map(|file| (file.name.as_str(), used(file))).collect()
    }

    /// Returns each circle of files as the uses in it.
    fn circles(&self) -> Vec<BTreeSet<(&str, &str)>> {
        let uses = self.uses();
        let reached: BTreeMap<&str, BTreeSet<&str>> =
            uses.keys().map(|file| (*file, reached(&uses, file))).collect();
        let are_in_circle = |a: &str, b: &str| {
            [(a, b), (b, a)].iter().all(|(a, b)| reached.get(a).is_some_and(|reached| reached.contains(b)))
        };
        // A circle is known by its first file.
        let mut circles: BTreeMap<&str, BTreeSet<(&str, &str)>> = BTreeMap::new();
        for (file, used) in &uses {
            let inside = used.iter().filter(|used| are_in_circle(file, used)).map(|used| (*file, *used));
            if let Some(first) = uses.keys().find(|first| are_in_circle(first, file)) {
                circles.entry(first).or_default().extend(inside);
            }
        }
        circles.into_values().collect()
    }
}

/// Returns every file that `from` uses, directly or not.
fn reached<'t>(uses: &BTreeMap<&'t str, BTreeSet<&'t str>>, from: &'t str) -> BTreeSet<&'t str> {
    let mut reached = BTreeSet::new();
    let mut next = vec![from];
    while let Some(file) = next.pop() {
        let used = uses.get(file).into_iter().flatten();
        next.extend(used.copied().filter(|used| reached.insert(*used)));
    }
    reached
}

#[test]
fn a_layer_uses_only_those_before_it() {
    let place = |layer: &str| LAYERS.iter().position(|known| *known == layer);
    let tree = Tree::read();
    let mut wrong = Vec::new();
    for file in tree.0.values() {
        let layer = file.module[0].as_str();
        let own = place(layer).unwrap_or_else(|| panic!("{layer} is not a layer"));
        let used = file.paths.iter().filter_map(|(_, path)| tree.absolute(file, path));
        for used in used.map(|path| path[0].clone()) {
            let in_order =
                place(&used).is_some_and(|used| used <= own) && (layer, &*used) != ("wire", "diagnostics");
            let allowed = FREE.contains(&used.as_str()) || in_order;
            if !allowed {
                wrong.push(format!("{} uses {used}", file.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn files_use_each_other_in_a_circle_only_where_the_grammar_recurses() {
    let tree = Tree::read();
    let mut wrong = Vec::new();
    for circle in tree.circles() {
        let folders = circle.iter().map(|(file, _)| file.rsplit_once('/').map_or("", |(folder, _)| folder));
        let folders: BTreeSet<&str> = folders.collect();
        let is_reasoned = RECURSIVE.iter().any(|(folder, _)| folders.iter().eq([folder]));
        if !is_reasoned {
            let uses: Vec<String> = circle.iter().map(|(file, used)| format!("{file} uses {used}")).collect();
            wrong.push(format!("a circle in {folders:?}:\n  {}", uses.join("\n  ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compares the uses among a few files with the expected ones.
#[track_caller]
fn check(files: &[(&str, &str)], expected: &[(&str, &[&str])], circles: usize) {
    let tree = Tree::of(files.iter().map(|(name, source)| File::parse(name, source)).collect());
    let expected = expected.iter().map(|(file, used)| (*file, used.iter().copied().collect()));
    assert_eq!(tree.uses(), expected.collect());
    assert_eq!(tree.circles().len(), circles);
}

#[test]
fn uses_are_found_wherever_they_stand() {
    let source = "use crate::{NAME, b::{x::X as Y, y}, c};\nuse super::d::{self, e};\n\
        fn f() -> crate::g::G { super::h::f() }\n/// [`crate::i::I`]\n#[cfg(test)]\nmod tests { use crate::i::I; }";
    let files = [("a", source), ("b/mod", ""), ("b/x", ""), ("b/y", ""), ("c", ""), ("d", ""), ("g", "")];
    let used: &[&str] = &["b/x", "b/y", "c", "d", "g", "h"];
    let none: &[&str] = &[];
    let mut expected = vec![("a", used), ("h", none), ("i", none)];
    expected.extend(files[1..].iter().map(|(file, _)| (*file, none)));
    check(&[files.as_slice(), &[("h", ""), ("i", "")]].concat(), &expected, 0);
}

#[test]
fn an_export_is_a_use_of_the_file_that_defines_the_item() {
    let folder = ("a/mod", "mod b; mod c;\npub use b::{B, C};\npub struct D;");
    let expected: &[(&str, &[&str])] = &[("a/mod", &[]), ("a/b", &[]), ("a/c", &["a/b"]), ("e", &["a/b"])];
    check(&[folder, ("a/b", ""), ("a/c", "use super::B;"), ("e", "use crate::a::C;")], expected, 0);
}

#[test]
fn circles_are_found_through_folders() {
    let (leaf, user) = (("a/b", "use super::D;"), ("a/c", "use super::b;"));
    check(&[("a/mod", "pub use b::B;"), leaf], &[("a/mod", &[]), ("a/b", &["a/mod"])], 0);
    check(&[("a/mod", "use b::B;"), leaf], &[("a/mod", &["a/b"]), ("a/b", &["a/mod"])], 1);
    check(
        &[("a/mod", "fn f() { c::f() }"), leaf, user],
        &[("a/mod", &["a/c"]), ("a/b", &["a/mod"]), ("a/c", &["a/b"])],
        1,
    );
}
