//! The answers of `psql` beside those of a call: the same rows or the same error.

use mcp_server_suite::NAME;
use postgres::{Client as Driver, Config, NoTls, SimpleQueryMessage, SimpleQueryRow};
use serde_json::{Value, json};

use crate::cluster::{Cluster, PASSWORD, READER};
use crate::support::{Client, problem};

/// The settings that a call pins, the zone and the style in which it shows values, and a limit.
const SETTINGS: &str = "SET TimeZone = 'UTC'; SET DateStyle = ISO; \
    SET extra_float_digits = 1; SET bytea_output = hex; SET statement_timeout = '5s'";

/// The outcome of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Rows, each cell in one form for both sides.
    Rows(Vec<Vec<String>>),
    /// PostgreSQL's SQLSTATE.
    Failed(String),
    /// The guard's code: nothing was sent.
    Refused(String),
    /// Rows that did not all come, which are not compared.
    Cut,
}

/// A connection like psql's: the client's own text by the simple protocol, in `BEGIN READ ONLY`.
pub(crate) struct Psql {
    driver: Driver,
}

impl Psql {
    pub(crate) fn new(cluster: &Cluster, database: &str) -> Self {
        let mut config = Config::new();
        config.host("127.0.0.1").port(cluster.port()).user(READER).password(PASSWORD).dbname(database);
        config.application_name(NAME);
        let mut driver = config.connect(NoTls).unwrap();
        driver.batch_execute(SETTINGS).unwrap();
        Self { driver }
    }

    /// The rows as psql would show them, with the names of the columns' types from the call.
    pub(crate) fn ask(&mut self, sql: &str, types: &[String]) -> Outcome {
        let has_interval = types.iter().any(|kind| kind.starts_with("interval"));
        // A call shows an interval as ISO 8601 has it, but computes with the session's own style.
        let style = if has_interval { "; SET LOCAL IntervalStyle = iso_8601" } else { "" };
        self.driver.batch_execute(&format!("BEGIN READ ONLY{style}")).unwrap();
        let answer = self.driver.simple_query(sql);
        self.driver.batch_execute("ROLLBACK").unwrap();
        match answer {
            Ok(messages) => Outcome::Rows(
                rows(&messages)
                    .map(|row| (0..row.len()).map(|i| cell(&from_text(row.get(i), kind(types, i)))).collect())
                    .collect(),
            ),
            Err(error) => {
                Outcome::Failed(error.code().unwrap_or_else(|| panic!("{sql}: {error}")).code().to_owned())
            }
        }
    }
}

/// The rows among the messages of the simple protocol.
pub(crate) fn rows(messages: &[SimpleQueryMessage]) -> impl Iterator<Item = &SimpleQueryRow> {
    messages.iter().filter_map(
        |message| {
            if let SimpleQueryMessage::Row(row) = message { Some(row) } else { None }
        },
    )
}

fn kind(types: &[String], index: usize) -> &str {
    types.get(index).map_or("text", String::as_str)
}

/// The answer of a call, and the types of its columns.
pub(crate) fn call(client: &mut Client, sql: &str) -> (Outcome, Vec<String>) {
    let id = client.call("read_only_sql", json!({"query": sql, "max_rows": 1000}));
    let message = client.answer(&id);
    let result = &message["result"];
    if result["isError"] == true {
        let problem = problem(result);
        let sqlstate = problem["metadata"]["sqlstate"].as_str();
        let code = problem["code"].as_str().unwrap().to_owned();
        let outcome = sqlstate.map_or(Outcome::Refused(code), |state| Outcome::Failed(state.to_owned()));
        return (outcome, Vec::new());
    }
    let answer = &result["structuredContent"];
    assert!(answer.is_object(), "{sql}: {message}");
    if answer["truncated"] == true || answer["has_more"] == true {
        return (Outcome::Cut, Vec::new());
    }
    let columns = answer["columns"].as_array().unwrap();
    let types: Vec<String> = columns.iter().map(|c| c["type"].as_str().unwrap().to_owned()).collect();
    let rows = answer["rows"].as_array().unwrap().iter().map(|row| {
        row.as_array().unwrap().iter().enumerate().map(|(i, value)| cell(&judged(value, &types[i]))).collect()
    });
    (Outcome::Rows(rows.collect()), types)
}

fn cell(value: &Value) -> String {
    value.to_string()
}

/// A call's cell in the form that is compared: numbers by their value, numerics without trailing zeros, for PostgreSQL may
/// keep any of several equal ones.
fn judged(value: &Value, kind: &str) -> Value {
    match (value, kind.strip_suffix("[]")) {
        (Value::Array(values), Some(element)) => {
            values.iter().map(|value| judged(value, if value.is_array() { kind } else { element })).collect()
        }
        (Value::Null, _) => Value::Null,
        (Value::String(text), None) if kind == "numeric" => json!(plain(text)),
        (Value::Number(number), None) if kind.starts_with("int") => json!(number.to_string()),
        (Value::Number(number), None) if kind.starts_with("float") => json!(number.as_f64().unwrap() + 0.0),
        (_, None) if kind.starts_with("json") => json!(documents(value)),
        // What `record_out` and `to_json` make of a record is compared elsewhere.
        (Value::Object(_), None) => json!("a record"),
        _ => value.clone(),
    }
}

/// psql's text in the same form.
fn from_text(text: Option<&str>, kind: &str) -> Value {
    let Some(text) = text else { return Value::Null };
    if let Some(element) = kind.strip_suffix("[]") {
        // `[0:1]={1,2}`: bounds are not shown.
        let items = text.find('{').map_or("", |start| text.split_at(start).1);
        return array(&mut items.chars().peekable(), element);
    }
    match kind {
        "bool" => json!(text == "t"),
        "numeric" => json!(plain(text)),
        // What ISO 8601 cannot say stays as it is.
        "timestamp" | "timestamptz" if text.ends_with("BC") => json!(text),
        "timestamp" => json!(text.replace(' ', "T")),
        "timestamptz" => json!(text.replace(' ', "T").replace("+00", "Z")),
        "json" | "jsonb" => {
            let value: Value = serde_json::from_str(text).unwrap();
            // A call writes JSON's null like SQL's.
            if value.is_null() { value } else { json!(documents(&value)) }
        }
        "record" => json!("a record"),
        _ if kind.starts_with("float") => {
            let number: f64 = text.parse().unwrap();
            if number.is_finite() { json!(number + 0.0) } else { json!(text) }
        }
        _ => json!(text),
    }
}

fn plain(numeric: &str) -> &str {
    if numeric.contains('.') { numeric.trim_end_matches('0').trim_end_matches('.') } else { numeric }
}

/// A document, its numbers by their value.
fn documents(value: &Value) -> String {
    match value {
        Value::Number(number) => format!("{}", number.as_f64().unwrap()),
        Value::Array(values) => {
            format!("[{}]", values.iter().map(documents).collect::<Vec<_>>().join(","))
        }
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| format!("{name:?}:{}", documents(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.to_string(),
    }
}

/// `{1,NULL,"a b"}`, nested.
fn array(text: &mut std::iter::Peekable<std::str::Chars<'_>>, element: &str) -> Value {
    let mut values = Vec::new();
    assert_eq!(text.next(), Some('{'));
    loop {
        match text.peek() {
            Some('}') | None => {
                text.next();
                return json!(values);
            }
            Some(',') => drop(text.next()),
            Some('{') => values.push(array(text, element)),
            Some('"') => values.push(from_text(Some(&quoted(text)), element)),
            Some(_) => {
                let mut item = String::new();
                while let Some(c) = text.next_if(|c| !matches!(c, ',' | '}')) {
                    item.push(c);
                }
                values.push(from_text((item != "NULL").then_some(&item), element));
            }
        }
    }
}

/// `"a b"`, with backslashes before what would end it.
fn quoted(text: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    assert_eq!(text.next(), Some('"'));
    let mut item = String::new();
    while let Some(c) = text.next().filter(|c| *c != '"') {
        item.extend(if c == '\\' { text.next() } else { Some(c) });
    }
    item
}

/// Asserts that a call answers as psql does, unless it is refused or cut.
#[track_caller]
pub(crate) fn same_as_psql(client: &mut Client, psql: &mut Psql, sql: &str) -> Outcome {
    let (outcome, types) = call(client, sql);
    if matches!(outcome, Outcome::Refused(_) | Outcome::Cut) {
        return outcome;
    }
    let expected = psql.ask(sql, &types);
    assert_eq!(outcome, expected, "{sql}");
    outcome
}

/// The expressions in every place of the grid.
const CALLS: &[&str] = &[
    "abs(1)",
    "ABS (1)",
    "\"abs\"(1)",
    "pg_catalog.abs(1)",
    "abs/* ( */(1)",
    "abs -- (\n (1)",
    "starts_with('a', 'a')",
    "lower('UTC')",
    "string_to_array('a,b', ',')",
    "generate_series(1, 2)",
    "array_append(ARRAY[1], 2)",
    "to_jsonb('{\"a\": 1}'::json)",
    "make_date(2024, 1, 2)",
    "make_interval(days => 2)",
    "json_each_text('{\"a\": 1}')",
    "json_to_record('{\"a\": 1}')",
    "sign(random())",
];

/// Places of which PostgreSQL 15 makes an error, whatever the call.
const ERRORS: &[&str] = &[
    "SELECT a[#] FROM t",
    "SELECT (#).a",
    "SELECT 1 @> SOME (#)",
    "SELECT (1, #) OVERLAPS (1, 2)",
    "SELECT a FROM t GROUP BY #",
    "SELECT a FROM t GROUP BY CUBE (#), b",
    "SELECT (VALUES (1), (#))",
];

/// Places that PostgreSQL has had since its 16.
const SINCE_16: [&str; 1] = ["SELECT # IS JSON OBJECT"];

#[test]
fn an_allowed_call_is_answered_as_psql_answers_it_wherever_an_expression_can_stand() {
    let cluster = Cluster::shared();
    let database = cluster.database(
        "CREATE TABLE t (a int, b bool); CREATE TABLE u (a int); CREATE TABLE v (a int);
         INSERT INTO t VALUES (1, true), (2, false), (NULL, NULL); INSERT INTO u VALUES (1); INSERT INTO v VALUES (2);
         GRANT SELECT ON t, u, v TO PUBLIC",
    );
    let url = cluster.url(&database);
    let mut client = Client::initialized(&[("MCP_SQL_DSN", &url)], "2025-11-25");
    let mut psql = Psql::new(cluster, &database);
    let mut unanswered = Vec::new();
    for place in include_str!("../../../src/guard/corpus/places.txt").lines() {
        let mut answered = false;
        for call in CALLS {
            let sql = place.replace('#', call);
            match same_as_psql(&mut client, &mut psql, &sql) {
                Outcome::Rows(_) => answered = true,
                Outcome::Failed(_) => {}
                Outcome::Refused(_) | Outcome::Cut => panic!("{sql}"),
            }
        }
        if !answered {
            unanswered.push(place);
        }
    }
    let newer: &[&str] = if cluster.version() < 160_000 { &SINCE_16 } else { &[] };
    assert_eq!(unanswered, [ERRORS, newer].concat());
    client.end().cleanly();
}
