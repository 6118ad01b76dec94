//! User-defined objects that shadow a built-in name.
//!
//! The guard allows names; only the server knows which object a name means. A user-defined function, operator or cast can
//! stand in for the one that the guard meant: `round(x)`, `a + b`, `t.f`, which calls `f(t)`, and `x::int`. Each may run any code, and a
//! `SECURITY DEFINER` function does so with its owner's rights. So all of them that the `search_path` reaches are read
//! when a connection opens, and a statement that uses such a name is refused before any of it is sent.

use std::collections::{BTreeMap, BTreeSet};

use postgres::{Client, SimpleQueryMessage};

use super::open_names::{OpenField, OpenFields};
use super::simple_query::row;
use crate::guard::config::GuardConfig;
use crate::guard::judge::types;
use crate::guard::judge::uses::Use;
use crate::guard::statement::ReadOnlyStatement;
use crate::guard::{functions, functions_sets};
use crate::problem::{Problem, echo};

/// The most names that are kept for a connection. With more, every name counts as shadowed.
const MAX_OBJECTS: usize = 20_000;

/// The server's time to list them, whatever the role is configured with. It takes a few milliseconds.
const TIMEOUT_MS: u32 = 5_000;

/// Lists the user-defined objects in the schemas of `mcp.schemas`, and the one-argument functions that PostgreSQL brings. A type
/// is called like a function, also behind a dot, and one whose values are checked then runs the check. A cast to an array counts as
/// one to its elements as well: it is written with their name.
///
/// Objects with a number from 16384 on are not PostgreSQL's own (`FirstNormalObjectId`); the languages 12 and 13 are
/// `internal` and `c`, in which only a superuser can write.
///
/// Runs with `search_path = pg_catalog` inside a read-only transaction.
const OBJECTS: &str = "WITH RECURSIVE path AS ( \
       SELECT n.oid, n.nspname FROM pg_namespace n WHERE n.nspname = ANY (current_setting('mcp.schemas')::name[])), \
     checked AS MATERIALIZED ( \
       SELECT t.oid FROM pg_type t WHERE t.oid >= 16384 AND t.typtype = 'd' \
          AND EXISTS (SELECT FROM pg_constraint k WHERE k.contypid = t.oid)), \
     made_of AS MATERIALIZED ( \
       SELECT t.oid AS whole, CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.typelem END AS part FROM pg_type t \
        WHERE t.oid >= 16384 AND (t.typtype = 'd' OR t.typelem <> 0) \
       UNION ALL SELECT r.rngtypid, r.rngsubtype FROM pg_range r UNION ALL SELECT r.rngmultitypid, r.rngtypid FROM pg_range r \
       UNION ALL SELECT c.reltype, a.atttypid FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid \
        WHERE a.atttypid >= 16384 AND c.reltype <> 0 AND EXISTS (SELECT FROM checked)), \
     checking(oid) AS (SELECT d.oid FROM checked d UNION SELECT m.whole FROM checking g JOIN made_of m ON m.part = g.oid) \
     SELECT CASE WHEN p.oid < 16384 THEN 'built-in' \
                 WHEN p.pronargs > 0 AND p.pronargs - p.pronargdefaults < 2 THEN 'field' ELSE 'function' END, \
            p.proname::text, n.nspname::text, p.proname::text, \
            CASE WHEN p.oid >= 16384 THEN (SELECT e.extname FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid \
              WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e') END::text, \
            p.prolang IN (12, 13) \
       FROM pg_proc p JOIN path n ON n.oid = p.pronamespace \
      WHERE p.oid >= 16384 OR n.nspname = 'pg_catalog' AND p.pronargs > 0 AND p.pronargs - p.pronargdefaults < 2 \
     UNION SELECT 'operator', o.oprname, fn.nspname, f.proname, \
            (SELECT e.extname FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid \
              WHERE d.classid = 'pg_operator'::regclass AND d.objid = o.oid AND d.deptype = 'e'), \
            f.prolang IN (12, 13) \
       FROM pg_operator o JOIN path n ON n.oid = o.oprnamespace \
       JOIN pg_proc f ON f.oid = o.oprcode JOIN pg_namespace fn ON fn.oid = f.pronamespace \
      WHERE o.oid >= 16384 \
     UNION SELECT CASE WHEN c.castcontext = 'i' OR t.typname IN ('json', 'jsonb') THEN 'coercion' ELSE 'cast' END, \
            t.typname, fn.nspname, f.proname, \
            (SELECT e.extname FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid \
              WHERE d.classid = 'pg_cast'::regclass AND d.objid = c.oid AND d.deptype = 'e'), \
            f.prolang IN (12, 13) \
       FROM pg_cast c JOIN pg_type made ON made.oid = c.casttarget \
       JOIN pg_type t ON t.oid = made.oid OR t.oid = made.typelem AND made.typlen = -1 \
       JOIN pg_proc f ON f.oid = c.castfunc JOIN pg_namespace fn ON fn.oid = f.pronamespace \
      WHERE f.oid >= 16384 \
     UNION SELECT CASE WHEN t.oid < 16384 THEN 'built-in' ELSE 'field' END, t.typname, n.nspname, t.typname, NULL, false \
       FROM pg_type t JOIN path n ON n.oid = t.typnamespace \
      WHERE t.oid IN (SELECT g.oid FROM checking g) OR t.oid < 16384 AND t.typtype = 'b' AND t.typname LIKE 'reg%'";

/// The batch that reads [`Shadowing`], for a session with this `search_path` (an SQL literal).
fn batch(search_path: &str) -> String {
    format!(
        "BEGIN READ ONLY; SET LOCAL statement_timeout = {TIMEOUT_MS}; SELECT pg_catalog.set_config('search_path', {search_path}, true); \
         SELECT pg_catalog.set_config('mcp.schemas', pg_catalog.current_schemas(true)::pg_catalog.text, true); \
         SET LOCAL search_path = pg_catalog, pg_temp; {OBJECTS} LIMIT {}; ROLLBACK",
        MAX_OBJECTS + 1
    )
}

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ObjectKind {
    /// A one-argument function of PostgreSQL's own that is not on the list of allowed ones.
    BuiltIn,
    /// A function that one argument suffices for, called behind a dot.
    Field,
    /// A function, called.
    Function,
    /// An operator.
    Operator,
    /// A cast, by the type it makes.
    Cast,
    /// A cast that PostgreSQL applies where none is written.
    Coercion,
}

/// A function, by its schema and name.
type Path = (String, String);

/// The objects that shadow a name that the guard means, with the functions that would run.
#[derive(Clone, Debug)]
pub(super) enum Shadowing {
    /// All of them.
    Known(BTreeMap<(ObjectKind, String), BTreeSet<Path>>),
    /// More than [`MAX_OBJECTS`], or not in the expected form: every name may be shadowed.
    Unknown,
}

impl Shadowing {
    /// Asks for them, for transactions with this `search_path` (an SQL literal).
    pub(super) fn ask(client: &mut Client, search_path: &str) -> Result<Self, postgres::Error> {
        Ok(Self::read(&client.simple_query(&batch(search_path))?).unwrap_or(Self::Unknown))
    }

    /// `None`: not in the expected form, or too many.
    fn read(messages: &[SimpleQueryMessage]) -> Option<Self> {
        // The two settings come first.
        let rows = messages.iter().filter_map(row).skip(2);
        let mut known: BTreeMap<_, BTreeSet<Path>> = BTreeMap::new();
        for (count, row) in rows.enumerate() {
            if count >= MAX_OBJECTS {
                return None;
            }
            let text = |index: usize| row.try_get(index).ok();
            let kinds: &[ObjectKind] = match text(0)?? {
                "built-in" => &[ObjectKind::BuiltIn],
                // A function that may stand behind a dot may also be called.
                "field" => &[ObjectKind::Field, ObjectKind::Function],
                "function" => &[ObjectKind::Function],
                "operator" => &[ObjectKind::Operator],
                "cast" => &[ObjectKind::Cast],
                "coercion" => &[ObjectKind::Coercion],
                _ => return None,
            };
            let (name, path) = (text(1)??, (text(2)??.to_owned(), text(3)??.to_owned()));
            let (extension, compiled) = (text(4)?, text(5)?? == "t");
            for kind in kinds.iter().filter(|kind| !is_harmless(**kind, name, extension, compiled)) {
                known.entry((*kind, name.to_owned())).or_default().insert(path.clone());
            }
        }
        Some(Self::Known(known))
    }

    /// Lets a statement pass that uses no shadowed name, unless the operator allowed that object. Names behind a dot that may
    /// be columns are left open.
    pub(super) fn check(
        &self,
        statement: &ReadOnlyStatement,
        config: &GuardConfig,
    ) -> Result<OpenFields, Problem> {
        let refusal = |detail: String, token| statement.refuse_at(detail, token);
        let uses = statement.uses();
        let Self::Known(known) = self else {
            return match uses.values().min() {
                None => Ok(OpenFields::default()),
                Some(first) => Err(refusal(
                    format!(
                        "The schemas of this session's search_path hold more than {MAX_OBJECTS} functions and operators, or \
                         they cannot be listed, so that no name can be told from PostgreSQL's own. Ask the operator to shorten the role's search_path."
                    ),
                    *first,
                )),
            };
        };
        let mut places: Vec<(&Use, usize)> = uses.iter().map(|(used, place)| (used, *place)).collect();
        places.sort_by_key(|(_, place)| *place);
        let allowed = |(schema, name): &&Path| !config.allows_user_defined(schema, name);
        let coercion = known
            .iter()
            .filter(|((kind, _), _)| *kind == ObjectKind::Coercion)
            .flat_map(|(_, paths)| paths)
            .find(allowed);
        if let Some((schema, name)) = coercion {
            return Err(refusal(
                format!(
                    "A cast that applies unasked calls the function {}; ask the operator to allow it with \
                     MCP_SQL_ALLOW_FUNCTIONS.",
                    echo(&format!("{schema}.{name}"))
                ),
                0,
            ));
        }
        let mut open = Vec::new();
        for (used, place) in places {
            let (kinds, name, written) = reach(used);
            let is_meant = |(schema, _): &&Path| written.is_none_or(|written| written == schema);
            let path = kinds
                .iter()
                .find_map(|kind| known.get(&(*kind, name.to_owned()))?.iter().filter(is_meant).find(allowed));
            let Some(path) = path else { continue };
            let refusal = refusal(collision(used, name, path), place);
            let relations = match used {
                Use::Field(field) => statement.fields().get(field).and_then(Option::as_ref),
                Use::Call { .. } | Use::Operator(_) | Use::Cast(_) => None,
            };
            let Some(relations) = relations else { return Err(refusal) };
            open.extend(relations.iter().map(|relation| OpenField {
                relation: relation.clone(),
                column: name.to_owned(),
                refusal: refusal.clone(),
            }));
        }
        Ok(OpenFields(open))
    }

    /// Returns the refusal of a cast that reaches the type `part` on its way to a user-defined type, if a user-defined function
    /// would make the value. `None`: no such cast, or the operator allowed it.
    pub(super) fn refuse_cast(&self, part: &str, config: &GuardConfig) -> Option<String> {
        // With objects that are not known, the cast itself was refused.
        let Self::Known(known) = self else { return None };
        let mut paths = known.get(&(ObjectKind::Cast, part.to_owned()))?.iter();
        let path = paths.find(|(schema, name)| !config.allows_user_defined(schema, name))?;
        Some(collision(&Use::Cast(part.to_owned()), part, path))
    }
}

/// Returns whether the guard means this object, too. Of an extension with a named set, all that the set was made from: it was
/// reviewed. Of any other, compiled functions where they are called for their type's sake: a superuser installed them.
/// Behind a dot, where any type can lead to a function, only those that the lists name.
fn is_harmless(kind: ObjectKind, name: &str, extension: Option<&str>, compiled: bool) -> bool {
    let set = extension.and_then(functions_sets::of_extension);
    let listed = functions::is_built_in(name) || types::is_built_in(name);
    match kind {
        ObjectKind::BuiltIn => listed,
        ObjectKind::Field => set.is_some_and(|set| listed || set.has_function(name)),
        ObjectKind::Function | ObjectKind::Operator | ObjectKind::Cast | ObjectKind::Coercion => {
            set.is_some() || extension.is_some() && compiled
        }
    }
}

/// The kinds of objects that a use may lead to, the name that is used, and the only schema that can be meant.
fn reach(used: &Use) -> (&'static [ObjectKind], &str, Option<&str>) {
    match used {
        Use::Call { schema, name } => (&[ObjectKind::Function], name, schema.as_deref()),
        Use::Field(name) => (&[ObjectKind::Field, ObjectKind::BuiltIn], name, None),
        Use::Operator(name) => (&[ObjectKind::Operator], name, None),
        Use::Cast(name) => (&[ObjectKind::Cast], name, None),
    }
}

/// The refusal of a use of `plain`, in whose place the function `path` would run.
fn collision(used: &Use, plain: &str, (schema, function): &Path) -> String {
    let (name, path) = (echo(plain), echo(&format!("{schema}.{function}")));
    let text = match used {
        Use::Call { .. } => format!(
            "The name {name} may call the function {path}, which is not PostgreSQL's own; write {}",
            echo(&format!("pg_catalog.{plain}"))
        ),
        Use::Field(_) => format!(
            "The name {name} behind a dot may call the function {path}; write the column without the dot, or give it \
             another name in a subquery"
        ),
        Use::Operator(_) => format!(
            "The operator {name} may call the function {path}, which is not PostgreSQL's own; write OPERATOR(pg_catalog.{plain})"
        ),
        Use::Cast(_) => format!("A cast to {name} may call the function {path}; leave the cast out"),
    };
    format!("{text}, or ask the operator to allow {path} with MCP_SQL_ALLOW_FUNCTIONS.")
}
