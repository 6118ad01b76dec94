//! Refusals of this rule: the literal or the count that is too large, and the cure.

/// The most bytes that the counts and literals of a statement may make of one value together.
pub(super) const MAX_BYTES: f64 = 16_777_216.0;
/// The largest count that is written.
pub(super) const MAX_COUNT: f64 = 1_048_576.0;
/// The largest literal in a count that holds a column, and beside one.
pub(super) const MAX_LITERAL: f64 = 10_000.0;
/// The most parentheses of a pattern whose matches are returned.
pub(super) const MAX_GROUPS: f64 = 100.0;
/// The largest product of repetitions in a pattern.
pub(super) const MAX_REPETITIONS: f64 = 10_000.0;
/// The most items that a path may make of one.
pub(super) const MAX_ITEMS: f64 = 65_536.0;
/// The most times that a column is written out by subqueries that build on each other; the planner takes some 5 KB each.
pub(super) const MAX_REFERENCES: f64 = 20_000.0;

/// A value that one call could make too large, or work that nothing cancels.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum Excess {
    #[error("The count {count} of {name} is above {MAX_COUNT}; write a smaller one, or least(…, 1000).")]
    Count { name: String, count: f64 },
    #[error(
        "The count of {name} could be any number, whatever the tables hold; write a literal, or least(…, 1000)."
    )]
    Unbounded { name: String },
    #[error(
        "{literal} is above {MAX_LITERAL} and could reach the count of {name}; write least(…, 1000) for that count."
    )]
    Beside { name: String, literal: String },
    #[error(
        "With arguments by name it is not seen which is the count of {name}; write them in order, without names."
    )]
    Named { name: String },
    #[error("The pattern of {name} may have at most {most} {what}, written as a literal; use fewer.")]
    Pattern { name: String, most: f64, what: &'static str },
    #[error("A jsonpath is a literal or a column here; write it as a literal.")]
    PathMade,
    #[error(
        "{what} could make more than {MAX_BYTES} bytes of one value together; use smaller literals, or least(…, 1000) for a count."
    )]
    Together { what: String },
    #[error(
        "{what} could keep a call busy that nothing cancels; use smaller literals, or least(…, 1000) for a count."
    )]
    Busy { what: String },
    #[error(
        "Written out, one value of this query refers to a column more than {MAX_REFERENCES} times, for subqueries, calls or NOT MATERIALIZED queries build on each other; refer to it less often."
    )]
    References,
    #[error(
        "{name} compares values that this statement makes, which nothing cancels; compare columns of tables or literals."
    )]
    Uncancellable { name: String },
    #[error(
        "{name} is not PostgreSQL's own, so its result is not known to be small; do not use it in or around {around}."
    )]
    Added { name: String, around: String },
}
