//! Placeholders and the parameters that they stand for.

use super::super::claim::Claim;
use super::super::diagnoses;
use super::faults::Faults;
use crate::guard::lexer::{Token, TokenKind};
use crate::problem::echo;

/// The parameter that a page's length is asked for by.
pub(super) const LIMIT: &str = "limit";

/// The value that a placeholder is bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placeholder {
    /// The parameter of this index in the claim.
    Param(usize),
    /// `:limit`, the parameter of this index: bound to one more than the argument.
    Limit(usize),
    /// `:caller`, the caller's identity.
    Caller,
    /// `:tenant`, the caller's tenant.
    Tenant,
}

impl Placeholder {
    /// Returns the index of its parameter.
    pub(crate) const fn param(self) -> Option<usize> {
        match self {
            Self::Param(index) | Self::Limit(index) => Some(index),
            Self::Caller | Self::Tenant => None,
        }
    }
}

/// Resolves `$1`, `$2`, … to what they are bound to.
pub(super) fn resolve(claim: &Claim<'_>, tokens: &[Token<'_>], faults: &mut Faults<'_>) -> Vec<Placeholder> {
    let mut names: Vec<&str> = Vec::new();
    let mut resolved = Vec::new();
    for token in tokens.iter().filter(|token| token.kind == TokenKind::Placeholder) {
        if names.contains(&token.name.as_str()) {
            continue;
        }
        names.push(&token.name);
        match named(claim, &token.name) {
            Some(placeholder) => resolved.push(placeholder),
            None => faults.add(&diagnoses::PLACEHOLDER_UNKNOWN, Some(token.at), &[&token.name]),
        }
    }
    for param in claim.params.iter().filter(|param| !names.contains(&param.name.as_str())) {
        faults.add(&diagnoses::PARAM_UNUSED, None, &[&echo(&param.name), &param.name]);
    }
    resolved
}

fn named(claim: &Claim<'_>, name: &str) -> Option<Placeholder> {
    Some(match (name, claim.params.iter().position(|param| param.name == name)) {
        ("caller", _) => Placeholder::Caller,
        ("tenant", _) => Placeholder::Tenant,
        (LIMIT, Some(index)) => Placeholder::Limit(index),
        (_, index) => Placeholder::Param(index?),
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            super::rule::Rule,
            testing::{case, filter, proven, refused},
        },
        Placeholder::{Caller, Limit, Param},
    };

    #[test]
    fn placeholder_unknown_and_param_unused() {
        refused(
            Rule::PlaceholderUnknown,
            &[
                filter("id = :id"),
                filter("x <> :ids AND id = :id").params("ids"),
                case("SELECT full_name FROM people ORDER BY 1 LIMIT :limit"),
            ],
        );
        refused(
            Rule::ParamUnused,
            &[
                case("SELECT full_name FROM people").params("id"),
                filter("note = ':id'").params("id"),
                filter("true -- :id\n").params("id"),
                filter("true /* :id */").params("id"),
                filter("note = $$:id$$").params("id"),
                filter("id::id IS NULL").params("id").guard("id"),
            ],
        );
        proven(&[
            filter("id = :id").params("id#"),
            filter("owner = :caller AND tenant = :tenant"),
            filter("(:site IS NULL OR site = :site)").params("site?"),
            filter("id = ANY (ARRAY[:a, -:b]) AND x = ARRAY[[:a], [2]]").params("a# b#"),
        ]);
    }

    #[test]
    fn placeholders_are_numbered_in_the_order_of_the_text() {
        let (proven, _) = case(
            "SELECT full_name FROM people WHERE a = :b -- :no\n AND (:caller = ':no' OR b = :a OR c = :b) ORDER BY 1 LIMIT :limit",
        )
        .params("a b limit#")
        .prove();
        let proven = proven.unwrap();
        assert_eq!(
            proven.statement.canonical(),
            "SELECT full_name FROM people WHERE a = $1 AND ( $2 = ':no' OR b = $3 OR c = $1 ) ORDER BY 1 LIMIT $4"
        );
        assert_eq!(proven.placeholders, [Param(1), Caller, Param(0), Limit(2)]);
        let position = proven.statement.position_of(57).unwrap();
        assert_eq!((position.line, position.column), (2, 17));
    }
}
