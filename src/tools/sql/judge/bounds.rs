//! Upper bounds of constants: what literals, operators and calls can make of them.

use sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, UnaryOperator, Value, ValueWithSpan,
};

/// Digits of the largest `numeric`, before and behind the point.
pub(super) const NUMERIC_BYTES: u64 = 147_456;
/// What any value takes at least.
pub(super) const SMALL: u64 = 16;
/// Functions that pad to a length or repeat, and those that multiply in other ways.
pub(super) const AMPLIFYING: &[&str] = &[
    "array_fill",
    "array_to_string",
    "concat_ws",
    "exp",
    "factorial",
    "format",
    "jsonb_pretty",
    "lpad",
    "polygon",
    "pow",
    "power",
    "regexp_replace",
    "repeat",
    "replace",
    "rpad",
    "ts_headline",
];

/// Functions whose result can be some times as long as their arguments: escapes, encodings, markup. Each may be six
/// bytes where one was.
pub(super) const GROWING: &[&str] = &[
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

/// Functions of one number, or of which one argument is the result.
const KEEPING_NUMBERS: &[&str] = &[
    "abs", "ceil", "ceiling", "coalesce", "floor", "greatest", "int4", "int8", "least", "nullif", "round",
    "trunc",
];

/// Upper bounds of a constant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Bound {
    /// Of its text or binary form.
    pub(super) bytes: u64,
    /// Of its value, without the sign, when it is a number.
    pub(super) number: u64,
}

impl Bound {
    pub(super) const UNBOUNDED: Self = Self { bytes: u64::MAX, number: u64::MAX };

    pub(super) const fn of_bytes(bytes: u64) -> Self {
        Self { bytes, number: u64::MAX }
    }

    pub(super) fn max(self, other: Self) -> Self {
        Self { bytes: self.bytes.max(other.bytes), number: self.number.max(other.number) }
    }
}

/// The bound of a call whose arguments are all constants.
pub(super) fn of_constants(name: &str, args: &[FunctionArg], bounds: &[Bound]) -> Bound {
    let sum = bounds.iter().fold(SMALL, |sum, bound| sum.saturating_add(bound.bytes));
    let most = bounds.iter().fold(0, |most, bound| most.max(bound.number));
    let first = bounds.first().map_or(0, |bound| bound.bytes);
    match name {
        "format" => {
            let numbers =
                bounds.iter().skip(1).map(|bound| bound.number).filter(|number| *number != u64::MAX);
            let star = numbers.max().unwrap_or(u64::MAX);
            let widths = args.first().and_then(argument).map_or(u64::MAX, |template| widths(template, star));
            Bound::of_bytes(first.saturating_mul(sum).saturating_add(widths))
        }
        "jsonb_pretty" => Bound::of_bytes(first.saturating_mul(first)),
        "exp" | "factorial" | "pow" | "power" => Bound::of_bytes(NUMERIC_BYTES),
        "array_to_string" | "concat_ws" | "regexp_replace" | "replace" | "ts_headline" => {
            let product =
                bounds.iter().fold(1_u64, |product, bound| product.saturating_mul(bound.bytes.max(1)));
            Bound::of_bytes(product.saturating_add(sum))
        }
        "char_length" | "character_length" | "length" | "octet_length" => {
            Bound { bytes: SMALL, number: first }
        }
        _ if KEEPING_NUMBERS.contains(&name) => Bound { bytes: sum, number: most },
        _ if GROWING.contains(&name) => Bound::of_bytes(sum.saturating_mul(6)),
        _ => Bound::of_bytes(sum),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "any other operator's number counts as unbounded")]
pub(super) fn operation(op: &BinaryOperator, left: Bound, right: Bound) -> Bound {
    let bytes = left.bytes.saturating_add(right.bytes);
    match op {
        BinaryOperator::Plus | BinaryOperator::Minus => {
            Bound { bytes, number: left.number.saturating_add(right.number) }
        }
        BinaryOperator::Multiply => Bound { bytes, number: left.number.saturating_mul(right.number) },
        BinaryOperator::Modulo => Bound { bytes, number: right.number },
        BinaryOperator::PGExp => Bound::of_bytes(bytes.saturating_add(NUMERIC_BYTES)),
        _ => Bound::of_bytes(bytes),
    }
}

pub(super) fn argument(argument: &FunctionArg) -> Option<&Expr> {
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

#[expect(clippy::wildcard_enum_match_arm, reason = "other literals have no text")]
pub(super) fn literal_text(ValueWithSpan { value, span: _ }: &ValueWithSpan) -> &str {
    match value {
        Value::Number(text, _)
        | Value::SingleQuotedString(text)
        | Value::EscapedStringLiteral(text)
        | Value::SingleQuotedByteStringLiteral(text)
        | Value::HexStringLiteral(text) => text,
        Value::DollarQuotedString(text) => &text.value,
        _ => "",
    }
}

pub(super) fn literal(value: &ValueWithSpan) -> Bound {
    let text = literal_text(value);
    let written = u64::try_from(text.len()).unwrap_or(u64::MAX).max(1);
    let exponent = matches!(value.value, Value::Number(_, _)) && text.contains(['e', 'E']);
    let bytes = if exponent { written.saturating_add(NUMERIC_BYTES) } else { written };
    // Digits before the point, rounded up; what is no number has no bound as one.
    let whole = text.trim().trim_start_matches(['-', '+']).split('.').next().unwrap_or_default();
    let number = match whole.parse::<u64>() {
        Ok(number) if !exponent => number.saturating_add(u64::from(text.contains('.'))),
        Err(_) if whole.is_empty() => 1,
        Ok(_) | Err(_) => u64::MAX,
    };
    Bound { bytes, number }
}

/// A whole number that is written down, without its sign; zero for anything else.
#[expect(clippy::wildcard_enum_match_arm, reason = "zero stands for anything else")]
pub(super) fn whole(expr: &Expr) -> u64 {
    match expr {
        Expr::Value(value) => literal_text(value).parse().unwrap_or_default(),
        Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr: inner }
        | Expr::Nested(inner) => whole(inner),
        _ => 0,
    }
}

/// How wide the fields of a `format` are together; `star` is the largest number among its arguments, which `*` reads.
pub(super) fn widths(template: &Expr, star: u64) -> u64 {
    let Expr::Value(value) = template else { return u64::MAX };
    literal_text(value).split('%').skip(1).fold(0, |sum: u64, field| {
        let (spec, _) = field.split_once(|c: char| c.is_ascii_alphabetic()).unwrap_or((field, ""));
        let star = if spec.contains('*') { star } else { 0 };
        let digits = spec.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
        let width = digits.fold(0, |sum: u64, digits| sum.saturating_add(digits.parse().unwrap_or(u64::MAX)));
        sum.saturating_add(star).saturating_add(width)
    })
}
