//! `touch`: files are there afterwards, and were changed now or when it says.
//!
//! Dates are those of the other guests: `2024-05-01 12:30`, `@SECONDS`, `2 days ago`, `yesterday`.

use super::arguments::{self, Arguments, refuse};
use super::copy::set_times;
use crate::stream::{Out, path, reason, text};
use facts::{Follow, Time};
use std::fs::OpenOptions;
use std::io;
use std::path::Path;

const HELP: &str = "Usage: touch [OPTION]... FILE...
Sets the times of files to now, and makes those that are not there.

  -a                      only the time of access;  -m: only that of change
      --time=WORD         access, atime, use; modify, mtime
  -c, --no-create         make no files
  -d, --date=TEXT         not now, but then;  -t [[CC]YY]MMDDhhmm[.ss]
  -r, --reference=FILE    when that file was
  -h, --no-dereference    links themselves
";

const TABLE: &[&str] =
    &["a", "m", "time=", "c,no-create", "d,date=", "t=", "r,reference=", "h,no-dereference", "f"];

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let line = match arguments::read("touch", HELP, args, TABLE, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    if line.operands.is_empty() {
        return refuse("touch", "missing file operand", 1);
    }
    let (accessed, modified) = match times(&line) {
        Ok(times) => times,
        Err(problem) => {
            Out::new("touch").complain(&problem);
            return 1;
        }
    };
    let follow = if line.has("h") { Follow::No } else { Follow::Yes };
    let (mut out, mut status) = (Out::new("touch"), 0);
    for name in &line.operands {
        if *name == b"-" {
            continue;
        }
        if let Err((what, error)) =
            one(path(name), accessed, modified, follow, !line.has("c") && !line.has("h"))
        {
            out.complain(&format!("{what} '{}': {}", text(name), reason(&error)));
            status = 1;
        }
    }
    out.end(status)
}

/// When it was read and when it was changed; `None` leaves it alone.
type Times = (Option<Time>, Option<Time>);

fn times(line: &Arguments<'_>) -> Result<Times, String> {
    let (mut accessed, mut modified) = (Time::now(), Time::now());
    if let Some(model) = line.value("r") {
        let facts = facts::of(path(model), Follow::Yes);
        let facts = facts
            .map_err(|error| format!("failed to get attributes of '{}': {}", text(model), reason(&error)))?;
        (accessed, modified) = (facts.accessed, facts.modified);
    }
    let date = |text: &str| Time::parse(text).ok_or_else(|| format!("invalid date format '{text}'"));
    if let Some(value) = line.value("d") {
        let time = date(&text(value))?;
        (accessed, modified) = (time, time);
    }
    if let Some(value) = line.value("t") {
        let shown = text(value);
        let time = stamp(&shown, Time::now().civil().year)
            .ok_or_else(|| format!("invalid date format '{shown}'"))?;
        (accessed, modified) = (time, time);
    }
    let word = line.value("time").map(text);
    let (only_a, only_m) = match word.as_deref() {
        None => (line.has("a"), line.has("m")),
        Some("access" | "atime" | "use") => (true, false),
        Some("modify" | "mtime") => (false, true),
        Some(other) => return Err(format!("invalid argument '{other}' for '--time'")),
    };
    Ok(((only_a || !only_m).then_some(accessed), (only_m || !only_a).then_some(modified)))
}

/// `[[CC]YY]MMDDhhmm[.ss]`
fn stamp(text: &str, this_year: i64) -> Option<Time> {
    let (digits, seconds) = text.split_once('.').unwrap_or((text, "00"));
    let all = digits.bytes().chain(seconds.bytes()).all(|it| it.is_ascii_digit());
    if !all || seconds.len() != 2 || !matches!(digits.len(), 8 | 10 | 12) {
        return None;
    }
    let (year, rest) = digits.split_at(digits.len() - 8);
    let year = match (year.len(), year.parse::<i64>().unwrap_or(0)) {
        (0, _) => this_year,
        (2, short) => short + if short < 69 { 2000 } else { 1900 },
        (_, year) => year,
    };
    Time::parse(&format!(
        "{year:04}-{}-{} {}:{}:{seconds}",
        &rest[..2],
        &rest[2..4],
        &rest[4..6],
        &rest[6..8]
    ))
}

fn one(
    at: &Path,
    accessed: Option<Time>,
    modified: Option<Time>,
    follow: Follow,
    create: bool,
) -> Result<(), (&'static str, io::Error)> {
    let facts = match facts::of(at, follow) {
        Ok(facts) => facts,
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(("cannot touch", error)),
        Err(_) if !create => return Ok(()),
        Err(_) => {
            let made = OpenOptions::new().write(true).create(true).truncate(false).open(at);
            drop(made.map_err(|error| ("cannot touch", error))?);
            facts::of(at, follow).map_err(|error| ("cannot touch", error))?
        }
    };
    let (accessed, modified) = (accessed.unwrap_or(facts.accessed), modified.unwrap_or(facts.modified));
    set_times(at, accessed, modified, follow).map_err(|error| ("setting times of", error))
}

#[cfg(test)]
mod tests {
    use super::stamp;

    #[test]
    fn stamps_are_read() {
        let show = |text| stamp(text, 2020).map(|it| it.full());
        assert_eq!(show("202405011230.15").as_deref(), Some("2024-05-01 12:30:15.000000000 +0000"));
        assert_eq!(show("05011230").as_deref(), Some("2020-05-01 12:30:00.000000000 +0000"));
        assert_eq!(show("9905011230").as_deref(), Some("1999-05-01 12:30:00.000000000 +0000"));
        for bad in ["", "1", "13011230", "05011230.1", "0501123a"] {
            assert_eq!(show(bad), None, "{bad}");
        }
    }
}
