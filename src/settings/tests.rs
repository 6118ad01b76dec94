use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use log::LevelFilter;

use super::*;
use crate::tools::files::root::Root;

fn read(vars: &[(&str, &str)]) -> Result<Settings, Vec<SettingError>> {
    Settings::read(vars.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))))
        .map_err(|misconfigured| misconfigured.errors)
}

#[test]
fn a_likely_mistake_is_reported_also_when_a_setting_is_wrong() {
    let vars = [("MCP_LOG_LEVEL", "loud"), ("MCP_QUEUE_WIAT_MS", "1")];
    let misconfigured = Settings::read(vars.map(|(name, value)| (name.into(), value.into()))).unwrap_err();
    assert_eq!(misconfigured.errors.len(), 1);
    assert!(misconfigured.warnings[0].contains("MCP_QUEUE_WAIT_MS"), "{:?}", misconfigured.warnings);
}

#[track_caller]
fn check_wrong(vars: &[(&str, &str)], expected: &[&str]) {
    let errors = read(vars).expect_err("settings that are wrong");
    assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
}

#[test]
fn an_empty_environment_is_the_defaults() {
    let settings = read(&[]).unwrap();
    assert_eq!(settings.log_level, LevelFilter::Info);
    assert_eq!(settings.server.max_frame_bytes, 1_048_576);
    assert_eq!(settings.server.call_timeout, Duration::from_secs(30));
    assert!(settings.sql.is_none() && settings.sql_adhoc && settings.files.is_none());
    assert_eq!(settings.metrics_disk_path.as_deref(), Some(Path::new("/")));
    assert!(settings.warnings.is_empty() && settings.given.is_empty());
}

#[test]
fn every_wrong_setting_is_reported_at_once() {
    check_wrong(
        &[
            ("MCP_LOG_LEVEL", "loud"),
            ("MCP_MAX_CONCURRENCY", "0"),
            ("MCP_QUEUE_WAIT_MS", "5s"),
            ("MCP_SAFE_DATA_DIR", "/proc/self/no\nsuch"),
            ("MCP_POLICY", "/etc/policy.toml"),
            ("MCP_CONFINE", "strict"),
        ],
        &[
            "MCP_LOG_LEVEL: 'loud' is not one of the words; allowed: error, warn, info, debug, trace",
            "MCP_MAX_CONCURRENCY: '0' is out of range; allowed: 1 to 256",
            "MCP_QUEUE_WAIT_MS: '5s' is not a whole number; allowed: 0 to 600000",
            &format!(
                "MCP_SAFE_DATA_DIR: cannot open '/proc/self/no\\nsuch': {}; allowed: an existing directory without \
                 /proc in it",
                Root::open(Path::new("/proc/self/no\nsuch")).unwrap_err()
            ),
            "MCP_CONFINE: 'strict' is not one of the words; allowed: auto, require, off",
            "MCP_POLICY: is set, and this build would not keep what it promises; allowed: nothing: this build cannot \
             honour it",
        ],
    );
}

#[test]
fn both_ends_of_every_range_are_allowed_and_values_beyond_are_not() {
    for setting in table::ALL {
        let Kind::Number { min, max, .. } = setting.kind else { continue };
        for (value, good) in [(min, true), (max, true), (max + 1, false)] {
            assert_eq!(read(&[(setting.name, &value.to_string())]).is_ok(), good, "{}={value}", setting.name);
        }
        assert!(min == 0 || read(&[(setting.name, &(min - 1).to_string())]).is_err(), "{}", setting.name);
        assert!(read(&[(setting.name, "-1")]).is_err(), "{}", setting.name);
    }
}

#[test]
fn a_setting_that_this_build_cannot_honour_is_refused() {
    for setting in table::ALL.iter().filter(|setting| !setting.is_supported()) {
        assert!(read(&[(setting.name, "x")]).is_err(), "{}", setting.name);
    }
}

#[test]
fn a_data_directory_that_would_show_the_connection_string_is_refused() {
    for path in ["/", "/proc", "/proc/self", "/proc/self/.."] {
        let wrong = format!(
            "MCP_SAFE_DATA_DIR: '{path}' holds /proc, which tells the connection string and other secrets; allowed: an \
             existing directory without /proc in it"
        );
        check_wrong(&[("MCP_SAFE_DATA_DIR", path)], &[&wrong]);
    }
    assert!(read(&[("MCP_SAFE_DATA_DIR", "/etc")]).unwrap().files.is_some());
}

#[test]
fn empty_is_unset() {
    let settings = read(&[("MCP_POLICY", ""), ("MCP_MAX_CONCURRENCY", ""), ("MCP_SQL_DSN", "")]).unwrap();
    assert_eq!(settings.server.max_concurrency, 16);
    assert!(settings.sql.is_none() && settings.given.is_empty());
}

#[test]
fn a_default_is_lowered_with_its_ceiling_and_a_given_value_is_not() {
    let dsn = ("MCP_SQL_DSN", "postgres://reader@localhost/db");
    let sql =
        read(&[dsn, ("MCP_CALL_TIMEOUT_MS", "900"), ("MCP_MAX_CONCURRENCY", "2")]).unwrap().sql.unwrap();
    assert_eq!(sql.statement_timeout, Duration::from_millis(900));
    assert_eq!(sql.connect_timeout, Duration::from_millis(900));
    assert_eq!((sql.pool_max_size, sql.max_stuck), (2, 2));
    let given =
        read(&[dsn, ("MCP_CALL_TIMEOUT_MS", "900"), ("MCP_SQL_STATEMENT_TIMEOUT_MS", "2000")]).unwrap();
    assert_eq!(given.sql.unwrap().statement_timeout, Duration::from_secs(2));
}

#[test]
fn a_secret_is_never_shown() {
    let secret = "mysql://root:hunter2@db/x";
    let errors = read(&[("MCP_SQL_DSN", secret)]).unwrap_err();
    assert!(!format!("{errors:?}").contains("hunter2"));
    let settings = read(&[("MCP_SQL_DSN", "postgres://r:hunter2@db/x")]).unwrap();
    assert!(!format!("{:?}", settings.given).contains("hunter2"));
}

#[test]
fn the_dsn_may_come_from_a_file_and_only_from_one_place() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("dsn");
    let path = file.to_str().unwrap();
    fs::write(&file, "postgres://reader@localhost/db\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let settings = read(&[("MCP_SQL_DSN_FILE", path)]).unwrap();
    assert!(settings.sql.is_some());
    assert_eq!(
        settings.warnings,
        ["MCP_SQL_DSN_FILE: everybody on this host can read the file; cure: chmod 600"]
    );
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(read(&[("MCP_SQL_DSN_FILE", path)]).unwrap().warnings.is_empty());
    check_wrong(
        &[("MCP_SQL_DSN", "postgres://a@b/c"), ("MCP_SQL_DSN_FILE", path)],
        &[
            "MCP_SQL_DSN_FILE: is set, and so is MCP_SQL_DSN: which of the two holds is unclear; allowed: a file that holds \
           one connection string",
        ],
    );
    assert!(read(&[("MCP_SQL_DSN_FILE", "/nonexistent/dsn")]).is_err());
    fs::write(&file, "\n").unwrap();
    check_wrong(
        &[("MCP_SQL_DSN_FILE", path)],
        &["MCP_SQL_DSN_FILE: names an empty file; allowed: a file that holds one connection string"],
    );
}

#[test]
fn a_value_that_is_not_text_is_reported() {
    let value = OsString::from_vec(vec![0xff]);
    let errors = Settings::read([(OsString::from("MCP_SQL_POOLER"), value)]).unwrap_err().errors;
    assert_eq!(errors.first().unwrap().wrong, Wrong::NotUtf8);
}

#[test]
fn a_name_close_to_a_setting_becomes_a_warning() {
    assert_eq!(read(&[("MCP_SQL_DNS", "x")]).unwrap().warnings.len(), 1);
}

#[test]
fn a_catalog_switches_ad_hoc_queries_off_and_its_faults_are_reported_with_the_settings() {
    let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    let path = file.path().to_str().unwrap();
    let catalog = "version = 1\ntables = [\"t\"]\n[[query]]\nname = \"all\"\ntitle = \"All\"\ndescription = \"All of it.\"\n\
                   tables = [\"t\"]\ncolumns = [\"a\"]\nsql = \"SELECT a FROM t ORDER BY a LIMIT 9\"\n";
    fs::write(&file, catalog).unwrap();
    let settings = read(&[("MCP_CATALOG", path)]).unwrap();
    assert!(settings.catalog.is_some() && !settings.sql_adhoc && !settings.uses_sql());
    assert_eq!(settings.warnings, ["MCP_CATALOG: none of its tools is on; cure: set MCP_SQL_DSN"]);
    let both = read(&[
        ("MCP_CATALOG", path),
        ("MCP_SQL_ADHOC", "true"),
        ("MCP_SQL_DSN", "postgres://reader@localhost/db"),
    ])
    .unwrap();
    assert!(both.sql_adhoc && both.uses_sql() && both.warnings.is_empty());
    let words = [("MCP_CATALOG", path), ("MCP_SENSITIVE_WORDS", "ssn, all of it")];
    let vars = words.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let misconfigured = Settings::read(vars).unwrap_err();
    assert_eq!(misconfigured.errors.len(), 1, "{:?}", misconfigured.errors);
    fs::write(&file, catalog.replace("LIMIT 9", "")).unwrap();
    let vars = [("MCP_CATALOG", path), ("MCP_LOG_LEVEL", "loud")];
    let vars = vars.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let misconfigured = Settings::read(vars).unwrap_err();
    assert_eq!((misconfigured.errors.len(), misconfigured.catalog.len()), (2, 1));
}
