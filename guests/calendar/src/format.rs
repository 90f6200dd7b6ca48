//! Moments as texts by the letters of C's `strftime`, in the one language there is here.

use crate::{DAYS, MONTHS, Moment};

/// Minutes east of UTC that a moment was moved by before it was taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Zone(pub i32);

impl Zone {
    /// `+0200`.
    pub fn text(self) -> String {
        let sign = if self.0 < 0 { '-' } else { '+' };
        format!("{sign}{:02}{:02}", self.0.unsigned_abs() / 60, self.0.unsigned_abs() % 60)
    }
}

/// The moment as `format` says. A letter that is none stays as it is written.
pub fn strftime(at: &Moment, zone: Zone, format: &str) -> String {
    let mut out = String::new();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        // `-` takes the padding away, `E` and `O` mean nothing here.
        let (mut padding, mut letter) = (Padding::Usual, letters.next());
        while let Some(flag @ ('-' | '_' | 'E' | 'O' | '0')) = letter {
            if flag == '-' {
                padding = Padding::None;
            }
            letter = letters.next();
        }
        match letter {
            None => out.push('%'),
            Some(letter) => match written(at, zone, letter, padding) {
                Some(text) => out.push_str(&text),
                None => out.extend(['%', letter]),
            },
        }
    }
    out
}

/// What `%LETTER` stands for; nothing for a letter that is none.
pub fn piece(at: &Moment, letter: char) -> Option<String> {
    written(at, Zone::default(), letter, Padding::Usual)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Padding {
    Usual,
    None,
}

/// The whole table of letters stands in one place, however long it is.
fn written(at: &Moment, zone: Zone, letter: char, padding: Padding) -> Option<String> {
    let number = |width: usize, number: i64| match padding {
        Padding::Usual => format!("{number:0width$}"),
        Padding::None => number.to_string(),
    };
    let spaced = |number: i64| match padding {
        Padding::Usual => format!("{number:2}"),
        Padding::None => number.to_string(),
    };
    // Fields that a program made up may be out of range.
    let name = |all: &[&'static str], place: i64| {
        usize::try_from(place).ok().and_then(|it| all.get(it).copied()).unwrap_or("?")
    };
    let short = |name: &'static str| name.get(..3).unwrap_or(name).to_owned();
    let hour12 = if at.hour % 12 == 0 { 12 } else { at.hour % 12 };
    let several = |format: &str| strftime(at, zone, format);
    Some(match letter {
        'Y' => at.year.to_string(),
        'C' => number(2, at.year.div_euclid(100)),
        'y' => number(2, at.year.rem_euclid(100)),
        'm' => number(2, at.month + 1),
        'd' => number(2, at.day),
        'e' => spaced(at.day),
        'H' => number(2, at.hour),
        'k' => spaced(at.hour),
        'I' => number(2, hour12),
        'l' => spaced(hour12),
        'M' => number(2, at.minute),
        'S' => number(2, at.second),
        'j' => number(3, at.yearday + 1),
        'Z' => "UTC".to_owned(),
        'z' => zone.text(),
        'a' => short(name(&DAYS, at.weekday)),
        'A' => name(&DAYS, at.weekday).to_owned(),
        'b' | 'h' => short(name(&MONTHS, at.month)),
        'B' => name(&MONTHS, at.month).to_owned(),
        'p' => if at.hour < 12 { "AM" } else { "PM" }.to_owned(),
        'P' => if at.hour < 12 { "am" } else { "pm" }.to_owned(),
        's' => at.seconds().saturating_sub(i64::from(zone.0) * 60).to_string(),
        'u' => (if at.weekday == 0 { 7 } else { at.weekday }).to_string(),
        'w' => at.weekday.to_string(),
        'U' => number(2, (at.yearday + 7 - at.weekday) / 7),
        'W' => number(2, (at.yearday + 7 - (at.weekday + 6) % 7) / 7),
        'G' => at.iso_week().0.to_string(),
        'g' => number(2, at.iso_week().0.rem_euclid(100)),
        'V' => number(2, at.iso_week().1),
        'n' => "\n".to_owned(),
        't' => "\t".to_owned(),
        '%' => "%".to_owned(),
        'D' | 'x' => several("%m/%d/%y"),
        'F' => format!("{:04}-{:02}-{:02}", at.year, at.month + 1, at.day),
        'T' | 'X' => several("%H:%M:%S"),
        'R' => several("%H:%M"),
        'r' => several("%I:%M:%S %p"),
        'c' => several("%a %b %e %H:%M:%S %Y"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_those_of_c() {
        let cases = [
            ("%Y-%m-%d %H:%M:%S", "2024-05-01 13:05:09"),
            ("%F %T|%D|%R|%r", "2024-05-01 13:05:09|05/01/24|13:05|01:05:09 PM"),
            ("%a %A %b %B %p %P", "Wed Wednesday May May PM pm"),
            ("%e|%-d|%k|%l|%-I|%j", " 1|1|13| 1|1|122"),
            ("%u %w %U %W %G-W%V", "3 3 17 18 2024-W18"),
            ("%c", "Wed May  1 13:05:09 2024"),
            ("%s %z %Z", "1714568709 +0000 UTC"),
            ("100%% %Ey %q %", "100% 24 %q %"),
        ];
        let at = Moment::of(1_714_568_709);
        for (format, want) in cases {
            assert_eq!(strftime(&at, Zone::default(), format), want, "{format}");
        }
    }

    #[test]
    fn a_zone_shows_and_the_seconds_stay() {
        let at = Moment::of(3600);
        assert_eq!(strftime(&at, Zone(60), "%H %z %s"), "01 +0100 0");
        assert_eq!(Zone(-90).text(), "-0130");
    }

    #[test]
    fn weeks_belong_to_the_year_of_their_thursday() {
        let cases = [
            (0, (1970, 1)),
            (1_230_768_000, (2009, 1)),  // 2009-01-01
            (1_104_537_600, (2004, 53)), // 2005-01-01
            (1_199_059_200, (2008, 1)),  // 2007-12-31
            (1_262_304_000, (2009, 53)), // 2010-01-01
        ];
        for (seconds, want) in cases {
            assert_eq!(Moment::of(seconds).iso_week(), want, "{seconds}");
        }
    }

    #[test]
    fn fields_out_of_range_are_shown_and_harm_nothing() {
        let odd = Moment { month: 14, weekday: -3, hour: -1, year: i64::MIN, ..Moment::default() };
        assert_eq!(strftime(&odd, Zone::default(), "%b %a %m"), "? ? 15");
        for letter in ' '..='~' {
            let _ = piece(&odd, letter);
        }
    }
}
