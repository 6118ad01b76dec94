//! The statement's columns against the declared ones.

use sqlparser::ast::Query;

use super::{Claim, Rule, faults::Faults, output};
use crate::{
    guard::{lexer::Token, statement::token_of},
    problem::echo,
};

pub(super) fn check(claim: &Claim<'_>, query: &Query, tokens: &[Token<'_>], faults: &mut Faults<'_>) {
    if claim.columns.is_empty() {
        return faults.add(
            Rule::NoColumns,
            None,
            "The entry declares no columns.",
            "List the columns of the statement, in order.",
        );
    }
    // A wildcard is told of by its own name.
    let Some(outputs) = output::columns(query) else { return };
    let mut names = Vec::with_capacity(outputs.len());
    for (index, column) in outputs.iter().enumerate() {
        let at = token_of(column.span).and_then(|index| tokens.get(index)).map(|token| token.at);
        match column.name.as_deref() {
            None => faults.add(
                Rule::ColumnMismatch,
                at,
                format!("Column {} of the statement has no name of its own.", index + 1),
                "Give it one: expression AS name.",
            ),
            Some(name) if names.contains(&name) => faults.add(
                Rule::ColumnMismatch,
                at,
                format!("Two columns of the statement are called {}.", echo(name)),
                "Give one of them another name: expression AS name.",
            ),
            Some(name) => names.push(name),
        }
    }
    let declared: Vec<&str> = claim.columns.iter().map(String::as_str).collect();
    let known = names.len() == outputs.len() && !faults.has(Rule::WildcardSelect);
    if known && names != declared {
        faults.add(
            Rule::ColumnMismatch,
            None,
            format!(
                "The statement's columns are {}; declared are {}.",
                echo(&names.join(", ")),
                echo(&declared.join(", "))
            ),
            "Declare the statement's columns, in its order.",
        );
    }
}
