//! JSON Schema's formats `date`, `date-time` and `uuid`, read into PostgreSQL's binary form.

use jiff::Timestamp;
use jiff::civil::Date;

/// Microseconds from 1970 to 2000, from which PostgreSQL counts.
const EPOCH_MICROS: i64 = 946_684_800_000_000;

/// Reads a `date` (RFC 3339 `full-date`, such as 2026-01-31), in days since 2000.
pub(crate) fn date(text: &str) -> Option<i32> {
    if !has_shape(text, "0000-00-00") {
        return None;
    }
    let date: Date = text.parse().ok()?;
    let hours = date.duration_since(Date::constant(2000, 1, 1)).as_hours();
    i32::try_from(hours / 24).ok()
}

/// Reads a `date-time` (RFC 3339, such as 2026-01-31T12:00:00Z), in microseconds since 2000. PostgreSQL keeps no finer fraction.
pub(crate) fn timestamp(text: &str) -> Option<i64> {
    let (date, rest) = text.split_at_checked("0000-00-00".len())?;
    let (time, rest) = rest.split_at_checked("T00:00:00".len())?;
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let zone = match rest.strip_prefix('.') {
        None => rest,
        Some(fraction) => fraction.get(Some(digits(fraction)).filter(|count| (1..=6).contains(count))?..)?,
    };
    let is_offset = has_shape(zone, "+00:00") || has_shape(zone, "-00:00");
    let is_zone = zone == "Z" || is_offset && zone.get(1..3).is_some_and(|hours| hours < "24");
    // 60 is a second that most clocks never show.
    let is_time = has_shape(time, "T00:00:00") && !time.ends_with(":60");
    if !(has_shape(date, "0000-00-00") && is_time && is_zone) {
        return None;
    }
    let at: Timestamp = text.parse().ok()?;
    at.as_microsecond().checked_sub(EPOCH_MICROS)
}

/// Reads a `uuid` (RFC 9562, with its four hyphens), as its bytes.
pub(crate) fn uuid(text: &str) -> Option<[u8; 16]> {
    let places = [8, 13, 18, 23];
    let is_shaped = text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| {
            if places.contains(&index) { byte == b'-' } else { byte.is_ascii_hexdigit() }
        });
    let digits = is_shaped.then(|| text.replace('-', ""))?;
    u128::from_str_radix(&digits, 16).ok().map(u128::to_be_bytes)
}

/// Matches `text` against `shape`, in which `0` stands for any digit.
fn has_shape(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text.bytes().zip(shape.bytes()).all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            other => byte == other,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_a_whole_date_and_no_more() {
        for (text, days) in
            [("2000-01-01", 0), ("2024-02-29", 8825), ("1999-12-31", -1), ("0001-01-01", -730_119)]
        {
            assert_eq!(date(text), Some(days), "{text}");
        }
        for text in [
            "2023-02-29",
            "2024-13-01",
            "24-01-01",
            "2024-1-1",
            "20240101",
            "2024-01-01T00:00:00Z",
            "",
            "2024-01-0é",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
    }

    #[test]
    fn a_timestamp_has_a_zone() {
        for (text, micros) in [
            ("2000-01-01T00:00:00Z", 0),
            ("2000-01-01T00:00:00.000001Z", 1),
            ("2000-01-01T00:00:01.5+00:00", 1_500_000),
            ("1999-12-31T23:00:00-01:00", 0),
        ] {
            assert_eq!(timestamp(text), Some(micros), "{text}");
        }
        for text in [
            "2000-01-01T00:00:00",
            "2000-01-01 00:00:00Z",
            "2000-01-01T00:00Z",
            "2000-01-01T24:00:00Z",
            "2000-01-01T00:00:00+24:00",
            "2000-01-01T00:00:00-25:00",
            "2000-01-01T00:00:00+23:60",
            "2000-01-01T00:00:60Z",
            "2000-01-01T00:00:00.Z",
            "2000-01-01T00:00:00.1234567Z",
            "2000-01-01T00:00:00Z[UTC]",
            "2000-01-01T00:00:00+0100",
            "infinity",
            "now",
        ] {
            assert_eq!(timestamp(text), None, "{text}");
        }
    }

    #[test]
    fn a_uuid_has_its_hyphens() {
        let bytes = 0xa0eebc99_9c0b4ef8_bb6d6bb9_bd380a11_u128.to_be_bytes();
        assert_eq!(uuid("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), Some(bytes));
        assert_eq!(uuid("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"), Some(bytes));
        for text in [
            "a0eebc999c0b4ef8bb6d6bb9bd380a11",
            "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1}",
            "",
            "+0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        ] {
            assert_eq!(uuid(text), None, "{text}");
        }
    }
}
