//! What answers to a name on this server and is not PostgreSQL's own.
//!
//! The guard allows names; what a name is, only the server knows. A function, an operator or a cast that somebody made
//! can stand in for what the guard meant: `round(x)`, `a + b`, `t.f`, which calls `f(t)`, and `x::int`. Each may run any code, and a
//! `SECURITY DEFINER` function does so with its owner's rights. So all of them that the `search_path` reaches are read
//! when a connection opens, and a statement that uses such a name is refused before any of it is sent.

use std::collections::{BTreeMap, BTreeSet};

use postgres::{Client, SimpleQueryMessage, SimpleQueryRow};

use crate::{
    guard::{
        functions, functions_sets,
        judge::{types, uses::Use},
        statement::{GuardConfig, ReadOnlyStatement},
    },
    problem::{Code, Problem, echo},
};

/// The most names that are kept for a connection. With more, every name counts as a stranger's.
const MAX_STRANGERS: usize = 20_000;

/// How long the server may take to list them, whatever the role is configured with. It takes a few milliseconds.
const TIMEOUT_MS: u32 = 5_000;

/// What user-made things the schemas of `mcp.schemas` hold, and which one-argument functions PostgreSQL brings.
/// Objects with a number from 16384 on are not PostgreSQL's own (`FirstNormalObjectId`); the languages 12 and 13 are
/// `internal` and `c`, in which only a superuser can write.
///
/// Runs with `search_path = pg_catalog` inside a read-only transaction.
const STRANGERS: &str = "WITH path AS ( \
       SELECT n.oid, n.nspname FROM pg_namespace n WHERE n.nspname = ANY (current_setting('mcp.schemas')::name[])) \
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
       FROM pg_cast c JOIN pg_type t ON t.oid = c.casttarget \
       JOIN pg_proc f ON f.oid = c.castfunc JOIN pg_namespace fn ON fn.oid = f.pronamespace \
      WHERE f.oid >= 16384";

/// The batch that reads [`Strangers`], for a session with this `search_path` (an SQL literal).
fn batch(search_path: &str) -> String {
    format!(
        "BEGIN READ ONLY; SET LOCAL statement_timeout = {TIMEOUT_MS}; SELECT pg_catalog.set_config('search_path', {search_path}, true); \
         SELECT pg_catalog.set_config('mcp.schemas', pg_catalog.current_schemas(true)::pg_catalog.text, true); \
         SET LOCAL search_path = pg_catalog, pg_temp; {STRANGERS} LIMIT {}; ROLLBACK",
        MAX_STRANGERS + 1
    )
}

/// What kind of thing a stranger is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
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

impl Kind {
    /// In which ways it can be used: what may stand behind a dot may also be called.
    fn ways(self) -> &'static [Self] {
        match self {
            Self::BuiltIn => &[Self::BuiltIn],
            Self::Field => &[Self::Field, Self::Function],
            Self::Function => &[Self::Function],
            Self::Operator => &[Self::Operator],
            Self::Cast => &[Self::Cast],
            Self::Coercion => &[Self::Coercion],
        }
    }
}

/// A function, by its schema and name.
type Path = (String, String);

/// Everything that answers to a name and that the guard did not mean, with the functions that would run.
#[derive(Clone, Debug)]
pub(crate) enum Strangers {
    /// All of it.
    Known(BTreeMap<(Kind, String), BTreeSet<Path>>),
    /// More than [`MAX_STRANGERS`], or not in the form they should be: every name may be one.
    Unknown,
}

/// What the guard did not mean.
struct Collision<'s> {
    used: &'s Use,
    path: &'s Path,
}

impl Strangers {
    /// Asks for them, for transactions with this `search_path` (an SQL literal).
    pub(crate) fn ask(client: &mut Client, search_path: &str) -> Result<Self, postgres::Error> {
        Ok(Self::read(&client.simple_query(&batch(search_path))?).unwrap_or(Self::Unknown))
    }

    /// `None`: something is not in the form it should be, or too much.
    fn read(messages: &[SimpleQueryMessage]) -> Option<Self> {
        // The two settings come first.
        let rows = messages.iter().filter_map(super::session::row).skip(2);
        let mut known: BTreeMap<_, BTreeSet<Path>> = BTreeMap::new();
        for (count, row) in rows.enumerate() {
            if count >= MAX_STRANGERS {
                return None;
            }
            let Stranger { kind, name, path, extension, compiled } = Stranger::read(row)?;
            let harmless = |kind: &&Kind| is_harmless(**kind, &name, extension.as_deref(), compiled);
            for kind in kind.ways().iter().filter(|kind| !harmless(kind)) {
                known.entry((*kind, name.clone())).or_default().insert(path.clone());
            }
        }
        Some(Self::Known(known))
    }

    /// Lets a statement pass that uses no name to which a stranger answers, unless the operator allowed that one.
    pub(crate) fn check(&self, statement: &ReadOnlyStatement, config: &GuardConfig) -> Result<(), Problem> {
        let refusal = |detail: String, place| {
            let problem = Problem::new(Code::QueryViolation, detail).param("query");
            statement.place(place).into_iter().fold(problem, |problem, position| {
                problem.with("line", position.line).with("column", position.column)
            })
        };
        let uses = statement.uses();
        let Self::Known(known) = self else {
            return match uses.values().min() {
                None => Ok(()),
                Some(first) => Err(refusal(
                    format!(
                        "The schemas of this session's search_path hold more than {MAX_STRANGERS} functions and operators, or \
                         they cannot be listed, so that no name can be told from PostgreSQL's own. Ask the operator to shorten the role's search_path."
                    ),
                    *first,
                )),
            };
        };
        let mut places: Vec<(&Use, usize)> = uses.iter().map(|(used, place)| (used, *place)).collect();
        places.sort_by_key(|(_, place)| *place);
        let allowed = |(schema, name): &&Path| !config.allows_stranger(schema, name);
        let coercion = known
            .iter()
            .filter(|((kind, _), _)| *kind == Kind::Coercion)
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
        for (used, place) in places {
            let path = candidates(used).iter().find_map(|kind| {
                let paths = known.get(&(*kind, used.name().to_owned()))?;
                paths.iter().filter(|(schema, _)| used.reaches(schema)).find(allowed)
            });
            if let Some(path) = path {
                return Err(refusal(Collision { used, path }.to_string(), place));
            }
        }
        Ok(())
    }
}

/// A row of [`STRANGERS`].
struct Stranger {
    kind: Kind,
    name: String,
    path: Path,
    extension: Option<String>,
    compiled: bool,
}

impl Stranger {
    fn read(row: &SimpleQueryRow) -> Option<Self> {
        let text = |index: usize| row.try_get(index).ok().map(|text| text.map(str::to_owned));
        let kind = match text(0)??.as_str() {
            "built-in" => Kind::BuiltIn,
            "field" => Kind::Field,
            "function" => Kind::Function,
            "operator" => Kind::Operator,
            "cast" => Kind::Cast,
            "coercion" => Kind::Coercion,
            _ => return None,
        };
        Some(Self {
            kind,
            name: text(1)??,
            path: (text(2)??, text(3)??),
            extension: text(4)?,
            compiled: text(5)?? == "t",
        })
    }
}

/// Whether the guard means this, too. Of an extension with a named set, what the set was made from: all of it was reviewed. Of
/// any other, what is compiled, where it is called for its type's sake: a superuser installed it. Behind a dot, where
/// any type can lead to it, only what the lists name.
fn is_harmless(kind: Kind, name: &str, extension: Option<&str>, compiled: bool) -> bool {
    let set = extension.and_then(functions_sets::of_extension);
    let listed = functions::is_built_in(name) || types::is_built_in(name);
    match kind {
        Kind::BuiltIn => functions::is_built_in(name),
        Kind::Field => set.is_some_and(|set| listed || set.has_function(name)),
        Kind::Function | Kind::Operator | Kind::Cast | Kind::Coercion => {
            set.is_some() || extension.is_some() && compiled
        }
    }
}

/// The kinds of things that a use may lead to.
fn candidates(used: &Use) -> &'static [Kind] {
    match used {
        Use::Call { schema: _, name: _ } => &[Kind::Function],
        Use::Field(_) => &[Kind::Field, Kind::BuiltIn],
        Use::Operator(_) => &[Kind::Operator],
        Use::Cast(_) => &[Kind::Cast],
    }
}

impl Use {
    fn name(&self) -> &str {
        match self {
            Self::Call { schema: _, name } | Self::Field(name) | Self::Operator(name) | Self::Cast(name) => {
                name
            }
        }
    }

    /// Whether a function of this schema can be meant.
    fn reaches(&self, schema: &str) -> bool {
        match self {
            Self::Call { schema: Some(written), name: _ } => written == schema,
            Self::Call { schema: None, name: _ } | Self::Field(_) | Self::Operator(_) | Self::Cast(_) => true,
        }
    }
}

impl std::fmt::Display for Collision<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { used, path: (schema, function) } = self;
        let path = echo(&format!("{schema}.{function}"));
        let name = echo(used.name());
        match used {
            Use::Call { schema: _, name: plain } => write!(
                f,
                "The name {name} may call the function {path}, which is not PostgreSQL's own; write {}",
                echo(&format!("pg_catalog.{plain}"))
            ),
            Use::Field(_) => write!(
                f,
                "The name {name} behind a dot may call the function {path}; write the column without the dot, or give it \
                 another name in a subquery"
            ),
            Use::Operator(operator) => write!(
                f,
                "The operator {name} may call the function {path}, which is not PostgreSQL's own; write OPERATOR(pg_catalog.{operator})"
            ),
            Use::Cast(_) => {
                write!(f, "A cast to {name} may call the function {path}; leave the cast out")
            }
        }?;
        write!(f, ", or ask the operator to allow {path} with MCP_SQL_ALLOW_FUNCTIONS.")
    }
}
