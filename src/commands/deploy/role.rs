//! `deploy role`: the database role that makes PostgreSQL itself forbid what the guard forbids.

use std::io;

use clap::Args;

use super::fill;
use crate::tools::catalog::SensitiveWords;

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
        let schema = literal(&schema_name);
        format!("c.relnamespace = {schema}::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')")
    } else {
        let numbers: io::Result<Vec<String>> = tables
            .iter()
            .map(|table| {
                Ok(format!("{}::regclass", literal(&format!("{schema_name}.{}", identifier(table)?))))
            })
            .collect();
        format!("c.oid IN ({})", numbers?.join(", "))
    };
    let words = SensitiveWords::default();
    let values = [
        ("role", &*identifier(role)?),
        ("name", role),
        ("literal", &literal(role)),
        ("connections", &connections.to_string()),
        ("schema", &schema_name),
        ("tables", &tables),
        ("anywhere", &words.anywhere().join("|")),
        ("words", &SensitiveWords::WORDS.join("|")),
    ];
    Ok(fill(SCRIPT, &values))
}

/// An SQL literal. Names hold no backslash.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
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
