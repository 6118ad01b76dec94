//! The values of a parameter: as written in a catalog, as a JSON Schema, and as a type of PostgreSQL.

use postgres::types::Type;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::diagnoses;
use super::rule::Rule;
use crate::arguments::pattern;
use crate::call::sanitizer;
use crate::document::section::{Located, Report, Section};
use crate::problem::echo;

/// The longest text of a parameter, in characters: the sanitizer's limit.
const MAX_LENGTH: i64 = 65_536;
/// The most items of an array: the sanitizer's limit for one call.
const MAX_ITEMS: i64 = 1_000;

/// The values that a parameter takes.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    pub(super) scalar: Scalar,
    /// It takes an array of such values.
    pub(super) is_list: bool,
    pub(super) schema: Map<String, Value>,
}

/// The type of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    String,
    Integer,
    Number,
    Boolean,
    Date,
    Timestamp,
    Uuid,
    Enum,
}

/// Each type: as it is written, and as it is bound, alone and in an array.
static SCALARS: [(&str, Scalar, Type, Type); 8] = [
    ("string", Scalar::String, Type::TEXT, Type::TEXT_ARRAY),
    ("integer", Scalar::Integer, Type::INT8, Type::INT8_ARRAY),
    ("number", Scalar::Number, Type::FLOAT8, Type::FLOAT8_ARRAY),
    ("boolean", Scalar::Boolean, Type::BOOL, Type::BOOL_ARRAY),
    ("date", Scalar::Date, Type::DATE, Type::DATE_ARRAY),
    ("timestamp", Scalar::Timestamp, Type::TIMESTAMPTZ, Type::TIMESTAMPTZ_ARRAY),
    ("uuid", Scalar::Uuid, Type::UUID, Type::UUID_ARRAY),
    ("enum", Scalar::Enum, Type::TEXT, Type::TEXT_ARRAY),
];

/// The types, as they are written.
const TYPES: &str = "string, integer, number, boolean, date, timestamp, uuid, enum or array";

/// The characters and items that a text and a list have at least, unless the entry says another number: a search for nothing
/// finds everything, and no rule knows every form of a search.
const LEAST: i64 = 1;

impl Kind {
    /// Reads the type and its bounds. Faults are reported.
    pub(super) fn read(name: &str, section: &mut Section<'_>, report: &mut Report<'_, Rule>) -> Option<Self> {
        let kind = kind_of(name, section, report)?;
        if kind.value != "array" {
            return Self::read_one(name, &kind, section, report);
        }
        let max_items = section.integer("max_items", report);
        let min_items = section.integer("min_items", report);
        let Some(items) = section.take("items") else {
            diagnoses::PARAM_UNTYPED.report(report, section.line, &[&name, &TYPES]);
            return None;
        };
        let mut items = Section::of(items, "the items of a parameter", "items", report)?;
        items.line = section.line;
        let kind = kind_of(name, &mut items, report)?;
        let one = Self::read_one(name, &kind, &mut items, report);
        items.finish(report);
        let Some(max) = max_items.map(|max| max.value).filter(|max| (1..=MAX_ITEMS).contains(max)) else {
            return unbounded(name, section.line, &format!("max_items from 1 to {MAX_ITEMS}"), report);
        };
        let Self { scalar, is_list: _, schema } = one?;
        let min = min_items.map_or(LEAST, |min| min.value);
        if !(0..=max).contains(&min) {
            return unbounded(name, section.line, &format!("min_items from 0 to {max}"), report);
        }
        let schema = object(json!({"type": "array", "items": schema, "minItems": min, "maxItems": max}));
        Some(Self { scalar, is_list: true, schema })
    }

    fn read_one(
        name: &str,
        kind: &Located<String>,
        section: &mut Section<'_>,
        report: &mut Report<'_, Rule>,
    ) -> Option<Self> {
        let Some((_, scalar, ..)) = SCALARS.iter().find(|(word, ..)| *word == kind.value) else {
            diagnoses::PARAM_TYPE.report(report, kind.line, &[&name, &echo(&kind.value), &TYPES]);
            return None;
        };
        let schema = match scalar {
            Scalar::String => string(name, section, report)?,
            Scalar::Integer => {
                let bounds = (section.integer("min", report), section.integer("max", report));
                range("integer", bounds, name, section.line, report)?
            }
            Scalar::Number => {
                let bounds = (section.number("min", report), section.number("max", report));
                range("number", bounds, name, section.line, report)?
            }
            Scalar::Boolean => json!({"type": "boolean"}),
            Scalar::Date => json!({"type": "string", "format": "date"}),
            Scalar::Timestamp => json!({"type": "string", "format": "date-time"}),
            Scalar::Uuid => json!({"type": "string", "format": "uuid"}),
            Scalar::Enum => values(name, section, report)?,
        };
        Some(Self { scalar: *scalar, is_list: false, schema: object(schema) })
    }

    /// The type that a value is bound with.
    pub(super) fn pg_type(&self) -> Type {
        let known = SCALARS.iter().find(|(_, scalar, ..)| *scalar == self.scalar);
        known.map_or(Type::TEXT, |(_, _, one, list)| if self.is_list { list } else { one }.clone())
    }

    /// Returns a bound of the schema.
    pub(super) fn bound(&self, keyword: &str) -> Option<i64> {
        self.schema.get(keyword)?.as_i64()
    }
}

fn kind_of(name: &str, section: &mut Section<'_>, report: &mut Report<'_, Rule>) -> Option<Located<String>> {
    let kind = section.text("type", report);
    if kind.is_none() {
        diagnoses::PARAM_UNTYPED.report(report, section.line, &[&name, &TYPES]);
    }
    kind
}

fn string(name: &str, section: &mut Section<'_>, report: &mut Report<'_, Rule>) -> Option<Value> {
    let min = section.integer("min_length", report).map_or(LEAST, |min| min.value);
    let max = section.integer("max_length", report).map(|max| max.value);
    let written = section.text("pattern", report);
    let pattern = written.and_then(|Located { value, line }| {
        let report_fault = |why| diagnoses::PARAM_PATTERN.report(report, line, &[&name, &why]);
        pattern::anchored(&value).map_err(report_fault).ok()
    });
    let Some(max) = max.filter(|max| (1..=MAX_LENGTH).contains(max) && (0..=*max).contains(&min)) else {
        let bounds = format!("max_length from 1 to {MAX_LENGTH}, and min_length not above it");
        return unbounded(name, section.line, &bounds, report);
    };
    Some(match pattern {
        None => json!({"type": "string", "minLength": min, "maxLength": max}),
        Some(pattern) => json!({"type": "string", "minLength": min, "maxLength": max, "pattern": pattern}),
    })
}

fn range<T: PartialOrd + Serialize>(
    kind: &str,
    (min, max): (Option<Located<T>>, Option<Located<T>>),
    name: &str,
    line: usize,
    report: &mut Report<'_, Rule>,
) -> Option<Value> {
    let bounds = min.zip(max).map(|(min, max)| (min.value, max.value)).filter(|(min, max)| min <= max);
    let Some((min, max)) = bounds else {
        return unbounded(name, line, "min and max, min not above max", report);
    };
    Some(json!({"type": kind, "minimum": min, "maximum": max}))
}

/// The values of an `enum`: each once, and one that a call can hold.
fn values(name: &str, section: &mut Section<'_>, report: &mut Report<'_, Rule>) -> Option<Value> {
    let values = section.texts("values", report);
    if values.is_empty() {
        return unbounded(name, section.line, "values, a list of texts", report);
    }
    for (index, Located { value, line }) in values.iter().enumerate() {
        if values.iter().take(index).any(|other| other.value == *value) {
            diagnoses::ENUM_TWICE.report(report, *line, &[&name, &echo(value)]);
        } else if value.chars().any(sanitizer::is_forbidden)
            || value.chars().count() > sanitizer::MAX_STRING_CHARS
        {
            diagnoses::ENUM_FORBIDDEN.report(report, *line, &[&name, &echo(value)]);
        }
    }
    let values: Vec<String> = values.into_iter().map(|value| value.value).collect();
    Some(json!({"type": "string", "enum": values}))
}

fn unbounded<T>(name: &str, line: usize, bounds: &str, report: &mut Report<'_, Rule>) -> Option<T> {
    diagnoses::PARAM_UNBOUNDED.report(report, line, &[&name, &bounds]);
    None
}

fn object(schema: Value) -> Map<String, Value> {
    if let Value::Object(schema) = schema { schema } else { Map::new() }
}
