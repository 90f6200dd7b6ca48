//! `echo`: its arguments, with spaces between them.

use crate::stream::Out;

const HELP: &str = "Usage: echo [-neE] [TEXT]...\nPrints the texts with spaces between them.\n\n  -n  no line end\n  -e  take \\n, \\t, \\\\, \\0NNN, \\xHH and others for what they stand for\n  -E  do not (the default)\n";

/// The applet.
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
            let value =
                std::str::from_utf8(&after[..digits]).ok().and_then(|it| u32::from_str_radix(it, radix).ok());
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
