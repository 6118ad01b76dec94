//! The role's privileges object by object, by the grants themselves: those to it, to PUBLIC, and to every role that it is a
//! member of. Rights that no grant shows, such as a superuser's, are found in [`super::attributes`].

use postgres::Client;
use postgres::error::SqlState;

use super::super::simple_query::{literal, row};
use super::finding::{Need, RoleFinding, quoted};
use crate::guard::functions_denied;

const PRIVILEGES: &str = include_str!("privileges.sql");

/// The server's time for the answer, whatever the role is configured with. For 5,000 tables it takes a tenth of a second.
const TIMEOUT_MS: u32 = 5_000;

/// The most different column names that are looked at. The query asks for one more.
const MAX_COLUMN_NAMES: usize = 10_000;

/// Names and cures of a kind that are reported; the rest is counted. The query counts with it.
const REPORTED: usize = 3;

/// The columns of a [`Row`].
const FIELDS: usize = 5;

/// The kinds of privilege: the query's word, whether it breaks the read-only promise, and its text.
///
/// User-defined functions are their author's and the guard's matter; one of PostgreSQL's own that was revoked from
/// PUBLIC and granted to this role was meant to be used.
#[rustfmt::skip]
const KINDS: [(&str, bool, &str); 12] = [
    ("own", false, "owns what it may therefore change and drop"),
    ("create in schema", false, "may create objects in schemas"),
    ("create in database", false, "may create schemas in databases"),
    ("temporary", false, "may make temporary tables in databases"),
    ("write", false, "may write to, refer to or put triggers on tables"),
    ("sequence", false, "may advance or set sequences"),
    ("outside", false, "has privileges on tables that the catalog does not list"),
    ("granted function", true, "was granted functions that read files or act outside the query"),
    ("function", false, "may call functions that make large objects or act outside the query"),
    ("untrusted", false, "may call functions in languages that nothing confines"),
    ("definer", false, "may call functions that act with their owner's rights"),
    ("other", false, "has privileges on what is neither a table nor a function"),
];

/// A row of [`PRIVILEGES`].
struct Row {
    kind: String,
    count: u64,
    /// Objects, or a column of the first table that has it.
    objects: String,
    /// SQL, or for a column of a table that may be read as a whole, the table's number, a space, and who may read it.
    cures: String,
    /// A column's name.
    column: String,
}

/// Asks for privileges of the role `user` beyond the need, in a session with this `search_path` (an SQL literal).
pub(crate) fn ask(
    client: &mut Client,
    user: &str,
    search_path: &str,
    need: &Need,
) -> Result<Vec<RoleFinding>, postgres::Error> {
    match ask_all(client, user, search_path, need) {
        Err(error) if error.code() == Some(&SqlState::QUERY_CANCELED) => {
            client.batch_execute("ROLLBACK")?;
            let text = format!("what the role {} may do was not found out in {TIMEOUT_MS} ms", quoted(user));
            let cure = "see what the server is busy with, or grant on fewer objects".to_owned();
            Ok(vec![RoleFinding { dangerous: false, text, cure }])
        }
        asked => asked,
    }
}

fn ask_all(
    client: &mut Client,
    user: &str,
    search_path: &str,
    need: &Need,
) -> Result<Vec<RoleFinding>, postgres::Error> {
    let (columns, grants): (Vec<Row>, Vec<Row>) =
        rows(client, &batch(search_path, need))?.into_iter().partition(|row| row.kind == "column");
    let mut findings: Vec<RoleFinding> = grants.iter().map(|grant| finding(user, grant)).collect();
    if columns.len() > MAX_COLUMN_NAMES {
        let text = format!("the role {} may read columns of too many names to look at all", quoted(user));
        let cure = "let it read only the tables that it needs".to_owned();
        findings.push(RoleFinding { dangerous: false, text, cure });
    }
    let secret: Vec<&Row> = columns.iter().filter(|column| is_secret(need, &column.column)).collect();
    if !secret.is_empty() {
        findings.push(secrets(client, user, need, &secret)?);
    }
    Ok(findings)
}

fn is_secret(need: &Need, name: &str) -> bool {
    need.words.is_sensitive(name) && !need.waived.iter().any(|waived| waived == name)
}

/// The catalog's tables are looked up as the session's statements would find them, everything else under a pinned path.
fn batch(search_path: &str, need: &Need) -> String {
    let tables = need.tables.as_ref().map_or_else(
        || "''".to_owned(),
        |tables| {
            let number =
                |table: &String| format!("pg_catalog.to_regclass({})::pg_catalog.oid", literal(table));
            let numbers: Vec<String> = tables.iter().map(number).collect();
            format!("ARRAY[{}]::pg_catalog.oid[]::pg_catalog.text", numbers.join(", "))
        },
    );
    format!(
        "BEGIN READ ONLY; SET LOCAL statement_timeout = {TIMEOUT_MS}; \
         SELECT pg_catalog.set_config('search_path', {search_path}, true); \
         SELECT pg_catalog.set_config('mcp.tables', {tables}, true); \
         SELECT pg_catalog.set_config('mcp.danger', {}, true); \
         SET LOCAL search_path = pg_catalog, pg_temp; {PRIVILEGES}; ROLLBACK",
        literal(&functions_denied::pattern()),
    )
}

/// The rows of a batch, without those of the settings.
fn rows(client: &mut Client, batch: &str) -> Result<Vec<Row>, postgres::Error> {
    let messages = client.simple_query(batch)?;
    let rows = messages.iter().filter_map(row).filter(|row| row.len() == FIELDS).map(|row| {
        let text = |index: usize| row.try_get(index).ok().flatten().unwrap_or_default().to_owned();
        Row {
            kind: text(0),
            count: text(1).parse().unwrap_or(1),
            objects: text(2),
            cures: text(3),
            column: text(4),
        }
    });
    Ok(rows.collect())
}

/// Reports one kind. An unknown kind is a mistake of ours, which must not hide a privilege.
fn finding(user: &str, row: &Row) -> RoleFinding {
    let (dangerous, what) = KINDS
        .iter()
        .find(|(kind, ..)| *kind == row.kind)
        .map_or((true, row.kind.as_str()), |(_, dangerous, what)| (*dangerous, *what));
    RoleFinding {
        dangerous,
        text: format!("the role {} {what}: {}{}", quoted(user), row.objects, and_more(row.count, REPORTED)),
        cure: row.cures.clone(),
    }
}

fn and_more(count: u64, reported: usize) -> String {
    match count.saturating_sub(u64::try_from(reported).unwrap_or(u64::MAX)) {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

/// Reports columns that are secrets by their names, with SQL that takes the first of them from the role.
fn secrets(
    client: &mut Client,
    user: &str,
    need: &Need,
    secret: &[&Row],
) -> Result<RoleFinding, postgres::Error> {
    let names: Vec<&str> = secret.iter().take(REPORTED).map(|column| column.objects.as_str()).collect();
    let mut cures: Vec<String> = Vec::new();
    for column in secret.iter().take(REPORTED) {
        let whole_table = column.cures.split_once(' ');
        let cure = match whole_table.and_then(|(table, grantees)| Some((table.parse().ok()?, grantees))) {
            Some((table, grantees)) => column_by_column(client, need, table, grantees)?,
            None => column.cures.clone(),
        };
        if !cures.contains(&cure) {
            cures.push(cure);
        }
    }
    let count = secret.iter().map(|column| column.count).fold(0, u64::saturating_add);
    let text = format!(
        "the role {} may read columns that hold secrets by their names: {}{}",
        quoted(user),
        names.join(", "),
        and_more(count, names.len())
    );
    Ok(RoleFinding { dangerous: false, text, cure: cures.join("; ") })
}

/// Writes SQL that takes a table from those who may read it, and gives back its columns but the secret ones.
fn column_by_column(
    client: &mut Client,
    need: &Need,
    table: u32,
    grantees: &str,
) -> Result<String, postgres::Error> {
    let columns = rows(
        client,
        &format!(
            "BEGIN READ ONLY; SET LOCAL statement_timeout = {TIMEOUT_MS}; SET LOCAL search_path = pg_catalog, pg_temp; \
             SELECT 'table', '1', format('%I.%I', n.nspname, c.relname), quote_ident(t.attname), t.attname \
             FROM pg_attribute t JOIN pg_class c ON c.oid = t.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
             WHERE c.oid = {table} AND t.attnum > 0 AND NOT t.attisdropped ORDER BY t.attnum; ROLLBACK"
        ),
    )?;
    let table = columns.first().map_or("", |column| column.objects.as_str());
    let plain = columns.iter().filter(|column| !is_secret(need, &column.column));
    let plain: Vec<&str> = plain.map(|column| column.cures.as_str()).collect();
    let give_back = if plain.is_empty() {
        String::new()
    } else {
        format!("; GRANT SELECT ({}) ON {table} TO {grantees}", plain.join(", "))
    };
    Ok(format!("REVOKE SELECT ON {table} FROM {grantees}{give_back}"))
}
