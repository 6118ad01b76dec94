//! Places in a text that a person can find: line and column.

/// Line and column (both from 1; columns in characters) in the client's own text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Returns the position of byte `at` of a text.
pub(crate) fn position_in(text: &str, at: usize) -> Position {
    let mut cursor = Cursor::default();
    cursor.advance(text, at)
}

/// Walks a text once and counts lines and columns.
#[derive(Default)]
pub(super) struct Cursor {
    at: usize,
    lines: usize,
    columns: usize,
}

impl Cursor {
    /// Moves forward to byte `to` and returns its position.
    pub(super) fn advance(&mut self, text: &str, to: usize) -> Position {
        for c in text.get(self.at..to).unwrap_or_default().chars() {
            if c == '\n' {
                self.lines += 1;
                self.columns = 0;
            } else {
                self.columns += 1;
            }
        }
        self.at = to;
        Position { line: self.lines + 1, column: self.columns + 1 }
    }
}
