//! The parameters of an entry: what a value may be, as it is written, as a JSON Schema, and as a type of PostgreSQL.

use postgres::types::Type;
use serde_json::{Map, Value, json};
use toml::{Spanned, de::DeValue};

use super::{
    Rule, pattern,
    prove::ParamClaim,
    section::{Located, Report, Section, prose, wrong},
};
use crate::{call::sanitizer, problem::echo, tools::arguments};

/// The longest text a parameter may take, in characters: what the sanitizer lets through.
const MAX_LENGTH: i64 = 65_536;
/// The most items of an array: what the sanitizer lets through in one call.
const MAX_ITEMS: i64 = 1_000;

/// How a text is matched by LIKE: `%`, `_` and `\` in it are escaped, and these wildcards added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// `%text%`
    Contains,
    /// `text%`
    Prefix,
}

impl Match {
    /// The pattern that finds `text` itself, where `\` escapes.
    pub(super) fn pattern(self, text: &str) -> String {
        let mut pattern = String::with_capacity(text.len() + 2);
        pattern.push_str(match self {
            Self::Contains => "%",
            Self::Prefix => "",
        });
        for character in text.chars() {
            if matches!(character, '%' | '_' | '\\') {
                pattern.push('\\');
            }
            pattern.push(character);
        }
        pattern.push('%');
        pattern
    }
}

/// A parameter of an entry.
#[derive(Clone, Debug)]
pub(super) struct Param {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Whether it may be left out, and what holds then.
    pub(super) presence: Presence,
    pub(super) description: Option<String>,
    pub(super) matching: Option<Match>,
}

/// What an absent argument means.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Presence {
    Required,
    /// NULL.
    Optional,
    Default(Value),
}

/// What values a parameter takes.
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

impl Param {
    /// Reads `params.<name> = {…}`; what is wrong is reported.
    pub(super) fn read(
        name: &Located<String>,
        value: &Spanned<DeValue<'_>>,
        max_rows: u32,
        report: &mut Report<'_>,
    ) -> (ParamClaim, Option<Self>) {
        let mut claim =
            ParamClaim { name: name.value.clone(), matching: None, numeric: false, optional: false };
        let Some(mut section) = Section::of(value, "a parameter", &name.value, report) else {
            return (claim, None);
        };
        // The value of a dotted key begins behind it.
        section.line = name.line;
        claim.optional = section.flag("optional", report);
        let default = section.json("default", report);
        let description = prose(section.text("description", report), "description", report);
        // In a schema it is one line.
        let description = description.map(|text| text.replace('\n', " "));
        claim.matching = matching(&mut section, report);
        let kind = Kind::read(&name.value, &mut section, report);
        section.finish(report);
        let Some(kind) = kind else { return (claim, None) };
        claim.numeric = kind.is_numeric();
        let presence = match (claim.optional, &default) {
            (true, Some(default)) => {
                report.add(
                    Rule::InvalidValue,
                    default.line,
                    format!("The parameter {} is optional and has a default.", name.value),
                    "Keep one of the two: an optional parameter that is left out is NULL.",
                );
                Presence::Optional
            }
            (true, None) => Presence::Optional,
            (false, None) => Presence::Required,
            (false, Some(default)) => Presence::Default(default.value.clone()),
        };
        let param = Self { name: name.value.clone(), kind, presence, description, matching: claim.matching };
        param.check_match(name.line, report);
        param.check_default(default.as_ref(), report);
        param.check_limit(name.line, max_rows, report);
        (claim, Some(param))
    }

    fn check_match(&self, line: usize, report: &mut Report<'_>) {
        if self.matching.is_none() {
            return;
        }
        let Kind::One(Scalar::String { min_length, .. }) = self.kind else {
            return report.add(
                Rule::InvalidValue,
                line,
                format!("The parameter {} is no string and has `match`.", self.name),
                "Only one text can be searched for: make it a string, or remove `match`.",
            );
        };
        if min_length < 1 {
            report.add(
                Rule::ParamUnbounded,
                line,
                format!(
                    "The parameter {} may be empty, and a search for nothing finds everything.",
                    self.name
                ),
                "Write min_length = 1 or more.",
            );
        }
    }

    fn check_default(&self, default: Option<&Located<Value>>, report: &mut Report<'_>) {
        let Some(Located { value, line }) = default else { return };
        let arguments = Map::from_iter([(self.name.clone(), value.clone())]);
        if let Err(problem) = arguments::judged(arguments, &schema(std::slice::from_ref(self))) {
            report.add(
                Rule::InvalidValue,
                *line,
                format!("The default breaks the parameter's own bounds: {}", problem.detail()),
                "Write a default that a caller might send.",
            );
        }
    }

    /// `limit` bounds the answer: it is never above what the server allows. That it is never absent is proven later.
    fn check_limit(&self, line: usize, max_rows: u32, report: &mut Report<'_>) {
        if self.name != "limit" {
            return;
        }
        let Kind::One(Scalar::Integer { min, max }) = self.kind else {
            return report.add(
                Rule::ParamUntyped,
                line,
                "The parameter limit is no integer.",
                "Write type = \"integer\", or use another name.",
            );
        };
        if min < 1 || max > i64::from(max_rows) {
            report.add(
                Rule::ParamUnbounded,
                line,
                format!("The parameter limit does not bound the answer: it goes from {min} to {max}."),
                format!("Keep it between 1 and {max_rows} (MCP_SQL_MAX_ROWS)."),
            );
        }
    }

    /// The type that its value is bound with.
    pub(super) fn pg_type(&self) -> Type {
        match &self.kind {
            Kind::One(scalar) => scalar.pg_type(),
            Kind::Many { items, .. } => items.pg_array(),
        }
    }

    fn schema(&self) -> Value {
        let mut schema = match &self.kind {
            Kind::One(scalar) => scalar.schema(),
            Kind::Many { items, max_items } => {
                json!({"type": "array", "items": items.schema(), "maxItems": max_items})
            }
        };
        if let Some(members) = schema.as_object_mut() {
            if let Some(text) = &self.description {
                members.shift_insert(0, "description".to_owned(), text.as_str().into());
            }
            if let Presence::Default(value) = &self.presence {
                members.insert("default".to_owned(), value.clone());
            }
        }
        schema
    }
}

/// The JSON Schema of a call's arguments.
pub(super) fn schema(params: &[Param]) -> Map<String, Value> {
    let properties: Map<String, Value> =
        params.iter().map(|param| (param.name.clone(), param.schema())).collect();
    let required: Vec<&str> = params
        .iter()
        .filter(|param| param.presence == Presence::Required)
        .map(|param| param.name.as_str())
        .collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    schema.insert("additionalProperties".to_owned(), false.into());
    schema
}

fn matching(section: &mut Section<'_>, report: &mut Report<'_>) -> Option<Match> {
    let Located { value, line } = section.text("match", report)?;
    match value.as_str() {
        "contains" => Some(Match::Contains),
        "prefix" => Some(Match::Prefix),
        _ => {
            wrong(report, line, "match", "\"contains\" or \"prefix\"");
            // That it searches is clear.
            Some(Match::Contains)
        }
    }
}

impl Kind {
    fn is_numeric(&self) -> bool {
        let (Self::One(scalar) | Self::Many { items: scalar, .. }) = self;
        matches!(scalar, Scalar::Integer { .. } | Scalar::Number { .. })
    }

    fn read(name: &str, section: &mut Section<'_>, report: &mut Report<'_>) -> Option<Self> {
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
}

impl Scalar {
    fn read(
        name: &str,
        kind: &Located<String>,
        section: &mut Section<'_>,
        report: &mut Report<'_>,
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
                    format!("The parameter {name} is of the type {}, which there is not.", echo(other)),
                    format!("Write {TYPES}; the items of an array are no arrays."),
                );
                return None;
            }
        })
    }

    fn read_string(name: &str, section: &mut Section<'_>, report: &mut Report<'_>) -> Option<Self> {
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

/// A value that no call can have, or that is there already.
fn check_enum_value(name: &str, value: &str, line: usize, known: &[String], report: &mut Report<'_>) {
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

fn untyped(name: &str, line: usize, report: &mut Report<'_>) {
    report.add(
        Rule::ParamUntyped,
        line,
        format!("The parameter {name} has no type, or its items have none."),
        format!("Write type = \"…\": {TYPES}; an array also items = {{ type = \"…\" }}."),
    );
}

fn unbounded(name: &str, line: usize, bounds: &str, report: &mut Report<'_>) {
    report.add(
        Rule::ParamUnbounded,
        line,
        format!("The parameter {name} lacks a bound."),
        format!("Write {bounds}."),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_the_text_itself() {
        assert_eq!(Match::Contains.pattern(r"50%_\"), r"%50\%\_\\%");
        assert_eq!(Match::Prefix.pattern("a"), "a%");
        assert_eq!(Match::Contains.pattern(""), "%%");
    }
}
