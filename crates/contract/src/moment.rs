//! Moments as people write them: RFC 3339, such as `2026-01-31T12:00:00Z`. Nothing else is a moment in a file.

use std::str::FromStr;

use crate::Timestamp;

/// The text is no moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a moment: use RFC 3339, such as 2026-01-31T12:00:00Z, from 1970 to 2554")]
pub struct BadMoment(String);

impl FromStr for Timestamp {
    type Err = BadMoment;

    fn from_str(text: &str) -> Result<Self, BadMoment> {
        let shown = || text.chars().take(40).collect::<String>().escape_default().to_string();
        nanos(text).map(Self).ok_or_else(|| BadMoment(shown()))
    }
}

const NANOS: u64 = 1_000_000_000;

fn nanos(text: &str) -> Option<u64> {
    let (date, rest) = text.split_at_checked(10)?;
    let (time, rest) = rest.strip_prefix(['T', 't', ' '])?.split_at_checked(8)?;
    let (fraction, zone) = match rest.strip_prefix('.') {
        None => (0, rest),
        Some(rest) => {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let value: u64 = rest.get(..digits).filter(|_| (1..=9).contains(&digits))?.parse().ok()?;
            (value * 10_u64.pow(9 - digits as u32), &rest[digits..])
        }
    };
    let seconds = i64::try_from(utc_seconds(date, time)?).ok()? - offset_seconds(zone)?;
    u64::try_from(seconds).ok()?.checked_mul(NANOS)?.checked_add(fraction)
}

/// How far the zone is ahead of UTC.
fn offset_seconds(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let (sign, zone) = match zone.as_bytes().first()? {
        b'+' => (1, &zone[1..]),
        b'-' => (-1, &zone[1..]),
        _ => return None,
    };
    let [hours, minutes] = numbers(zone, ':', [2, 2])?;
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60) as i64)
}

fn utc_seconds(date: &str, time: &str) -> Option<u64> {
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let lengths = [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let month_index = usize::try_from(month.checked_sub(1)?).ok()?;
    let in_range = year >= 1970 && (1..=*lengths.get(month_index)?).contains(&day);
    if !in_range || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let years: u64 = (1970..year).map(|it| if leap(it) { 366 } else { 365 }).sum();
    let days = years + lengths[..month_index].iter().sum::<u64>() + day - 1;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

/// Numbers of exactly so many digits.
fn numbers<const N: usize>(text: &str, between: char, widths: [usize; N]) -> Option<[u64; N]> {
    let mut fields = text.split(between);
    let mut all = [0; N];
    for (number, width) in all.iter_mut().zip(widths) {
        let field = fields.next().filter(|it| it.len() == width && it.bytes().all(|b| b.is_ascii_digit()))?;
        *number = field.parse().ok()?;
    }
    fields.next().is_none().then_some(all)
}

impl Timestamp {
    /// The moment as RFC 3339 in UTC, with a fraction only where there is one.
    pub fn to_rfc3339(self) -> String {
        let (seconds, nanos) = (self.0 / NANOS, self.0 % NANOS);
        let (days, of_day) = (seconds / 86_400, seconds % 86_400);
        // Days to dates by Hinnant's `civil_from_days`.
        let shifted = days + 719_468;
        let (era, of_era) = (shifted / 146_097, shifted % 146_097);
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        let fraction = match nanos {
            0 => String::new(),
            _ => format!(".{}", format!("{nanos:09}").trim_end_matches('0')),
        };
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_moment_is_a_date_a_time_and_a_zone() {
        for (text, want) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2000-02-29T12:00:00Z", Some(951_825_600_000_000_000)),
            ("2000-02-29T13:00:00.5+01:00", Some(951_825_600_500_000_000)),
            ("1970-01-01 00:00:00.000000001z", Some(1)),
            ("1970-01-01T00:00:00+00:01", None),
            ("1969-12-31T23:59:59Z", None),
            ("2026-02-29T00:00:00Z", None),
            ("2026-13-01T00:00:00Z", None),
            ("2026-01-01T24:00:00Z", None),
            ("2026-01-01T00:00:00", None),
            ("2026-01-01T00:00:00.Z", None),
            ("2026-01-01T00:00:00.0123456789Z", None),
            ("2026-1-1T0:0:0Z", None),
            ("9999-12-31T23:59:59Z", None),
            ("ü026-01-01T00:00:00Z", None),
            ("1700000000", None),
            ("", None),
        ] {
            assert_eq!(text.parse::<Timestamp>().ok(), want.map(Timestamp), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_moment_is_read_as_it_is_written(nanos: u64) {
            prop_assert_eq!(Timestamp(nanos).to_rfc3339().parse::<Timestamp>(), Ok(Timestamp(nanos)));
        }

        #[test]
        fn no_text_breaks_the_reader_of_moments(text in "\\PC{0,40}") {
            let _ = text.parse::<Timestamp>();
        }
    }
}
