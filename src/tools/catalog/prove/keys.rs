//! Members of JSON values by their names: these must be written, so that a secret's can be seen.

use sqlparser::ast::{
    ArrayElemTypeDef, BinaryOperator, DataType, Expr, Spanned as _, UnaryOperator, Value, ValueWithSpan,
};

use super::{
    Rule,
    flow::may_be_carried,
    names::{is_secret, secret_name},
    output::last_name,
    parts::{Call, argument, placeholders, subscripts},
    walk::Walk,
};
use crate::guard::statement::token_of;

/// Operators whose right side is a key or a path of keys.
pub(super) const BY_KEY: &[&str] = &["->", "->>", "#>", "#>>", "#-", "?", "?&", "?|"];
/// Operators whose sides may hold keys.
const WITH_KEYS: &[&str] = &["@>", "<@", "@@"];
/// Functions whose arguments behind the first are names of an hstore's members.
const OF_HSTORES: &[&str] = &[
    "defined",
    "delete",
    "exist",
    "exists_all",
    "exists_any",
    "fetchval",
    "isdefined",
    "isexists",
    "slice",
    "slice_array",
];
/// Types that are written as numbers, which are no names.
const INTEGERS: &[&str] = &["bigint", "int", "int2", "int4", "int8", "integer", "smallint"];

/// What a key has to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    /// Written out, for what it names is read.
    Written,
    /// Written out, as a path.
    Path,
    /// Anything; what is written is looked at, and must be plain.
    Json,
    /// Anything; what is written is looked at.
    Any,
}

impl<'t> Walk<'_, 't, '_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "other expressions name no members")]
    pub(super) fn keys(&mut self, expr: &'t Expr) {
        match expr {
            Expr::BinaryOp { left, op, right } => match operator(op) {
                Some("#>>") if is_empty_path(right) => self.faults.add(
                    Rule::WildcardSelect,
                    token_of(right.span()).and_then(|index| self.byte(index)),
                    "The empty path takes the whole JSON value as a text.",
                    "Name a member, or take the value itself.",
                ),
                Some(op) if BY_KEY.contains(&op) => self.key(right, Key::Written),
                Some("@?") => self.key(right, Key::Path),
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

    fn named_by_caller(&mut self, token: usize) {
        self.faults.add(
            Rule::SensitiveIdentifier,
            self.byte(token),
            "Here a parameter names the members of a value, a secret's too.",
            "Write the names, and take single values as parameters.",
        );
    }

    /// A function of JSON values or hstores: its arguments may be names, or paths of them. Of one that is not PostgreSQL's
    /// own nobody knows.
    pub(super) fn keys_of_call(&mut self, call: &Call<'t>) {
        let name = call.name.value.as_str();
        let is_json = name.starts_with("json");
        if !is_json && !self.claim.guard.adds_function(name) {
            return;
        }
        let by_name = name.contains("_extract_path") || OF_HSTORES.contains(&name);
        let by_path = name.starts_with("jsonb_path_");
        for (index, expr) in call.args.iter().filter_map(argument).enumerate() {
            let key = match index {
                0 => Key::Any,
                _ if by_name => Key::Written,
                1 if by_path => Key::Path,
                _ => Key::Any,
            };
            self.key(expr, key);
            if is_name_of_member(name, index, call.args.len()) {
                self.new_name(expr);
            }
        }
    }

    /// The name of a member that is made: no caller's.
    fn new_name(&mut self, expr: &'t Expr) {
        let tokens = placeholders(expr);
        if tokens.is_empty() && may_be_carried(expr) {
            let at = token_of(expr.span()).and_then(|index| self.byte(index));
            self.gathered.column_keys.push(at);
        }
        tokens.into_iter().for_each(|token| self.named_by_caller(token));
    }

    /// Names that are taken from columns, when a parameter can come by way of one.
    pub(super) fn keys_by_columns(&mut self) {
        if self.gathered.carried.is_empty() {
            return;
        }
        for at in std::mem::take(&mut self.gathered.column_keys) {
            self.faults.add(
                Rule::SensitiveIdentifier,
                at,
                "A parameter can reach this name of a member by way of a column.",
                "Write the name, or take the parameter where it is compared.",
            );
        }
    }

    /// Looks at the names that are written, and that they are.
    #[expect(clippy::wildcard_enum_match_arm, reason = "anything else is not written out")]
    fn key(&mut self, expr: &'t Expr, key: Key) {
        let mut left = vec![expr];
        while let Some(next) = left.pop() {
            match next {
                Expr::Nested(inner)
                | Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr: inner } => {
                    left.push(inner)
                }
                Expr::Cast { kind: _, expr: _, data_type, format: _ } if is_integer(data_type) => {}
                Expr::Cast { kind: _, expr: inner, data_type: _, format: _ } => left.push(inner),
                Expr::Array(array) => left.extend(&array.elem),
                Expr::Value(ValueWithSpan { value: Value::Number(_, _) | Value::Null, span: _ }) => {}
                Expr::Value(value) if text_of(value).is_some() => self.written(value, key),
                Expr::TypedString(typed) => self.written(&typed.value, key),
                other if matches!(key, Key::Written | Key::Path) => {
                    self.faults.add(
                        Rule::SensitiveIdentifier,
                        token_of(other.span()).and_then(|index| self.byte(index)),
                        "Which member this names is not written here, so that a secret's name cannot be seen.",
                        "Write the name as a literal: data ->> 'name'; a number as x::int.",
                    );
                }
                _ => {}
            }
        }
    }

    /// A literal that holds names.
    fn written(&mut self, value: &ValueWithSpan, key: Key) {
        let at = token_of(value.span).and_then(|index| self.byte(index));
        let Some(text) = text_of(value) else { return };
        if is_secret(self.claim, text) {
            secret_name(text, at, self.faults);
        } else if key != Key::Any && text.contains(['\\', '\'']) {
            self.faults.add(
                Rule::SensitiveIdentifier,
                at,
                "Escapes in the name of a member can hide a secret's.",
                "Write it in one piece, without backslashes and quotes.",
            );
        }
        let path: String = text.split_whitespace().collect();
        if key == Key::Path && [".*", "**", "/*", "keyvalue"].iter().any(|every| path.contains(every)) {
            self.faults.add(
                Rule::WildcardSelect,
                at,
                "This path takes every member of a JSON value, whatever its name.",
                "Name the members; [*] for all elements of an array is fine.",
            );
        }
    }
}

/// An operator as it is written, if it can have to do with JSON.
#[expect(clippy::wildcard_enum_match_arm, reason = "other operators take no keys")]
pub(super) fn operator(operator: &BinaryOperator) -> Option<&str> {
    match operator {
        BinaryOperator::Custom(text) => Some(text),
        BinaryOperator::QuestionPipe => Some("?|"),
        BinaryOperator::AtAt => Some("@@"),
        BinaryOperator::StringConcat => Some("||"),
        _ => None,
    }
}

/// `'{}'`
#[expect(clippy::wildcard_enum_match_arm, reason = "other paths are looked at as keys")]
pub(super) fn is_empty_path(mut path: &Expr) -> bool {
    loop {
        path = match path {
            Expr::Nested(inner) | Expr::Cast { kind: _, expr: inner, data_type: _, format: _ } => inner,
            Expr::Array(array) => return array.elem.is_empty(),
            Expr::Value(value) => {
                return text_of(value).is_some_and(|text| !text.contains(char::is_alphanumeric));
            }
            _ => return false,
        };
    }
}

fn is_json(data_type: &DataType) -> bool {
    element_name(data_type).is_some_and(|name| matches!(name, "hstore" | "json" | "jsonb" | "jsonpath"))
}

/// Whether a function makes a member of this argument's name.
fn is_name_of_member(function: &str, index: usize, count: usize) -> bool {
    match function {
        "json_build_object" | "jsonb_build_object" => index.is_multiple_of(2),
        "json_object" | "jsonb_object" | "json_object_agg" | "jsonb_object_agg" => index == 0,
        "hstore" => index == 0 || count == 1,
        "jsonb_insert" | "jsonb_set" | "jsonb_set_lax" => index == 1,
        _ => false,
    }
}

fn is_integer(data_type: &DataType) -> bool {
    type_name(data_type).is_some_and(|name| INTEGERS.contains(&name))
}

/// The name of a type, or of what the elements of an array are.
pub(super) fn element_name(mut data_type: &DataType) -> Option<&str> {
    while let DataType::Array(
        ArrayElemTypeDef::SquareBracket(element, _) | ArrayElemTypeDef::Qualified(element, _),
    ) = data_type
    {
        data_type = element;
    }
    type_name(data_type).map(|name| name.strip_prefix('_').unwrap_or(name))
}

/// The name of a type, as it is written.
#[expect(clippy::wildcard_enum_match_arm, reason = "the types of the grammar are no JSON")]
fn type_name(data_type: &DataType) -> Option<&str> {
    match data_type {
        DataType::Custom(name, _) => last_name(name),
        _ => None,
    }
}

/// The text of a literal, with its escapes.
#[expect(clippy::wildcard_enum_match_arm, reason = "other literals name nothing")]
fn text_of(ValueWithSpan { value, span: _ }: &ValueWithSpan) -> Option<&str> {
    match value {
        Value::SingleQuotedString(text) | Value::EscapedStringLiteral(text) => Some(text),
        Value::DollarQuotedString(text) => Some(&text.value),
        _ => None,
    }
}
