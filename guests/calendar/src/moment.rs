//! A moment as C's `struct tm` counts it: months and days of the year from 0, and any number in a field.

use crate::{Civil, DAY_SECONDS, days_of};

/// A moment taken apart, as C's `struct tm` has it.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
#[allow(missing_docs)]
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

/// Days since 1970 of a date; months count from 0, and those beyond the year carry over.
fn days(year: i64, month: i64, day: i64) -> i64 {
    days_of(year, month.saturating_add(1), day)
}

impl Moment {
    /// The moment so many seconds after 1970.
    pub fn of(seconds: i64) -> Self {
        let it = Civil::at(seconds);
        Self {
            year: it.year,
            month: i64::from(it.month) - 1,
            day: it.day.into(),
            hour: it.hour.into(),
            minute: it.minute.into(),
            second: it.second.into(),
            weekday: it.weekday.into(),
            yearday: i64::from(it.day_of_year) - 1,
        }
    }

    /// Works out the day of the week and of the year.
    pub fn place(&mut self) {
        let day = days(self.year, self.month, self.day);
        self.weekday = day.saturating_add(4).rem_euclid(7);
        self.yearday = day.saturating_sub(days(self.year, 0, 1));
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
        let from_monday = self.weekday.saturating_add(6) % 7;
        let week = self.yearday.saturating_sub(from_monday).saturating_add(10) / 7;
        if week < 1 {
            let year = self.year.saturating_sub(1);
            return (year, weeks_of(year));
        }
        if week > weeks_of(self.year) { (self.year.saturating_add(1), 1) } else { (self.year, week) }
    }
}

fn weeks_of(year: i64) -> i64 {
    let first = days(year, 0, 1).saturating_add(4).rem_euclid(7);
    let leap = days(year.saturating_add(1), 0, 1).saturating_sub(days(year, 0, 1)) == 366;
    if first == 4 || (leap && first == 3) { 53 } else { 52 }
}
