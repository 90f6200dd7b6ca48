//! Stands in for the `ryu` crate under `csv`, so that a number in a cell reads as `jq` prints it: the
//! result of `4 / 2` is `2`, not `2.0`.
//!
//! The digits are the shortest that read back as the same number; only their layout is jq's.
#![no_std]

use core::fmt::{self, Write};

/// Longest text: a sign, `0.0000`, 17 digits; or a sign, 17 digits and zeros up to the 17th place.
const TEXT_BYTES_MAX: usize = 40;
/// A decimal point further left than this many zeros is written with an exponent.
const LEADING_ZEROS_MAX: i32 = 4;
/// So is a number with this many zeros after its last digit.
const TRAILING_ZEROS_MAX: i32 = 15;

/// Room for the text of one number.
pub struct Buffer(Text);

impl Default for Buffer {
    fn default() -> Self {
        Self::new()
    }
}

impl Buffer {
    /// An empty one.
    pub fn new() -> Self {
        Self(Text { bytes: [0; TEXT_BYTES_MAX], len: 0 })
    }

    /// The text of a finite number.
    pub fn format_finite(&mut self, number: f64) -> &str {
        self.0.len = 0;
        // The room holds the longest text there is.
        let _ = layout(&mut self.0, number);
        self.0.as_str()
    }

    /// The text of any number, which the `csv` crate asks for; words for those that are not finite.
    pub fn format(&mut self, number: impl Into<f64>) -> &str {
        match number.into() {
            it if it.is_nan() => "NaN",
            it if it == f64::INFINITY => "inf",
            it if it == f64::NEG_INFINITY => "-inf",
            finite => self.format_finite(finite),
        }
    }
}

struct Text {
    bytes: [u8; TEXT_BYTES_MAX],
    len: usize,
}

impl Text {
    fn as_str(&self) -> &str {
        core::str::from_utf8(&self.bytes[..self.len]).unwrap_or("")
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.len..self.len + text.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}

fn layout(out: &mut Text, number: f64) -> fmt::Result {
    let mut shortest = Text { bytes: [0; TEXT_BYTES_MAX], len: 0 };
    write!(shortest, "{:e}", number.abs())?;
    let (mantissa, exponent) = shortest.as_str().split_once('e').unwrap_or(("0", "0"));
    let (first, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = 1 + rest.len() as i32;
    // How many digits stand before the decimal point.
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;

    if number.is_sign_negative() {
        out.write_str("-")?;
    }
    if number == 0.0 {
        return out.write_str("0");
    }
    if point <= -LEADING_ZEROS_MAX || point > digits + TRAILING_ZEROS_MAX {
        let dot = if rest.is_empty() { "" } else { "." };
        let sign = if point < 1 { '-' } else { '+' };
        return write!(out, "{first}{dot}{rest}e{sign}{:02}", (point - 1).abs());
    }
    if point <= 0 {
        out.write_str("0.")?;
        for _ in point..0 {
            out.write_str("0")?;
        }
        out.write_str(first)?;
        return out.write_str(rest);
    }
    out.write_str(first)?;
    let whole = (point - 1) as usize;
    if whole < rest.len() {
        return write!(out, "{}.{}", &rest[..whole], &rest[whole..]);
    }
    out.write_str(rest)?;
    for _ in rest.len()..whole {
        out.write_str("0")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_jq_prints_them() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (2.0, "2"),
            (-1.5, "-1.5"),
            (0.1, "0.1"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.25e-7, "1.25e-07"),
            (100.0, "100"),
            (1e17, "1e+17"),
            (1e15, "1000000000000000"),
            (123456789012.5, "123456789012.5"),
            (3.0e20, "3e+20"),
            (1.7976931348623157e308, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
            (12345678901234567890.0, "12345678901234567000"),
        ];
        for (number, want) in cases {
            assert_eq!(Buffer::new().format_finite(number), want);
        }
    }
}
