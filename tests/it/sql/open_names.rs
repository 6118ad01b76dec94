//! Names whose meaning only the server knows: types of users' making, columns that are called like functions, keywords.

use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::support::{Client, problem};

const SETUP: &str = "
    CREATE SCHEMA app; GRANT USAGE ON SCHEMA app TO reader;
    CREATE TYPE app.\"Odd mood\" AS ENUM ('x');
    CREATE DOMAIN short AS varchar(3); CREATE DOMAIN above_zero AS int CHECK (VALUE > 0);
    CREATE DOMAIN even_one AS above_zero CHECK (VALUE % 2 = 0); CREATE DOMAIN moods AS mood[]; CREATE DOMAIN feeling AS mood NOT NULL;
    CREATE FUNCTION leak(int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it ran'; END $$;
    CREATE DOMAIN spying AS int CHECK (leak(VALUE)); CREATE DOMAIN over_spying AS spying;
    CREATE OPERATOR === (FUNCTION = int4eq, LEFTARG = int, RIGHTARG = int);
    CREATE DOMAIN by_operator AS int CHECK (VALUE === 1); CREATE DOMAIN path_of AS regrole;
    CREATE DOMAIN string AS text; CREATE DOMAIN app.datetime AS timestamp;
    CREATE TYPE pair_of AS (a int, b text); CREATE DOMAIN pairs AS pair_of; CREATE TYPE span AS RANGE (subtype = int);
    CREATE TABLE documents (id int, xml text, system text, m mood, rows int, \"values\" int, label text);
    INSERT INTO documents VALUES (1, '<a/>', 's', 'sad', 3, 4, 'l');
    CREATE TABLE app.notes (id int, name text, \"text\" text); INSERT INTO app.notes VALUES (1, 'n', 't');
    CREATE FUNCTION label(app.notes) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it ran'; END $$;
    CREATE TYPE spied AS (a spying, b int); CREATE TYPE of_spied AS (a int, b spied); CREATE DOMAIN version AS int CHECK (leak(VALUE));
    CREATE TYPE stages AS ENUM ('a'); CREATE FUNCTION to_stages(text) RETURNS stages[] LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it ran'; END $$;
    CREATE CAST (text AS stages[]) WITH FUNCTION to_stages(text);
    CREATE FUNCTION to_ints(text) RETURNS int8[] LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it ran'; END $$;
    CREATE CAST (text AS int8[]) WITH FUNCTION to_ints(text);
    CREATE FUNCTION rowed(record) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it ran'; END $$;
    CREATE TABLE rowed (id int, rowed text); GRANT SELECT ON rowed TO reader;
    CREATE FUNCTION starred(int, text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it ran'; END $$;
    CREATE OPERATOR * (FUNCTION = starred, LEFTARG = int, RIGHTARG = text);
    CREATE OPERATOR *** (FUNCTION = starred, LEFTARG = int, RIGHTARG = text);
    CREATE TABLE noted (id int, name text); INSERT INTO noted VALUES (1, 'n');
    CREATE FUNCTION label(noted) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it ran'; END $$;
    GRANT SELECT ON documents, app.notes, noted TO reader;
";

/// Statements with their one cell.
const ANSWERED: &[(&str, &str)] = &[
    ("SELECT count(*)::text FROM documents WHERE m = 'sad'::mood", "1"),
    ("SELECT string_agg(x::text, ' ') FROM unnest(enum_range(NULL::mood)) x", "sad so so"),
    ("SELECT 'sad'::public.mood::text", "sad"),
    ("SELECT mood 'sad'::text", "sad"),
    ("SELECT CAST('x' AS app.\"Odd mood\")::text", "x"),
    ("SELECT array_to_string(ARRAY['sad', 'so so']::mood[], ',')", "sad,so so"),
    ("SELECT array_to_string('{sad}'::_mood, ',')", "sad"),
    ("SELECT 'abcd'::short::text", "abc"),
    ("SELECT 7::above_zero::text", "7"),
    ("SELECT 8::even_one::text", "8"),
    ("SELECT array_to_string('{sad}'::moods, ',')", "sad"),
    ("SELECT 'sad'::feeling::text", "sad"),
    ("SELECT 'a'::string::text", "a"),
    ("SELECT '2024-05-03'::app.datetime::date::text", "2024-05-03"),
    ("SELECT a::text FROM json_to_record('{\"a\": \"sad\"}') AS x(a mood)", "sad"),
    ("SELECT d.xml FROM documents d", "<a/>"),
    ("SELECT d.\"xml\" FROM public.documents AS d", "<a/>"),
    ("SELECT documents.system FROM documents", "s"),
    ("SELECT a.system FROM documents a JOIN documents b ON a.system = b.system", "s"),
    ("SELECT q.xml FROM (SELECT id, xml FROM documents) q", "<a/>"),
    ("WITH q AS (SELECT system AS xml FROM documents) SELECT q.xml FROM q", "s"),
    ("SELECT n.name || n.text FROM app.notes n", "nt"),
    ("SELECT rows::text FROM documents", "3"),
    ("SELECT d.values::text FROM documents d", "4"),
    ("SELECT d.label FROM documents d", "l"),
];

/// Statements that are refused, with a part of the reason.
const REFUSED: &[(&str, &str)] = &[
    ("SELECT 1::spying", "The type 'spying' is not on the list"),
    ("SELECT 1::over_spying", "The type 'over_spying'"),
    ("SELECT 1::by_operator", "The type 'by_operator'"),
    ("SELECT 'postgres'::path_of", "The type 'path_of'"),
    ("SELECT '(1,a)'::pair_of", "The type 'pair_of'"),
    ("SELECT '(1,a)'::pairs", "The type 'pairs'"),
    ("SELECT '[1,2]'::span", "The type 'span'"),
    ("SELECT '{1}'::spying[]", "The type 'spying'"),
    ("SELECT 1::nothing_like_it", "The type 'nothing_like_it'"),
    ("SELECT 1::app.mood", "The type 'app.mood'"),
    ("SELECT 'x'::\"Mood\"", "The type 'Mood'"),
    ("SELECT '1'::\"int\"", "The type 'int'"),
    ("SELECT '2024-05-03'::datetime", "PostgreSQL has no type 'datetime'; write timestamp"),
    ("SELECT CAST('1' AS nvarchar(10))", "PostgreSQL has no type 'nvarchar'; write varchar"),
    ("SELECT n.label FROM app.notes n", "behind a dot may call the function 'public.label'"),
    ("SELECT d.label FROM documents d WHERE EXISTS (SELECT d.label FROM app.notes d)", "behind a dot"),
    ("WITH noted AS (SELECT n.label FROM noted n) SELECT label FROM noted", "behind a dot"),
    (
        "SELECT n.label FROM noted n WHERE EXISTS (WITH noted AS (SELECT 'a' AS label) SELECT 1 FROM noted)",
        "behind a dot",
    ),
    (
        "SELECT (SELECT unnest.label FROM unnest(ARRAY(SELECT n FROM noted n))) FROM documents unnest",
        "behind a dot",
    ),
    ("SELECT ('1'::text).spying", "behind a dot may call the function 'public.spying'"),
    ("SELECT ('{1}'::text)._spying", "behind a dot"),
    ("SELECT (1).over_spying", "behind a dot"),
    ("SELECT ('(1,2)'::text).spied FROM noted", "behind a dot"),
    ("SELECT ('(1,(1))'::text).of_spied", "behind a dot"),
    ("SELECT spying(1)", "'spying'"),
    ("SELECT version(1)", "may call the function 'public.version'"),
    ("SELECT ('postgres'::text).regrole", "behind a dot"),
    ("SELECT ('leak'::text).regproc", "behind a dot"),
    ("SELECT n.name::stages[] FROM noted n", "A cast to 'stages' may call the function 'public.to_stages'"),
    ("SELECT n.name::public.stages[] FROM noted n", "A cast to 'stages'"),
    ("SELECT n.name::_stages FROM noted n", "A cast to 'stages'"),
    (
        "SELECT CAST(n.name AS bigint[]) FROM noted n",
        "A cast to 'int8' may call the function 'public.to_ints'",
    ),
    ("SELECT n.name::int8[] FROM noted n", "A cast to 'int8'"),
    (
        "SELECT j.rowed FROM noted JOIN documents USING (id) AS j WHERE EXISTS (SELECT FROM rowed j)",
        "behind a dot",
    ),
    ("SELECT n.all *** n.name FROM (SELECT 1 AS \"all\", 'a'::text AS name) n", "'***'"),
    ("SELECT n.all * n.name FROM (SELECT 1 AS \"all\", 'a'::text AS name) n", "The operator '*' may call"),
    ("SELECT (d).xml FROM documents d", "behind a dot may call the function 'pg_catalog.xml'"),
    ("SELECT q.xml FROM (SELECT id FROM documents) q", "behind a dot"),
    ("SELECT d.pg_size_of FROM documents d", "behind a dot"),
];

fn client(setup: &str) -> Client {
    let url = Cluster::shared().url(&Cluster::shared().database(setup));
    Client::initialized(&[("MCP_SQL_DSN", &url)], "2025-11-25")
}

fn ask(client: &mut Client, tool: &str, sql: &str) -> Result<Value, Value> {
    let result = client.use_tool(tool, json!({ "query": sql }));
    if result["isError"] == true { Err(problem(&result)) } else { Ok(result["structuredContent"].clone()) }
}

#[test]
fn a_type_or_a_field_is_used_when_the_server_says_that_it_is_harmless() {
    let mut client = client(SETUP);
    for (sql, expected) in ANSWERED {
        let answer =
            ask(&mut client, "read_only_sql", sql).unwrap_or_else(|problem| panic!("{sql}: {problem}"));
        assert_eq!(answer["rows"], json!([[expected]]), "{sql}");
        ask(&mut client, "explain_query", sql).unwrap_or_else(|problem| panic!("{sql}: {problem}"));
    }
    for (sql, part) in REFUSED {
        for tool in ["read_only_sql", "explain_query"] {
            let problem = ask(&mut client, tool, sql).expect_err(sql);
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.contains(part) && problem["code"] == "MCP_QUERY_VIOLATION", "{sql}: {problem}");
            assert!(problem["metadata"]["line"] == 1, "{sql}: {problem}");
        }
    }
    client.end().cleanly();
}

/// The conditions of an entry on its parameter `p`, a text, and the outcome: the id that is found, or none where the entry does not
/// fit the database.
const IN_A_CATALOG: &[(&str, Option<i64>)] = &[
    ("m = :p::mood", Some(1)),
    ("m = CAST(:p AS public.mood)", Some(1)),
    ("m = ANY (ARRAY[:p]::mood[])", Some(1)),
    ("m = :p::feeling::mood", Some(1)),
    (":p::mood = ANY (enum_range(NULL::mood))", Some(1)),
    (":p::short = 'sad'", Some(1)),
    ("m = :p", None),
    ("length(:p::by_text) = 3", None),
];

#[test]
fn a_parameter_of_a_catalog_may_be_cast_to_an_enum() {
    let setup = format!(
        "{SETUP} CREATE FUNCTION spy(text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'it ran'; END $$; \
        CREATE DOMAIN by_text AS text CHECK (spy(VALUE));"
    );
    let url = Cluster::shared().url(&Cluster::shared().database(&setup));
    let mut catalog = "version = 1\ntables = [\"documents\"]\n".to_owned();
    for (number, (condition, _)) in IN_A_CATALOG.iter().enumerate() {
        catalog += &format!(
            "[[query]]\nname = \"q{number}\"\ntitle = \"Q\"\ndescription = \"Finds documents.\"\ntables = [\"documents\"]\n\
             columns = [\"id\"]\nsql = \"SELECT id FROM documents WHERE {condition} ORDER BY id LIMIT 5\"\n\
             params.p = {{ type = \"string\", max_length = 9 }}\n"
        );
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("catalog.toml");
    std::fs::write(&file, catalog).unwrap();
    let mut client =
        Client::initialized(&[("MCP_SQL_DSN", &url), ("MCP_CATALOG", file.to_str().unwrap())], "2025-11-25");
    for (number, (condition, expected)) in IN_A_CATALOG.iter().enumerate() {
        let id = client.call(&format!("q{number}"), json!({ "p": "sad" }));
        let answer = client.answer(&id);
        match expected {
            Some(expected) => {
                assert_eq!(
                    answer["result"]["structuredContent"]["rows"],
                    json!([{ "id": expected }]),
                    "{condition}: {answer}"
                );
            }
            None => assert_eq!(answer["error"]["code"], -32603, "{condition}: {answer}"),
        }
    }
    client.end().cleanly();
}

/// Places of a keyword, as a name that PostgreSQL may take or not.
const PLACES: &[&str] = &[
    "SELECT # FROM w",
    "SELECT w.# FROM w",
    "SELECT 1 AS #",
    "SELECT 1 #",
    "SELECT 1 FROM w AS #",
    "SELECT 1 FROM w #",
    "WITH # AS (SELECT 1 AS a) SELECT a FROM #",
    "SELECT max(1) AS x FROM w GROUP BY #",
    "SELECT 1 FROM w ORDER BY w.#",
];

#[test]
fn a_keyword_is_a_name_where_postgresql_takes_it() {
    let cluster = Cluster::shared();
    let mut admin = cluster.admin("postgres");
    let words: Vec<String> = admin
        .query("SELECT word FROM pg_get_keywords() ORDER BY 1", &[])
        .unwrap()
        .iter()
        .map(|row| row.get(0))
        .collect();
    let columns: Vec<String> = words.iter().map(|word| format!("\"{word}\" text")).collect();
    let setup = format!("CREATE TABLE w ({}); GRANT SELECT ON w TO reader", columns.join(", "));
    let name = cluster.database(&setup);
    let mut psql = cluster.client(crate::cluster::READER, &name);
    let url = cluster.url(&name);
    let mut client = Client::initialized(&[("MCP_SQL_DSN", &url)], "2025-11-25");
    let (mut wrong, mut accepted) = (Vec::new(), 0);
    for word in &words {
        for place in PLACES {
            let sql = place.replace('#', word);
            let valid = psql.simple_query(&sql).is_ok();
            match ask(&mut client, "read_only_sql", &sql) {
                Ok(_) if valid => accepted += 1,
                Ok(_) => wrong.push(format!("accepted: {sql}")),
                Err(problem) if valid => {
                    let detail = problem["detail"].as_str().unwrap();
                    let cures = ["quote it", "AS before it", "write ", "use "];
                    let is_curable = cures.iter().any(|cure| detail.contains(cure));
                    wrong.extend((!is_curable).then(|| format!("{sql}: {detail}")));
                }
                Err(_) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{accepted} accepted\n{}", wrong.join("\n"));
    assert!(accepted > 3_000, "{accepted}");
    client.end().cleanly();
}
