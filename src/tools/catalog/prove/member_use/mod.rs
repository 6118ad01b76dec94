//! Collects the uses of names for the rule `members-exposed`: where a marked name must not stand, and which names it passes
//! its mark to. Works on names alone and resolves nothing.
//!
//! A marked name may stand (1) as an output column, (2) left of an operator that names a member on its right, (3) as an
//! argument that a function inspects or keeps, (4) before IS [NOT] NULL. The value that a function keeps, the column of a
//! scalar subquery, and a member taken by position count as the name itself. A member that is taken by name,
//! `data -> 'name'`, may be used in any way: its name is written where a reviewer sees it. An object that the statement
//! builds of a marked value has names of the author's, so that nothing is taken from it.
//!
//! Beside a marked name no column carries a text of the caller's, and in one column only marked names and literals stand
//! together: whatever compares columns and rows would compare them.

use sqlparser::ast::{BinaryOperator, Expr, FunctionArg, Ident, Query, SetExpr, SetOperator, TableAlias};

use super::super::claim::Claim;
use super::super::members::{Exposed, Exposure, MemberUse};
use super::super::params::Param;
use super::found::Found;
use super::from::FUNCTION_COLUMN;
use super::literals::{is_by_name, is_literal, is_written, operator};
use super::parts::{Call, Part, argument, fields, parts_around, parts_of, placeholders};
use crate::guard::functions::{self, Members};
use crate::guard::lexer::Token;
use crate::guard::output_columns::{self, exprs_of};
use crate::guard::position::{Position, position_in};

/// Operators whose left side may be marked. The right side names members, and is written out.
const OPERATORS: &[&str] = &["#>", "#>>", "->", "->>", "?", "?&", "?|", "@>", "@?", "@@"];

/// The name of a column that PostgreSQL gives none.
const UNNAMED: &str = "?column?";

/// Collects the uses of a statement.
pub(super) fn collect(claim: &Claim<'_>, found: &Found<'_>) -> MemberUse {
    let mut uses = Uses { left: found.roots.clone(), exposed: found.using.clone(), ..Uses::default() };
    for query in &found.queries {
        uses.query(query);
    }
    for (query, names) in &found.renamed {
        columns(query, Through::Members)
            .iter()
            .zip(*names)
            .for_each(|(column, name)| uses.rename(column, &name.name.value));
    }
    for (call, alias) in &found.functions {
        uses.function(call, *alias);
    }
    uses.exprs();
    let exposed =
        |name: &Ident, how| Exposed { name: name.value.clone(), at: place(claim, found.place(name)), how };
    let mut all: Vec<Exposed> = uses.exposed.into_iter().map(|name| exposed(name, Exposure::Used)).collect();
    all.extend(uses.taken.into_iter().map(|name| exposed(name, Exposure::Taken)));
    all.extend(
        uses.beside.into_iter().map(|(name, other)| exposed(name, Exposure::Beside(other.value.clone()))),
    );
    all.extend(hidden_clauses(found.tokens).map(|token| Exposed {
        name: token.name.clone(),
        at: place(claim, Some(token.at)),
        how: Exposure::Used,
    }));
    all.sort_by_key(|exposed| exposed.at.map(|at| (at.line, at.column)));
    MemberUse {
        renames: uses.renames.into_iter().filter(|(from, to)| from != to).collect(),
        built: uses.built.into_iter().collect(),
        exposed: all,
        names: found.exprs.iter().filter_map(|(expr, _)| Some(name_of(expr)?.value.clone())).collect(),
        carried: carried(claim, found),
    }
}

fn place(claim: &Claim<'_>, at: Option<usize>) -> Option<Position> {
    at.map(|at| position_in(claim.sql, at))
}

/// Finds a text parameter that becomes a value of a column: of a subquery, of a function in `FROM`, or of a set operation.
fn carried(claim: &Claim<'_>, found: &Found<'_>) -> Option<Exposed> {
    let root = found.queries.first().filter(|query| matches!(*query.body, SetExpr::SetOperation { .. }));
    let of_root = root.into_iter().flat_map(|query| exprs_of(query)).flatten().flat_map(placeholders);
    let tokens = found.carried.iter().copied().chain(of_root).filter_map(|index| found.tokens.get(index));
    let is_text = |token: &&Token<'_>| claim.param(&token.name).is_some_and(Param::is_text);
    let token = tokens.filter(is_text).min_by_key(|token| token.at)?;
    Some(Exposed { name: token.name.clone(), at: place(claim, Some(token.at)), how: Exposure::Carried })
}

/// The names in `SEARCH … BY names SET` and `CYCLE names SET`, which make columns of the values and which the tree does not
/// show.
fn hidden_clauses<'t>(tokens: &'t [Token<'t>]) -> impl Iterator<Item = &'t Token<'t>> {
    let begins = |pair: &[Token<'_>]| {
        let [first, second] = pair else { return false };
        first.is_mark(")") && (second.is_word("search") || second.is_word("cycle"))
    };
    let clauses =
        tokens.windows(2).enumerate().filter(move |(_, pair)| begins(pair)).map(|(index, _)| index + 2);
    clauses.flat_map(move |start| tokens.iter().skip(start).take_while(|token| !token.is_word("set")))
}

#[derive(Default)]
struct Uses<'t> {
    /// Expressions that are left to look at, and whether a marked value may stand there.
    left: Vec<(&'t Expr, bool)>,
    renames: Vec<(String, String)>,
    /// The second name is a column of objects that are built of the first.
    built: Vec<(String, String)>,
    exposed: Vec<&'t Ident>,
    /// Names that a member is taken from.
    taken: Vec<&'t Ident>,
    /// The first name stands in one column with the second, in another row.
    beside: Vec<(&'t Ident, &'t Ident)>,
}

impl<'t> Uses<'t> {
    fn rename(&mut self, from: &Source<'t>, to: &str) {
        let pairs = from.names.iter().map(|from| (from.value.clone(), to.to_owned()));
        self.renames.extend(pairs.clone());
        if from.is_built {
            self.built.extend(pairs);
        }
    }

    /// The names of a query's columns. INTERSECT and EXCEPT compare them.
    fn query(&mut self, query: &'t Query) {
        let names = output_columns::columns(query).unwrap_or_default();
        for (column, (name, _)) in columns(query, Through::Members).iter().zip(names) {
            self.rename(column, name.as_deref().unwrap_or(UNNAMED));
        }
        if compares(query) {
            self.expose_columns(query);
        }
        exprs_of(query).into_iter().for_each(|rows| self.mix(rows));
    }

    /// One column of several rows: of a set operation, or of VALUES. What compares the rows compares their members.
    fn mix(&mut self, rows: Vec<&'t Expr>) {
        let rows = rows.into_iter().filter(|row| !is_literal(row));
        let sources: Vec<Source<'t>> = rows.map(|row| Source::of(row, Through::Value)).collect();
        if sources.len() < 2 {
            return;
        }
        if sources.iter().any(|source| source.names.is_empty() || source.is_built) {
            self.exposed.extend(sources.into_iter().flat_map(|source| source.names));
            return;
        }
        let names: Vec<&Ident> = sources.into_iter().flat_map(|source| source.names).collect();
        let beside = |name: &&'t Ident| names.iter().map(move |other| (*name, *other)).collect::<Vec<_>>();
        self.beside.extend(names.iter().flat_map(beside));
    }

    fn expose_columns(&mut self, query: &'t Query) {
        self.exposed.extend(columns(query, Through::Value).into_iter().flat_map(|column| column.names));
    }

    /// The rows of a function, whose one column is called as the alias, the function or `value`.
    fn function(&mut self, call: &Call<'t>, alias: Option<&TableAlias>) {
        self.arguments(call);
        if keeps(call) {
            let mut kept_of = Source::default();
            kept(call).into_iter().for_each(|expr| kept_of.add(expr, Through::Members));
            let first =
                alias.and_then(|alias| alias.columns.first()).map(|column| column.name.value.as_str());
            let called = alias.map_or(call.name, |alias| &alias.name);
            let all = [FUNCTION_COLUMN, &called.value].into_iter().chain(first);
            all.for_each(|name| self.rename(&kept_of, name));
        }
    }

    /// The arguments of a call, each in its place.
    fn arguments(&mut self, call: &Call<'t>) {
        let args = call.args.iter().enumerate();
        self.left.extend(args.filter_map(|(index, arg)| Some((argument(arg)?, takes(call, index)))));
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "any other place exposes a marked name")]
    fn exprs(&mut self) {
        while let Some((expr, may_be_marked)) = self.left.pop() {
            if !may_be_marked {
                self.exposed.extend(Source::of(expr, Through::Value).names);
            }
            match expr {
                Expr::Nested(inner) | Expr::IsNull(inner) | Expr::IsNotNull(inner) => {
                    self.left.push((inner, true));
                }
                Expr::BinaryOp { left, op, right }
                    if operator(op).is_some_and(|op| OPERATORS.contains(&op)) && is_written(right) =>
                {
                    self.member(left, op, right);
                    self.left.push((right, false));
                }
                // Their queries have places of their own.
                Expr::Subquery(_) | Expr::Exists { subquery: _, negated: _ } => {}
                Expr::Function(function) => {
                    Call::of(expr).iter().for_each(|call| self.arguments(call));
                    self.parts(parts_around(function));
                }
                Expr::CompoundFieldAccess { root: _, access_chain } => {
                    self.exposed.extend(fields(access_chain));
                    self.parts(parts_of(expr));
                }
                _ => self.parts(parts_of(expr)),
            }
        }
    }

    /// The left side of an operator that names members. The text of a member is taken by its name only.
    fn member(&mut self, left: &'t Expr, op: &BinaryOperator, path: &Expr) {
        let is_text = matches!(operator(op), Some("->>" | "#>>"));
        self.left.push((left, !is_text || is_by_name(path)));
        if is_text || takes_member(op) {
            let Source { names, is_built } = Source::of(left, Through::Members);
            if is_built { &mut self.exposed } else { &mut self.taken }.extend(names);
        }
    }

    fn parts(&mut self, parts: Vec<Part<'t>>) {
        for part in parts {
            match part {
                Part::Expr(expr) => self.left.push((expr, false)),
                Part::Query(query) => self.expose_columns(query),
            }
        }
    }
}

/// The names that an expression has its mark from.
#[derive(Default)]
struct Source<'t> {
    names: Vec<&'t Ident>,
    /// An object is built of them.
    is_built: bool,
}

impl<'t> Source<'t> {
    fn of(expr: &'t Expr, through: Through) -> Self {
        let mut source = Self::default();
        source.add(expr, through);
        source
    }

    fn join(&mut self, Self { names, is_built }: Self) {
        self.names.extend(names);
        self.is_built |= is_built;
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "no other expression is marked")]
    fn add(&mut self, expr: &'t Expr, through: Through) {
        let mut left = vec![expr];
        while let Some(next) = left.pop() {
            match next {
                Expr::Identifier(_) | Expr::CompoundIdentifier(_) => self.names.extend(name_of(next)),
                Expr::Nested(inner) => left.push(inner),
                Expr::BinaryOp { left: value, op, right }
                    if takes_member(op) && (through == Through::Members || !is_by_name(right)) =>
                {
                    left.push(value);
                }
                Expr::Subquery(query) => columns(query, through).into_iter().for_each(|it| self.join(it)),
                Expr::Function(_) => {
                    let call = Call::of(next).filter(keeps);
                    self.is_built |= call.as_ref().is_some_and(builds);
                    left.extend(call.iter().flat_map(kept));
                }
                _ => {}
            }
        }
    }
}

/// The name that an expression is.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other expression is a name")]
fn name_of(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    }
}

/// The expressions that pass a mark on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Through {
    /// Those that are the value itself.
    Value,
    /// Members that are taken from it, too.
    Members,
}

/// The names that the columns of a query have their marks from. The parts of a set operation are put together.
fn columns(query: &Query, through: Through) -> Vec<Source<'_>> {
    let source = |exprs: Vec<_>| {
        let mut source = Source::default();
        exprs.into_iter().for_each(|expr| source.add(expr, through));
        source
    };
    exprs_of(query).into_iter().map(source).collect()
}

/// The arguments of a call that may be marked.
fn kept<'t>(call: &Call<'t>) -> Vec<&'t Expr> {
    let taken = call.args.iter().enumerate().filter(|(index, _)| takes(call, *index));
    taken.filter_map(|(_, arg)| argument(arg)).collect()
}

/// Returns whether the argument of this index may be marked.
fn takes(call: &Call<'_>, index: usize) -> bool {
    let name = call.built_in();
    let is_literal = |arg: &FunctionArg| argument(arg).is_some_and(is_written);
    match name {
        _ if builds(call) => !index.is_multiple_of(2),
        "json_extract_path_text" | "jsonb_extract_path_text" => {
            index == 0 && call.args.iter().skip(1).filter_map(argument).any(is_by_name)
        }
        "coalesce" => index == 0 && call.args.iter().skip(1).all(is_literal),
        _ => index == 0 && matches!(members(call), Members::Inspects | Members::Keeps),
    }
}

/// The column of the table of functions.
fn members(call: &Call<'_>) -> Members {
    functions::find(call.built_in()).map_or(Members::Exposes, |function| function.members)
}

fn keeps(call: &Call<'_>) -> bool {
    members(call) == Members::Keeps
}

/// Returns whether a call builds an object of written keys.
fn builds(call: &Call<'_>) -> bool {
    matches!(call.built_in(), "json_build_object" | "jsonb_build_object")
}

/// Returns whether an operator gives a member as JSON.
fn takes_member(op: &BinaryOperator) -> bool {
    matches!(operator(op), Some("->" | "#>"))
}

/// Returns whether the set operations compare rows. UNION only drops equal ones.
fn compares(query: &Query) -> bool {
    let mut left = vec![query.body.as_ref()];
    while let Some(part) = left.pop() {
        if let SetExpr::SetOperation { op, set_quantifier: _, left: first, right } = part {
            if *op != SetOperator::Union {
                return true;
            }
            left.extend([first.as_ref(), right]);
        }
    }
    false
}

#[cfg(test)]
mod tests;
