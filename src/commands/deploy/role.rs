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
/// The parts of the script that make the role: for a superuser, and for the administrator of a managed cloud.
const CREATE: &str = include_str!("role_create.sql");
const CREATE_MANAGED: &str = include_str!("role_managed.sql");
const SETTINGS: &str = include_str!("role_settings.sql");
/// The longest name in bytes; PostgreSQL cuts longer ones (NAMEDATALEN).
const MAX_NAME_BYTES: usize = 63;

/// The options of `deploy role`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The schemas that may be read; tables without a schema are of the first
    #[arg(long, value_delimiter = ',', required = true)]
    schema: Vec<String>,
    /// Their tables and views that may be read; without it those of the catalog, or without one all that are there now
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
    /// Add the tables to a role that is there
    #[arg(long)]
    add: bool,
    /// For a managed cloud, whose administrator is no superuser
    #[arg(long, conflicts_with = "add")]
    managed: bool,
}

pub(super) fn script(options: &Options, settings: &Settings) -> io::Result<Printed> {
    let Options { schema: given, tables, catalog: _, role, connections, add, managed } = options;
    let first = given.first().map_or("", String::as_str);
    let catalog = settings.catalog.as_ref().filter(|_| tables.is_empty());
    let tables = match catalog {
        // As SQL reads names without quotes.
        Some(catalog) => catalog.tables.iter().map(|table| table.to_lowercase()).collect(),
        None => tables.clone(),
    };
    let tables = tables.iter().map(|table| named(table, first)).collect::<io::Result<Vec<_>>>()?;
    let own = given.iter().map(|schema| own_schema(schema)).collect::<io::Result<Vec<_>>>()?;
    let schemas = tables.iter().map(|(schema, _)| schema.as_str()).chain(own.iter().map(String::as_str));
    let schemas: Vec<&str> = BTreeSet::from_iter(schemas).into_iter().collect();
    let relations = if tables.is_empty() {
        let own: Vec<String> =
            own.iter().map(|schema| format!("{}::regnamespace", literal(schema))).collect();
        format!("c.relnamespace IN ({}) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')", own.join(", "))
    } else {
        let numbers = tables
            .iter()
            .map(|(schema, table)| format!("{}::regclass", literal(&format!("{schema}.{table}"))));
        format!("c.oid IN ({})", numbers.collect::<Vec<_>>().join(", "))
    };
    let waived = catalog.map(Catalog::waived).unwrap_or_default();
    let waived: io::Result<Vec<_>> =
        waived.iter().map(|name| identifier(name).map(|_| literal(name))).collect();
    let schema_list: Vec<String> = given.iter().map(|schema| literal(schema)).collect();
    let values = vec![
        ("role", identifier(role)?),
        ("name", role.clone()),
        ("literal", literal(role)),
        ("connections", connections.to_string()),
        ("schemas", schemas.join(", ")),
        ("search_path", literal(&own.join(", "))),
        ("schema_list", format!("ARRAY[{}]::name[]", schema_list.join(", "))),
        ("relations", relations),
        ("anywhere", settings.sensitive_words.anywhere_pattern()),
        ("words", SensitiveWords::WORDS.join("|")),
        ("waived", waived?.join(", ")),
    ];
    let part = |template: &str| Printed::fill(template, Vec::new(), values.clone()).text;
    let (create, who) = match (*add, *managed) {
        (true, _) => (None, "the owner of the tables or a superuser"),
        (false, true) => (Some(CREATE_MANAGED), "the administrator of the managed database"),
        (false, false) => (Some(CREATE), "a superuser"),
    };
    let password =
        create.map(|_| format!("-- Then give it a password: \\password {role}\n")).unwrap_or_default();
    let [create, session] = [create, create.and(Some(SETTINGS))].map(|it| it.map(part).unwrap_or_default());
    let parts = [("create", create), ("session", session), ("password", password), ("who", who.to_owned())];
    let values = values.iter().cloned().chain(parts).collect();
    Ok(Printed::fill(SCRIPT, Vec::new(), values))
}

/// The schema of an operator's own, quoted. PostgreSQL's are open to every role, and their views show other sessions.
fn own_schema(name: &str) -> io::Result<String> {
    if name.starts_with("pg_") || name == "information_schema" {
        let why = format!("{name:?} is PostgreSQL's own schema: name the one that holds your tables");
        return Err(io::Error::other(why));
    }
    identifier(name)
}

/// The schema and the name of a table, which may stand behind its schema, quoted.
fn named(table: &str, schema: &str) -> io::Result<(String, String)> {
    let (schema, name) = table.split_once('.').unwrap_or((schema, table));
    Ok((own_schema(schema)?, identifier(name)?))
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
