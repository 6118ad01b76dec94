//! Help, usage, `check` and `client-config`, with their exit codes.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::{check, finish, suite};

#[test]
fn help_and_version_are_answers_and_an_unknown_command_is_a_usage_error() {
    assert_eq!(
        check(&["--version"], &[], 0).0,
        concat!("mcp-server-suite ", env!("CARGO_PKG_VERSION"), "\n")
    );
    let (help, _) = check(&["--help"], &[], 0);
    assert!(help.contains("client-config") && help.contains("MCP_SAFE_DATA_DIR"), "{help}");
    let (stdout, stderr) = check(&["nonsense"], &[], 2);
    assert!(stdout.is_empty() && stderr.contains("'nonsense'"), "{stdout}{stderr}");
}

#[test]
fn every_wrong_setting_is_a_line_on_stderr_and_the_exit_code_is_78() {
    let wrong =
        [("MCP_LOG_LEVEL", "loud"), ("MCP_SQL_DSN", "mysql://u:hunter2@h/d"), ("MCP_POLICY", "/p.toml")];
    for command in ["serve", "client-config", "check"] {
        let (stdout, stderr) = check(&[command], &wrong, 78);
        let names: Vec<&str> = stderr.lines().map(|line| line.split_once(':').unwrap().0).collect();
        assert_eq!(names, ["MCP_LOG_LEVEL", "MCP_SQL_DSN", "MCP_POLICY"]);
        assert_eq!(stdout.is_empty(), command != "check", "{stdout}");
        assert!(!format!("{stdout}{stderr}").contains("hunter2"), "{stdout}{stderr}");
    }
}

#[test]
fn an_argument_of_a_tool_cannot_be_ignored() {
    for name in ["query", "sample_ms"] {
        let (_, stderr) = check(&["check"], &[("MCP_IGNORE_ARGUMENTS", &format!("a,{name}"))], 78);
        assert!(
            stderr.contains(&format!("MCP_IGNORE_ARGUMENTS: '{name}' is an argument of a tool")),
            "{stderr}"
        );
    }
}

#[test]
fn check_reports_everything_with_a_cure() {
    let (report, _) = check(&["check"], &[("MCP_METRICS_ENABLED", "false")], 0);
    assert!(report.contains("off   metrics: MCP_METRICS_ENABLED is false\n"), "{report}");
    assert!(report.ends_with("\nready\n"), "{report}");
    let near_miss = [("MCP_SQL_DNS", "x")];
    check(&["check"], &near_miss, 0);
    let (report, _) = check(&["check", "--strict", "--json"], &near_miss, 1);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["ready"], false);
    let warning = "MCP_SQL_DNS is no setting; did you mean MCP_SQL_DSN?";
    assert!(
        report["findings"].as_array().unwrap().iter().any(|finding| finding["text"] == warning),
        "{report}"
    );
    let (report, _) = check(&["check", "--json"], &[("MCP_FS_MAX_BYTES", "0")], 78);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["findings"][0]["cure"], "allowed: 1 to 2097152");
}

#[test]
fn check_fails_when_the_database_is_down() {
    let (report, _) = check(&["check"], &[("MCP_SQL_DSN", "postgres://reader@127.0.0.1:1/assets")], 1);
    assert!(report.contains("FAIL  sql: ") && report.ends_with("\nnot ready\n"), "{report}");
}

#[test]
fn client_config_prints_a_block_to_paste_without_secrets() {
    let settings =
        [("MCP_SQL_DSN", "postgres://reader:hunter2@localhost/assets"), ("MCP_SQL_MAX_ROWS", "50")];
    let (stdout, stderr) = check(&["client-config", "--client", "vscode"], &settings, 0);
    let block: Value = serde_json::from_str(&stdout).unwrap();
    let server = &block["servers"]["mcp-server-suite"];
    assert_eq!(server["command"], env!("CARGO_BIN_EXE_mcp-server-suite"));
    assert_eq!(server["env"]["MCP_SQL_MAX_ROWS"], "50");
    assert!(
        stderr.contains("MCP_SQL_DSN_FILE") && !format!("{stdout}{stderr}").contains("hunter2"),
        "{stderr}"
    );
}

#[test]
fn client_config_names_files_of_the_connection_string_by_absolute_paths() {
    let directory = tempfile::tempdir().unwrap();
    let passfile = directory.path().join("pass file");
    fs::write(&passfile, "*:*:*:*:hunter2\n").unwrap();
    fs::set_permissions(&passfile, fs::Permissions::from_mode(0o600)).unwrap();
    let dsn = "host=localhost sslmode=disable user=r passfile='pass file'";
    fs::write(directory.path().join("dsn"), dsn).unwrap();
    let printed = |name: &str, value: &str| {
        let mut command = suite(&["client-config"], &[(name, value)]);
        let output = finish(command.current_dir(&directory).spawn().unwrap());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let block: Value = serde_json::from_slice(&output.stdout).unwrap();
        let said = format!("{block}{}", String::from_utf8(output.stderr).unwrap());
        assert!(!said.contains("hunter2"), "{said}");
        (block["mcpServers"]["mcp-server-suite"]["env"][name].as_str().unwrap().to_owned(), said)
    };
    let passfile = passfile.to_str().unwrap();
    let (given, _) = printed("MCP_SQL_DSN", dsn);
    assert_eq!(given, dsn.replace("pass file", passfile));
    let (_, said) = printed("MCP_SQL_DSN_FILE", "dsn");
    assert!(said.contains("passfile: a client starts the server in a directory of its own"), "{said}");
    assert!(said.contains(&format!("write {passfile} into the connection string")), "{said}");
}

#[test]
fn client_config_warns_of_a_value_that_a_client_would_replace() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("${HOME}");
    fs::create_dir(&path).unwrap();
    let (_, stderr) = check(&["client-config"], &[("MCP_METRICS_DISK_PATH", path.to_str().unwrap())], 0);
    assert!(stderr.starts_with("MCP_METRICS_DISK_PATH: clients put something of their own"), "{stderr}");
}

#[test]
fn client_config_names_the_place_of_a_password_from_the_environment() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "postgres://reader@localhost/assets").unwrap();
    for (name, value) in [
        ("MCP_SQL_DSN", "postgres://reader@localhost/assets"),
        ("MCP_SQL_DSN_FILE", file.path().to_str().unwrap()),
    ] {
        let (stdout, stderr) = check(&["client-config"], &[(name, value), ("PGPASSWORD", "hunter2")], 0);
        assert!(
            stdout.contains("MCP_SQL_DSN_FILE") && stderr.contains("MCP_SQL_DSN_FILE"),
            "{stdout}{stderr}"
        );
        assert!(!format!("{stdout}{stderr}").contains("hunter2"), "{stdout}{stderr}");
    }
}
