//! The one check of a tool's arguments against its schema. What a client reads and what is enforced are the same
//! document.

pub mod suggest;
mod schema;
pub(crate) mod formats;
pub(crate) mod pattern;
#[cfg(test)]
pub(crate) mod sample;

use std::borrow::Cow;

use regex_lite::Regex;
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use crate::problem::{Code, MAX_ECHO_CHARS, Problem, echo};
pub use schema::{schema_of, with_maximum};

/// Judges `arguments` by `schema` (made by [`schema_of`]), fills in the schema's defaults and reads the typed value.
/// Also returns the arguments as judged: in the schema's order, defaults filled in, integers written as integers.
///
/// # Errors
/// One `MCP_VALIDATION_ERROR` that names every wrong parameter, with a sentence for each.
pub fn parse<T: DeserializeOwned>(
    arguments: Map<String, Value>,
    schema: &Map<String, Value>,
) -> Result<(T, Map<String, Value>), Problem> {
    let judged = judged(arguments, schema)?;
    match T::deserialize(Value::Object(judged.clone())) {
        Ok(value) => Ok((value, judged)),
        // The schema is made from T, so this is a rule of T that the schema cannot tell.
        Err(why) => Err(Problem::new(
            Code::Validation,
            format!("The arguments are not valid: {}.", echo(&why.to_string())),
        )),
    }
}

/// The same, for a schema that no struct stands behind.
///
/// # Errors
/// As those of [`parse`].
pub fn judged(
    mut arguments: Map<String, Value>,
    schema: &Map<String, Value>,
) -> Result<Map<String, Value>, Problem> {
    let mut faults = Faults::default();
    let mut judged = Map::new();
    for (name, property) in properties(schema) {
        match arguments.shift_remove(name) {
            Some(value) => match judge(value, property) {
                Ok(value) => {
                    judged.insert(name.clone(), value);
                }
                Err(sentence) => faults.add(name, format!("`{name}` {sentence}.")),
            },
            None if is_required(schema, name) => {
                faults.add(name, format!("`{name}` is required: it must be {}.", allowed(property)));
            }
            None => {
                if let Some(default) = property.get("default") {
                    judged.insert(name.clone(), default.clone());
                }
            }
        }
    }
    faults.unknown(&arguments, schema);
    faults.into_problem().map_or(Ok(judged), Err)
}

/// The wrong parameters of one call.
#[derive(Default)]
struct Faults {
    names: Vec<String>,
    sentences: Vec<String>,
}

impl Faults {
    fn add(&mut self, name: &str, sentence: String) {
        self.names.push(name.to_owned());
        self.sentences.push(sentence);
    }

    /// What is left of the arguments once every known parameter is taken out.
    fn unknown(&mut self, left: &Map<String, Value>, schema: &Map<String, Value>) {
        if left.is_empty() {
            return;
        }
        let mut room = MAX_ECHO_CHARS;
        let named: Vec<_> = left
            .keys()
            .map_while(|name| {
                room = room.checked_sub(name.len() + ", ".len())?;
                Some(name.clone())
            })
            .collect();
        let more = match left.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let known = properties(schema).map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "none".to_owned() } else { known };
        self.sentences
            .push(format!("Not a parameter of this tool: '{}'{more}. It has {known}.", named.join(", ")));
        self.names.extend(named);
    }

    fn into_problem(self) -> Option<Problem> {
        if self.sentences.is_empty() {
            return None;
        }
        let problem = Problem::new(Code::Validation, self.sentences.join(" "));
        Some(self.names.into_iter().fold(problem, Problem::param))
    }
}

fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

fn is_required(schema: &Map<String, Value>, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|entry| entry == name))
}

/// The value as it is passed on, or how the sentence about it goes on.
fn judge(value: Value, property: &Value) -> Result<Value, String> {
    let value = normalised(value, property);
    if value.is_null() {
        return Err(format!("is null: leave it out, or give {}", allowed(property)));
    }
    let value = match (value, property.get("items")) {
        (Value::Array(items), Some(property)) => Value::Array(judge_items(items, property)?),
        (value, _) => value,
    };
    let listed = property.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(&value));
    match (fits(&value, property) && listed, wants_integer(property) && is_integral(&value)) {
        (true, _) => Ok(value),
        (false, true) => {
            Err(format!("must be {}, written without a point or an exponent", allowed(property)))
        }
        (false, false) => Err(format!("must be {}", allowed(property))),
    }
}

/// The first item that is wrong is told.
fn judge_items(items: Vec<Value>, property: &Value) -> Result<Vec<Value>, String> {
    let judge = |(index, item)| {
        judge(item, property).map_err(|wrong| format!("has an item, [{index}], that {wrong}"))
    };
    items.into_iter().enumerate().map(judge).collect()
}

/// Whether the value is of the property's type and within its bounds.
fn fits(value: &Value, property: &Value) -> bool {
    match property.get("type").and_then(Value::as_str) {
        Some("integer") => as_integer(value).is_some_and(|integer| {
            property.get("minimum").and_then(as_integer).is_none_or(|least| integer >= least)
                && property.get("maximum").and_then(as_integer).is_none_or(|most| integer <= most)
        }),
        Some("number") => value.as_f64().is_some_and(|number| {
            property.get("minimum").and_then(Value::as_f64).is_none_or(|least| number >= least)
                && property.get("maximum").and_then(Value::as_f64).is_none_or(|most| number <= most)
        }),
        Some("string") => value.as_str().is_some_and(|text| {
            let chars = text.chars().count();
            size(property, "minLength").is_none_or(|least| chars >= least)
                && size(property, "maxLength").is_none_or(|most| chars <= most)
                && has_format(text, property)
                && has_pattern(text, property)
        }),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.as_array().is_some_and(|items| {
            size(property, "minItems").is_none_or(|least| items.len() >= least)
                && size(property, "maxItems").is_none_or(|most| items.len() <= most)
        }),
        Some("object") => value.is_object(),
        _ => true,
    }
}

fn has_format(text: &str, property: &Value) -> bool {
    match property.get("format").and_then(Value::as_str) {
        Some("date") => formats::date(text).is_some(),
        Some("date-time") => formats::timestamp(text).is_some(),
        Some("uuid") => formats::uuid(text).is_some(),
        _ => true,
    }
}

/// A pattern was compiled when its schema was made; one that no longer can be matches nothing.
fn has_pattern(text: &str, property: &Value) -> bool {
    let pattern = property.get("pattern").and_then(Value::as_str);
    pattern.is_none_or(|pattern| Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text)))
}

/// `10.0` for an integer is 10. Only as far as every integer has a double of its own: beyond, what the client meant is
/// unknown.
fn normalised(value: Value, property: &Value) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let is_exact = |number: &f64| wants_integer(property) && is_integral(&value) && number.abs() < EXACT;
    match value.as_f64().filter(is_exact) {
        // The digits of an integral double are those of the integer.
        Some(number) => format!("{number:.0}").parse::<i64>().map_or(value, Value::from),
        None => value,
    }
}

fn wants_integer(property: &Value) -> bool {
    property.get("type").is_some_and(|kind| kind == "integer")
}

/// Whether `value` is an integer by its value, though it is written with a point or an exponent.
fn is_integral(value: &Value) -> bool {
    value.is_f64() && value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// What `property` takes, as the end of a sentence.
fn allowed(property: &Value) -> Cow<'static, str> {
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        let values = values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
        return format!("one of {values}").into();
    }
    let (noun, least, most, unit) = match property.get("type").and_then(Value::as_str) {
        Some("integer") => ("an integer", "minimum", "maximum", ""),
        Some("number") => ("a number", "minimum", "maximum", ""),
        Some("string") => match property.get("format").and_then(Value::as_str) {
            Some("date") => return "a date such as 2026-01-31".into(),
            Some("date-time") => return "a time with its zone such as 2026-01-31T12:00:00Z".into(),
            Some("uuid") => return "a UUID such as 0190a6e0-4f2b-7c3d-8e1f-2a3b4c5d6e7f".into(),
            _ => ("a string", "minLength", "maxLength", " characters"),
        },
        Some("boolean") => return "true or false".into(),
        Some("array") => ("an array", "minItems", "maxItems", " items"),
        Some("object") => return "an object".into(),
        _ => return "a value of the kind its schema names".into(),
    };
    let items = property.get("items").map_or_else(String::new, |items| format!(", each {}", allowed(items)));
    let pattern = property.get("pattern").and_then(Value::as_str);
    let pattern = pattern.map_or_else(String::new, |pattern| format!(" that matches {pattern}"));
    let join = if unit.is_empty() { "from" } else { "of" };
    match (property.get(least), property.get(most)) {
        (Some(least), Some(most)) => format!("{noun} {join} {least} to {most}{unit}{pattern}{items}").into(),
        (Some(least), None) => format!("{noun} of at least {least}{unit}{pattern}{items}").into(),
        (None, Some(most)) => format!("{noun} of at most {most}{unit}{pattern}{items}").into(),
        (None, None) => format!("{noun}{pattern}{items}").into(),
    }
}

fn size(property: &Value, keyword: &str) -> Option<usize> {
    property.get(keyword).and_then(Value::as_u64).and_then(|size| usize::try_from(size).ok())
}

/// An integer of JSON, signed or unsigned.
fn as_integer(value: &Value) -> Option<i128> {
    let number: &Number = value.as_number()?;
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::sample::Arguments;
    use serde_json::json;

    #[test]
    fn a_default_above_a_lowered_ceiling_follows_it_down() {
        let schema = |maximum| with_maximum(schema_of::<Arguments>(), "bytes", maximum);
        assert_eq!(schema(5)["properties"]["bytes"]["default"], 5);
        assert_eq!(schema(5)["properties"]["bytes"]["maximum"], 5);
        assert_eq!(schema(15)["properties"]["bytes"]["default"], 10);
        let (arguments, judged) =
            parse::<Arguments>(json!({"title": "a"}).as_object().unwrap().clone(), &schema(5)).unwrap();
        assert_eq!((arguments.bytes, &judged["bytes"]), (5, &json!(5)));
    }

    /// `expected`: the judged arguments that differ from the defaults, or the parameters and the detail of the problem.
    #[track_caller]
    fn check(arguments: &Value, expected: Result<Value, (&[&str], &str)>) {
        let arguments = arguments.as_object().unwrap().clone();
        match (parse::<Arguments>(arguments, &schema_of::<Arguments>()), expected) {
            (Ok((_, judged)), Ok(expected)) => {
                let mut whole =
                    json!({"title": "a", "bytes": 10, "encoding": "text", "share": 0.0, "deep": false});
                whole.as_object_mut().unwrap().extend(expected.as_object().unwrap().clone());
                assert_eq!(Value::Object(judged), whole);
            }
            (Err(problem), Err((params, detail))) => {
                assert_eq!(problem.code(), Code::Validation);
                assert_eq!(problem.invalid_params(), params);
                assert_eq!(problem.detail(), detail);
            }
            (outcome, expected) => panic!("{outcome:?} is not {expected:?}"),
        }
    }

    #[test]
    fn good_arguments_come_out_in_the_schemas_order_with_their_defaults() {
        check(&json!({"title": "a"}), Ok(json!({})));
        check(&json!({"title": "äöü€"}), Ok(json!({"title": "äöü€"})));
        check(&json!({"title": "a", "bytes": 1}), Ok(json!({"bytes": 1})));
        check(&json!({"title": "a", "bytes": 20}), Ok(json!({"bytes": 20})));
        check(&json!({"title": "a", "bytes": 10.0}), Ok(json!({"bytes": 10})));
        check(&json!({"title": "a", "any": -0.0}), Ok(json!({"any": 0})));
        check(
            &json!({"title": "a", "any": -9_007_199_254_740_991.0}),
            Ok(json!({"any": -9_007_199_254_740_991_i64})),
        );
        check(&json!({"title": "a", "share": 1}), Ok(json!({"share": 1})));
        check(
            &json!({"title": "a", "encoding": "hex", "deep": true}),
            Ok(json!({"encoding": "hex", "deep": true})),
        );
        check(&json!({"title": "a", "after": ""}), Ok(json!({"after": ""})));
        let arguments = json!({"deep": true, "title": "a", "bytes": 2}).as_object().unwrap().clone();
        let (_, judged) = parse::<Arguments>(arguments, &schema_of::<Arguments>()).unwrap();
        assert_eq!(judged.keys().collect::<Vec<_>>(), ["title", "bytes", "encoding", "share", "deep"]);
    }

    #[test]
    fn each_wrong_argument_is_told_with_what_is_allowed() {
        const TITLE: &str = "`title` must be a string of 1 to 4 characters.";
        const BYTES: &str = "`bytes` must be an integer from 1 to 20.";
        const ENCODING: &str = "`encoding` must be one of \"text\", \"hex\".";
        const SHARE: &str = "`share` must be a number from -1.5 to 1.5.";
        check(
            &json!({}),
            Err((&["title"], "`title` is required: it must be a string of 1 to 4 characters.")),
        );
        check(&json!({"title": ""}), Err((&["title"], TITLE)));
        check(&json!({"title": "äöü€ß"}), Err((&["title"], TITLE)));
        check(&json!({"title": 7}), Err((&["title"], TITLE)));
        check(
            &json!({"title": null}),
            Err((&["title"], "`title` is null: leave it out, or give a string of 1 to 4 characters.")),
        );
        check(
            &json!({"title": "a", "after": null}),
            Err((&["after"], "`after` is null: leave it out, or give a string.")),
        );
        check(&json!({"title": "a", "any": 0.5}), Err((&["any"], "`any` must be an integer.")));
        check(
            &json!({"title": "a", "any": 9_007_199_254_740_992.0}),
            Err((&["any"], "`any` must be an integer, written without a point or an exponent.")),
        );
        check(&json!({"title": "a", "deep": "true"}), Err((&["deep"], "`deep` must be true or false.")));
        for bytes in [json!(0), json!(21), json!(-1), json!(1.5), json!("10"), json!(u64::MAX), json!([])] {
            check(&json!({"title": "a", "bytes": bytes}), Err((&["bytes"], BYTES)));
        }
        for encoding in [json!("HEX"), json!(1), json!({})] {
            check(&json!({"title": "a", "encoding": encoding}), Err((&["encoding"], ENCODING)));
        }
        for share in [json!(-1.6), json!(2), json!("1"), json!(false)] {
            check(&json!({"title": "a", "share": share}), Err((&["share"], SHARE)));
        }
    }

    #[test]
    fn every_wrong_parameter_is_told_at_once() {
        check(
            &json!({"bytes": 0, "x": 1, "title": 1, "y": 2}),
            Err((
                &["title", "bytes", "x", "y"],
                "`title` must be a string of 1 to 4 characters. `bytes` must be an integer from 1 to 20. \
                 Not a parameter of this tool: 'x, y'. It has `title`, `bytes`, `encoding`, `after`, `below`, `share`, \
                 `deep`, `any`.",
            )),
        );
    }

    #[test]
    fn what_is_echoed_of_unknown_parameters_is_bounded() {
        let many = (0..1000).map(|n| (format!("p{n}"), Value::Null)).collect::<Map<_, _>>();
        let problem = parse::<Arguments>(many, &schema_of::<Arguments>()).unwrap_err();
        assert_eq!(problem.invalid_params().len(), 1 + 53, "`title`, and what fits of the unknown");
        assert!(problem.detail().contains(", p52' and 947 more. It has `title`"), "{}", problem.detail());
        let long = Map::from_iter([("title".to_owned(), json!("a")), ("x".repeat(300), Value::Null)]);
        let problem = parse::<Arguments>(long, &schema_of::<Arguments>()).unwrap_err();
        assert_eq!(problem.invalid_params().len(), 0, "the sanitizer lets no such name through");
        assert!(problem.detail().contains("of this tool: '' and 1 more."), "{}", problem.detail());
    }
}
