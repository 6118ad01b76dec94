//! Placeholders: their numbers, and the difference between `:name` and the bound of a slice.

use super::place::Place;
use super::token::{Token, TokenKind};
use crate::guard::refusal::Refusal;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Parenthesis,
    /// Of `ARRAY[…]`, or an array within one.
    Array,
    Subscript,
}

/// Gives every placeholder its number, the same for the same name.
///
/// Within the brackets of a subscript, `a[1:b]` is a slice up to a column b.
pub(super) fn number(tokens: &mut [Token<'_>]) -> Result<(), Refusal> {
    // In the order in which they first appear.
    let mut seen: Vec<String> = Vec::new();
    let mut open = Vec::new();
    for index in 0..tokens.len() {
        let Some(place) = Place::at(tokens, index) else { break };
        let Place { token, .. } = place;
        let behind_array = place.after_word(&["array"]);
        let begins_operand = place.before(1).is_none_or(|before| {
            before.kind == TokenKind::Operator || [",", "(", "["].iter().any(|mark| before.is_mark(mark))
        });
        let in_array = open.last() == Some(&Bracket::Array);
        match token.text.as_ref() {
            "(" => open.push(Bracket::Parenthesis),
            "[" if behind_array || in_array && begins_operand => open.push(Bracket::Array),
            "[" => open.push(Bracket::Subscript),
            ")" | "]" => drop(open.pop()),
            _ => {}
        }
        if token.kind != TokenKind::Placeholder {
            continue;
        }
        if place.after_mark(".") {
            let sentence = "A parameter is a value, not a name; write the column's name behind the dot.";
            return Err(Refusal::invalid(token.at, sentence));
        }
        if open.last() == Some(&Bracket::Subscript) || in_array && !begins_operand && !behind_array {
            return Err(Refusal::invalid(
                token.at,
                "Within brackets this may be a parameter or the bound of a slice; put the parameter in parentheses.",
            ));
        }
        let known = seen.iter().position(|name| *name == token.name);
        let number = known.unwrap_or(seen.len()) + 1;
        if known.is_none() {
            seen.push(token.name.clone());
        }
        if let Some(token) = tokens.get_mut(index) {
            token.text = format!("${number}").into();
        }
    }
    Ok(())
}
