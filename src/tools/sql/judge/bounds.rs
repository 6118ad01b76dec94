//! Upper bounds of constants: what literals, operators and calls can make of them.

use sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, TypedString,
    UnaryOperator, Value, ValueWithSpan,
};

use super::{
    growth::{counts, keeps_numbers, lengthens},
    names::last_name,
};

/// Digits of the largest `numeric`, before and behind the point.
pub(super) const NUMERIC_BYTES: u64 = 147_456;
/// What any value takes at least.
pub(super) const SMALL: u64 = 16;
/// What a number from a table counts as: a plain column may be a count, multiplied by a thousand it may not.
pub(super) const TABLE_NUMBER: u64 = 10_000;
/// The most that one constant may grow to, in bytes.
pub(super) const MAX_CONSTANT_BYTES: u64 = 1_048_576;
/// The most corners of a polygon that is made of a circle: distances between polygons are quadratic, and nothing
/// cancels them.
const MAX_CORNERS: u64 = 1_000;
/// The longest operand of a power: nothing cancels it.
const MAX_POWER_OPERAND: u64 = 1_000;
/// The most pairs of elements that two arrays are compared by, or two texts, polygons or numbers: nothing cancels it.
pub(super) const MAX_PAIRS: u64 = 100_000_000;
/// Functions that look for one text in another, position by position.
const SEARCHING: &[&str] = &[
    "btrim",
    "ltrim",
    "position",
    "replace",
    "rtrim",
    "split_part",
    "string_to_array",
    "string_to_table",
    "strpos",
    "translate",
    "trim",
];
/// The most positions of a word that a `tsvector` keeps.
const POSITIONS_OF_WORD: u64 = 256;
/// Functions of two numbers, whose digits are multiplied with each other.
const MULTIPLYING: &[&str] = &["div", "gcd", "lcm", "mod"];
/// Upper bounds of a constant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Bound {
    /// Of its text or binary form.
    pub(super) bytes: u64,
    /// Of its value, without the sign, when it is a number.
    pub(super) number: u64,
}

impl Bound {
    const UNBOUNDED: Self = Self { bytes: u64::MAX, number: u64::MAX };
    /// Of nothing.
    pub(super) const NONE: Self = Self { bytes: 1, number: 0 };
    /// Of what is read from a table.
    pub(super) const TABLE: Self = Self { bytes: SMALL, number: TABLE_NUMBER };

    pub(super) const fn of_bytes(bytes: u64) -> Self {
        Self { bytes, number: u64::MAX }
    }

    pub(super) fn max(self, other: Self) -> Self {
        Self { bytes: self.bytes.max(other.bytes), number: self.number.max(other.number) }
    }
}

/// The bound of a call.
pub(super) fn of_call(name: &str, args: &[FunctionArg], bounds: &[Bound]) -> Bound {
    let sum = bounds.iter().fold(SMALL, |sum, bound| sum.saturating_add(bound.bytes));
    let most = bounds.iter().fold(1, |most, bound| most.max(bound.number));
    let nth = |index: usize| bounds.get(index).copied().unwrap_or(Bound::NONE);
    let expr = |index: usize| args.get(index).and_then(argument);
    let first = nth(0).bytes;
    match name {
        "repeat" | "lpad" | "rpad" => {
            let unit = if name == "repeat" { first } else { 4 };
            let most = expr(1).map_or(u64::MAX, limit);
            Bound::of_bytes(nth(1).number.min(most).saturating_mul(unit))
        }
        "polygon" if args.len() > 1 => match expr(0).map_or(0, whole) {
            corners @ 1..=MAX_CORNERS => Bound::of_bytes(corners.saturating_mul(16)),
            _ => Bound::UNBOUNDED,
        },
        "array_fill" => {
            let dimensions = expr(1);
            let cells = dimensions.and_then(cells).unwrap_or_else(|| {
                let dimensions = dimensions.map_or(1, items);
                nth(1).number.saturating_pow(u32::try_from(dimensions).unwrap_or(u32::MAX))
            });
            Bound::of_bytes(cells.saturating_mul(first.max(SMALL)))
        }
        "format" => format(expr(0), args, bounds, sum),
        "jsonb_pretty" => {
            let depth = expr(0).and_then(literal_of).map_or(first, |text| depth(literal_text(text)));
            Bound::of_bytes(first.saturating_mul(depth.saturating_mul(4).saturating_add(2)))
        }
        "exp" => power(nth(0), Bound::of_bytes(SMALL)),
        "pow" | "power" => power(nth(0), nth(1)),
        "factorial" => Bound::of_bytes(NUMERIC_BYTES),
        "replace" | "regexp_replace" if args.iter().all(|arg| matches!(arg, FunctionArg::Unnamed(_))) => {
            let each = first.saturating_add(1).saturating_mul(nth(2).bytes.max(1));
            Bound::of_bytes(each.saturating_add(sum))
        }
        "array_to_string" | "concat_ws" => {
            let rest = nth(1).bytes.saturating_add(nth(2).bytes);
            let separated = if name == "concat_ws" { sum } else { rest };
            Bound::of_bytes(first.saturating_mul(separated).saturating_add(sum))
        }
        // By name, as PostgreSQL 18 allows for the second, arguments stand in any order.
        "ts_headline" | "replace" | "regexp_replace" => {
            let product =
                bounds.iter().fold(1_u64, |product, bound| product.saturating_mul(bound.bytes.max(1)));
            Bound::of_bytes(product.saturating_add(sum))
        }
        _ if name.starts_with("jsonb_path_") => {
            match named(args, "path").or(expr(1)).and_then(literal_of).map(literal_text) {
                Some(path) => Bound::of_bytes(descent(path, sum).saturating_add(sum)),
                None => Bound::UNBOUNDED,
            }
        }
        "json_build_array" | "json_build_object" | "jsonb_build_array" | "jsonb_build_object" => {
            built(args, bounds)
        }
        _ if counts(name) => Bound { bytes: SMALL, number: sum.max(TABLE_NUMBER) },
        _ if keeps_numbers(name) => Bound { bytes: sum.saturating_sub(SMALL).max(8), number: most },
        _ if lengthens(name) => Bound::of_bytes(sum.saturating_mul(6)),
        _ => Bound::of_bytes(sum),
    }
}

/// The argument that is given by this name.
fn named<'t>(args: &'t [FunctionArg], wanted: &str) -> Option<&'t Expr> {
    args.iter().find_map(|arg| match arg {
        FunctionArg::Named { name, arg: _, operator: _ } if name.value == wanted => argument(arg),
        FunctionArg::ExprNamed { name: Expr::Identifier(name), arg: _, operator: _ }
            if name.value == wanted =>
        {
            argument(arg)
        }
        FunctionArg::Named { .. } | FunctionArg::ExprNamed { .. } | FunctionArg::Unnamed(_) => None,
    })
}

/// In how many steps a call compares its arguments, while nothing can cancel it.
pub(super) fn pairs_of_call(name: &str, args: &[FunctionArg], bounds: &[Bound]) -> u64 {
    let bytes = |index: usize| bounds.get(index).map_or(0, |bound| bound.bytes);
    match name {
        // Marks are put in order by exchanging neighbours.
        "normalize" | "is_normalized" => pairs_of_marks(bytes(0)),
        // A vector and a query, perhaps behind weights.
        "ts_rank" | "ts_rank_cd" => {
            pairs_of_ranking(bytes(0), bytes(1)).max(pairs_of_ranking(bytes(1), bytes(2)))
        }
        _ if name.starts_with("jsonb_path_") => {
            let path = named(args, "path").or(args.get(1).and_then(argument));
            pairs_of_path(bounds.iter().map(|bound| bound.bytes).max().unwrap_or_default(), path)
        }
        _ if SEARCHING.contains(&name) => bytes(0).saturating_mul(bytes(1)),
        _ if MULTIPLYING.contains(&name) => pairs(bytes(0), bytes(1), 4),
        _ => 0,
    }
}

/// In how many steps an operator compares its operands, while nothing can cancel it.
#[expect(clippy::wildcard_enum_match_arm, reason = "any other operator looks at each operand once")]
pub(super) fn pairs_of_operation(op: &BinaryOperator, left: Bound, right: Bound, written: &Expr) -> u64 {
    match op {
        BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Modulo
        | BinaryOperator::Minus => pairs(left.bytes, right.bytes, 4),
        BinaryOperator::Custom(op) => match op.as_str() {
            "~~" | "!~~" | "~~*" | "!~~*" => left.bytes.saturating_mul(right.bytes),
            "~=" => pairs(left.bytes, right.bytes, 4),
            // Of arrays, and of JSON, in which an element may be two bytes.
            "@?" => pairs_of_path(left.bytes, Some(written)),
            "&&" | "@>" | "<@" | "?&" => pairs(left.bytes, right.bytes, 2),
            // Of shapes: every edge with every other, which takes as long as a hundred simple steps.
            "<->" | "?#" | "##" => pairs(left.bytes, right.bytes, 4).saturating_mul(100),
            _ => 0,
        },
        BinaryOperator::QuestionPipe => pairs(left.bytes, right.bytes, 2),
        BinaryOperator::AtAt => pairs_of_path(left.bytes, Some(written)),
        _ => 0,
    }
}

/// The steps of a path of a JSON value: a comparison in it may be of all members with all.
fn pairs_of_path(json: u64, path: Option<&Expr>) -> u64 {
    let compares = path.and_then(literal_of).is_none_or(|path| literal_text(path).contains(['<', '>', '=']));
    if compares { pairs(json, json, 2) } else { 0 }
}

/// The steps of ranking: every position of a word that is asked for with every one of the others.
fn pairs_of_ranking(vector: u64, query: u64) -> u64 {
    let positions = (vector / 2).min((query / 2).saturating_mul(POSITIONS_OF_WORD));
    positions.saturating_mul(positions)
}

/// The steps of putting so many bytes of combining marks in order.
pub(super) fn pairs_of_marks(bytes: u64) -> u64 {
    pairs(bytes, bytes, 4)
}

/// Pairs of elements, each of so many bytes at least.
const fn pairs(left: u64, right: u64, element: u64) -> u64 {
    (left / element).saturating_mul(right / element)
}

/// What `json_build_object` and its like give: text may be escaped, JSON is taken as it is.
fn built(args: &[FunctionArg], bounds: &[Bound]) -> Bound {
    let parts = args.iter().zip(bounds);
    Bound::of_bytes(parts.fold(SMALL, |sum, (part, bound)| {
        let times = if argument(part).is_some_and(is_json) { 1 } else { 6 };
        sum.saturating_add(bound.bytes.saturating_mul(times))
    }))
}

/// Whether this is a JSON value for certain, which is not escaped once more.
fn is_json(expr: &Expr) -> bool {
    matches!(expr, Expr::Function(function) if matches!(
        last_name(&function.name),
        "json_agg" | "json_build_array" | "json_build_object" | "jsonb_agg" | "jsonb_build_array" | "jsonb_build_object"
    ))
}

/// The limit that a count has: `least(n, 1000)`.
#[expect(clippy::wildcard_enum_match_arm, reason = "anything else has no limit")]
fn limit(count: &Expr) -> u64 {
    match count {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => limit(inner),
        Expr::Function(Function { name, args: FunctionArguments::List(list), .. })
            if last_name(name) == "least" =>
        {
            let literals = list.args.iter().filter_map(argument).map(whole).filter(|n| *n > 0);
            literals.min().unwrap_or(u64::MAX)
        }
        _ => u64::MAX,
    }
}

/// What a path of a JSON value can give: with `**` a value and all within it, with two of them all within all.
fn descent(path: &str, json: u64) -> u64 {
    match path.matches("**").count() {
        0 => json,
        1 => json.saturating_mul(json),
        _ => u64::MAX,
    }
}

fn format(template: Option<&Expr>, args: &[FunctionArg], bounds: &[Bound], sum: u64) -> Bound {
    let written = template.and_then(literal_of);
    let from_table = bounds.first() == Some(&Bound::TABLE);
    // What `*` may read: anything but text that is no number.
    let text = |arg: &FunctionArg, bound: &Bound| {
        bound.number == u64::MAX && argument(arg).and_then(literal_of).is_some()
    };
    let numbers = args.iter().zip(bounds).skip(1).filter(|(arg, bound)| !text(arg, bound));
    let star = numbers.fold(0, |most, (_, bound)| bound.number.max(most));
    let widths = match written {
        Some(text) => widths(literal_text(text), star),
        None if from_table => 0,
        None => u64::MAX,
    };
    let fields = written.map_or(1, |text| literal_text(text).matches('%').count());
    let values = u64::try_from(fields).unwrap_or(u64::MAX).saturating_add(1).saturating_mul(sum);
    Bound::of_bytes(values.saturating_add(widths))
}

/// `left ^ right`.
fn power(left: Bound, right: Bound) -> Bound {
    if left.bytes.max(right.bytes) > MAX_POWER_OPERAND {
        return Bound::UNBOUNDED;
    }
    let digits = left.bytes.saturating_mul(right.number);
    Bound::of_bytes(SMALL.saturating_add(digits.min(NUMERIC_BYTES)))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "any other operator's number counts as unbounded")]
pub(super) fn operation(op: &BinaryOperator, left: Bound, right: Bound, written: &Expr) -> Bound {
    let bytes = left.bytes.saturating_add(right.bytes);
    let number = match op {
        BinaryOperator::Plus | BinaryOperator::Minus => left.number.saturating_add(right.number),
        BinaryOperator::Multiply => left.number.saturating_mul(right.number),
        // What a table holds counts as at least one.
        BinaryOperator::Divide if whole(written) > 0 || right.number >= TABLE_NUMBER => left.number,
        BinaryOperator::Modulo => right.number,
        BinaryOperator::PGExp => return power(left, right),
        BinaryOperator::Custom(op) => match op.as_str() {
            "->" | "->>" | "#>" | "#>>" => left.number,
            "&&" | "@>" | "<@" => return Bound { bytes: SMALL, number: 1 },
            "@?" => return path_test(left, right, written),
            _ => u64::MAX,
        },
        BinaryOperator::AtAt => return path_test(left, right, written),
        BinaryOperator::Gt
        | BinaryOperator::Lt
        | BinaryOperator::GtEq
        | BinaryOperator::LtEq
        | BinaryOperator::Eq
        | BinaryOperator::NotEq
        | BinaryOperator::And
        | BinaryOperator::Or => return Bound { bytes: SMALL, number: 1 },
        _ => u64::MAX,
    };
    let joins =
        matches!(op, BinaryOperator::StringConcat) || matches!(op, BinaryOperator::Custom(op) if op == "||");
    let arithmetic = number != u64::MAX && !joins;
    Bound { bytes: if arithmetic { left.bytes.max(right.bytes).saturating_add(1) } else { bytes }, number }
}

/// A test by a path of a JSON value, or by a text search.
fn path_test(left: Bound, right: Bound, written: &Expr) -> Bound {
    let path = literal_of(written).map_or("", literal_text);
    let bytes = if path.matches("**").count() > 1 { u64::MAX } else { SMALL };
    let larger = left.bytes.max(right.bytes);
    Bound { bytes: if larger == u64::MAX { larger } else { bytes }, number: 1 }
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
    // A parameter is as short as a text from a table; as a number it is what the caller likes.
    if matches!(value.value, Value::Placeholder(_)) {
        return Bound::of_bytes(SMALL);
    }
    let text = literal_text(value).trim();
    let written = u64::try_from(text.len()).unwrap_or(u64::MAX).max(1);
    if let Some(exponent) = exponent(text) {
        return Bound::of_bytes(written.saturating_add(exponent.min(NUMERIC_BYTES)));
    }
    // Digits before the point, rounded up; what is no number has no bound as one.
    let (whole, rest) = text.trim_start_matches(['-', '+']).split_once('.').unwrap_or((text, ""));
    let whole = whole.trim_start_matches(['-', '+']);
    let number = match whole.parse::<u64>() {
        _ if !rest.bytes().all(|c| c.is_ascii_digit()) => u64::MAX,
        Ok(number) => number.saturating_add(u64::from(!rest.is_empty())),
        Err(_) if matches!(value.value, Value::Null | Value::Boolean(_)) || whole.is_empty() => 1,
        Err(_) => u64::MAX,
    };
    Bound { bytes: written, number }
}

/// The exponent of a number that has one, without its sign.
fn exponent(text: &str) -> Option<u64> {
    let (mantissa, exponent) = text.split_once(['e', 'E'])?;
    let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let number = mantissa.bytes().all(|c| c.is_ascii_digit() || matches!(c, b'.' | b'-' | b'+' | b'_'));
    let power = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit() || c == b'_');
    (number && !mantissa.is_empty() && power).then(|| digits.parse().unwrap_or(u64::MAX))
}

/// The literal that stands there, or is cast.
#[expect(clippy::wildcard_enum_match_arm, reason = "anything else is no literal")]
pub(super) fn literal_of(expr: &Expr) -> Option<&ValueWithSpan> {
    let mut inner = expr;
    loop {
        inner = match inner {
            Expr::Value(ValueWithSpan { value: Value::Placeholder(_), span: _ }) => return None,
            Expr::Value(value) | Expr::TypedString(TypedString { value, .. }) => return Some(value),
            Expr::Nested(expr) | Expr::Cast { expr, .. } => expr,
            _ => return None,
        };
    }
}

/// Whether the value may be a text that is put together, in which an exponent may hide.
#[expect(clippy::wildcard_enum_match_arm, reason = "anything else is a number, or a literal")]
pub(super) fn may_be_text(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => may_be_text(inner),
        Expr::BinaryOp { op, .. } => {
            matches!(op, BinaryOperator::StringConcat | BinaryOperator::Custom(_))
        }
        Expr::Function(_)
        | Expr::Identifier(_)
        | Expr::CompoundIdentifier(_)
        | Expr::Overlay { .. }
        | Expr::Subquery(_)
        | Expr::Case { .. } => true,
        _ => false,
    }
}

/// How deep brackets nest in a JSON text.
fn depth(json: &str) -> u64 {
    let (mut depth, mut deepest, mut text, mut escaped) = (0_u64, 0, false, false);
    for c in json.bytes() {
        match c {
            _ if escaped => escaped = false,
            b'\\' if text => escaped = true,
            b'"' => text = !text,
            b'[' | b'{' if !text => depth += 1,
            b']' | b'}' if !text => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// How many cells dimensions ask for that are written down: `'{2,3}'`.
pub(super) fn cells(dimensions: &Expr) -> Option<u64> {
    let text = literal_text(literal_of(dimensions)?);
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|n| !n.is_empty());
    Some(numbers.fold(1_u64, |product, n| product.saturating_mul(n.parse().unwrap_or(u64::MAX))))
}

/// How many dimensions are given.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not written counts as the most")]
fn items(dimensions: &Expr) -> usize {
    match dimensions {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => items(inner),
        Expr::Array(array) => array.elem.len(),
        // PostgreSQL's MAXDIM.
        _ => 6,
    }
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
fn widths(template: &str, star: u64) -> u64 {
    template.split('%').skip(1).fold(0, |sum: u64, field| {
        let (spec, _) = field.split_once(|c: char| c.is_ascii_alphabetic()).unwrap_or((field, ""));
        let star = if spec.contains('*') { star } else { 0 };
        let digits = spec.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
        let width = digits.fold(0, |sum: u64, digits| sum.saturating_add(digits.parse().unwrap_or(u64::MAX)));
        sum.saturating_add(star).saturating_add(width)
    })
}
