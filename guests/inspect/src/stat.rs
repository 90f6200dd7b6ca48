//! `stat`: the facts about files, in a format of the caller's.

use crate::{complain, print};
use facts::{Facts, Follow, Kind, Time, owner};
use options::{Item, Order};
use std::path::Path;

const TABLE: &[&str] =
    &["c,format=", "printf=", "L,dereference", "t,terse", "f,file-system", "cached=", "help", "version"];
const HELP: &str = "Usage: stat [OPTION]... FILE...
Display file status.

  -L, --dereference     follow links
  -c  --format=FORMAT   use the specified FORMAT instead of the default; output a newline after each use
      --printf=FORMAT   like --format, but interpret backslash escapes, and do not output a newline
  -t, --terse           print the information in terse form

FORMAT: %a %A modes, %b %B blocks, %d %i device and inode, %f raw mode, %F type, %g %G group, %h links,
%n %N name, %o block size, %s size, %u %U owner, %w %W birth, %x %X access, %y %Y modify, %z %Z change.

Everything here belongs to one user.
";
const DEFAULT: &str = "  File: %n%l\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\n\
    Device: %Hd,%Ld\tInode: %-10i  Links: %h\n\
    Access: (%04a/%10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\n\
    Access: %x\nModify: %y\nChange: %z\n Birth: %w\n";
const TERSE: &str = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n";
const WIDTH_MAX: usize = 4096;

/// Shows each file and returns the exit status.
pub(crate) fn run(args: &[String]) -> i32 {
    let items = match options::parse(args, TABLE, Order::Anywhere) {
        Ok(items) => items,
        Err(problem) => {
            return complain("stat", &format!("{problem}\nTry 'stat --help' for more information."));
        }
    };
    let (mut format, mut end, mut escapes, mut follow) = (DEFAULT.to_owned(), "", false, Follow::No);
    let mut files = Vec::new();
    for item in items {
        match item {
            Item::Flag("c", Some(text)) => (format, end, escapes) = (text, "\n", false),
            Item::Flag("printf", Some(text)) => (format, end, escapes) = (text, "", true),
            Item::Flag("L", _) => follow = Follow::Yes,
            Item::Flag("t", _) => (format, end) = (TERSE.to_owned(), ""),
            Item::Flag("f", _) => return complain("stat", "-f: there is no file system to tell of"),
            Item::Flag("help", _) => return print(HELP.as_bytes()),
            Item::Flag(..) => {}
            Item::Operand(file) => files.push(file),
        }
    }
    if files.is_empty() {
        return complain("stat", "missing operand\nTry 'stat --help' for more information.");
    }
    let (mut out, mut status) = (String::new(), 0);
    for name in &files {
        match facts::of(Path::new(name), follow) {
            Ok(facts) => {
                out.push_str(&fill(&format, escapes, name, &facts));
                out.push_str(end);
            }
            Err(error) => {
                status = print(out.as_bytes()).max(1);
                out.clear();
                complain("stat", &format!("cannot statx '{name}': {}", place::reason(&error)));
            }
        }
    }
    status.max(print(out.as_bytes()))
}

/// What a kind is called in a sentence.
pub(crate) fn kind_words(facts: &Facts) -> &'static str {
    match facts.kind {
        Kind::File if facts.size == 0 => "regular empty file",
        Kind::File => "regular file",
        Kind::Directory => "directory",
        Kind::Symlink => "symbolic link",
        Kind::Fifo => "fifo",
        Kind::Socket => "socket",
        Kind::Character => "character special file",
        Kind::Block => "block special file",
    }
}

fn fill(format: &str, escapes: bool, name: &str, facts: &Facts) -> String {
    let mut out = String::new();
    let mut letters = format.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if escapes => match letters.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some('\\') => out.push('\\'),
                Some('"') => out.push('"'),
                Some(digit @ '0'..='7') => {
                    let mut value = digit.to_digit(8).unwrap_or(0);
                    for _ in 0..2 {
                        let Some(next) = letters.peek().and_then(|it| it.to_digit(8)) else { break };
                        letters.next();
                        value = value * 8 + next;
                    }
                    out.push(char::from(value as u8));
                }
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            '%' => {
                let mut flags = String::new();
                while let Some(flag) = letters.next_if(|it| matches!(it, '-' | '0' | '+' | ' ' | '#' | '\''))
                {
                    flags.push(flag);
                }
                let width = number(&mut letters).unwrap_or(0).min(WIDTH_MAX);
                let precision = letters.next_if_eq(&'.').map(|_| number(&mut letters).unwrap_or(9));
                let part = letters.next_if(|it| matches!(it, 'H' | 'L'));
                let Some(what) = letters.next() else {
                    out.push('%');
                    break;
                };
                let text = value(what, part, precision, name, facts);
                let text = if flags.contains('#') && what == 'a' { format!("0{text}") } else { text };
                // By hand: `format!` panics where a width is more than 65,535.
                let fill = width.saturating_sub(text.chars().count());
                if flags.contains('-') {
                    out.push_str(&text);
                    out.extend(std::iter::repeat_n(' ', fill));
                } else {
                    out.extend(std::iter::repeat_n(if flags.contains('0') { '0' } else { ' ' }, fill));
                    out.push_str(&text);
                }
            }
            other => out.push(other),
        }
    }
    out
}

fn number(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<usize> {
    let mut value = None;
    while let Some(digit) = letters.peek().and_then(|it| it.to_digit(10)) {
        letters.next();
        value = Some(value.unwrap_or(0usize).saturating_mul(10).saturating_add(digit as usize));
    }
    value
}

fn target(name: &str, facts: &Facts) -> Option<String> {
    let target = (facts.kind == Kind::Symlink).then(|| std::fs::read_link(name).ok())??;
    Some(target.to_string_lossy().into_owned())
}

/// As a shell would take it.
fn quoted(name: &str) -> String {
    match name.contains('\'') {
        true if !name.contains(['"', '$', '`', '\\', '!']) => format!("\"{name}\""),
        true => format!("'{}'", name.replace('\'', "'\\''")),
        false => format!("'{name}'"),
    }
}

fn value(what: char, part: Option<char>, precision: Option<usize>, name: &str, facts: &Facts) -> String {
    let seconds = |time: Time| match precision {
        Some(digits) => format!("{}.{}", time.seconds, &format!("{:09}", time.nanos)[..digits.min(9)]),
        None => time.seconds.to_string(),
    };
    let (major, minor) = (facts.device >> 8 & 0xfff, facts.device & 0xff | facts.device >> 12 & 0xfff00);
    match what {
        '%' => "%".to_owned(),
        'n' => name.to_owned(),
        'N' => format!(
            "{}{}",
            quoted(name),
            target(name, facts).map_or(String::new(), |it| format!(" -> {}", quoted(&it)))
        ),
        // Ours, for the default format: where a link leads, without quotes.
        'l' => target(name, facts).map_or(String::new(), |it| format!(" -> {it}")),
        's' => facts.size.to_string(),
        'b' => facts.blocks.to_string(),
        'B' => "512".to_owned(),
        'o' => "4096".to_owned(),
        'f' => format!("{:x}", facts.kind.bits() | facts.mode),
        'F' => kind_words(facts).to_owned(),
        'a' => format!("{:o}", facts.mode),
        'A' => facts.mode_text(),
        'd' => match part {
            Some('H') => major.to_string(),
            Some(_) => minor.to_string(),
            None => facts.device.to_string(),
        },
        'D' => format!("{:x}", facts.device),
        't' | 'T' => "0".to_owned(),
        'i' => facts.inode.to_string(),
        'h' => facts.links.to_string(),
        'u' => facts.owner.to_string(),
        'g' => facts.group.to_string(),
        'U' => owner::user(facts.owner).unwrap_or_else(|| "UNKNOWN".to_owned()),
        'G' => owner::group(facts.group).unwrap_or_else(|| "UNKNOWN".to_owned()),
        'm' => "/".to_owned(),
        // When a file was made is not known here; the last change is as near as it gets.
        'w' => facts.changed.full(),
        'W' => seconds(facts.changed),
        'x' => facts.accessed.full(),
        'X' => seconds(facts.accessed),
        'y' => facts.modified.full(),
        'Y' => seconds(facts.modified),
        'z' => facts.changed.full(),
        'Z' => seconds(facts.changed),
        'C' => "?".to_owned(),
        other => format!("?{other}"),
    }
}
