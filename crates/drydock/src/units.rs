//! Durations, sizes and moments as people write them.

use std::time::Duration;

use drydock_embed::contract::Timestamp;

/// `30s`, `500ms`, `2m`, `1.5s`, or a plain number of seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let bad = || format!("`{text}` is not a duration: use for example 30s, 500ms or 2m");
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().map_err(|_| bad())?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "" | "s" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(bad()),
    };
    if !(0.0..=86_400.0).contains(&seconds) || seconds == 0.0 {
        return Err(format!("`{text}` is out of range: use more than 0 and at most 24h"));
    }
    Ok(Duration::from_secs_f64(seconds))
}

/// `12h`, `90d`: as long as something is to be good.
pub(crate) fn lifetime(text: &str) -> Result<Duration, String> {
    let bad = || format!("`{text}` is not a lifetime: use for example 12h or 90d, at most 3650d");
    let Some(days) = text.strip_suffix('d') else { return duration(text).map_err(|_| bad()) };
    let days = days.parse::<u64>().ok().filter(|it| (1..=3_650).contains(it)).ok_or_else(bad)?;
    Ok(Duration::from_secs(days * 86_400))
}

/// `64MiB`, `64M`, `1GiB`, `512K`, or a plain number of bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let bad = || format!("`{text}` is not a size: use for example 64MiB, 512KiB or 1GiB");
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: u64 = number.parse().map_err(|_| bad())?;
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(bad()),
    };
    number.checked_mul(1 << shift).filter(|it| *it > 0).ok_or_else(bad)
}

/// A memory limit: at most what a 32-bit guest can address.
pub(crate) fn memory(text: &str) -> Result<u64, String> {
    match size(text)? {
        bytes @ ..=0x1_0000_0000 => Ok(bytes),
        _ => Err(format!("`{text}` is too much: a command can address at most 4GiB")),
    }
}

/// Seconds since 1970, or `2026-01-31T12:00:00Z`.
pub(crate) fn moment(text: &str) -> Result<Timestamp, String> {
    let bad = || format!("`{text}` is not a moment: use 2026-01-31T12:00:00Z or seconds since 1970");
    match text.parse::<u64>() {
        Ok(seconds) => seconds.checked_mul(1_000_000_000).map(Timestamp).ok_or_else(bad),
        Err(_) => text.parse().map_err(|_| bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_write_them() {
        for (text, want) in [("30s", 30_000), ("500ms", 500), ("2m", 120_000), ("1.5s", 1_500), ("7", 7_000)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(want)), "{text}");
        }
        for text in ["", "s", "-1s", "0", "0ms", "1d", "25h", "NaN", "inf", "1e99s", "ten"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_read_as_people_write_them() {
        for (text, want) in
            [("64MiB", 64 << 20), ("64M", 64 << 20), ("1GiB", 1 << 30), ("512K", 512 << 10), ("9", 9)]
        {
            assert_eq!(size(text), Ok(want), "{text}");
        }
        for text in ["", "MiB", "-1", "0", "1.5M", "99999999999G", "1X"] {
            assert!(size(text).is_err(), "{text}");
        }
        assert!(memory("4GiB").is_ok() && memory("10TiB").is_err_and(|it| it.contains("at most 4GiB")));
    }

    #[test]
    fn moments_are_utc_or_seconds() {
        for (text, want) in [
            ("0", 0),
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2026-11-15T19:42:06Z", 1_794_771_726),
        ] {
            assert_eq!(moment(text), Ok(Timestamp(want * 1_000_000_000)), "{text}");
        }
        for text in [
            "",
            "tomorrow",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-1-1T0:0:0Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00",
            "1969-12-31T23:59:59Z",
            "99999999999999999",
        ] {
            assert!(moment(text).is_err(), "{text}");
        }
    }
}
