//! Findings about a role that may do more than it needs, and that their SQL mends them.

use mcp_server_suite::postgres::{Database, Need, RoleFinding};
use postgres::Client;

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::deploy::Reader;
use crate::sql::run::config;
use crate::support::{Client as Session, problem};

/// A grant, and its finding: whether it is dangerous, its text, and the SQL that mends it.
struct Case {
    grant: &'static str,
    found: &'static [ExpectedFinding],
}

type ExpectedFinding = (bool, &'static str, &'static str);

const fn case(grant: &'static str, found: &'static [ExpectedFinding]) -> Case {
    Case { grant, found }
}

/// The objects and the other roles of the cases.
const THINGS: &str = "
    CREATE ROLE it_group;
    CREATE ROLE it_team; GRANT it_group TO it_team;
    CREATE TABLE other (id int);
    CREATE SEQUENCE numbers;
    CREATE TABLE person (id int, name text, \"Password hash\" text, mfa_secret text);
    CREATE SCHEMA empty;
    CREATE FUNCTION as_owner() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1';
    CREATE FUNCTION unconfined(float8) RETURNS float8 LANGUAGE internal AS 'dsqrt';
    CREATE FUNCTION dblink_it() RETURNS int LANGUAGE sql AS 'SELECT 1';
    REVOKE EXECUTE ON FUNCTION as_owner, unconfined, dblink_it FROM PUBLIC;
    CREATE FOREIGN DATA WRAPPER it_wrapper;
";

/// Each alone. The role inherits nothing, so a membership counts for what SET ROLE makes of it.
#[rustfmt::skip]
const CASES: &[Case] = &[
    case("ALTER ROLE it_role BYPASSRLS", &[(true, "bypasses row security (BYPASSRLS)", "ALTER ROLE \"it_role\" NOBYPASSRLS")]),
    case("ALTER ROLE it_role REPLICATION", &[(true, "may replicate (REPLICATION)", "ALTER ROLE \"it_role\" NOREPLICATION")]),
    case("ALTER ROLE it_role CREATEROLE", &[(false, "may create roles (CREATEROLE)", "ALTER ROLE \"it_role\" NOCREATEROLE")]),
    case("ALTER ROLE it_role CREATEDB", &[(false, "may create databases (CREATEDB)", "ALTER ROLE \"it_role\" NOCREATEDB")]),
    case("ALTER ROLE it_group BYPASSRLS; GRANT it_team TO it_role", &[(true, "can become \"it_group\", which bypasses row security (BYPASSRLS)", "REVOKE it_team FROM it_role")]),
    case("ALTER ROLE it_group NOBYPASSRLS; GRANT pg_read_all_data TO it_role", &[(false, "is a member of pg_read_all_data", "REVOKE pg_read_all_data FROM it_role")]),
    case("GRANT pg_write_all_data TO it_role", &[(true, "is a member of pg_write_all_data", "REVOKE pg_write_all_data FROM it_role")]),
    case("GRANT pg_read_server_files TO it_role", &[(true, "is a member of pg_read_server_files", "REVOKE pg_read_server_files FROM it_role")]),
    case("GRANT pg_signal_backend TO it_role", &[(true, "is a member of pg_signal_backend", "REVOKE pg_signal_backend FROM it_role")]),
    case("GRANT pg_execute_server_program TO it_group; GRANT it_team TO it_role", &[(true, "is a member of pg_execute_server_program", "REVOKE it_team FROM it_role")]),
    case("REVOKE pg_execute_server_program FROM it_group; ALTER FUNCTION dblink_it OWNER TO it_role", &[
        (false, "owns what it may therefore change and drop: function public.dblink_it()", "REASSIGN OWNED BY it_role TO CURRENT_USER"),
        (false, "may call functions that make large objects or act outside the query: public.dblink_it()", "REVOKE EXECUTE ON ROUTINE public.dblink_it() FROM it_role"),
    ]),
    case("ALTER SEQUENCE numbers OWNER TO it_team; GRANT it_team TO it_role", &[
        (false, "owns what it may therefore change and drop: sequence public.numbers", "REVOKE it_team FROM it_role"),
        (false, "has privileges on tables that the catalog does not list: public.numbers", "REVOKE ALL ON public.numbers FROM it_team"),
        (false, "may advance or set sequences: public.numbers", "REVOKE USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA public FROM it_team"),
    ]),
    case("ALTER TABLE other OWNER TO it_role", &[
        (false, "owns what it may therefore change and drop: table public.other", "REASSIGN OWNED BY it_role TO CURRENT_USER"),
        (false, "has privileges on tables that the catalog does not list: public.other", "REVOKE ALL ON public.other FROM it_role"),
        (false, "may write to, refer to or put triggers on tables: public.other", "REVOKE INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON ALL TABLES IN SCHEMA public FROM it_role"),
    ]),
    case("GRANT CREATE ON SCHEMA empty TO it_role", &[(false, "may create objects in schemas: empty", "REVOKE CREATE ON SCHEMA empty FROM it_role")]),
    case("GRANT CREATE ON SCHEMA public TO PUBLIC", &[(false, "may create objects in schemas: public", "REVOKE CREATE ON SCHEMA public FROM PUBLIC")]),
    case("GRANT CREATE ON DATABASE {database} TO it_role", &[(false, "may create schemas in databases: {database}", "REVOKE CREATE ON DATABASE {database} FROM it_role")]),
    case("GRANT TEMP ON DATABASE {database} TO PUBLIC", &[(false, "may make temporary tables in databases: {database}", "REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC")]),
    case("GRANT INSERT ON item TO it_role", &[(false, "may write to, refer to or put triggers on tables: public.item", "REVOKE INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON ALL TABLES IN SCHEMA public FROM it_role")]),
    case("GRANT UPDATE (name) ON item TO PUBLIC", &[(false, "may write to, refer to or put triggers on tables: public.item", "REVOKE INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON ALL TABLES IN SCHEMA public FROM PUBLIC")]),
    case("GRANT TRUNCATE ON item TO it_group; GRANT it_group TO it_role", &[(false, "may write to, refer to or put triggers on tables: public.item", "REVOKE INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON ALL TABLES IN SCHEMA public FROM it_group")]),
    case("REVOKE it_group FROM it_role; GRANT SELECT (id) ON other TO it_role", &[(false, "has privileges on tables that the catalog does not list: public.other", "REVOKE ALL ON public.other FROM it_role")]),
    case("GRANT SELECT ON pg_authid TO it_role", &[
        (false, "has privileges on tables that the catalog does not list: pg_catalog.pg_authid", "REVOKE ALL ON pg_catalog.pg_authid FROM it_role"),
    ]),
    case("GRANT EXECUTE ON FUNCTION pg_read_file(text) TO it_role", &[(true, "was granted functions that read files or act outside the query: pg_read_file(text)", "REVOKE EXECUTE ON ROUTINE pg_read_file(text) FROM it_role")]),
    case("GRANT EXECUTE ON FUNCTION dblink_it TO it_role", &[(false, "may call functions that make large objects or act outside the query: public.dblink_it()", "REVOKE EXECUTE ON ROUTINE public.dblink_it() FROM it_role")]),
    case("GRANT EXECUTE ON FUNCTION lo_creat(int) TO PUBLIC", &[(false, "may call functions that make large objects or act outside the query: lo_creat(integer)", "REVOKE EXECUTE ON ROUTINE lo_creat(integer) FROM PUBLIC")]),
    case("GRANT EXECUTE ON FUNCTION as_owner TO PUBLIC", &[(false, "may call functions that act with their owner's rights: public.as_owner()", "REVOKE EXECUTE ON ROUTINE public.as_owner() FROM PUBLIC")]),
    case("GRANT EXECUTE ON FUNCTION unconfined TO it_role", &[(false, "may call functions in languages that nothing confines: public.unconfined(double precision)", "REVOKE EXECUTE ON ROUTINE public.unconfined(double precision) FROM it_role")]),
    case("GRANT USAGE ON FOREIGN DATA WRAPPER it_wrapper TO it_role", &[(false, "has privileges on what is neither a table nor a function: foreign-data wrapper it_wrapper", "REVOKE ALL ON FOREIGN DATA WRAPPER it_wrapper FROM it_role")]),
];

fn review(reader: &Reader, need: Need) -> Vec<RoleFinding> {
    let mut settings = config(&Cluster::shared().socket_dsn(&reader.name, &reader.database));
    settings.need = need;
    Database::new(settings).probe().unwrap().findings
}

/// Grants, and runs the SQL of each finding: then there is no finding any more.
#[track_caller]
fn check(admin: &mut Client, reader: &Reader, need: &Need, Case { grant, found }: &Case) {
    let here = |text: &str| text.replace("{database}", &reader.database);
    admin.batch_execute(&here(grant)).unwrap();
    let findings = review(reader, need.clone());
    let mut expected: Vec<RoleFinding> = found
        .iter()
        .map(|(dangerous, text, cure)| RoleFinding {
            dangerous: *dangerous,
            text: format!("the role \"it_role\" {}", here(text)),
            cure: here(cure),
        })
        .collect();
    expected.sort_by(|one, other| one.text.cmp(&other.text));
    let mut sorted = findings.clone();
    sorted.sort_by(|one, other| one.text.cmp(&other.text));
    assert_eq!(sorted, expected, "{grant}");
    for RoleFinding { cure, .. } in &findings {
        admin.batch_execute(cure).unwrap_or_else(|error| panic!("{grant}: {cure}: {error}"));
    }
    let left = review(reader, need.clone());
    assert!(left.is_empty(), "{grant}: {left:?}");
}

#[test]
fn every_privilege_beyond_the_need_is_reported_with_sql_that_takes_it_away() {
    let reader = Reader::make("it_role", &["--tables", "item"]);
    let mut admin = Cluster::shared().admin(&reader.database);
    admin.batch_execute(THINGS).unwrap();
    let need = Need { tables: Some(vec!["item".to_owned(), "not_there".to_owned()]), ..Need::default() };
    assert_eq!(review(&reader, need.clone()), []);
    for case in CASES {
        check(&mut admin, &reader, &need, case);
    }
    // Without a catalog the role may read what it was granted, but for secrets.
    let any = Need::default();
    check(
        &mut admin,
        &reader,
        &any,
        &case(
            "GRANT SELECT ON person TO it_role",
            &[(
                false,
                "may read columns that hold secrets by their names: public.person.\"Password hash\", public.person.mfa_secret",
                "REVOKE SELECT ON public.person FROM it_role; GRANT SELECT (id, name) ON public.person TO it_role",
            )],
        ),
    );
    check(
        &mut admin,
        &reader,
        &any,
        &case(
            "GRANT SELECT (\"Password hash\", id) ON person TO PUBLIC",
            &[(
                false,
                "may read columns that hold secrets by their names: public.person.\"Password hash\"",
                "REVOKE SELECT (\"Password hash\") ON public.person FROM PUBLIC",
            )],
        ),
    );
    let waived = Need { waived: vec!["mfa_secret".to_owned()], ..Need::default() };
    check(
        &mut admin,
        &reader,
        &waived,
        &case("GRANT SELECT ON other TO it_role; GRANT SELECT (mfa_secret) ON person TO it_role", &[]),
    );
    admin.batch_execute("ALTER ROLE it_role SUPERUSER").unwrap();
    let texts: Vec<String> = review(&reader, any).into_iter().map(|finding| finding.text).collect();
    assert_eq!(texts, ["the role \"it_role\" is a superuser"]);
    admin.batch_execute("ALTER ROLE it_role NOSUPERUSER").unwrap();
}

#[test]
fn an_owner_of_a_database_has_a_finding_for_each_kind_of_object() {
    let shared = Cluster::shared();
    let database = shared.database(
        "CREATE ROLE it_owner LOGIN; CREATE SCHEMA mine AUTHORIZATION it_owner; SET ROLE it_owner; \
         CREATE TABLE mine.account (id serial, api_token text); RESET ROLE; GRANT SELECT ON hidden TO it_owner",
    );
    shared.admin("postgres").batch_execute(&format!("ALTER DATABASE {database} OWNER TO it_owner")).unwrap();
    let reader = Reader { name: "it_owner".to_owned(), database };
    let need = Need { tables: Some(vec!["mine.account".to_owned()]), ..Need::default() };
    let mut kinds: Vec<String> = review(&reader, need)
        .iter()
        .map(|finding| finding.text.split(':').next().unwrap().replace("the role \"it_owner\" ", ""))
        .collect();
    kinds.sort();
    assert_eq!(
        kinds,
        [
            "has privileges on tables that the catalog does not list",
            "may advance or set sequences",
            "may call functions that make large objects or act outside the query",
            "may create objects in schemas",
            "may create schemas in databases",
            "may make temporary tables in databases",
            "may read columns that hold secrets by their names",
            "may write to, refer to or put triggers on tables",
            "owns what it may therefore change and drop",
        ]
    );
}

#[test]
fn a_role_that_deploy_prints_reads_everything_but_secrets() {
    let reader = Reader::make_in(
        "CREATE TABLE account (id int, \"MFACode\" text, pass2 text, passenger_name text, \"Token\" text); \
         CREATE TABLE keys (salt text)",
        "it_plain",
        &[],
    );
    assert_eq!(review(&reader, Need::default()), []);
    let mut client = reader.connect().unwrap();
    client.batch_execute("SELECT id, passenger_name FROM account; SELECT * FROM item").unwrap();
    for column in ["\"MFACode\"", "pass2", "\"Token\""] {
        client.batch_execute(&format!("SELECT {column} FROM account")).unwrap_err();
    }
    client.batch_execute("SELECT salt FROM keys").unwrap_err();
}

#[test]
fn privileges_that_are_not_found_in_time_refuse_the_strict_only() {
    let reader = Reader::make("it_patient", &["--tables", "item"]);
    let mut admin = Cluster::shared().admin(&reader.database);
    admin.batch_execute("BEGIN; LOCK TABLE pg_init_privs").unwrap();
    let findings = review(&reader, Need::default());
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(!findings[0].dangerous && findings[0].text.contains("not found out"), "{findings:?}");
}

#[test]
fn a_session_logs_what_it_tolerates_once_and_refuses_what_is_dangerous() {
    let shared = Cluster::shared();
    let database = shared.database("CREATE ROLE it_guest LOGIN");
    let dsn = shared.socket_dsn("it_guest", &database);
    let select = || json!({"query": "SELECT 1"});
    let mut client = Session::initialized(&[("MCP_SQL_DSN", &dsn)], "2025-11-25");
    // At once, so that each has a connection of its own.
    let calls: Vec<Value> = (0..4).map(|_| client.call("read_only_sql", select())).collect();
    for call in calls {
        assert_eq!(client.answer(&call)["result"]["isError"], false);
    }
    let log = client.end().cleanly().stderr;
    assert_eq!(log.matches("may make temporary tables in databases").count(), 1, "{log}");
    let mut admin = shared.admin(&database);
    admin.batch_execute("GRANT EXECUTE ON FUNCTION pg_read_file(text) TO it_guest").unwrap();
    let mut client = Session::initialized(&[("MCP_SQL_DSN", &dsn)], "2025-11-25");
    let refusal = problem(&client.use_tool("read_only_sql", select()));
    assert_eq!(refusal["code"], "MCP_ACCESS_DENIED");
    admin.batch_execute("REVOKE EXECUTE ON FUNCTION pg_read_file(text) FROM it_guest").unwrap();
    assert_eq!(client.use_tool("read_only_sql", select())["isError"], false);
    let log = client.end().cleanly().stderr;
    assert!(log.contains("was granted functions") && log.contains("REVOKE EXECUTE ON ROUTINE"), "{log}");
}
