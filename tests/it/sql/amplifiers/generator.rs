//! Statements around one call: typed expressions, sources of rows, and what repeats or keeps them.

use std::collections::BTreeMap;

use super::catalog::{Callable, Catalog};
use super::expression::{self, Expression};
use super::literals;
use super::samples::SAMPLES;
use super::templates::{AMPLIFIERS, AROUND, FORMS, NAMED, SOURCES, SPECIAL, pick_of};
use crate::sql::random::Random;

/// The largest count that may be written.
const MOST: usize = 1 << 20;
/// The longest literal of most dense statements: products are near the limit then.
const MOST_SHORT: usize = 1_000;

/// Makes one statement.
pub(super) struct Generator<'c> {
    catalog: &'c Catalog,
    random: Random,
    /// The longest literal, and the part of the statement's length that is left.
    longest: usize,
    left: usize,
    /// Columns that can be named, with their types.
    scope: Vec<(String, String)>,
    names: usize,
    /// The last literal of each type: equal values are what replacing and comparing need.
    last: BTreeMap<String, String>,
    /// The call under test.
    root: &'c Callable,
    /// True if an argument of it shall be an amplifier.
    below: bool,
    /// True if nearly everything shall be one, with large numbers.
    dense: bool,
}

impl<'c> Generator<'c> {
    pub(super) fn new(catalog: &'c Catalog, root: &'c Callable, seed: u64, longest: usize) -> Self {
        let mut random = Random(seed);
        let dense = random.chance(if expression::AMPLIFIERS.contains(&root.name.as_str()) { 60 } else { 30 });
        let longest = if dense && random.chance(60) { longest.min(MOST_SHORT) } else { longest };
        let below = dense || random.chance(45);
        Self {
            catalog,
            random,
            longest,
            left: 60_000,
            scope: Vec::new(),
            names: 0,
            last: BTreeMap::new(),
            root,
            below,
            dense,
        }
    }

    /// A statement of one column.
    pub(super) fn statement(mut self) -> Option<Expression> {
        let around = self.random.chance(if self.below { 20 } else { 85 });
        let core = if around { self.random.pick(AROUND) } else { "{root}" };
        if self.dense {
            let depth = self.random.below(2);
            return self.expand("", &format!("SELECT {core}"), depth);
        }
        match self.random.below(12) {
            0..=3 => self.chain(core),
            4 => {
                let mut both = self.expand("", &format!("SELECT ({core})::text FROM {{from}}"), 3)?;
                both.push(self.random.pick(&[" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT "]));
                both.nest(self.expand("", "{query}", 2)?);
                Some(both)
            }
            5..=7 => self.expand("", &format!("SELECT {core} FROM {{from}}"), 3),
            8 => self.expand("", &format!("SELECT {core} FROM {{from}} WHERE {{boolean}} LIMIT 10"), 3),
            _ => self.expand("", &format!("SELECT {core}"), 3),
        }
    }

    /// The same expression of its own result, again and again: WITH queries, subqueries or a recursion.
    fn chain(&mut self, core: &str) -> Option<Expression> {
        let start = self.expr("text", 1)?;
        let (kind, length) = (self.random.below(4), self.random.size(24));
        // What a recursion makes of its own values is left to the database host: the manual says so.
        let column = if kind == 0 { ("v.n", "integer") } else { ("v.x", "text") };
        self.scope.push((column.0.to_owned(), column.1.to_owned()));
        let step = self.expand("text", &format!("({core})::text"), 2)?;
        let mut query = Expression::new("", "");
        match kind {
            0 => {
                query.push("WITH RECURSIVE v (n, x) AS (SELECT 1, ");
                query.nest(start);
                query.push(self.random.pick(&[" UNION ALL SELECT v.n + 1, ", " UNION SELECT v.n + 1, "]));
                query.nest(step);
                query.push(&format!(" FROM v WHERE v.n < {}) SELECT x FROM v", self.random.size(10_000)));
            }
            1 => {
                for _ in 1..length.min(12) {
                    query.push("SELECT ");
                    query.nest_once(&step);
                    query.push(" AS x FROM (");
                }
                query.push("SELECT ");
                query.nest(start);
                query.push(" AS x");
                query.push(&") AS v".repeat(length.min(12) - 1));
            }
            _ => {
                query.push("WITH c0 (x) AS (SELECT ");
                query.nest(start);
                for at in 1..=length {
                    query.push(&format!("), c{at} (x) AS (SELECT "));
                    query.nest_once(&step);
                    query.push(&format!(" FROM c{} AS v", at - 1));
                }
                query.push(&format!(") SELECT x FROM c{length}"));
            }
        }
        Some(query)
    }

    /// The call under test.
    fn call(&mut self, depth: usize) -> Option<Expression> {
        let special: Vec<_> = SPECIAL.iter().filter(|(name, ..)| *name == self.root.name).collect();
        let (template, of) = match special.first() {
            Some((_, of, template)) => ((*template).to_owned(), (*of).to_owned()),
            None => self.root.template(None, self.catalog, &mut self.random)?,
        };
        self.holes(&of, &template, depth, self.below).map(|call| call.calling(&self.root.name))
    }

    /// An expression of the type.
    fn expr(&mut self, of: &str, depth: usize) -> Option<Expression> {
        if self.dense && depth > 0 && self.random.chance(80) {
            return self.amplifier(of, depth);
        }
        if depth == 0 || self.random.chance(if of == "integer" { 60 } else { 25 }) {
            return self.leaf(of);
        }
        match self.random.below(10) {
            0 | 1 => {
                let form = pick_of(FORMS, of, usize::MAX, &mut self.random)?;
                self.expand(of, form, depth - 1)
            }
            2 | 3 => self.amplifier(of, depth),
            _ => {
                let producer = self.catalog.producer(of, &mut self.random);
                let special = |callable: &&Callable| SPECIAL.iter().any(|(name, ..)| *name == callable.name);
                let Some(callable) = producer.filter(|callable| !special(callable)) else {
                    return self.leaf(of);
                };
                let (template, _) = callable.template(Some(of), self.catalog, &mut self.random)?;
                Some(self.expand(of, &template, depth - 1)?.calling(&callable.name))
            }
        }
    }

    /// An expression that makes much of little.
    fn amplifier(&mut self, of: &str, depth: usize) -> Option<Expression> {
        let first = if self.dense && self.random.chance(70) { 2 } else { usize::MAX };
        match pick_of(AMPLIFIERS, of, first, &mut self.random) {
            Some(template) => self.expand(of, template, depth.saturating_sub(1)),
            None if self.dense => self.leaf(of),
            None => self.expr(of, depth.saturating_sub(1)),
        }
    }

    /// A column or a literal.
    fn leaf(&mut self, of: &str) -> Option<Expression> {
        let columns: Vec<&String> =
            self.scope.iter().filter(|(_, column)| column == of).map(|(name, _)| name).collect();
        if !columns.is_empty() && self.random.chance(60) {
            return Some(Expression::new(of, columns[self.random.below(columns.len())].clone()));
        }
        if self.dense && self.random.chance(90) {
            match of {
                "integer" => {
                    let (least, most) =
                        self.random.pick(&[(5_000, 65_000), (400_000, MOST), (800_000, MOST)]);
                    let count = least + self.random.below(most - least);
                    return Some(Expression::new(of, count.to_string()));
                }
                "text" => return Some(Expression::new(of, "'a'::text")),
                _ => {}
            }
        }
        if let Some(last) = self.last.get(of).filter(|_| self.random.chance(40)) {
            return Some(Expression::new(of, last.clone()));
        }
        if let Some(literal) = self.literal(of, false) {
            return Some(literal);
        }
        if of == "record" {
            return self.expand(of, "ROW({text}, {integer})", 0);
        }
        // Of a table.
        let at = SAMPLES.iter().position(|(name, _)| *name == of)?;
        Some(Expression::new(of, format!("(SELECT c{} FROM k{} LIMIT 1)", at % 5, at / 5)))
    }

    fn literal(&mut self, of: &str, long: bool) -> Option<Expression> {
        let longest = self.longest.min(self.left / 2);
        let text = literals::literal(of, longest, long, self.catalog, &mut self.random)?;
        if text.len() < 100 {
            self.last.insert(of.to_owned(), text.clone());
        }
        self.left = self.left.saturating_sub(text.len());
        Some(Expression::new(of, text))
    }

    fn expand(&mut self, of: &str, template: &str, depth: usize) -> Option<Expression> {
        self.holes(of, template, depth, false)
    }

    /// Fills the holes of a template; one of them with an amplifier when `amplify` asks for it.
    fn holes(&mut self, of: &str, template: &str, depth: usize, amplify: bool) -> Option<Expression> {
        let known = self.scope.len();
        let mut source = None;
        if template.contains("{from}") {
            source = Some(self.from(depth.min(1))?);
        }
        let count = template.matches('{').count().max(1);
        let (amplified, long) = (self.random.below(count), self.random.below(count));
        let mut expression = Expression::new(of, "");
        let mut rest = template;
        let mut index = 0;
        while let Some((before, behind)) = rest.split_once('{') {
            expression.push(before);
            let (hole, after) = behind.split_once('}')?;
            let nested = match hole {
                "from" => source.take()?,
                "digits" => Expression::new("", self.random.size(1_100_000).to_string()),
                "query" => self.expand("", "SELECT {text} FROM {from}", depth)?,
                "root" => self.call(depth)?,
                _ => {
                    let of = self.type_of(hole, of);
                    match amplify {
                        true if index == amplified => self.amplifier(&of, depth.max(1))?,
                        true if index == long => self.literal(&of, true).or_else(|| self.leaf(&of))?,
                        true if !self.dense && self.random.chance(50) => self.amplifier(&of, depth.max(2))?,
                        _ => self.expr(&of, depth)?,
                    }
                }
            };
            expression.nest(nested);
            rest = after;
            index += 1;
        }
        expression.push(rest);
        self.scope.truncate(known);
        let names = NAMED.iter().filter(|name| template.contains(&format!("{name}(")));
        Some(names.fold(expression, |expression, name| expression.calling(name)))
    }

    fn type_of(&mut self, hole: &str, of: &str) -> String {
        match hole {
            "*" => of.to_owned(),
            "*[]" => format!("{}[]", of.trim_end_matches("[]")),
            "e" => of.strip_suffix("[]").unwrap_or(of).to_owned(),
            "any" => self.catalog.any_type(&mut self.random),
            "ordered" => {
                self.random.pick(&["text", "integer", "numeric", "jsonb", "text[]", "bytea"]).to_owned()
            }
            "any[]" => format!("{}[]", self.catalog.any_type(&mut self.random).trim_end_matches("[]")),
            _ => hole.to_owned(),
        }
    }

    /// One or two sources of rows, whose columns are added to the scope.
    fn from(&mut self, depth: usize) -> Option<Expression> {
        let mut from = self.source(depth)?;
        if self.random.chance(15) {
            let mut both = Expression::new("", "");
            both.nest(from);
            let second = self.source(depth)?;
            both.push(if second.to_string().starts_with('k') { ", " } else { ", LATERAL " });
            both.nest(second);
            from = both;
        }
        Some(from)
    }

    fn source(&mut self, depth: usize) -> Option<Expression> {
        self.names += 1;
        let alias = format!("s{}", self.names);
        let template = self.random.pick(SOURCES);
        let (rows, columns) = match template {
            "{table}" => {
                let table = self.random.below(SAMPLES.len().div_ceil(5));
                let types = SAMPLES.iter().skip(table * 5).take(5).map(|(of, _)| (*of).to_owned());
                (Expression::new("", format!("k{table}")), types.collect())
            }
            "{rows}" => {
                let callables: Vec<&Callable> =
                    self.catalog.callables.iter().filter(|callable| callable.gives_rows()).collect();
                let callable = callables[self.random.below(callables.len())];
                let (template, of) = callable.template(None, self.catalog, &mut self.random)?;
                let call = self.expand("", Callable::call_of(&template)?, depth)?;
                (call.calling(&callable.name), vec![of])
            }
            _ if template.contains("any") => {
                let of = self.catalog.any_type(&mut self.random).trim_end_matches("[]").to_owned();
                (self.expand("", &template.replace("any", &of), depth)?, vec![of])
            }
            _ => {
                let of = if template.contains("series") { "integer" } else { "text" };
                (self.expand("", template, depth)?, vec![of.to_owned()])
            }
        };
        let names: Vec<String> = (0..columns.len()).map(|at| format!("c{at}")).collect();
        self.scope
            .extend(names.iter().zip(columns).map(|(name, of): (_, String)| (format!("{alias}.{name}"), of)));
        let mut source = rows;
        source.push(&format!(" AS {alias} ({})", names.join(", ")));
        Some(source)
    }
}
