//! The functions, operators and casts that the guard allows, with their types as the running server declares them.

use std::collections::{BTreeMap, BTreeSet};

use mcp_server_suite::guard::GuardConfig;
use mcp_server_suite::guard::statement::ReadOnlyStatement;
use postgres::Client;

use super::polymorphic::{Binding, shape};
use super::samples::SAMPLES;
use crate::sql::random::Random;

const QUERY: &str = "
    SELECT proname::text, quote_ident(proname), CASE prokind WHEN 'a' THEN aggkind ELSE prokind END::text,
        coalesce(aggnumdirectargs, 0)::int, proretset, provariadic <> 0,
        ARRAY(SELECT format_type(a, NULL) FROM unnest(proargtypes) WITH ORDINALITY AS u (a, n) ORDER BY n),
        format_type(prorettype, NULL)
    FROM pg_proc LEFT JOIN pg_aggregate ON aggfnoid = pg_proc.oid WHERE pronamespace = 'pg_catalog'::regnamespace
    UNION ALL
    SELECT oprname::text, oprname, 'operator', 0, false, false,
        ARRAY(SELECT format_type(a, NULL) FROM unnest(ARRAY[oprleft, oprright]) AS u (a) WHERE a <> 0),
        format_type(oprresult, NULL)
    FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace
    UNION ALL
    SELECT '::' || format_type(casttarget, NULL), format_type(casttarget, NULL), 'cast', 0, false, false,
        ARRAY[format_type(castsource, NULL)], format_type(casttarget, NULL) FROM pg_cast
    ORDER BY 1, 2, 3, 7, 8";

/// A function, operator or cast.
pub(super) struct Callable {
    pub(super) name: String,
    /// The name in SQL.
    spelled: String,
    /// `f`, `w`, `n`, `o`, `h` as in `prokind` and `aggkind`, or `operator` or `cast`.
    sort: String,
    /// The number of arguments before WITHIN GROUP.
    direct: usize,
    set: bool,
    variadic: bool,
    arguments: Vec<String>,
    pub(super) returns: String,
}

pub(super) struct Catalog {
    pub(super) callables: Vec<Callable>,
    /// Concrete types with samples.
    pub(super) types: Vec<String>,
    /// Those that may be cast to.
    castable: BTreeSet<String>,
    /// The names that the guard allows.
    pub(super) allowed: BTreeSet<String>,
    /// The callables that give a type.
    producers: BTreeMap<String, Vec<usize>>,
}

impl Catalog {
    pub(super) fn read(client: &mut Client, config: &GuardConfig) -> Self {
        let accepts = |sql: &str| ReadOnlyStatement::parse(sql, config).is_ok();
        let scalars: Vec<String> = SAMPLES.iter().map(|(name, _)| (*name).to_owned()).collect();
        let arrays = scalars.iter().map(|name| format!("{name}[]"));
        let types: Vec<String> = scalars.iter().cloned().chain(arrays).collect();
        let castable =
            types.iter().filter(|name| accepts(&format!("SELECT NULL::{name}"))).cloned().collect();
        let mut catalog = Self {
            callables: Vec::new(),
            types,
            castable,
            allowed: BTreeSet::new(),
            producers: BTreeMap::new(),
        };
        for row in client.query(QUERY, &[]).unwrap() {
            let callable = Callable {
                name: row.get(0),
                spelled: row.get(1),
                sort: row.get(2),
                direct: usize::try_from(row.get::<_, i32>(3)).unwrap(),
                set: row.get(4),
                variadic: row.get(5),
                arguments: row.get(6),
                returns: row.get(7),
            };
            let allows = |callable: &Callable| callable.probes().iter().any(|sql| accepts(sql));
            if !catalog.allowed.contains(&callable.name) && !allows(&callable) {
                continue;
            }
            catalog.allowed.insert(callable.name.clone());
            let known = |of: &String| {
                catalog.types.contains(of) || shape(of).is_some() || of == "\"any\"" || of == "record"
            };
            if callable.arguments.iter().all(known) && known(&callable.returns) {
                catalog.callables.push(callable);
            }
        }
        for of in &catalog.types {
            let gives = |callable: &Callable| Binding::default().unify(&callable.returns, of);
            let producers =
                (0..catalog.callables.len()).filter(|at| gives(&catalog.callables[*at])).collect();
            catalog.producers.insert(of.clone(), producers);
        }
        catalog
    }

    pub(super) fn can_cast(&self, of: &str) -> bool {
        self.castable.contains(of)
    }

    /// A callable that gives the type.
    pub(super) fn producer(&self, of: &str, random: &mut Random) -> Option<&Callable> {
        let producers = self.producers.get(of).filter(|producers| !producers.is_empty())?;
        Some(&self.callables[producers[random.below(producers.len())]])
    }

    /// A type for a call to be made with.
    pub(super) fn any_type(&self, random: &mut Random) -> String {
        const USUAL: &[&str] = &[
            "text",
            "text",
            "text",
            "text",
            "integer",
            "bigint",
            "numeric",
            "jsonb",
            "json",
            "text[]",
            "integer[]",
            "bytea",
            "boolean",
            "double precision",
            "timestamp with time zone",
        ];
        if random.chance(60) {
            return random.pick(USUAL).to_owned();
        }
        self.types[random.below(self.types.len())].clone()
    }
}

impl Callable {
    /// Statements of which the guard accepts at least one where the name is allowed: what is refused for its arguments
    /// alone in one is accepted in another.
    fn probes(&self) -> Vec<String> {
        let name = &self.spelled;
        match self.sort.as_str() {
            "operator" => vec![format!("SELECT a {name} b FROM t"), format!("SELECT {name} a FROM t")],
            "cast" => vec![format!("SELECT a::{name} FROM t")],
            _ => {
                let columns = |count| vec!["t.a"; count].join(", ");
                let call = |arguments: String| format!("SELECT {name}({arguments}) FROM t");
                let mut probes: Vec<String> = (0..=6).map(|count| call(columns(count))).collect();
                probes
                    .extend(["1", "'$'", "t.a, '$'", "'a', 'a'"].map(|arguments| call(arguments.to_owned())));
                probes.push(format!("SELECT {name}() WITHIN GROUP (ORDER BY t.a) FROM t"));
                probes
            }
        }
    }

    /// A template of a call that gives `wanted`, or any type, and that type. `{type}` stands for an argument, `{from}` for
    /// a source of rows.
    pub(super) fn template(
        &self,
        wanted: Option<&str>,
        catalog: &Catalog,
        random: &mut Random,
    ) -> Option<(String, String)> {
        let mut arguments = self.arguments.clone();
        if self.variadic {
            let rest = arguments.pop()?;
            let one = match rest.as_str() {
                "anyarray" => "anyelement",
                "anycompatiblearray" => "anycompatible",
                _ => rest.trim_end_matches("[]"),
            };
            arguments.extend(std::iter::repeat_n(one.to_owned(), 1 + random.below(6)));
        }
        let mut binding = Binding::default();
        if let Some(wanted) = wanted {
            binding.unify(&self.returns, wanted).then_some(())?;
        }
        let any = [(); 2].map(|()| match random.chance(65) {
            true => "text".to_owned(),
            false => catalog.any_type(random),
        });
        let declared: Vec<&String> = self.arguments.iter().chain([&self.returns]).collect();
        binding.complete(&declared, any, random);
        let holes: Option<Vec<String>> = arguments
            .iter()
            .map(|of| match of.as_str() {
                "\"any\"" => Some("{any}".to_owned()),
                _ => Some(format!("{{{}}}", binding.concrete(of)?)),
            })
            .collect();
        let returns = binding.concrete(&self.returns)?;
        Some((self.spelled(&holes?, &returns, random), returns))
    }

    fn spelled(&self, holes: &[String], returns: &str, random: &mut Random) -> String {
        let (name, list) = (&self.spelled, holes.join(", "));
        let (direct, ordered) = holes.split_at(self.direct.min(holes.len()));
        match (self.sort.as_str(), holes) {
            ("operator", [left, right]) => format!("(({left}) {name} ({right}))"),
            ("operator", _) => format!("({name} ({list}))"),
            ("cast", _) => format!("({list})::{name}"),
            ("w", _) => {
                format!("(SELECT {name}({list}) OVER (ORDER BY {{ordered}}) FROM {{from}} LIMIT 1 OFFSET 2)")
            }
            ("n", []) => format!("(SELECT {name}(*) FROM {{from}})"),
            ("n", [first, ..]) => match random.below(8) {
                0 => format!("(SELECT {name}({list} ORDER BY {{ordered}}) FROM {{from}})"),
                1 if holes.len() == 1 => format!("(SELECT {name}(DISTINCT {first}) FROM {{from}})"),
                2 => format!("(SELECT {name}({list}) OVER (ORDER BY {{ordered}}) FROM {{from}} LIMIT 1)"),
                _ => format!("(SELECT {name}({list}) FROM {{from}})"),
            },
            ("h", _) => {
                format!("(SELECT {name}({{integer}}) WITHIN GROUP (ORDER BY {{integer}}) FROM {{from}})")
            }
            ("o", _) => {
                let ordered = ordered.join(", ");
                format!(
                    "(SELECT {name}({}) WITHIN GROUP (ORDER BY {ordered}) FROM {{from}})",
                    direct.join(", ")
                )
            }
            _ if self.set && returns == "record" => {
                format!("(SELECT s FROM {name}({list}) AS s LIMIT 1 OFFSET {})", random.below(3))
            }
            _ if self.set => format!("(SELECT {name}({list}) LIMIT 1 OFFSET {})", random.below(3)),
            _ => format!("{name}({list})"),
        }
    }

    /// A call that gives rows of one scalar, for FROM.
    pub(super) fn gives_rows(&self) -> bool {
        self.set && self.sort == "f" && self.returns != "record"
    }

    /// The call alone, of a template that makes one value of its rows.
    pub(super) fn call_of(template: &str) -> Option<&str> {
        template.strip_prefix("(SELECT ")?.split(" LIMIT ").next()
    }
}
