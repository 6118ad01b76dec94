//! How large a constant expression can get. PostgreSQL computes constants while it plans, before any limit of a run
//! holds: `repeat('x', 1000000000)` takes a gigabyte in `EXPLAIN` already.
//!
//! The bound is coarse and from above. What reads columns or rows is not computed while planning and has none.

use sqlparser::ast::{
    Array, CaseWhen, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments,
    ObjectName, ObjectNamePart, TypedString, UnaryOperator, Value, ValueWithSpan,
};

/// The most that all constants of a statement may grow to, in bytes.
pub(super) const MAX_CONSTANT_BYTES: u64 = 1_048_576;

/// Digits of the largest `numeric`, before and behind the point.
const NUMERIC_BYTES: u64 = 147_456;
/// What any value takes at least.
const SMALL: u64 = 16;

/// Functions whose result can be some times as long as their arguments: escapes, encodings, markup. Each may be six
/// bytes where one was.
const GROWING: &[&str] = &[
    "array_to_json",
    "casefold",
    "concat",
    "convert",
    "convert_from",
    "convert_to",
    "encode",
    "initcap",
    "json_build_array",
    "json_build_object",
    "json_object",
    "json_strip_nulls",
    "jsonb_build_array",
    "jsonb_build_object",
    "jsonb_insert",
    "jsonb_object",
    "jsonb_set",
    "jsonb_set_lax",
    "jsonb_strip_nulls",
    "lower",
    "normalize",
    "parse_ident",
    "quote_ident",
    "quote_literal",
    "quote_nullable",
    "regexp_match",
    "regexp_matches",
    "regexp_split_to_array",
    "row_to_json",
    "string_to_array",
    "to_ascii",
    "to_char",
    "to_json",
    "to_jsonb",
    "to_tsvector",
    "translate",
    "tsvector_to_array",
    "unistr",
    "upper",
];

/// Functions that put one argument into another again and again.
const MULTIPLYING: &[&str] = &["array_to_string", "concat_ws", "regexp_replace", "replace", "ts_headline"];

/// Functions that read rows, so that nothing is computed while planning.
const OF_ROWS: &[&str] = &[
    "array_agg",
    "avg",
    "bool_and",
    "bool_or",
    "count",
    "every",
    "generate_series",
    "generate_subscripts",
    "json_agg",
    "json_object_agg",
    "jsonb_agg",
    "jsonb_object_agg",
    "max",
    "min",
    "string_agg",
    "sum",
    "unnest",
];

/// The most bytes a call's result can take when PostgreSQL computes it while planning; `None`: it does not, or the
/// call cannot amplify anything.
pub(super) fn of_call(function: &Function) -> Option<u64> {
    let name = name_of(&function.name)?;
    let amplifies = matches!(name, "repeat" | "lpad" | "rpad" | "array_fill" | "format" | "jsonb_pretty")
        || GROWING.contains(&name)
        || MULTIPLYING.contains(&name)
        || matches!(name, "exp" | "factorial" | "pow" | "power");
    if amplifies { call(function) } else { None }
}

fn name_of(ObjectName(parts): &ObjectName) -> Option<&str> {
    match parts.last()? {
        ObjectNamePart::Identifier(ident) => Some(&ident.value),
        ObjectNamePart::Function(_) => None,
    }
}

fn call(function: &Function) -> Option<u64> {
    let name = name_of(&function.name)?;
    if function.over.is_some() || OF_ROWS.contains(&name) {
        return None;
    }
    let arguments = match &function.args {
        FunctionArguments::None => Vec::new(),
        FunctionArguments::Subquery(_) => return None,
        FunctionArguments::List(FunctionArgumentList { args, .. }) => {
            args.iter().map(argument).collect::<Option<Vec<_>>>()?
        }
    };
    let sizes = arguments.iter().map(|expr| bytes(expr)).collect::<Option<Vec<_>>>();
    let sum = sizes.as_ref().map(|sizes| sizes.iter().fold(SMALL, |sum, size| sum.saturating_add(*size)));
    let times = |index: usize| arguments.get(index).map_or(Some(0), |expr| number(expr));
    match name {
        // The count alone decides: also a text from a column is multiplied by it.
        "repeat" => {
            let count = times(1)?;
            Some(sizes.as_ref().and_then(|s| s.first().copied()).unwrap_or(1).saturating_mul(count))
        }
        "lpad" | "rpad" => Some(times(1)?.saturating_mul(4)),
        "array_fill" => {
            let elements = match arguments.get(1).copied() {
                Some(Expr::Array(Array { elem, named: _ })) => elem
                    .iter()
                    .try_fold(1_u64, |product, dimension| Some(product.saturating_mul(number(dimension)?)))?,
                Some(other) => bytes(other).map(|_| u64::MAX)?,
                None => 0,
            };
            Some(elements.saturating_mul(SMALL))
        }
        "format" => Some(format(arguments.first().copied()?)?.saturating_mul(sum.unwrap_or(1).max(1))),
        "jsonb_pretty" => sum.map(|sum| sum.saturating_mul(sum)),
        "exp" | "factorial" | "pow" | "power" => sum.map(|sum| sum.saturating_add(NUMERIC_BYTES)),
        name if MULTIPLYING.contains(&name) => {
            let product = |sizes: &Vec<u64>| {
                sizes.iter().fold(1_u64, |p, size| p.saturating_mul(size.saturating_add(1)))
            };
            sizes.as_ref().map(product)
        }
        name if GROWING.contains(&name) => sum.map(|sum| sum.saturating_mul(6)),
        _ => sum,
    }
}

fn argument(argument: &FunctionArg) -> Option<&Expr> {
    let value = match argument {
        FunctionArg::Unnamed(value)
        | FunctionArg::Named { name: _, arg: value, operator: _ }
        | FunctionArg::ExprNamed { name: _, arg: value, operator: _ } => value,
    };
    match value {
        FunctionArgExpr::Expr(expr) => Some(expr),
        FunctionArgExpr::QualifiedWildcard(_)
        | FunctionArgExpr::Wildcard
        | FunctionArgExpr::WildcardWithOptions(_) => None,
    }
}

/// The most bytes of an expression's value; `None` when it reads columns or rows.
fn bytes(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Value(value) | Expr::TypedString(TypedString { value, .. }) => Some(literal(value)),
        Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } | Expr::Collate { expr: inner, .. } => {
            bytes(inner)
        }
        Expr::Cast { expr: inner, .. } => {
            Some(bytes(inner)?.saturating_mul(2).saturating_add(exponent_of(inner)))
        }
        Expr::BinaryOp { left, op, right } => {
            let grown = if matches!(op, sqlparser::ast::BinaryOperator::PGExp) { NUMERIC_BYTES } else { 0 };
            Some(bytes(left)?.saturating_add(bytes(right)?).saturating_add(grown))
        }
        Expr::Array(Array { elem: items, named: _ }) | Expr::Tuple(items) => {
            items.iter().try_fold(SMALL, |sum, item| Some(sum.saturating_add(bytes(item)?)))
        }
        Expr::Case { operand: _, conditions, else_result, .. } => {
            let results = conditions.iter().map(|CaseWhen { condition: _, result }| result);
            results
                .chain(else_result.as_deref())
                .try_fold(SMALL, |sum, result| Some(sum.saturating_add(bytes(result)?)))
        }
        Expr::Substring { expr: inner, .. } | Expr::Trim { expr: inner, .. } => bytes(inner),
        Expr::Overlay { expr: inner, overlay_what, .. } => {
            Some(bytes(inner)?.saturating_add(bytes(overlay_what)?))
        }
        Expr::Function(function) => call(function),
        _ => None,
    }
}

/// A cast of text to `numeric` writes out an exponent.
fn exponent_of(expr: &Expr) -> u64 {
    match expr {
        Expr::Value(value) if literal_text(value).is_some_and(|text| !text.contains(['e', 'E'])) => 0,
        Expr::Value(_) => NUMERIC_BYTES,
        _ => 0,
    }
}

fn literal_text(ValueWithSpan { value, span: _ }: &ValueWithSpan) -> Option<&str> {
    match value {
        Value::Number(text, _)
        | Value::SingleQuotedString(text)
        | Value::EscapedStringLiteral(text)
        | Value::SingleQuotedByteStringLiteral(text)
        | Value::HexStringLiteral(text) => Some(text),
        Value::DollarQuotedString(text) => Some(&text.value),
        _ => None,
    }
}

fn literal(value: &ValueWithSpan) -> u64 {
    let text = literal_text(value).unwrap_or_default();
    let written = u64::try_from(text.len()).unwrap_or(u64::MAX).max(1);
    match &value.value {
        Value::Number(number, _) if number.contains(['e', 'E']) => written.saturating_add(NUMERIC_BYTES),
        _ => written,
    }
}

/// The largest value of a count; `None` when it reads columns or rows, the largest possible when it is a constant
/// that is not simply written down.
fn number(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => number(inner),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner } => number(inner).map(|_| 0),
        Expr::Value(value) => {
            let text = literal_text(value).unwrap_or("0").trim();
            Some(text.parse().unwrap_or(u64::MAX))
        }
        other => bytes(other).map(|_| u64::MAX),
    }
}

/// How many times the arguments of `format` can appear, and how wide its fields are.
fn format(template: &Expr) -> Option<u64> {
    let Expr::Value(value) = template else { return bytes(template).map(|_| u64::MAX) };
    let text = literal_text(value).unwrap_or_default();
    let mut size = u64::try_from(text.len()).unwrap_or(u64::MAX);
    for field in text.split('%').skip(1) {
        let spec: &str = field.split_once(|c: char| c.is_ascii_alphabetic()).map_or(field, |(spec, _)| spec);
        if spec.contains('*') {
            return Some(u64::MAX);
        }
        for digits in spec.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()) {
            size = size.saturating_add(digits.parse().unwrap_or(u64::MAX));
        }
    }
    Some(size)
}
