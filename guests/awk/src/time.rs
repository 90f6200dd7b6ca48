//! Dates, in UTC: `strftime` and `mktime`.

use std::fmt::Write as _;

use calendar::{Civil, DAY_SECONDS, DAYS, MONTHS, days_of};

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |it| it.as_secs() as i64)
}

struct Moment {
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    weekday: i64,
    /// The first of January is 0.
    yearday: i64,
}

impl Moment {
    fn at(seconds: i64) -> Self {
        let it = Civil::at(seconds);
        Self {
            year: it.year,
            month: it.month.into(),
            day: it.day.into(),
            hour: it.hour.into(),
            minute: it.minute.into(),
            second: it.second.into(),
            weekday: it.weekday.into(),
            yearday: i64::from(it.day_of_year) - 1,
        }
    }

    /// The week of ISO 8601, and its year.
    fn iso_week(&self) -> (i64, i64) {
        let weekday = (self.weekday + 6) % 7;
        let week = (self.yearday - weekday + 10) / 7;
        if week < 1 {
            let before = Self::at((days_of(self.year - 1, 12, 31)) * DAY_SECONDS);
            return before.iso_week();
        }
        // A week belongs to the year that its Thursday is in.
        let thursday = self.yearday - weekday + 3;
        let year_days = days_of(self.year + 1, 1, 1) - days_of(self.year, 1, 1);
        if thursday >= year_days {
            return (self.year + 1, 1);
        }
        (self.year, week)
    }
}

/// `seconds` as `format` says.
pub(crate) fn format(format: &str, seconds: i64) -> String {
    let moment = Moment::at(seconds);
    let mut out = String::new();
    let mut signs = format.chars();
    while let Some(sign) = signs.next() {
        if sign != '%' {
            out.push(sign);
            continue;
        }
        match signs.next() {
            // Modifiers for other calendars, and for less padding.
            Some('E' | 'O') => {
                if let Some(letter) = signs.next() {
                    one(&mut out, letter, &moment, seconds);
                }
            }
            Some('-') => {
                if let Some(letter) = signs.next() {
                    let mut padded = String::new();
                    one(&mut padded, letter, &moment, seconds);
                    let bare = padded.trim_start_matches(['0', ' ']);
                    out.push_str(if bare.is_empty() { "0" } else { bare });
                }
            }
            Some(letter) => one(&mut out, letter, &moment, seconds),
            None => out.push('%'),
        }
    }
    out
}

fn one(out: &mut String, letter: char, it: &Moment, seconds: i64) {
    let day = DAYS[it.weekday as usize];
    let month = MONTHS[(it.month - 1) as usize];
    let hour12 = if it.hour % 12 == 0 { 12 } else { it.hour % 12 };
    let inner = match letter {
        'c' => "%a %b %e %H:%M:%S %Y",
        'D' | 'x' => "%m/%d/%y",
        'F' => "%Y-%m-%d",
        'R' => "%H:%M",
        'r' => "%I:%M:%S %p",
        'T' | 'X' => "%H:%M:%S",
        _ => "",
    };
    if !inner.is_empty() {
        out.push_str(&format(inner, seconds));
        return;
    }
    // Writing to a string cannot fail.
    let _ = match letter {
        'a' => write!(out, "{}", &day[..3]),
        'A' => write!(out, "{day}"),
        'b' | 'h' => write!(out, "{}", &month[..3]),
        'B' => write!(out, "{month}"),
        'C' => write!(out, "{:02}", it.year.div_euclid(100)),
        'd' => write!(out, "{:02}", it.day),
        'e' => write!(out, "{:2}", it.day),
        'g' => write!(out, "{:02}", it.iso_week().0.rem_euclid(100)),
        'G' => write!(out, "{}", it.iso_week().0),
        'H' => write!(out, "{:02}", it.hour),
        'I' => write!(out, "{hour12:02}"),
        'j' => write!(out, "{:03}", it.yearday + 1),
        'k' => write!(out, "{:2}", it.hour),
        'l' => write!(out, "{hour12:2}"),
        'm' => write!(out, "{:02}", it.month),
        'M' => write!(out, "{:02}", it.minute),
        'n' => writeln!(out),
        'p' => write!(out, "{}", if it.hour < 12 { "AM" } else { "PM" }),
        'P' => write!(out, "{}", if it.hour < 12 { "am" } else { "pm" }),
        's' => write!(out, "{seconds}"),
        'S' => write!(out, "{:02}", it.second),
        't' => write!(out, "\t"),
        'u' => write!(out, "{}", if it.weekday == 0 { 7 } else { it.weekday }),
        'U' => write!(out, "{:02}", (it.yearday + 7 - it.weekday) / 7),
        'V' => write!(out, "{:02}", it.iso_week().1),
        'w' => write!(out, "{}", it.weekday),
        'W' => write!(out, "{:02}", (it.yearday + 7 - (it.weekday + 6) % 7) / 7),
        'y' => write!(out, "{:02}", it.year.rem_euclid(100)),
        'Y' => write!(out, "{}", it.year),
        'z' => write!(out, "+0000"),
        'Z' => write!(out, "UTC"),
        '%' => write!(out, "%"),
        other => write!(out, "%{other}"),
    };
}

/// The time of `YYYY MM DD HH MM SS`; -1 if it is none.
pub(crate) fn make(text: &str) -> i64 {
    let parts: Vec<i64> = text.split_whitespace().map_while(|it| it.parse().ok()).collect();
    let [year, month, day, hour, minute, second, ..] = parts[..] else { return -1 };
    if [year, month, day, hour, minute, second].iter().any(|it| it.unsigned_abs() > 1_000_000_000) {
        return -1;
    }
    days_of(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second
}
