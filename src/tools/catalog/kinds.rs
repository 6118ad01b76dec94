//! The values of a parameter: as written in a catalog, as a JSON Schema, and as a type of PostgreSQL.

use postgres::types::Type;
use serde_json::{Value, json};

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
pub(super) enum Kind {
    One(Scalar),
    Many { items: Scalar, max_items: i64 },
}

/// One value.
#[derive(Clone, Debug)]
pub(super) enum Scalar {
    String { min_length: i64, max_length: i64, pattern: Option<String> },
    Integer { min: i64, max: i64 },
    Number { min: f64, max: f64 },
    Boolean,
    Date,
    Timestamp,
    Uuid,
    Enum(Vec<String>),
}

/// The types, as they are written.
const TYPES: &str = "string, integer, number, boolean, date, timestamp, uuid, enum or array";

impl Kind {
    pub(super) fn is_numeric(&self) -> bool {
        let (Self::One(scalar) | Self::Many { items: scalar, .. }) = self;
        matches!(scalar, Scalar::Integer { .. } | Scalar::Number { .. })
    }

    /// Reads the type and its bounds. Faults are reported.
    pub(super) fn read(name: &str, section: &mut Section<'_>, report: &mut Report<'_, Rule>) -> Option<Self> {
        let Some(kind) = section.text("type", report) else {
            untyped(name, section.line, report);
            return None;
        };
        if kind.value != "array" {
            return Scalar::read(name, &kind, section, report).map(Self::One);
        }
        let max_items = section.integer("max_items", report);
        let items = section.take("items");
        let (Some(items), line) = (items, section.line) else {
            untyped(name, section.line, report);
            return None;
        };
        let mut items = Section::of(items, "the items of a parameter", "items", report)?;
        items.line = line;
        let Some(kind) = items.text("type", report) else {
            untyped(name, line, report);
            return None;
        };
        let scalar = Scalar::read(name, &kind, &mut items, report);
        items.finish(report);
        match max_items.map(|max| max.value) {
            Some(max_items) if (1..=MAX_ITEMS).contains(&max_items) => {
                scalar.map(|items| Self::Many { items, max_items })
            }
            _ => {
                unbounded(name, line, &format!("max_items from 1 to {MAX_ITEMS}"), report);
                None
            }
        }
    }

    /// The type that a value is bound with.
    pub(super) fn pg_type(&self) -> Type {
        match self {
            Self::One(scalar) => scalar.pg_type(),
            Self::Many { items, max_items: _ } => items.pg_array(),
        }
    }

    /// The JSON Schema of a value.
    pub(super) fn schema(&self) -> Value {
        match self {
            Self::One(scalar) => scalar.schema(),
            Self::Many { items, max_items } => {
                json!({"type": "array", "items": items.schema(), "maxItems": max_items})
            }
        }
    }
}

impl Scalar {
    fn read(
        name: &str,
        kind: &Located<String>,
        section: &mut Section<'_>,
        report: &mut Report<'_, Rule>,
    ) -> Option<Self> {
        Some(match kind.value.as_str() {
            "string" => return Self::read_string(name, section, report),
            "integer" => {
                let (min, max) = (section.integer("min", report), section.integer("max", report));
                let bounds = min.zip(max).map(|(min, max)| (min.value, max.value));
                let Some((min, max)) = bounds.filter(|(min, max)| min <= max) else {
                    unbounded(name, section.line, "min and max, min not above max", report);
                    return None;
                };
                Self::Integer { min, max }
            }
            "number" => {
                let (min, max) = (section.number("min", report), section.number("max", report));
                let bounds = min.zip(max).map(|(min, max)| (min.value, max.value));
                let Some((min, max)) = bounds.filter(|(min, max)| min <= max) else {
                    unbounded(name, section.line, "min and max, min not above max", report);
                    return None;
                };
                Self::Number { min, max }
            }
            "enum" => {
                let values = section.texts("values", report);
                if values.is_empty() {
                    unbounded(name, section.line, "values, a list of texts", report);
                    return None;
                }
                let mut known = Vec::with_capacity(values.len());
                for Located { value, line } in values {
                    check_enum_value(name, &value, line, &known, report);
                    known.push(value);
                }
                Self::Enum(known)
            }
            "boolean" => Self::Boolean,
            "date" => Self::Date,
            "timestamp" => Self::Timestamp,
            "uuid" => Self::Uuid,
            other => {
                report.add(
                    Rule::ParamUntyped,
                    kind.line,
                    format!("The parameter {name} has the unknown type {}.", echo(other)),
                    format!("Write {TYPES}; the items of an array are no arrays."),
                );
                return None;
            }
        })
    }

    fn read_string(name: &str, section: &mut Section<'_>, report: &mut Report<'_, Rule>) -> Option<Self> {
        let min_length = section.integer("min_length", report).map_or(0, |min| min.value);
        let max_length = section.integer("max_length", report).map(|max| max.value);
        let written = section.text("pattern", report);
        let pattern = written.as_ref().and_then(|written| match pattern::anchored(&written.value) {
            Ok(pattern) => Some(pattern),
            Err(why) => {
                report.add(
                    Rule::ParamPattern,
                    written.line,
                    format!("The pattern of {name} is not of the shared syntax: {why}."),
                    "Use literals, classes, \\d \\w, groups, | and counts; it matches the whole value.",
                );
                None
            }
        });
        match max_length {
            Some(max_length)
                if (1..=MAX_LENGTH).contains(&max_length) && (0..=max_length).contains(&min_length) =>
            {
                Some(Self::String { min_length, max_length, pattern })
            }
            _ => {
                let bounds = format!("max_length from 1 to {MAX_LENGTH}, and min_length not above it");
                unbounded(name, section.line, &bounds, report);
                None
            }
        }
    }

    fn pg_type(&self) -> Type {
        match self {
            Self::String { .. } | Self::Enum(_) => Type::TEXT,
            Self::Integer { .. } => Type::INT8,
            Self::Number { .. } => Type::FLOAT8,
            Self::Boolean => Type::BOOL,
            Self::Date => Type::DATE,
            Self::Timestamp => Type::TIMESTAMPTZ,
            Self::Uuid => Type::UUID,
        }
    }

    fn pg_array(&self) -> Type {
        match self {
            Self::String { .. } | Self::Enum(_) => Type::TEXT_ARRAY,
            Self::Integer { .. } => Type::INT8_ARRAY,
            Self::Number { .. } => Type::FLOAT8_ARRAY,
            Self::Boolean => Type::BOOL_ARRAY,
            Self::Date => Type::DATE_ARRAY,
            Self::Timestamp => Type::TIMESTAMPTZ_ARRAY,
            Self::Uuid => Type::UUID_ARRAY,
        }
    }

    fn schema(&self) -> Value {
        match self {
            Self::String { min_length, max_length, pattern } => {
                let mut schema = json!({"type": "string", "minLength": min_length, "maxLength": max_length});
                if let (Some(pattern), Some(members)) = (pattern, schema.as_object_mut()) {
                    members.insert("pattern".to_owned(), pattern.as_str().into());
                }
                schema
            }
            Self::Integer { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
            Self::Number { min, max } => json!({"type": "number", "minimum": min, "maximum": max}),
            Self::Boolean => json!({"type": "boolean"}),
            Self::Date => json!({"type": "string", "format": "date"}),
            Self::Timestamp => json!({"type": "string", "format": "date-time"}),
            Self::Uuid => json!({"type": "string", "format": "uuid"}),
            Self::Enum(values) => json!({"type": "string", "enum": values}),
        }
    }
}

/// Reports a value that a call cannot hold, or that is listed already.
fn check_enum_value(name: &str, value: &str, line: usize, known: &[String], report: &mut Report<'_, Rule>) {
    let (what, cure) = if known.iter().any(|known| known == value) {
        ("twice", "Keep one of them.")
    } else if value.chars().any(sanitizer::is_forbidden)
        || value.chars().count() > sanitizer::MAX_STRING_CHARS
    {
        ("that no call may hold", "Leave out characters that are not shown, and keep it short.")
    } else {
        return;
    };
    let text = format!("The parameter {name} has the value {} {what}.", echo(value));
    report.add(Rule::InvalidValue, line, text, cure);
}

fn untyped(name: &str, line: usize, report: &mut Report<'_, Rule>) {
    report.add(
        Rule::ParamUntyped,
        line,
        format!("The parameter {name} has no type, or its items have none."),
        format!("Write type = \"…\": {TYPES}; an array also items = {{ type = \"…\" }}."),
    );
}

fn unbounded(name: &str, line: usize, bounds: &str, report: &mut Report<'_, Rule>) {
    report.add(
        Rule::ParamUnbounded,
        line,
        format!("The parameter {name} lacks a bound."),
        format!("Write {bounds}."),
    );
}
