//! The house rules that a compiler does not know.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The rooms, each of which may use what stands before it. `diagnostics` and `wire` do not know each other.
const ROOMS: [&str; 17] = [
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
    "commands",
    "fuzz_targets",
    "main",
];

/// Constants of the crate itself, for everybody.
const FREE: [&str; 2] = ["NAME", "VERSION"];

fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// The first segment of every path that begins with `crate::`. Comments may point anywhere.
fn rooms_used(source: &str) -> Vec<String> {
    let code: Vec<&str> = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let source = code.join("\n");
    let mut found = Vec::new();
    for path in source.split("crate::").skip(1) {
        match path.strip_prefix('{') {
            Some(group) => found.extend(heads_of_group(group)),
            None => found.push(head(path)),
        }
    }
    found
}

fn head(path: &str) -> String {
    path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The first segment of each path of a `use crate::{…}` group, given what follows its brace.
fn heads_of_group(group: &str) -> Vec<String> {
    let mut depth = 0;
    let mut outermost = String::new();
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            c if depth == 0 => outermost.push(c),
            _ => {}
        }
    }
    outermost.split(',').map(head).filter(|head| !head.is_empty()).collect()
}

#[test]
fn a_room_uses_only_what_stands_before_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let place = |room: &str| ROOMS.iter().position(|known| *known == room);
    let mut wrong = Vec::new();
    let files = sources(&src);
    assert!(files.len() > 20, "where are the sources? {files:?}");
    for file in files {
        let relative = file.strip_prefix(&src).unwrap();
        let room = relative.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        if room == "lib" {
            continue;
        }
        let own = place(room).unwrap_or_else(|| panic!("{room} is no room of the house"));
        for used in rooms_used(&fs::read_to_string(&file).unwrap()) {
            let allowed = FREE.contains(&used.as_str()) || place(&used).is_some_and(|used| used <= own);
            if !allowed {
                wrong.push(format!("{} uses {used}", relative.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn paths_are_found_wherever_they_stand() {
    let source = "use crate::{NAME, wire::{json::Value, ascii}, problem::Problem};\n\
        use crate::call::Call; fn f() -> crate::tools::Tool {}\n/// [`crate::server::run`]";
    assert_eq!(rooms_used(source), ["NAME", "wire", "problem", "call", "tools"]);
}
