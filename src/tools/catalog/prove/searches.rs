//! Parameters that a search looks for: a search for nothing finds everything, so that a text has characters, and a list items.

use std::collections::BTreeSet;

use sqlparser::ast::{BinaryOperator, Expr};

use super::super::claim::Claim;
use super::super::diagnoses;
use super::faults::Faults;
use super::found::Found;
use super::literals::operator;
use super::parts::{Call, argument, bare, placeholders};
use super::patterns::end_of;
use crate::guard::lexer::{Token, TokenKind};

/// Functions that take a part of a text: compared with a parameter, they search for its beginning or its end.
const PARTS: &[&str] = &["left", "right", "substr", "substring"];

/// Requires of each parameter that is searched for that it is not empty. Returns the texts among them, by name: white space
/// counts for nothing in them.
pub(super) fn check(claim: &Claim<'_>, found: &Found<'_>, faults: &mut Faults<'_>) -> BTreeSet<String> {
    let mut searched: Vec<usize> = found.exprs.iter().flat_map(|(expr, _)| searched_by(expr)).collect();
    searched.extend(found.calls.iter().flat_map(searched_by_call));
    searched.extend(differs_from_all(found.tokens));
    let matching = claim.params.iter().filter(|param| param.matching.is_some());
    let mut texts: BTreeSet<String> = matching.map(|param| param.name.clone()).collect();
    searched.sort_unstable();
    searched.dedup();
    for token in searched.into_iter().filter_map(|index| found.tokens.get(index)) {
        let Some(param) = claim.param(&token.name) else { continue };
        let Some(kind) = &param.kind else { continue };
        let (keyword, diagnosis) = match kind.is_list {
            true => ("minItems", &diagnoses::LIST_OF_NOTHING),
            false if param.is_text() => ("minLength", &diagnoses::SEARCH_OF_NOTHING),
            false => continue,
        };
        if !kind.is_list {
            texts.insert(param.name.clone());
        }
        if kind.bound(keyword).is_none_or(|least| least < 1) {
            faults.add(diagnosis, Some(token.at), &[&token.name]);
        }
    }
    texts
}

/// The placeholders that an expression searches for.
#[expect(clippy::wildcard_enum_match_arm, reason = "other expressions search for nothing")]
fn searched_by(expr: &Expr) -> Vec<usize> {
    match expr {
        Expr::BinaryOp { left, op: BinaryOperator::Eq, right } => match (takes_part(left), takes_part(right))
        {
            (true, _) => placeholders(right),
            (_, true) => placeholders(left),
            (false, false) => Vec::new(),
        },
        Expr::BinaryOp { left: _, op: BinaryOperator::PGStartsWith, right } => placeholders(right),
        Expr::BinaryOp { left, op, right } if matches!(operator(op), Some("@>" | "<@")) => {
            [placeholders(left), placeholders(right)].concat()
        }
        Expr::BinaryOp { left: _, op, right } if operator(op) == Some("^@") => placeholders(right),
        Expr::Position { expr: part, r#in: _ } => placeholders(part),
        _ => Vec::new(),
    }
}

fn searched_by_call(call: &Call<'_>) -> Vec<usize> {
    let is_search = matches!(call.built_in(), "starts_with" | "strpos");
    let part = call.args.get(1).filter(|_| is_search).and_then(argument);
    part.map(placeholders).unwrap_or_default()
}

/// The placeholders in `<> ALL (…)`. The tree does not show which operator stands there.
fn differs_from_all(tokens: &[Token<'_>]) -> Vec<usize> {
    let begins = |index: &usize| {
        let Some([operator, all, open, ..]) = tokens.get(*index..) else { return false };
        ["<>", "!="].contains(&operator.text.as_ref()) && all.is_word("all") && open.is_mark("(")
    };
    let inside = |index: usize| index + 3..end_of(tokens, index + 2);
    let is_placeholder =
        |index: &usize| tokens.get(*index).is_some_and(|token| token.kind == TokenKind::Placeholder);
    (0..tokens.len()).filter(begins).flat_map(inside).filter(is_placeholder).collect()
}

/// Returns whether an expression is a part of a text.
fn takes_part(expr: &Expr) -> bool {
    let expr = bare(expr);
    matches!(expr, Expr::Substring { .. })
        || Call::of(expr).is_some_and(|call| PARTS.contains(&call.built_in()))
}

#[cfg(test)]
mod tests {
    use super::super::{
        super::rule::Rule,
        testing::{filter, proven, refused},
    };

    #[test]
    fn a_search_for_nothing() {
        refused(
            Rule::ParamUnbounded,
            &[
                filter("starts_with(note, :q)").params("q."),
                filter("note ^@ :q").params("q."),
                filter("strpos(note, :q) > 0").params("q."),
                filter("strpos(lower(note), lower(:q)) > 0").params("q."),
                filter("position(:q IN note) > 0").params("q."),
                filter("left(note, length(:q)) = :q").params("q."),
                filter("lower(:q) = substr(note, 1, 3)").params("q."),
                filter("substring(note FROM 1 FOR 3) = :q").params("q."),
                filter("tags @> :q").params("q[]"),
                filter("tags @> (:q)::text[]").params("q[]"),
                filter("id <> ALL (:q)").params("q[]"),
                filter("tags <@ :q").params("q[]"),
            ],
        );
        proven(&[
            filter("starts_with(note, :q)").params("q"),
            filter("left(note, length(:q)) = :q").params("q"),
            filter("note = :q AND id = ANY (:i)").params("q. i[]"),
            filter("left(note, :n) = 'x'").params("n#"),
            filter("starts_with(:q, note)").params("q."),
        ]);
    }
}
