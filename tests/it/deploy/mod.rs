//! The output of `deploy`, put to use. Units and super-servers need other programs: `.ci/host.d/deploy.sh`.

use std::process::{Command, Stdio};

use postgres::error::SqlState;
use postgres::{Client, Config, NoTls};

use crate::cluster::Cluster;
use crate::support::command;

/// A role of its own in a database of its own, made by the printed script.
pub(crate) struct Reader {
    pub(crate) name: String,
    pub(crate) database: String,
}

impl Reader {
    pub(crate) fn make(name: &str, arguments: &[&str]) -> Self {
        Self::make_in("", name, arguments)
    }

    /// Makes the role in a database after `setup`.
    pub(crate) fn make_in(setup: &str, name: &str, arguments: &[&str]) -> Self {
        let cluster = Cluster::shared();
        let database = cluster.database(setup);
        let mut deploy = command(&[]);
        deploy.args(["deploy", "role", "--schema", "public", "--role", name]).args(arguments);
        let printed = deploy.stdin(Stdio::null()).output().unwrap();
        assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
        let script = String::from_utf8(printed.stdout).unwrap();
        cluster.admin(&database).batch_execute(&script).unwrap();
        Self { name: name.to_owned(), database }
    }

    pub(crate) fn connect(&self) -> Result<Client, postgres::Error> {
        let dsn =
            Cluster::shared().socket_dsn(&format!("'{}'", self.name.replace('\'', "\\'")), &self.database);
        dsn.parse::<Config>().unwrap().connect(NoTls)
    }
}

/// Statements that are tried in a session that has removed its read-only default.
const FORBIDDEN: [&str; 34] = [
    "INSERT INTO item VALUES (0, 'x')",
    "UPDATE item SET name = 'x'",
    "DELETE FROM item",
    "TRUNCATE item",
    "SELECT id FROM item FOR UPDATE",
    "BEGIN; LOCK TABLE item IN EXCLUSIVE MODE",
    "SELECT * FROM hidden",
    "COPY hidden TO STDOUT",
    "ALTER TABLE item ADD COLUMN x int",
    "DROP TABLE item",
    "CREATE INDEX ON item (name)",
    "CREATE TRIGGER t BEFORE INSERT ON item EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "CREATE TABLE mine (a int)",
    "CREATE TEMPORARY TABLE mine (a int)",
    "CREATE VIEW mine AS SELECT 1",
    "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE SCHEMA mine",
    "CREATE EXTENSION dblink",
    "CREATE DATABASE mine",
    "CREATE ROLE mine",
    "ALTER ROLE CURRENT_USER CONNECTION LIMIT -1",
    "ALTER ROLE CURRENT_USER SUPERUSER",
    "ALTER SYSTEM SET work_mem = '1GB'",
    "SET temp_file_limit = -1",
    "SET ROLE postgres",
    "SET SESSION AUTHORIZATION postgres",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "COPY (SELECT 1) TO '/tmp/mcp-it-copy'",
    "SELECT pg_read_file('PG_VERSION')",
    "SELECT pg_ls_dir('.')",
    "SELECT lo_create(0)",
    "SELECT lo_from_bytea(0, 'x')",
    "SELECT lo_import('/etc/hostname')",
    "SELECT pg_create_physical_replication_slot('mine')",
];

#[test]
fn the_database_alone_forbids_everything_beyond_the_printed_role() {
    let reader = Reader::make("it \"role'", &["--tables", "item", "--connections", "2"]);
    let mut client = reader.connect().unwrap();
    let one = |client: &mut Client, query: &str| -> String { client.query_one(query, &[]).unwrap().get(0) };
    for (setting, expected) in [
        ("transaction_read_only", "on"),
        ("statement_timeout", "5s"),
        ("lock_timeout", "1s"),
        ("idle_in_transaction_session_timeout", "30s"),
        ("work_mem", "16MB"),
        ("temp_file_limit", "256MB"),
    ] {
        assert_eq!(one(&mut client, &format!("SHOW {setting}")), expected, "{setting}");
    }
    assert_eq!(one(&mut client, "SELECT max(name) FROM item"), "item 999");
    client.batch_execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE").unwrap();
    assert_eq!(one(&mut client, "SHOW transaction_read_only"), "off");
    for statement in FORBIDDEN {
        let refusal = client.batch_execute(statement).map_err(|error| error.code().cloned());
        assert_eq!(refusal, Err(Some(SqlState::INSUFFICIENT_PRIVILEGE)), "{statement}");
        client.batch_execute("ROLLBACK").unwrap();
    }
    let _second = reader.connect().unwrap();
    let third = reader.connect().map(drop).map_err(|error| error.code().cloned());
    assert_eq!(third, Err(Some(SqlState::TOO_MANY_CONNECTIONS)));
}

#[test]
fn the_printed_role_passes_the_strictest_check() {
    let reader = Reader::make("it_strict", &[]);
    let dsn = Cluster::shared().socket_dsn(&reader.name, &reader.database);
    let settings = [("MCP_SQL_DSN", &*dsn), ("MCP_SQL_UNSAFE_ROLE", "strict")];
    let report = command(&settings).args(["check", "--strict"]).stdin(Stdio::null()).output().unwrap();
    assert!(report.status.success(), "{}", String::from_utf8_lossy(&report.stdout));
}

#[test]
fn the_printed_catalog_is_proven_and_the_role_may_read_its_tables_only() {
    let deploy = |arguments: &[&str]| {
        let output = command(&[]).arg("deploy").args(arguments).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let directory = tempfile::tempdir().unwrap();
    let catalog = directory.path().join("catalog.toml");
    std::fs::write(&catalog, deploy(&["catalog"])).unwrap();
    let path = catalog.to_str().unwrap();
    let script = deploy(&["role", "--schema", "inventory", "--catalog", path]);
    for table in ["sites", "people", "devices", "software", "installed_software", "tickets"] {
        assert!(script.contains(&format!("'\"inventory\".\"{table}\"'::regclass")), "{table}: {script}");
    }
    assert_eq!(script.matches("::regclass").count(), 6, "{script}");
    let mut check = command(&[("MCP_CATALOG", path)]);
    let report = check.arg("check").stdin(Stdio::null()).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(report.contains("ok    catalog: 7 entries, every one proven"), "{report}");
}

#[track_caller]
fn refused(arguments: &[&str], expected: &str) {
    let mut deploy: Command = command(&[]);
    let output = deploy.arg("deploy").args(arguments).stdin(Stdio::null()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && stderr.contains(expected) && output.stdout.is_empty(), "{stderr}");
}

#[test]
fn a_name_that_would_break_out_of_the_script_is_refused() {
    refused(&["role", "--schema", "a\n; DROP ROLE x"], "cannot be the name");
    refused(&["role", "--schema", "a", "--role", "a$$b"], "cannot be the name");
    refused(&["role", "--schema", "a", "--tables", ""], "cannot be the name");
    refused(&["role"], "--schema");
}

#[test]
fn the_image_is_labelled_with_the_crates_version() {
    let containerfile = include_str!("../../../Containerfile");
    let label = concat!("org.opencontainers.image.version=\"", env!("CARGO_PKG_VERSION"), "\"");
    assert!(containerfile.contains(label), "{label}");
}

/// Prints the script of `deploy role` with these arguments.
fn role_script(arguments: &[&str]) -> String {
    let output = command(&[]).args(["deploy", "role"]).args(arguments).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_role_reads_several_schemas_and_uses_the_types_of_extensions() {
    let cluster = Cluster::shared();
    let database = cluster.database(
        "CREATE SCHEMA shop; CREATE SCHEMA billing; CREATE SCHEMA ext; CREATE EXTENSION citext SCHEMA ext;
         CREATE TABLE shop.person (name ext.citext, api_token text); INSERT INTO shop.person VALUES ('Ada', 's');
         CREATE TABLE billing.bill (id int); CREATE TABLE billing.later (id int, password text)",
    );
    let script =
        role_script(&["--schema", "shop,billing", "--role", "it_two", "--tables", "person,billing.bill"]);
    cluster.admin(&database).batch_execute(&script).unwrap();
    let reader = Reader { name: "it_two".to_owned(), database };
    let mut client = reader.connect().unwrap();
    // Without the extension's schema in the path, = would be text's.
    let one = |client: &mut Client, query: &str| client.query_one(query, &[]).unwrap().get::<_, i64>(0);
    assert_eq!(one(&mut client, "SELECT count(*) FROM person WHERE name = 'ADA'"), 1);
    assert_eq!(one(&mut client, "SELECT count(*) FROM bill"), 0);
    client.batch_execute("SELECT api_token FROM person").unwrap_err();
    client.batch_execute("SELECT id FROM billing.later").unwrap_err();
    // More tables for the role that is there, with the same filter of names.
    let more = role_script(&["--schema", "billing", "--role", "it_two", "--tables", "later", "--add"]);
    assert!(!more.contains("CREATE ROLE") && !more.contains("ALTER ROLE"), "{more}");
    cluster.admin(&reader.database).batch_execute(&more).unwrap();
    assert_eq!(one(&mut client, "SELECT count(id) FROM billing.later"), 0);
    client.batch_execute("SELECT password FROM billing.later").unwrap_err();
}

#[test]
fn the_administrator_of_a_managed_cloud_can_run_the_script() {
    let cluster = Cluster::shared();
    let database = cluster.database("CREATE ROLE it_cloud LOGIN CREATEROLE CREATEDB");
    let mut admin = cluster.admin(&database);
    admin
        .batch_execute(&format!(
            "ALTER DATABASE {database} OWNER TO it_cloud; CREATE SCHEMA shop AUTHORIZATION it_cloud; SET ROLE it_cloud;
             CREATE TABLE shop.t (a int, secret text); RESET ROLE"
        ))
        .unwrap();
    let script = role_script(&["--schema", "shop", "--role", "it_managed", "--managed"]);
    cluster.client("it_cloud", &database).batch_execute(&script).unwrap();
    let reader = Reader { name: "it_managed".to_owned(), database };
    let mut client = reader.connect().unwrap();
    client.batch_execute("SELECT a FROM t").unwrap();
    client.batch_execute("SELECT secret FROM t").unwrap_err();
    client.batch_execute("CREATE TABLE public.x (a int)").unwrap_err();
}

#[test]
fn a_schema_of_postgresqls_own_is_refused() {
    for schema in ["pg_catalog", "information_schema", "shop,pg_toast"] {
        let mut deploy = command(&[]);
        let output =
            deploy.args(["deploy", "role", "--schema", schema]).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("PostgreSQL's own schema"), "{schema}: {said}");
    }
}
