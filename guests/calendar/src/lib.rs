//! Seconds since 1970 as years, months and days, and back; their texts; and lengths of time. In UTC, the only zone there is here; the
//! calendar is the Gregorian one, also before there was one.

mod format;
mod moment;
mod span;

pub use format::{Zone, piece, strftime};
pub use moment::Moment;
pub use span::{duration, unit_seconds};

/// Seconds of a day.
pub const DAY_SECONDS: i64 = 86_400;

/// The names of the months, from January on.
pub const MONTHS: [&str; 12] = [
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

/// The names of the days, from Sunday on.
pub const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Days of 400 years, and from the first of March of year 0 to 1970.
const ERA_DAYS: i64 = 146_097;
const SHIFT_DAYS: i64 = 719_468;

/// Seconds since 1970 of the present.
pub fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |it| it.as_secs() as i64)
}

/// A moment taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Civil {
    pub year: i64,
    pub month: u32,
    pub day: u32,
    pub hour: u32,
    pub minute: u32,
    pub second: u32,
    /// Sunday is 0.
    pub weekday: u32,
    /// The first of January is 1.
    pub day_of_year: u32,
}

impl Civil {
    /// The moment so many seconds after 1970.
    pub fn at(seconds: i64) -> Self {
        let (days, second) = (seconds.div_euclid(DAY_SECONDS), seconds.rem_euclid(DAY_SECONDS) as u32);
        // Years that start in March have their odd day last; 400 of them have 146,097 days.
        let shifted = days + SHIFT_DAYS;
        let (era, of_era) = (shifted.div_euclid(ERA_DAYS), shifted.rem_euclid(ERA_DAYS));
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * of_year + 2) / 153;
        let day = (of_year - (153 * march_month + 2) / 5 + 1) as u32;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 } as u32;
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self {
            year,
            month,
            day,
            hour: second / 3600,
            minute: second / 60 % 60,
            second: second % 60,
            weekday: (days + 4).rem_euclid(7) as u32,
            day_of_year: (days - days_of(year, 1, 1)) as u32 + 1,
        }
    }
}

/// Days since 1970 of a date. Months and days may be out of range: the 13th month is next January.
/// Years that no one could mean come out as far away as a number can say.
pub fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year.saturating_add((month.saturating_sub(1)).div_euclid(12));
    let month = month.saturating_sub(1).rem_euclid(12) + 1;
    let shifted = if month <= 2 { year.saturating_sub(1) } else { year };
    let (era, of_era) = (shifted.div_euclid(400), shifted.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 - 1;
    let of_era_days = of_era * 365 + of_era / 4 - of_era / 100 + of_year - SHIFT_DAYS;
    era.saturating_mul(ERA_DAYS).saturating_add(of_era_days).saturating_add(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_taken_apart() {
        let cases = [
            (0, (1970, 1, 1, 0, 4, 1)),
            (-1, (1969, 12, 31, 23, 3, 365)),
            (951_782_400, (2000, 2, 29, 0, 2, 60)),
            (1_704_067_199, (2023, 12, 31, 23, 0, 365)),
            (-62_167_219_200, (0, 1, 1, 0, 6, 1)),
        ];
        for (seconds, want) in cases {
            let it = Civil::at(seconds);
            let got = (it.year, it.month, it.day, it.hour, it.weekday, it.day_of_year);
            assert_eq!(got, want, "{seconds}");
        }
    }

    #[test]
    fn dates_are_put_together_as_they_were_taken_apart() {
        for days in (-1_000_000..1_000_000).step_by(37) {
            let it = Civil::at(days * DAY_SECONDS);
            assert_eq!(days_of(it.year, it.month.into(), it.day.into()), days);
        }
        assert_eq!(days_of(2023, 13, 1), days_of(2024, 1, 1));
        assert_eq!(days_of(2024, 0, 31), days_of(2023, 12, 31));
        assert_eq!(days_of(2024, 3, 0), days_of(2024, 2, 29));
    }

    #[test]
    fn the_ends_of_all_numbers_are_moments_too() {
        assert_eq!(Civil::at(i64::MAX).year, 292_277_026_596);
        assert_eq!(Civil::at(i64::MIN).year, -292_277_022_657);
        for year in [i64::MIN, i64::MAX] {
            for month in [i64::MIN, 1, i64::MAX] {
                days_of(year, month, i64::MAX);
                days_of(year, month, i64::MIN);
            }
        }
    }
}
