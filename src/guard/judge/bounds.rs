//! Upper bounds of constants: what literals, operators and calls can make of them.

use sqlparser::ast::{BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments};

use super::{
    growth::{counts, keeps_numbers, lengthens},
    literals::{cells, depth, exponents_within, literal_of, literal_text, whole},
    moments,
    names::last_name,
    paths::{descent, fan_out},
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
/// The most digits that `round` and `trunc` write behind the point.
const MAX_SCALE: u64 = 16_383;
/// What a regular expression's match takes for each of its parentheses: two positions.
const MATCH_BYTES: u64 = 8;

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
                Some(path) => {
                    let written = sum.saturating_add(exponents_within(path));
                    Bound::of_bytes(descent(path, written).saturating_add(written))
                }
                None => Bound::UNBOUNDED,
            }
        }
        "json_build_array" | "json_build_object" | "jsonb_build_array" | "jsonb_build_object" => {
            built(args, bounds)
        }
        _ => of_ordinary(name, args, bounds),
    }
}

/// The bound of a call of a function that does not multiply its arguments.
fn of_ordinary(name: &str, args: &[FunctionArg], bounds: &[Bound]) -> Bound {
    let sum = bounds.iter().fold(SMALL, |sum, bound| sum.saturating_add(bound.bytes));
    let most = bounds.iter().fold(1, |most, bound| most.max(bound.number));
    let nth = |index: usize| bounds.get(index).copied().unwrap_or(Bound::NONE);
    let first = nth(0).bytes;
    match name {
        // With a modifier they pad to it.
        "bit" | "bpchar" | "varbit" if args.len() > 1 => Bound::of_bytes(sum.saturating_add(nth(1).number)),
        "numeric" if args.len() > 1 => Bound { bytes: sum.saturating_add(MAX_SCALE), number: nth(0).number },
        "round" | "trunc" => {
            let digits = if args.len() > 1 { nth(1).number.min(MAX_SCALE) } else { 0 };
            Bound { bytes: first.max(8).saturating_add(digits), number: nth(0).number }
        }
        "regexp_instr" | "regexp_match" | "regexp_matches" | "regexp_substr" => {
            let text = usize::from(matches!(args.first(), Some(FunctionArg::Unnamed(_))));
            let patterns = args.iter().zip(bounds).skip(text);
            let groups = patterns.map(|(arg, bound)| groups(arg, *bound)).max().unwrap_or_default();
            Bound::of_bytes(sum.saturating_mul(MATCH_BYTES.saturating_mul(groups).saturating_add(6)))
        }
        "date_bin" | "date_trunc" => Bound { bytes: SMALL, number: nth(1).number },
        "make_date" | "make_timestamp" | "make_timestamptz" => {
            Bound { bytes: SMALL, number: if first > SMALL { u64::MAX } else { nth(0).number } }
        }
        "generate_series" if args.get(2).and_then(argument).is_some_and(moments::is_step) => {
            Bound { bytes: 8, number: most }
        }
        _ if moments::is_clock(name) => Bound::TABLE,
        _ if counts(name) => Bound { bytes: SMALL, number: sum.max(TABLE_NUMBER) },
        _ if keeps_numbers(name) => Bound { bytes: sum.saturating_sub(SMALL).max(8), number: most },
        _ if lengthens(name) => Bound::of_bytes(sum.saturating_mul(6)),
        _ => Bound::of_bytes(sum),
    }
}

/// The argument that is given by this name.
pub(super) fn named<'t>(args: &'t [FunctionArg], wanted: &str) -> Option<&'t Expr> {
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

/// How many groups a regular expression may have.
fn groups(pattern: &FunctionArg, bound: Bound) -> u64 {
    match argument(pattern).and_then(literal_of) {
        Some(text) => u64::try_from(literal_text(text).matches('(').count()).unwrap_or(u64::MAX),
        None => bound.bytes / 2,
    }
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

/// An operator as it is written.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing depends on the others")]
pub(super) fn symbol(op: &BinaryOperator) -> &str {
    match op {
        BinaryOperator::Plus => "+",
        BinaryOperator::Minus => "-",
        BinaryOperator::Multiply => "*",
        BinaryOperator::Divide => "/",
        BinaryOperator::Modulo => "%",
        BinaryOperator::PGExp => "^",
        BinaryOperator::StringConcat => "||",
        BinaryOperator::Lt => "<",
        BinaryOperator::LtEq => "<=",
        BinaryOperator::Eq => "=",
        BinaryOperator::NotEq => "<>",
        BinaryOperator::GtEq => ">=",
        BinaryOperator::Gt => ">",
        BinaryOperator::And => "and",
        BinaryOperator::Or => "or",
        BinaryOperator::AtAt => "@@",
        BinaryOperator::QuestionPipe => "?|",
        BinaryOperator::Custom(symbol) => symbol,
        _ => "",
    }
}

/// What an operator makes of its operands; `written` is the right one.
pub(super) fn operation(op: &BinaryOperator, left: Bound, right: Bound, written: &Expr) -> Bound {
    let number = match symbol(op) {
        "+" | "-" => left.number.saturating_add(right.number),
        "*" => left.number.saturating_mul(right.number),
        // What a table holds counts as at least one.
        "/" if whole(written) > 0 || right.number >= TABLE_NUMBER => left.number,
        "%" => right.number,
        "^" => return power(left, right),
        "->" | "->>" | "#>" | "#>>" => left.number,
        "&&" | "@>" | "<@" | ">" | "<" | ">=" | "<=" | "=" | "<>" | "and" | "or" => {
            return Bound { bytes: SMALL, number: 1 };
        }
        "@?" | "@@" => return path_test(left, right, written),
        _ => u64::MAX,
    };
    let arithmetic = number != u64::MAX;
    let bytes = if arithmetic {
        left.bytes.max(right.bytes).saturating_add(1)
    } else {
        left.bytes.saturating_add(right.bytes)
    };
    Bound { bytes, number }
}

/// A test by a path of a JSON value, or by a text search.
fn path_test(left: Bound, right: Bound, written: &Expr) -> Bound {
    let path = literal_of(written).map_or("", literal_text);
    let found = fan_out(path).saturating_mul(SMALL);
    let bytes = if found > MAX_CONSTANT_BYTES { found } else { SMALL };
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
