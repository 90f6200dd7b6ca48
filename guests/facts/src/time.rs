//! Moments, as calendars and clocks write them. All of them in UTC, the only zone there is here.

use calendar::{DAY_SECONDS as DAY, Moment, days_of, unit_seconds};

pub use calendar::Civil;

/// A moment: seconds since 1970, and nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[allow(missing_docs)]
pub struct Time {
    pub seconds: i64,
    pub nanos: u32,
}

impl Time {
    /// The present.
    pub fn now() -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Self { seconds: since.as_secs() as i64, nanos: since.subsec_nanos() }
    }

    /// The moment of a date and a time of day.
    pub fn at(year: i64, month: u32, day: u32, second_of_day: i64) -> Self {
        Self { seconds: days_of(year, month.into(), day.into()) * DAY + second_of_day, nanos: 0 }
    }

    /// Reads `2024-05-01`, `2024-05-01 12:30[:15[.5]]`, the same with `T` and `Z`, `@SECONDS`,
    /// and distances from now such as `2 days ago`, `-1 hour` and `yesterday`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(number) = text.strip_prefix('@') {
            let (whole, part) = number.split_once('.').unwrap_or((number, ""));
            return Some(Self { seconds: whole.parse().ok()?, nanos: fraction(part)? });
        }
        if let Some(seconds) = from_now(text) {
            let now = Self::now();
            return Some(Self { seconds: now.seconds.saturating_add(seconds), ..now });
        }
        let text = text.trim_end_matches(" UTC").trim_end_matches(['Z', 'z']);
        let (date, clock) = text.split_once(['T', ' ']).unwrap_or((text, ""));
        let mut fields = date.splitn(3, ['-', '/']).map(|it| it.parse::<u32>().ok());
        let (year, month, day) = (fields.next()??, fields.next()??, fields.next()??);
        if year > 9999 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        let clock = clock.trim();
        let (clock, zone) = match clock.find(['+', '-']) {
            Some(at) => (clock[..at].trim(), zone(&clock[at..])?),
            None => (clock, 0),
        };
        let (clock, part) = clock.split_once('.').unwrap_or((clock, ""));
        let mut of_day = 0;
        for (index, field) in clock.split(':').filter(|it| !it.is_empty()).enumerate() {
            of_day += field.parse::<u32>().ok().map(i64::from)? * [3600, 60, 1].get(index)?;
        }
        let midnight = Self::at(i64::from(year), month, day, of_day - zone);
        Some(Self { nanos: fraction(part)?, ..midnight })
    }

    /// Year, month and so on.
    pub fn civil(self) -> Civil {
        Civil::at(self.seconds)
    }

    /// `2024-05-01 12:30:15.000000000 +0000`, as `stat` and `diff` write it.
    pub fn full(self) -> String {
        let it = self.civil();
        format!(
            "{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:09} +0000",
            it.year, it.month, it.day, it.hour, it.minute, it.second, self.nanos
        )
    }

    /// The piece that `date +%LETTER` would print; `None` for a letter that is none.
    pub fn piece(self, letter: char) -> Option<String> {
        match letter {
            'N' => Some(format!("{:09}", self.nanos)),
            _ => calendar::piece(&Moment::of(self.seconds), letter),
        }
    }
}

/// Seconds from now.
fn from_now(text: &str) -> Option<i64> {
    match text {
        "now" | "today" => return Some(0),
        "yesterday" => return Some(-DAY),
        "tomorrow" => return Some(DAY),
        _ => {}
    }
    let mut words = text.split_whitespace();
    let (count, unit) = (words.next()?, words.next()?);
    let count: i64 = if count == "last" { -1 } else { count.parse().ok()? };
    let unit = unit_seconds(unit)?;
    match (words.next(), words.next()) {
        (None, None) => count.checked_mul(unit),
        (Some("ago"), None) => count.checked_mul(-unit),
        _ => None,
    }
}

fn fraction(digits: &str) -> Option<u32> {
    if digits.is_empty() {
        return Some(0);
    }
    let nine: String = digits.chars().chain("000000000".chars()).take(9).collect();
    nine.parse().ok()
}

/// Seconds east of UTC.
fn zone(text: &str) -> Option<i64> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let number: i64 = digits.parse().ok()?;
    let (hours, minutes) = if digits.len() > 2 { (number / 100, number % 100) } else { (number, 0) };
    Some(sign * (hours * 3600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_and_written() {
        let cases = [
            ("@0", "1970-01-01 00:00:00.000000000 +0000"),
            ("2024-02-29", "2024-02-29 00:00:00.000000000 +0000"),
            ("2024-02-29 23:59:58.5", "2024-02-29 23:59:58.500000000 +0000"),
            ("2000-01-01T00:00:00Z", "2000-01-01 00:00:00.000000000 +0000"),
            ("2000-01-01 00:30 +0100", "1999-12-31 23:30:00.000000000 +0000"),
            ("1969-12-31 23:59:59", "1969-12-31 23:59:59.000000000 +0000"),
        ];
        for (text, want) in cases {
            assert_eq!(Time::parse(text).map(Time::full).as_deref(), Some(want), "{text}");
        }
        for bad in ["", "soon", "2024-13-01", "2024-01", "@x"] {
            assert_eq!(Time::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn distances_are_read() {
        let cases = [
            ("2 days ago", Some(-172_800)),
            ("-1 hour", Some(-3600)),
            ("yesterday", Some(-86_400)),
            ("1 week", Some(604_800)),
            ("2 moons ago", None),
            ("2024-01-01 10:00", None),
        ];
        for (text, want) in cases {
            assert_eq!(from_now(text), want, "{text}");
        }
    }

    #[test]
    fn pieces_are_those_of_date() {
        let time = Time::parse("2024-05-01 13:05:09").unwrap_or_default();
        let all: Vec<String> = "aAbjupIeZc".chars().filter_map(|it| time.piece(it)).collect();
        assert_eq!(all.join("|"), "Wed|Wednesday|May|122|3|PM|01| 1|UTC|Wed May  1 13:05:09 2024");
    }
}
