//! The known name that the writer of an unknown one most likely meant.

use std::mem;

/// Returns the known name that is closest to `name`, with their distance: the characters to insert, delete or replace.
pub fn closest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<(usize, &'k str)> {
    known.into_iter().map(|known| (distance(name, known), known)).min()
}

/// Computes the Levenshtein distance, row by row.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, y) in row.iter_mut().skip(1).zip(b.chars()) {
            let above = *cell;
            let replaced = diagonal + usize::from(x != y);
            left = replaced.min(above + 1).min(left + 1);
            diagonal = mem::replace(cell, left);
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_name_is_found() {
        assert_eq!(closest("colums", ["sql", "columns", "tables"]), Some((1, "columns")));
        assert_eq!(closest("x", []), None);
    }

    #[test]
    fn distance_counts_insertions_deletions_and_replacements() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", ""), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("same", "same"), 0);
    }
}
