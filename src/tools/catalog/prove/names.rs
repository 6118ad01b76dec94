//! What is decided on the tokens alone, whatever the parser made of them: names of secrets, and forms that the tree does
//! not show as they are written.

use super::{Claim, Rule, faults::Faults, keys::BY_KEY};
use crate::{
    guard::lexer::{Kind, Token},
    problem::echo,
};

/// Names that say that they hold a secret: declared columns, then every name of the statement.
pub(super) fn secrets(claim: &Claim<'_>, tokens: &[Token<'_>], faults: &mut Faults<'_>) {
    for column in claim.columns {
        if is_secret(claim, column) {
            faults.add(
                Rule::SensitiveColumn,
                None,
                format!("The declared column {} says by its name that it holds a secret.", echo(column)),
                WAIVE,
            );
        }
    }
    for token in tokens.iter().filter(|token| token.is_name()) {
        let told = claim.columns.contains(&token.name) && is_secret(claim, &token.name);
        // As PostgreSQL folds it, and as it is written: changes of case divide words.
        let written = token.kind == Kind::Word && claim.words.is_sensitive(&token.text);
        if !told && !waived(claim, &token.name) && (written || claim.words.is_sensitive(&token.name)) {
            secret_name(&token.name, Some(token.at), faults);
        }
    }
}

const WAIVE: &str =
    "Leave it out; if it holds no secret, waive this name in the entry with a written reason.";

/// Whether a name says that it holds a secret, and no reason is written why it may be used.
pub(super) fn is_secret(claim: &Claim<'_>, name: &str) -> bool {
    claim.words.is_sensitive(name) && !waived(claim, name)
}

fn waived(claim: &Claim<'_>, name: &str) -> bool {
    claim.waived.get(name).is_some_and(|reason| !reason.trim().is_empty())
}

pub(super) fn secret_name(name: &str, at: Option<usize>, faults: &mut Faults<'_>) {
    faults.add(
        Rule::SensitiveIdentifier,
        at,
        format!("The name {} says that it holds a secret.", echo(name)),
        WAIVE,
    );
}

/// `ANY`, `ALL` and `SOME`.
pub(super) fn is_quantifier(token: &Token<'_>) -> bool {
    ["any", "all", "some"].iter().any(|word| token.is_word(word))
}

/// Forms that the parser is shown as others.
pub(super) fn forms(tokens: &[Token<'_>], faults: &mut Faults<'_>) {
    for (index, token) in tokens.iter().enumerate() {
        let before = |back: usize| index.checked_sub(back).and_then(|i| tokens.get(i));
        let after = |by: usize| tokens.get(index + by);
        let qualified = before(1).is_some_and(|t| t.is_mark("."));
        if token.kind == Kind::Operator && token.text == "*" && qualified {
            faults.add(
                Rule::WildcardSelect,
                Some(token.at),
                "This * takes every column, also those that the table will have some day.",
                "List the columns.",
            );
        }
        if token.is_word("operator")
            && after(1).is_some_and(|t| t.is_mark("("))
            && !is_plain([2, 3, 4, 5, 6].map(after))
        {
            faults.add(
                Rule::ForbiddenConstruct,
                Some(token.at),
                "This OPERATOR(...) hides which operator is meant.",
                "Write the operator itself, or OPERATOR(pg_catalog.=) for PostgreSQL's own.",
            );
        }
        let quantified = after(1).is_some_and(is_quantifier) && after(2).is_some_and(|t| t.is_mark("("));
        if token.kind == Kind::Operator && quantified && BY_KEY.contains(&token.text.as_ref()) {
            faults.add(
                Rule::SensitiveIdentifier,
                Some(token.at),
                "Which members these are cannot be seen.",
                "Write one condition for each member.",
            );
        }
        let rows_from =
            after(1).is_some_and(|t| t.is_word("from")) && after(2).is_some_and(|t| t.is_mark("("));
        if token.is_word("rows") && rows_from && !qualified {
            faults.add(
                Rule::UnsupportedTableRef,
                Some(token.at),
                "The columns of ROWS FROM (...) cannot be verified.",
                "Read from one function at a time.",
            );
        }
    }
}

/// `pg_catalog.=)`, which the tree shows as the operator; before `ANY (…)` it shows any operator as `=`, so that it has to be one
/// that compares.
fn is_plain([schema, dot, operator, close, behind]: [Option<&Token<'_>>; 5]) -> bool {
    let compares =
        |operator: &Token<'_>| ["=", "<>", "!=", "<", "<=", ">", ">="].contains(&operator.text.as_ref());
    schema.is_some_and(|t| t.is_name() && t.name == "pg_catalog")
        && dot.is_some_and(|t| t.is_mark("."))
        && operator
            .is_some_and(|t| t.kind == Kind::Operator && (compares(t) || !behind.is_some_and(is_quantifier)))
        && close.is_some_and(|t| t.is_mark(")"))
}
