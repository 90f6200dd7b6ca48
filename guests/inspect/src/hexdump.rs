//! `hexdump` and `hd`: bytes in lines of sixteen.

use crate::{complain, print};
use options::{Item, Order};

/// How a line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Two-byte numbers.
    Words,
    /// Bytes, and the text beside them.
    Canonical,
    /// One of `-b`, `-c`, `-d`, `-o`.
    Other(char),
}

const TABLE: &[&str] = &[
    "C,canonical",
    "b,one-byte-octal",
    "c,one-byte-char",
    "d,two-bytes-decimal",
    "o,two-bytes-octal",
    "x,two-bytes-hex",
    "n,length=",
    "s,skip=",
    "v,no-squeezing",
    "e,format=",
    "f,format-file=",
    "h,help",
    "V,version",
];
const HELP: &str = "Usage: hexdump [options] <file>...
Display file contents in hexadecimal, decimal, octal, or ascii.

 -C  canonical hex+ASCII    -x  two-byte hexadecimal    -d  two-byte decimal
 -b  one-byte octal         -o  two-byte octal          -c  one-byte character
 -n LENGTH  only so many bytes   -s OFFSET  skip bytes   -v  no squeezing of equal lines
";

/// Dumps and returns the exit status.
pub(crate) fn run(args: &[String], style: Style) -> i32 {
    let items = match options::parse(args, TABLE, Order::Anywhere) {
        Ok(items) => items,
        Err(problem) => return complain("hexdump", &problem),
    };
    let (mut style, mut length, mut skip, mut squeeze) = (style, usize::MAX, 0usize, true);
    let mut files = Vec::new();
    for item in items {
        match item {
            Item::Flag("C", _) => style = Style::Canonical,
            Item::Flag("x", _) => style = Style::Other('x'),
            Item::Flag("v", _) => squeeze = false,
            Item::Flag(flag @ ("n" | "s"), Some(text)) => match number(&text) {
                Some(count) if flag == "n" => length = count,
                Some(count) => skip = count,
                None => return complain("hexdump", &format!("failed to parse length: '{text}'")),
            },
            Item::Flag("e" | "f", _) => {
                return complain("hexdump", "formats of one's own are not taken; use od or xxd");
            }
            Item::Flag("h", _) => return print(HELP.as_bytes()),
            Item::Flag(flag, None) => style = Style::Other(flag.chars().next().unwrap_or('x')),
            Item::Flag(..) => {}
            Item::Operand(file) => files.push(file),
        }
    }
    if files.is_empty() {
        files.push("-".to_owned());
    }
    let (mut bytes, mut status) = (Vec::new(), 0);
    for name in &files {
        match place::stdio::read(name) {
            Ok(more) => bytes.extend(more),
            Err(error) => status = complain("hexdump", &format!("{name}: {}", place::reason(&error))),
        }
    }
    if status != 0 && bytes.is_empty() {
        return status;
    }
    let skip = skip.min(bytes.len());
    let part = &bytes[skip..];
    let part = &part[..part.len().min(length)];
    status.max(print(dump(part, skip, style, squeeze).as_bytes()))
}

fn number(text: &str) -> Option<usize> {
    let (digits, unit) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1 << 10),
        b'm' | b'M' => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    let value = match digits.strip_prefix("0x") {
        Some(hex) => usize::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    value.checked_mul(unit)
}

fn dump(bytes: &[u8], skip: usize, style: Style, squeeze: bool) -> String {
    let mut out = String::new();
    let mut before: Option<&[u8]> = None;
    let mut starred = false;
    let place = |at: usize| if style == Style::Canonical { format!("{at:08x}") } else { format!("{at:07x}") };
    for (at, line) in bytes.chunks(16).enumerate() {
        if squeeze && before == Some(line) && line.len() == 16 {
            if !starred {
                out.push_str("*\n");
            }
            starred = true;
            continue;
        }
        (before, starred) = (Some(line), false);
        out.push_str(&place(skip + at * 16));
        out.push_str(&self::line(line, style));
        out.push('\n');
    }
    if !bytes.is_empty() {
        out.push_str(&place(skip + bytes.len()));
        out.push('\n');
    }
    out
}

fn line(bytes: &[u8], style: Style) -> String {
    let mut text = String::new();
    let words =
        || bytes.chunks(2).map(|pair| u16::from(pair[0]) | u16::from(*pair.get(1).unwrap_or(&0)) << 8);
    match style {
        Style::Canonical => {
            for at in 0..16 {
                text.push_str(if at % 8 == 0 { "  " } else { " " });
                text.push_str(&bytes.get(at).map_or("  ".to_owned(), |it| format!("{it:02x}")));
            }
            let shown: String =
                bytes.iter().map(|it| if (32..127).contains(it) { char::from(*it) } else { '.' }).collect();
            text.push_str(&format!("  |{shown}|"));
            return text;
        }
        Style::Words => words().for_each(|it| text.push_str(&format!(" {it:04x}"))),
        Style::Other('d') => words().for_each(|it| text.push_str(&format!("   {it:05}"))),
        Style::Other('o') => words().for_each(|it| text.push_str(&format!("  {it:06o}"))),
        Style::Other('b') => bytes.iter().for_each(|it| text.push_str(&format!(" {it:03o}"))),
        Style::Other('c') => bytes.iter().for_each(|it| text.push_str(&character(*it))),
        Style::Other(_) => words().for_each(|it| text.push_str(&format!("    {it:04x}"))),
    }
    // Short lines are as wide as full ones.
    let (cell, cells) = match style {
        Style::Words => (5, 8),
        Style::Other('b' | 'c') => (4, 16),
        _ => (8, 8),
    };
    format!("{text:<0$}", cell * cells)
}

fn character(byte: u8) -> String {
    let shown = match byte {
        0 => "\\0".to_owned(),
        7 => "\\a".to_owned(),
        8 => "\\b".to_owned(),
        9 => "\\t".to_owned(),
        10 => "\\n".to_owned(),
        11 => "\\v".to_owned(),
        12 => "\\f".to_owned(),
        13 => "\\r".to_owned(),
        32..127 => char::from(byte).to_string(),
        other => format!("{other:03o}"),
    };
    format!("{shown:>4}")
}
