//! The README and the manual: every example is run, every table is the program's, every link leads somewhere.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use mcp_server_suite::manual::{CHAPTERS, Chapter};
use mcp_server_suite::problem::Code;
use mcp_server_suite::settings::{Setting, table};
use mcp_server_suite::tools::catalog::Rule;
use serde_json::Value;

use crate::support::{Client, command, problem};

const README: &str = include_str!("../../README.md");

fn chapter(topic: &str) -> &'static str {
    Chapter::find(topic).unwrap().text
}

/// The fenced block behind the first `mark` of a chapter.
#[track_caller]
fn block(topic: &str, mark: &str) -> &'static str {
    let (_, behind) = chapter(topic).split_once(&format!("<!-- {mark} -->\n")).unwrap();
    let (_, block) = behind.split_once("```").unwrap().1.split_once('\n').unwrap();
    block.split_once("```").unwrap().0
}

/// The table behind the first `mark` of a chapter.
#[track_caller]
fn rows(topic: &str, mark: &str) -> Vec<&'static str> {
    let (_, behind) = chapter(topic).split_once(&format!("<!-- {mark} -->\n")).unwrap();
    behind.lines().take_while(|line| line.starts_with('|')).collect()
}

fn run(arguments: &[&str]) -> Output {
    command(&[]).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

/// Returns the text between the last `open` of `text` and the end of its code block.
fn last_block<'t>(text: &'t str, open: &str) -> &'t str {
    text.rsplit(open).next().unwrap().split("```").next().unwrap()
}

#[test]
fn sessions_by_hand_are_answered_word_for_word() {
    let mut checked = 0;
    let mut parts = chapter("getting-started").split("<!-- check: ");
    let mut before = parts.next().unwrap();
    for part in parts {
        let script = last_block(before, "```sh\n")
            .replace("target/release/mcp-server-suite", env!("CARGO_BIN_EXE_mcp-server-suite"));
        let expected = part.split_once("```json\n").unwrap().1.split("```").next().unwrap();
        let output = Command::new("sh").args(["-c", &script]).env_clear().output().unwrap();
        assert_eq!(stdout(&output), expected, "{script}");
        assert!(output.status.success(), "{script}");
        checked += 1;
        before = part;
    }
    assert_eq!(checked, 2);
}

/// Checks a catalog without a database and returns the report.
fn check_catalog(catalog: &str, exit_code: i32) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("assets.toml");
    fs::write(&path, catalog).unwrap();
    let settings =
        [("MCP_CATALOG", path.to_str().unwrap()), ("MCP_SQL_DSN", "postgres://reader@127.0.0.1:1/app")];
    let output = command(&settings).arg("check").output().unwrap();
    assert_eq!(output.status.code(), Some(exit_code), "{}", stdout(&output));
    stdout(&output).replace(directory.path().to_str().unwrap(), "/etc/mcp")
}

#[test]
fn the_broken_catalog_has_the_faults_that_are_shown() {
    let (_, behind) = chapter("catalog").split_once("<!-- broken catalog -->\n").unwrap();
    let expected = behind.split_once("```text\n").unwrap().1.split("```").next().unwrap();
    assert_eq!(check_catalog(block("catalog", "broken catalog"), 78), expected);
}

#[test]
fn the_example_catalog_is_proven() {
    let report = check_catalog(block("catalog", "example catalog"), 1);
    let faults = report.lines().filter(|line| line.starts_with("FAIL") && !line.starts_with("FAIL  sql: "));
    assert_eq!(faults.count(), 0, "{report}");
    assert!(report.contains("catalog: 1 entr"), "{report}");
}

#[test]
fn settings_and_rules_are_the_programs() {
    let supported = table::ALL.iter().filter(|setting| setting.is_supported());
    let row = |setting: &Setting| {
        let (default, allowed) = (setting.default(), setting.allowed());
        format!("| `{}` | {default} | {allowed} | {} |", setting.name, setting.doc)
    };
    let head = ["| variable | default | allowed | what it does |", "|---|---|---|---|"].map(str::to_owned);
    assert_eq!(rows("settings", "settings"), head.into_iter().chain(supported.map(row)).collect::<Vec<_>>());
    let rules = rows("catalog", "rules");
    let listed = |name: &str| rules.iter().any(|row| row.starts_with(&format!("| `{name}` |")));
    let missing: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).filter(|name| !listed(name)).collect();
    assert_eq!(missing, [""; 0], "rules that the manual does not list");
}

/// Compares an answer with an example in which `…` stands for anything.
fn is_like(answer: &str, example: &str) -> bool {
    let mut parts = example.split('…');
    let Some(mut rest) = answer.strip_prefix(parts.next().unwrap()) else { return false };
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    rest.is_empty() || example.ends_with('…')
}

#[test]
fn calls_on_the_demos_data_are_answered_as_shown() {
    let mut demo = command(&[]);
    demo.args(["demo", "--serve"]);
    let mut client = Client::of(demo);
    let examples = block("tools", "calls on the demo's data");
    let mut examples: Vec<String> = examples.lines().fold(Vec::new(), |mut examples, line| {
        match line.strip_prefix("  ").map(str::trim) {
            Some(result) => examples.last_mut().unwrap().push_str(result),
            None => examples.push(format!("{line}\n")),
        }
        examples
    });
    assert_eq!(examples.len(), 6);
    for example in examples.drain(..) {
        let (call, expected) = example.split_once('\n').unwrap();
        let (tool, arguments) = call.split_once(' ').unwrap();
        let result = client.use_tool(tool, serde_json::from_str(arguments).unwrap());
        let answer = result["content"][0]["text"].as_str().unwrap();
        assert!(is_like(answer, expected), "{call}\nanswer:  {answer}\nexample: {expected}");
    }
    client.end().cleanly();
}

/// Gives every statement of a block to a server whose database cannot be reached; the guard judges before it connects.
#[track_caller]
fn check_statements(mark: &str, is_expected: impl Fn(&Value) -> bool) {
    let mut client = Client::start(&[("MCP_SQL_DSN", "postgres://reader@127.0.0.1:1/app")]);
    let statements = block("sql-guard", mark);
    assert!(statements.lines().count() > 5, "{statements}");
    for statement in statements.lines() {
        let id = client.call("read_only_sql", serde_json::json!({ "query": statement }));
        let answer = client.answer(&id);
        assert!(is_expected(&answer), "{statement}\n{answer}");
    }
    client.end().cleanly();
}

#[test]
fn statements_are_accepted_and_refused_as_shown() {
    check_statements("accepted", |answer| answer["error"]["code"] == -32603);
    check_statements("refused", |answer| problem(&answer["result"])["code"] == "MCP_QUERY_VIOLATION");
}

#[test]
fn every_problem_that_is_explained_exists() {
    let explained = chapter("errors").lines().filter(|line| line.starts_with("| `MCP_"));
    let codes: Vec<&str> = explained.map(|row| row.split('`').nth(1).unwrap()).collect();
    let unknown: Vec<&&str> =
        codes.iter().filter(|code| !Code::ALL.iter().any(|known| known.row().code == **code)).collect();
    assert!(codes.len() > 6 && unknown.is_empty(), "{unknown:?}");
}

#[test]
fn every_link_of_the_readme_and_its_neighbours_leads_to_a_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for page in ["README.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md", "fuzz/README.md"] {
        let text = fs::read_to_string(root.join(page)).unwrap();
        let directory = root.join(page).parent().unwrap().to_owned();
        let targets = text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
        let missing: Vec<&str> = targets
            .filter(|target| !target.starts_with("https://") && !directory.join(target).is_file())
            .collect();
        assert_eq!(missing, [""; 0], "{page}");
    }
    assert!(README.lines().count() <= 200, "the README is a page, not the manual");
    for Chapter { topic, summary, .. } in CHAPTERS {
        assert!(README.contains(&format!("| [{topic}](src/manual/{topic}.md) |")), "{topic}: {summary}");
    }
}

#[test]
fn the_manual_is_listed_and_printed_and_an_unknown_topic_is_usage() {
    let list = run(&["manual"]);
    for Chapter { topic, summary, .. } in CHAPTERS {
        let line = stdout(&list).lines().find(|line| line.trim_start().starts_with(&format!("{topic} ")));
        assert!(line.is_some_and(|line| line.ends_with(summary)), "{topic}");
        let printed = run(&["manual", topic]);
        assert!(printed.status.success() && stdout(&printed).starts_with("# "), "{topic}");
    }
    let unknown = run(&["manual", "setings"]);
    let stderr = String::from_utf8(unknown.stderr).unwrap();
    assert_eq!((unknown.status.code(), unknown.stdout.len()), (Some(2), 0), "{stderr}");
    assert!(
        stderr.contains("'setings'") && stderr.contains("possible values: getting-started, "),
        "{stderr}"
    );
}
