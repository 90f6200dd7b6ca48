//! Escapes that stand for one character: `\n`, `\t`, `\x41`, `\o101`, `\d065`, `\cA`.

/// What the escape after a backslash stands for, and how many bytes of `text` it took.
pub(super) fn character(text: &[u8]) -> Option<(u8, usize)> {
    let byte = match *text.first()? {
        b'a' => 0x07,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'c' => return Some((text.get(1)?.to_ascii_uppercase() ^ 0x40, 2)),
        b'd' => return number(text, 10, 3),
        b'o' => return number(text, 8, 3),
        b'x' => return number(text, 16, 2),
        _ => return None,
    };
    Some((byte, 1))
}

fn number(text: &[u8], base: u32, digits_max: usize) -> Option<(u8, usize)> {
    let digits = text[1..].iter().take(digits_max).map_while(|it| char::from(*it).to_digit(base));
    let (mut value, mut count) = (0, 0);
    for digit in digits {
        value = value * base + digit;
        count += 1;
    }
    (count > 0).then_some((value as u8, count + 1))
}

/// A pattern with those escapes replaced, so that only those of regular expressions are left.
pub(super) fn in_pattern(pattern: &[u8]) -> Vec<u8> {
    if memchr::memchr(b'\\', pattern).is_none() {
        return pattern.to_vec();
    }
    let mut out = Vec::with_capacity(pattern.len());
    let mut at = 0;
    while at < pattern.len() {
        match pattern[at] {
            b'\\' => {
                let found = character(&pattern[at + 1..]);
                match found {
                    Some((byte, length)) => {
                        push_plain(&mut out, byte);
                        at += 1 + length;
                    }
                    None => {
                        let end = (at + 2).min(pattern.len());
                        out.extend_from_slice(&pattern[at..end]);
                        at = end;
                    }
                }
            }
            b'[' => {
                let end = bracket_end(pattern, at).unwrap_or(pattern.len());
                in_bracket(&pattern[at..end], &mut out);
                at = end;
            }
            byte => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

/// GNU sed lets a number spell an operator, too; only what would leave a pattern broken is plain.
fn push_plain(out: &mut Vec<u8>, byte: u8) {
    if matches!(byte, b'[' | b'\\') {
        out.push(b'\\');
    }
    out.push(byte);
}

fn in_bracket(bracket: &[u8], out: &mut Vec<u8>) {
    let mut at = 0;
    while at < bracket.len() {
        let found = if bracket[at] == b'\\' { character(&bracket[at + 1..]) } else { None };
        match found {
            // What would end the bracket, or change it, is named as POSIX names it.
            Some((byte @ (b']' | b'[' | b'^' | b'-'), length)) => {
                out.extend([b'[', b'.', byte, b'.', b']']);
                at += 1 + length;
            }
            Some((byte, length)) => {
                out.push(byte);
                at += 1 + length;
            }
            _ => {
                out.push(bracket[at]);
                at += 1;
            }
        }
    }
}

/// Where the bracket expression that begins at `at` ends, if it does.
pub(super) fn bracket_end(pattern: &[u8], at: usize) -> Option<usize> {
    let mut end = at + 1;
    end += usize::from(pattern.get(end) == Some(&b'^'));
    end += usize::from(pattern.get(end) == Some(&b']'));
    while let Some(byte) = pattern.get(end) {
        let class = pattern.get(end + 1).copied().filter(|it| matches!(it, b':' | b'.' | b'='));
        match (byte, class) {
            (b']', _) => return Some(end + 1),
            (b'[', Some(kind)) => {
                let rest = &pattern[end + 2..];
                let close = memchr::memmem::find(rest, &[kind, b']']);
                end += close.map_or(1, |length| length + 4);
            }
            _ => end += 1,
        }
    }
    None
}
