//! `strftime` for `printf '%(…)T'` and prompts, in the zone that `TZ` names: one of the database, or a rule
//! as POSIX writes one (`CET-1CEST,M3.5.0,M10.5.0/3`). Without it, and for what is neither, UTC. The
//! database is part of the program; no file of the machine is looked at.

use jiff::{
    Timestamp, Zoned,
    fmt::strtime::{BrokenDownTime, Config},
    tz::{TimeZone, TimeZoneDatabase},
};

/// What a shape without anything means.
const USUAL: &str = "%H:%M:%S";

/// The moment `at`, in seconds since the epoch, in the given shape.
pub(crate) fn format(shape: &str, at: i64, zone: Option<&str>) -> String {
    // What lies beyond the calendar is its end.
    let far = if at < 0 { Timestamp::MIN } else { Timestamp::MAX };
    let moment = Timestamp::from_second(at).unwrap_or(far);
    let time = BrokenDownTime::from(&Zoned::new(moment, zone_of(zone)));
    let shape = if shape.is_empty() { USUAL.to_owned() } else { of_locale_c(shape) };
    time.to_string_with_config(&Config::new().lenient(true), &shape).unwrap_or(shape)
}

fn zone_of(name: Option<&str>) -> TimeZone {
    let name = name.unwrap_or_default();
    let name = name.strip_prefix(':').unwrap_or(name);
    if name.is_empty() {
        return TimeZone::UTC;
    }
    let listed = TimeZoneDatabase::bundled().get(name);
    listed.or_else(|_| TimeZone::posix(name)).unwrap_or(TimeZone::UTC)
}

/// Directives whose meaning a locale gives, as the locale `C` has them.
fn of_locale_c(shape: &str) -> String {
    let mut out = String::with_capacity(shape.len());
    let mut chars = shape.chars();
    while let Some(next) = chars.next() {
        if next != '%' {
            out.push(next);
            continue;
        }
        match chars.next() {
            Some('c') => out.push_str("%a %b %e %H:%M:%S %Y"),
            Some('x') => out.push_str("%m/%d/%y"),
            Some('X') => out.push_str(USUAL),
            Some('r') => out.push_str("%I:%M:%S %p"),
            Some(other) => out.extend(['%', other]),
            None => out.push_str("%%"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn moments_have_their_dates() {
        let cases = [
            (0, "1970-01-01 00:00:00 Thu"),
            (951_782_400, "2000-02-29 00:00:00 Tue"),
            (1_700_000_000, "2023-11-14 22:13:20 Tue"),
            (-1, "1969-12-31 23:59:59 Wed"),
        ];
        for (at, want) in cases {
            assert_eq!(format("%F %T %a", at, None), want, "{at}");
        }
    }

    #[test]
    fn a_zone_is_one_of_the_database_or_a_rule_of_its_own() {
        let cases = [
            ("Europe/Berlin", "2023-11-14 23:13 +0100 CET"),
            (":America/New_York", "2023-11-14 17:13 -0500 EST"),
            ("UTC", "2023-11-14 22:13 +0000 UTC"),
            ("JST-9", "2023-11-15 07:13 +0900 JST"),
            ("<+0330>-3:30", "2023-11-15 01:43 +0330 +0330"),
            ("CET-1CEST,M3.5.0,M10.5.0/3", "2023-11-14 23:13 +0100 CET"),
            ("../../etc/passwd", "2023-11-14 22:13 +0000 UTC"),
            ("", "2023-11-14 22:13 +0000 UTC"),
        ];
        for (zone, want) in cases {
            assert_eq!(format("%F %R %z %Z", 1_700_000_000, Some(zone)), want, "{zone}");
        }
    }

    #[test]
    fn no_moment_and_no_shape_is_an_error() {
        assert!(format("%F", i64::MAX, None).starts_with("9999"));
        assert!(format("%F", i64::MIN, None).starts_with('-'));
        assert_eq!(format("%", 0, None), "%");
        assert_eq!(format("%%c 100%%", 0, None), "%c 100%");
        assert_eq!(format("%c", 0, None), "Thu Jan  1 00:00:00 1970");
        let _ = format("%!%Ö%1000000000Y", 0, None);
    }
}
