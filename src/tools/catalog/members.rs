//! The rule `members-exposed`: a value that holds members stays in a form in which redaction sees their names.
//!
//! Redaction drops a member by its name, at run time. Text, a comparison or another function hides the name. The
//! database *marks* the names of the columns that hold members, at `check` and when a connection first prepares the
//! statement. Nothing is resolved: a name is marked in every table of the statement.

use std::collections::BTreeSet;
use std::fmt;

use postgres::Client;
use postgres::types::{ToSql, Type};

use crate::guard::position::Position;
use crate::problem::echo;

/// The waiver of the rule, beside the waivers of names.
pub(super) const WAIVER: &str = "members";

/// The uses of names in a statement that matter once some names are marked. It needs no database.
#[derive(Clone, Debug, Default)]
pub(super) struct MemberUse {
    /// The second name is marked when the first one is: an output column or its alias.
    pub(super) renames: BTreeSet<(String, String)>,
    /// The second name is a column of objects that are built of the first.
    pub(super) built: BTreeSet<(String, String)>,
    /// Names in a place where no marked name may stand.
    pub(super) exposed: Vec<Exposed>,
    /// Every name that is used as a value.
    pub(super) names: BTreeSet<String>,
    /// A text of the caller's that a column carries, which no marked name may stand beside.
    pub(super) carried: Option<Exposed>,
}

/// A name in a place where members would not be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Exposed {
    pub(super) name: String,
    /// The place in the entry's SQL.
    pub(super) at: Option<Position>,
    pub(super) how: Exposure,
}

/// The way in which members would be exposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Exposure {
    /// A marked name is used in a way that hides the names of its members.
    Used,
    /// A member is taken from an object that the statement built, whose names are the author's.
    Taken,
    /// A parameter becomes a value of a column.
    Carried,
    /// Stands in one column with this name, which a caller may decide if it is not marked as well.
    Beside(String),
}

impl MemberUse {
    /// Returns whether nothing depends on the names that are marked.
    pub(super) fn is_clean(&self) -> bool {
        self.exposed.is_empty() && self.carried.is_none()
    }

    /// Finds a marked name that is exposed, if there is one.
    pub(super) fn judge(&self, mut marked: BTreeSet<String>) -> Option<&Exposed> {
        self.pass_on(&mut marked);
        let built = self.built.iter().filter(|(from, _)| marked.contains(from));
        let mut built = built.map(|(_, to)| to.clone()).collect();
        self.pass_on(&mut built);
        let is_exposed = |Exposed { name, at: _, how }: &&Exposed| match how {
            Exposure::Used | Exposure::Carried => marked.contains(name),
            Exposure::Taken => built.contains(name),
            Exposure::Beside(other) => {
                marked.contains(name) && (!marked.contains(other) || built.contains(other))
            }
        };
        let carried = || self.carried.as_ref().filter(|_| !self.names.is_disjoint(&marked));
        self.exposed.iter().find(is_exposed).or_else(carried)
    }

    /// Adds the names that have their values from these.
    fn pass_on(&self, names: &mut BTreeSet<String>) {
        loop {
            let before = names.len();
            let to = self.renames.iter().filter(|(from, _)| names.contains(from)).map(|(_, to)| to.clone());
            let to: Vec<String> = to.collect();
            names.extend(to);
            if names.len() == before {
                return;
            }
        }
    }

    /// Asks the database for the marked names of the tables, and judges.
    pub(super) fn fault(
        &self,
        client: &mut Client,
        tables: &[String],
    ) -> Result<Option<&Exposed>, postgres::Error> {
        if self.is_clean() {
            return Ok(None);
        }
        let tables: Vec<String> = tables.iter().map(|table| quoted(table)).collect();
        let tables: (&(dyn ToSql + Sync), Type) = (&tables, Type::TEXT_ARRAY);
        let rows = client.query_typed(MARKED, &[tables])?;
        let marked = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        Ok(self.judge(marked))
    }
}

impl fmt::Display for Exposed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.at.map_or_else(String::new, |Position { line, column }| {
            format!(" in line {line}, column {column} of the statement")
        });
        let name = echo(&self.name);
        match &self.how {
            Exposure::Used | Exposure::Taken => write!(
                f,
                "members-exposed: {name} holds members, and{place} it is used in a way that hides their names from \
                 redaction; select it as it is, or take a member (data ->> 'name'). If it is another column of that name, \
                 give it an alias, or write waive.members = \"reason\""
            ),
            Exposure::Beside(other) => write!(
                f,
                "members-exposed: {name} holds members, and{place} it stands in one column with {}, which could be compared with \
                 them; select each in a column of its own, or write waive.members = \"reason\"",
                echo(other)
            ),
            Exposure::Carried => write!(
                f,
                "members-exposed: :{name}{place} becomes a column, which could be compared with members; use it where it is \
                 compared (WHERE, ON), or write waive.members = \"reason\""
            ),
        }
    }
}

/// The names of the columns of the tables `$1` whose type is JSON, hstore, XML or composite, or an array, domain or range of
/// these. Runs with `pg_catalog` first in the path, where each operator is for exactly these types. The elements of a
/// multirange of a user's making are not followed, so it is marked.
const MARKED: &str = r"
WITH RECURSIVE part(name, type) AS (
    SELECT a.attname::text, a.atttypid
      FROM pg_catalog.unnest($1) AS t(name)
      JOIN pg_catalog.pg_attribute a ON a.attrelid = pg_catalog.to_regclass(t.name)::pg_catalog.oid
     WHERE a.attnum > 0 AND NOT a.attisdropped
    UNION SELECT p.name, x.type
      FROM part p JOIN pg_catalog.pg_type t ON t.oid = p.type,
           LATERAL (SELECT t.typbasetype AS type WHERE t.typtype = 'd'
                    UNION ALL SELECT t.typelem WHERE t.typelem <> '0' AND t.typlen = -1
                    UNION ALL SELECT r.rngsubtype FROM pg_catalog.pg_range r WHERE r.rngtypid = t.oid) x)
SELECT DISTINCT p.name FROM part p JOIN pg_catalog.pg_type t ON t.oid = p.type
 WHERE t.oid IN ('114', '142', '3802') OR t.typname = 'hstore' OR t.typtype IN ('c', 'p')
       OR t.typtype = 'm' AND t.oid >= '16384'";

/// `name` or `schema.name` as SQL takes it whatever its letters are. No part has dots of its own.
fn quoted(table: &str) -> String {
    let parts: Vec<String> =
        table.split('.').map(|part| format!("\"{}\"", part.replace('"', "\"\""))).collect();
    parts.join(".")
}
