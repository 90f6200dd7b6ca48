//! `strings`: runs of printable characters in anything.

use crate::{complain, print};
use options::{Item, Order};

const TABLE: &[&str] = &[
    "a,all",
    "d,data",
    "f,print-file-name",
    "n,bytes=",
    "t,radix=",
    "o",
    "w,include-all-whitespace",
    "e,encoding=",
    "s,output-separator=",
    "help",
    "v,version",
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "8",
    "9",
];
const HELP: &str = "Usage: strings [OPTION]... [FILE]...
Display printable strings in FILES (stdin by default).

  -n, --bytes=MIN    sequences of at least MIN characters (default 4)
  -t, --radix={o,d,x}  print the location of the string in base 8, 10 or 16
  -f, --print-file-name  print the name of the file before each string
  -w, --include-all-whitespace  include all whitespace as valid characters
";

/// Prints the runs and returns the exit status.
pub(crate) fn run(args: &[String]) -> i32 {
    let items = match options::parse(args, TABLE, Order::Anywhere) {
        Ok(items) => items,
        Err(problem) => return complain("strings", &problem),
    };
    let (mut least, mut radix, mut named, mut blanks) = (4usize, ' ', false, false);
    let (mut files, mut digits) = (Vec::new(), String::new());
    let mut end = "\n".to_owned();
    for item in items {
        match item {
            Item::Flag("n", Some(text)) => match text.parse() {
                Ok(count) if count > 0 => least = count,
                _ => return complain("strings", &format!("invalid integer argument {text}")),
            },
            Item::Flag("t", Some(text)) => radix = text.chars().next().unwrap_or('d'),
            Item::Flag("o", _) => radix = 'o',
            Item::Flag("f", _) => named = true,
            Item::Flag("w", _) => blanks = true,
            Item::Flag("s", Some(text)) => end = text,
            Item::Flag("help", _) => return print(HELP.as_bytes()),
            Item::Flag(digit, None) if digit.as_bytes()[0].is_ascii_digit() => digits.push_str(digit),
            Item::Flag(..) => {}
            Item::Operand(file) => files.push(file),
        }
    }
    if let Ok(count) = digits.parse::<usize>() {
        least = count.max(1);
    }
    if files.is_empty() {
        files.push("-".to_owned());
    }
    let (mut out, mut status) = (Vec::new(), 0);
    for name in &files {
        let bytes = match place::stdio::read(name) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                status = complain("strings", &format!("'{name}': No such file"));
                continue;
            }
            Err(error) => {
                status = complain("strings", &format!("{name}: {}", place::reason(&error)));
                continue;
            }
        };
        let shown = if name == "-" { "{standard input}" } else { name };
        for (at, run) in runs(&bytes, least, blanks) {
            if named {
                out.extend_from_slice(format!("{shown}: ").as_bytes());
            }
            match radix {
                'o' => out.extend_from_slice(format!("{at:7o} ").as_bytes()),
                'd' => out.extend_from_slice(format!("{at:7} ").as_bytes()),
                'x' => out.extend_from_slice(format!("{at:7x} ").as_bytes()),
                _ => {}
            }
            out.extend_from_slice(run);
            out.extend_from_slice(end.as_bytes());
        }
    }
    status.max(print(&out))
}

fn runs(bytes: &[u8], least: usize, blanks: bool) -> Vec<(usize, &[u8])> {
    let printable = |it: u8| (32..127).contains(&it) || it == b'\t' || (blanks && it.is_ascii_whitespace());
    let mut found = Vec::new();
    let mut start = 0;
    for at in 0..=bytes.len() {
        if bytes.get(at).is_some_and(|it| printable(*it)) {
            continue;
        }
        if at - start >= least {
            found.push((start, &bytes[start..at]));
        }
        start = at + 1;
    }
    found
}
