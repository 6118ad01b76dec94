//! The script of the demo's client, in order. Each step stands for one thing that the server does or refuses.

use serde_json::Value;

/// One step of the script.
#[derive(Debug)]
pub(super) struct Step {
    /// The event, for the reader.
    pub(super) title: &'static str,
    /// The step makes sense only with PostgreSQL.
    pub(super) needs_database: bool,
    pub(super) ask: Ask,
    /// The method, or the tool of a call.
    pub(super) name: &'static str,
    /// The params, or the arguments of a call, as JSON.
    pub(super) arguments: &'static str,
}

/// The kinds of question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// A request of the revisions with a handshake.
    Legacy,
    /// A request of 2026-07-28, which carries its own version and capabilities.
    Modern,
    /// A tool call, of 2026-07-28.
    Call,
    /// A tool call that is cancelled at once.
    CancelledCall,
    /// Not a request: the report of `check` on the broken catalog.
    Check,
}

impl Step {
    /// Returns the params or arguments. A test proves that each step's are JSON.
    pub(super) fn arguments(&self) -> Value {
        serde_json::from_str(self.arguments).unwrap_or_default()
    }
}

const fn step(ask: Ask, title: &'static str, name: &'static str, arguments: &'static str) -> Step {
    Step { title, needs_database: false, ask, name, arguments }
}

const fn call(title: &'static str, tool: &'static str, arguments: &'static str) -> Step {
    step(Ask::Call, title, tool, arguments)
}

/// A call that needs the database.
const fn data(title: &'static str, tool: &'static str, arguments: &'static str) -> Step {
    Step { needs_database: true, ..call(title, tool, arguments) }
}

const fn query(title: &'static str, arguments: &'static str) -> Step {
    data(title, "read_only_sql", arguments)
}

/// Every step.
#[rustfmt::skip]
pub(super) static STEPS: &[Step] = &[
    step(Ask::Legacy, "A client of 2025-11-25 shakes hands", "initialize",
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"demo","version":"1"}}"#),
    step(Ask::Legacy, "and lists the tools", "tools/list", "{}"),
    step(Ask::Modern, "A client of 2026-07-28 needs no handshake: the same process serves both", "server/discover", "{}"),

    data("A reviewed query is a tool", "search_devices", r#"{"hostname":"laptop","site":"HAM","limit":3}"#),
    data("and another: what has not been seen lately?", "stale_devices", r#"{"before":"2025-12-15","limit":5}"#),
    data("Each wrong argument is told with its bound", "search_devices",
        r#"{"hostname":"l","site":"Hamburg","kind":"phone","limit":5000}"#),
    data("An argument that the query does not have", "find_people",
        r#"{"name_or_email":"bakker","columns":"password_hash"}"#),
    data("A search that would be a dump: % is a character like any other", "find_people", r#"{"name_or_email":"%%"}"#),
    data("An injection is a hostname that no device has", "get_device", r#"{"hostname":"x' OR '1'='1'; --"}"#),
    data("A tool that is not in the catalog", "delete_device", r#"{"hostname":"laptop-001"}"#),
    step(Ask::Check, "A catalog that would do harm keeps the server from starting", "check", "{}"),

    data("What is in the database?", "describe_database", r#"{"schema":"inventory","table":"devices"}"#),
    query("A question of the model's own, over three tables",
        r#"{"query":"SELECT s.city, count(*) AS open_tickets, max(d.price) AS dearest FROM tickets t JOIN devices d USING (device_id) JOIN sites s USING (site_id) WHERE t.closed IS NULL GROUP BY s.city ORDER BY s.city"}"#),
    data("What would a query cost?", "explain_query", r#"{"query":"SELECT hostname FROM devices WHERE device_id = 7"}"#),
    query("The database's own grants hold: no secret column", r#"{"query":"SELECT full_name, mfa_secret FROM people"}"#),
    query("A write that hides in a CTE",
        r#"{"query":"WITH gone AS (DELETE FROM tickets RETURNING ticket_id) SELECT count(*) FROM gone"}"#),
    query("Two statements in one", r#"{"query":"SELECT 1; DROP TABLE tickets"}"#),
    query("A function that reads the server's files", r#"{"query":"SELECT pg_read_file('/etc/passwd')"}"#),
    query("A query that would run for days",
        r#"{"query":"SELECT count(*) FROM tickets a, tickets b, tickets c, tickets d, tickets e"}"#),

    call("What files are there?", "sandbox_fs_list", "{}"),
    call("A piece of one, cut between characters", "sandbox_fs_read",
        r#"{"relative_path":"runbook.md","offset":11,"max_bytes":53}"#),
    call("A path that climbs out", "sandbox_fs_read", r#"{"relative_path":"../secret.txt"}"#),
    call("A symlink that leads out", "sandbox_fs_read", r#"{"relative_path":"way-out"}"#),
    call("Bytes that are no text", "sandbox_fs_read", r#"{"relative_path":"legacy.txt"}"#),

    call("How is the host?", "system_metrics", r#"{"sample_ms":50}"#),
    call("An argument that does not exist", "system_metrics", r#"{"sample_ms":0,"shell":"id"}"#),
    call("Arguments nested too deeply", "system_metrics", r#"{"sample_ms":[[[[[[[[[0]]]]]]]]]}"#),
    call("A tool that does not exist", "run_shell", r#"{"command":"id"}"#),
    step(Ask::CancelledCall, "A call that is cancelled is never answered", "system_metrics", r#"{"sample_ms":2000}"#),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_worth_watching_with_and_without_a_database() {
        let without = STEPS.iter().filter(|step| !step.needs_database).count();
        assert!(without >= 12 && STEPS.len() - without >= 8, "{without} of {}", STEPS.len());
        for step in STEPS {
            assert!(step.arguments().is_object(), "{}", step.title);
        }
    }
}
