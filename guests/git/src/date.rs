//! Moments as git writes and reads them. The local zone is UTC.

use calendar::{Civil, DAY_SECONDS, DAYS, MONTHS, Moment, Zone, days_of, strftime, unit_seconds};

pub use calendar::now;

/// How a moment is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Style {
    #[default]
    Usual,
    Iso,
    Strict,
    Short,
    Rfc,
    Raw,
    Unix,
    Relative,
    /// As `strftime` has it.
    Format(String),
}

impl Style {
    /// By the name after `--date=`.
    pub fn named(text: &str) -> Option<Self> {
        let text = text.strip_suffix("-local").unwrap_or(text);
        Some(match text {
            "default" | "local" | "normal" => Self::Usual,
            "iso" | "iso8601" => Self::Iso,
            "iso-strict" | "iso8601-strict" => Self::Strict,
            "short" => Self::Short,
            "rfc" | "rfc2822" => Self::Rfc,
            "raw" => Self::Raw,
            "unix" => Self::Unix,
            "relative" | "human" => Self::Relative,
            other => Self::Format(other.strip_prefix("format:")?.to_owned()),
        })
    }
}

/// `+0200` as minutes.
pub fn zone(text: &str) -> Option<i32> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let digits = digits.replace(':', "");
    let number: i32 = digits.parse().ok().filter(|_| digits.len() <= 4 && !digits.is_empty())?;
    Some(sign * if digits.len() <= 2 { number * 60 } else { number / 100 * 60 + number % 100 })
}

/// Minutes as `+0200`.
pub fn zone_text(minutes: i32) -> String {
    Zone(minutes).text()
}

/// A moment in a zone, as text.
pub fn show(seconds: i64, minutes: i32, style: &Style) -> String {
    let it = Civil::at(seconds.saturating_add(i64::from(minutes) * 60));
    let (day, month) =
        (&DAYS[it.weekday as usize % 7][..3], &MONTHS[(it.month.max(1) - 1) as usize % 12][..3]);
    let clock = format!("{:02}:{:02}:{:02}", it.hour, it.minute, it.second);
    let date = format!("{:04}-{:02}-{:02}", it.year, it.month, it.day);
    let zone = zone_text(minutes);
    match style {
        Style::Usual => format!("{day} {month} {} {clock} {} {zone}", it.day, it.year),
        Style::Iso => format!("{date} {clock} {zone}"),
        Style::Strict if minutes == 0 => format!("{date}T{clock}Z"),
        Style::Strict => format!("{date}T{clock}{}:{}", &zone[..3], &zone[3..]),
        Style::Short => date,
        Style::Rfc => format!("{day}, {} {month} {} {clock} {zone}", it.day, it.year),
        Style::Raw => format!("{seconds} {zone}"),
        Style::Unix => seconds.to_string(),
        Style::Relative => relative(now().saturating_sub(seconds)),
        Style::Format(text) => {
            let at = Moment::of(seconds.saturating_add(i64::from(minutes) * 60));
            strftime(&at, Zone(minutes), text)
        }
    }
}

/// `3 days ago`, rounded as git rounds.
fn relative(passed: i64) -> String {
    if passed < 0 {
        return "in the future".to_owned();
    }
    let say = |count: i64, unit: &str| format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" });
    let minutes = (passed + 30) / 60;
    let hours = (minutes + 30) / 60;
    let days = (hours + 12) / 24;
    match () {
        () if passed < 90 => say(passed, "second"),
        () if minutes < 90 => say(minutes, "minute"),
        () if hours < 36 => say(hours, "hour"),
        () if days < 14 => say(days, "day"),
        () if days < 70 => say((days + 3) / 7, "week"),
        () if days < 365 => say((days + 15) / 30, "month"),
        () if days < 1825 => {
            let months = (days * 12 * 2 + 365) / (365 * 2);
            let (years, rest) = (months / 12, months % 12);
            let year = format!("{years} year{}", if years == 1 { "" } else { "s" });
            if rest == 0 { format!("{year} ago") } else { format!("{year}, {}", say(rest, "month")) }
        }
        () => say((days + 183) / 365, "year"),
    }
}

/// A moment as somebody types it, and its zone: seconds, ISO 8601, RFC 2822, `yesterday`, `2 days ago`.
pub fn parse(text: &str) -> Option<(i64, i32)> {
    let text = text.trim();
    let words: Vec<&str> = text.split([' ', '.']).filter(|it| !it.is_empty()).collect();
    let plain = text.strip_prefix('@').unwrap_or(text);
    let mut parts = plain.split(' ');
    if let Some(seconds) = parts.next().and_then(|it| it.parse::<i64>().ok())
        && (text.starts_with('@') || plain.split(' ').next()?.len() > 8)
    {
        return Some((seconds, parts.next().map_or(Some(0), zone)?));
    }
    match words.as_slice() {
        ["now"] => return Some((now(), 0)),
        ["yesterday"] => return Some((now() - DAY_SECONDS, 0)),
        ["today" | "midnight"] => return Some((now() / DAY_SECONDS * DAY_SECONDS, 0)),
        [count, unit, "ago"] => {
            let count: i64 = count.parse().ok()?;
            return Some((now().saturating_sub(count.saturating_mul(unit_seconds(unit)?)), 0));
        }
        _ => {}
    }
    written(text)
}

fn written(text: &str) -> Option<(i64, i32)> {
    let (mut date, mut clock, mut minutes) = (None, None, None);
    let (mut month, mut numbers) = (None, Vec::new());
    let spaced = match text.find('T') {
        Some(at) if at > 0 && text.as_bytes()[at - 1].is_ascii_digit() => text.replacen('T', " ", 1),
        _ => text.to_owned(),
    };
    for word in spaced.split([' ', ',']).filter(|it| !it.is_empty()) {
        let dashes: Vec<&str> = word.split(['-', '/', '.']).collect();
        if word.contains(':') && word.as_bytes()[0].is_ascii_digit() {
            let end = word.find(['+', '-', 'Z', '.']).unwrap_or(word.len());
            let parts: Option<Vec<i64>> = word[..end].split(':').map(|it| it.parse().ok()).collect();
            let parts = parts.filter(|it| it.len() >= 2 && it[0] < 25 && it[1] < 60)?;
            clock = Some(parts[0] * 3600 + parts[1] * 60 + parts.get(2).copied().unwrap_or(0));
            match &word[end..] {
                "" => {}
                "Z" => minutes = Some(0),
                rest => {
                    minutes = rest.find(['+', '-', 'Z']).map_or(Some(None), |at| match &rest[at..] {
                        "Z" => Some(Some(0)),
                        zone_of => zone(zone_of).map(Some),
                    })?
                }
            }
        } else if let (true, Some(found)) = (word.starts_with(['+', '-']), zone(word)) {
            minutes = Some(found);
        } else if dashes.len() == 3 && word.as_bytes()[0].is_ascii_digit() {
            let parts: Option<Vec<i64>> = dashes.iter().map(|it| it.parse().ok()).collect();
            let parts = parts?;
            date = Some(match word {
                _ if parts[0] > 31 => (parts[0], parts[1], parts[2]),
                _ if word.contains('/') => (parts[2], parts[0], parts[1]),
                _ => (parts[2], parts[1], parts[0]),
            });
        } else if let Some(at) = MONTHS.iter().position(|it| named(word, it)) {
            month = Some(at as i64 + 1);
        } else if let Ok(number) = word.parse::<i64>() {
            numbers.push(number);
        } else if word == "UTC" || word == "GMT" || word == "Z" {
            minutes = Some(0);
        } else if !DAYS.iter().any(|it| named(word, it)) {
            return None;
        }
    }
    let (year, month, day) = match (date, month, numbers.as_slice()) {
        (Some(date), None, []) => date,
        (None, Some(month), [day, year]) if *year > 31 => (*year, month, *day),
        (None, Some(month), [year, day]) => (*year, month, *day),
        _ => return None,
    };
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(0..=9999).contains(&year) {
        return None;
    }
    let minutes = minutes.unwrap_or(0);
    // A date alone means this time of that day.
    let clock = clock.unwrap_or_else(|| now().rem_euclid(DAY_SECONDS));
    Some((days_of(year, month, day) * DAY_SECONDS + clock - i64::from(minutes) * 60, minutes))
}

fn named(word: &str, whole: &str) -> bool {
    word.len() >= 3 && whole.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word))
}
