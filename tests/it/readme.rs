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
fn its_settings_are_the_programs() {
    let shown = README.split_once("<!-- settings -->\n").unwrap().1;
    let table: Vec<&str> = shown.lines().take_while(|line| line.starts_with('|')).collect();
    assert_eq!(table, table::markdown().lines().collect::<Vec<_>>());
}
