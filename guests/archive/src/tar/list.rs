//! One member as a line.

use super::header::{Header, Kind};
use calendar::Civil;

/// As `tar -tv` shows it. The column of the size grows, and never shrinks again.
pub(super) fn long(header: &Header, width: &mut usize) -> String {
    let name = shown(&header.name);
    let kind = match header.kind {
        Kind::Directory => 'd',
        Kind::Symbolic => 'l',
        Kind::Hard => 'h',
        Kind::Special(b'3') => 'c',
        Kind::Special(b'4') => 'b',
        Kind::Special(b'6') => 'p',
        _ => '-',
    };
    let size = header.size.to_string();
    let taken = header.user.len() + header.group.len() + size.len() + 1;
    *width = (*width).max(taken);
    let wide = *width - taken + size.len();
    let to = match header.kind {
        Kind::Symbolic => format!(" -> {}", shown(&header.link)),
        Kind::Hard => format!(" link to {}", shown(&header.link)),
        _ => String::new(),
    };
    let (user, group, time) = (&header.user, &header.group, moment(header.mtime));
    format!("{kind}{} {user}/{group} {size:>wide$} {time} {name}{to}", permissions(header.mode))
}

/// The width GNU starts with.
pub(super) const WIDTH: usize = 18;

/// A name with what is not text escaped.
pub(super) fn shown(name: &[u8]) -> String {
    let mut out = String::new();
    for chunk in name.utf8_chunks() {
        for sign in chunk.valid().chars() {
            match sign {
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\\' => out.push_str("\\\\"),
                control if control.is_control() => out.push_str(&format!("\\{:03o}", u32::from(control))),
                plain => out.push(plain),
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\{byte:03o}"));
        }
    }
    out
}

fn permissions(mode: u32) -> String {
    let bits = (0..9).map(|at| if mode >> (8 - at) & 1 == 1 { ['r', 'w', 'x'][at % 3] } else { '-' });
    let mut text: Vec<char> = bits.collect();
    for (bit, at, letter) in [(0o4000, 2, 's'), (0o2000, 5, 's'), (0o1000, 8, 't')] {
        if mode & bit != 0 {
            text[at] = if text[at] == 'x' { letter } else { letter.to_ascii_uppercase() };
        }
    }
    text.into_iter().collect()
}

/// `YYYY-MM-DD HH:MM`, in UTC: a guest knows no other zone.
fn moment(seconds: i64) -> String {
    let it = Civil::at(seconds);
    format!("{:04}-{:02}-{:02} {:02}:{:02}", it.year, it.month, it.day, it.hour, it.minute)
}
