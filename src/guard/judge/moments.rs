//! Dates, times and intervals, as far as their size decides how many rows a series has or what a field holds.

use sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, FunctionArguments, Interval, TypedString, UnaryOperator,
};

use super::{
    bounds::{Bound, TABLE_NUMBER, argument, symbol},
    literals::{literal_of, literal_text, whole},
    names::{last_name, type_name},
};

/// Calls of the clock.
const CLOCK: &[&str] = &[
    "clock_timestamp",
    "current_date",
    "current_timestamp",
    "localtimestamp",
    "now",
    "statement_timestamp",
    "transaction_timestamp",
];
/// Units of an interval, by what their names begin with, in seconds, from below; `m` alone is minutes.
const UNITS: &[(&str, i64)] = &[
    ("microsec", 0),
    ("us", 0),
    ("millisec", 0),
    ("ms", 0),
    ("mil", 360_000 * DAY),
    ("cent", 36_000 * DAY),
    ("c", 36_000 * DAY),
    ("dec", 3_600 * DAY),
    ("y", 360 * DAY),
    ("mon", 28 * DAY),
    ("w", 7 * DAY),
    ("d", DAY),
    ("h", 3_600),
    ("m", 60),
    ("s", 1),
];
/// Units that are several of the fields that values have.
const LONG_UNITS: &[(&str, u64)] = &[("mil", 1_000), ("c", 100), ("dec", 10), ("w", 7)];
const DAY: i64 = 86_400;
/// How deep expressions are looked into.
const MAX_LOOK: usize = 20;
/// A number of years or other units in a literal beyond which it counts as unbounded.
const MAX_FIELD: u64 = 3_000;
/// Where the clock may stand, in seconds from 1970 on: in this century.
const CLOCK_AT: [i64; 2] = [50 * 365 * DAY, 130 * 366 * DAY];

/// Whether the function is the clock.
pub(super) fn is_clock(name: &str) -> bool {
    CLOCK.contains(&name)
}

/// Whether values of the type have fields such as years and hours.
pub(super) fn is_temporal(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Time(..) | DataType::Timestamp(..))
        || matches!(type_name(data_type), "date" | "time" | "timestamp" | "timestamptz" | "timetz")
        || is_interval(data_type)
}

fn is_interval(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Interval { .. }) || type_name(data_type) == "interval"
}

/// The largest field of a date or an interval that is written down.
pub(super) fn largest_field(text: &str, data_type: &DataType) -> u64 {
    let text = text.to_ascii_lowercase();
    // `1e7 days`.
    let exponent = |part: &str| part.len() > 1 && part.ends_with('e');
    if text.split_inclusive(|c: char| !c.is_ascii_digit()).any(exponent) {
        return u64::MAX;
    }
    let times = if is_interval(data_type) {
        LONG_UNITS.iter().find(|(unit, _)| text.contains(unit)).map_or(1, |(_, times)| *times)
    } else {
        1
    };
    let numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let largest = numbers.map(|digits| field(digits).saturating_mul(times)).max().unwrap_or_default();
    if largest > MAX_FIELD { u64::MAX } else { largest }
}

/// A number in a date or an interval: of `20240131`, the year.
fn field(digits: &str) -> u64 {
    let number = digits.parse().unwrap_or(u64::MAX);
    if digits.len() == 8 { number / 10_000 } else { number }
}

/// Seconds between some moment and another, from below and from above.
#[derive(Clone, Copy)]
struct Moment {
    from: Origin,
    earliest: i64,
    latest: i64,
}

/// What a moment is counted from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The year 1970.
    Calendar,
    /// The clock.
    Now,
    /// What a table holds.
    Table,
}

impl Moment {
    fn at(from: Origin, seconds: i64) -> Self {
        Self { from, earliest: seconds, latest: seconds }
    }

    fn shifted(self, earlier: i64, later: i64) -> Self {
        let earliest = self.earliest.saturating_add(earlier);
        Self { from: self.from, earliest, latest: self.latest.saturating_add(later) }
    }

    /// The clock is somewhere in this century when it is compared with the calendar.
    fn on_the_calendar(self) -> Self {
        let [first, last] = CLOCK_AT;
        match self.from {
            Origin::Now => Self { from: Origin::Calendar, ..self.shifted(first, last) },
            Origin::Calendar | Origin::Table => self,
        }
    }

    /// The most seconds from here to another moment.
    fn until(self, last: Self) -> Option<u64> {
        let (first, last) = if self.from == last.from {
            (self, last)
        } else {
            (self.on_the_calendar(), last.on_the_calendar())
        };
        let seconds = last.latest.abs_diff(first.earliest).max(first.latest.abs_diff(last.earliest));
        (first.from == last.from).then_some(seconds)
    }
}

/// Whether a series with this step is one of dates.
pub(super) fn is_step(step: &Expr) -> bool {
    is_step_within(step, MAX_LOOK)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "no other expression is an interval for certain")]
fn is_step_within(step: &Expr, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    match step {
        Expr::Interval(_) => true,
        Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } => is_step_within(inner, depth),
        Expr::Cast { data_type, .. } | Expr::TypedString(TypedString { data_type, .. }) => {
            is_interval(data_type)
        }
        Expr::BinaryOp { left, op: BinaryOperator::Multiply, right } => {
            is_step_within(left, depth) || is_step_within(right, depth)
        }
        Expr::Value(value) => {
            let text = literal_text(value).trim();
            text.contains(|c: char| c.is_ascii_alphabetic() || matches!(c, ' ' | ':'))
        }
        _ => false,
    }
}

/// How many rows a series from one moment to another has, by these steps. What cannot be told is without a bound.
pub(super) fn rows([first, last, step]: [&Expr; 3], bounds: [Bound; 2]) -> u64 {
    let Some(step) = seconds(step, MAX_LOOK).map(i64::unsigned_abs) else { return u64::MAX };
    let table = |bound: Bound| (TABLE_NUMBER..=2 * TABLE_NUMBER).contains(&bound.number);
    let [from, to] = [moment(first, table(bounds[0]), MAX_LOOK), moment(last, table(bounds[1]), MAX_LOOK)];
    if let (Some(from), Some(to)) = (from, to)
        && let Some(seconds) = from.until(to)
    {
        let of_table = if from.from == Origin::Table { TABLE_NUMBER } else { 1 };
        // A step below a second is a microsecond at least.
        let (seconds, step) =
            if step == 0 { (seconds.saturating_mul(1_000_000), 1) } else { (seconds, step) };
        return (seconds / step).saturating_add(of_table);
    }
    // A few thousand years of days are few enough.
    let days = step >= DAY.unsigned_abs();
    if days && bounds.iter().all(|bound| bound.number <= 2 * TABLE_NUMBER) { TABLE_NUMBER } else { u64::MAX }
}

/// The moment that an expression stands for; `table` tells whether its columns hold what a table holds.
#[expect(clippy::wildcard_enum_match_arm, reason = "other expressions are not looked into")]
fn moment(expr: &Expr, table: bool, depth: usize) -> Option<Moment> {
    let depth = depth.checked_sub(1)?;
    match expr {
        Expr::Nested(inner) => moment(inner, table, depth),
        Expr::Value(_) | Expr::TypedString(_) => date(literal_text(literal_of(expr)?)),
        Expr::Cast { expr: inner, data_type, .. } => {
            let cuts = literal_of(inner).is_none() && !matches!(data_type, DataType::Timestamp(..));
            Some(moment(inner, table, depth)?.shifted(if cuts { -DAY } else { 0 }, 0))
        }
        Expr::AtTimeZone { timestamp: inner, .. } => Some(moment(inner, table, depth)?.shifted(-DAY, DAY)),
        Expr::BinaryOp { left, op, right } => {
            let [short, long] = match right.as_ref() {
                Expr::Value(_) => [i64::try_from(whole(right)).ok()?.checked_mul(DAY)?; 2],
                other => {
                    let seconds = seconds(other, depth)?;
                    // Months and years from 28 and 360 days on.
                    [seconds, if seconds.abs() < 28 * DAY { seconds } else { seconds.checked_mul(9)? / 8 }]
                }
            };
            let [short, long] = match symbol(op) {
                "+" => [short, long],
                "-" => [-short, -long],
                _ => return None,
            };
            Some(moment(left, table, depth)?.shifted(short.min(long), short.max(long)))
        }
        Expr::Function(function) => call(function, table, depth),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Subquery(_) if table => {
            Some(Moment::at(Origin::Table, 0))
        }
        _ => None,
    }
}

fn call(function: &Function, table: bool, depth: usize) -> Option<Moment> {
    let name = last_name(&function.name);
    if is_clock(name) {
        return Some(Moment::at(Origin::Now, 0));
    }
    let FunctionArguments::List(list) = &function.args else { return None };
    match (name, list.args.as_slice()) {
        ("date_trunc", [unit, value, ..]) => {
            let unit = literal_text(literal_of(argument(unit)?)?);
            let longest = if unit == "quarter" { 93 * DAY } else { unit_seconds(unit)?.saturating_mul(2) };
            Some(moment(argument(value)?, table, depth)?.shifted(-longest.max(1), 0))
        }
        _ if table => Some(Moment::at(Origin::Table, 0)),
        _ => None,
    }
}

/// `2024-01-31`, perhaps with a time and a zone: seconds from 1970 on.
fn date(text: &str) -> Option<Moment> {
    let text = text.trim();
    let (day, time) = text.split_once([' ', 'T']).unwrap_or((text, ""));
    let mut fields = day.split('-').map(|field| field.parse::<i64>().ok());
    let (year, month, day) = (fields.next()??, fields.next()??, fields.next()??);
    let plain = (1_000..=9_999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    let of_time = |c: char| c.is_ascii_digit() || matches!(c, ':' | '.' | '+' | '-' | 'Z');
    if !plain || fields.next().is_some() || !time.chars().all(of_time) {
        return None;
    }
    let mut clock = time.split(':').map(|part| part.get(..2).and_then(|part| part.parse::<i64>().ok()));
    let mut part = |seconds: i64| clock.next().flatten().unwrap_or_default() * seconds;
    let seconds = days(year, month, day) * DAY + part(3_600) + part(60) + part(1);
    // Fractions, and what zone it is in.
    let slack = if time.len() > "00:00:00".len() { DAY } else { 0 };
    Some(Moment::at(Origin::Calendar, seconds).shifted(-slack, slack))
}

/// Days from 1970 on, of the Gregorian calendar: years begin in March, so that leap days come last.
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leaps + (153 * month + 2) / 5 + day - 719_469
}

/// The seconds of an interval that is written down, from below.
#[expect(clippy::wildcard_enum_match_arm, reason = "other expressions are not looked into")]
fn seconds(expr: &Expr, depth: usize) -> Option<i64> {
    let depth = depth.checked_sub(1)?;
    match expr {
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => seconds(inner, depth),
        Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner } => seconds(inner, depth),
        Expr::Value(_) | Expr::TypedString(_) => sum_of_units(literal_text(literal_of(expr)?)),
        Expr::Interval(Interval { value, leading_field: None, .. }) => seconds(value, depth),
        Expr::Interval(Interval { value, leading_field: Some(unit), last_field: None, .. }) => {
            let count = literal_text(literal_of(value)?).trim().parse::<i64>().ok()?;
            unit_seconds(&unit.to_string().to_ascii_lowercase())?.checked_mul(count)
        }
        Expr::BinaryOp { left, op: BinaryOperator::Multiply, right } => {
            match (seconds(left, depth), seconds(right, depth)) {
                (Some(interval), None) => interval.checked_mul(i64::try_from(whole(right)).ok()?),
                (None, Some(interval)) => interval.checked_mul(i64::try_from(whole(left)).ok()?),
                (Some(_), Some(_)) | (None, None) => None,
            }
        }
        _ => None,
    }
}

/// `1 day 02:00:00`; `P1D` is not looked into.
fn sum_of_units(text: &str) -> Option<i64> {
    let text = text.trim().to_ascii_lowercase();
    let mut sum = 0_i64;
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        if word.contains(':') {
            let mut parts = word.split(':').zip([3_600, 60, 1]);
            let seconds = parts.try_fold(0_i64, |sum, (part, seconds)| {
                let whole = part.split('.').next()?.parse::<i64>().ok()?;
                sum.checked_add(whole.checked_mul(seconds)?)
            });
            sum = sum.checked_add(seconds?)?;
            continue;
        }
        let (number, unit) =
            word.split_at(word.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(word.len()));
        let unit = if unit.is_empty() { words.next()? } else { unit };
        sum = sum.checked_add(unit_seconds(unit)?.checked_mul(number.parse::<i64>().ok()?)?)?;
    }
    (!text.is_empty()).then_some(sum)
}

/// The seconds of a unit, from below.
fn unit_seconds(unit: &str) -> Option<i64> {
    UNITS.iter().find(|(name, _)| unit.starts_with(name)).map(|(_, seconds)| *seconds)
}
