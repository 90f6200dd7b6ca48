//! `strftime` for `printf '%(…)T'`, in UTC.

const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Year, month and day of a day since the epoch.
fn civil(day: i64) -> (i64, i64, i64) {
    // Howard Hinnant's algorithm: years start in March, eras have 400 of them.
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, date)
}

/// The moment `at`, in seconds since the epoch, in the given shape.
pub(crate) fn format(shape: &str, at: i64) -> String {
    let day = at.div_euclid(86_400);
    let second = at.rem_euclid(86_400);
    let (year, month, date) = civil(day);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let weekday = DAYS[usize::try_from(day.rem_euclid(7)).unwrap_or(0)];
    let month_name = MONTHS[usize::try_from(month - 1).unwrap_or(0)];
    let shape = if shape.is_empty() { "%H:%M:%S" } else { shape };
    let mut out = String::new();
    let mut chars = shape.chars();
    while let Some(next) = chars.next() {
        if next != '%' {
            out.push(next);
            continue;
        }
        match chars.next() {
            Some('Y') => out.push_str(&year.to_string()),
            Some('m') => out.push_str(&format!("{month:02}")),
            Some('d') => out.push_str(&format!("{date:02}")),
            Some('e') => out.push_str(&format!("{date:2}")),
            Some('H') => out.push_str(&format!("{hour:02}")),
            Some('I') => out.push_str(&format!("{:02}", (hour + 11) % 12 + 1)),
            Some('p') => out.push_str(if hour < 12 { "AM" } else { "PM" }),
            Some('M') => out.push_str(&format!("{minute:02}")),
            Some('S') => out.push_str(&format!("{second:02}")),
            Some('y') => out.push_str(&format!("{:02}", year.rem_euclid(100))),
            Some('F') => out.push_str(&format!("{year}-{month:02}-{date:02}")),
            Some('T') => out.push_str(&format!("{hour:02}:{minute:02}:{second:02}")),
            Some('R') => out.push_str(&format!("{hour:02}:{minute:02}")),
            Some('D') => out.push_str(&format!("{month:02}/{date:02}/{:02}", year.rem_euclid(100))),
            Some('A') => out.push_str(weekday),
            Some('a') => out.push_str(&weekday[..3]),
            Some('B') => out.push_str(month_name),
            Some('b' | 'h') => out.push_str(&month_name[..3]),
            Some('s') => out.push_str(&at.to_string()),
            Some('Z') => out.push_str("UTC"),
            Some('z') => out.push_str("+0000"),
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('%') => out.push('%'),
            Some(other) => {
                out.push('%');
                out.push(other);
            }
            None => out.push('%'),
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
            assert_eq!(format("%F %T %a", at), want, "{at}");
        }
    }
}
