//! Refusals of this rule: the literal or the count that is too large, and the cure.

/// The most bytes that the counts and literals of a statement may make of one value together.
pub(super) const MAX_BYTES: f64 = 16_777_216.0;
/// The largest count that is written.
pub(super) const MAX_COUNT: f64 = 1_048_576.0;
/// The largest literal in a count that holds a column, and beside one.
pub(super) const MAX_LITERAL: f64 = 10_000.0;
/// The most corners of a polygon that is made of a circle.
pub(super) const MAX_CORNERS: f64 = 1_000.0;
/// The most parentheses of a pattern whose matches are returned.
pub(super) const MAX_GROUPS: usize = 100;
/// The largest product of nested `{n}` in a pattern.
pub(super) const MAX_REPETITIONS: u64 = 10_000;
/// The most items that a path may make of one.
pub(super) const MAX_ITEMS: u64 = 65_536;
/// The most times that a column is written out by subqueries that build on each other; the planner takes some 5 KB each.
pub(super) const MAX_REFERENCES: f64 = 20_000.0;
/// The most relations that are read once WITH queries are written out.
pub(super) const MAX_RELATIONS: f64 = 20_000.0;

/// A number as a refusal shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quantity(pub(super) f64);

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(number) = self;
        if *number < 1e15 { write!(f, "{number}") } else { write!(f, "{number:.0e}") }
    }
}

/// A value that one call could make too large, or work that nothing cancels.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum Excess {
    #[error("The count {count} of {name} is above {MAX_COUNT}; write a smaller one, or least(…, 1000).")]
    Count { name: String, count: Quantity },
    #[error(
        "The count of {name} could be any number, whatever the tables hold; write least(…, 1000) for it."
    )]
    Unbounded { name: String },
    #[error(
        "The literal {literal} in the count of {name} is above {MAX_LITERAL}; write least(…, 1000) for the count."
    )]
    CountLiteral { name: String, literal: Quantity },
    #[error(
        "The count of {name} could multiply what the tables hold by {times}; write least(…, 1000) for it."
    )]
    Times { name: String, times: Quantity },
    #[error(
        "{literal} is above {MAX_LITERAL} and could reach the count of {name} through a column; write least(…, 1000) for that count."
    )]
    Beside { name: String, literal: String },
    #[error("The template of format is a literal or a table's column here; write it as a literal.")]
    Template,
    #[error("A polygon of a circle has at most {MAX_CORNERS} corners here, written as a number.")]
    Corners,
    #[error(
        "The lengths of array_fill are written as ARRAY[…] or '{{…}}' of plain numbers here, at most {MAX_COUNT} elements."
    )]
    Lengths,
    #[error(
        "With arguments by name it is not seen which is the count of {name}; write them in order, without names."
    )]
    Named { name: String },
    #[error(
        "The pattern of {name} may have at most {MAX_GROUPS} parentheses here, written as a literal; use fewer."
    )]
    Groups { name: String },
    #[error("The repetitions in this pattern multiply to more than {MAX_REPETITIONS}; use smaller ones.")]
    Repetitions,
    #[error("A jsonpath is a literal or a column here; write it as a literal.")]
    PathMade,
    #[error(
        "This path could find an item more than {MAX_ITEMS} times; use one ** at most, and shorter lists."
    )]
    Path,
    #[error("The exponents of the numbers written here stand for {digits} digits; use smaller ones.")]
    Exponents { digits: Quantity },
    #[error(
        "{what} could make more than {MAX_BYTES} bytes of one value together; use smaller literals, or least(…, 1000) for a count."
    )]
    Together { what: String },
    #[error(
        "{what} could keep a call busy that nothing cancels; use smaller literals, or least(…, 1000) for a count."
    )]
    Busy { what: String },
    #[error(
        "Written out, one value of this query refers to a column more than {MAX_REFERENCES} times, for subqueries or calls build on each other; refer to it less often."
    )]
    References,
    #[error(
        "Written out, this query reads more than {MAX_RELATIONS} relations, for WITH queries that are NOT MATERIALIZED build on each other; leave NOT MATERIALIZED out."
    )]
    Relations,
    #[error(
        "The column {column} would grow with every step of this recursion; use it once, and not in {name}."
    )]
    Recursion { column: String, name: String },
    #[error(
        "{name} compares values that this statement makes, which nothing cancels; compare columns of tables or literals."
    )]
    Uncancellable { name: String },
    #[error(
        "{name} is not PostgreSQL's own, so its result is not known to be small; do not use it in or around {around}."
    )]
    Added { name: String, around: String },
}
