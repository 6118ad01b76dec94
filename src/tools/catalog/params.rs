//! The parameters of an entry, and the JSON Schema of a call's arguments.

use postgres::types::Type;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::DeValue;

use super::claim::{Match, ParamClaim};
use super::kinds::{Kind, Scalar};
use super::rule::Rule;
use crate::arguments::Checker;
use crate::document::section::{Located, Report, Section, prose, wrong};

/// A parameter of an entry.
#[derive(Clone, Debug)]
pub(super) struct Param {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// The meaning of its absence.
    pub(super) presence: Presence,
    pub(super) description: Option<String>,
    pub(super) matching: Option<Match>,
}

/// The meaning of an absent argument.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Presence {
    Required,
    /// NULL.
    Optional,
    Default(Value),
}

impl Param {
    /// Reads `params.<name> = {…}`. Faults are reported.
    pub(super) fn read(
        name: &Located<String>,
        value: &Spanned<DeValue<'_>>,
        max_rows: u32,
        report: &mut Report<'_, Rule>,
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

    fn check_match(&self, line: usize, report: &mut Report<'_, Rule>) {
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

    fn check_default(&self, default: Option<&Located<Value>>, report: &mut Report<'_, Rule>) {
        let Some(Located { value, line }) = default else { return };
        let arguments = Map::from_iter([(self.name.clone(), value.clone())]);
        if let Err(problem) = Checker::new(&schema(std::slice::from_ref(self))).check(arguments) {
            report.add(
                Rule::InvalidValue,
                *line,
                format!("The default breaks the parameter's own bounds: {}", problem.detail()),
                "Write a default that a caller might send.",
            );
        }
    }

    /// `limit` bounds the answer: it is never above what the server allows. That it is never absent is proven later.
    fn check_limit(&self, line: usize, max_rows: u32, report: &mut Report<'_, Rule>) {
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
        self.kind.pg_type()
    }

    fn schema(&self) -> Value {
        let mut schema = self.kind.schema();
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

fn matching(section: &mut Section<'_>, report: &mut Report<'_, Rule>) -> Option<Match> {
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
