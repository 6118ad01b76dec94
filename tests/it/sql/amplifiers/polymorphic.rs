//! Polymorphic types: what they stand for in a call.

use crate::sql::random::Random;

/// Range types with the types of their bounds and their multiranges.
const RANGES: &[[&str; 3]] = &[
    ["integer", "int4range", "int4multirange"],
    ["bigint", "int8range", "int8multirange"],
    ["numeric", "numrange", "nummultirange"],
    ["date", "daterange", "datemultirange"],
    ["timestamp without time zone", "tsrange", "tsmultirange"],
    ["timestamp with time zone", "tstzrange", "tstzmultirange"],
];

/// The making of a polymorphic type from the type that a call binds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Scalar,
    Enum,
    Array,
    Range,
    Multirange,
}

/// The types that `anyelement` and `anycompatible` stand for in a call, and those of their families.
#[derive(Default)]
pub(super) struct Binding([Option<String>; 2]);

pub(super) fn shape(declared: &str) -> Option<(Shape, usize)> {
    let (family, kind) = match declared.strip_prefix("anycompatible") {
        Some(kind) => (1, kind),
        None => (0, declared.strip_prefix("any")?),
    };
    let shape = match kind {
        "array" => Shape::Array,
        "range" => Shape::Range,
        "multirange" => Shape::Multirange,
        "enum" => Shape::Enum,
        _ => Shape::Scalar,
    };
    Some((shape, family))
}

impl Binding {
    /// Binds a declared type to a concrete one. Returns whether they agree.
    pub(super) fn unify(&mut self, declared: &str, concrete: &str) -> bool {
        let Some((shape, family)) = shape(declared) else { return declared == concrete };
        let bound = |at: usize| RANGES.iter().find(|range| range[at] == concrete).map(|range| range[0]);
        let element = match shape {
            Shape::Scalar => Some(concrete),
            Shape::Enum => Some(concrete).filter(|concrete| *concrete == "mood"),
            Shape::Array => concrete.strip_suffix("[]"),
            Shape::Range => bound(1),
            Shape::Multirange => bound(2),
        };
        self.0[family] = element.map(str::to_owned);
        element.is_some()
    }

    /// Binds what is still open, to `any` where that fits.
    pub(super) fn complete(&mut self, declared: &[&String], any: [String; 2], random: &mut Random) {
        let open = self.0.iter_mut().zip(any).enumerate().filter(|(_, (bound, _))| bound.is_none());
        for (family, (bound, any)) in open {
            let has = |shapes: &[Shape]| {
                declared
                    .iter()
                    .filter_map(|of| shape(of))
                    .any(|(shape, of)| of == family && shapes.contains(&shape))
            };
            *bound = Some(match () {
                () if has(&[Shape::Range, Shape::Multirange]) => random.pick(RANGES)[0].to_owned(),
                () if has(&[Shape::Enum]) => "mood".to_owned(),
                () if has(&[Shape::Array]) => any.trim_end_matches("[]").to_owned(),
                () => any,
            });
        }
    }

    pub(super) fn concrete(&self, declared: &str) -> Option<String> {
        let Some((shape, family)) = shape(declared) else { return Some(declared.to_owned()) };
        let element = self.0[family].as_deref()?;
        let range =
            |at: usize| RANGES.iter().find(|range| range[0] == element).map(|range| range[at].to_owned());
        match shape {
            Shape::Scalar => Some(element.to_owned()),
            Shape::Enum => Some(element.to_owned()).filter(|element| element == "mood"),
            Shape::Array => (!element.ends_with("[]")).then(|| format!("{element}[]")),
            Shape::Range => range(1),
            Shape::Multirange => range(2),
        }
    }
}
