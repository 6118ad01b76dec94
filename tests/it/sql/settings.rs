//! Settings of databases and roles that decide which rows come: a call's rows are psql's.

use mcp_server_suite::NAME;
use postgres::{Config, NoTls, SimpleQueryMessage};
use serde_json::{Value, json};

use crate::cluster::{Cluster, PASSWORD, READER};
use crate::support::Client;

/// Orders at both sides of midnight, of a month and of a year, in the zones below.
const TABLES: &str = "
    CREATE TABLE orders (id int, placed timestamptz, local timestamp, day date, total numeric, stay interval);
    INSERT INTO orders SELECT n, timestamptz '2023-12-31 21:00:00+00' + n * interval '1 hour',
        timestamp '2023-12-31 21:00' + n * interval '1 hour', date '2024-01-01' + n % 3, n, n * interval '7 hours'
        FROM generate_series(1, 60) n;
    INSERT INTO orders VALUES (99, NULL, NULL, NULL, 0.5, NULL);
    CREATE SCHEMA shop; CREATE TABLE shop.item (id int); INSERT INTO shop.item VALUES (7);
    CREATE TABLE shop.orders_of_shop (id int); CREATE VIEW shop.recent AS SELECT * FROM public.orders WHERE placed >= '2024-01-02';
    GRANT USAGE ON SCHEMA shop TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA public, shop TO reader;
";

/// Settings of the database, in the form `ALTER DATABASE … SET` takes.
const DATABASES: &[&[&str]] = &[
    &[],
    &["TimeZone = 'America/New_York'"],
    &["TimeZone = 'Asia/Kathmandu'", "DateStyle = 'ISO, DMY'"],
    &["TimeZone = 'Europe/Berlin'", "DateStyle = 'ISO, YMD'", "IntervalStyle = 'sql_standard'"],
    &["DateStyle = 'ISO, DMY'", "IntervalStyle = 'postgres_verbose'", "search_path = 'shop, public'"],
    &["search_path = 'shop, pg_catalog, public'"],
    &["search_path = 'pg_catalog, public'", "transform_null_equals = on", "array_nulls = off"],
    &["search_path = ''", "TimeZone = '<+05>-05'"],
    &["search_path = '\"$user\", \"shop\", public, pg_temp'", "xmloption = 'document'"],
];

/// Statements whose rows are texts, numbers and truth values: their form is the same on both sides.
const STATEMENTS: &[&str] = &[
    "SELECT placed::date::text, sum(total)::text FROM public.orders GROUP BY 1 ORDER BY 1",
    "SELECT date_trunc('month', placed)::date::text, count(*)::int FROM public.orders GROUP BY 1 ORDER BY 1",
    "SELECT date_trunc('day', placed)::text, count(*)::int FROM public.orders GROUP BY 1 ORDER BY 1",
    "SELECT extract(hour FROM placed)::int, count(*)::int FROM public.orders GROUP BY 1 ORDER BY 1",
    "SELECT date_part('dow', placed)::int, count(*)::int FROM public.orders GROUP BY 1 ORDER BY 1",
    "SELECT extract(timezone FROM placed)::int FROM public.orders WHERE id = 1",
    "SELECT extract(epoch FROM local::timestamptz)::int FROM public.orders WHERE id = 1",
    "SELECT count(*)::int FROM public.orders WHERE placed >= '2024-01-02'",
    "SELECT count(*)::int FROM public.orders WHERE placed >= '2024-01-02 12:00'",
    "SELECT count(*)::int FROM public.orders WHERE placed::date = '2024-01-01'",
    "SELECT count(*)::int FROM public.orders WHERE placed BETWEEN DATE '2024-01-01' AND DATE '2024-01-02'",
    "SELECT count(*)::int FROM public.orders WHERE placed < local",
    "SELECT count(*)::int FROM public.orders WHERE placed::time > '12:00'",
    "SELECT count(*)::int FROM public.orders WHERE placed + interval '1 month' > '2024-02-01'",
    "SELECT to_char(placed, 'YYYY-MM-DD HH24:MI TZH:TZM') FROM public.orders WHERE id < 5 ORDER BY id",
    "SELECT (placed AT TIME ZONE 'UTC')::text, (local AT TIME ZONE 'Asia/Tokyo')::text FROM public.orders WHERE id = 2",
    "SELECT placed::text, local::timestamptz::text, day::timestamptz::text FROM public.orders WHERE id = 3",
    "SELECT make_timestamptz(2024, 1, 2, 3, 4, 5)::text, to_timestamp(0)::text, to_timestamp('2024-07-01', 'YYYY-MM-DD')::text",
    "SELECT timestamptz '2024-03-10 02:30' = timestamptz '2024-03-10 03:30', '2024-07-01 00:00'::timestamptz::text",
    "SELECT current_date = now()::date, (current_timestamp - localtimestamp = interval '0')::text",
    "SELECT (current_time::text LIKE '%+00%'), extract(timezone FROM now()) = 0",
    "SELECT '05/03/2024'::date::text, '05-03-2024 10:00'::timestamp::text, date '1/2/3'::text",
    "SELECT '05/03/2024'::date < '2024-04-01'::date, to_date('05/03/2024', 'DD/MM/YYYY')::text",
    "SELECT interval '-1 2:03:04' = interval '-1 day -2:03:04', extract(epoch FROM interval '-1 2:03:04')::text",
    "SELECT count(*)::int FROM public.orders WHERE stay::text = '07:00:00'",
    "SELECT stay::text, (stay || '!'), age('2024-03-01'::date, '2024-01-31'::date)::text FROM public.orders ORDER BY id LIMIT 3",
    "SELECT id, total::text FROM public.orders WHERE stay = NULL ORDER BY id",
    "SELECT cardinality('{NULL,a}'::text[]), ('{NULL}'::text[])[1] IS NULL",
    "SELECT count(*)::int FROM item",
    "SELECT count(*)::int FROM orders",
    "SELECT id FROM recent ORDER BY id LIMIT 3",
    "SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema ORDER BY 1",
    "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'shop' ORDER BY 1",
    "SELECT 'a\\b', E'a\\\\b', length('\\')",
    "SELECT 0.1::float8::text, 1e20::float8::text, (0.1::float4)::text, '\\xff'::bytea::text",
    "SELECT json_agg(placed)::text FROM public.orders WHERE id < 3",
    "SELECT jsonb_build_object('at', placed, 'day', day)::text FROM public.orders WHERE id = 4",
    "SELECT (placed, day)::text FROM public.orders WHERE id = 4",
    "SELECT generate_series('2024-03-30'::timestamptz, '2024-04-01', interval '1 day')::text",
    "SELECT tstzrange('2024-01-01', '2024-01-02')::text, '2024-01-01 10:00'::timetz IS NULL",
    "SELECT upper('i'), initcap('über'), to_char(1234.5, '9G999D9'), to_char(date '2024-01-01', 'TMMonth')",
    "SELECT lower('İ'), 'a' < 'B', ('ä' > 'z')::text",
];

/// The rows as psql has them, each cell as text; or the SQLSTATE.
fn psql(driver: &mut postgres::Client, sql: &str) -> Result<Vec<Vec<Option<String>>>, String> {
    driver.batch_execute("BEGIN READ ONLY").unwrap();
    let answer = driver.simple_query(sql);
    driver.batch_execute("ROLLBACK").unwrap();
    let row = |message: &SimpleQueryMessage| {
        let SimpleQueryMessage::Row(row) = message else { return None };
        Some((0..row.len()).map(|index| row.get(index).map(str::to_owned)).collect())
    };
    let failed = |error: postgres::Error| error.code().unwrap().code().to_owned();
    answer.map(|messages| messages.iter().filter_map(row).collect()).map_err(failed)
}

/// The same of a call.
fn call(client: &mut Client, sql: &str) -> Result<Vec<Vec<Option<String>>>, String> {
    let result = client.use_tool("read_only_sql", json!({"query": sql, "max_rows": 1000}));
    if result["isError"] == true {
        let problem = crate::support::problem(&result);
        return Err(problem["metadata"]["sqlstate"]
            .as_str()
            .unwrap_or_else(|| panic!("{sql}: {problem}"))
            .to_owned());
    }
    let cell = |value: &Value| match value {
        Value::Null => None,
        Value::Bool(value) => Some(if *value { "t" } else { "f" }.to_owned()),
        Value::String(text) => Some(text.clone()),
        other @ (Value::Number(_) | Value::Array(_) | Value::Object(_)) => Some(other.to_string()),
    };
    let rows = result["structuredContent"]["rows"].as_array().unwrap();
    Ok(rows.iter().map(|row| row.as_array().unwrap().iter().map(cell).collect()).collect())
}

#[test]
fn a_setting_of_the_database_decides_the_same_rows_as_in_psql() {
    let cluster = Cluster::shared();
    let mut wrong = Vec::new();
    for settings in DATABASES {
        let name = cluster.database(TABLES);
        let set = settings.iter().map(|setting| format!("ALTER DATABASE {name} SET {setting};"));
        cluster.admin(&name).batch_execute(&set.collect::<String>()).unwrap();
        let mut config = Config::new();
        config.host("127.0.0.1").port(cluster.port()).user(READER).password(PASSWORD).dbname(&name);
        let mut driver = config.application_name(NAME).connect(NoTls).unwrap();
        let url = cluster.url(&name);
        let mut client = Client::initialized(&[("MCP_SQL_DSN", &url)], "2025-11-25");
        for sql in STATEMENTS {
            let (expected, answer) = (psql(&mut driver, sql), call(&mut client, sql));
            if answer != expected {
                wrong.push(format!("{settings:?}: {sql}\n  psql: {expected:?}\n  call: {answer:?}"));
            }
        }
        client.end().cleanly();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_stricter_statement_timeout_of_the_role_or_the_database_is_kept() {
    let cluster = Cluster::shared();
    let name =
        cluster.database("CREATE VIEW nap AS SELECT pg_sleep(30)::text; GRANT SELECT ON nap TO reader");
    let url = cluster.url(&name);
    for (setting, limit) in [
        (format!("ALTER DATABASE {name} SET statement_timeout = '50ms'"), "50 ms"),
        (format!("ALTER ROLE reader IN DATABASE {name} SET statement_timeout = '0.06 s'"), "60 ms"),
        (format!("ALTER ROLE reader IN DATABASE {name} SET statement_timeout = 0"), "300 ms"),
        (format!("ALTER ROLE reader IN DATABASE {name} SET statement_timeout = '1h'"), "300 ms"),
    ] {
        cluster.admin(&name).batch_execute(&setting).unwrap();
        let own = ("MCP_SQL_STATEMENT_TIMEOUT_MS", "300");
        let mut client = Client::initialized(&[("MCP_SQL_DSN", &url), own], "2025-11-25");
        let result = client.use_tool("read_only_sql", json!({"query": "SELECT * FROM nap"}));
        let detail = crate::support::problem(&result)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(&format!("time limit of {limit}.")), "{setting}: {detail}");
        client.end().cleanly();
    }
}

/// What bounds the login bounds no statement.
#[test]
fn a_statement_may_run_longer_than_a_login() {
    let cluster = Cluster::shared();
    let name =
        cluster.database("CREATE VIEW nap AS SELECT pg_sleep(1.5)::text; GRANT SELECT ON nap TO reader");
    let url = cluster.url(&name);
    let settings = [
        ("MCP_SQL_DSN", url.as_str()),
        ("MCP_SQL_CONNECT_TIMEOUT_MS", "1000"),
        ("MCP_SQL_STATEMENT_TIMEOUT_MS", "25000"),
    ];
    let mut client = Client::initialized(&settings, "2025-11-25");
    let result = client.use_tool("read_only_sql", json!({"query": "SELECT * FROM nap"}));
    assert_eq!(result["isError"], false, "{result}");
    client.end().cleanly();
}
