//! Spans of the tree as indices of our tokens: `line` 1, `column` index + 1.

use sqlparser::tokenizer::{Location, Span};

/// Makes the span of the token with this index.
pub(super) fn span_of(token: usize) -> Span {
    let column = u64::try_from(token).unwrap_or(u64::MAX).saturating_add(1);
    let place = Location { line: 1, column };
    Span::new(place, place)
}

/// Returns the index of the token that a span of the tree stands for.
pub(crate) fn token_of(span: Span) -> Option<usize> {
    usize::try_from(span.start.column).ok()?.checked_sub(1)
}
