//! The check of a tool's arguments against its schema: the document that clients read is the one that is enforced.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::property::Property;
use crate::problem::{Code, MAX_ECHO_CHARS, Problem, echo};

/// The checker of one tool's arguments, compiled from its schema. Made once a tool, not once a call.
#[derive(Debug)]
pub struct Checker {
    parameters: Vec<Parameter>,
}

/// One parameter of the tool.
#[derive(Debug)]
struct Parameter {
    name: String,
    property: Property,
    is_required: bool,
    default: Option<Value>,
}

impl Checker {
    /// Compiles a schema that [`schema_of`](super::schema_of) made, or one of the same shape.
    pub fn new(schema: &Map<String, Value>) -> Self {
        let required = schema.get("required").and_then(Value::as_array);
        let parameter = |(name, property): (&String, &Value)| Parameter {
            name: name.clone(),
            property: Property::new(property),
            is_required: required.is_some_and(|required| required.iter().any(|entry| entry == name)),
            default: property.get("default").cloned(),
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        Self { parameters: properties.into_iter().flatten().map(parameter).collect() }
    }

    /// Checks `arguments` and reads the typed value that the schema was made from. Also returns the arguments as checked:
    /// in the schema's order, defaults filled in, integers written as integers.
    ///
    /// # Errors
    /// One `MCP_VALIDATION_ERROR` that names every wrong parameter, with a sentence for each.
    pub fn parse<T: DeserializeOwned>(
        &self,
        arguments: Map<String, Value>,
    ) -> Result<(T, Map<String, Value>), Problem> {
        let checked = self.check(arguments)?;
        match T::deserialize(Value::Object(checked.clone())) {
            Ok(value) => Ok((value, checked)),
            // The schema is made from T, so this is a rule of T that the schema cannot express.
            Err(why) => Err(Problem::new(
                Code::Validation,
                format!("The arguments are not valid: {}.", echo(&why.to_string())),
            )),
        }
    }

    /// Checks `arguments` of a schema that was not made from a struct.
    ///
    /// # Errors
    /// As those of [`Checker::parse`].
    pub fn check(&self, mut arguments: Map<String, Value>) -> Result<Map<String, Value>, Problem> {
        let (mut names, mut sentences) = (Vec::new(), Vec::new());
        let mut checked = Map::new();
        for Parameter { name, property, is_required, default } in &self.parameters {
            // A client that must fill in every argument writes null or "" for one that its model left out.
            let given = arguments.shift_remove(name);
            let value = match given.filter(|value| *is_required || !property.is_absent(value)) {
                Some(value) => property.check(value).map(Some).map_err(|error| format!("`{name}` {error}.")),
                None if *is_required => {
                    Err(format!("`{name}` is required: it must be {}.", property.allowed()))
                }
                None => Ok(default.clone()),
            };
            match value {
                Ok(value) => checked.extend(value.map(|value| (name.clone(), value))),
                Err(fault) => {
                    names.push(name.clone());
                    sentences.push(fault);
                }
            }
        }
        if !arguments.is_empty() {
            let (unknown, fault) = self.unknown(&arguments);
            names.extend(unknown);
            sentences.push(fault);
        }
        if sentences.is_empty() {
            return Ok(checked);
        }
        Err(names.into_iter().fold(Problem::new(Code::Validation, sentences.join(" ")), Problem::param))
    }

    /// Names what is left of the arguments once every known parameter is taken out.
    fn unknown(&self, left: &Map<String, Value>) -> (Vec<String>, String) {
        let mut remaining = MAX_ECHO_CHARS;
        let fits = |name: &String| {
            remaining = remaining.checked_sub(name.len() + ", ".len())?;
            Some(name.clone())
        };
        let named: Vec<_> = left.keys().map_while(fits).collect();
        let more = match left.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let known: Vec<_> = self.parameters.iter().map(|parameter| format!("`{}`", parameter.name)).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let listed = named.join(", ");
        (named, format!("Not a parameter of this tool: '{listed}'{more}. It has {known}."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{sample::Arguments, schema_of, with_maximum};
    use serde_json::json;

    #[test]
    fn a_default_above_a_lowered_maximum_is_lowered_with_it() {
        let schema = |maximum| with_maximum(schema_of::<Arguments>(), "bytes", maximum);
        assert_eq!(schema(5)["properties"]["bytes"]["default"], 5);
        assert_eq!(schema(5)["properties"]["bytes"]["maximum"], 5);
        assert_eq!(schema(15)["properties"]["bytes"]["default"], 10);
        let (arguments, checked) = Checker::new(&schema(5))
            .parse::<Arguments>(json!({"title": "a"}).as_object().unwrap().clone())
            .unwrap();
        assert_eq!((arguments.bytes, &checked["bytes"]), (5, &json!(5)));
    }

    /// `expected`: the checked arguments that differ from the defaults, or the parameters and the detail of the problem.
    #[track_caller]
    fn check(arguments: &Value, expected: Result<Value, (&[&str], &str)>) {
        let arguments = arguments.as_object().unwrap().clone();
        match (Checker::new(&schema_of::<Arguments>()).parse::<Arguments>(arguments), expected) {
            (Ok((_, checked)), Ok(expected)) => {
                let mut whole =
                    json!({"title": "a", "bytes": 10, "encoding": "text", "share": 0.0, "deep": false});
                whole.as_object_mut().unwrap().extend(expected.as_object().unwrap().clone());
                assert_eq!(Value::Object(checked), whole);
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
        // Null is as if it were not there, and so is "" where it can be no value.
        check(&json!({"title": "a", "after": null, "bytes": null, "deep": null}), Ok(json!({})));
        check(&json!({"title": "a", "encoding": ""}), Ok(json!({})));
        let arguments = json!({"deep": true, "title": "a", "bytes": 2}).as_object().unwrap().clone();
        let (_, checked) = Checker::new(&schema_of::<Arguments>()).parse::<Arguments>(arguments).unwrap();
        assert_eq!(checked.keys().collect::<Vec<_>>(), ["title", "bytes", "encoding", "share", "deep"]);
    }

    #[test]
    fn each_wrong_argument_is_reported_with_the_allowed_values() {
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
        check(
            &json!({"title": 7}),
            Err((&["title"], "`title` is the number 7: send a string of 1 to 4 characters.")),
        );
        check(
            &json!({"title": null}),
            Err((&["title"], "`title` is null: leave it out, or give a string of 1 to 4 characters.")),
        );
        check(&json!({"title": "a", "any": 0.5}), Err((&["any"], "`any` must be an integer.")));
        check(
            &json!({"title": "a", "any": 9_007_199_254_740_992.0}),
            Err((&["any"], "`any` must be an integer, written without a point or an exponent.")),
        );
        for bytes in [json!(0), json!(21), json!(-1), json!(1.5), json!(u64::MAX)] {
            check(&json!({"title": "a", "bytes": bytes}), Err((&["bytes"], BYTES)));
        }
        check(&json!({"title": "a", "encoding": "HEX"}), Err((&["encoding"], ENCODING)));
        for share in [json!(-1.6), json!(2)] {
            check(&json!({"title": "a", "share": share}), Err((&["share"], SHARE)));
        }
        // Nothing is coerced, but the value that is meant is named.
        for (name, value, detail) in [
            ("deep", json!("true"), "`deep` is the string \"true\": send true."),
            ("bytes", json!("10"), "`bytes` is the string \"10\": send the number 10."),
            ("bytes", json!("100"), "`bytes` is the string \"100\": send an integer from 1 to 20."),
            ("bytes", json!([]), "`bytes` is an array: send an integer from 1 to 20."),
            ("bytes", json!(""), "`bytes` is the string \"\": send an integer from 1 to 20."),
            ("encoding", json!(1), "`encoding` is the number 1: send one of \"text\", \"hex\"."),
            ("share", json!("1"), "`share` is the string \"1\": send the number 1."),
            ("share", json!(false), "`share` is false: send a number from -1.5 to 1.5."),
        ] {
            check(&json!({"title": "a", name: value}), Err((&[name], detail)));
        }
    }

    #[test]
    fn every_wrong_parameter_is_reported_at_once() {
        check(
            &json!({"bytes": 0, "x": 1, "title": 1, "y": 2}),
            Err((
                &["title", "bytes", "x", "y"],
                "`title` is the number 1: send a string of 1 to 4 characters. `bytes` must be an integer from 1 to 20. \
                 Not a parameter of this tool: 'x, y'. It has `title`, `bytes`, `encoding`, `after`, `below`, `share`, \
                 `deep`, `any`.",
            )),
        );
    }

    #[test]
    fn the_quoted_names_of_unknown_parameters_are_bounded() {
        let many = (0..1000).map(|n| (format!("p{n}"), Value::Null)).collect::<Map<_, _>>();
        let problem = Checker::new(&schema_of::<Arguments>()).parse::<Arguments>(many).unwrap_err();
        assert_eq!(problem.invalid_params().len(), 1 + 53, "`title`, and the unknown names that fit");
        assert!(problem.detail().contains(", p52' and 947 more. It has `title`"), "{}", problem.detail());
        let long = Map::from_iter([("title".to_owned(), json!("a")), ("x".repeat(300), Value::Null)]);
        let problem = Checker::new(&schema_of::<Arguments>()).parse::<Arguments>(long).unwrap_err();
        assert_eq!(problem.invalid_params().len(), 0, "the sanitizer refuses such a name earlier");
        assert!(problem.detail().contains("of this tool: '' and 1 more."), "{}", problem.detail());
    }

    #[test]
    fn a_pattern_that_cannot_be_compiled_accepts_no_value() {
        let schema = json!({"properties": {"x": {"type": "string", "pattern": "("}}});
        let checker = Checker::new(schema.as_object().unwrap());
        let arguments = json!({"x": "("}).as_object().unwrap().clone();
        let problem = checker.check(arguments).unwrap_err();
        assert_eq!(problem.detail(), "`x` must be a string that matches (.");
    }
}
