//! The script of the demo's client, in order. Each step stands for one thing that the server does or refuses.

use serde_json::Value;

/// One step of the script: the kind of question, the event for the reader, the method or the tool, and its params or
/// arguments as JSON.
#[derive(Debug)]
pub(super) struct Step(
    pub(super) Ask,
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) &'static str,
);

/// The kinds of question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// A request of the revisions with a handshake.
    Legacy,
    /// A request of 2026-07-28, which carries its own version and capabilities.
    Modern,
    /// A tool call, of 2026-07-28.
    Call,
    /// A tool call that makes sense only with PostgreSQL.
    DatabaseCall,
    /// A tool call that is cancelled at once.
    CancelledCall,
    /// Not a request: the report of `check` on the broken catalog.
    Check,
}

impl Step {
    /// Returns the params or arguments. A test proves that each step's are JSON.
    pub(super) fn arguments(&self) -> Value {
        serde_json::from_str(self.3).unwrap_or_default()
    }

    pub(super) fn needs_database(&self) -> bool {
        self.0 == Ask::DatabaseCall
    }
}

/// Every step.
#[rustfmt::skip]
pub(super) static STEPS: &[Step] = &[
    Step(Ask::Legacy, "A client of 2025-11-25 shakes hands", "initialize",
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"demo","version":"1"}}"#),
    Step(Ask::Legacy, "and lists the tools", "tools/list", "{}"),
    Step(Ask::Modern, "A client of 2026-07-28 needs no handshake: the same process serves both", "server/discover", "{}"),

    Step(Ask::DatabaseCall, "A reviewed query is a tool", "search_devices", r#"{"hostname":"laptop","site":"HAM","limit":3}"#),
    Step(Ask::DatabaseCall, "and another: what has not been seen lately?", "stale_devices", r#"{"before":"2025-12-15","limit":5}"#),
    Step(Ask::DatabaseCall, "Each wrong argument is told with its bound", "search_devices",
        r#"{"hostname":"l","site":"Hamburg","kind":"phone","limit":5000}"#),
    Step(Ask::DatabaseCall, "An argument that the query does not have", "find_people",
        r#"{"name_or_email":"bakker","columns":"password_hash"}"#),
    Step(Ask::DatabaseCall, "A search that would be a dump: % is a character like any other", "find_people", r#"{"name_or_email":"%%"}"#),
    Step(Ask::DatabaseCall, "An injection is a hostname that no device has", "get_device", r#"{"hostname":"x' OR '1'='1'; --"}"#),
    Step(Ask::DatabaseCall, "A tool that is not in the catalog", "delete_device", r#"{"hostname":"laptop-001"}"#),
    Step(Ask::Check, "A catalog that would do harm keeps the server from starting", "check", "{}"),

    Step(Ask::DatabaseCall, "What is in the database?", "describe_database", r#"{"schema":"inventory","table":"devices"}"#),
    Step(Ask::DatabaseCall, "A question of the model's own, over three tables", "read_only_sql",
        r#"{"query":"SELECT s.city, count(*) AS open_tickets, max(d.price) AS dearest FROM tickets t JOIN devices d USING (device_id) JOIN sites s USING (site_id) WHERE t.closed IS NULL GROUP BY s.city ORDER BY s.city"}"#),
    Step(Ask::DatabaseCall, "What would a query cost?", "explain_query", r#"{"query":"SELECT hostname FROM devices WHERE device_id = 7"}"#),
    Step(Ask::DatabaseCall, "The database's own grants hold: no secret column", "read_only_sql", r#"{"query":"SELECT full_name, mfa_secret FROM people"}"#),
    Step(Ask::DatabaseCall, "A write that hides in a CTE", "read_only_sql",
        r#"{"query":"WITH gone AS (DELETE FROM tickets RETURNING ticket_id) SELECT count(*) FROM gone"}"#),
    Step(Ask::DatabaseCall, "Two statements in one", "read_only_sql", r#"{"query":"SELECT 1; DROP TABLE tickets"}"#),
    Step(Ask::DatabaseCall, "A function that reads the server's files", "read_only_sql", r#"{"query":"SELECT pg_read_file('/etc/passwd')"}"#),
    Step(Ask::DatabaseCall, "A query that would run for days", "read_only_sql",
        r#"{"query":"SELECT count(*) FROM tickets a, tickets b, tickets c, tickets d, tickets e"}"#),

    Step(Ask::Call, "What files are there?", "sandbox_fs_list", "{}"),
    Step(Ask::Call, "A piece of one, cut between characters", "sandbox_fs_read",
        r#"{"relative_path":"runbook.md","offset":11,"max_bytes":53}"#),
    Step(Ask::Call, "A path that climbs out", "sandbox_fs_read", r#"{"relative_path":"../secret.txt"}"#),
    Step(Ask::Call, "A symlink that leads out", "sandbox_fs_read", r#"{"relative_path":"way-out"}"#),
    Step(Ask::Call, "Bytes that are no text", "sandbox_fs_read", r#"{"relative_path":"legacy.txt"}"#),

    Step(Ask::Call, "How is the host?", "system_metrics", r#"{"sample_ms":50}"#),
    Step(Ask::Call, "An argument that does not exist", "system_metrics", r#"{"sample_ms":0,"shell":"id"}"#),
    Step(Ask::Call, "Arguments nested too deeply", "system_metrics", r#"{"sample_ms":[[[[[[[[[0]]]]]]]]]}"#),
    Step(Ask::Call, "A tool that does not exist", "run_shell", r#"{"command":"id"}"#),
    Step(Ask::CancelledCall, "A call that is cancelled is never answered", "system_metrics", r#"{"sample_ms":2000}"#),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_worth_watching_with_and_without_a_database() {
        let without = STEPS.iter().filter(|step| !step.needs_database()).count();
        assert!(without >= 12 && STEPS.len() - without >= 8, "{without} of {}", STEPS.len());
        for step in STEPS {
            assert!(step.arguments().is_object(), "{}", step.1);
        }
    }
}
