//! The rule for one argument's value, compiled from its part of a tool's schema.

use std::ops::{Bound, RangeBounds as _};

use regex_lite::Regex;
use serde_json::Value;

use super::formats;

/// The values that one parameter, or each item of an array, may have.
#[derive(Debug)]
pub(super) struct Property {
    kind: Kind,
    /// The closed list of values, if there is one.
    listed: Option<Vec<Value>>,
    /// The allowed values in words: the end of a sentence.
    allowed: String,
}

/// The JSON types that a schema of ours has, with their bounds.
#[derive(Debug)]
enum Kind {
    Integer(Bounds<i128>),
    Number(Bounds<f64>),
    Text { chars: Bounds<usize>, has_format: fn(&str) -> bool, pattern: Option<Regex> },
    Array { count: Bounds<usize>, items: Option<Box<Property>> },
    Other(fn(&Value) -> bool),
}

type Bounds<T> = (Bound<T>, Bound<T>);

/// A value is refused. The text continues a sentence that begins with the parameter's name, and names what is allowed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ValueError<'p> {
    /// It is null, which no parameter takes.
    #[error("is null: leave it out, or give {0}")]
    Null(&'p str),
    /// It is of another JSON type: as it came, and what is wanted.
    #[error("is {0}: send {1}")]
    OtherType(String, String),
    /// It is out of bounds or not listed.
    #[error("must be {0}")]
    NotAllowed(&'p str),
    /// It is a float that cannot be read as one certain integer.
    #[error("must be {0}, written without a point or an exponent")]
    NotExact(&'p str),
    /// The item at this index is the first that is refused.
    #[error("has an item, [{0}], that {1}")]
    Item(usize, Box<Self>),
}

impl Property {
    /// Compiles a property's schema.
    pub(super) fn new(schema: &Value) -> Self {
        let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
        let size = |[least, most]: [&str; 2]| bounds(schema, [least, most], as_size);
        let kind = match text("type") {
            Some("integer") => Kind::Integer(bounds(schema, ["minimum", "maximum"], as_integer)),
            Some("number") => Kind::Number(bounds(schema, ["minimum", "maximum"], Value::as_f64)),
            Some("string") => {
                let has_format: fn(&str) -> bool = match text("format") {
                    Some("date") => |text| formats::date(text).is_some(),
                    Some("date-time") => |text| formats::timestamp(text).is_some(),
                    Some("uuid") => |text| formats::uuid(text).is_some(),
                    _ => |_| true,
                };
                let chars = size(["minLength", "maxLength"]);
                match text("pattern").map(Regex::new).transpose() {
                    Ok(pattern) => Kind::Text { chars, has_format, pattern },
                    // The check fails closed.
                    Err(_) => Kind::Text { chars, has_format: |_| false, pattern: None },
                }
            }
            Some("boolean") => Kind::Other(Value::is_boolean),
            Some("array") => Kind::Array {
                count: size(["minItems", "maxItems"]),
                items: schema.get("items").map(|items| Box::new(Self::new(items))),
            },
            Some("object") => Kind::Other(Value::is_object),
            _ => Kind::Other(|_| true),
        };
        let listed = schema.get("enum").and_then(Value::as_array).cloned();
        Self { allowed: allowed(schema, &kind, listed.as_deref()), kind, listed }
    }

    /// The allowed values as the end of a sentence.
    pub(super) fn allowed(&self) -> &str {
        &self.allowed
    }

    /// Checks a value and returns it as it is passed on.
    pub(super) fn check(&self, value: Value) -> Result<Value, ValueError<'_>> {
        let allowed = self.allowed();
        let value = match (value, &self.kind) {
            (Value::Null, _) => return Err(ValueError::Null(allowed)),
            (Value::Array(items), Kind::Array { items: Some(property), .. }) => property.check_each(items)?,
            (value, Kind::Integer(_)) => normalised(value),
            (value, _) => value,
        };
        if self.fits(&value) && self.listed.as_ref().is_none_or(|listed| listed.contains(&value)) {
            Ok(value)
        } else if matches!(self.kind, Kind::Integer(_)) && is_integral(&value) {
            Err(ValueError::NotExact(allowed))
        } else if self.is_of_type(&value) {
            Err(ValueError::NotAllowed(allowed))
        } else {
            Err(ValueError::OtherType(described(&value), self.wanted(&value)))
        }
    }

    /// Returns whether an optional argument of this value is as if it were not there: null, and the empty string where that
    /// can be no value.
    pub(super) fn is_absent(&self, value: &Value) -> bool {
        let is_no_text = || matches!(self.kind, Kind::Text { .. }) && self.check(value.clone()).is_err();
        value.is_null() || value.as_str() == Some("") && is_no_text()
    }

    /// Reports whether the value is of the property's JSON type, whatever its bounds.
    fn is_of_type(&self, value: &Value) -> bool {
        match &self.kind {
            Kind::Integer(_) | Kind::Number(_) => value.is_number(),
            Kind::Text { .. } => value.is_string(),
            Kind::Array { .. } => value.is_array(),
            Kind::Other(fits) => fits(value),
        }
    }

    /// Names the value that is wanted in place of one of another type: the same one, where its text says which.
    fn wanted(&self, value: &Value) -> String {
        let meant = value.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        match meant.filter(|meant| !meant.is_string() && !meant.is_null() && self.fits(meant)) {
            Some(meant) => described(&meant),
            None => self.allowed().to_owned(),
        }
    }

    fn check_each(&self, items: Vec<Value>) -> Result<Value, ValueError<'_>> {
        let check =
            |(index, item)| self.check(item).map_err(|error| ValueError::Item(index, Box::new(error)));
        items.into_iter().enumerate().map(check).collect::<Result<_, _>>().map(Value::Array)
    }

    /// Reports whether the value is of the property's type and within its bounds.
    fn fits(&self, value: &Value) -> bool {
        match &self.kind {
            Kind::Integer(bounds) => as_integer(value).is_some_and(|integer| bounds.contains(&integer)),
            Kind::Number(bounds) => value.as_f64().is_some_and(|number| bounds.contains(&number)),
            Kind::Text { chars, has_format, pattern } => value.as_str().is_some_and(|text| {
                chars.contains(&text.chars().count())
                    && has_format(text)
                    && pattern.as_ref().is_none_or(|pattern| pattern.is_match(text))
            }),
            Kind::Array { count, .. } => value.as_array().is_some_and(|items| count.contains(&items.len())),
            Kind::Other(fits) => fits(value),
        }
    }
}

fn bounds<T>(schema: &Value, [least, most]: [&str; 2], read: impl Fn(&Value) -> Option<T>) -> Bounds<T> {
    let bound = |keyword| schema.get(keyword).and_then(&read).map_or(Bound::Unbounded, Bound::Included);
    (bound(least), bound(most))
}

/// Describes a value by its type, short ones as they are.
fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) if text.chars().count() <= 40 => format!("the string {value}"),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// Writes `10.0` as 10. Only as far as every integer has a double of its own: beyond, the client's intent is unknown.
fn normalised(value: Value) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value.as_f64().filter(|number| is_integral(&value) && number.abs() < EXACT) {
        // The digits of an integral double are those of the integer.
        Some(number) => format!("{number:.0}").parse::<i64>().map_or(value, Value::from),
        None => value,
    }
}

/// Reports whether `value` is an integer that is written with a point or an exponent.
fn is_integral(value: &Value) -> bool {
    value.is_f64() && value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// Describes the allowed values as the end of a sentence.
fn allowed(schema: &Value, kind: &Kind, listed: Option<&[Value]>) -> String {
    if let Some(values) = listed {
        let values = values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        return format!("one of {values}");
    }
    let text = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
    let (noun, least, most, unit) = match (text("type"), text("format")) {
        (Some("integer"), _) => ("an integer", "minimum", "maximum", ""),
        (Some("number"), _) => ("a number", "minimum", "maximum", ""),
        (Some("string"), Some("date")) => return "a date such as 2026-01-31".to_owned(),
        (Some("string"), Some("date-time")) => {
            return "a time with its zone such as 2026-01-31T12:00:00Z".to_owned();
        }
        (Some("string"), Some("uuid")) => {
            return "a UUID such as 0190a6e0-4f2b-7c3d-8e1f-2a3b4c5d6e7f".to_owned();
        }
        (Some("string"), _) => ("a string", "minLength", "maxLength", " characters"),
        (Some("boolean"), _) => return "true or false".to_owned(),
        (Some("array"), _) => ("an array", "minItems", "maxItems", " items"),
        (Some("object"), _) => return "an object".to_owned(),
        _ => return "a value of the kind its schema names".to_owned(),
    };
    let pattern = text("pattern").map_or_else(String::new, |pattern| format!(" that matches {pattern}"));
    let items = if let Kind::Array { items: Some(items), .. } = kind {
        format!(", each {}", items.allowed())
    } else {
        String::new()
    };
    let join = if unit.is_empty() { "from" } else { "of" };
    match (schema.get(least), schema.get(most)) {
        (Some(least), Some(most)) => format!("{noun} {join} {least} to {most}{unit}{pattern}{items}"),
        (Some(least), None) => format!("{noun} of at least {least}{unit}{pattern}{items}"),
        (None, Some(most)) => format!("{noun} of at most {most}{unit}{pattern}{items}"),
        (None, None) => format!("{noun}{pattern}{items}"),
    }
}

fn as_size(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|size| usize::try_from(size).ok())
}

/// An integer of JSON, signed or unsigned.
fn as_integer(value: &Value) -> Option<i128> {
    value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
}
