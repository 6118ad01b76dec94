//! The search for a statement that the guard accepts and a server does not survive.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use mcp_server_suite::guard::GuardConfig;
use mcp_server_suite::guard::statement::ReadOnlyStatement;

use super::catalog::{Callable, Catalog};
use super::expression::{AMPLIFIERS, Expression};
use super::generator::Generator;
use super::server::{Ending, Server};
use crate::sql::grammar::number;
use crate::sql::random::Random;

/// Statements of an ordinary run.
const STATEMENTS: u64 = 300;
/// From here on a run must cover everything.
const LONG_RUN: u64 = 100_000;
/// The least number of runs of each call, and of those with an amplifier above or below it.
const ENOUGH: Coverage = Coverage { tried: 0, ran: 50, amplified: 20 };
/// Literals where time counts, and where only memory does.
const SHORT: usize = 1_000;
const LONG: usize = 60_000;
/// The most statements that a case may take to find one that the guard accepts.
const ATTEMPTS: u64 = 20;
/// The time in which a find may be made smaller.
const REDUCING: Duration = Duration::from_secs(8);
/// A run ends with so many finds.
const MAX_FINDS: usize = 25;

/// Allowed names that no statement calls, and why.
const NOT_CALLED: &[(&str, &str)] = &[
    ("acldefault", "gives aclitem[], which no literal can be cast to"),
    ("aclexplode", "takes aclitem[]"),
    ("int2vectorout", "gives cstring, which only a function takes"),
    ("pg_get_expr", "takes pg_node_tree"),
    ("textin", "takes cstring"),
];

/// Counts of one call's runs.
#[derive(Clone, Copy, Default)]
struct Coverage {
    tried: usize,
    ran: usize,
    amplified: usize,
}

impl Coverage {
    fn is_enough(&self) -> bool {
        self.ran >= ENOUGH.ran && self.amplified >= ENOUGH.amplified
    }

    /// Returns the rank of a call: the lowest is called next, and one that never runs does not take every turn.
    fn score(&self) -> usize {
        self.ran.min(ENOUGH.ran) + 2 * self.amplified.min(ENOUGH.amplified) + self.tried / 40
    }
}

struct Search {
    config: GuardConfig,
    server: Server,
    catalog: Catalog,
    coverage: BTreeMap<String, Coverage>,
    /// The number of statements by their ending.
    endings: BTreeMap<Ending, usize>,
    refused: usize,
    finds: Vec<String>,
    /// The calls of finds, which are not looked for twice.
    found: BTreeSet<Vec<String>>,
}

impl Search {
    fn start() -> Self {
        let config = GuardConfig::parse("@catalog").unwrap();
        let server = Server::start();
        let catalog = Catalog::read(&mut server.admin(), &config);
        let coverage: BTreeMap<_, _> =
            catalog.callables.iter().map(|callable| (callable.name.clone(), Coverage::default())).collect();
        let left_out =
            catalog.allowed.iter().filter(|name| !coverage.contains_key(*name) && !name.starts_with("::"));
        assert_eq!(left_out.collect::<Vec<_>>(), NOT_CALLED.iter().map(|(name, _)| name).collect::<Vec<_>>());
        Self {
            config,
            server,
            catalog,
            coverage,
            endings: BTreeMap::new(),
            refused: 0,
            finds: Vec::new(),
            found: BTreeSet::new(),
        }
    }

    /// One statement, around the call that was run least often.
    fn case(&mut self, seed: u64) {
        let mut random = Random(seed);
        let name = self.name(&mut random);
        let callables: Vec<usize> =
            (0..self.catalog.callables.len()).filter(|at| self.catalog.callables[*at].name == name).collect();
        self.coverage.entry(name.clone()).or_default().tried += 1;
        let root: &Callable = &self.catalog.callables[callables[random.below(callables.len())]];
        let longest = if random.chance(50) { SHORT } else { LONG };
        let accepted = (0..ATTEMPTS).find_map(|attempt| {
            let seed = seed.wrapping_mul(1_000_003).wrapping_add(attempt);
            let statement = Generator::new(&self.catalog, root, seed, longest).statement()?;
            let canonical = canonical(&statement, &self.config);
            self.refused += usize::from(canonical.is_none());
            Some((statement, canonical?))
        });
        let Some((statement, canonical)) = accepted else { return };
        let ending = self.server.run(&canonical);
        *self.endings.entry(ending).or_default() += 1;
        if matches!(ending, Ending::Rows | Ending::Canceled) {
            self.count(&statement);
        }
        if ending.is_find() {
            self.find(seed, &name, statement, ending, longest == SHORT);
        }
    }

    /// The name that was run least often, or that of an amplifier.
    fn name(&self, random: &mut Random) -> String {
        if random.chance(50) {
            return random.pick(AMPLIFIERS).to_owned();
        }
        let least = self.coverage.values().map(Coverage::score).min().unwrap();
        let least = self.coverage.iter().filter(|(_, coverage)| coverage.score() == least);
        let names: Vec<&String> = least.map(|(name, _)| name).collect();
        names[random.below(names.len())].clone()
    }

    fn count(&mut self, statement: &Expression) {
        let mut calls = BTreeMap::new();
        statement.calls(false, &mut calls);
        for (name, amplified) in calls {
            if let Some(coverage) = self.coverage.get_mut(&name) {
                coverage.ran += 1;
                coverage.amplified += usize::from(amplified);
            }
        }
    }

    /// Makes a find smaller and keeps it, if it happens again.
    fn find(&mut self, seed: u64, name: &str, mut statement: Expression, ending: Ending, time: bool) {
        let config = self.config.clone();
        let counts = |ending| ending == Ending::OutOfMemory || ending == Ending::Late && time;
        let happens = |server: &mut Server, statement: &Expression| {
            canonical(statement, &config).is_some_and(|sql| counts(server.run(&sql)))
        };
        if !counts(ending) || !(0..2).all(|_| happens(&mut self.server, &statement)) {
            return;
        }
        let (mut failed, begun) = (0, Instant::now());
        while begun.elapsed() < REDUCING {
            let Some(smaller) = statement.smaller().into_iter().nth(failed) else { break };
            if happens(&mut self.server, &smaller) {
                statement = smaller;
            } else {
                failed += 1;
            }
        }
        let mut calls = BTreeMap::new();
        statement.calls(false, &mut calls);
        if self.found.insert(calls.into_keys().collect()) {
            let sql = format!("{statement:#}");
            let find = format!("{ending:?} (seed {seed}, {name}):\n{}", shortened(&sql));
            self.finds.push(find);
        }
    }
}

/// The text that would be sent, if the guard accepts it.
fn canonical(statement: &Expression, config: &GuardConfig) -> Option<String> {
    let statement = ReadOnlyStatement::parse(&statement.to_string(), config).ok()?;
    Some(statement.canonical().to_owned())
}

/// A statement without the middle of its long literals.
fn shortened(sql: &str) -> String {
    let shorten = |(index, part): (usize, &str)| match part.chars().count() {
        length if index % 2 == 1 && length > 100 => {
            let start: String = part.chars().take(60).collect();
            format!("{start}…[{length} characters]")
        }
        _ => part.to_owned(),
    };
    sql.split('\'').enumerate().map(shorten).collect::<Vec<_>>().join("'")
}

#[test]
fn no_accepted_statement_takes_memory_or_outlives_its_timeout() {
    let mut search = Search::start();
    let (seed, statements) =
        (number("MCP_AMPLIFIERS_SEED", 1), number("MCP_AMPLIFIERS_STATEMENTS", STATEMENTS));
    for index in 0..statements {
        search.case(seed + index);
        if search.finds.len() >= MAX_FINDS {
            break;
        }
    }
    let Search { coverage, endings, refused, finds, .. } = search;
    let mut least: Vec<String> = coverage
        .iter()
        .filter(|(_, coverage)| !coverage.is_enough())
        .map(|(name, Coverage { tried, ran, amplified })| format!("{name} {ran}/{amplified} of {tried}"))
        .collect();
    if statements < LONG_RUN {
        least.truncate(20);
    }
    let least = least.join(", ");
    let summary = format!("seed {seed}, {endings:?}, {refused} refused; least covered: {least}");
    assert!(finds.is_empty(), "{summary}\n{}", finds.join("\n"));
    let rows = endings.get(&Ending::Rows).copied().unwrap_or_default();
    assert!(u64::try_from(rows).unwrap() > statements / 4, "{summary}");
    assert!(statements < LONG_RUN || least.is_empty(), "{summary}");
}
