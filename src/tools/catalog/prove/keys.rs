//! Names of members of JSON values and hstores. They must be written out, so that a secret's name can be seen.

use sqlparser::ast::{Expr, Spanned as _, UnaryOperator, Value, ValueWithSpan};
use sqlparser::tokenizer::Span;

use super::super::claim::Claim;
use super::super::diagnoses;
use super::faults::Faults;
use super::found::Found;
use super::literals::{BY_KEY, is_empty_path, is_integer, is_json, operator, text_of};
use super::names::is_secret;
use super::parts::{Call, argument, placeholders, subscripts};
use crate::guard::functions::{self, Keys};
use crate::guard::parser::token_of;
use crate::problem::echo;

/// Operators whose sides may hold keys.
const WITH_KEYS: &[&str] = &["@>", "<@"];
/// The form that a key must have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    /// Written out: the member of this name is read.
    Written,
    /// Written out, as a path.
    Path,
    /// Any; a literal is judged, and must be plain.
    Json,
    /// Any; a literal is judged as a path, which it may be.
    AnyPath,
    /// Any; a literal is judged.
    Any,
}

/// Requires that the names of members are written, and that none is a secret's.
pub(super) fn check(claim: &Claim<'_>, found: &Found<'_>, faults: &mut Faults<'_>) {
    let mut keys = KeyRule { claim, found, faults };
    found.exprs.iter().for_each(|(expr, _)| keys.expr(expr));
    found.calls.iter().for_each(|call| keys.call(call));
}

struct KeyRule<'k, 't, 'f> {
    claim: &'k Claim<'k>,
    found: &'k Found<'t>,
    faults: &'k mut Faults<'f>,
}

impl KeyRule<'_, '_, '_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "other expressions name no members")]
    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::BinaryOp { left, op, right } => match operator(op) {
                Some("#>>") if is_empty_path(right) => {
                    self.faults.add(&diagnoses::EMPTY_PATH, self.place(right.span()), &[]);
                }
                Some(op) if BY_KEY.contains(&op) => self.key(right, Key::Written),
                Some("@?") => self.key(right, Key::Path),
                // Its right side is a path, or words to search for.
                Some("@@") => self.key(right, Key::AnyPath),
                Some(op) if WITH_KEYS.contains(&op) => {
                    self.key(left, Key::Any);
                    self.key(right, Key::Any);
                }
                Some(_) | None => {}
            },
            Expr::CompoundFieldAccess { root: _, access_chain } => {
                for index in access_chain.iter().flat_map(subscripts) {
                    self.key(index, Key::Written);
                }
            }
            Expr::Cast { kind: _, expr: inner, data_type, format: _ } if is_json(data_type) => {
                self.key(inner, Key::Json);
                self.new_name(inner);
            }
            _ => {}
        }
    }

    fn place(&self, span: Span) -> Option<usize> {
        token_of(span).and_then(|index| self.found.byte(index))
    }

    /// A function of JSON values or hstores: its arguments may be names, or paths of them. A function that
    /// the operator added may be one, too.
    fn call(&mut self, call: &Call<'_>) {
        let name = call.name.value.as_str();
        let is_json = name.starts_with("json");
        if !is_json && !self.claim.guard.adds_function(name) {
            return;
        }
        let names = functions::find(name).map_or(Keys::None, |function| function.keys);
        for (index, expr) in call.args.iter().filter_map(argument).enumerate() {
            let key = match (names, index) {
                (Keys::Read, 1..) => Key::Written,
                (Keys::Path, 1) => Key::Path,
                _ => Key::Any,
            };
            self.key(expr, key);
            let is_new_name = match names {
                Keys::Pairs => index.is_multiple_of(2),
                Keys::First => index == 0,
                Keys::Second => index == 1,
                Keys::None | Keys::Read | Keys::Path => false,
            };
            if is_new_name {
                self.new_name(expr);
            }
        }
    }

    /// The name of a member that is made: not a caller's.
    fn new_name(&mut self, expr: &Expr) {
        for token in placeholders(expr) {
            self.faults.add(&diagnoses::MEMBER_OF_CALLER, self.found.byte(token), &[]);
        }
    }

    /// Looks at the names that are written, and that they are.
    #[expect(clippy::wildcard_enum_match_arm, reason = "anything else is not written out")]
    fn key(&mut self, expr: &Expr, key: Key) {
        // A number is a position, and in a text the name of a member.
        let mut left = vec![(expr, true)];
        while let Some((next, may_be_position)) = left.pop() {
            match next {
                Expr::Nested(inner)
                | Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr: inner } => {
                    left.push((inner, may_be_position))
                }
                Expr::Cast { kind: _, expr: _, data_type, format: _ }
                    if may_be_position && is_integer(data_type) => {}
                Expr::Cast { kind: _, expr: inner, data_type: _, format: _ } => left.push((inner, false)),
                Expr::Array(array) => left.extend(array.elem.iter().map(|elem| (elem, false))),
                Expr::Value(ValueWithSpan { value: Value::Number(_, _) | Value::Null, span: _ }) => {}
                Expr::Value(value) if text_of(value).is_some() => self.written(value, key),
                Expr::TypedString(typed) => self.written(&typed.value, key),
                other if matches!(key, Key::Written | Key::Path) => {
                    self.faults.add(&diagnoses::MEMBER_UNWRITTEN, self.place(other.span()), &[]);
                }
                _ => {}
            }
        }
    }

    /// A literal that holds names.
    fn written(&mut self, value: &ValueWithSpan, key: Key) {
        let at = self.place(value.span);
        let Some(text) = text_of(value) else { return };
        if is_secret(self.claim, text) {
            self.faults.add(&diagnoses::SECRET_NAME, at, &[&echo(text)]);
        } else if text.contains('\\') || !matches!(key, Key::Any | Key::AnyPath) && text.contains('\'') {
            self.faults.add(&diagnoses::MEMBER_ESCAPED, at, &[]);
        }
        let path: String = text.split_whitespace().collect();
        if matches!(key, Key::Path | Key::AnyPath)
            && [".*", "**", "/*", "keyvalue"].iter().any(|every| path.contains(every))
        {
            self.faults.add(&diagnoses::EVERY_MEMBER_OF_PATH, at, &[]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        super::rule::Rule,
        testing::{case, filter, proven, refused},
    };

    #[test]
    fn no_caller_names_members() {
        refused(
            Rule::SensitiveIdentifier,
            &[
                // A number that becomes a text.
                filter("data #> ARRAY[(:k)::int::text] = '1'").params("k#"),
                filter("data #>> ARRAY[(:k)::int]::text[] = '1'").params("k#"),
                filter("data #>> ARRAY[(:k)::int::text, 'a'] = '1'").params("k#"),
                filter("data ? (:k)::int::text").params("k#"),
                filter("data -> (:k)::int::text IS NOT NULL").params("k#"),
                filter("data -> ((:k)::int::varchar)::text IS NOT NULL").params("k#"),
                // A name that is hidden by an escape.
                filter(r#"data @> '{"api_t\u006fken": 1}'"#),
                filter(r#"data @@ '$."api_t\u006fken" == 1'"#),
                filter(r#"data @@ '$."\x70in" == 1'"#),
                // A new member has a name of the caller's.
                filter("data @> jsonb_build_object(:k, 1)").params("k"),
                filter("data @> jsonb_build_object('a', 1, 'b' || :k, 2)").params("k"),
                filter("data @> jsonb_build_object(VARIADIC ARRAY[:k, 'x'])").params("k"),
                filter("data @> jsonb_object(ARRAY[:k], ARRAY['x'])").params("k"),
                filter("data @> jsonb_object(ARRAY[:k, 'x'])").params("k"),
                filter("data @> (SELECT jsonb_object_agg(:k, 1))").params("k"),
                filter("data @> jsonb_set('{}', ARRAY[:k], '1')").params("k"),
                filter("data @> jsonb_insert('{}', (:k)::text[], '1')").params("k"),
                filter("data @> (:k)::hstore").params("k").guard("@hstore"),
                filter("data @> hstore(:k, 'x')").params("k").guard("@hstore"),
                // Whole values are the caller's, also in arrays.
                filter("data @> ANY (:k::jsonb[])").params("k"),
                filter("data @> ANY (CAST(:k AS _jsonb))").params("k"),
                filter("data @> (:k::jsonb[])[1]").params("k"),
                filter("data @> ANY (:k::hstore[])").params("k").guard("@hstore"),
                // Members of an hstore, and functions that the operator added.
                filter("fetchval(data, :k) = 'x'").params("k").guard("@hstore"),
                filter("fetchval(data, 'password') = 'x'").guard("@hstore"),
                filter("fetchval(data, full_name) = 'x'").guard("@hstore"),
                case("SELECT slice(data, ARRAY[:k]) AS full_name FROM people").params("k").guard("@hstore"),
                case("SELECT slice_array(data, ARRAY['a', :k]) AS full_name FROM people")
                    .params("k")
                    .guard("@hstore"),
                case("SELECT delete(data, :k) AS full_name FROM people").params("k").guard("@hstore"),
                filter("exist(data, :k) AND exists_any(data, ARRAY['a'])").params("k").guard("@hstore"),
                filter("defined(data, 'token')").guard("@hstore"),
                filter("member_of(data, 'token') = 1").guard("member_of"),
            ],
        );
        proven(&[
            filter("data -> (:x)::int = '1'").params("x#"),
            filter("data @> jsonb_build_object('a', :x)").params("x"),
            case("SELECT jsonb_object_agg(full_name, id) AS full_name FROM people"),
            filter("data @> hstore('a', :x)").params("x").guard("@hstore"),
            filter("fetchval(data, 'a') = :x").params("x").guard("@hstore"),
            filter("member_of(data, 'a') = :x").params("x").guard("member_of"),
        ]);
    }
}
