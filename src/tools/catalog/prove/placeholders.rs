//! What the placeholders stand for, and parameters that none stands for.

use super::{Claim, Placeholder, Rule, faults::Faults};
use crate::{
    guard::lexer::{Kind, Token},
    problem::echo,
};

/// The parameter that a page's length is asked for by.
pub(super) const LIMIT: &str = "limit";

/// What `$1`, `$2`, … stand for.
pub(super) fn resolve(claim: &Claim<'_>, tokens: &[Token<'_>], faults: &mut Faults<'_>) -> Vec<Placeholder> {
    let mut names: Vec<&str> = Vec::new();
    let mut resolved = Vec::new();
    for token in tokens.iter().filter(|token| token.kind == Kind::Placeholder) {
        if names.contains(&token.name.as_str()) {
            continue;
        }
        names.push(&token.name);
        match named(claim, &token.name) {
            Some(placeholder) => resolved.push(placeholder),
            None => faults.add(
                Rule::PlaceholderUnknown,
                Some(token.at),
                format!("The placeholder :{} is no parameter of this entry.", token.name),
                "Declare the parameter, or write the name of one that is declared.",
            ),
        }
    }
    for param in claim.params.iter().filter(|param| !names.contains(&param.name.as_str())) {
        faults.add(
            Rule::ParamUnused,
            None,
            format!("The parameter {} is nowhere in the statement.", echo(&param.name)),
            format!("Use it as :{}, or remove it.", param.name),
        );
    }
    resolved
}

fn named(claim: &Claim<'_>, name: &str) -> Option<Placeholder> {
    match name {
        "caller" => return Some(Placeholder::Caller),
        "tenant" => return Some(Placeholder::Tenant),
        _ => {}
    }
    let index = claim.params.iter().position(|param| param.name == name)?;
    Some(if name == LIMIT { Placeholder::Limit(index) } else { Placeholder::Param(index) })
}
