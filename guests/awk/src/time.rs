//! Dates, in UTC: `strftime` and `mktime`.

use calendar::{DAY_SECONDS, Moment, Zone, days_of};

pub(crate) use calendar::now;

/// `seconds` as `format` says.
pub(crate) fn format(format: &str, seconds: i64) -> String {
    calendar::strftime(&Moment::of(seconds), Zone::default(), format)
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
