//! `deploy role`: the database role that makes PostgreSQL itself forbid what the guard forbids.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use clap::Args;

use super::printed::Printed;
use crate::guard::sensitive::SensitiveWords;
use crate::settings::Settings;
use crate::tools::catalog::Catalog;

const SCRIPT: &str = include_str!("role.sql");
/// The longest name in bytes; PostgreSQL cuts longer ones (NAMEDATALEN).
const MAX_NAME_BYTES: usize = 63;

/// The options of `deploy role`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The schema that may be read
    #[arg(long)]
    schema: String,
    /// Its tables and views that may be read; without it those of the catalog, or without one all that are there now
    #[arg(long, value_delimiter = ',')]
    tables: Vec<String>,
    /// The catalog whose tables may be read, in place of MCP_CATALOG
    #[arg(long, value_name = "FILE_OR_DIRECTORY", conflicts_with = "tables")]
    pub(super) catalog: Option<PathBuf>,
    /// The role to make
    #[arg(long, default_value = "mcp_reader")]
    role: String,
    /// Its connections at once: those of every server process that logs in with it
    #[arg(long, default_value_t = 8)]
    connections: u16,
}

pub(super) fn script(options: &Options, settings: &Settings) -> io::Result<Printed> {
    let Options { schema, tables, catalog: _, role, connections } = options;
    let schema_name = identifier(schema)?;
    let catalog = settings.catalog.as_ref().filter(|_| tables.is_empty());
    let tables = match catalog {
        // As SQL reads names without quotes.
        Some(catalog) => catalog.tables.iter().map(|table| table.to_lowercase()).collect(),
        None => tables.clone(),
    };
    let tables = tables.iter().map(|table| named(table, schema)).collect::<io::Result<Vec<_>>>()?;
    let schemas = tables.iter().map(|(schema, _)| schema.as_str()).chain([schema_name.as_str()]);
    let schemas: Vec<&str> = BTreeSet::from_iter(schemas).into_iter().collect();
    let relations = if tables.is_empty() {
        let schema = literal(&schema_name);
        format!("c.relnamespace = {schema}::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f')")
    } else {
        let numbers = tables
            .iter()
            .map(|(schema, table)| format!("{}::regclass", literal(&format!("{schema}.{table}"))));
        format!("c.oid IN ({})", numbers.collect::<Vec<_>>().join(", "))
    };
    let waived = catalog.map(Catalog::waived).unwrap_or_default();
    let waived: io::Result<Vec<_>> =
        waived.iter().map(|name| identifier(name).map(|_| literal(name))).collect();
    let values = vec![
        ("role", identifier(role)?),
        ("name", role.clone()),
        ("literal", literal(role)),
        ("connections", connections.to_string()),
        ("schemas", schemas.join(", ")),
        ("schema", schema_name),
        ("relations", relations),
        ("anywhere", settings.sensitive_words.anywhere().join("|")),
        ("words", SensitiveWords::WORDS.join("|")),
        ("waived", waived?.join(", ")),
    ];
    Ok(Printed::fill(SCRIPT, Vec::new(), values))
}

/// The schema and the name of a table, which may stand behind its schema, quoted.
fn named(table: &str, schema: &str) -> io::Result<(String, String)> {
    let (schema, name) = table.split_once('.').unwrap_or((schema, table));
    Ok((identifier(schema)?, identifier(name)?))
}

/// An SQL literal. Names hold no backslash.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn identifier(name: &str) -> io::Result<String> {
    let is_odd = |c: char| c.is_control() || ['\\', '$'].contains(&c);
    if name.is_empty() || name.len() > MAX_NAME_BYTES || name.contains(is_odd) {
        return Err(io::Error::other(format!("{name:?} cannot be the name of a role, schema or table here")));
    }
    Ok(format!("\"{}\"", name.replace('"', "\"\"")))
}
