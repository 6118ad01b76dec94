//! Values that hold members under names of their own, and what a statement makes of them. Text that is made of one holds every
//! member, whatever its name, and is nothing that could be looked through as the value itself is. Of what text is made the
//! proof knows; of which type that is only the database.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    ops::{BitOr, Sub},
};

use postgres::{
    Client,
    types::{ToSql, Type},
};

use crate::problem::echo;

/// Kinds of values that have members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const NONE: Self = Self(0);
    /// `json` and `jsonb`.
    pub(super) const JSON: Self = Self(1);
    pub(super) const HSTORE: Self = Self(2);
    pub(super) const XML: Self = Self(4);
    /// Composite types, and records.
    pub(super) const ROW: Self = Self(8);
    /// Arrays of these, which have no fields themselves.
    pub(super) const ROWS: Self = Self(16);
    /// All of them.
    pub(super) const ALL: Self = Self(31);
    /// The text of a member, which can be JSON itself.
    pub(super) const PART: Self = Self(32);

    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// What both have.
    pub(super) const fn of(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// As [`SHAPES`] calls it.
    fn named(word: &str) -> Self {
        match word {
            "json" => Self::JSON,
            "hstore" => Self::HSTORE,
            "xml" => Self::XML,
            "rows" => Self::ROWS,
            // What is not known is none of the scalars.
            _ => Self::ROW,
        }
    }
}

/// Their first letters, for tests.
#[cfg(test)]
impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(":")?;
        let known = [
            (Self::JSON, "j"),
            (Self::HSTORE, "h"),
            (Self::XML, "x"),
            (Self::ROW, "r"),
            (Self::ROWS, "a"),
            (Self::PART, "p"),
        ];
        known
            .into_iter()
            .filter(|(kind, _)| self.meets(*kind))
            .try_for_each(|(_, letter)| f.write_str(letter))
    }
}

impl BitOr for Kinds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Sub for Kinds {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// Where a value comes from, as the statement calls it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// A column, or a field; of a table where that is written.
    Column { table: Option<String>, name: String },
    /// What a function gives that is not PostgreSQL's own.
    Function(String),
    /// A type that is not PostgreSQL's own.
    Type(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column { table: Some(table), name } => {
                write!(f, "the column {}", echo(&format!("{table}.{name}")))
            }
            Self::Column { table: None, name } => write!(f, "the column {}", echo(name)),
            Self::Function(name) => write!(f, "the function {}", echo(name)),
            Self::Type(name) => write!(f, "the type {}", echo(name)),
        }
    }
}

impl Origin {
    /// What to do when something else is meant.
    const fn cure(&self) -> &'static str {
        match self {
            Self::Column { table: None, name: _ } => {
                "; if another column is meant, write its table before it, or give a subquery's column another name"
            }
            Self::Column { table: Some(_), name: _ } | Self::Function(_) | Self::Type(_) => "",
        }
    }
}

/// What must not be of which kinds; with [`Kinds::NONE`] only its fields count.
pub(super) type Needs = BTreeMap<Origin, Kinds>;

/// The kinds of columns, fields, functions and types: of the tables `$1`, of what user-made functions `$2` give, and of
/// user-made types `$3`. Runs with `pg_catalog` first in the path, where each operator is for exactly these types.
/// Multiranges of a user's making may be of anything.
const SHAPES: &str = r"
WITH RECURSIVE shape(source, name, type, many) AS (
    SELECT t.name, a.attname::text, a.atttypid, false
      FROM pg_catalog.unnest($1) AS t(name)
      JOIN pg_catalog.pg_attribute a ON a.attrelid = pg_catalog.to_regclass(t.name)::pg_catalog.oid
     WHERE a.attnum > 0 AND NOT a.attisdropped
    UNION SELECT 'function', f.name, p.prorettype, false
      FROM pg_catalog.unnest($2) AS f(name) JOIN pg_catalog.pg_proc p ON p.proname::text = f.name
     WHERE p.oid >= '16384'
    UNION SELECT '', o.name, o.type, false
      FROM pg_catalog.unnest($2) AS f(name) JOIN pg_catalog.pg_proc p ON p.proname::text = f.name,
           ROWS FROM (pg_catalog.unnest(p.proargnames), pg_catalog.unnest(p.proallargtypes)) AS o(name, type)
     WHERE p.oid >= '16384' AND o.name IS NOT NULL AND o.type IS NOT NULL
    UNION SELECT 'type', y.name, t.oid, false
      FROM pg_catalog.unnest($3) AS y(name) JOIN pg_catalog.pg_type t ON t.typname::text = y.name
     WHERE t.oid >= '16384'
    UNION SELECT x.source, x.name, x.type, x.many
      FROM shape s JOIN pg_catalog.pg_type t ON t.oid = s.type,
           LATERAL (SELECT s.source, s.name, t.typbasetype AS type, s.many WHERE t.typtype = 'd'
                    UNION ALL SELECT s.source, s.name, t.typelem, true WHERE t.typelem <> '0' AND t.typlen = -1
                    UNION ALL SELECT s.source, s.name, r.rngsubtype, true FROM pg_catalog.pg_range r WHERE r.rngtypid = t.oid
                    UNION ALL SELECT '', a.attname::text, a.atttypid, false FROM pg_catalog.pg_attribute a
                               WHERE t.typtype = 'c' AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped) x)
SELECT DISTINCT k.source, k.name, k.kind FROM (
    SELECT s.source, s.name, CASE WHEN t.oid IN ('114', '3802') THEN 'json' WHEN t.oid = '142' THEN 'xml'
             WHEN t.typname = 'hstore' THEN 'hstore' WHEN t.typtype IN ('c', 'p') AND s.many THEN 'rows'
             WHEN t.typtype IN ('c', 'p') THEN 'row' WHEN t.typtype = 'm' AND t.oid >= '16384' THEN 'rows' END AS kind
      FROM shape s JOIN pg_catalog.pg_type t ON t.oid = s.type) k
 WHERE k.kind IS NOT NULL";

/// A thing that has members, as the database tells it.
struct Shape {
    /// A table as it is written, `function`, `type`, or nothing for a field.
    source: String,
    name: String,
    kind: Kinds,
}

/// Asks the database whether what the needs name is of other kinds; what is wrong, in a sentence.
pub(super) fn fault(
    client: &mut Client,
    tables: &[String],
    needs: &Needs,
) -> Result<Option<String>, postgres::Error> {
    if needs.is_empty() {
        return Ok(None);
    }
    let (mut functions, mut types) = (BTreeSet::new(), BTreeSet::new());
    for origin in needs.keys() {
        match origin {
            Origin::Column { table: _, name: _ } => {}
            Origin::Function(name) => drop(functions.insert(name.as_str())),
            Origin::Type(name) => drop(types.insert(name.as_str())),
        }
    }
    let tables: Vec<String> = tables.iter().map(|table| quoted(table)).collect();
    let (functions, types): (Vec<&str>, Vec<&str>) =
        (functions.into_iter().collect(), types.into_iter().collect());
    let values: [&(dyn ToSql + Sync); 3] = [&tables, &functions, &types];
    let typed: Vec<_> = values.into_iter().map(|value| (value, Type::TEXT_ARRAY)).collect();
    for row in client.query_typed(SHAPES, &typed)? {
        let kind: String = row.try_get(2)?;
        let shape = Shape { source: row.try_get(0)?, name: row.try_get(1)?, kind: Kinds::named(&kind) };
        let broken = needs.iter().find(|(origin, never)| never.meets(shape.kind) && shape.answers(origin));
        if let Some((origin, _)) = broken {
            // Two texts put together, to the proof.
            let concat =
                if shape.kind == Kinds::JSON { "; a || b of jsonb is jsonb_concat(a, b)" } else { "" };
            return Ok(Some(format!(
                "wildcard-select: {origin} has members of its own ({kind}), and the statement makes text of it, names its fields anew \
                 or compares it with a parameter, so that a secret among them would not be seen{}{concat}",
                origin.cure()
            )));
        }
    }
    Ok(None)
}

impl Shape {
    /// Whether it may be what is meant.
    fn answers(&self, origin: &Origin) -> bool {
        match origin {
            Origin::Column { table: Some(table), name } => self.name == *name && self.source == quoted(table),
            Origin::Column { table: None, name } => self.name == *name,
            Origin::Function(name) => self.name == *name && self.source == "function",
            Origin::Type(name) => self.name == *name && self.source == "type",
        }
    }
}

/// `name` or `schema.name` as SQL takes it whatever its letters are. No part has dots of its own.
fn quoted(table: &str) -> String {
    let parts: Vec<String> =
        table.split('.').map(|part| format!("\"{}\"", part.replace('"', "\"\""))).collect();
    parts.join(".")
}
