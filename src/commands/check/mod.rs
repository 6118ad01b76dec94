//! `check`: every setting and file loaded, every dependency asked, and a report with a cure for each fault.

mod finding;
mod catalog;
mod connection;

use std::io;

use clap::Args;
use serde_json::json;

use crate::VERSION;
use crate::commands::console::{Exit, print};
use crate::confine::{self, Confinement, Inherited, Mode, Needs};
use crate::diagnostics;
use crate::postgres::{Database, Probe, RoleFinding, SqlConfig, StuckBackend, UnsafeRole};
use crate::settings::{Misconfigured, SettingError, Settings};
use crate::tools::catalog::Catalog;
use finding::{Finding, Level, Spot};

/// The options of `check`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// A warning is a failure
    #[arg(long)]
    strict: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(
    options: &Options,
    settings: Result<Settings, Misconfigured>,
    inherited: Inherited,
) -> io::Result<Exit> {
    let (findings, exit) = match settings {
        Ok(settings) => {
            let findings = examine(settings, inherited)?;
            let exit = verdict(&findings, options.strict);
            (findings, exit)
        }
        Err(Misconfigured { errors, catalog, warnings, .. }) => {
            errors.iter().for_each(|error| diagnostics::report_fatal(&error.to_string()));
            let mut findings: Vec<Finding> = errors.iter().map(misconfigured).collect();
            findings.extend(catalog.iter().map(catalog::finding));
            findings.extend(warnings.into_iter().map(suspicious));
            (findings, Exit::Configuration)
        }
    };
    let report = if options.json { as_json(&findings, exit) } else { as_text(&findings, exit) };
    print(&report).map(|()| exit)
}

fn verdict(findings: &[Finding], strict: bool) -> Exit {
    let is_fault = |finding: &Finding| match finding.level {
        Level::Ok | Level::Off => false,
        Level::Warn => strict,
        Level::Fail => true,
    };
    if findings.iter().any(is_fault) { Exit::Failure } else { Exit::Clean }
}

fn misconfigured(SettingError { name, wrong, allowed }: &SettingError) -> Finding {
    Level::Fail.about("settings", format!("{name}: {wrong}")).cured_by(format!("allowed: {allowed}"))
}

fn suspicious(warning: String) -> Finding {
    Level::Warn.about("settings", warning)
}

fn examine(settings: Settings, inherited: Inherited) -> io::Result<Vec<Finding>> {
    let (needs, mode, uses_sql) = (settings.needs()?, settings.confine, settings.uses_sql());
    diagnostics::init(settings.log_level, settings.log_target);
    let given = format!("{} given, none of them wrong", settings.given.len());
    let mut findings = vec![Level::Ok.about("settings", given)];
    findings.extend(settings.warnings.into_iter().map(suspicious));
    findings.extend(settings.catalog.iter().flat_map(catalog::summary));
    let off = |subject, name: &str| Level::Off.about(subject, format!("{name} is unset"));
    match settings.sql {
        Some(config) if uses_sql => findings.extend(database(config, settings.catalog.as_ref())),
        Some(_) => findings.push(Level::Off.about("sql", "MCP_SQL_ADHOC is false")),
        None => findings.push(off("sql", "MCP_SQL_DSN").cured_by("set it to a connection string")),
    }
    findings.push(settings.files.map_or_else(
        || off("files", "MCP_SAFE_DATA_DIR").cured_by("set it to a directory"),
        |files| {
            Level::Ok
                .about("files", format!("the directory is open; at most {} bytes a read", files.max_bytes))
        },
    ));
    findings.push(match settings.metrics_disk_path {
        Some(_) => Level::Ok.about("metrics", "system_metrics is on"),
        None => Level::Off.about("metrics", "MCP_METRICS_ENABLED is false"),
    });
    findings.extend(confinement(mode, &needs, inherited));
    Ok(findings)
}

/// Asks the database, once, and then for each entry of the catalog.
fn database(config: SqlConfig, catalog: Option<&Catalog>) -> Vec<Finding> {
    let unsafe_role = config.unsafe_role;
    let mut findings = connection::warnings(&config);
    let database = Database::new(config);
    match database.probe() {
        Ok(probe) => {
            findings.extend(judge(probe, unsafe_role));
            findings.extend(catalog.into_iter().flat_map(|catalog| catalog::on_database(catalog, &database)));
        }
        Err(why) => findings.push(
            Level::Fail
                .about("sql", why.to_string())
                .cured_by("see that the server runs and that MCP_SQL_DSN names its host, database and role"),
        ),
    }
    findings
}

/// Confines this process as `serve` would, for good: nothing comes after it but the report.
fn confinement(mode: Mode, needs: &Needs, inherited: Inherited) -> Vec<Finding> {
    const SUBJECT: &str = "confinement";
    let level = match mode {
        Mode::Off => return vec![Level::Off.about(SUBJECT, "MCP_CONFINE is off").cured_by("unset it")],
        Mode::Auto => Level::Warn,
        Mode::Require => Level::Fail,
    };
    let Confinement { in_force, unenforced, .. } = confine::apply(needs, inherited);
    let in_force = in_force.into_iter().map(|what| Level::Ok.about(SUBJECT, what));
    let unenforced =
        unenforced.iter().map(|missing| level.about(SUBJECT, &missing.text).cured_by(missing.cure));
    in_force.chain(unenforced).collect()
}

fn judge(probe: Probe, unsafe_role: UnsafeRole) -> Vec<Finding> {
    let Probe { server_version, database, role, tls, findings, has_memory_settings, stuck } = probe;
    let tls = tls.map_or_else(|| "without TLS".to_owned(), |tls| format!("over {tls}"));
    let text = format!("PostgreSQL {server_version}: database {database} as role {role}, {tls}");
    let mut all = vec![Level::Ok.about("sql", text)];
    all.extend(findings.into_iter().map(|RoleFinding { dangerous, text, cure }| {
        let refuses = match unsafe_role {
            UnsafeRole::Refuse => dangerous,
            UnsafeRole::Warn => false,
            UnsafeRole::Strict => true,
        };
        let level = if refuses { Level::Fail } else { Level::Warn };
        level.about("role", text).cured_by(cure)
    }));
    if !has_memory_settings {
        let role = format!("\"{}\"", role.replace('"', "\"\""));
        let text = format!(
            "the role {role} has neither work_mem nor temp_file_limit: a careless query may take much of both"
        );
        let cure = format!(
            "ALTER ROLE {role} SET work_mem = '16MB'; ALTER ROLE {role} SET temp_file_limit = '256MB'. The memory of a \
             backend is really bounded only by its host: MemoryMax= of PostgreSQL's unit"
        );
        all.push(Level::Warn.about("role", text).cured_by(cure));
    }
    all.extend(stuck.into_iter().map(|StuckBackend { pid, seconds }| {
        let text = format!(
            "backend {pid} has run a statement for {seconds} s, longer than MCP_SQL_STATEMENT_TIMEOUT_MS: no cancel stops it"
        );
        Level::Warn.about("sql", text).cured_by(format!("SELECT pg_terminate_backend({pid})"))
    }));
    all
}

/// Renders a line for each finding, those of one entry of the catalog below its name, and each cure below its finding.
fn as_text(findings: &[Finding], exit: Exit) -> String {
    let mut text = String::new();
    let mut group = None;
    for Finding { level, subject, text: what, cure, spot } in findings {
        let word = match level {
            Level::Ok => "ok",
            Level::Off => "off",
            Level::Warn => "warn",
            Level::Fail => "FAIL",
        };
        let place = match spot {
            None => (*subject).to_owned(),
            Some(Spot { file, line, entry, rule }) => {
                if group.replace((file, entry)) != Some((file, entry)) {
                    let entry = entry.as_deref().map_or_else(String::new, |entry| format!("{entry}, "));
                    text += &format!("{subject}: {entry}{file}\n");
                }
                format!("line {line}: {rule}")
            }
        };
        text += &format!("{word:4}  {place}: {what}\n");
        text.extend(cure.iter().map(|cure| format!("      -> {cure}\n")));
    }
    text + if exit == Exit::Clean { "ready\n" } else { "not ready\n" }
}

fn as_json(findings: &[Finding], exit: Exit) -> String {
    let report = json!({
        "version": VERSION,
        "ready": exit == Exit::Clean,
        "exit_code": exit.code(),
        "findings": findings,
    });
    format!("{report:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(dangerous: bool) -> RoleFinding {
        RoleFinding { dangerous, text: "is a superuser".to_owned(), cure: "use another".to_owned() }
    }

    #[test]
    fn missing_memory_settings_and_stuck_backends_are_warnings() {
        let stuck = vec![StuckBackend { pid: 42, seconds: 7 }];
        let findings = judge(Probe { stuck, ..Probe::default() }, UnsafeRole::Refuse);
        let cures: Vec<_> = findings.iter().filter_map(|finding| finding.cure.as_deref()).collect();
        assert!(findings.iter().skip(1).all(|finding| finding.level == Level::Warn), "{findings:?}");
        assert!(
            cures[0].contains("MemoryMax=") && cures[1] == "SELECT pg_terminate_backend(42)",
            "{cures:?}"
        );
    }

    #[track_caller]
    fn check(dangerous: bool, unsafe_role: UnsafeRole, strict: bool, expected: Exit) {
        let probe = Probe {
            server_version: "15.4".to_owned(),
            database: "assets".to_owned(),
            role: "reader\n".to_owned(),
            findings: vec![role(dangerous)],
            has_memory_settings: true,
            ..Probe::default()
        };
        let findings = judge(probe, unsafe_role);
        assert_eq!(verdict(&findings, strict), expected);
        assert!(
            as_text(&findings, expected)
                .starts_with("ok    sql: PostgreSQL 15.4: database assets as role reader\\n, without TLS\n")
        );
    }

    #[test]
    fn a_role_is_judged_as_the_settings_ask() {
        check(true, UnsafeRole::Refuse, false, Exit::Failure);
        check(false, UnsafeRole::Refuse, false, Exit::Clean);
        check(false, UnsafeRole::Refuse, true, Exit::Failure);
        check(true, UnsafeRole::Warn, false, Exit::Clean);
        check(false, UnsafeRole::Strict, false, Exit::Failure);
    }

    #[test]
    fn the_reports_are_stable() {
        let findings = [
            Level::Off.about("sql", "MCP_SQL_DSN is unset").cured_by("set it"),
            Level::Fail.about("files", "gone"),
        ];
        assert_eq!(
            as_text(&findings, Exit::Failure),
            "off   sql: MCP_SQL_DSN is unset\n      -> set it\nFAIL  files: gone\nnot ready\n"
        );
        let json: serde_json::Value = serde_json::from_str(&as_json(&findings, Exit::Failure)).unwrap();
        assert_eq!(
            json,
            json!({"version": VERSION, "ready": false, "exit_code": 1, "findings": [
                {"level": "off", "subject": "sql", "text": "MCP_SQL_DSN is unset", "cure": "set it"},
                {"level": "fail", "subject": "files", "text": "gone"},
            ]})
        );
    }
}
