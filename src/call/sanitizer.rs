//! Structure and code points of arguments, before their meaning is judged.
//!
//! Nothing is repaired: arguments pass unchanged or are refused with the place of the first fault. Control and direction
//! characters are never quoted as they are, so a refusal cannot carry them on.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::problem::{Code, MAX_ECHO_CHARS, Problem};
use crate::wire::fault::{Fault, FaultKind};

/// The deepest nesting, in levels. The arguments object is level 1, an object in a member of it level 2.
pub const MAX_DEPTH: usize = 8;
/// The most members of objects and elements of arrays, at every level together.
pub const MAX_ITEMS: usize = 1_000;
/// The longest string in characters.
pub const MAX_STRING_CHARS: usize = 65_536;
/// The longest key in characters.
pub const MAX_KEY_CHARS: usize = 64;

/// Passes on arguments whose structure and code points are sound.
///
/// # Errors
/// `MCP_VALIDATION_ERROR` that names the first place that is not.
pub fn sanitize(arguments: Result<Map<String, Value>, Fault>) -> Result<Map<String, Value>, Problem> {
    let arguments = arguments.map_err(|fault| Problem::new(Code::Validation, unreadable(&fault.kind)))?;
    let mut items = 0;
    match judge_members(&arguments, 1, &mut items) {
        Ok(()) => Ok(arguments),
        Err(offence) => Err(offence.into_problem()),
    }
}

/// Returns whether `c` may not stand in any string: controls but TAB, LF and CR; direction controls; the tag block, whose
/// characters are invisible; noncharacters.
pub const fn is_forbidden(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' => false,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        '\u{e0000}'..='\u{e007f}' => true,
        '\u{fdd0}'..='\u{fdef}' => true,
        _ => c as u32 & 0xfffe == 0xfffe,
    }
}

/// Describes a fault that the reader found inside the arguments, for the model.
fn unreadable(fault: &FaultKind) -> String {
    let fault = match fault {
        FaultKind::DuplicateKey => "the same key stands twice in one object",
        FaultKind::TooDeep => return too_deep("The arguments are"),
        FaultKind::TooMany => {
            return format!(
                "The arguments hold more than {MAX_ITEMS} members and elements in all; send fewer."
            );
        }
        FaultKind::NumberRange => {
            "a number is outside the range of a 64-bit integer or double; send it as a string"
        }
        FaultKind::LoneSurrogate => "a string holds half of a UTF-16 surrogate pair; send whole characters",
        FaultKind::Syntax(_) | FaultKind::InvalidUtf8 | FaultKind::ByteOrderMark => "they are not JSON",
    };
    format!("The arguments cannot be taken: {fault}.")
}

fn too_deep(subject: &str) -> String {
    format!(
        "{subject} nested deeper than {MAX_DEPTH} levels (the arguments object is level 1); send flatter arguments."
    )
}

/// A rule that one value breaks.
#[derive(Clone, Copy, Debug)]
enum Rule {
    Key,
    Depth,
    Items,
    StringLength,
    CodePoint(char),
}

/// A broken rule and its place.
struct Offence {
    rule: Rule,
    /// The steps down from the arguments, each `.key` or `[index]`.
    place: String,
    /// The first of these steps.
    parameter: String,
}

impl From<Rule> for Offence {
    fn from(rule: Rule) -> Self {
        Self { rule, place: String::new(), parameter: String::new() }
    }
}

impl Offence {
    fn beneath(self, step: String) -> Self {
        Self { place: format!("{step}{}", self.place), parameter: step, ..self }
    }

    fn into_problem(self) -> Problem {
        // The first step is always a key.
        let [mut place, parameter] =
            [self.place, self.parameter].map(|steps| steps.get(1..).unwrap_or_default().to_owned());
        // INVARIANT: `visible` returns ASCII, so this is between characters.
        if place.len() > MAX_ECHO_CHARS {
            place.truncate(MAX_ECHO_CHARS);
            place.push_str("...");
        }
        let detail = match self.rule {
            Rule::Key => format!(
                "The key `{place}` is not a letter or underscore followed by at most {} letters, digits or \
                 underscores.",
                MAX_KEY_CHARS - 1
            ),
            Rule::Depth => too_deep(&format!("`{place}` is")),
            Rule::Items => {
                format!(
                    "The arguments hold more than {MAX_ITEMS} members and elements in all, at `{place}`; send fewer."
                )
            }
            Rule::StringLength => {
                format!("`{place}` is longer than {MAX_STRING_CHARS} characters; send less.")
            }
            Rule::CodePoint(c) => {
                format!(
                    "`{place}` holds the character U+{:04X}, which is not allowed; leave it out.",
                    u32::from(c)
                )
            }
        };
        Problem::new(Code::Validation, detail).param(parameter)
    }
}

/// Makes a key printable: a character outside printable ASCII becomes its code point, and a long key is cut.
fn visible(key: &str) -> String {
    let mut shown = String::new();
    for c in key.chars() {
        let end = shown.len();
        match c {
            ' '..='~' if c != '`' => shown.push(c),
            // Writing to a string cannot fail.
            _ => drop(write!(shown, "<U+{:04X}>", u32::from(c))),
        }
        if shown.len() > MAX_KEY_CHARS {
            shown.truncate(end);
            shown.push_str("...");
            break;
        }
    }
    shown
}

fn judge_members(members: &Map<String, Value>, depth: usize, items: &mut usize) -> Result<(), Offence> {
    members.iter().try_for_each(|(key, value)| {
        let judged = if is_key(key) { judge_item(value, depth, items) } else { Err(Rule::Key.into()) };
        judged.map_err(|offence| offence.beneath(format!(".{}", visible(key))))
    })
}

/// Judges a member or an element of an object or array of this depth.
fn judge_item(value: &Value, depth: usize, items: &mut usize) -> Result<(), Offence> {
    *items += 1;
    if *items > MAX_ITEMS {
        return Err(Rule::Items.into());
    }
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        Value::String(text) => Ok(judge_text(text)?),
        Value::Array(_) | Value::Object(_) if depth == MAX_DEPTH => Err(Rule::Depth.into()),
        Value::Array(elements) => elements.iter().enumerate().try_for_each(|(index, element)| {
            judge_item(element, depth + 1, items).map_err(|offence| offence.beneath(format!("[{index}]")))
        }),
        Value::Object(members) => judge_members(members, depth + 1, items),
    }
}

/// `[A-Za-z_][A-Za-z0-9_]{0,63}`
fn is_key(key: &str) -> bool {
    key.len() <= MAX_KEY_CHARS
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !key.bytes().next().is_none_or(|first| first.is_ascii_digit())
}

fn judge_text(text: &str) -> Result<(), Rule> {
    // Most strings are plain. No early exit, so that the compiler can use vector instructions.
    let is_plain = |byte| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
    if text.len() <= MAX_STRING_CHARS && text.bytes().fold(true, |plain, byte| plain & is_plain(byte)) {
        return Ok(());
    }
    let mut chars = 0;
    for c in text.chars() {
        chars += 1;
        if chars > MAX_STRING_CHARS {
            return Err(Rule::StringLength);
        }
        if is_forbidden(c) {
            return Err(Rule::CodePoint(c));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// Expects `Ok`, or a problem that names this parameter and this text.
    #[track_caller]
    fn check(arguments: &Value, expected: Result<(), (&str, &str)>) {
        let arguments = arguments.as_object().unwrap();
        match (sanitize(Ok(arguments.clone())), expected) {
            (Ok(passed), Ok(())) => assert_eq!(&passed, arguments),
            (Err(problem), Err((parameter, part))) => {
                assert_eq!(problem.code(), Code::Validation);
                assert_eq!(problem.invalid_params(), [parameter]);
                assert!(problem.detail().contains(part), "{:?} does not hold {part:?}", problem.detail());
                assert!(problem.detail().chars().all(|c| matches!(c, ' '..='~')), "{:?}", problem.detail());
            }
            (outcome, expected) => panic!("{outcome:?} is not {expected:?}"),
        }
    }

    #[test]
    fn a_key_is_an_identifier_of_at_most_64_characters() {
        for key in ["a", "_", "Z9_", "aB", &"k".repeat(64)] {
            check(&json!({key: 1}), Ok(()));
            check(&json!({"p": {key: 1}}), Ok(()));
        }
        for (key, shown) in [
            ("", "The key ``"),
            ("9a", "The key `9a`"),
            ("a-b", "`a-b`"),
            ("a.b", "`a.b`"),
            ("a b", "`a b`"),
            ("é", "`<U+00E9>`"),
            ("a\u{202e}b", "`a<U+202E>b`"),
            ("a\0", "`a<U+0000>`"),
            ("a`b", "`a<U+0060>b`"),
            ("\u{ff41}", "`<U+FF41>`"),
        ] {
            let named = shown.trim_start_matches("The key ").trim_matches('`');
            check(&json!({key: 1}), Err((named, shown)));
            check(&json!({"p": [{key: 1}]}), Err(("p", &format!("`p[0].{named}`"))));
        }
        let long = "k".repeat(65);
        check(&json!({long: 1}), Err((&format!("{}...", "k".repeat(64)), "at most 63")));
    }

    #[test]
    fn keys_are_quoted_at_a_bounded_length() {
        let cut = |key: &str| format!("{}...", format!("<U+{key}>").repeat(8));
        check(&json!({"é".repeat(64): 1}), Err((&cut("00E9"), &format!("The key `{}` is", cut("00E9")))));
        check(&json!({"\u{202e}".repeat(9): 1}), Err((&cut("202E"), "The key")));
        let keys = ["a", "b", "c", "d", "e", "f", "g"].map(|letter| letter.repeat(64));
        let nested = keys.iter().rev().fold(json!("\u{1}"), |inner, key| json!({key: inner}));
        let place = keys.join(".").chars().take(256).collect::<String>();
        check(&nested, Err((&keys[0], &format!("`{place}...` holds"))));
    }

    #[test]
    fn nesting_is_at_most_8_levels_of_which_the_arguments_are_the_first() {
        let nested = |levels: usize, inner: Value| (1..levels).fold(inner, |value, _| json!([value]));
        check(&json!({"p": nested(8, json!(1))}), Ok(()));
        check(&json!({"p": nested(7, json!([]))}), Ok(()));
        check(&json!({"p": nested(7, json!({}))}), Ok(()));
        check(
            &json!({"p": nested(8, json!([]))}),
            Err(("p", "`p[0][0][0][0][0][0][0]` is nested deeper than 8 levels")),
        );
        check(&json!({"p": nested(8, json!({}))}), Err(("p", "deeper than 8")));
        check(
            &json!({"p": {"a": {"b": {"c": {"d": {"e": {"f": {"g": {}}}}}}}}}),
            Err(("p", "`p.a.b.c.d.e.f.g`")),
        );
        check(&json!({"p": nested(60, json!(1))}), Err(("p", "deeper than 8")));
    }

    #[test]
    fn members_and_elements_are_counted_together() {
        check(&json!({"p": vec![0; 999]}), Ok(()));
        check(&json!({"p": vec![0; 1000]}), Err(("p", "at `p[999]`")));
        check(&json!({"p": vec![0; 499], "q": vec![0; 499]}), Ok(()));
        check(&json!({"p": vec![0; 499], "q": vec![0; 500]}), Err(("q", "more than 1000")));
        check(&json!({"p": vec![json!({"a": 1}); 499]}), Ok(()));
        check(&json!({"p": vec![json!({"a": 1}); 500]}), Err(("p", "at `p[499].a`")));
    }

    #[test]
    fn strings_are_counted_in_characters() {
        for c in ["a", "é", "€", "😀", "\t"] {
            check(&json!({"p": c.repeat(65_536)}), Ok(()));
            check(&json!({"p": [c.repeat(65_537)]}), Err(("p", "`p[0]` is longer than 65536 characters")));
        }
    }

    #[test]
    fn code_points_that_hide_or_control_are_refused() {
        let fine = "\t\n\r ~\u{a0}é\u{61b}\u{61d}\u{200d}\u{2010}\u{2029}\u{202f}\u{2065}\
                    \u{206a}\u{fdcf}\u{fdf0}\u{fffd}\u{1fffd}\u{dfffd}\u{e0080}\u{10fffd}\u{feff}";
        check(&json!({"p": fine}), Ok(()));
        for range in [
            '\0'..='\u{8}',
            '\u{b}'..='\u{c}',
            '\u{e}'..='\u{1f}',
            '\u{7f}'..='\u{9f}',
            '\u{61c}'..='\u{61c}',
            '\u{200e}'..='\u{200f}',
            '\u{202a}'..='\u{202e}',
            '\u{2066}'..='\u{2069}',
            '\u{fdd0}'..='\u{fdef}',
            '\u{fffe}'..='\u{ffff}',
            '\u{1fffe}'..='\u{1ffff}',
            '\u{efffe}'..='\u{effff}',
            '\u{10fffe}'..='\u{10ffff}',
            '\u{e0000}'..='\u{e007f}',
        ] {
            for c in range {
                let detail = format!("`p.q[1]` holds the character U+{:04X}", u32::from(c));
                check(&json!({"p": {"q": ["", format!("a{c}b")]}}), Err(("p", &detail)));
            }
        }
    }

    #[test]
    fn numbers_booleans_and_nulls_are_left_to_the_schema() {
        check(&json!({}), Ok(()));
        check(&json!({"a": null, "b": true, "c": -1, "d": 10.0, "e": u64::MAX}), Ok(()));
    }

    #[test]
    fn a_fault_inside_the_arguments_is_refused_in_band() {
        for (kind, part) in [
            (FaultKind::DuplicateKey, "the same key stands twice"),
            (FaultKind::TooDeep, "The arguments are nested deeper than 8 levels"),
            (FaultKind::NumberRange, "outside the range"),
            (FaultKind::LoneSurrogate, "surrogate"),
        ] {
            let problem = sanitize(Err(Fault { kind, offset: 7 })).unwrap_err();
            assert_eq!(problem.code(), Code::Validation);
            assert!(problem.detail().contains(part), "{}", problem.detail());
        }
    }
    /// JSON of any shape, with a few things that are not allowed.
    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!(null)),
            any::<i64>().prop_map(Value::from),
            ".{0,3}".prop_map(Value::from)
        ];
        leaf.prop_recursive(10, 40, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::vec(("[a-c1\u{e9}]{1,2}", inner), 0..3)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// The rules of the contract, said once more and slowly.
    fn is_sound(value: &Value, depth: usize) -> bool {
        let key = |key: &String| !key.starts_with(|c: char| c.is_ascii_digit()) && key.is_ascii();
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
            Value::String(text) => !text.chars().any(is_forbidden),
            Value::Array(elements) => {
                depth <= 8 && elements.iter().all(|element| is_sound(element, depth + 1))
            }
            Value::Object(members) => {
                depth <= 8 && members.iter().all(|(name, member)| key(name) && is_sound(member, depth + 1))
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn arguments_that_pass_are_sound_and_unchanged(value in any_value()) {
            let arguments = Map::from_iter([("p".to_owned(), value)]);
            match sanitize(Ok(arguments.clone())) {
                Ok(passed) => {
                    prop_assert!(is_sound(&Value::Object(passed.clone()), 1));
                    prop_assert_eq!(passed, arguments);
                }
                Err(problem) => {
                    prop_assert!(!is_sound(&Value::Object(arguments), 1));
                    prop_assert!(problem.detail().chars().all(|c| matches!(c, ' '..='~')));
                }
            }
        }
    }
}
