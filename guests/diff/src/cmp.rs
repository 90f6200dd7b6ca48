//! `cmp`: the first byte that differs, or all of them.

use crate::{TROUBLE, complain};
use options::{Item, Order};

const TABLE: &[&str] =
    &["b,print-bytes", "i,ignore-initial=", "l,verbose", "n,bytes=", "s,quiet,silent", "help", "v,version"];
const HELP: &str = "Usage: cmp [OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]
Compare two files byte by byte.

  -b, --print-bytes          print differing bytes
  -i, --ignore-initial=SKIP  skip first SKIP bytes of both inputs
  -l, --verbose              output byte numbers and differing byte values
  -n, --bytes=LIMIT          compare at most LIMIT bytes
  -s, --quiet, --silent      suppress all normal output
";

/// What was asked for.
#[derive(Default)]
struct Settings {
    show_bytes: bool,
    all: bool,
    quiet: bool,
    limit: Option<usize>,
    skip: [usize; 2],
    files: Vec<String>,
}

/// Compares and returns the exit status.
pub(crate) fn run(args: &[String]) -> i32 {
    let settings = match parse(args) {
        Ok(Some(settings)) => settings,
        Ok(None) => return if crate::print(HELP.as_bytes()) { 0 } else { TROUBLE },
        Err(problem) => {
            complain("cmp", &problem);
            return complain("cmp", "Try 'cmp --help' for more information.");
        }
    };
    let mut pair = Vec::new();
    for (name, skip) in settings.files.iter().zip(settings.skip) {
        match place::stdio::read(name) {
            Ok(bytes) => pair.push(bytes.get(skip..).unwrap_or_default().to_vec()),
            Err(_) if settings.quiet => return TROUBLE,
            Err(error) => return complain("cmp", &format!("{name}: {}", place::reason(&error))),
        }
    }
    let limit = settings.limit.unwrap_or(usize::MAX);
    let cut = |bytes: &'_ [u8]| bytes[..bytes.len().min(limit)].to_vec();
    compare(&settings, &cut(&pair[0]), &cut(&pair[1]))
}

fn compare(settings: &Settings, a: &[u8], b: &[u8]) -> i32 {
    let [left, right] = [&settings.files[0], &settings.files[1]];
    let mut out = String::new();
    let differing = a.iter().zip(b).enumerate().filter(|(_, (x, y))| x != y);
    let mut found = false;
    let width = a.len().min(b.len()).to_string().len();
    for (at, (x, y)) in differing {
        found = true;
        if settings.quiet {
            return 1;
        }
        if settings.all {
            let line = match settings.show_bytes {
                true => format!("{:>width$} {x:3o} {:<4} {y:3o} {}\n", at + 1, shown(*x), shown(*y)),
                false => format!("{:>width$} {x:3o} {y:3o}\n", at + 1),
            };
            out.push_str(&line);
            continue;
        }
        let line = a[..at].iter().filter(|it| **it == b'\n').count() + 1;
        let bytes = match settings.show_bytes {
            true => format!(" is {x:3o} {} {y:3o} {}", shown(*x), shown(*y)),
            false => String::new(),
        };
        let text = format!("{left} {right} differ: byte {}, line {line}{bytes}\n", at + 1);
        return if crate::print(text.as_bytes()) { 1 } else { TROUBLE };
    }
    if !crate::print(out.as_bytes()) {
        return TROUBLE;
    }
    if a.len() == b.len() {
        return i32::from(found);
    }
    if !settings.quiet {
        let (short, bytes) = if a.len() < b.len() { (left, a) } else { (right, b) };
        let text = match (bytes.len(), settings.all) {
            (0, _) => format!("EOF on {short} which is empty"),
            (count, true) => format!("EOF on {short} after byte {count}"),
            (count, false) => {
                let lines = bytes.iter().filter(|it| **it == b'\n').count();
                match bytes.ends_with(b"\n") {
                    true => format!("EOF on {short} after byte {count}, line {lines}"),
                    false => format!("EOF on {short} after byte {count}, in line {}", lines + 1),
                }
            }
        };
        complain("cmp", &text);
    }
    1
}

/// A byte as `cat -v` has it.
fn shown(byte: u8) -> String {
    let (mark, byte) = if byte >= 128 { ("M-", byte - 128) } else { ("", byte) };
    match byte {
        0..32 => format!("{mark}^{}", char::from(byte + 64)),
        127 => format!("{mark}^?"),
        _ => format!("{mark}{}", char::from(byte)),
    }
}

fn parse(args: &[String]) -> Result<Option<Settings>, String> {
    let mut settings = Settings::default();
    for item in options::parse(args, TABLE, Order::Anywhere)? {
        match item {
            Item::Flag("b", _) => settings.show_bytes = true,
            Item::Flag("l", _) => settings.all = true,
            Item::Flag("s", _) => settings.quiet = true,
            Item::Flag("n", Some(text)) => settings.limit = Some(number(&text)?),
            Item::Flag("i", Some(text)) => {
                let (first, second) = text.split_once(':').unwrap_or((&text, &text));
                settings.skip = [number(first)?, number(second)?];
            }
            Item::Flag(..) => return Ok(None),
            Item::Operand(word) if settings.files.len() < 2 => settings.files.push(word),
            Item::Operand(word) => settings.skip[1] = number(&word)?,
        }
    }
    match settings.files.len() {
        0 => return Err("missing operand after 'cmp'".to_owned()),
        1 => settings.files.push("-".to_owned()),
        _ => {}
    }
    Ok(Some(settings))
}

fn number(text: &str) -> Result<usize, String> {
    let end = text.find(|it: char| !it.is_ascii_digit()).unwrap_or(text.len());
    let unit = match &text[end..] {
        "" => Some(1),
        "k" | "K" | "KiB" => Some(1 << 10),
        "kB" | "KB" => Some(1000),
        "M" | "MiB" => Some(1 << 20),
        _ => None,
    };
    let value = text[..end].parse::<usize>().ok().zip(unit).and_then(|(value, unit)| value.checked_mul(unit));
    value.ok_or_else(|| format!("invalid --bytes value '{text}'"))
}
