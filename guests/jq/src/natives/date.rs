//! Dates: broken down times, and their texts by C's letters.

use super::Row;
use crate::run::Exit;
use crate::value::Value;
use calendar::{DAYS, MONTHS, Moment, Zone, strftime};

pub(super) const TABLE: &[Row] = &[
    ("now", 0, |_, _| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Ok(Value::Num(now.map_or(0.0, |it| it.as_secs_f64())))
    }),
    ("gmtime", 0, |value, _| broken_down(&value, "gmtime() requires numeric inputs")),
    // A guest has no zones but UTC.
    ("localtime", 0, |value, _| broken_down(&value, "localtime() requires numeric inputs")),
    ("mktime", 0, |value, _| {
        let Value::Arr(items) = &value else { return Err(Exit::error("mktime requires array inputs")) };
        if items.len() < 6 {
            return Err(Exit::error("mktime requires parsed datetime inputs"));
        }
        Ok(Value::Num(moment(items, "mktime")?.seconds() as f64))
    }),
    ("strftime", 1, |value, args| formatted(&value, &args[0], "strftime")),
    ("strflocaltime", 1, |value, args| formatted(&value, &args[0], "strflocaltime")),
    ("strptime", 1, |value, args| match (&value, &args[0]) {
        (Value::Str(text), Value::Str(format)) => parsed(text, format),
        _ => Err(Exit::error("strptime/1 requires string inputs and arguments")),
    }),
];

fn broken_down(value: &Value, wrong: &str) -> Result<Value, Exit> {
    let seconds = value.as_f64().ok_or_else(|| Exit::error(wrong))?;
    if !seconds.is_finite() || seconds.abs() > 6e16 {
        return Err(Exit::error("error converting number of seconds since epoch to datetime"));
    }
    let at = Moment::of(seconds as i64);
    Ok(array(&at, at.second as f64 + (seconds - seconds.floor())))
}

fn array(at: &Moment, second: f64) -> Value {
    let whole = [at.year, at.month, at.day, at.hour, at.minute];
    let mut items: Vec<Value> = whole.into_iter().map(|it| Value::Num(it as f64)).collect();
    items.extend([second, at.weekday as f64, at.yearday as f64].map(Value::Num));
    Value::arr(items)
}

fn moment(items: &[Value], function: &str) -> Result<Moment, Exit> {
    let part = |at: usize| match items.get(at) {
        None => Ok(0),
        Some(item) => {
            let number = item
                .as_f64()
                .ok_or_else(|| Exit::error(format!("{function} requires parsed datetime inputs")))?;
            Ok(number.clamp(-2_147_483_648.0, 2_147_483_647.0) as i64)
        }
    };
    Ok(Moment {
        year: part(0)?,
        month: part(1)?,
        day: part(2)?,
        hour: part(3)?,
        minute: part(4)?,
        second: part(5)?,
        weekday: part(6)?,
        yearday: part(7)?,
    })
}

fn formatted(value: &Value, format: &Value, function: &str) -> Result<Value, Exit> {
    let broken;
    let items = match value {
        Value::Num(_) | Value::Lit(_) => {
            broken = broken_down(value, "")?;
            &broken
        }
        other => other,
    };
    let Value::Arr(items) = items else {
        return Err(Exit::error(format!("{function}/1 requires parsed datetime inputs")));
    };
    let Value::Str(format) = format else {
        return Err(Exit::error(format!("{function}/1 requires a string format")));
    };
    if items.len() < 6 {
        return Err(Exit::error(format!("{function}/1 requires parsed datetime inputs")));
    }
    let at = moment(items, &format!("{function}/1"))?;
    Ok(Value::from(strftime(&at, Zone::default(), format)))
}

fn parsed(text: &str, format: &str) -> Result<Value, Exit> {
    let mut reader = Reader {
        rest: text,
        at: Moment::default(),
        weekday: false,
        yearday: false,
        afternoon: None,
        zone: None,
    };
    let read = reader.read(format);
    let blank = reader.rest.is_empty() || reader.rest.starts_with(|sign: char| sign.is_ascii_whitespace());
    if read.is_none() || !blank {
        return Err(Exit::error(format!("date \"{text}\" does not match format \"{format}\"")));
    }
    if let Some(afternoon) = reader.afternoon {
        reader.at.hour = reader.at.hour % 12 + if afternoon { 12 } else { 0 };
    }
    let (weekday, yearday) = (reader.at.weekday, reader.at.yearday);
    if reader.at.day != 0 {
        reader.at.place();
    }
    if reader.weekday {
        reader.at.weekday = weekday;
    }
    if reader.yearday {
        reader.at.yearday = yearday;
    }
    let Value::Arr(mut items) = array(&reader.at, reader.at.second as f64) else { return Ok(Value::Null) };
    if !reader.rest.is_empty() {
        items.make_mut().push(Value::str(reader.rest));
    }
    Ok(Value::Arr(items))
}

/// Reads a text by the letters of a format.
struct Reader<'t> {
    rest: &'t str,
    at: Moment,
    weekday: bool,
    yearday: bool,
    afternoon: Option<bool>,
    zone: Option<i64>,
}

impl Reader<'_> {
    fn read(&mut self, format: &str) -> Option<()> {
        let mut signs = format.chars();
        while let Some(sign) = signs.next() {
            if sign.is_ascii_whitespace() {
                self.rest = self.rest.trim_start();
                continue;
            }
            if sign != '%' {
                self.rest = self.rest.strip_prefix(sign)?;
                continue;
            }
            let mut letter = signs.next()?;
            while matches!(letter, 'E' | 'O' | '-' | '_') {
                letter = signs.next()?;
            }
            self.field(letter)?;
        }
        Some(())
    }

    fn field(&mut self, letter: char) -> Option<()> {
        match letter {
            'Y' => self.at.year = self.signed(4)?,
            'C' => self.at.year = self.number(2)? * 100,
            'y' => {
                let year = self.number(2)?;
                self.at.year = if year < 69 { 2000 + year } else { 1900 + year };
            }
            'm' => self.at.month = self.within(2, 1, 12)? - 1,
            'd' | 'e' => self.at.day = self.within(2, 1, 31)?,
            'H' | 'k' => self.at.hour = self.within(2, 0, 23)?,
            'I' | 'l' => self.at.hour = self.within(2, 1, 12)? % 12,
            'M' => self.at.minute = self.within(2, 0, 59)?,
            'S' => self.at.second = self.within(2, 0, 60)?,
            'j' => {
                self.at.yearday = self.within(3, 1, 366)? - 1;
                self.yearday = true;
            }
            'u' => {
                self.at.weekday = self.within(1, 1, 7)? % 7;
                self.weekday = true;
            }
            'w' => {
                self.at.weekday = self.within(1, 0, 6)?;
                self.weekday = true;
            }
            'U' | 'W' | 'V' => {
                self.within(2, 0, 53)?;
            }
            'a' | 'A' => {
                self.at.weekday = self.name(&DAYS)?;
                self.weekday = true;
            }
            'b' | 'B' | 'h' => self.at.month = self.name(&MONTHS)?,
            'p' | 'P' => {
                let word = self.rest.get(..2)?.to_ascii_uppercase();
                self.afternoon = Some(match word.as_str() {
                    "AM" => false,
                    "PM" => true,
                    _ => return None,
                });
                self.rest = &self.rest[2..];
            }
            's' => {
                let seconds = self.signed(18)?;
                self.at = Moment::of(seconds);
            }
            'z' => self.zone = Some(self.offset()?),
            'Z' => {
                let len = self.rest.bytes().take_while(u8::is_ascii_alphabetic).count();
                self.rest = &self.rest[len..];
            }
            'n' | 't' => self.rest = self.rest.trim_start(),
            '%' => self.rest = self.rest.strip_prefix('%')?,
            'D' | 'x' => return self.read("%m/%d/%y"),
            'F' => return self.read("%Y-%m-%d"),
            'T' | 'X' => return self.read("%H:%M:%S"),
            'R' => return self.read("%H:%M"),
            'r' => return self.read("%I:%M:%S %p"),
            'c' => return self.read("%a %b %e %H:%M:%S %Y"),
            _ => return None,
        }
        Some(())
    }

    fn number(&mut self, digits_max: usize) -> Option<i64> {
        self.rest = self.rest.trim_start();
        let len = self.rest.bytes().take(digits_max).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(len);
        self.rest = rest;
        digits.parse().ok()
    }

    fn signed(&mut self, digits_max: usize) -> Option<i64> {
        self.rest = self.rest.trim_start();
        let negative = self.rest.starts_with('-');
        self.rest = self.rest.strip_prefix(['-', '+']).unwrap_or(self.rest);
        let number = self.number(digits_max)?;
        Some(if negative { -number } else { number })
    }

    fn within(&mut self, digits_max: usize, low: i64, high: i64) -> Option<i64> {
        self.number(digits_max).filter(|number| (low..=high).contains(number))
    }

    fn name(&mut self, all: &[&'static str]) -> Option<i64> {
        for (place, name) in all.iter().enumerate() {
            for spelled in [*name, &name[..3]] {
                if self.rest.get(..spelled.len()).is_some_and(|start| start.eq_ignore_ascii_case(spelled)) {
                    self.rest = &self.rest[spelled.len()..];
                    return Some(place as i64);
                }
            }
        }
        None
    }

    /// `+hhmm`, `+hh:mm`, `+hh` or `Z`; what it says does not change the time, as in C.
    fn offset(&mut self) -> Option<i64> {
        self.rest = self.rest.trim_start();
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Some(0);
        }
        let negative = self.rest.starts_with('-');
        self.rest = self.rest.strip_prefix(['-', '+'])?;
        let hours = self.number(2)?;
        self.rest = self.rest.strip_prefix(':').unwrap_or(self.rest);
        let minutes =
            if self.rest.starts_with(|sign: char| sign.is_ascii_digit()) { self.number(2)? } else { 0 };
        let seconds = hours * 3600 + minutes * 60;
        Some(if negative { -seconds } else { seconds })
    }
}
