//! Lengths of time as people write them.

use crate::DAY_SECONDS;
use std::time::Duration;

/// The seconds of a unit by its name, with or without an `s`: `day`, `weeks`, `min`. Months have 30 days.
pub fn unit_seconds(name: &str) -> Option<i64> {
    Some(match name.strip_suffix('s').unwrap_or(name) {
        "second" | "sec" => 1,
        "minute" | "min" => 60,
        "hour" => 3600,
        "day" => DAY_SECONDS,
        "week" => 7 * DAY_SECONDS,
        "month" => 30 * DAY_SECONDS,
        "year" => 365 * DAY_SECONDS,
        _ => return None,
    })
}

/// `1.5`, `2m`, `3h`, `1d`, `infinity`: as `sleep`, `timeout` and `watch` take them.
pub fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = match text.char_indices().next_back()? {
        (at, 's') => (&text[..at], 1.0),
        (at, 'm') => (&text[..at], 60.0),
        (at, 'h') => (&text[..at], 3600.0),
        (at, 'd') => (&text[..at], DAY_SECONDS as f64),
        _ => (text, 1.0),
    };
    let value: f64 = number.parse().ok().filter(|it: &f64| *it >= 0.0)?;
    Some(Duration::try_from_secs_f64(value * unit).unwrap_or(Duration::MAX))
}

#[test]
fn times_have_units() {
    assert_eq!(duration("1.5"), Some(Duration::from_millis(1500)));
    assert_eq!(duration("2m"), Some(Duration::from_secs(120)));
    assert_eq!(duration("1d"), Some(Duration::from_secs(86_400)));
    assert_eq!(duration("infinity"), Some(Duration::MAX));
    for bad in ["", "x", "-1", "1x", "nan", "s", "é"] {
        assert_eq!(duration(bad), None, "{bad}");
    }
    assert_eq!((unit_seconds("weeks"), unit_seconds("moon")), (Some(604_800), None));
}
