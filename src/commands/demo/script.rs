//! What the demo's client asks, in order. Each step stands for one thing the server does or refuses.

use serde_json::{Value, json};

/// One step of the script.
#[derive(Debug)]
pub(super) struct Step {
    /// What happens, for the reader.
    pub(super) title: &'static str,
    /// Whether it makes sense only with PostgreSQL.
    pub(super) needs_database: bool,
    /// What is sent.
    pub(super) ask: Ask,
}

/// What the client sends.
#[derive(Debug)]
pub(super) enum Ask {
    /// A request of the revisions with a handshake.
    Legacy { method: &'static str, params: Value },
    /// A request of 2026-07-28, which carries its own version and capabilities.
    Modern { method: &'static str, params: Value },
    /// A tool call, of 2026-07-28.
    Call { tool: &'static str, arguments: Value },
    /// The same, cancelled at once.
    CancelledCall { tool: &'static str, arguments: Value },
    /// No request: what `check` prints of the broken catalog.
    Check,
}

/// Every step.
pub(super) fn steps() -> Vec<Step> {
    let mut steps = handshakes();
    steps.extend(catalog());
    steps.extend(catalog_refusals());
    steps.extend(sql());
    steps.extend(sql_refusals());
    steps.extend(files());
    steps.extend(the_rest());
    steps
}

fn step(title: &'static str, ask: Ask) -> Step {
    Step { title, needs_database: false, ask }
}

fn call(title: &'static str, tool: &'static str, arguments: Value) -> Step {
    step(title, Ask::Call { tool, arguments })
}

fn query(title: &'static str, text: &str) -> Step {
    on_database(call(title, "read_only_sql", json!({ "query": text })))
}

fn on_database(step: Step) -> Step {
    Step { needs_database: true, ..step }
}

fn handshakes() -> Vec<Step> {
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "demo", "version": "1" },
    });
    vec![
        step("A client of 2025-11-25 shakes hands", Ask::Legacy { method: "initialize", params: hello }),
        step("and lists the tools", Ask::Legacy { method: "tools/list", params: json!({}) }),
        step(
            "A client of 2026-07-28 needs no handshake: the same process serves both",
            Ask::Modern { method: "server/discover", params: json!({}) },
        ),
    ]
}

fn catalog() -> Vec<Step> {
    let laptops = json!({ "hostname": "laptop", "site": "HAM", "limit": 3 });
    let stale = json!({ "before": "2025-12-15", "limit": 5 });
    vec![
        on_database(call("A reviewed query is a tool", "search_devices", laptops)),
        on_database(call("and another: what has not been seen lately?", "stale_devices", stale)),
    ]
}

fn catalog_refusals() -> Vec<Step> {
    let wrong = json!({ "hostname": "l", "site": "Hamburg", "kind": "phone", "limit": 5000 });
    let unknown = json!({ "name_or_email": "bakker", "columns": "password_hash" });
    vec![
        on_database(call("Each wrong argument is told with its bound", "search_devices", wrong)),
        on_database(call("An argument that the query does not have", "find_people", unknown)),
        on_database(call(
            "A search that would be a dump: % is a character like any other",
            "find_people",
            json!({ "name_or_email": "%%" }),
        )),
        on_database(call(
            "An injection is a hostname that no device has",
            "get_device",
            json!({ "hostname": "x' OR '1'='1'; --" }),
        )),
        on_database(call(
            "A tool that is not in the catalog",
            "delete_device",
            json!({ "hostname": "laptop-001" }),
        )),
        step("A catalog that would do harm keeps the server from starting", Ask::Check),
    ]
}

fn sql() -> Vec<Step> {
    let table = json!({ "schema": "inventory", "table": "devices" });
    let plan = json!({ "query": "SELECT hostname FROM devices WHERE device_id = 7" });
    vec![
        on_database(call("What is in the database?", "describe_database", table)),
        query(
            "A question of the model's own, over three tables",
            "SELECT s.city, count(*) AS open_tickets, max(d.price) AS dearest FROM tickets t JOIN devices d USING \
             (device_id) JOIN sites s USING (site_id) WHERE t.closed IS NULL GROUP BY s.city ORDER BY s.city",
        ),
        on_database(call("What would a query cost?", "explain_query", plan)),
    ]
}

fn sql_refusals() -> Vec<Step> {
    vec![
        query("The database's own grants hold: no secret column", "SELECT full_name, mfa_secret FROM people"),
        query(
            "A write that hides in a CTE",
            "WITH gone AS (DELETE FROM tickets RETURNING ticket_id) SELECT count(*) FROM gone",
        ),
        query("Two statements in one", "SELECT 1; DROP TABLE tickets"),
        query("A function that reads the server's files", "SELECT pg_read_file('/etc/passwd')"),
        query(
            "A query that would run for days",
            "SELECT count(*) FROM tickets a, tickets b, tickets c, tickets d, tickets e",
        ),
    ]
}

fn files() -> Vec<Step> {
    let read = |path: &str| json!({ "relative_path": path });
    vec![
        call("What files are there?", "sandbox_fs_list", json!({})),
        call(
            "A piece of one, cut between characters",
            "sandbox_fs_read",
            json!({ "relative_path": "runbook.md", "offset": 11, "max_bytes": 53 }),
        ),
        call("A path that climbs out", "sandbox_fs_read", read("../secret.txt")),
        call("A symlink that leads out", "sandbox_fs_read", read("way-out")),
        call("Bytes that are no text", "sandbox_fs_read", read("legacy.txt")),
    ]
}

fn the_rest() -> Vec<Step> {
    let deep = json!({ "sample_ms": [[[[[[[[[0]]]]]]]]] });
    vec![
        call("How is the host?", "system_metrics", json!({ "sample_ms": 50 })),
        call("An argument that does not exist", "system_metrics", json!({ "sample_ms": 0, "shell": "id" })),
        call("Arguments nested too deeply", "system_metrics", deep),
        call("A tool that does not exist", "run_shell", json!({ "command": "id" })),
        step(
            "A call that is cancelled is never answered",
            Ask::CancelledCall { tool: "system_metrics", arguments: json!({ "sample_ms": 2000 }) },
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_worth_watching_with_and_without_a_database() {
        let steps = steps();
        let without = steps.iter().filter(|step| !step.needs_database).count();
        assert!(without >= 12 && steps.len() - without >= 8, "{without} of {}", steps.len());
    }
}
