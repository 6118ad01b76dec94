//! A statement as a tree of typed expressions, so that a failing one can be made smaller.

use std::collections::BTreeMap;
use std::fmt;

/// Functions and operators that make much of little.
#[rustfmt::skip]
pub(super) const AMPLIFIERS: &[&str] = &[
    "^", "||", "array_agg", "array_cat", "array_fill", "array_replace", "array_to_string", "concat_ws", "factorial", "format",
    "json_agg", "json_object_agg", "jsonb_agg", "jsonb_object_agg", "jsonb_pretty", "lpad", "normalize", "polygon", "pow",
    "power", "range_agg", "regexp_replace", "repeat", "replace", "rpad", "string_agg", "ts_headline",
];

#[derive(Clone)]
enum Part {
    Text(String),
    Nested(Expression),
    /// The same as the part of this index.
    Again(usize),
}

/// SQL text of a known type, and the calls in it.
#[derive(Clone, Default)]
pub(super) struct Expression {
    /// As `format_type` spells it; empty for a list or a whole statement.
    pub(super) of: String,
    parts: Vec<Part>,
    /// The functions, operators and casts that its own text calls.
    calls: Vec<String>,
    /// Where the repeated expression stands first.
    repeated: Option<usize>,
}

impl Expression {
    pub(super) fn new(of: &str, text: impl Into<String>) -> Self {
        Self { of: of.to_owned(), parts: vec![Part::Text(text.into())], ..Self::default() }
    }

    pub(super) fn calling(mut self, name: &str) -> Self {
        self.calls.push(name.to_owned());
        self
    }

    pub(super) fn push(&mut self, text: &str) {
        self.parts.push(Part::Text(text.to_owned()));
    }

    pub(super) fn nest(&mut self, expression: Self) {
        self.parts.push(Part::Nested(expression));
    }

    /// Nests an expression that is repeated: made smaller, it is so in all places.
    pub(super) fn nest_once(&mut self, expression: &Self) {
        match self.repeated {
            Some(first) => self.parts.push(Part::Again(first)),
            None => {
                self.repeated = Some(self.parts.len());
                self.nest(expression.clone());
            }
        }
    }

    fn nested(&self) -> impl Iterator<Item = &Self> {
        self.parts.iter().filter_map(|part| match part {
            Part::Nested(expression) => Some(expression),
            Part::Text(_) | Part::Again(_) => None,
        })
    }

    /// Reports each call, and whether an amplifier stands above or below it. Returns whether the tree holds an amplifier.
    pub(super) fn calls(&self, above: bool, found: &mut BTreeMap<String, bool>) -> bool {
        let amplifies = |name: &String| AMPLIFIERS.contains(&name.as_str());
        let own = self.calls.iter().any(amplifies);
        // All of them are visited.
        let below = self.nested().filter(|nested| nested.calls(above || own, found)).count() > 0;
        for name in &self.calls {
            let beside = self.calls.iter().any(|other| other != name && amplifies(other));
            *found.entry(name.clone()).or_default() |= above || below || beside;
        }
        own || below
    }

    /// The trees with one expression less: large cuts first.
    pub(super) fn smaller(&self) -> Vec<Self> {
        let mut smaller: Vec<Self> = self.nested().filter(|nested| nested.of == self.of).cloned().collect();
        if !self.of.is_empty() && self.nested().next().is_some() {
            smaller.push(Self::new(&self.of, format!("NULL::{}", self.of)));
        }
        for (index, part) in self.parts.iter().enumerate() {
            let Part::Nested(nested) = part else { continue };
            smaller.extend(nested.smaller().into_iter().map(|nested| {
                let mut changed = self.clone();
                changed.parts[index] = Part::Nested(nested);
                changed
            }));
        }
        smaller
    }
}

/// The SQL text; `{:#}` for a reader, with `…` for what is repeated.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Nested(expression) => expression.fmt(f),
            Part::Again(_) if f.alternate() => f.write_str("…"),
            Part::Again(index) => match &self.parts[*index] {
                Part::Nested(expression) => expression.fmt(f),
                Part::Text(_) | Part::Again(_) => Ok(()),
            },
        })
    }
}
