//! What the README promises that a test can see.

use std::process::Command;

use mcp_server_suite::settings::table;

const README: &str = include_str!("../../README.md");

/// What stands between the last `open` of `text` and the end of its code block.
fn last_block<'t>(text: &'t str, open: &str) -> &'t str {
    text.rsplit(open).next().unwrap().split("```").next().unwrap()
}

#[test]
fn what_it_shows_a_shell_asking_is_answered_word_for_word() {
    let mut checked = 0;
    let mut parts = README.split("<!-- check: ");
    let mut before = parts.next().unwrap();
    for part in parts {
        let script = last_block(before, "```sh\n")
            .replace("target/release/mcp-server-suite", env!("CARGO_BIN_EXE_mcp-server-suite"));
        let expected = part.split_once("```json\n").unwrap().1.split("```").next().unwrap();
        let output = Command::new("sh").args(["-c", &script]).env_clear().output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{script}");
        assert!(output.status.success(), "{script}");
        checked += 1;
        before = part;
    }
    assert_eq!(checked, 2);
}

#[test]
fn what_check_says_of_a_broken_catalog_is_what_it_shows() {
    let (_, shown) = README.split_once("<!-- broken catalog -->\n```toml\n").unwrap();
    let (catalog, behind) = shown.split_once("```").unwrap();
    let expected = behind.split_once("```text\n").unwrap().1.split("```").next().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("assets.toml");
    std::fs::write(&path, catalog).unwrap();
    let mut check = Command::new(env!("CARGO_BIN_EXE_mcp-server-suite"));
    let output = check.arg("check").env_clear().env("MCP_CATALOG", &path).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said.replace(directory.path().to_str().unwrap(), "/etc/mcp"), expected);
    assert_eq!(output.status.code(), Some(78));
}

#[test]
fn its_settings_are_the_programs() {
    let shown = README.split_once("<!-- settings -->\n").unwrap().1;
    let table: Vec<&str> = shown.lines().take_while(|line| line.starts_with('|')).collect();
    assert_eq!(table, table::markdown().lines().collect::<Vec<_>>());
}
