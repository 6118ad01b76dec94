//! The one table of settings, a line a setting. Parsing, `--help` and `client-config` derive from it; a test compares the
//! manual's table with it.

use super::setting::{Kind, Setting};

/// Every setting, in the order of the documentation.
#[rustfmt::skip]
pub static ALL: &[Setting] = &[
    word("MCP_LOG_LEVEL", "info", &["error", "warn", "info", "debug", "trace"], "How much is logged"),
    path("MCP_LOG_FILE", "", "a file to append to",
        "Where the log goes instead of stderr; without it nothing is logged when stderr is the client's own stream"),
    number("MCP_MAX_FRAME_BYTES", 1_048_576, (1_024, 16_777_216), "The longest line a client may send, in bytes"),
    number("MCP_MAX_CONCURRENCY", 16, (1, 256), "Calls that run at once"),
    number("MCP_QUEUE_WAIT_MS", 5_000, (0, 600_000), "How long a call waits for a slot, in ms"),
    number("MCP_QUEUE_CAPACITY", 1_024, (1, 65_536), "Calls that wait at once"),
    number("MCP_CALL_TIMEOUT_MS", 30_000, (10, 600_000), "How long a call runs, in ms"),
    number("MCP_SHUTDOWN_GRACE_MS", 5_000, (0, 60_000), "How long running calls may finish at the end, in ms"),
    number("MCP_MAX_RESPONSE_BYTES", 65_536, (4_096, 1_048_576), "The longest JSON body of a SQL tool, in bytes"),
    secret("MCP_SQL_DSN",
        "`postgres://…`, `postgresql://…` or `key=value …`, with libpq's `sslmode`, `sslrootcert`, `sslcert`, `sslkey`, \
         several hosts, `target_session_attrs`",
        "The database; switches the SQL tools on. The password may come from `PGPASSWORD` or a passfile instead"),
    path("MCP_SQL_DSN_FILE", "", "a file that holds one connection string", "The same, kept out of the environment"),
    number("MCP_SQL_POOL_MAX_SIZE", 4, (1, 64), "Connections to the database"),
    word("MCP_SQL_POOLER", "none", &["none", "transaction"], "`transaction`: PgBouncer or its kind stands in between"),
    number("MCP_SQL_CONNECT_TIMEOUT_MS", 5_000, (100, 60_000), "How long connecting takes, in ms"),
    number("MCP_SQL_STATEMENT_TIMEOUT_MS", 5_000, (1, 600_000), "How long a statement runs, in ms"),
    number("MCP_SQL_MAX_ROWS", 1_000, (1, 100_000), "The most rows a client may ask for"),
    number("MCP_SQL_MAX_CELL_CHARS", 1_000, (100, 100_000), "The longest cell; longer ones are cut"),
    text("MCP_SQL_ALLOW_FUNCTIONS", "a comma list of `name`, `schema.name`, `prefix_*`, `@set`",
        "Functions a query may call beyond the built-in list"),
    text("MCP_IGNORE_ARGUMENTS", "a comma list of names that no tool has among its arguments",
        "Arguments that a client adds and the model never wrote; they are dropped before anything is judged"),
    word("MCP_SQL_ADHOC", "true", BOOL,
        "`false`: no `read_only_sql`, `explain_query`, `describe_database`; the default with `MCP_CATALOG`"),
    path("MCP_CATALOG", "", "a TOML file, or a directory of them", "A catalog of reviewed queries; each becomes a tool"),
    text("MCP_SENSITIVE_WORDS", "a comma list of words of 3 or more letters, digits, `_` and `-`",
        "Words that, anywhere in a name, say that it holds a secret, beyond the built-in ones; for the catalog and the role"),
    word("MCP_SQL_UNSAFE_ROLE", "refuse", &["refuse", "warn", "strict"],
        "What a role that a read-only transaction cannot hold leads to; `strict`: any privilege beyond the need refuses"),
    path("MCP_SAFE_DATA_DIR", "", "an existing directory without /proc in it",
        "The directory of files; switches the file tools on"),
    number("MCP_FS_MAX_BYTES", 1_048_576, (1, 2_097_152), "The most bytes a client may ask of a file at once"),
    word("MCP_METRICS_ENABLED", "true", BOOL, "Whether there is `system_metrics`"),
    path("MCP_METRICS_DISK_PATH", "/", "an existing path", "The file system whose space is told; its path never is"),
    word("MCP_CONFINE", "auto", &["auto", "require", "off"],
        "What the process gives up at start: what the kernel offers, with a warning for what it lacks; `require`: all of it, \
         or no start"),
    unsupported("MCP_POLICY", "Who may call what"),
    unsupported("MCP_TOOL_PINS", "Pinned tool definitions"),
    unsupported("MCP_PLAN", "The plan of a run"),
    unsupported("MCP_CALLER_TOKEN", "Who calls"),
    unsupported("MCP_CALLER_TOKEN_FILE", "Who calls"),
    unsupported("MCP_STATE_DIR", "State that outlives the process"),
    unsupported("MCP_AUDIT_FILE", "An audit trail"),
    unsupported("MCP_AUDIT_ARGS", "What the audit trail tells of arguments"),
];

type Words = &'static str;

const BOOL: &[Words] = &["true", "false"];

const fn number(name: Words, default: u64, (min, max): (u64, u64), doc: Words) -> Setting {
    Setting { name, kind: Kind::Number { default, min, max }, allowed: "", doc }
}

const fn word(name: Words, default: Words, allowed: &'static [Words], doc: Words) -> Setting {
    Setting { name, kind: Kind::Word { default, allowed }, allowed: "", doc }
}

const fn path(name: Words, default: Words, allowed: Words, doc: Words) -> Setting {
    Setting { name, kind: Kind::Path { default }, allowed, doc }
}

const fn text(name: Words, allowed: Words, doc: Words) -> Setting {
    Setting { name, kind: Kind::Text, allowed, doc }
}

const fn secret(name: Words, allowed: Words, doc: Words) -> Setting {
    Setting { name, kind: Kind::Secret, allowed, doc }
}

const fn unsupported(name: Words, doc: Words) -> Setting {
    Setting { name, kind: Kind::Unsupported, allowed: "nothing: this build cannot honour it", doc }
}

/// Returns the setting of this name.
pub fn find(name: &str) -> Option<&'static Setting> {
    ALL.iter().find(|setting| setting.name == name)
}

/// Renders the settings that this build honours as `--help` shows them.
pub fn help() -> String {
    let supported = ALL.iter().filter(|setting| setting.is_supported());
    let rows = supported.map(|setting| {
        let (default, allowed) = (setting.default(), setting.allowed());
        format!("  {}  (default: {default})\n      {}\n      allowed: {allowed}\n", setting.name, setting.doc)
    });
    format!("Settings (environment variables; empty is unset):\n{}", rows.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_named_once_and_its_default_is_allowed() {
        for (index, setting) in ALL.iter().enumerate() {
            assert!(setting.name.starts_with("MCP_"), "{}", setting.name);
            assert!(
                ALL.iter().skip(index + 1).all(|other| other.name != setting.name),
                "{} twice",
                setting.name
            );
            assert!(!setting.doc.ends_with('.') && !setting.doc.contains('|'), "{}", setting.name);
            match &setting.kind {
                Kind::Number { default, min, max } => {
                    assert!((min..=max).contains(&default), "{}", setting.name)
                }
                Kind::Word { default, allowed } => assert!(allowed.contains(default), "{}", setting.name),
                Kind::Text | Kind::Secret | Kind::Path { .. } | Kind::Unsupported => (),
            }
        }
    }
}
