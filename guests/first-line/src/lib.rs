//! Arguments that arrive as the first line of standard input.
//!
//! A command that is registered in mode `stdin1` has only its name as its argument list, and its arguments
//! before its input, joined by single blanks. A module that is also a built-in command sees that by its name:
//! one that is not its own, and nothing after it. Where words ended is lost, so what follows the options is one
//! argument: a program, or a pattern.

use std::io::{self, Read};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd as _;

/// A longer line is no line of arguments.
const LINE_BYTES_MAX: usize = 256 << 10;

/// The arguments, if they are on the first line of input. `own` are the names of the built-in command, `valued`
/// the options that take so many words.
pub fn arguments(own: &[&str], valued: &[(&str, usize)]) -> Option<io::Result<Vec<String>>> {
    let mut args = std::env::args_os();
    let name = args.next()?.to_string_lossy().into_owned();
    let name = name.rsplit('/').next().unwrap_or_default();
    if args.next().is_some() || own.contains(&name) || name.is_empty() {
        return None;
    }
    // SAFETY: standard input is open for as long as the program runs, and is not closed here.
    let input = ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(0) });
    Some(line(&*input).map(|it| split(&it, valued)))
}

/// The first line, and not a byte more: the rest is the command's input.
fn line(mut input: impl Read) -> io::Result<String> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while line.len() < LINE_BYTES_MAX && input.read(&mut byte)? == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

/// Options one by one, and all that follows them as one.
fn split(line: &str, valued: &[(&str, usize)]) -> Vec<String> {
    let (mut args, mut rest) = (Vec::new(), line);
    while rest.len() > 1 && rest.starts_with('-') {
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        args.push(word.to_owned());
        rest = after;
        let count = valued.iter().find(|it| it.0 == word).map_or(0, |it| it.1);
        for _ in 0..count {
            let (value, after) = rest.split_once(' ').unwrap_or((rest, ""));
            args.push(value.to_owned());
            rest = after;
        }
    }
    if !rest.is_empty() {
        args.push(rest.to_owned());
    }
    args
}

#[test]
fn options_are_words_and_the_rest_is_one() {
    let cases: &[(&str, &[&str])] = &[
        (".a | .b", &[".a | .b"]),
        ("-r -c .a[] | . + 1", &["-r", "-c", ".a[] | . + 1"]),
        ("--arg x 1 $x", &["--arg", "x", "1", "$x"]),
        ("", &[]),
        ("-", &["-"]),
    ];
    for (text, want) in cases {
        assert_eq!(split(text, &[("--arg", 2)]), *want, "{text}");
    }
}

#[test]
fn not_a_byte_of_the_input_is_taken() -> io::Result<()> {
    let mut input = &b".a\n{\"a\":1}\n"[..];
    assert_eq!(line(&mut input)?, ".a");
    assert_eq!(input, b"{\"a\":1}\n");
    Ok(())
}
