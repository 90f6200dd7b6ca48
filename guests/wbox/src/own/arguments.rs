//! Command lines of our own applets, in bytes: names of files are not always text.
//!
//! `options` reads them; every applet has `--help` and `--version` besides what its table says.

use crate::stream::Out;
use options::{Item, Order};
use std::borrow::Cow;

/// An option by the first of its names, with its value.
pub type Flag<'a> = (&'static str, Option<&'a [u8]>);

/// A command line, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Arguments<'a> {
    /// In the order they were given.
    pub flags: Vec<Flag<'a>>,
    /// What is no option.
    pub operands: Vec<&'a [u8]>,
}

impl<'a> Arguments<'a> {
    /// Splits the arguments, or says what is wrong with them as GNU does.
    pub fn read(args: &[&'a [u8]], table: &[&'static str]) -> Result<Self, String> {
        let mut line = Self::default();
        for item in options::split(args.iter().copied(), table, Order::Anywhere)? {
            match item {
                Item::Flag(id, value) => line.flags.push((id, value)),
                Item::Operand(operand) => line.operands.push(operand),
            }
        }
        Ok(line)
    }

    /// Whether the option is there.
    pub fn has(&self, id: &str) -> bool {
        self.flags.iter().any(|(it, _)| *it == id)
    }

    /// The last value of the option.
    pub fn value(&self, id: &str) -> Option<&'a [u8]> {
        self.flags.iter().rev().find(|(it, _)| *it == id).and_then(|(_, value)| *value)
    }

    /// All operands; standard input if there are none.
    pub fn inputs(&self) -> Vec<&'a [u8]> {
        if self.operands.is_empty() { vec![b"-"] } else { self.operands.clone() }
    }
}

/// Answers `--help` and `--version`, and complains about a command line that cannot be read; the status
/// in these cases, and the command line in all others.
pub fn read<'a>(
    applet: &'static str,
    help: &str,
    args: &[&'a [u8]],
    table: &[&'static str],
    misused: i32,
) -> Result<Arguments<'a>, i32> {
    const COMMON: [&str; 2] = ["help", "version"];
    let known: Vec<&'static str> = table.iter().chain(&COMMON).copied().collect();
    let line = Arguments::read(args, &known).map_err(|problem| refuse(applet, &problem, misused))?;
    let text = if line.has("help") {
        Cow::from(help)
    } else if line.has("version") {
        Cow::from(format!("{applet} (wbox) {}\n", env!("CARGO_PKG_VERSION")))
    } else {
        return Ok(line);
    };
    let mut out = Out::new(applet);
    out.put(text.as_bytes());
    Err(out.end(0))
}

/// Says what is wrong with a command line; the status that was given.
pub fn refuse(applet: &'static str, problem: &str, status: i32) -> i32 {
    Out::new(applet).complain(&format!("{problem}\nTry '{applet} --help' for more information."));
    status
}

/// A number of digits only, as large as there are; more saturates.
pub fn count(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'))))
}

/// A number with one of GNU's units: `b` is 512, `K` 1024, `KB` 1000, and so on.
pub fn size(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, unit) = text.split_at(digits);
    let number = if number.is_empty() && !unit.is_empty() { 1 } else { count(number)? };
    let base: u64 = match unit {
        [] => return Some(number),
        b"b" => return Some(number.saturating_mul(512)),
        [_] | [_, b'i', b'B'] => 1024,
        [_, b'B'] => 1000,
        _ => return None,
    };
    let power = b"KMGTPEZYRQ".iter().position(|it| *it == unit[0].to_ascii_uppercase())? as u32 + 1;
    Some(number.saturating_mul(base.saturating_pow(power)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let cases = [
            ("7", Some(7)),
            ("2b", Some(1024)),
            ("1K", Some(1024)),
            ("2kB", Some(2000)),
            ("3MiB", Some(3 << 20)),
            ("99999999999999999999Q", Some(u64::MAX)),
            ("x", None),
            ("", None),
            ("1KK", None),
        ];
        for (text, want) in cases {
            assert_eq!(size(text.as_bytes()), want, "{text}");
        }
    }
}
