//! Every schema that a client reads: in shapes that every client takes, and enforced in full.

use serde_json::{Map, Value, json};

use crate::tools::{NO_DATABASE, listed};

/// Lists the faults of a listed tool's schemas.
fn faults_of(tool: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for side in ["inputSchema", "outputSchema"] {
        let place = format!("{} {side}", tool["name"]);
        if tool[side]["type"] != "object" {
            faults.push(format!("{place}: the root is not of type object"));
        }
        walk(&tool[side], &place, &mut faults);
    }
    judge_input(&tool["inputSchema"], &mut faults);
    judge_for_models(&tool["inputSchema"], "input", &mut faults);
    judge_output(&tool["outputSchema"], "output", &mut faults);
    faults
}

/// Finds shapes that some client cannot read, at any depth.
fn walk(schema: &Value, place: &str, faults: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else {
        faults.push(format!("{place}: a subschema that is no object: {schema}"));
        return;
    };
    for (keyword, value) in keywords {
        let place = format!("{place}.{keyword}");
        match keyword.as_str() {
            "type" if !value.is_string() => faults.push(format!("{place}: an array of types")),
            "$ref" | "$defs" | "definitions" | "$schema" | "title" | "const" => {
                faults.push(format!("{place}: unwanted"))
            }
            "default" if value.is_null() => faults.push(format!("{place}: a null default")),
            "format" if !["date-time", "date", "uuid"].iter().any(|format| value == format) => {
                faults.push(format!("{place}: {value} is no format of JSON Schema"))
            }
            "description" if value.as_str().is_none_or(|text| text.contains('\n')) => {
                faults.push(format!("{place}: more than a line"));
            }
            "properties" => {
                for (name, member) in value.as_object().unwrap() {
                    walk(member, &format!("{place}.{name}"), faults);
                }
            }
            "anyOf" | "oneOf" | "allOf" => {
                value.as_array().unwrap().iter().for_each(|part| walk(part, &place, faults));
            }
            "items" => walk(value, &place, faults),
            "additionalProperties" if *value != json!(false) => walk(value, &place, faults),
            _ => {}
        }
    }
}

/// Checks a schema of arguments: unknown members are refused, and every keyword is one that `arguments` enforces.
fn judge_input(schema: &Value, faults: &mut Vec<String>) {
    const ENFORCED: [&str; 14] = [
        "type",
        "description",
        "default",
        "enum",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "items",
        "maxItems",
        "minItems",
        "required",
    ];
    if schema.get("additionalProperties") != Some(&json!(false)) {
        faults.push("input: additionalProperties is not false".to_owned());
    }
    for (name, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        for keyword in member.as_object().into_iter().flat_map(Map::keys) {
            if !ENFORCED.contains(&keyword.as_str()) {
                faults.push(format!("input.{name}.{keyword}: not enforced"));
            }
        }
        if member.get("description").is_none() {
            faults.push(format!("input.{name}: no description"));
        }
    }
}

/// Finds what an API of a language model does not take in a schema of arguments.
fn judge_for_models(schema: &Value, place: &str, faults: &mut Vec<String>) {
    #[rustfmt::skip]
    const KNOWN: &[&str] = &[
        "additionalProperties", "default", "description", "enum", "format", "items", "maxItems", "maxLength", "maximum",
        "minItems", "minLength", "minimum", "pattern", "properties", "required", "type",
    ];
    let keywords = schema.as_object().unwrap();
    faults.extend(
        keywords.keys().filter(|key| !KNOWN.contains(&key.as_str())).map(|key| format!("{place}.{key}")),
    );
    let is_text = schema["type"] == "string";
    let is_fine = schema["type"].is_string()
        && schema.get("format").is_none_or(|format| is_text && format == "date-time")
        && schema
            .get("enum")
            .is_none_or(|values| is_text && values.as_array().unwrap().iter().all(Value::is_string))
        && schema.get("pattern").is_none_or(|pattern| !pattern.as_str().unwrap().contains("(?=") && is_text)
        && (schema["type"] != "object" || schema["additionalProperties"] == false);
    if !is_fine {
        faults.push(format!("{place}: {schema}"));
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let rest = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
        if !(first && rest && name.len() <= 64) {
            faults.push(format!("{place}: the name {name}"));
        }
        judge_for_models(property, &format!("{place}.{name}"), faults);
    }
    if let Some(items) = schema.get("items") {
        judge_for_models(items, &format!("{place}.items"), faults);
    }
}

/// Checks a schema of outputs: every member is required.
fn judge_output(schema: &Value, place: &str, faults: &mut Vec<String>) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{place}.{name}");
        if !required.contains(&json!(name)) {
            faults.push(format!("{place}: not required"));
        }
        judge_output(member, &place, faults);
        judge_output(&member["items"], &place, faults);
        for part in member["anyOf"].as_array().into_iter().flatten() {
            judge_output(part, &place, faults);
        }
    }
}

/// A model pays for the listing with every request. Four characters are about a token.
#[test]
fn the_listing_of_the_built_in_tools_is_short() {
    let tools = listed(&[NO_DATABASE, ("MCP_SAFE_DATA_DIR", env!("CARGO_MANIFEST_DIR"))]);
    let length = |tool: &Value| tool.to_string().len();
    let (all, metrics) = (tools.iter().map(length).sum::<usize>(), length(tools.last().unwrap()));
    let each: Vec<String> = tools.iter().map(|tool| format!("{} {}", tool["name"], length(tool))).collect();
    assert!(tools.len() == 6 && all <= 4 * 2_500, "{all}: {each:?}");
    assert!(metrics * 5 < all, "{each:?}");
}

#[test]
fn the_schemas_of_the_tools_are_plain_and_enforced() {
    for tool in listed(&[NO_DATABASE, ("MCP_SAFE_DATA_DIR", env!("CARGO_MANIFEST_DIR"))]) {
        assert_eq!(faults_of(&tool), Vec::<String>::new());
    }
}

#[test]
fn the_schemas_of_a_catalog_are_plain_and_enforced() {
    const ENTRY: &str = r#"
        version = 1
        tables = ["t"]
        [[query]]
        name = "everything"
        title = "Everything"
        description = "Takes everything and answers with everything."
        tables = ["t"]
        columns = ["a", "b", "c", "d", "e"]
        types = { a = "string", b = "integer", c = "number", d = "boolean" }
        sql = """SELECT a, b, c, d, e FROM t WHERE a = :a AND b = :b AND c = :c AND d = :d AND e = :e AND f = :f AND g = :g
            AND h = :h AND i = ANY (:i) ORDER BY a LIMIT 5"""
        params.a = { type = "string", max_length = 9, pattern = "[a-z]+", description = "A" }
        params.b = { type = "integer", min = 1, max = 9, default = 2, description = "B" }
        params.c = { type = "number", min = 1, max = 9, optional = true, description = "C" }
        params.d = { type = "boolean", default = false, description = "D" }
        params.e = { type = "date", description = "E" }
        params.f = { type = "timestamp", description = "F" }
        params.g = { type = "uuid", description = "G" }
        params.h = { type = "enum", values = ["x"], description = "H" }
        params.i = { type = "array", items = { type = "uuid" }, max_items = 3, description = "I" }
    "#;
    let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    std::fs::write(file.path(), ENTRY).unwrap();
    let catalog = ("MCP_CATALOG", file.path().to_str().unwrap());
    let tools = listed(&[NO_DATABASE, catalog, ("MCP_METRICS_ENABLED", "false")]);
    assert_eq!(tools.len(), 1);
    assert_eq!(faults_of(&tools[0]), Vec::<String>::new());
}

#[test]
fn each_unwanted_shape_is_found() {
    for (schema, part) in [
        (json!({"properties": {"a": true}}), "no object"),
        (json!({"items": false}), "no object"),
        (json!({"additionalProperties": true}), "no object"),
        (json!({"properties": {"a": {"type": ["string", "null"]}}}), "array of types"),
        (json!({"properties": {"a": {"anyOf": [{"type": ["null"]}]}}}), "array of types"),
        (json!({"properties": {"a": {"default": null}}}), "null default"),
        (json!({"items": {"format": "uint64"}}), "no format"),
        (json!({"items": {"$ref": "#"}}), "unwanted"),
        (json!({"items": {"title": "T"}}), "unwanted"),
        (json!({"description": "a\nb"}), "more than a line"),
    ] {
        let mut faults = Vec::new();
        walk(&schema, "", &mut faults);
        assert!(matches!(faults.as_slice(), [fault] if fault.contains(part)), "{schema}: {faults:?}");
    }
    let mut faults = Vec::new();
    walk(
        &json!({"properties": {"title": {"type": "string"}}, "additionalProperties": false}),
        "",
        &mut faults,
    );
    assert_eq!(faults, Vec::<String>::new(), "a member named like a keyword");
}
