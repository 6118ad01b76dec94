//! Parameters in patterns. A `%` of the caller's must not turn a search into a dump, and the escape for LIKE works in no
//! other kind of pattern.

use std::collections::BTreeMap;

use sqlparser::ast::{BinaryOperator, Expr, FunctionArg, Value, ValueWithSpan};

use super::super::claim::Claim;
use super::super::diagnoses;
use super::super::params::Param;
use super::faults::Faults;
use super::found::Found;
use super::literals::element_name;
use super::names::is_quantifier;
use super::parts::{Call, argument, bare, placeholder, within};
use crate::guard::functions;
use crate::guard::lexer::{Token, TokenKind};
use crate::problem::echo;

/// The use of a placeholder that is not a plain value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// The whole pattern of a LIKE that escapes with a backslash.
    Pattern,
    /// A pattern, or a part of one, that cannot be escaped: already reported.
    Unescaped,
    /// `:name IS NULL`, or the outermost LIMIT.
    Apart,
}

/// Operators whose right side is a pattern.
const OPERATORS: &[&str] = &["!~", "!~*", "!~~", "!~~*", "~", "~*", "~~", "~~*"];
/// Types whose text is a pattern.
const TYPES: &[&str] = &["jsonpath", "lquery", "ltxtquery", "tsquery"];

/// Requires that a parameter in a pattern of LIKE is escaped, and is in no other pattern. `limit` is the placeholder behind the
/// outermost LIMIT.
pub(super) fn check(claim: &Claim<'_>, found: &Found<'_>, limit: Option<usize>, faults: &mut Faults<'_>) {
    let uses = limit.map(|token| (token, Use::Apart)).into_iter().collect();
    let mut patterns = Patterns { claim, found, faults, uses, from_columns: false };
    found.exprs.iter().for_each(|(expr, _)| patterns.expr(expr));
    found.calls.iter().for_each(|call| patterns.call(call));
    patterns.hidden();
    unused(claim, found.tokens, &patterns.uses, patterns.faults);
}

struct Patterns<'p, 't, 'f> {
    claim: &'p Claim<'p>,
    found: &'p Found<'t>,
    faults: &'p mut Faults<'f>,
    /// The uses of placeholders, by their tokens; one that is not here is used as a value.
    uses: BTreeMap<usize, Use>,
    /// True if a pattern is taken from a column.
    from_columns: bool,
}

impl Patterns<'_, '_, '_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "other expressions have no patterns")]
    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Like { negated: _, any, expr: _, pattern, escape_char }
            | Expr::ILike { negated: _, any, expr: _, pattern, escape_char } => {
                let is_whole = |token: &usize| {
                    let matches = self.param(*token).is_some_and(|param| param.matching.is_some());
                    !any && matches && escapes(escape_char.as_deref())
                };
                match placeholder(bare(pattern)).filter(is_whole) {
                    Some(token) => drop(self.uses.insert(token, Use::Pattern)),
                    None => self.pattern(pattern, LIKE),
                }
                if let Some(escape) = escape_char {
                    self.pattern(escape, "The escape character is fixed: ESCAPE '\\'.");
                }
            }
            Expr::SimilarTo { negated: _, expr: _, pattern, escape_char } => {
                [Some(pattern), escape_char.as_ref()]
                    .into_iter()
                    .flatten()
                    .for_each(|it| self.pattern(it, NOT_LIKE));
            }
            Expr::BinaryOp { left: _, op, right } if is_pattern_operator(op) => self.pattern(right, NOT_LIKE),
            Expr::Substring { expr: _, substring_from, substring_for, special: _, shorthand: _ } => {
                [substring_from, substring_for]
                    .into_iter()
                    .flatten()
                    .for_each(|it| self.pattern(it, NO_TEXT));
            }
            Expr::Cast { kind: _, expr: inner, data_type, format: _ }
                if element_name(data_type).is_some_and(|name| TYPES.contains(&name)) =>
            {
                self.pattern(inner, NOT_LIKE);
            }
            Expr::IsNull(inner) | Expr::IsNotNull(inner) => {
                self.uses.extend(placeholder(bare(inner)).map(|token| (token, Use::Apart)));
            }
            _ => {}
        }
    }

    fn call(&mut self, call: &Call<'_>) {
        let name = call.name.value.as_str();
        let first = functions::find(name).and_then(|function| function.pattern);
        let in_order = name.starts_with("json") || first.is_some();
        if in_order && !call.args.iter().all(|arg| matches!(arg, FunctionArg::Unnamed(_))) {
            let at = self.found.place(call.name);
            self.faults.add(&diagnoses::ARGUMENTS_BY_NAME, at, &[&echo(name)]);
        }
        for expr in call.args.iter().skip(first.unwrap_or(usize::MAX)).filter_map(argument) {
            self.pattern(expr, NOT_LIKE);
        }
    }

    /// A pattern that no parameter may be in.
    fn pattern(&mut self, pattern: &Expr, cure: &str) {
        let (all, queries) = within(pattern);
        let is_column = |expr: &&Expr| matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_));
        self.from_columns |= queries || all.iter().any(is_column);
        all.into_iter().filter_map(placeholder).for_each(|token| self.unescaped(token, cure));
    }

    /// Patterns that the tree does not show: behind `~ ANY (…)` and its like, and by way of a column.
    fn hidden(&mut self) {
        let tokens = self.found.tokens;
        let lists = (0..tokens.len()).filter(|index| begins_patterns(tokens, *index));
        let inside: Vec<usize> = lists.flat_map(|index| index + 3..end_of(tokens, index + 2)).collect();
        let is_column = |token: &Token<'_>| token.is_name() && !token.is_word("array");
        self.from_columns |= inside.iter().filter_map(|index| tokens.get(*index)).any(is_column);
        inside.into_iter().for_each(|token| self.unescaped(token, NOT_LIKE));
        if self.from_columns {
            self.found.carried.iter().for_each(|token| self.unescaped(*token, CARRIED));
        }
    }

    /// Refuses a parameter in a pattern, unless it is a number.
    fn unescaped(&mut self, index: usize, cure: &str) {
        let token = self.found.tokens.get(index).filter(|token| token.kind == TokenKind::Placeholder);
        let Some(token) = token else { return };
        if self.param(index).is_some_and(Param::is_numeric) {
            return;
        }
        self.uses.insert(index, Use::Unescaped);
        self.faults.add(&diagnoses::PATTERN_OF_CALLER, Some(token.at), &[&token.name, &cure]);
    }

    fn param(&self, token: usize) -> Option<&Param> {
        self.claim.param(&self.found.tokens.get(token)?.name)
    }
}

const LIKE: &str =
    "Make it the whole pattern, LIKE :name ESCAPE '\\', and say match = \"contains\" or \"prefix\".";
const NOT_LIKE: &str = "What escapes for LIKE does not escape here; use plainto_tsquery, LIKE :name ESCAPE '\\' with match, or compare with =.";

const NO_TEXT: &str = "A text here is a regular expression; take a number, or use split_part.";
const CARRIED: &str =
    "Write it as the pattern itself; by way of a column it would reach a pattern unescaped.";

/// Parameters with `match` that match nothing, or are used otherwise too.
fn unused(claim: &Claim<'_>, tokens: &[Token<'_>], uses: &BTreeMap<usize, Use>, faults: &mut Faults<'_>) {
    for param in claim.params.iter().filter(|param| param.matching.is_some()) {
        let of_param = |token: &Token<'_>| token.kind == TokenKind::Placeholder && token.name == param.name;
        let places: Vec<usize> =
            tokens.iter().enumerate().filter(|(_, token)| of_param(token)).map(|(index, _)| index).collect();
        let reported = places.iter().any(|place| uses.get(place) == Some(&Use::Unescaped));
        let matched = places.iter().any(|place| uses.get(place) == Some(&Use::Pattern));
        let other = places.iter().find(|place| !uses.contains_key(place));
        // A parameter that is nowhere has a rule of its own.
        let at = if matched || reported { other } else { other.or(places.first()) };
        if let Some(token) = at.and_then(|index| tokens.get(*index)) {
            faults.add(&diagnoses::MATCH_UNUSED, Some(token.at), &[&echo(&param.name)]);
        }
    }
}

/// `ESCAPE '\'`
fn escapes(escape: Option<&Expr>) -> bool {
    matches!(
        escape,
        Some(Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), span: _ })) if text == "\\"
    )
}

#[expect(clippy::wildcard_enum_match_arm, reason = "other operators take no patterns")]
fn is_pattern_operator(operator: &BinaryOperator) -> bool {
    match operator {
        BinaryOperator::PGRegexMatch => true,
        BinaryOperator::Custom(text) => OPERATORS.contains(&text.as_str()),
        _ => false,
    }
}

/// Returns whether `~ ANY (` or `LIKE ALL (` begins here.
fn begins_patterns(tokens: &[Token<'_>], index: usize) -> bool {
    let Some([operator, quantifier, open, ..]) = tokens.get(index..) else { return false };
    let pattern = operator.kind == TokenKind::Operator && OPERATORS.contains(&operator.text.as_ref())
        || operator.is_word("like")
        || operator.is_word("ilike");
    pattern && is_quantifier(quantifier) && open.is_mark("(")
}

/// The index of the parenthesis that closes the one at `open`.
pub(super) fn end_of(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    let closes = |(_, token): &(usize, &Token<'_>)| {
        depth = (depth + usize::from(token.is_mark("("))).saturating_sub(usize::from(token.is_mark(")")));
        depth == 0
    };
    tokens.iter().enumerate().skip(open).find(closes).map_or(tokens.len(), |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::super::{
        super::rule::Rule,
        testing::{case, filter, proven, refused},
    };

    #[test]
    fn arguments_by_name() {
        // By name an argument stands at any place, where it would be taken for another.
        refused(
            Rule::ForbiddenConstruct,
            &[
                case(
                    "SELECT jsonb_path_query(target => data, vars => '{}', path => '$.*') AS full_name FROM people",
                ),
                filter("jsonb_path_exists(target => data, vars => '{}', path => '$.a')"),
                filter(
                    "jsonb_extract_path_text(path_elems => ARRAY[full_name], from_json => '{\"a\":1}') = 'x'",
                ),
                filter("regexp_like(pattern => :x, string => full_name)").params("x"),
            ],
        );
        proven(&[
            filter("born > now() - make_interval(days => 3)"),
            filter("jsonb_path_exists(data, '$.a', '{}', true)"),
        ]);
    }

    #[test]
    fn like_unescaped() {
        refused(
            Rule::LikeUnescaped,
            &[
                filter("a LIKE :q").params("q"),
                filter("a LIKE :q").params("q~"),
                filter("a LIKE :q ESCAPE '\\'").params("q"),
                filter("a LIKE :q ESCAPE '!'").params("q~"),
                filter("a LIKE '%' || :q || '%' ESCAPE '\\'").params("q~"),
                filter("a LIKE upper(:q) ESCAPE '\\'").params("q~"),
                filter("a NOT ILIKE (:q)::text ESCAPE '\\'").params("q~"),
                filter("a LIKE 'x' ESCAPE :q").params("q"),
                filter("a LIKE ANY (:q)").params("q~"),
                filter("a LIKE ALL (ARRAY['x', :q])").params("q"),
                filter("a SIMILAR TO :q ESCAPE '\\'").params("q~"),
                filter("a NOT SIMILAR TO 'x' || :q").params("q"),
                filter("a ~ :q").params("q~"),
                filter("a !~* ('^' || :q)").params("q"),
                filter("a ~~ :q").params("q~"),
                filter("a !~~* :q").params("q"),
                filter("a ~ ANY (ARRAY[:q])").params("q"),
                filter("a ~~* SOME (:q)").params("q"),
                filter("regexp_like(a, :q)").params("q"),
                filter("to_tsvector(a) @@ websearch_to_tsquery('simple', :q)").params("q"),
                case("SELECT full_name FROM people, regexp_matches(full_name, :q) AS m(x)").params("q"),
                case("SELECT full_name FROM people, regexp_split_to_table(full_name, :q) AS x").params("q"),
                filter("regexp_replace(a, 'x' || :q, '') = 'y'").params("q"),
                filter("pg_catalog.regexp_count(a, :q) > 0").params("q"),
                filter("\"like\"(a, :q)").params("q"),
                filter("to_tsvector(a) @@ ANY ((:q)::tsquery[])").params("q"),
                filter("substring(a FROM :q) = 'x'").params("q"),
                filter("substring(a, :q) = 'x'").params("q"),
                filter("substring(a FROM '.' FOR :q) = 'x'").params("q"),
                filter("substring(a SIMILAR :q ESCAPE '#') = 'x'").params("q"),
                filter("a ~ similar_to_escape(:q)").params("q"),
                filter("to_tsvector(a) @@ to_tsquery(:q)").params("q"),
                filter("to_tsvector(a) @@ (:q)::tsquery").params("q"),
                filter("a LIKE (SELECT :q)").params("q"),
                filter("a LIKE :q || '%'").params("q~"),
                case("SELECT full_name FROM people, (SELECT :q AS pattern) x WHERE a LIKE x.pattern")
                    .params("q"),
                case("SELECT full_name FROM people, unnest(ARRAY[:q]) AS x WHERE a ~ x").params("q"),
                case("WITH x(y) AS (VALUES (:q)) SELECT full_name FROM people, x WHERE a ~ ANY (ARRAY[y])")
                    .params("q"),
            ],
        );
        proven(&[
            filter("a LIKE :q ESCAPE '\\' OR b NOT ILIKE (:q) ESCAPE '\\'").params("q~"),
            filter("a LIKE 'x%' AND a ~ '^x' AND a = :q").params("q"),
            filter(":q LIKE a || '%'").params("q"),
            filter("substring(a FROM :n FOR :n) = :q").params("n# q"),
            filter("starts_with(a, :q) AND split_part(a, :q, 1) = 'x'").params("q"),
            filter("a LIKE ANY (ARRAY['x%', 'y%']) AND b = :q").params("q"),
            case("SELECT full_name FROM people, (SELECT :q AS same) x WHERE a = x.same AND a LIKE 'x%'")
                .params("q"),
        ]);
    }

    #[test]
    fn match_unused() {
        refused(
            Rule::MatchUnused,
            &[
                filter("a = :q").params("q~"),
                filter("a LIKE :q ESCAPE '\\' OR b = :q").params("q~"),
                filter("a LIKE :q ESCAPE '\\' AND length(:q) > 2").params("q~"),
                filter(":q LIKE a").params("q~"),
                filter(":q IS NULL").params("q~?"),
            ],
        );
        proven(&[
            filter("(:q IS NULL OR a LIKE :q ESCAPE '\\')").params("q~?"),
            filter("a = :q").params("q"),
        ]);
    }
}
