//! `-printf`: its format, read once and filled in for each file.

use super::walk::Entry;
use facts::{Facts, Kind, Time, owner};

/// A piece of a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    /// `\c`: nothing after it is printed.
    Stop,
    Field {
        flags: String,
        width: usize,
        precision: Option<usize>,
        what: What,
    },
}

/// What a directive stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Plain(char),
    /// `%TY`: the letter of the time, and the letter of its piece.
    Timed(char, char),
}

/// Wider fields than this are nobody's wish.
const WIDTH_MAX: usize = 4096;

/// Reads a format.
pub(super) fn parse(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('c') => {
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                    parts.push(Part::Stop);
                }
                Some(first @ '0'..='7') => {
                    let mut value = first.to_digit(8).unwrap_or(0);
                    for _ in 0..2 {
                        let Some(digit) = letters.peek().and_then(|it| it.to_digit(8)) else { break };
                        letters.next();
                        value = value * 8 + digit;
                    }
                    plain.push(char::from(value as u8));
                }
                Some(other) => match escape(other) {
                    Some(letter) => plain.push(letter),
                    None => plain.extend(['\\', other]),
                },
                None => plain.push('\\'),
            },
            '%' => {
                if letters.next_if_eq(&'%').is_some() {
                    plain.push('%');
                    continue;
                }
                parts.push(Part::Text(std::mem::take(&mut plain)));
                parts.push(field(&mut letters)?);
            }
            other => plain.push(other),
        }
    }
    parts.push(Part::Text(plain));
    Ok(parts)
}

fn escape(letter: char) -> Option<char> {
    Some(match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'v' => '\x0b',
        '\\' => '\\',
        _ => return None,
    })
}

fn field(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Part, String> {
    let mut flags = String::new();
    while let Some(flag) = letters.next_if(|it| matches!(it, '-' | '+' | ' ' | '#' | '0')) {
        flags.push(flag);
    }
    let width = digits(letters).unwrap_or(0).min(WIDTH_MAX);
    let precision = letters.next_if_eq(&'.').map(|_| digits(letters).unwrap_or(0));
    let missing = || "error: % at end of format string".to_owned();
    let what = match letters.next().ok_or_else(missing)? {
        time @ ('A' | 'B' | 'C' | 'T') => What::Timed(time, letters.next().ok_or_else(missing)?),
        plain if "abcdDfFgGhHiklmMnpPsStuUyYZ".contains(plain) => What::Plain(plain),
        other => return Ok(Part::Text(format!("%{flags}{other}"))),
    };
    Ok(Part::Field { flags, width, precision, what })
}

fn digits(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<usize> {
    let mut value = None;
    while let Some(digit) = letters.peek().and_then(|it| it.to_digit(10)) {
        letters.next();
        value = Some(value.unwrap_or(0usize).saturating_mul(10).saturating_add(digit as usize));
    }
    value
}

/// The format, filled in.
pub(super) fn fill(parts: &[Part], entry: &Entry<'_>) -> String {
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Stop => break,
            Part::Field { flags, width, precision, what } => {
                let mut text = value(*what, entry);
                if let Some(most) = precision {
                    text = text.chars().take(*most).collect();
                }
                // By hand: `format!` panics where a width is more than 65,535.
                let fill = width.saturating_sub(text.chars().count());
                if flags.contains('-') {
                    out.push_str(&text);
                    out.extend(std::iter::repeat_n(' ', fill));
                } else {
                    let zero = flags.contains('0') && text.bytes().all(|it| it.is_ascii_digit());
                    out.extend(std::iter::repeat_n(if zero { '0' } else { ' ' }, fill));
                    out.push_str(&text);
                }
            }
        }
    }
    out
}

fn value(what: What, entry: &Entry<'_>) -> String {
    let path = entry.path.as_str();
    match what {
        What::Plain('p') => return path.to_owned(),
        What::Plain('f') => return entry.name().to_owned(),
        What::Plain('h') => return parent(path).to_owned(),
        What::Plain('H') => return entry.start.to_owned(),
        What::Plain('P') => {
            let below = path.strip_prefix(entry.start).unwrap_or(path);
            return below.trim_start_matches('/').to_owned();
        }
        What::Plain('d') => return entry.depth.to_string(),
        What::Plain('y') => return entry.kind().map_or('U', Kind::letter).to_string(),
        What::Plain('Y') => return entry.target_kind().map_or('N', Kind::letter).to_string(),
        What::Plain('l') => return entry.link_text().unwrap_or_default(),
        What::Plain('F') => return "wasi".to_owned(),
        _ => {}
    }
    let Some(facts) = entry.facts() else { return String::new() };
    match what {
        What::Plain(letter) => plain(letter, &facts),
        What::Timed(which, piece) => {
            let time = match which {
                'A' => facts.accessed,
                'C' => facts.changed,
                _ => facts.modified,
            };
            timed(time, piece)
        }
    }
}

fn plain(letter: char, facts: &Facts) -> String {
    match letter {
        's' => facts.size.to_string(),
        'b' => facts.blocks.to_string(),
        'k' => facts.blocks.div_ceil(2).to_string(),
        'm' => format!("{:o}", facts.mode),
        'M' => facts.mode_text(),
        'n' => facts.links.to_string(),
        'i' => facts.inode.to_string(),
        'D' => facts.device.to_string(),
        'u' => owner::user(facts.owner).unwrap_or_else(|| facts.owner.to_string()),
        'g' => owner::group(facts.group).unwrap_or_else(|| facts.group.to_string()),
        'U' => facts.owner.to_string(),
        'G' => facts.group.to_string(),
        'S' => match facts.size {
            0 => "1".to_owned(),
            size => format!("{}", facts.blocks as f64 * 512.0 / size as f64),
        },
        'a' => long(facts.accessed),
        'c' => long(facts.changed),
        't' => long(facts.modified),
        _ => String::new(),
    }
}

/// `Wed May  1 13:05:09.0000000000 2024`: ten digits after the point, as GNU has it.
fn long(time: Time) -> String {
    let it = |letter| time.piece(letter).unwrap_or_default();
    format!("{} {} {} {}.{:09}0 {}", it('a'), it('b'), it('e'), it('T'), time.nanos, it('Y'))
}

fn timed(time: Time, piece: char) -> String {
    match piece {
        '@' => format!("{}.{:09}0", time.seconds, time.nanos),
        '+' => format!(
            "{}+{}.{:09}0",
            time.piece('F').unwrap_or_default(),
            time.piece('T').unwrap_or_default(),
            time.nanos
        ),
        'S' | 'T' | 'X' => format!("{}.{:09}0", time.piece(piece).unwrap_or_default(), time.nanos),
        'c' => long(time),
        other => time.piece(other).unwrap_or_default(),
    }
}

/// The folder part of a path, `.` if there is none.
pub(super) fn parent(path: &str) -> &str {
    let trimmed = match path.trim_end_matches('/') {
        "" => path,
        other => other,
    };
    match trimmed.rfind('/') {
        Some(0) if trimmed.len() > 1 => "",
        Some(at) => &trimmed[..at],
        None => ".",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parents_are_those_of_gnu() {
        for (path, want) in [("./a", "."), ("a/b/c", "a/b"), ("a", "."), (".", "."), ("/a", ""), ("a/", ".")]
        {
            assert_eq!(parent(path), want, "{path}");
        }
    }

    proptest! {
        #[test]
        fn no_format_makes_it_panic(text in "\\PC{0,30}") {
            let _ = parse(&text);
        }
    }
}
