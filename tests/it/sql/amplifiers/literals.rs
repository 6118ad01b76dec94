//! Literals of every type, short and long.

use super::catalog::Catalog;
use super::samples::{LONG, SAMPLES};
use crate::sql::random::Random;

/// A literal of the type, of about `longest` characters at most, if there is one; `long` asks for one near that.
pub(super) fn literal(
    of: &str,
    longest: usize,
    long: bool,
    catalog: &Catalog,
    random: &mut Random,
) -> Option<String> {
    if random.chance(2) && catalog.can_cast(of) {
        return Some(format!("NULL::{of}"));
    }
    let number = matches!(of, "integer" | "bigint" | "numeric" | "smallint" | "double precision");
    if number && !long && random.chance(75) {
        return Some(self::number(of, random));
    }
    let kinds = LONG.iter().find(|(name, _)| *name == of).filter(|_| long || random.chance(35));
    let value = match (kinds, SAMPLES.iter().find(|(name, _)| *name == of)) {
        (Some((_, kinds)), _) => {
            let plain = long && random.chance(70);
            let [start, unit, separator, end] = if plain { kinds[0] } else { random.pick(kinds) };
            let least = if long { longest / 3 } else { 0 };
            let count = random.size(longest.max(1)).max(least) / (unit.len() + separator.len());
            start.to_owned() + &vec![unit; count.max(1)].join(separator) + end
        }
        (None, Some((_, samples))) => random.pick(samples).to_owned(),
        (None, None) => return array(of.strip_suffix("[]")?, longest, catalog, random),
    };
    let quoted = format!("'{}'", value.replace('\'', "''"));
    match of {
        // Its own values are not the guard's to know.
        "mood" => None,
        _ if catalog.can_cast(of) && !(of == "text" && random.chance(10)) => Some(format!("{quoted}::{of}")),
        _ => Some(quoted),
    }
}

fn array(element: &str, longest: usize, catalog: &Catalog, random: &mut Random) -> Option<String> {
    let elements: Option<Vec<String>> =
        (0..=random.below(3)).map(|_| literal(element, longest / 4, false, catalog, random)).collect();
    let cast = if catalog.can_cast(element) { format!("::{element}[]") } else { String::new() };
    Some(format!("(ARRAY[{}]{cast})", elements?.join(", ")))
}

fn number(of: &str, random: &mut Random) -> String {
    let value = match random.below(12) {
        0..=2 => random.below(11),
        3..=5 => random.size(1_100_000),
        6..=8 => 5_000 + random.below(40_000),
        9 => random.pick(&[100, 1_000, 10_000, 100_000, 1_048_576, 1_048_577]),
        10 => random.size(2_147_483_647),
        _ => return format!("(-{})", random.size(1_000)),
    };
    match of {
        "numeric" if random.chance(20) => format!("1e{}", value % 131_072),
        "numeric" if random.chance(10) => format!("1e-{}", value % 16_384),
        "bigint" | "smallint" | "double precision" => format!("{value}::{of}"),
        _ => value.to_string(),
    }
}
