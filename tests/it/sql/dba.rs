//! An administrator's queries with `@catalog,@monitoring`, and what a caller may ask of the database without any setting.

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::support::{Client, problem};

/// A table with what the queries look for, and a role that may see the statistics of others.
const SETUP: &str = "
    CREATE TABLE orders (id int PRIMARY KEY, customer int REFERENCES item, total numeric, mood mood DEFAULT 'sad');
    CREATE INDEX one ON orders (customer); CREATE INDEX other ON orders (customer);
    COMMENT ON TABLE orders IS 'What was sold'; COMMENT ON COLUMN orders.total IS 'In euros';
    CREATE VIEW sold AS SELECT total FROM orders;
    INSERT INTO orders SELECT n, n, n * 1.5 FROM generate_series(1, 100) n;
    ANALYZE orders; GRANT SELECT ON orders, sold TO reader;
";

fn ask(client: &mut Client, sql: &str) -> Result<Value, Value> {
    let result = client.use_tool("read_only_sql", json!({ "query": sql }));
    if result["isError"] == true { Err(problem(&result)) } else { Ok(result["structuredContent"].clone()) }
}

/// The scripts of `dba.sql`, with their titles.
fn scripts() -> impl Iterator<Item = (&'static str, &'static str)> {
    let text = include_str!("dba.sql").split_once("\n\n").unwrap().1;
    text.split(";\n").filter_map(|script| script.trim_start().strip_prefix("-- ")?.split_once('\n'))
}

#[test]
fn the_queries_of_administrators_are_answered_with_two_sets() {
    let cluster = Cluster::shared();
    let name = cluster.database(SETUP);
    let mut admin = cluster.admin(&name);
    admin
        .batch_execute(
            "CREATE ROLE it_dba LOGIN; GRANT pg_monitor TO it_dba; GRANT SELECT ON orders TO it_dba",
        )
        .unwrap();
    let mut psql = cluster.client("it_dba", &name);
    let dsn = cluster.socket_dsn("it_dba", &name);
    let settings = [("MCP_SQL_DSN", dsn.as_str()), ("MCP_SQL_ALLOW_FUNCTIONS", "@catalog,@monitoring")];
    let mut client = Client::initialized(&settings, "2025-11-25");
    let (mut wrong, mut answered) = (Vec::new(), 0);
    for (title, sql) in scripts() {
        // A release may have other columns; what PostgreSQL refuses does not count.
        match psql.simple_query(sql).map(|_| ask(&mut client, sql)) {
            Ok(Ok(_)) => answered += 1,
            Ok(Err(problem)) => wrong.push(format!("{title}: {}", problem["detail"])),
            Err(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(answered >= 50, "{answered}");
    client.end().cleanly();

    // The membership is more than needed, which only the strict mode refuses.
    let strict = [settings[0], settings[1], ("MCP_SQL_UNSAFE_ROLE", "strict")];
    let mut client = Client::initialized(&strict, "2025-11-25");
    assert_eq!(ask(&mut client, "SELECT 1").unwrap_err()["code"], "MCP_ACCESS_DENIED");
    client.end().cleanly();
    admin.batch_execute("DROP OWNED BY it_dba; DROP ROLE it_dba").unwrap();
}

/// Statements that need no setting, with their one cell.
const BY_DEFAULT: &[(&str, &str)] = &[
    ("SELECT (current_database() LIKE 'it%')::text", "true"),
    ("SELECT current_catalog = current_database() AND version() LIKE 'PostgreSQL %'", "true"),
    ("SELECT current_schema() || current_schema", "publicpublic"),
    ("SELECT 'orders'::regclass::text || 'int'::regtype::text", "ordersinteger"),
    ("SELECT pg_catalog.format_type('orders'::regtype::oid, NULL)", "orders"),
    ("SELECT pg_size_pretty(pg_total_relation_size('orders') * 0)", "0 bytes"),
    ("SELECT obj_description('orders'::regclass, 'pg_class')", "What was sold"),
    ("SELECT col_description('orders'::regclass, 3)", "In euros"),
    ("SELECT pg_get_indexdef('one'::regclass)", "CREATE INDEX one ON public.orders USING btree (customer)"),
    ("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'orders_pkey'", "PRIMARY KEY (id)"),
    ("SELECT pg_get_viewdef('sold'::regclass) LIKE '%total%'", "true"),
    (
        "SELECT has_table_privilege('orders', 'SELECT') AND NOT has_table_privilege('hidden', 'SELECT')",
        "true",
    ),
    ("SELECT array_to_string(enum_range(NULL::mood), ',')", "sad,so so"),
    ("SELECT enum_first(NULL::mood)::text || enum_last(mood)::text FROM orders LIMIT 1", "sadso so"),
    ("SELECT to_tsvector('simple'::regconfig, 'The cats')::text", "'cats':2 'the':1"),
];

/// Statements that need a set, which the refusal names.
const BY_A_SET: &[(&str, &str)] = &[
    ("SELECT current_setting('app.key', true)", "=@catalog"),
    ("SELECT pg_catalog.current_setting('app.key', true)", "=@catalog"),
    ("SELECT pg_get_functiondef(1)", "=@catalog"),
    ("SELECT pg_catalog.pg_get_functiondef(1)", "=@catalog"),
    ("SELECT pg_relation_size('orders')", "=@catalog"),
    ("SELECT 'now'::regproc", "=@catalog"),
    ("SELECT 'reader'::regrole", "=@catalog"),
    ("SELECT pg_backend_pid()", "=@monitoring"),
    ("SELECT pg_catalog.pg_wal_lsn_diff('0/1', '0/0')", "=@monitoring"),
    ("SELECT pg_blocking_pids(1)", "=@monitoring"),
    ("SELECT * FROM pg_control_system()", "=@monitoring"),
    ("SELECT * FROM pg_stat_activity", "@catalog"),
    ("SELECT pg_stat_reset()", "never allowed"),
    ("SELECT pg_stat_reset_shared('wal')", "never allowed"),
];

#[test]
fn the_database_may_be_described_by_default_and_settings_may_not() {
    let cluster = Cluster::shared();
    let url = cluster.url(&cluster.database(SETUP));
    let mut client = Client::initialized(&[("MCP_SQL_DSN", &url)], "2025-11-25");
    for (sql, expected) in BY_DEFAULT {
        let answer = ask(&mut client, sql).unwrap_or_else(|problem| panic!("{sql}: {problem}"));
        let cell = &answer["rows"][0][0];
        let text = cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
        assert_eq!(&text, expected, "{sql}");
    }
    for (sql, set) in BY_A_SET {
        let detail = ask(&mut client, sql).expect_err(sql)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(set), "{sql}: {detail}");
    }
    client.end().cleanly();

    // `pg_catalog.f` allows `f`, and `@monitoring` nothing that only begins like it.
    let allowed = "pg_catalog.current_setting, pg_catalog.pg_relation_*,@monitoring";
    let mut client =
        Client::initialized(&[("MCP_SQL_DSN", &url), ("MCP_SQL_ALLOW_FUNCTIONS", allowed)], "2025-11-25");
    for sql in [
        "SELECT current_setting('block_size')",
        "SELECT pg_catalog.current_setting('block_size')",
        "SELECT pg_relation_size('orders')",
        "SELECT pg_backend_pid(), pg_catalog.pg_postmaster_start_time()",
    ] {
        ask(&mut client, sql).unwrap_or_else(|problem| panic!("{sql}: {problem}"));
    }
    for sql in ["SELECT pg_stat_reset()", "SELECT pg_terminate_backend(1)", "SELECT pg_get_functiondef(1)"] {
        ask(&mut client, sql).expect_err(sql);
    }
    client.end().cleanly();
}
