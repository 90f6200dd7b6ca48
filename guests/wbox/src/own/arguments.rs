//! Command lines of our own applets, in bytes: names of files are not always text.
//!
//! What an applet takes is a table of short texts, `"n,lines="`, as in the guests' `options`: names with
//! commas between them, and `=` if a value follows or `?` if one may be attached. The first name is the
//! one the applet sees. Every applet has `--help` and `--version` besides.

use crate::stream::Out;
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
        let mut rest = args.iter().copied();
        while let Some(arg) = rest.next() {
            match arg {
                b"--" => line.operands.extend(rest.by_ref()),
                [b'-', b'-', long @ ..] => line.flags.push(long_option(long, table, &mut rest)?),
                [b'-', cluster @ ..] if !cluster.is_empty() => line.cluster(cluster, table, &mut rest)?,
                operand => line.operands.push(operand),
            }
        }
        Ok(line)
    }

    fn cluster(
        &mut self,
        mut cluster: &'a [u8],
        table: &[&'static str],
        rest: &mut impl Iterator<Item = &'a [u8]>,
    ) -> Result<(), String> {
        while let Some((letter, attached)) = cluster.split_first() {
            let shown = char::from(*letter);
            let found = table.iter().find(|it| names(it).any(|name| name.as_bytes() == [*letter]));
            let found = found.ok_or_else(|| format!("invalid option -- '{shown}'"))?;
            let value = match found.as_bytes().last() {
                Some(b'=' | b'?') if !attached.is_empty() => Some(attached),
                Some(b'=') => {
                    Some(rest.next().ok_or_else(|| format!("option requires an argument -- '{shown}'"))?)
                }
                Some(b'?') => None,
                _ => {
                    self.flags.push((id(found), None));
                    cluster = attached;
                    continue;
                }
            };
            self.flags.push((id(found), value));
            break;
        }
        Ok(())
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

fn names(known: &'static str) -> impl Iterator<Item = &'static str> {
    known.trim_end_matches(['=', '?']).split(',')
}

fn id(known: &'static str) -> &'static str {
    names(known).next().unwrap_or(known)
}

fn long_option<'a>(
    text: &'a [u8],
    table: &[&'static str],
    rest: &mut impl Iterator<Item = &'a [u8]>,
) -> Result<Flag<'a>, String> {
    let cut = text.iter().position(|byte| *byte == b'=');
    let (name, value) = cut.map_or((text, None), |at| (&text[..at], Some(&text[at + 1..])));
    let shown = String::from_utf8_lossy(name);
    let long =
        |known: &&'static str| names(known).filter(|it| it.len() > 1).map(str::as_bytes).collect::<Vec<_>>();
    let exact = table.iter().find(|it| long(it).contains(&name));
    let found = match exact {
        Some(found) => found,
        None => {
            let mut fits = table.iter().filter(|it| long(it).iter().any(|it| it.starts_with(name)));
            match (fits.next(), fits.next()) {
                (Some(only), None) => only,
                (Some(_), Some(_)) => return Err(format!("option '--{shown}' is ambiguous")),
                _ => return Err(format!("unrecognized option '--{shown}'")),
            }
        }
    };
    match (found.as_bytes().last(), value) {
        (Some(b'='), None) => match rest.next() {
            Some(value) => Ok((id(found), Some(value))),
            None => Err(format!("option '--{shown}' requires an argument")),
        },
        (Some(b'=' | b'?'), value) => Ok((id(found), value)),
        (_, Some(_)) => Err(format!("option '--{shown}' doesn't allow an argument")),
        (_, None) => Ok((id(found), None)),
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

    const TABLE: &[&str] = &["n,lines=", "v,verbose", "color?", "c", "size=", "silent", "u?"];

    fn shown(line: &str) -> String {
        let args: Vec<&[u8]> = line.split_whitespace().map(str::as_bytes).collect();
        match Arguments::read(&args, TABLE) {
            Err(problem) => problem,
            Ok(line) => {
                let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
                let flags = line.flags.iter().map(|(id, value)| match value {
                    None => format!("[{id}]"),
                    Some(value) => format!("[{id}={}]", text(value)),
                });
                flags.chain(line.operands.iter().map(|it| text(it))).collect::<Vec<_>>().join(" ")
            }
        }
    }

    #[test]
    fn options_are_read_as_gnu_reads_them() {
        let cases = [
            ("a -n 5 b", "[n=5] a b"),
            ("-vn5 -c", "[v] [n=5] [c]"),
            ("--lines=5 --lin 6", "[n=5] [n=6]"),
            ("--color --color=x", "[color] [color=x]"),
            ("-u3 -u 3", "[u=3] [u] 3"),
            ("-v -- -n", "[v] -n"),
            ("- x", "- x"),
            ("--si", "option '--si' is ambiguous"),
            ("--verbose=1", "option '--verbose' doesn't allow an argument"),
            ("-n", "option requires an argument -- 'n'"),
            ("--lines", "option '--lines' requires an argument"),
            ("-q", "invalid option -- 'q'"),
            ("--quiet", "unrecognized option '--quiet'"),
        ];
        for (line, want) in cases {
            assert_eq!(shown(line), want, "{line}");
        }
    }

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
