//! Days and seconds of the proleptic Gregorian calendar, in UTC.

/// A moment taken apart, as C's `struct tm` has it.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
pub struct Moment {
    pub year: i64,
    /// From 0.
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    /// From Sunday, 0.
    pub weekday: i64,
    /// From 0.
    pub yearday: i64,
}

const DAY_SECONDS: i64 = 86_400;

/// Days since 1970 of a date; months beyond the year carry over.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = (year.saturating_add(month.div_euclid(12)), month.rem_euclid(12) + 1);
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let in_era = year.rem_euclid(400);
    let shifted = (month + 9) % 12;
    let day_of_year = (153 * shifted + 2) / 5 + day - 1;
    let day_of_era = in_era * 365 + in_era / 4 - in_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

impl Moment {
    /// The moment so many seconds after 1970.
    pub fn of(seconds: i64) -> Self {
        let (days_since, rest) = (seconds.div_euclid(DAY_SECONDS), seconds.rem_euclid(DAY_SECONDS));
        let shifted = days_since + 719_468;
        let (era, in_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year_of_era = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
        let day_of_year = in_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 2 } else { month - 10 };
        let year = year_of_era + era * 400 + i64::from(month < 2);
        let mut moment = Self {
            year,
            month,
            day,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
            ..Self::default()
        };
        moment.place();
        moment
    }

    /// Works out the day of the week and of the year.
    pub fn place(&mut self) {
        let day = days(self.year, self.month, self.day);
        self.weekday = (day + 4).rem_euclid(7);
        self.yearday = day - days(self.year, 0, 1);
    }

    /// Seconds since 1970.
    pub fn seconds(&self) -> i64 {
        let day = days(self.year, self.month, self.day);
        day.saturating_mul(DAY_SECONDS)
            .saturating_add(self.hour.saturating_mul(3600))
            .saturating_add(self.minute.saturating_mul(60))
            .saturating_add(self.second)
    }

    /// The year and the week of ISO 8601.
    pub fn iso_week(&self) -> (i64, i64) {
        let from_monday = (self.weekday + 6) % 7;
        let week = (self.yearday - from_monday + 10) / 7;
        if week < 1 {
            let year = self.year - 1;
            return (year, weeks_of(year));
        }
        if week > weeks_of(self.year) { (self.year + 1, 1) } else { (self.year, week) }
    }
}

fn weeks_of(year: i64) -> i64 {
    let first = (days(year, 0, 1) + 4).rem_euclid(7);
    let leap = days(year + 1, 0, 1) - days(year, 0, 1) == 366;
    if first == 4 || (leap && first == 3) { 53 } else { 52 }
}
