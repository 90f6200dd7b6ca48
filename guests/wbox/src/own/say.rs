//! `echo`, `true`, `false`, `yes`, `sleep`, `pwd` and `printenv`: a line each, and no parser for it.

use super::arguments::{self, refuse};
use crate::stream::{Out, reason, text};
use std::time::Duration;

/// The applet `echo`.
pub mod echo {
    use super::*;

    const HELP: &str = "Usage: echo [-neE] [TEXT]...\nPrints the texts with spaces between them.\n\n  -n  no line end\n  -e  take \\n, \\t, \\\\, \\0NNN, \\xHH and others for what they stand for\n  -E  do not (the default)\n";

    pub fn main(args: &[&[u8]]) -> i32 {
        let mut out = Out::new("echo");
        match args {
            [b"--help"] => {
                out.put(HELP.as_bytes());
                return out.end(0);
            }
            [b"--version"] => {
                out.put(format!("echo (wbox) {}\n", env!("CARGO_PKG_VERSION")).as_bytes());
                return out.end(0);
            }
            _ => {}
        }
        let (mut end, mut escapes, mut args) = (true, false, args);
        while let [[b'-', letters @ ..], rest @ ..] = args {
            if letters.is_empty() || !letters.iter().all(|it| b"neE".contains(it)) {
                break;
            }
            for letter in letters.iter() {
                match letter {
                    b'n' => end = false,
                    other => escapes = *other == b'e',
                }
            }
            args = rest;
        }
        for (at, arg) in args.iter().enumerate() {
            if at > 0 {
                out.sign(b' ');
            }
            if !escapes {
                out.put(arg);
            } else if !unescape(arg, &mut out) {
                // `\c`: nothing more.
                return out.end(0);
            }
        }
        if end {
            out.sign(b'\n');
        }
        out.end(0)
    }

    fn unescape(text: &[u8], out: &mut Out) -> bool {
        let mut rest = text;
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            if *byte != b'\\' {
                out.sign(*byte);
                continue;
            }
            let Some((letter, after)) = rest.split_first() else {
                out.sign(b'\\');
                break;
            };
            rest = after;
            let number = |radix: u32, max: usize| {
                let digits = after.iter().take(max).take_while(|it| char::from(**it).is_digit(radix)).count();
                let value = std::str::from_utf8(&after[..digits])
                    .ok()
                    .and_then(|it| u32::from_str_radix(it, radix).ok());
                (value, digits)
            };
            match letter {
                b'a' => out.sign(7),
                b'b' => out.sign(8),
                b'c' => return false,
                b'e' => out.sign(27),
                b'f' => out.sign(12),
                b'n' => out.sign(b'\n'),
                b'r' => out.sign(b'\r'),
                b't' => out.sign(b'\t'),
                b'v' => out.sign(11),
                b'\\' => out.sign(b'\\'),
                b'0' => {
                    let (value, digits) = number(8, 3);
                    out.sign(value.unwrap_or(0) as u8);
                    rest = &after[digits..];
                }
                b'x' if number(16, 2).1 > 0 => {
                    let (value, digits) = number(16, 2);
                    out.sign(value.unwrap_or(0) as u8);
                    rest = &after[digits..];
                }
                other => {
                    out.put(&[b'\\', *other]);
                }
            }
        }
        true
    }
}

/// The applet `true`.
pub mod truth {
    pub fn main(_: &[&[u8]]) -> i32 {
        0
    }
}

/// The applet `false`.
pub mod falsehood {
    pub fn main(_: &[&[u8]]) -> i32 {
        1
    }
}

/// The applet `yes`.
pub mod yes {
    use super::*;

    pub fn main(args: &[&[u8]]) -> i32 {
        let help = "Usage: yes [TEXT]...\nPrints a line again and again, until nobody reads it.\n";
        let line = match arguments::read("yes", help, args, &[], 1) {
            Ok(line) => line,
            Err(status) => return status,
        };
        let mut text = if line.operands.is_empty() { b"y".to_vec() } else { line.operands.join(&b' ') };
        text.push(b'\n');
        let mut out = Out::new("yes");
        while out.put(&text) {}
        out.end(0)
    }
}

/// The applet `sleep`.
pub mod sleep {
    use super::*;

    pub fn main(args: &[&[u8]]) -> i32 {
        let help = "Usage: sleep NUMBER[smhd]...\nWaits for the sum of the times.\n";
        let line = match arguments::read("sleep", help, args, &[], 1) {
            Ok(line) => line,
            Err(status) => return status,
        };
        if line.operands.is_empty() {
            return refuse("sleep", "missing operand", 1);
        }
        let mut sum = Duration::ZERO;
        for operand in &line.operands {
            match seconds(&text(operand)) {
                Some(time) => sum = sum.saturating_add(time),
                None => return refuse("sleep", &format!("invalid time interval '{}'", text(operand)), 1),
            }
        }
        std::thread::sleep(sum);
        0
    }

    fn seconds(text: &str) -> Option<Duration> {
        let (number, unit) = match text.chars().last()? {
            's' => (&text[..text.len() - 1], 1.0),
            'm' => (&text[..text.len() - 1], 60.0),
            'h' => (&text[..text.len() - 1], 3600.0),
            'd' => (&text[..text.len() - 1], 86_400.0),
            _ => (text, 1.0),
        };
        let value: f64 = number.parse().ok().filter(|it: &f64| *it >= 0.0)?;
        Some(Duration::try_from_secs_f64(value * unit).unwrap_or(Duration::MAX))
    }

    #[test]
    fn times_have_units() {
        assert_eq!(seconds("1.5"), Some(Duration::from_millis(1500)));
        assert_eq!(seconds("2m"), Some(Duration::from_secs(120)));
        assert_eq!(seconds("infinity"), Some(Duration::MAX));
        for bad in ["", "x", "-1", "1x", "nan"] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }
}

/// The applet `pwd`.
pub mod pwd {
    use super::*;

    pub fn main(args: &[&[u8]]) -> i32 {
        let help = "Usage: pwd [-L | -P]\nPrints the working directory.\n\n  -L, --logical   as it was reached\n  -P, --physical  without symbolic links\n";
        let line = match arguments::read("pwd", help, args, &["L,logical", "P,physical"], 1) {
            Ok(line) => line,
            Err(status) => return status,
        };
        let mut out = Out::new("pwd");
        let last = line.flags.last().map(|(id, _)| *id);
        let here = match std::env::current_dir() {
            // GNU's own resolves links unless it is told otherwise.
            Ok(here) if last != Some("L") => super::super::copy::real(&here).or(Ok(here)),
            other => other,
        };
        match here {
            Ok(here) => {
                out.put(here.as_os_str().as_encoded_bytes());
                out.sign(b'\n');
                out.end(0)
            }
            Err(error) => {
                out.complain(&reason(&error));
                1
            }
        }
    }
}

/// The applet `printenv`.
pub mod printenv {
    use super::*;

    pub fn main(args: &[&[u8]]) -> i32 {
        let help = "Usage: printenv [-0] [NAME]...\nPrints the values of variables, or all of them.\n\n  -0, --null  end each with NUL\n";
        let line = match arguments::read("printenv", help, args, &["0,null"], 2) {
            Ok(line) => line,
            Err(status) => return status,
        };
        let end = if line.has("0") { 0 } else { b'\n' };
        let (mut out, mut status) = (Out::new("printenv"), 0);
        if line.operands.is_empty() {
            for (name, value) in std::env::vars_os() {
                out.put(&[name.as_encoded_bytes(), b"=", value.as_encoded_bytes(), &[end]].concat());
            }
        }
        for name in &line.operands {
            match std::env::var_os(&*text(name)).filter(|_| !name.contains(&b'=')) {
                Some(value) => {
                    out.put(value.as_encoded_bytes());
                    out.sign(end);
                }
                None => status = 1,
            }
        }
        out.end(status)
    }
}
