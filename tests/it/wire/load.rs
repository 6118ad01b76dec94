//! Load: every answer comes, memory is bounded, threads and descriptors do not leak.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Client, Style, modern, serve};

/// Lines, each with the kind of its answer: an error code, or the word `result`, `problem`.
const LINES: [(&str, Option<&str>); 19] = [
    (r#"{"jsonrpc":"2.0","id":ID,"method":"ping"}"#, Some("result")),
    (r#"{"jsonrpc":"2.0","id":"sID","method":"ping"}"#, Some("result")),
    (r#"{"jsonrpc":"2.0","id":ID,"method":"server/discover","params":{"_meta":META}}"#, Some("result")),
    (
        r#"{"jsonrpc":"2.0","id":ID,"method":"server/discover","params":{"_meta":META,"more":1}}"#,
        Some("-32602"),
    ),
    (
        r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"_meta":META,"name":"system_metrics","arguments":{"a":1,"a":1}}}"#,
        Some("problem"),
    ),
    (
        r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"_meta":META,"name":"nope"}}"#,
        Some("-32602"),
    ),
    (r#"{"jsonrpc":"2.0","id":ID,"method":"nope","params":{"_meta":META}}"#, Some("-32601")),
    (r#"{"jsonrpc":"2.0","id":ID,"method":"tools/list"}"#, Some("-32602")),
    (r#"{"jsonrpc":"1.0","id":ID,"method":"ping"}"#, Some("-32600")),
    (r#"{"jsonrpc":"2.0","id":ID,"method":"ping"}}"#, Some("-32700")),
    (r#"{"jsonrpc":"2.0","id":ID,"method":"\ud800"}"#, Some("-32700")),
    (r#"{"jsonrpc":"2.0","method":"notifications/of-nothing","params":{"n":ID}}"#, None),
    (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}"#, None),
    (r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#, None),
    ("  ", None),
    (r#"[{"jsonrpc":"2.0","id":ID,"method":"ping"}]"#, Some("-32600")),
    (r#"{"jsonrpc":"2.0","id":IDID"#, Some("-32700")),
    ("BYTES", Some("-32700")),
    ("LONG", Some("-32600")),
];

#[test]
fn two_hundred_thousand_frames_get_the_right_answers() {
    const FRAMES: usize = 200_000;
    let meta = modern(json!({}))["_meta"].to_string();
    let mut input = Vec::new();
    let mut expected: HashMap<&str, usize> = HashMap::new();
    for n in 0..FRAMES {
        let (line, answer) = LINES[n % LINES.len()];
        match line {
            "BYTES" => input.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\xfe\"}"),
            "LONG" => input.resize(input.len() + 1_500, b'x'),
            line => input.extend(line.replace("ID", &n.to_string()).replace("META", &meta).bytes()),
        }
        input.extend_from_slice(if n % 2 == 0 { b"\n" } else { b"\r\n" });
        if let Some(answer) = answer {
            *expected.entry(answer).or_default() += 1;
        }
    }
    let total: usize = expected.values().sum();

    let (mut process, mut stdin, stdout) = serve(&[("MCP_MAX_FRAME_BYTES", "1024")], Style::Pipes);
    let writer = thread::Builder::new()
        .spawn(move || {
            stdin.write_all(&input).unwrap();
            stdin
        })
        .unwrap();
    let mut found: HashMap<&str, usize> = HashMap::new();
    let mut lines = BufReader::new(stdout).lines();
    for line in lines.by_ref().take(total) {
        *found.entry(kind(&line.unwrap())).or_default() += 1;
    }
    assert_eq!(found, expected);
    let peak = process.peak_memory_kib();
    assert!(peak < 32 << 10, "{peak} KiB");
    drop(writer.join().unwrap());
    assert_eq!(lines.count(), 0);
    let (status, stderr) = process.wait();
    assert_eq!(status.code(), Some(0), "{stderr}");
}

/// Classifies an answer without parsing it.
fn kind(line: &str) -> &'static str {
    let has = |what: &str| line.contains(what);
    ["-32700", "-32600", "-32601", "-32602"]
        .into_iter()
        .find(|code| has(&format!("\"error\":{{\"code\":{code},")))
        .unwrap_or(if has("\"isError\":true") { "problem" } else { "result" })
}

#[test]
fn ten_thousand_calls_and_a_thousand_cancelled_ones_leak_nothing() {
    // Confined, it would hide its descriptors from its own user, too.
    let settings = [("MCP_LOG_LEVEL", "error"), ("MCP_CONFINE", "off")];
    let mut client = Client::initialized(&settings, "2025-11-25");
    let burst = |client: &mut Client, calls: usize, ms: u64| -> Vec<Value> {
        (0..calls).map(|_| client.call("system_metrics", json!({"sample_ms": ms}))).collect()
    };
    let warm_up = burst(&mut client, 64, 5);
    warm_up.iter().for_each(|id| drop(client.answer(id)));
    client.until_pong();
    let before = (client.process.threads(), client.process.descriptors());
    for _ in 0..20 {
        for id in burst(&mut client, 500, 0) {
            assert_eq!(client.answer(&id)["result"]["isError"], false);
        }
        for id in burst(&mut client, 50, 2_000) {
            client.cancel(&id);
        }
    }
    // Behind the last cancelled call in the queue, so that it is over.
    client.use_tool("system_metrics", json!({"sample_ms": 0}));
    assert_eq!((client.process.threads(), client.process.descriptors()), before);
    assert_eq!(client.end().cleanly().messages, [] as [Value; 0]);
}

/// Asks for so many answers of a mebibyte at once, reads them slowly, and returns the most memory they took, in KiB.
fn read_slowly(style: Style, answers: usize) -> u64 {
    const BYTES: usize = 1 << 20;
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("large"), "0123456789abcdef".repeat(BYTES / 16)).unwrap();
    let settings =
        [("MCP_SAFE_DATA_DIR", directory.path().to_str().unwrap()), ("MCP_QUEUE_WAIT_MS", "600000")];
    let (mut process, mut stdin, stdout) = serve(&settings, style);
    for id in 0..answers {
        let arguments = json!({"relative_path": "large", "max_bytes": BYTES});
        let params = modern(json!({"name": "sandbox_fs_read", "arguments": arguments}));
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        stdin.write_all(format!("{request}\n").as_bytes()).unwrap();
    }

    let mut seen = vec![false; answers];
    let mut lines = BufReader::new(Slow(stdout)).lines();
    for line in lines.by_ref().take(answers) {
        let line = line.unwrap();
        let id = line.strip_prefix(r#"{"jsonrpc":"2.0","id":"#).unwrap().split(',').next().unwrap();
        let seen = &mut seen[id.parse::<usize>().unwrap()];
        assert!(!*seen, "two answers to {id}");
        *seen = true;
        assert!(line.contains(r#""isError":false"#) && line.len() > 2 * BYTES, "{id}: {} bytes", line.len());
    }
    let peak = process.peak_memory_kib();
    stdin.end();
    assert_eq!(lines.count(), 0);
    assert_eq!(process.wait().0.code(), Some(0));
    peak
}

/// A slow reader. Its pause does not wait for an event.
struct Slow(File);

impl Read for Slow {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        thread::sleep(Duration::from_micros(50));
        self.0.read(buffer)
    }
}

#[test]
fn a_slow_reader_gets_256_answers_of_a_mebibyte_in_bounded_memory() {
    let peak = read_slowly(Style::Pipes, 256);
    assert!(peak < 64 << 10, "{peak} KiB");
}

#[test]
fn a_stream_that_does_not_block_loses_nothing() {
    read_slowly(Style::NonBlockingPipes, 8);
    read_slowly(Style::NonBlockingSocket, 8);
}

#[test]
fn a_hundred_thousand_entries_are_listed_page_by_page_in_the_memory_of_a_page() {
    const ENTRIES: usize = 100_000;
    /// The names alone are 20 MiB.
    const MOST_KIB: u64 = 6 * 1024;
    let data = tempfile::tempdir().unwrap();
    let tail = "n".repeat(200);
    // The order of creation is not that of the names.
    let name = |number: usize| format!("{:06}-{tail}", number * 7_919 % ENTRIES);
    fs::create_dir(data.path().join("small")).unwrap();
    fs::create_dir(data.path().join("large")).unwrap();
    for (directory, entries) in [("small", 1_000), ("large", ENTRIES)] {
        for number in 0..entries {
            File::create(data.path().join(directory).join(name(number))).unwrap();
        }
    }
    let settings = [("MCP_SAFE_DATA_DIR", data.path().to_str().unwrap())];
    let mut client = Client::initialized(&settings, "2025-11-25");
    let mut page = |directory: &str, after: &Value| {
        let mut arguments = json!({"relative_path": directory, "max_entries": 1_000});
        if !after.is_null() {
            arguments["after"] = after.clone();
        }
        let page = client.use_tool("sandbox_fs_list", arguments)["structuredContent"].take();
        let names = page["entries"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap());
        let names: Vec<String> = names.map(str::to_owned).collect();
        (names, page["next_after"].clone(), client.process.peak_memory_kib())
    };
    let (_, _, before) = page("small", &Value::Null);
    let (first, next, after) = page("large", &Value::Null);
    let mut expected: Vec<String> = (0..ENTRIES).map(name).collect();
    expected.sort_unstable();
    assert_eq!(first, expected[..1_000]);
    assert!(after - before < MOST_KIB, "{before} KiB grew to {after}");
    assert_eq!(page("large", &next).0, expected[1_000..2_000]);
    client.end().cleanly();
}
