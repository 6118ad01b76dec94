//! Whole rows as values: `p`, `to_json(p)`, `p.to_json`, and every member of a JSON value.

use sqlparser::ast::{AccessExpr, Expr, FunctionArgExpr, Ident};

use super::{
    Rule,
    keys::is_empty_path,
    parts::{Call, argument, value_of},
    walk::Walk,
};
use crate::problem::echo;

/// Functions that take a whole row when they stand behind a dot: `p.to_json` is `to_json(p)` where p has no such column.
const TAKING_ROWS: &[&str] = &[
    "any_out",
    "any_value",
    "anycompatible_out",
    "anycompatiblenonarray_out",
    "anyelement_out",
    "anynonarray_out",
    "array_agg",
    "concat",
    "count",
    "json_agg",
    "json_build_array",
    "json_build_object",
    "jsonb_agg",
    "jsonb_build_array",
    "jsonb_build_object",
    "max",
    "min",
    "num_nonnulls",
    "num_nulls",
    "pg_column_size",
    "pg_typeof",
    "quote_literal",
    "quote_nullable",
    "record_out",
    "record_send",
    "row_to_json",
    "to_json",
    "to_jsonb",
];

/// Functions that give every member of a JSON value or an hstore, whatever its name.
const EVERY_MEMBER: &[&str] = &[
    "avals",
    "each",
    "hstore_to_array",
    "hstore_to_matrix",
    "json_each",
    "json_each_text",
    "json_to_tsvector",
    "jsonb_each",
    "jsonb_each_text",
    "jsonb_pretty",
    "jsonb_to_tsvector",
    "svals",
];

impl<'t> Walk<'_, 't, '_> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "whole rows have these forms only")]
    pub(super) fn rows(&mut self, expr: &'t Expr, scope: Option<usize>) {
        match expr {
            Expr::Identifier(ident) if self.scopes.is_row(scope, &ident.value) => {
                self.whole_row(
                    ident,
                    format!("{} is the whole row of what is called so.", echo(&ident.value)),
                    "Name the columns (what a function gives as x is x.x); if a column is meant, give the table another alias.",
                );
            }
            Expr::CompoundIdentifier(parts) => {
                let [.., relation, field] = parts.as_slice() else { return };
                let column = parts.len() == 2 && self.scopes.is_column(scope, &relation.value, &field.value);
                if !column {
                    self.field(field);
                }
            }
            Expr::CompoundFieldAccess { root: _, access_chain } => {
                for field in access_chain.iter().filter_map(field_of) {
                    self.field(field);
                    self.nameless(field);
                }
            }
            _ => {}
        }
    }

    /// A name behind a dot, which need not be a column.
    fn field(&mut self, field: &'t Ident) {
        let name = field.value.as_str();
        if TAKING_ROWS.contains(&name) || self.claim.guard.adds_function(name) {
            self.whole_row(
                field,
                format!(
                    "Behind a dot {} may be the function of that name, called with the whole row.",
                    echo(name)
                ),
                "If a column is meant, write it without the table's name.",
            );
        }
    }

    /// `(ROW(c)).f1`, and nobody knows where the row was made.
    fn nameless(&mut self, field: &'t Ident) {
        let number = field.value.strip_prefix('f').unwrap_or_default();
        if !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()) {
            self.whole_row(
                field,
                format!(
                    "{} may be a field of ROW(...), whose name does not say what it holds.",
                    echo(&field.value)
                ),
                "Read the value itself, without the row; give a type's field another name.",
            );
        }
    }

    pub(super) fn rows_of_call(&mut self, call: &Call<'t>) {
        let name = call.name.value.as_str();
        let mut path = call.args.iter().skip(1).filter_map(argument);
        let without_path = name.ends_with("_extract_path_text") && path.all(is_empty_path);
        if EVERY_MEMBER.contains(&name) || without_path {
            self.whole_row(
                call.name,
                format!("{} gives every member of a value, whatever its name.", echo(name)),
                "Name the members: data ->> 'name'.",
            );
        }
        let bare = |arg| match value_of(arg) {
            FunctionArgExpr::Wildcard | FunctionArgExpr::WildcardWithOptions(_) => true,
            // `t.*` is seen on the tokens.
            FunctionArgExpr::QualifiedWildcard(_) | FunctionArgExpr::Expr(_) => false,
        };
        if call.args.iter().any(bare) && name != "count" {
            self.whole_row(
                call.name,
                format!("{}(*) takes every column.", echo(name)),
                "Name what it is given.",
            );
        }
    }

    fn whole_row(&mut self, ident: &Ident, text: String, cure: &str) {
        self.faults.add(Rule::WildcardSelect, self.place(ident), text, cure);
    }
}

/// The name behind a dot.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is a name")]
const fn field_of(access: &AccessExpr) -> Option<&Ident> {
    match access {
        AccessExpr::Dot(Expr::Identifier(field)) => Some(field),
        _ => None,
    }
}
