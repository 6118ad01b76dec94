//! Numbers as an answer shows them.

/// Returns `part` of `whole` in percent, 0 to 100, two decimals; 0 of nothing.
pub(super) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    rounded(part as f64 * 100.0 / whole as f64).clamp(0.0, 100.0)
}

fn rounded(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

/// Returns a number that JSON can carry and that is not below zero.
pub(super) fn finite(number: f64) -> f64 {
    if number.is_finite() { rounded(number.max(0.0)) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_are_finite_and_within_range() {
        for (part, whole, expected) in [
            (0, 0, 0.0),
            (5, 0, 0.0),
            (1, 3, 33.33),
            (2, 3, 66.67),
            (3, 2, 100.0),
            (u64::MAX, 1, 100.0),
            (0, u64::MAX, 0.0),
        ] {
            assert_eq!(percent(part, whole), expected);
        }
        for (number, expected) in
            [(f64::NAN, 0.0), (f64::INFINITY, 0.0), (-1.0, 0.0), (1.005, 1.0), (0.129, 0.13)]
        {
            assert_eq!(finite(number), expected);
        }
    }
}
