//! A server that speaks PostgreSQL's protocol and lies: it returns more columns, more rows and longer values than it was
//! asked for. Nothing of that passes.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::{fs, thread};

use serde_json::{Value, json};

use crate::support::{Client, Ended};

const TEXT: u32 = 25;
const JSONB: u32 = 3802;
const TEXT_ARRAY: u32 = 1009;
const INTERVAL: u32 = 1186;

/// A false description of a statement: columns (name, type) and rows (fields in binary form).
#[derive(Clone)]
struct Lie {
    columns: Vec<(&'static str, u32)>,
    rows: Vec<Vec<Option<Vec<u8>>>>,
}

/// A server of this `server_version_num`, with one lie for the statement itself and another for the one that wraps it.
struct Double {
    port: u16,
}

impl Double {
    fn start(version: &'static str, statement: Lie, wrapped: Lie) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let serve = move || {
            for stream in listener.incoming() {
                let (statement, wrapped) = (statement.clone(), wrapped.clone());
                let stream = stream.unwrap();
                let (prepared, bound) = (HashMap::new(), Vec::new());
                let backend = Backend { stream, version, statement, wrapped, prepared, bound };
                // The client leaves when it has seen enough.
                thread::Builder::new().spawn(|| backend.run().unwrap_or_default()).unwrap();
            }
        };
        thread::Builder::new().spawn(serve).unwrap();
        Self { port }
    }
}

struct Backend {
    stream: TcpStream,
    version: &'static str,
    statement: Lie,
    wrapped: Lie,
    prepared: HashMap<String, Lie>,
    /// The rows of what was bound last.
    bound: Vec<Vec<Option<Vec<u8>>>>,
}

/// A message of the backend: its type, its length, its body.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap();
    [&[kind], length.to_be_bytes().as_slice(), body].concat()
}

fn row(fields: &[Option<Vec<u8>>]) -> Vec<u8> {
    let mut body = u16::try_from(fields.len()).unwrap().to_be_bytes().to_vec();
    for field in fields {
        let length = field.as_ref().map_or(-1, |field| i32::try_from(field.len()).unwrap());
        body.extend(length.to_be_bytes());
        body.extend_from_slice(field.as_deref().unwrap_or_default());
    }
    message(b'D', &body)
}

fn description(columns: &[(&str, u32)], format: u16) -> Vec<u8> {
    let mut body = u16::try_from(columns.len()).unwrap().to_be_bytes().to_vec();
    for (name, kind) in columns {
        body.extend(
            [
                name.as_bytes(),
                &[0; 7],
                &kind.to_be_bytes(),
                &(-1_i16).to_be_bytes(),
                &(-1_i32).to_be_bytes(),
                &format.to_be_bytes(),
            ]
            .concat(),
        );
    }
    message(b'T', &body)
}

/// The text up to a zero byte, and what stands behind it.
fn text(body: &[u8]) -> (String, &[u8]) {
    let end = body.iter().position(|byte| *byte == 0).unwrap();
    (String::from_utf8(body[..end].to_vec()).unwrap(), &body[end + 1..])
}

impl Backend {
    fn read(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn body(&mut self) -> io::Result<Vec<u8>> {
        let length = self.read(4)?;
        self.read(u32::from_be_bytes(length.try_into().unwrap()) as usize - 4)
    }

    fn run(mut self) -> io::Result<()> {
        let ready = message(b'Z', b"I");
        self.body()?;
        let parameter = message(b'S', b"client_encoding\0UTF8\0");
        self.stream.write_all(
            &[message(b'R', &[0; 4]), parameter, message(b'K', &[0; 8]), ready.clone()].concat(),
        )?;
        loop {
            let kind = self.read(1)?[0];
            let body = self.body()?;
            let answer = match kind {
                b'Q' => [simple(&text(&body).0, self.version), ready.clone()].concat(),
                b'S' => ready.clone(),
                b'X' => return Ok(()),
                _ => self.extended(kind, &body),
            };
            self.stream.write_all(&answer)?;
        }
    }

    fn extended(&mut self, kind: u8, body: &[u8]) -> Vec<u8> {
        match kind {
            b'P' => {
                let (name, rest) = text(body);
                let sql = text(rest).0;
                let lie = if sql.contains("pg_attribute") {
                    // No column holds members.
                    Lie { columns: vec![("name", TEXT)], rows: Vec::new() }
                } else if sql.contains("AS r(") {
                    self.wrapped.clone()
                } else {
                    self.statement.clone()
                };
                self.prepared.insert(name, lie);
                message(b'1', &[])
            }
            b'D' => {
                let lie = &self.prepared[&text(&body[1..]).0];
                [message(b't', &[0, 1, 0, 0, 0, 20]), description(&lie.columns, 0)].concat()
            }
            b'B' => {
                self.bound = self.prepared[&text(text(body).1).0].rows.clone();
                message(b'2', &[])
            }
            b'E' => {
                let rows = self.bound.iter().map(|fields| row(fields)).collect::<Vec<_>>().concat();
                [rows, message(b'C', b"SELECT 1\0")].concat()
            }
            b'C' => message(b'3', &[]),
            other => panic!("a message of type {other}"),
        }
    }
}

/// The answer to a batch of ours. Only the first one asks for more than success.
fn simple(batch: &str, version: &str) -> Vec<u8> {
    if !batch.contains("'server_version'") {
        return message(b'C', b"OK\0");
    }
    let facts = [
        "15.0",
        "lies",
        "reader",
        "f",
        "off",
        "public",
        "UTF8",
        version,
        "PostgreSQL on linux",
        "4242",
        "UTC",
    ];
    let columns: Vec<(&str, u32)> = facts.iter().map(|fact| (*fact, TEXT)).collect();
    let fields: Vec<_> = facts.iter().map(|fact| Some(fact.as_bytes().to_vec())).collect();
    // The role has no limit on a statement's time.
    let limit = [description(&[("limit", TEXT)], 0), row(&[None]), message(b'C', b"SELECT 1\0")].concat();
    [description(&columns, 0), row(&fields), message(b'C', b"SELECT 1\0"), limit].concat()
}

const CATALOG: &str = r#"
version = 1
tables = ["thing"]
[[query]]
name = "things"
title = "Things"
description = "Lists things."
tables = ["thing"]
columns = ["name", "extra"]
sql = "SELECT name, extra FROM thing ORDER BY name LIMIT :limit"
params.limit = { type = "integer", min = 1, max = 1000, default = 100 }
"#;

/// The result of one call to a lying server, and the log.
fn call(statement: Lie, wrapped: Lie) -> (Value, Ended) {
    call_to("150000", statement, wrapped)
}

fn call_to(version: &'static str, statement: Lie, wrapped: Lie) -> (Value, Ended) {
    let double = Double::start(version, statement, wrapped);
    let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    fs::write(file.path(), CATALOG).unwrap();
    let dsn = format!("postgres://reader@127.0.0.1:{}/lies?sslmode=disable", double.port);
    let settings = [("MCP_SQL_DSN", dsn.as_str()), ("MCP_CATALOG", file.path().to_str().unwrap())];
    let mut client = Client::initialized(&settings, "2025-11-25");
    let id = client.call("things", json!({}));
    let answer = client.answer(&id);
    (answer, client.end().cleanly())
}

fn declared() -> Lie {
    Lie { columns: vec![("name", TEXT), ("extra", JSONB)], rows: Vec::new() }
}

/// Rows of the two declared columns, and one of cuts, as our wrapper asks for them.
fn wrapped(rows: Vec<Vec<Option<Vec<u8>>>>) -> Lie {
    Lie { columns: vec![("name", TEXT), ("extra", JSONB), ("cuts", TEXT_ARRAY)], rows }
}

fn jsonb(text: &str) -> Option<Vec<u8>> {
    Some([b"\x01", text.as_bytes()].concat())
}

#[test]
fn undeclared_columns_end_the_call() {
    let more = Lie { columns: vec![("name", TEXT), ("extra", JSONB), ("ssn", TEXT)], rows: Vec::new() };
    let renamed = Lie { columns: vec![("name", TEXT), ("ssn", JSONB)], rows: Vec::new() };
    let fewer = Lie { columns: vec![("name", TEXT)], rows: Vec::new() };
    for statement in [more, renamed, fewer] {
        let (answer, ended) = call(statement, wrapped(vec![vec![Some(b"leak".to_vec()), None, None]]));
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert!(!answer.to_string().contains("leak") && !answer.to_string().contains("ssn"), "{answer}");
        assert!(ended.stderr.contains("tool=things failed: column-mismatch: "), "{}", ended.stderr);
    }
    let unasked = Lie {
        columns: vec![("name", TEXT), ("extra", JSONB), ("cuts", TEXT_ARRAY), ("ssn", TEXT)],
        rows: Vec::new(),
    };
    let (answer, _) = call(declared(), unasked);
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    // What a row has beyond its description is not looked at.
    let (answer, _) = call(declared(), wrapped(vec![vec![Some(b"a".to_vec()), None]]));
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
}

#[test]
fn secrets_inside_values_are_dropped_however_they_are_wrapped() {
    let long = format!("{{\"password_hash\":\"hunter2\",\"a\":\"{}\"}}", "x".repeat(2_000));
    let rows = [
        (
            Some(b"plain".to_vec()),
            jsonb(r#"{"password_hash":"hunter2","deep":[{"apiKey":"hunter2","a":1}]}"#),
        ),
        (Some(br#"{"token":"hunter2","b":2}"#.to_vec()), jsonb(r#"{"log":"{\"otp\":\"hunter2\"}"}"#)),
        (Some(long.clone().into_bytes()), jsonb(&long)),
        (Some(br#"{"token":"hunter2""#.to_vec()), jsonb(r#"{"token":"hunter2""#)),
    ];
    let rows = rows.into_iter().map(|(name, extra)| vec![name, extra, None]).collect();
    let (answer, ended) = call(declared(), wrapped(rows));
    let sent = answer.to_string();
    assert!(!sent.contains("hunter2") && !ended.stderr.contains("hunter2"), "{sent}");
    let rows = &answer["result"]["structuredContent"]["rows"];
    assert_eq!(rows[0], json!({"name": "plain", "extra": "{\"deep\":[{\"a\":1}]}"}));
    assert_eq!(rows[1], json!({"name": "{\"b\":2}", "extra": "{\"log\":\"{}\"}"}));
    for cell in [&rows[2]["name"], &rows[2]["extra"], &rows[3]["name"], &rows[3]["extra"]] {
        assert!(cell.as_str().unwrap().starts_with("[withheld: "), "{cell}");
    }
    assert_eq!(answer["result"]["structuredContent"]["truncated"], true);
}

#[test]
fn a_hundred_and_one_rows_of_a_megabyte_are_cut_to_what_was_asked_for() {
    let row = vec![Some(vec![b'x'; 1 << 20]), jsonb("{}"), None];
    let (answer, _) = call(declared(), wrapped(vec![row; 101]));
    let body = &answer["result"]["structuredContent"];
    assert!(body.to_string().len() <= 65_536, "{}", body.to_string().len());
    assert_eq!((&body["has_more"], &body["truncated"]), (&json!(true), &json!(true)));
    let rows = body["rows"].as_array().unwrap();
    assert_eq!(body["row_count"], rows.len());
    assert!(
        rows.iter().all(|row| row["name"].as_str().unwrap().ends_with("…[truncated 1047576 chars]")),
        "{}",
        rows[0]
    );
    // Short ones are counted: 100 were asked for.
    let row = vec![Some(b"x".to_vec()), jsonb("{}"), None];
    let (answer, _) = call(declared(), wrapped(vec![row; 150]));
    let body = &answer["result"]["structuredContent"];
    assert_eq!(
        (&body["row_count"], &body["has_more"], &body["truncated"]),
        (&json!(100), &json!(true), &json!(false))
    );
}

#[test]
fn the_longest_intervals_are_what_the_servers_version_makes_of_them() {
    let longest =
        [i64::MAX.to_be_bytes().as_slice(), &i32::MAX.to_be_bytes(), &i32::MAX.to_be_bytes()].concat();
    for (version, expected) in [
        ("150004", json!("P178956970Y7M2147483647DT2562047788H54.775807S")),
        ("160010", json!("P178956970Y7M2147483647DT2562047788H54.775807S")),
        ("170000", json!("infinity")),
        ("180001", json!("infinity")),
    ] {
        let columns = vec![("name", TEXT), ("extra", INTERVAL)];
        let statement = Lie { columns: columns.clone(), rows: Vec::new() };
        let columns = [columns, vec![("cuts", TEXT_ARRAY)]].concat();
        let wrapped = Lie { columns, rows: vec![vec![Some(b"a".to_vec()), Some(longest.clone()), None]] };
        let (answer, _) = call_to(version, statement, wrapped);
        assert_eq!(
            answer["result"]["structuredContent"]["rows"][0]["extra"], expected,
            "{version}: {answer}"
        );
    }
    // A server whose version is not a number is not PostgreSQL.
    let (answer, ended) = call_to("15beta1", declared(), wrapped(Vec::new()));
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert!(ended.stderr.contains("is not a PostgreSQL server"), "{}", ended.stderr);
}
