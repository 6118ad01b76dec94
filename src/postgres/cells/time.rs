//! Dates, times and intervals: PostgreSQL's counts of days and microseconds to ISO 8601.
//!
//! Values that ISO 8601 cannot express (infinities, years before 1 or after 9999) are written as in PostgreSQL's own ISO style.
//! The calendar is computed here, because PostgreSQL's reaches from 4714 BC to 294276 AD and further than any library's.

/// Days from 1970-01-01 to PostgreSQL's epoch, 2000-01-01.
const EPOCH_DAYS: i64 = 10_957;
const MICROS_PER_SECOND: i64 = 1_000_000;
const MICROS_PER_DAY: i64 = 86_400 * MICROS_PER_SECOND;

/// True if a server's intervals can be infinite. Before PostgreSQL 17 the same bytes are the longest finite ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intervals {
    /// PostgreSQL 16 and older.
    Finite,
    /// PostgreSQL 17 and newer.
    MayBeInfinite,
}

impl Intervals {
    /// Those of a server by its `server_version_num`.
    pub(crate) fn of(version: u32) -> Self {
        if version < 170_000 { Self::Finite } else { Self::MayBeInfinite }
    }
}

/// The end of a timestamp in ISO 8601 and in PostgreSQL's own style.
type Zone = [&'static str; 2];

/// That of `timestamp`, a local clock.
pub(super) const LOCAL: Zone = ["", ""];
/// That of `timestamptz`, an instant.
pub(super) const UTC: Zone = ["Z", "+00"];

/// A day of the proleptic Gregorian calendar; the year before 1 is 0.
struct Day {
    year: i64,
    month: i64,
    day: i64,
}

impl Day {
    /// Days are counted from 1970-01-01, in eras of 400 years that begin on 1 March.
    fn of(days: i64) -> Self {
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self { year, month, day }
    }

    /// Returns whether ISO 8601's four digits can express the year.
    fn is_iso(&self) -> bool {
        (1..=9999).contains(&self.year)
    }

    /// Year, month, day, without the era.
    fn text(&self) -> String {
        let year = if self.year > 0 { self.year } else { 1 - self.year };
        format!("{year:04}-{:02}-{:02}", self.month, self.day)
    }

    fn era(&self) -> &'static str {
        if self.year > 0 { "" } else { " BC" }
    }
}

/// `date`: days since 2000-01-01.
pub(super) fn date(days: i32) -> String {
    match days {
        i32::MAX => "infinity".to_owned(),
        i32::MIN => "-infinity".to_owned(),
        days => {
            let day = Day::of(i64::from(days) + EPOCH_DAYS);
            format!("{}{}", day.text(), day.era())
        }
    }
}

/// `time`: microseconds since midnight, up to and including 24:00.
pub(super) fn time(micros: i64) -> String {
    let seconds = micros / MICROS_PER_SECOND;
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    clock + &fraction(micros % MICROS_PER_SECOND)
}

/// A fraction of a second as PostgreSQL writes it: no zeros at its end, nothing at all when it is zero.
fn fraction(micros: i64) -> String {
    match micros.unsigned_abs() {
        0 => String::new(),
        micros => format!(".{micros:06}").trim_end_matches('0').to_owned(),
    }
}

/// `timetz`: the zone is in seconds **west** of Greenwich.
pub(super) fn time_with_zone(micros: i64, west: i32) -> String {
    let sign = if west <= 0 { '+' } else { '-' };
    let offset = west.unsigned_abs();
    let mut text = format!("{}{sign}{:02}", time(micros), offset / 3600);
    if !offset.is_multiple_of(3600) {
        text.push_str(&format!(":{:02}", offset / 60 % 60));
    }
    if !offset.is_multiple_of(60) {
        text.push_str(&format!(":{:02}", offset % 60));
    }
    text
}

/// `timestamp` and `timestamptz`: microseconds since 2000-01-01 00:00 (UTC).
pub(super) fn timestamp(micros: i64, [iso_zone, own_zone]: Zone) -> String {
    match micros {
        i64::MAX => return "infinity".to_owned(),
        i64::MIN => return "-infinity".to_owned(),
        _ => {}
    }
    let day = Day::of(micros.div_euclid(MICROS_PER_DAY) + EPOCH_DAYS);
    let clock = time(micros.rem_euclid(MICROS_PER_DAY));
    if day.is_iso() {
        format!("{}T{clock}{iso_zone}", day.text())
    } else {
        format!("{} {clock}{own_zone}{}", day.text(), day.era())
    }
}

/// `interval`, as `IntervalStyle = iso_8601` writes it.
pub(super) fn interval(months: i32, days: i32, micros: i64, intervals: Intervals) -> String {
    match (intervals, months, days, micros) {
        (Intervals::MayBeInfinite, i32::MAX, i32::MAX, i64::MAX) => return "infinity".to_owned(),
        (Intervals::MayBeInfinite, i32::MIN, i32::MIN, i64::MIN) => return "-infinity".to_owned(),
        _ => {}
    }
    let part = |amount: i64, unit: char| match amount {
        0 => String::new(),
        amount => format!("{amount}{unit}"),
    };
    let date =
        [part((months / 12).into(), 'Y'), part((months % 12).into(), 'M'), part(days.into(), 'D')].concat();
    let whole = micros / MICROS_PER_SECOND;
    let rest = micros % MICROS_PER_SECOND;
    let second = whole % 60;
    let seconds = if second == 0 && rest == 0 {
        String::new()
    } else {
        let sign = if micros < 0 { "-" } else { "" };
        format!("{sign}{}{}S", second.unsigned_abs(), fraction(rest))
    };
    let clock = [part(whole / 3600, 'H'), part(whole / 60 % 60, 'M'), seconds].concat();
    match (date.is_empty(), clock.is_empty()) {
        (true, true) => "PT0S".to_owned(),
        (_, true) => format!("P{date}"),
        (_, false) => format!("P{date}T{clock}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(actual: &str, expected: &str) {
        assert_eq!(actual, expected);
    }

    #[test]
    fn dates_reach_as_far_as_postgresqls() {
        check(&date(0), "2000-01-01");
        check(&date(-1), "1999-12-31");
        check(&date(59), "2000-02-29");
        check(&date(60), "2000-03-01");
        check(&date(-730_119), "0001-01-01");
        check(&date(-730_120), "0001-12-31 BC");
        check(&date(-2_451_545), "4714-11-24 BC");
        check(&date(2_145_031_948), "5874897-12-31");
        check(&date(i32::MAX), "infinity");
        check(&date(i32::MIN), "-infinity");
    }

    #[test]
    fn times_have_as_many_digits_as_they_need() {
        check(&time(0), "00:00:00");
        check(&time(86_400_000_000), "24:00:00");
        check(&time(3_723_000_100), "01:02:03.0001");
        check(&time_with_zone(0, -7200), "00:00:00+02");
        check(&time_with_zone(0, 19_800), "00:00:00-05:30");
        check(&time_with_zone(0, -3_661), "00:00:00+01:01:01");
    }

    #[test]
    fn timestamps_are_iso_where_iso_can_express_them() {
        check(&timestamp(0, UTC), "2000-01-01T00:00:00Z");
        check(&timestamp(-1, LOCAL), "1999-12-31T23:59:59.999999");
        check(&timestamp(-63_082_281_600_000_000 - 1, UTC), "0001-12-31 23:59:59.999999+00 BC");
        check(&timestamp(252_455_616_000_000_000, UTC), "10000-01-01 00:00:00+00");
        check(&timestamp(i64::MAX, UTC), "infinity");
        check(&timestamp(i64::MIN, LOCAL), "-infinity");
    }

    #[test]
    fn intervals_are_durations() {
        for intervals in [Intervals::Finite, Intervals::MayBeInfinite] {
            check(&interval(0, 0, 0, intervals), "PT0S");
            check(&interval(14, 3, 14_706_700_000, intervals), "P1Y2M3DT4H5M6.7S");
            check(&interval(-14, -3, -14_706_700_000, intervals), "P-1Y-2M-3DT-4H-5M-6.7S");
            check(&interval(0, 0, -500_000, intervals), "PT-0.5S");
            check(&interval(0, 1, 0, intervals), "P1D");
            check(&interval(0, 0, 90_061_000_000, intervals), "PT25H1M1S");
            check(&interval(i32::MAX, 0, 0, intervals), "P178956970Y7M");
            check(&interval(0, i32::MIN, i64::MIN, intervals), "P-2147483648DT-2562047788H-54.775808S");
        }
    }

    #[test]
    fn the_longest_intervals_are_infinite_from_postgresql_17_on() {
        let longest = |intervals| interval(i32::MAX, i32::MAX, i64::MAX, intervals);
        let least = |intervals| interval(i32::MIN, i32::MIN, i64::MIN, intervals);
        for version in [130_000, 150_004, 169_999] {
            let intervals = Intervals::of(version);
            check(&longest(intervals), "P178956970Y7M2147483647DT2562047788H54.775807S");
            check(&least(intervals), "P-178956970Y-8M-2147483648DT-2562047788H-54.775808S");
        }
        for version in [170_000, 180_001] {
            let intervals = Intervals::of(version);
            check(&longest(intervals), "infinity");
            check(&least(intervals), "-infinity");
            check(
                &interval(i32::MAX, i32::MAX, i64::MAX - 1, intervals),
                "P178956970Y7M2147483647DT2562047788H54.775806S",
            );
        }
    }
}
