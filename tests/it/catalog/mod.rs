//! The catalog in the real binary: on a real server, and when something is wrong with it.

mod double;
mod members;

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use self::members::member_rig;
use crate::cluster::Cluster;
use crate::support::{Client, Process, command, problem};
use crate::tools::{NO_DATABASE, check_output, listed};

const TABLES: &str = "
    CREATE TABLE asset (id int PRIMARY KEY, name text, site text, bought date, seen timestamptz, key uuid, price numeric(10, 2),
        extra jsonb, tags text[], note text);
    INSERT INTO asset
        SELECT n, 'asset ' || n, CASE WHEN n % 2 = 0 THEN 'A1' ELSE 'B2' END, date '2026-01-01' + n, timestamptz '2026-01-01 00:00Z' + n * interval '1 hour',
            ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, n * 1.5, jsonb_build_object('n', n, 'password_hash', 'hunter2', 'in',
            jsonb_build_array(jsonb_build_object('api_key', 'hunter2', 'ok', true))), ARRAY['t' || n, 'all'], NULL
        FROM generate_series(1, 30) n;
    INSERT INTO asset (id, name, note) VALUES (101, '100% _cotton_\\', repeat('long ', 1000)), (102, '100x cottons', '{\"token\":\"hunter2\",\"a\":1}');
    GRANT SELECT ON asset TO reader;";

const CATALOG: &str = r#"
version = 1
tables = ["asset"]

[[query]]
name = "find_assets"
title = "Find assets"
description = "Finds assets by a part of their name."
tables = ["asset"]
columns = ["id", "name"]
types = { id = "integer", name = "string" }
sql = '''
SELECT a.id, a.name FROM asset a
WHERE a.name ILIKE :name ESCAPE '\' ORDER BY a.id LIMIT :limit
'''
params.name = { type = "string", min_length = 1, max_length = 200, match = "contains" }
params.limit = { type = "integer", min = 1, max = 100, default = 25 }
example = { name = "asset 1" }

[[query]]
name = "assets_of"
title = "Assets of a site"
description = "Lists assets, narrowed by whatever is given."
tables = ["asset"]
columns = ["id", "price"]
sql = '''
SELECT a.id, a.price FROM asset a
WHERE (:site IS NULL OR a.site = :site) AND (:sites IS NULL OR a.site = ANY (:sites))
  AND (:since IS NULL OR a.bought >= :since) AND (:seen IS NULL OR a.seen < :seen)
  AND (:key IS NULL OR a.key = :key) AND (:dearer IS NULL OR a.price > :dearer) AND (:ids IS NULL OR a.id = ANY (:ids))
  AND (:bare IS NULL OR (a.extra IS NULL) = :bare)
ORDER BY a.id LIMIT :limit
'''
params.site = { type = "string", max_length = 80, optional = true }
params.sites = { type = "array", items = { type = "enum", values = ["A1", "B2"] }, min_items = 0, max_items = 2, optional = true }
params.since = { type = "date", optional = true }
params.seen = { type = "timestamp", optional = true }
params.key = { type = "uuid", optional = true }
params.dearer = { type = "number", min = 0, max = 1e6, optional = true }
params.ids = { type = "array", items = { type = "integer", min = 0, max = 1000 }, max_items = 5, optional = true }
params.bare = { type = "boolean", optional = true }
params.limit = { type = "integer", min = 1, max = 100, default = 100 }

[[query]]
name = "details"
title = "An asset"
description = "Everything about one asset."
tables = ["asset"]
columns = ["name", "bought", "seen", "key", "price", "extra", "tags", "note"]
sql = "SELECT name, bought, seen, key, price, extra, tags, note FROM asset WHERE id = :id ORDER BY id LIMIT 1"
params.id = { type = "integer", min = 1, max = 1000 }
example = { id = 1 }

[[query]]
name = "who_am_i"
title = "Who calls"
description = "Says who calls."
tables = ["asset"]
columns = ["caller", "tenant", "n"]
sql = "SELECT :caller AS caller, :tenant AS tenant, 100 / (id - :id) AS n FROM asset WHERE id = 1 ORDER BY id LIMIT 1"
params.id = { type = "integer", min = 1, max = 1000, default = 2 }
"#;

/// A catalog in a file of its own, and a database that it fits.
struct Rig {
    database: String,
    file: tempfile::NamedTempFile,
}

impl Rig {
    fn new() -> Self {
        let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
        fs::write(file.path(), CATALOG).unwrap();
        Self { database: Cluster::shared().database(TABLES), file }
    }

    fn client(&self, more: &[(&str, &str)]) -> Client {
        let url = Cluster::shared().url(&self.database);
        let path = self.file.path().to_str().unwrap();
        let mut settings = vec![("MCP_SQL_DSN", url.as_str()), ("MCP_CATALOG", path)];
        settings.extend(more);
        Client::initialized(&settings, "2025-11-25")
    }

    /// `check`: its exit code, stdout and stderr.
    fn check(&self, more: &[(&str, &str)]) -> (Option<i32>, String, String) {
        let url = Cluster::shared().url(&self.database);
        let path = self.file.path().to_str().unwrap();
        let settings = [("MCP_SQL_DSN", url.as_str()), ("MCP_CATALOG", path), ("MCP_CONFINE", "off")];
        run(&["check"], &[&settings, more].concat())
    }
}

fn answer(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let result = client.use_tool(tool, arguments);
    assert_eq!(result["isError"], false, "{result}");
    result["structuredContent"].clone()
}

fn ids(answer: &Value) -> Vec<i64> {
    answer["rows"].as_array().unwrap().iter().map(|row| row["id"].as_i64().unwrap()).collect()
}

fn catalog_file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    fs::write(file.path(), text).unwrap();
    file
}

#[test]
fn a_catalog_replaces_ad_hoc_queries_unless_both_are_enabled() {
    let file = catalog_file(CATALOG);
    let catalog = ("MCP_CATALOG", file.path().to_str().unwrap());
    let names = |settings: &[(&str, &str)]| -> Vec<String> {
        listed(settings).iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let quiet = ("MCP_METRICS_ENABLED", "false");
    let entries = ["find_assets", "assets_of", "details", "who_am_i"];
    assert_eq!(names(&[NO_DATABASE, catalog, quiet]), entries);
    let both = names(&[NO_DATABASE, catalog, quiet, ("MCP_SQL_ADHOC", "true")]);
    assert_eq!(both, [&["read_only_sql", "explain_query", "describe_database"], &entries[..]].concat());
    assert!(names(&[catalog, quiet]).is_empty(), "no database");
}

#[test]
fn arguments_that_look_like_sql_find_nothing_and_are_bind_values_alone() {
    let rig = Rig::new();
    let mut client = rig.client(&[]);
    let attacks = [
        "'; DROP TABLE asset; -- zq1",
        "zq2' OR '1'='1",
        "zq3\\' OR 1=1 --",
        "$$zq4$$",
        "%zq5_",
        "zq6 :limit",
        "E'zq7\\x27'",
        "zq8) OR (1=1",
    ];
    for attack in attacks {
        let found = answer(&mut client, "find_assets", json!({"name": attack}));
        assert_eq!((&found["row_count"], &found["has_more"]), (&json!(0), &json!(false)), "{attack}");
        let found = answer(&mut client, "assets_of", json!({"site": attack}));
        assert_eq!(found["row_count"], 0, "{attack}");
    }
    assert_eq!(answer(&mut client, "find_assets", json!({"name": "asset 30"}))["row_count"], 1);
    client.end().cleanly();
    let log = Cluster::shared().log();
    for mark in ["zq1", "zq2", "zq3", "zq4", "zq5", "zq6", "zq7", "zq8"] {
        let lines: Vec<&str> = log.lines().filter(|line| line.contains(mark)).collect();
        assert_eq!(lines.len(), 2, "{mark}: {lines:?}");
        let are_values = |line: &&str| line.to_lowercase().contains("detail:  parameters: $1 = ");
        assert!(lines.iter().all(are_values), "{lines:?}");
    }
}

#[test]
fn an_absent_argument_does_not_narrow_and_each_type_is_bound_as_itself() {
    let rig = Rig::new();
    let mut client = rig.client(&[]);
    let mut of = |arguments: Value| ids(&answer(&mut client, "assets_of", arguments));
    assert_eq!(of(json!({})).len(), 32);
    assert_eq!(of(json!({"site": "A1"})).len(), 15);
    assert_eq!(of(json!({"sites": ["A1", "B2"]})).len(), 30);
    assert_eq!(of(json!({"sites": []})).len(), 0);
    assert_eq!(of(json!({"since": "2026-01-30"})), [29, 30]);
    assert_eq!(of(json!({"seen": "2026-01-01T03:00:00+01:00"})), [1]);
    assert_eq!(of(json!({"key": "00000000-0000-0000-0000-000000000007"})), [7]);
    assert_eq!(of(json!({"dearer": 43.4})), [29, 30]);
    assert_eq!(of(json!({"ids": [3, 5.0, 999]})), [3, 5]);
    assert_eq!(of(json!({"bare": true})), [101, 102]);
    let refused = problem(
        &client
            .use_tool("assets_of", json!({"since": "2026-02-30", "sites": ["C3"], "limit": 101, "sql": "x"})),
    );
    assert_eq!(refused["invalid_params"], json!(["sites", "since", "limit", "sql"]));
    let detail = refused["detail"].as_str().unwrap();
    for bound in ["one of \"A1\", \"B2\"", "a date such as 2026-01-31", "from 1 to 100", "'sql'"] {
        assert!(detail.contains(bound), "{bound}: {detail}");
    }
    client.end().cleanly();
}

#[test]
fn a_search_takes_its_text_literally_and_has_more_is_exact() {
    let rig = Rig::new();
    let mut client = rig.client(&[]);
    let mut find = |name: &str, limit: u64| {
        let found = answer(&mut client, "find_assets", json!({"name": name, "limit": limit}));
        assert_eq!(found["row_count"], found["rows"].as_array().unwrap().len());
        (ids(&found), found["has_more"].as_bool().unwrap())
    };
    assert_eq!(find("100% _cotton_\\", 10), (vec![101], false));
    assert_eq!(find("%", 10), (vec![101], false));
    assert_eq!(find("_", 10), (vec![101], false));
    assert_eq!(find("\\", 10), (vec![101], false));
    assert_eq!(find("COTTON", 10), (vec![101, 102], false));
    assert_eq!(find("cotton", 2), (vec![101, 102], false));
    assert_eq!(find("cotton", 1), (vec![101], true));
    assert!(!find("asset", 30).1);
    assert!(find("asset", 29).1);
    client.end().cleanly();
}

#[test]
fn cells_are_scalars_without_secrets() {
    let rig = Rig::new();
    let mut client = rig.client(&[]);
    let row = answer(&mut client, "details", json!({"id": 2}))["rows"][0].clone();
    let expected = json!({
        "name": "asset 2", "bought": "2026-01-03", "seen": "2026-01-01T02:00:00Z", "key": "00000000-0000-0000-0000-000000000002",
        "price": "3.00", "extra": "{\"n\":2,\"in\":[{\"ok\":true}]}", "tags": "[\"t2\",\"all\"]", "note": null,
    });
    assert_eq!(row, expected);
    let cut = answer(&mut client, "details", json!({"id": 101}));
    assert_eq!(cut["truncated"], true);
    assert!(cut["rows"][0]["note"].as_str().unwrap().ends_with("…[truncated 4000 chars]"), "{cut}");
    assert_eq!(answer(&mut client, "details", json!({"id": 102}))["rows"][0]["note"], "{\"a\":1}");
    let tools = listed(&[NO_DATABASE, ("MCP_CATALOG", rig.file.path().to_str().unwrap())]);
    check_output(&mut client, &tools, "details", json!({"id": 101}));
    check_output(&mut client, &tools, "find_assets", json!({"name": "a"}));
    let ended = client.end().cleanly();
    assert!(!ended.stderr.contains("hunter2"), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("tool=details dropped_members=2 names=[api_key,password_hash]"),
        "{}",
        ended.stderr
    );
}

#[test]
fn the_server_binds_the_caller_and_postgresql_messages_go_to_the_log() {
    let rig = Rig::new();
    let mut client = rig.client(&[]);
    let who = answer(&mut client, "who_am_i", json!({}));
    assert_eq!(who["rows"], json!([{"caller": "local", "tenant": "local", "n": -100}]));
    let refused = problem(&client.use_tool("who_am_i", json!({"id": 1})));
    assert_eq!(
        (refused["code"].as_str().unwrap(), &refused["metadata"]),
        ("MCP_VALIDATION_ERROR", &json!({}))
    );
    assert!(!refused["detail"].as_str().unwrap().contains("zero"), "{refused}");
    // The connection is well, and what it keeps is, too.
    assert_eq!(answer(&mut client, "who_am_i", json!({"id": 3}))["rows"][0]["n"], -50);
    let ended = client.end().cleanly();
    assert!(
        ended.stderr.contains("tool=who_am_i PostgreSQL: ERROR 22012: division by zero"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_changed_table_is_noticed() {
    let rig = Rig::new();
    let mut client = rig.client(&[("MCP_SQL_POOL_MAX_SIZE", "1")]);
    assert_eq!(answer(&mut client, "assets_of", json!({"ids": [2]}))["rows"][0]["price"], "3.00");
    let mut admin = Cluster::shared().admin(&rig.database);
    admin.batch_execute("ALTER TABLE asset ALTER price TYPE int4").unwrap();
    assert_eq!(answer(&mut client, "assets_of", json!({"ids": [2]}))["rows"][0]["price"], 3);
    admin.batch_execute("ALTER TABLE asset DROP price, ADD price2 int").unwrap();
    // No argument can cure it.
    for change in ["SELECT 1", "ALTER TABLE asset RENAME TO moved", "DROP TABLE moved CASCADE"] {
        admin.batch_execute(change).unwrap();
        let id = client.call("assets_of", json!({"ids": [2]}));
        let error = client.answer(&id)["error"].clone();
        let expected = json!({"code": -32603, "message": "This tool does not fit the database any more"});
        assert_eq!(error, expected, "{change}");
    }
    client.end().cleanly();
}

/// The names of the prepared statements that were executed with this value, as often as they were.
fn executed_with(value: &str) -> Vec<String> {
    let log = Cluster::shared().log();
    let mut executed = "";
    let mut names = Vec::new();
    for line in log.lines() {
        executed = line.split_once("LOG:  execute ").map_or(executed, |(_, statement)| statement);
        if line.contains(value) {
            names.push(executed.split_once(':').unwrap().0.to_owned());
        }
    }
    names
}

#[test]
fn the_most_recently_used_statements_stay_prepared() {
    let entry = |index: usize| {
        format!(
            "[[query]]\nname = 'q{index:03}'\ntitle = 'Q'\ndescription = 'Q.'\ntables = ['item']\ncolumns = ['id']\n\
             sql = 'SELECT id FROM item WHERE name = :name ORDER BY id LIMIT 1'\n\
             params.name = {{ type = 'string', max_length = 9 }}\n"
        )
    };
    let entries: String = (0..=130).map(entry).collect();
    let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    fs::write(file.path(), format!("version = 1\ntables = ['item']\n{entries}")).unwrap();
    let rig = Rig { database: Cluster::shared().database(""), file };
    let mut client = rig.client(&[("MCP_SQL_POOL_MAX_SIZE", "1")]);
    // The first by name: of 128 others, none may take its place.
    for index in (1..=130).flat_map(|index| [index, 0]) {
        let name = if index == 0 { "zs-first" } else { "zs-other" };
        answer(&mut client, &format!("q{index:03}"), json!({"name": name}));
    }
    answer(&mut client, "q001", json!({"name": "zs-again"}));
    answer(&mut client, "q001", json!({"name": "zs-again"}));
    client.end().cleanly();
    let (first, others, again) =
        (executed_with("zs-first"), executed_with("zs-other"), executed_with("zs-again"));
    assert!(first.len() == 130 && first.iter().all(|name| *name == first[0]), "{first:?}");
    assert!(!others.contains(&again[0]) && again[0] == again[1], "{again:?}");
}

#[test]
fn statements_are_prepared_once_a_connection() {
    let rig = Rig::new();
    let mut client = rig.client(&[("MCP_SQL_POOL_MAX_SIZE", "1")]);
    for id in 1..=5 {
        assert_eq!(answer(&mut client, "assets_of", json!({"ids": [id], "site": "zr0"}))["row_count"], 0);
    }
    client.end().cleanly();
    let mut other = rig.client(&[("MCP_SQL_POOLER", "transaction")]);
    assert_eq!(answer(&mut other, "assets_of", json!({"ids": [7]}))["row_count"], 1);
    assert_eq!(answer(&mut other, "assets_of", json!({"ids": [8]}))["row_count"], 1);
    other.end().cleanly();
    let names = executed_with("zr0");
    assert!(names.len() == 5 && names.iter().all(|name| *name == names[0]), "{names:?}");
}

/// `check` with these settings: its exit code, stdout and stderr.
fn run(arguments: &[&str], settings: &[(&str, &str)]) -> (Option<i32>, String, String) {
    let mut command = command(settings);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut process = Process::start(command);
    let out = std::io::read_to_string(process.stdout()).unwrap();
    let (status, stderr) = process.wait();
    (status.code(), out, stderr)
}

#[test]
fn check_runs_every_example() {
    let rig = Rig::new();
    let (code, out, _) = rig.check(&[]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("ok    catalog: 4 entries, every one proven\n"), "{out}");
    assert!(out.contains("ok    catalog: find_assets: its example brings 11 rows in "), "{out}");
    assert!(out.contains(" ms, plan cost "), "{out}");
    assert!(out.contains("-> could say types = { id = \"integer\", price = \"string\" }\n"), "{out}");
    fs::write(rig.file.path(), CATALOG.replace("id = \"integer\", name", "id = \"boolean\", name")).unwrap();
    let (code, out, _) = rig.check(&[]);
    assert_eq!(code, Some(1), "{out}");
    assert!(
        out.contains(
            "FAIL  catalog: find_assets: column-mismatch: the column id is of type int4, so a integer\n"
        ),
        "{out}"
    );
}

#[test]
fn all_faults_of_a_broken_catalog_are_reported_and_the_server_does_not_start() {
    let broken = CATALOG
        .replace("title = \"An asset\"", "titel = \"An asset\"")
        .replace("max_length = 80, ", "")
        .replace("ORDER BY a.id LIMIT :limit\n'''\nparams.name", "LIMIT :limit\n'''\nparams.name");
    let file = catalog_file(&broken);
    let path = file.path().to_str().unwrap();
    let settings = [NO_DATABASE, ("MCP_CATALOG", path)];
    let (code, out, stderr) = run(&["check"], &settings);
    assert_eq!(code, Some(78), "{out}");
    let reported = |line: &str| out.contains(line);
    assert!(reported(&format!("FAIL  settings: MCP_CATALOG: '{path}' has 3 faults\n")), "{out}");
    assert!(reported(&format!("catalog: assets_of, {path}\nFAIL  line 34: param-unbounded: ")), "{out}");
    assert!(
        reported(&format!(
            "catalog: details, {path}\nFAIL  line 44: invalid-value: The key `title` of a query is missing.\n"
        )),
        "{out}"
    );
    assert!(
        reported("FAIL  line 46: unknown-key: 'titel' is no key of a query.\n      -> Did you mean title?\n"),
        "{out}"
    );
    assert!(reported(&format!("catalog: find_assets, {path}\nwarn  line 14: order-required: ")), "{out}");
    assert!(stderr.contains("MCP_CATALOG"), "{stderr}");
    let (code, out, stderr) = run(&["serve"], &settings);
    assert_eq!((code, out.as_str()), (Some(78), ""), "{stderr}");
    assert_eq!(stderr.lines().filter(|line| line.contains(path)).count(), 5, "{stderr}");
    let (code, out, _) = run(&["check", "--json"], &settings);
    let report: Value = serde_json::from_str(&out).unwrap();
    let spot = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|finding| finding["rule"] == "unknown-key")
        .unwrap();
    assert_eq!((code, &spot["line"], &spot["entry"]), (Some(78), &json!(46), &json!("details")));
}

#[test]
fn a_postgresql_message_with_a_value_is_not_logged_and_check_plans_without_an_example() {
    let rig = member_rig(&[
        "SELECT (:k)::int AS a FROM acc",
        "SELECT jsonb_set_lax('{}', '{a}', NULL, true, :k) AS a FROM acc",
    ]);
    let catalog = fs::read_to_string(rig.file.path()).unwrap();
    fs::write(rig.file.path(), catalog.replace(", default = 'password'", "").replace("example = {}\n", ""))
        .unwrap();
    let mut client = rig.client(&[]);
    for tool in ["q00", "q01"] {
        let refused = problem(&client.use_tool(tool, json!({"k": "ARGSEKRIT"})));
        assert_eq!(refused["code"], "MCP_VALIDATION_ERROR");
    }
    let ended = client.end().cleanly();
    for logged in
        ["tool=q00 PostgreSQL: ERROR 22P02: (its message", "tool=q01 PostgreSQL: ERROR 22023: (its message"]
    {
        assert!(ended.stderr.contains(logged), "{}", ended.stderr);
    }
    assert!(!ended.stderr.contains("ARGSEKRIT"), "{}", ended.stderr);
    let (code, out, _) = rig.check(&[]);
    let warning = "warn  catalog: q01: prepares, and has no example to run, without which it cannot be planned\n      -> write example = { … }\n";
    assert!(code == Some(0) && out.contains(warning), "{out}");
}

#[test]
fn a_fault_that_the_database_finds_has_its_place_and_no_value() {
    let database = Cluster::shared().database(
        "CREATE TABLE note (id int, body text, made date, mood mood); GRANT SELECT ON note TO reader;
         INSERT INTO note VALUES (1, 'hunter2', '2026-01-01', 'sad')",
    );
    let entry = |name: &str, condition: &str, params: &str, example: &str| {
        format!(
            "[[query]]\nname = \"{name}\"\ntitle = \"T\"\ndescription = \"D.\"\ntables = [\"note\"]\ncolumns = [\"id\"]\n\
             sql = \"\"\"\nSELECT id FROM note\nWHERE {condition}\nORDER BY id LIMIT 5\n\"\"\"\n{params}\nexample = {{ {example} }}\n"
        )
    };
    let days = "params.days = { type = \"integer\", min = 0, max = 9 }";
    let catalog = [
        "version = 1\ntables = [\"note\"]\n".to_owned(),
        entry("converts", "body::int = :days", days, "days = 1"),
        entry("adds", "made > CURRENT_DATE - :days", days, "days = 1"),
        entry("renamed", "bodi = 'x' AND id = :days", days, "days = 1"),
        entry(
            "feels",
            "mood = :mood::mood",
            "params.mood = { type = \"enum\", values = [\"sad\", \"so so\"] }",
            "mood = \"sad\"",
        ),
    ];
    let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    fs::write(file.path(), catalog.concat()).unwrap();
    let url = Cluster::shared().url(&database);
    let mut check = command(&[("MCP_SQL_DSN", &url), ("MCP_CATALOG", file.path().to_str().unwrap())]);
    let report = check.arg("check").stdin(Stdio::null()).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    for expected in [
        "converts: PostgreSQL: ERROR 22P02: (its message may hold a value and is not shown)",
        "adds: PostgreSQL: ERROR 42883: operator does not exist: date - bigint (line 2, column 27 of the statement); \
         :days is bound as int8: where another type is meant, write a cast, such as :days::int",
        "renamed: PostgreSQL: ERROR 42703: column \"bodi\" does not exist (line 2, column 7 of the statement)",
        "feels: its example brings 1 row",
    ] {
        assert!(report.contains(expected), "{expected}\n{report}");
    }
    assert!(!report.contains("hunter2"), "{report}");
}

#[test]
fn a_search_for_white_space_is_refused() {
    let rig = Rig::new();
    let mut client = rig.client(&[]);
    for (name, is_error) in [(" ", true), ("\t\n", true), ("a", false), (" a ", false)] {
        let result = client.use_tool("find_assets", json!({"name": name}));
        assert_eq!(result["isError"], is_error, "{name:?}: {result}");
    }
    client.end().cleanly();
}
