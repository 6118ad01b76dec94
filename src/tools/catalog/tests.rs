//! Every rule has a catalog that breaks it and nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::{document, params, *};
use crate::arguments::Checker;
use crate::document::file::Source;
use crate::document::section::Report;
use crate::guard::{GuardConfig, SensitiveWords};

/// A catalog without a fault. Each case changes one place of it.
const SOUND: &str = r#"
version = 1
tables = ["item", "site", "inventory.rack"]

[[query]]
name = "find_items"
title = "Find items"
description = "Finds items by a part of their name."
tables = ["item", "site"]
columns = ["id", "name", "site"]
types = { id = "integer", name = "string" }
sql = '''
SELECT i.id, i.name, s.code AS site
FROM item i JOIN site s ON s.id = i.site_id
WHERE i.name ILIKE :name ESCAPE '\' AND (:since IS NULL OR i.bought >= :since)
ORDER BY i.id
LIMIT :limit
'''
params.name = { type = "string", min_length = 1, max_length = 40, match = "contains" }
params.since = { type = "date", optional = true, description = "Bought since" }
params.limit = { type = "integer", min = 1, max = 100, default = 25 }
example = { name = "item 1", since = 2026-01-31 }
"#;

fn load(text: &str) -> Result<Catalog, Vec<Finding>> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("catalog.toml");
    fs::write(&path, text).unwrap();
    let guard = GuardConfig::default();
    Catalog::load(&path, &CatalogConfig { words: SensitiveWords::default(), guard: &guard, max_rows: 1_000 })
}

/// A text of [`SOUND`], its replacement, the rule that this breaks, and the line that is reported.
type Case<'c> = (&'c str, &'c str, Rule, usize);

const CASES: &[Case<'_>] = &[
    ("version = 1", "version = 2", Rule::Syntax, 2),
    ("version = 1", "", Rule::Syntax, 1),
    ("version = 1", "version = ", Rule::Syntax, 2),
    ("version = 1", "version = 1\nversion = 1", Rule::Syntax, 3),
    ("title = ", "titel = \"\"\ntitle = ", Rule::UnknownKey, 7),
    ("version = 1", "version = 1\nqueries = []", Rule::UnknownKey, 3),
    ("max_length = 40", "max_length = 40, maximum = 2", Rule::UnknownKey, 19),
    ("type = \"date\"", "type = \"date\", max_length = 3", Rule::UnknownKey, 20),
    ("types = { id", "types = { ids", Rule::UnknownKey, 11),
    ("title = \"Find items\"", "", Rule::InvalidValue, 5),
    ("title = \"Find items\"", "title = 1", Rule::InvalidValue, 7),
    ("title = \"Find items\"", "title = \" \"", Rule::InvalidValue, 7),
    ("title = \"Find items\"", "title = \"Find\u{202e}items\"", Rule::InvalidValue, 7),
    ("id = \"integer\"", "id = \"int4\"", Rule::InvalidValue, 11),
    ("default = 25", "default = 101", Rule::InvalidValue, 21),
    ("optional = true", "optional = true, default = 2026-01-31", Rule::InvalidValue, 20),
    ("optional = true", "optional = 1, default = 2026-01-31", Rule::InvalidValue, 20),
    ("match = \"contains\"", "match = \"suffix\"", Rule::InvalidValue, 19),
    ("types = {", "waive = { code = \" \" }\ntypes = {", Rule::InvalidValue, 11),
    ("types = {", "waive = { nothing = \"why\" }\ntypes = {", Rule::InvalidValue, 11),
    ("types = {", "waive = { members = \" \" }\ntypes = {", Rule::InvalidValue, 11),
    ("example = { name = \"item 1\", since = 2026-01-31 }", "example = 1", Rule::InvalidValue, 22),
    ("\"site\", \"inventory", "\"inventory", Rule::TableNotAllowed, 14),
    ("tables = [\"item\", \"site\"]", "tables = [\"item\"]", Rule::TableUndeclared, 14),
    (
        "tables = [\"item\", \"site\"]",
        "tables = [\"item\", \"site\", \"inventory.rack\"]",
        Rule::TableUnreferenced,
        13,
    ),
    ("JOIN site s ON s.id = i.site_id", "NATURAL JOIN site s", Rule::UnsupportedTableRef, 14),
    ("ORDER BY i.id", "ORDER BY i.salt", Rule::SensitiveIdentifier, 16),
    (
        "SELECT i.id, i.name, s.code AS site",
        "EXPLAIN SELECT i.id, i.name, s.code AS site",
        Rule::NotSelect,
        13,
    ),
    ("LIMIT :limit", "LIMIT :limit; SELECT 1", Rule::MultiStatement, 17),
    ("SELECT i.id, i.name, s.code AS site", "DELETE", Rule::WriteKeyword, 13),
    ("i.name, s.code", "pg_sleep(1)::text AS name, s.code", Rule::ForbiddenFunction, 13),
    ("FROM item i", "FROM item i TABLESAMPLE foo (1)", Rule::ForbiddenConstruct, 14),
    ("SELECT i.id, i.name, s.code AS site", "SELECT i.*, s.code AS site", Rule::WildcardSelect, 13),
    ("LIMIT :limit", "LIMIT :limit + 1", Rule::LimitLookahead, 17),
    (":since IS NULL OR i.bought", ":until IS NULL OR i.bought", Rule::PlaceholderUnknown, 15),
    (
        "params.limit",
        "params.extra = { type = \"boolean\", optional = true }\nparams.limit",
        Rule::ParamUnused,
        13,
    ),
    ("max_length = 40", "max_length = 40, pattern = \"^a\"", Rule::ParamPattern, 19),
    (" ESCAPE '\\'", "", Rule::LikeUnescaped, 15),
    (", match = \"contains\"", "", Rule::LikeUnescaped, 15),
    ("i.name ILIKE :name ESCAPE '\\'", "i.name = :name", Rule::MatchUnused, 15),
    (", max_length = 40", "", Rule::ParamUnbounded, 19),
    ("max_length = 40", "max_length = 65537", Rule::ParamUnbounded, 19),
    ("min_length = 1, ", "min_length = 41, ", Rule::ParamUnbounded, 19),
    ("min_length = 1, ", "min_length = 0, ", Rule::ParamUnbounded, 19),
    ("min = 1, ", "", Rule::ParamUnbounded, 21),
    ("min = 1, ", "min = 101, ", Rule::ParamUnbounded, 21),
    ("min = 1, ", "min = 0, ", Rule::ParamUnbounded, 21),
    ("max = 100", "max = 1001", Rule::ParamUnbounded, 21),
    ("default = 25", "optional = true", Rule::MissingLimit, 17),
    ("type = \"date\"", "type = \"number\", min = 0", Rule::ParamUnbounded, 20),
    ("type = \"date\"", "type = \"enum\", values = []", Rule::ParamUnbounded, 20),
    ("type = \"date\"", "type = \"enum\", values = [\"2026-01-31\", \"b\", \"b\"]", Rule::InvalidValue, 20),
    ("type = \"date\"", "type = \"enum\", values = [\"2026-01-31\", \"a\\u0000\"]", Rule::InvalidValue, 20),
    ("type = \"date\"", "type = \"enum\", values = [\"2026-01-31\", \"\\u202Ea\"]", Rule::InvalidValue, 20),
    ("type = \"date\"", "type = \"array\", items = { type = \"date\" }", Rule::ParamUnbounded, 20),
    ("type = \"date\", ", "", Rule::ParamUntyped, 20),
    ("type = \"date\"", "type = \"day\"", Rule::ParamUntyped, 20),
    ("type = \"date\"", "type = \"array\", max_items = 5", Rule::ParamUntyped, 20),
    (
        "type = \"date\"",
        "type = \"array\", items = { type = \"array\" }, max_items = 5",
        Rule::ParamUntyped,
        20,
    ),
    (
        "{ type = \"integer\", min = 1, max = 100, default = 25 }",
        "{ type = \"boolean\" , default = true }",
        Rule::ParamUntyped,
        21,
    ),
    ("since = 2026-01-31 }", "since = 2026-01-31, until = 1 }", Rule::InvalidExample, 22),
    ("name = \"item 1\", since", "since", Rule::InvalidExample, 22),
    ("name = \"find_items\"", "name = \"read_only_sql\"", Rule::DuplicateName, 6),
    ("[\"id\", \"name\", \"site\"]", "[\"id\", \"name\", \"site\", \"id\"]", Rule::DuplicateName, 10),
    ("name = \"find_items\"", "name = \"find items\"", Rule::InvalidName, 6),
    ("\"inventory.rack\"", "\"a.b.c\"", Rule::InvalidName, 3),
    ("[\"id\", \"name\", \"site\"]", "[\"id\", \"name\", \"its site\"]", Rule::InvalidName, 10),
    (
        "[\"id\", \"name\", \"site\"]\ntypes = { id = \"integer\", name = \"string\" }",
        "[]",
        Rule::NoColumns,
        5,
    ),
    ("[\"id\", \"name\", \"site\"]", "[\"id\", \"name\", \"place\"]", Rule::ColumnMismatch, 13),
];

/// The same, for what takes more than one change: the whole text, the rule, the line.
fn more_cases() -> Vec<(String, Rule, usize)> {
    let rename = |from: &str, to: &str| {
        SOUND
            .replace(&format!(":{from}"), &format!(":{to}"))
            .replace(&format!("{from} = "), &format!("{to} = "))
    };
    let unlimited = SOUND
        .replace("LIMIT :limit", "")
        .replace("params.limit = { type = \"integer\", min = 1, max = 100, default = 25 }", "");
    let twice = format!("{SOUND}{}", SOUND.split_once("inventory.rack\"]").unwrap().1);
    vec![
        (
            SOUND.replace("\"site\"]\ntypes", "\"token_hash\"]\ntypes").replace("AS site", "AS token_hash"),
            Rule::SensitiveColumn,
            13,
        ),
        (unlimited, Rule::MissingLimit, 13),
        (rename("since", "tenant_id"), Rule::ForbiddenParamName, 20),
        (rename("since", "Since"), Rule::InvalidName, 20),
        (twice, Rule::DuplicateName, 26),
        ("version = 1\ntables = []".to_owned(), Rule::InvalidValue, 1),
    ]
}

/// Describes the findings of a catalog that should break `rule` alone, if they are others.
fn wrong(text: &str, what: &str, rule: Rule, line: usize) -> Option<String> {
    let findings = load(text).err().unwrap_or_default();
    let reported: Vec<(Rule, usize)> =
        findings.iter().map(|finding| (finding.rule, finding.place.line)).collect();
    let is_right = reported == [(rule, line)] && !findings[0].cure.is_empty();
    (!is_right).then(|| format!("{what}, for {rule} in line {line}: {findings:#?}"))
}

#[test]
fn each_rule_is_broken_alone() {
    load(SOUND).unwrap();
    let mut all = Vec::new();
    for (from, to, rule, line) in CASES {
        assert_eq!(SOUND.matches(from).count(), 1, "{from}");
        all.extend(wrong(&SOUND.replace(from, to), to, *rule, *line));
    }
    for (text, rule, line) in more_cases() {
        all.extend(wrong(&text, rule.name(), rule, line));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn a_missing_order_and_a_long_name_are_warnings() {
    let long = format!("name = \"{}\"", "n".repeat(42));
    for (from, to, rule) in
        [("ORDER BY i.id\n", "\n", Rule::OrderRequired), ("name = \"find_items\"", &long, Rule::LongName)]
    {
        let catalog = load(&SOUND.replace(from, to)).unwrap();
        let rules: Vec<Rule> = catalog.warnings.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, [rule]);
    }
}

#[test]
fn every_rule_has_a_catalog_that_breaks_it() {
    let mut broken: BTreeSet<&str> = CASES.iter().map(|(_, _, rule, _)| rule.name()).collect();
    broken.extend(more_cases().iter().map(|(_, rule, _)| rule.name()));
    broken.extend([Rule::OrderRequired.name(), Rule::LongName.name()]);
    // The database finds it: tests/it/catalog.
    broken.insert(Rule::MembersExposed.name());
    let all: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    assert_eq!(broken, all);
}

#[test]
fn all_findings_of_all_files_are_reported_at_once_in_their_order() {
    let directory = tempfile::tempdir().unwrap();
    let broken = SOUND
        .replace("title = \"Find items\"", "")
        .replace(", max_length = 40", "")
        .replace("limit = {", "limits = {");
    fs::write(directory.path().join("a.toml"), &broken).unwrap();
    fs::write(directory.path().join("b.toml"), "version = ").unwrap();
    let guard = GuardConfig::default();
    let config = CatalogConfig { words: SensitiveWords::default(), guard: &guard, max_rows: 1_000 };
    let findings = Catalog::load(directory.path(), &config).unwrap_err();
    let reported: Vec<String> = findings
        .iter()
        .map(|finding| {
            format!(
                "{} {} {}",
                finding.place.file.file_name().unwrap().display(),
                finding.place.line,
                finding.rule
            )
        })
        .collect();
    let expected = [
        "a.toml 5 invalid-value",
        "a.toml 13 param-unused",
        "a.toml 17 placeholder-unknown",
        "a.toml 19 param-unbounded",
        "b.toml 1 syntax",
    ];
    assert_eq!(reported, expected);
}

#[test]
fn tables_of_all_files_are_one_list() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("tables.toml"), "version = 1\ntables = [\"item\", \"site\"]").unwrap();
    let entries = SOUND.replace("tables = [\"item\", \"site\", \"inventory.rack\"]\n", "");
    fs::write(directory.path().join("a.toml"), entries).unwrap();
    let guard = GuardConfig::default();
    let config = CatalogConfig { words: SensitiveWords::default(), guard: &guard, max_rows: 1_000 };
    let catalog = Catalog::load(directory.path(), &config).unwrap();
    assert_eq!(
        (catalog.count(), catalog.tables.as_slice()),
        (1, ["item".to_owned(), "site".to_owned()].as_slice())
    );
}

#[test]
fn a_similar_key_is_suggested() {
    let findings = load(&SOUND.replace("title = ", "titel = \"\"\ntitle = ")).unwrap_err();
    assert_eq!(
        findings[0].to_string().split_once("catalog.toml").unwrap().1,
        ":7: find_items: unknown-key: 'titel' is no key of a query. Did you mean title?"
    );
}

/// A catalog whose one entry has these parameters, and nothing to prove.
fn schema_of(params: &str) -> Map<String, Value> {
    let source = Source::new(PathBuf::new(), format!("version = 1\n[[query]]\nname = \"x\"\n{params}"));
    let mut report = Report::new(&source);
    let document = document::read(&mut report, 1_000);
    let params = &document.drafts[0].params;
    assert!(params.iter().all(|param| param.kind.is_some()), "{:#?}", report.findings);
    params::schema(params)
}

#[test]
fn parameters_become_a_schema() {
    let schema = schema_of(
        r#"
        params.text = { type = "string", max_length = 9, pattern = "[a-z]+", description = "A word" }
        params.count = { type = "integer", min = -1, max = 9 }
        params.share = { type = "number", min = 0, max = 0.5, optional = true }
        params.on = { type = "boolean", default = false }
        params.day = { type = "date", optional = true }
        params.at = { type = "timestamp", optional = true }
        params.key = { type = "uuid", optional = true }
        params.kind = { type = "enum", values = ["a", "b"], default = "a" }
        params.kinds = { type = "array", items = { type = "enum", values = ["a", "b"] }, max_items = 3, optional = true }
        "#,
    );
    assert_eq!(
        Value::Object(schema),
        json!({
            "type": "object",
            "properties": {
                "text": {"description": "A word", "type": "string", "minLength": 1, "maxLength": 9, "pattern": "^(?:[a-z]+)$"},
                "count": {"type": "integer", "minimum": -1, "maximum": 9},
                "share": {"type": "number", "minimum": 0.0, "maximum": 0.5},
                "on": {"type": "boolean", "default": false},
                "day": {"type": "string", "format": "date"},
                "at": {"type": "string", "format": "date-time"},
                "key": {"type": "string", "format": "uuid"},
                "kind": {"type": "string", "enum": ["a", "b"], "default": "a"},
                "kinds": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1, "maxItems": 3},
            },
            "required": ["text", "count"],
            "additionalProperties": false,
        })
    );
}

#[track_caller]
fn check_argument(param: &str, value: &Value, expected: Result<Value, &str>) {
    let schema = schema_of(&format!("params.x = {param}"));
    let judged = Checker::new(&schema).check(Map::from_iter([("x".to_owned(), value.clone())]));
    match expected {
        Ok(value) => assert_eq!(judged.unwrap()["x"], value),
        Err(sentence) => {
            let problem = judged.expect_err(param);
            assert_eq!((problem.detail(), problem.invalid_params()), (sentence, ["x".to_owned()].as_slice()));
        }
    }
}

#[test]
fn arguments_are_judged_by_their_bounds() {
    let word = r#"{ type = "string", min_length = 1, max_length = 3, pattern = "[a-z]+" }"#;
    let words = r#"{ type = "array", items = { type = "string", min_length = 0, max_length = 2 }, min_items = 0, max_items = 2 }"#;
    // Nothing is to be found only where an entry says so.
    let search = r#"{ type = "string", max_length = 2 }"#;
    check_argument(search, &json!(""), Err("`x` must be a string of 1 to 2 characters."));
    check_argument(r#"{ type = "string", min_length = 0, max_length = 2 }"#, &json!(""), Ok(json!("")));
    let list = r#"{ type = "array", items = { type = "string", max_length = 2 }, max_items = 2 }"#;
    for nothing in [json!([]), json!([""])] {
        let schema = schema_of(&format!("params.x = {list}"));
        assert!(Checker::new(&schema).check(Map::from_iter([("x".to_owned(), nothing)])).is_err());
    }
    let day = r#"{ type = "date" }"#;
    let at = r#"{ type = "timestamp" }"#;
    let key = r#"{ type = "uuid" }"#;
    let counts = r#"{ type = "array", items = { type = "integer", min = 0, max = 9 }, max_items = 3 }"#;
    const WORD: &str = "`x` must be a string of 1 to 3 characters that matches ^(?:[a-z]+)$.";
    check_argument(word, &json!("abc"), Ok(json!("abc")));
    for wrong in [json!("abcd"), json!(""), json!("ab1"), json!("a\n")] {
        check_argument(word, &wrong, Err(WORD));
    }
    check_argument(words, &json!(["a", ""]), Ok(json!(["a", ""])));
    check_argument(words, &json!([]), Ok(json!([])));
    const WORDS: &str = "`x` must be an array of 0 to 2 items, each a string of 0 to 2 characters.";
    check_argument(words, &json!(["a", "b", "c"]), Err(WORDS));
    for (wrong, sentence) in [
        (json!(["a"]), "`x` is an array: send a string of 1 to 3 characters that matches ^(?:[a-z]+)$."),
        (json!(1), "`x` is the number 1: send a string of 1 to 3 characters that matches ^(?:[a-z]+)$."),
    ] {
        check_argument(word, &wrong, Err(sentence));
    }
    const ITEM: &str = "`x` has an item, [1], that must be a string of 0 to 2 characters.";
    check_argument(words, &json!(["a", "abc"]), Err(ITEM));
    check_argument(counts, &json!([1.0, 9]), Ok(json!([1, 9])));
    check_argument(
        counts,
        &json!([null]),
        Err("`x` has an item, [0], that is null: leave it out, or give an integer from 0 to 9."),
    );
    check_argument(day, &json!("2026-01-31"), Ok(json!("2026-01-31")));
    check_argument(day, &json!("2026-02-30"), Err("`x` must be a date such as 2026-01-31."));
    check_argument(day, &json!("today"), Err("`x` must be a date such as 2026-01-31."));
    check_argument(
        at,
        &json!("2026-01-31T12:00:00"),
        Err("`x` must be a time with its zone such as 2026-01-31T12:00:00Z."),
    );
    check_argument(key, &json!("x"), Err("`x` must be a UUID such as 0190a6e0-4f2b-7c3d-8e1f-2a3b4c5d6e7f."));
}
