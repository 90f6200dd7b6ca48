//! `seq`: numbers from here to there, in exact decimals.

use super::arguments::refuse;
use crate::stream::{Out, text};
use options::{Item, Order};

const HELP: &str = "\
Usage: seq [OPTION]... LAST
   or: seq [OPTION]... FIRST LAST
   or: seq [OPTION]... FIRST STEP LAST
Prints numbers from FIRST to LAST.

  -f, --format=FORMAT      as printf would: %f, %e, %g with flags, width and precision
  -s, --separator=TEXT     between them, instead of a line end
  -t, --terminator=TEXT    behind the last
  -w, --equal-width        with zeros in front
";
/// More digits than these are refused.
const DIGITS_MAX: usize = 30;

/// A decimal: `value` divided by ten `scale` times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Decimal {
    value: i128,
    scale: usize,
}

struct Wanted {
    first: Decimal,
    step: Decimal,
    /// `None` goes on for ever.
    last: Option<Decimal>,
    format: Option<Format>,
    between: Vec<u8>,
    end: Vec<u8>,
    wide: bool,
}

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    match read(args) {
        Ok(Some(wanted)) => print(&wanted),
        Ok(None) => {
            let mut out = Out::new("seq");
            out.put(
                if args.contains(&&b"--version"[..]) {
                    concat!("seq (wbox) ", env!("CARGO_PKG_VERSION"), "\n")
                } else {
                    HELP
                }
                .as_bytes(),
            );
            out.end(0)
        }
        Err(problem) => refuse("seq", &problem, 1),
    }
}

const TABLE: &[&str] = &["w,equal-width", "s,separator=", "t,terminator=", "f,format=", "help", "version"];

/// What is wanted; nothing where help is.
fn read(args: &[&[u8]]) -> Result<Option<Wanted>, String> {
    let (mut wide, mut between, mut end, mut format, mut numbers) =
        (false, b"\n".to_vec(), b"\n".to_vec(), None, Vec::new());
    for item in options::split(args.iter().copied(), TABLE, Order::Numbers)? {
        match item {
            Item::Flag("help" | "version", _) => return Ok(None),
            Item::Flag("w", _) => wide = true,
            Item::Flag("s", value) => between = unescaped(value.unwrap_or_default()),
            Item::Flag("t", value) => end = unescaped(value.unwrap_or_default()),
            Item::Flag(_, value) => format = Some(Format::read(&text(value.unwrap_or_default()))?),
            Item::Operand(number) => numbers.push(text(number).into_owned()),
        }
    }
    let one = Decimal { value: 1, scale: 0 };
    let (first, step, last) = match numbers.as_slice() {
        [] => return Err("missing operand".to_owned()),
        [last] => (one, one, last),
        [first, last] => (finite(first)?, one, last),
        [first, step, last] => (finite(first)?, finite(step)?, last),
        [.., extra] => return Err(format!("extra operand '{extra}'")),
    };
    if step.value == 0 {
        return Err(format!("invalid Zero increment value: '{}'", numbers[1]));
    }
    if wide && format.is_some() {
        return Err("format string may not be specified when printing equal width strings".to_owned());
    }
    let last = match last.trim_start_matches('+') {
        "inf" | "infinity" if step.value > 0 => None,
        "-inf" | "-infinity" if step.value < 0 => None,
        _ => Some(finite(last)?),
    };
    Ok(Some(Wanted { first, step, last, format, between, end, wide }))
}

fn finite(text: &str) -> Result<Decimal, String> {
    decimal(text).ok_or_else(|| format!("invalid floating point argument: '{text}'"))
}

fn decimal(text: &str) -> Option<Decimal> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (digits, power) = match digits.split_once(['e', 'E']) {
        Some((digits, power)) => (digits, power.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = whole.bytes().chain(fraction.bytes()).all(|it| it.is_ascii_digit());
    if !all || whole.len() + fraction.len() == 0 || whole.len() + fraction.len() > DIGITS_MAX {
        return None;
    }
    let value: i128 = format!("0{whole}{fraction}").parse().ok()?;
    let mut it = Decimal { value: if negative { -value } else { value }, scale: fraction.len() };
    for _ in 0..power.unsigned_abs().min(DIGITS_MAX as u32 + 1) {
        match (power > 0, it.scale) {
            (true, 0) => it.value = it.value.checked_mul(10)?,
            (true, _) => it.scale -= 1,
            (false, _) => it.scale += 1,
        }
    }
    (it.scale <= DIGITS_MAX).then_some(it)
}

impl Decimal {
    fn at_scale(self, scale: usize) -> Option<i128> {
        let mut value = self.value;
        for _ in self.scale..scale {
            value = value.checked_mul(10)?;
        }
        Some(value)
    }
}

fn print(wanted: &Wanted) -> i32 {
    let shown = wanted.first.scale.max(wanted.step.scale);
    let scale = shown.max(wanted.last.map_or(0, |it| it.scale));
    let last = match wanted.last.map(|it| it.at_scale(scale)) {
        None => None,
        Some(Some(last)) => Some(last),
        Some(None) => return refuse("seq", "numbers too large", 1),
    };
    let (Some(mut at), Some(step)) = (wanted.first.at_scale(scale), wanted.step.at_scale(scale)) else {
        return refuse("seq", "numbers too large", 1);
    };
    let mut width = 0;
    if wanted.wide {
        width = written(at, scale, shown).len().max(last.map_or(0, |it| written(it, scale, shown).len()));
    }
    let (mut out, mut any) = (Out::new("seq"), false);
    let whole = scale == 0 && width == 0 && wanted.format.is_none();
    let mut digits = Vec::with_capacity(40);
    while last.is_none_or(|last| if step > 0 { at <= last } else { at >= last }) {
        if any {
            out.put(&wanted.between);
        }
        any = true;
        digits.clear();
        match &wanted.format {
            Some(format) => digits.extend(format.number(at as f64 / 10f64.powi(scale as i32)).into_bytes()),
            // The usual case, without the detours of the others.
            None if whole => plain(at, &mut digits),
            None => digits.extend(padded(&written(at, scale, shown), width).into_bytes()),
        }
        if !out.put(&digits) {
            break;
        }
        let Some(next) = at.checked_add(step) else { break };
        at = next;
    }
    if any {
        out.put(&wanted.end);
    }
    out.end(0)
}

fn plain(value: i128, out: &mut Vec<u8>) {
    let mut backwards = [0; 40];
    let (mut rest, mut count) = (value.unsigned_abs(), 0);
    loop {
        backwards[count] = b'0' + (rest % 10) as u8;
        count += 1;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend(backwards[..count].iter().rev());
}

/// With as many digits behind the point as are shown; what is cut off is zeros.
fn written(value: i128, scale: usize, shown: usize) -> String {
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if value < 0 { "-" } else { "" };
    match shown {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{}", &fraction[..shown]),
    }
}

fn padded(text: &str, width: usize) -> String {
    match text.strip_prefix('-') {
        Some(digits) => format!("-{digits:0>width$}", width = width.saturating_sub(1)),
        None => format!("{text:0>width$}"),
    }
}

fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut all = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match (byte, if *byte == b'\\' { bytes.next() } else { None }) {
            (b'\\', Some(b'n')) => all.push(b'\n'),
            (b'\\', Some(b't')) => all.push(b'\t'),
            (b'\\', Some(b'0')) => all.push(0),
            (b'\\', Some(b'\\')) => all.push(b'\\'),
            (b'\\', Some(other)) => all.extend([b'\\', *other]),
            (byte, _) => all.push(*byte),
        }
    }
    all
}

/// One conversion of `printf`, with what is around it.
struct Format {
    before: String,
    after: String,
    flags: String,
    width: usize,
    precision: Option<usize>,
    kind: char,
}

impl Format {
    fn read(text: &str) -> Result<Self, String> {
        let quoted = || format!("format '{text}'");
        let (mut before, mut rest) = (String::new(), text);
        loop {
            let (plain, after) =
                rest.split_once('%').ok_or_else(|| format!("{} has no % directive", quoted()))?;
            before.push_str(plain);
            match after.strip_prefix('%') {
                Some(after) => {
                    before.push('%');
                    rest = after;
                }
                None => {
                    rest = after;
                    break;
                }
            }
        }
        let cut = |text: &str, keep: fn(char) -> bool| text.find(|it: char| !keep(it)).unwrap_or(text.len());
        let (flags, rest) = rest.split_at(cut(rest, |it| "-+ 0#'".contains(it)));
        let (width, rest) = rest.split_at(cut(rest, |it| it.is_ascii_digit()));
        let (precision, rest) = match rest.strip_prefix('.') {
            Some(rest) => {
                let (precision, rest) = rest.split_at(cut(rest, |it| it.is_ascii_digit()));
                (Some(precision.parse().unwrap_or(0)), rest)
            }
            None => (None, rest),
        };
        let kind = rest.chars().next().ok_or_else(|| format!("{} ends in %", quoted()))?;
        if !"efgEFG".contains(kind) {
            return Err(format!("{} has unknown %{kind} directive", quoted()));
        }
        let after = &rest[1..];
        if after.replace("%%", "").contains('%') {
            return Err(format!("{} has too many % directives", quoted()));
        }
        let (width, precision) = (width.parse().unwrap_or(0), precision);
        if width > 4096 || precision.is_some_and(|it| it > 4096) {
            return Err(format!("{} is too wide", quoted()));
        }
        Ok(Self { before, after: after.replace("%%", "%"), flags: flags.to_owned(), width, precision, kind })
    }

    fn number(&self, value: f64) -> String {
        let precision = self.precision.unwrap_or(6);
        let size = value.abs();
        let body = match self.kind.to_ascii_lowercase() {
            'f' => format!("{size:.precision$}"),
            'e' => exponent(size, precision),
            _ => shortest(size, precision.max(1), self.flags.contains('#')),
        };
        let body = if self.kind.is_ascii_uppercase() { body.to_uppercase() } else { body };
        let sign = match (value < 0.0, self.flags.contains('+'), self.flags.contains(' ')) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        };
        let room = self.width.saturating_sub(sign.len() + body.len());
        let (left, zeros, right) = match (self.flags.contains('-'), self.flags.contains('0')) {
            (true, _) => (0, 0, room),
            (_, true) => (0, room, 0),
            _ => (room, 0, 0),
        };
        format!(
            "{}{}{sign}{}{body}{}{}",
            self.before,
            " ".repeat(left),
            "0".repeat(zeros),
            " ".repeat(right),
            self.after
        )
    }
}

fn exponent(size: f64, precision: usize) -> String {
    let text = format!("{size:.precision$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    format!("{digits}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
}

/// `%g`: whichever of the two is shorter, without zeros at its end.
fn shortest(size: f64, precision: usize, zeros: bool) -> String {
    let text = exponent(size, precision - 1);
    let power: i32 = text.split_once('e').and_then(|it| it.1.parse().ok()).unwrap_or(0);
    let trim = |text: &str| match text.contains('.') && !zeros {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if power < -4 || power >= precision as i32 {
        let (digits, power) = text.split_once('e').unwrap_or((&text, "+00"));
        return format!("{}e{power}", trim(digits));
    }
    let behind = (precision as i32 - 1 - power).max(0) as usize;
    trim(&format!("{size:.behind$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_exact_and_formats_are_printfs() {
        let numbers = [
            ("1.5", Some((15, 1))),
            ("-0.25", Some((-25, 2))),
            ("1e3", Some((1000, 0))),
            ("1.5e-1", Some((15, 2))),
            ("x", None),
            ("", None),
            (".", None),
        ];
        for (text, want) in numbers {
            assert_eq!(decimal(text).map(|it| (it.value, it.scale)), want, "{text}");
        }
        assert_eq!(
            (written(-5, 1, 1), padded("-5", 4), written(10, 0, 0)),
            ("-0.5".into(), "-005".into(), "10".into())
        );
        let formats = [
            ("%.2f", 1.5, "1.50"),
            ("%g", 100000.0, "100000"),
            ("%g", 1e6, "1e+06"),
            ("a%05.1fz", -2.25, "a-02.2z"),
            ("%e", 12.0, "1.200000e+01"),
            ("%-6gx%%", 1.5, "1.5   x%"),
        ];
        for (format, value, want) in formats {
            assert_eq!(Format::read(format).map(|it| it.number(value)).as_deref(), Ok(want), "{format}");
        }
        for bad in ["x", "%", "%d", "%f%f"] {
            assert!(Format::read(bad).is_err(), "{bad}");
        }
    }
}
