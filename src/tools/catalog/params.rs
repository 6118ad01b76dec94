//! The parameters of an entry, and the JSON Schema of a call's arguments.

use postgres::types::Type;
use serde_json::{Map, Value, json};
use toml::Spanned;
use toml::de::DeValue;

use super::diagnoses;
use super::kinds::{Kind, Scalar};
use super::rule::Rule;
use crate::arguments::Checker;
use crate::document::section::{Located, Report, Section, prose, wrong};

/// A parameter of an entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Param {
    pub(super) name: String,
    /// Absent when it is wrong. Such a parameter is never bound, but a proof may rely on the rest.
    pub(super) kind: Option<Kind>,
    /// It may be NULL: `optional = true`.
    pub(super) optional: bool,
    pub(super) matching: Option<Match>,
    pub(super) default: Option<Value>,
    pub(super) description: Option<String>,
}

/// The way LIKE matches a text: `%`, `_` and `\` in it are escaped, and these wildcards added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// `%text%`
    Contains,
    /// `text%`
    Prefix,
}

impl Match {
    /// Returns the pattern that finds `text` itself, where `\` escapes.
    pub(super) fn pattern(self, text: &str) -> String {
        let start = if self == Self::Contains { "%" } else { "" };
        let escaped = text.replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_");
        format!("{start}{escaped}%")
    }
}

impl Param {
    /// Reads `params.<name> = {…}`. Faults are reported.
    pub(super) fn read(
        name: &Located<String>,
        value: &Spanned<DeValue<'_>>,
        max_rows: u32,
        report: &mut Report<'_, Rule>,
    ) -> Self {
        let Located { value: name, line } = name;
        let mut param = Self { name: name.clone(), ..Self::default() };
        let Some(mut section) = Section::of(value, "a parameter", name, report) else { return param };
        // The value of a dotted key begins behind it.
        section.line = *line;
        param.optional = section.flag("optional", report);
        let default = section.json("default", report);
        // In a schema it is one line.
        param.description = prose(section.text("description", report), "description", report)
            .map(|text| text.replace('\n', " "));
        param.matching = matching(&mut section, report);
        param.kind = Kind::read(name, &mut section, report);
        section.finish(report);
        if let Some(kind) = &param.kind {
            param.check_default(default.as_ref(), report);
            check_match(&param, kind, *line, report);
            check_limit(&param, kind, *line, max_rows, report);
        }
        param.default = default.filter(|_| !param.optional).map(|default| default.value);
        param
    }

    fn check_default(&self, default: Option<&Located<Value>>, report: &mut Report<'_, Rule>) {
        let Some(Located { value, line }) = default else { return };
        if self.optional {
            diagnoses::OPTIONAL_WITH_DEFAULT.report(report, *line, &[&self.name]);
        }
        let arguments = Map::from_iter([(self.name.clone(), value.clone())]);
        if let Err(problem) = Checker::new(&schema(std::slice::from_ref(self))).check(arguments) {
            diagnoses::DEFAULT_REFUSED.report(report, *line, &[&problem.detail()]);
        }
    }

    /// Returns whether it is a number or a list of numbers, which cannot hold a pattern.
    pub(super) fn is_numeric(&self) -> bool {
        self.kind.as_ref().is_some_and(|kind| matches!(kind.scalar, Scalar::Integer | Scalar::Number))
    }

    /// Returns whether it is a text or a list of texts, which the caller makes up.
    pub(super) fn is_text(&self) -> bool {
        self.kind.as_ref().is_none_or(|kind| kind.scalar == Scalar::String)
    }

    /// The type that its value is bound with.
    pub(super) fn pg_type(&self) -> Type {
        self.kind.as_ref().map_or(Type::TEXT, Kind::pg_type)
    }

    fn schema(&self) -> Value {
        let description =
            self.description.iter().map(|text| ("description".to_owned(), text.as_str().into()));
        let default = self.default.iter().map(|value| ("default".to_owned(), value.clone()));
        let bounds = self.kind.iter().flat_map(|kind| kind.schema.clone());
        description.chain(bounds).chain(default).collect::<Map<_, _>>().into()
    }
}

/// Requires that a text is searched for, and not the empty one.
fn check_match(param: &Param, kind: &Kind, line: usize, report: &mut Report<'_, Rule>) {
    if param.matching.is_none() {
        return;
    }
    if kind.is_list || kind.scalar != Scalar::String {
        diagnoses::MATCH_OF_NO_STRING.report(report, line, &[&param.name]);
    } else if kind.bound("minLength").is_none_or(|length| length < 1) {
        diagnoses::MATCH_OF_NOTHING.report(report, line, &[&param.name]);
    }
}

/// `limit` bounds the answer: it is never above what the server allows. That it is never absent is proven later.
fn check_limit(param: &Param, kind: &Kind, line: usize, max_rows: u32, report: &mut Report<'_, Rule>) {
    if param.name != "limit" {
        return;
    }
    match (kind.scalar, kind.bound("minimum"), kind.bound("maximum")) {
        (Scalar::Integer, Some(1..), Some(max)) if max <= i64::from(max_rows) => {}
        (Scalar::Integer, Some(min), Some(max)) => {
            diagnoses::LIMIT_BOUNDS.report(report, line, &[&min, &max, &max_rows]);
        }
        _ => diagnoses::LIMIT_TYPE.report(report, line, &[]),
    }
}

/// The JSON Schema of a call's arguments.
pub(super) fn schema(params: &[Param]) -> Map<String, Value> {
    let properties: Map<String, Value> =
        params.iter().map(|param| (param.name.clone(), param.schema())).collect();
    let required = params.iter().filter(|param| !param.optional && param.default.is_none());
    let required: Vec<&str> = required.map(|param| param.name.as_str()).collect();
    let mut schema = Map::from_iter([
        ("type".to_owned(), "object".into()),
        ("properties".to_owned(), properties.into()),
        ("required".to_owned(), json!(required)),
        ("additionalProperties".to_owned(), false.into()),
    ]);
    if required.is_empty() {
        schema.shift_remove("required");
    }
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
