//! `deploy role`: the database role that makes PostgreSQL itself forbid what the guard forbids.

use std::io;

use clap::Args;

use super::fill;

const SCRIPT: &str = include_str!("role.sql");
/// The longest name in bytes; PostgreSQL cuts longer ones (NAMEDATALEN).
const MAX_NAME_BYTES: usize = 63;

/// What `deploy role` can be told.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The schema that may be read
    #[arg(long)]
    schema: String,
    /// Its tables and views that may be read; without it all that are there now
    #[arg(long, value_delimiter = ',')]
    tables: Vec<String>,
    /// The role to make
    #[arg(long, default_value = "mcp_reader")]
    role: String,
    /// Its connections at once: those of every server process that logs in with it
    #[arg(long, default_value_t = 8)]
    connections: u16,
}

pub(super) fn script(options: &Options) -> io::Result<String> {
    let Options { schema, tables, role, connections } = options;
    let schema_name = identifier(schema)?;
    let tables = if tables.is_empty() {
        format!("ALL TABLES IN SCHEMA {schema_name}")
    } else {
        let names: io::Result<Vec<String>> =
            tables.iter().map(|table| Ok(format!("{schema_name}.{}", identifier(table)?))).collect();
        names?.join(", ")
    };
    let role_name = identifier(role)?;
    let values = [
        ("role", &*role_name),
        ("name", role),
        ("literal", &format!("'{}'", role.replace('\'', "''"))),
        ("connections", &connections.to_string()),
        ("schema", &schema_name),
        ("tables", &tables),
    ];
    Ok(fill(SCRIPT, &values))
}

fn identifier(name: &str) -> io::Result<String> {
    if name.is_empty()
        || name.len() > MAX_NAME_BYTES
        || name.contains(char::is_control)
        || name.contains(['\\', '$'])
    {
        return Err(io::Error::other(format!("{name:?} cannot be the name of a role, schema or table here")));
    }
    Ok(format!("\"{}\"", name.replace('"', "\"\"")))
}
