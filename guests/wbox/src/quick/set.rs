//! The sets of `tr`: bytes, ranges, escapes and classes.

/// The bytes of a set in order; `None` if it has repeats, equivalences, a range that runs backwards, or
/// more than ASCII.
pub fn bytes(set: &[u8]) -> Option<Vec<u8>> {
    let mut all = Vec::with_capacity(set.len());
    let mut rest = set;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix(b"[:") {
            let end = after.windows(2).position(|it| it == b":]")?;
            all.extend(class(&after[..end])?);
            rest = &after[end + 2..];
            continue;
        }
        if rest.starts_with(b"[=") || (rest[0] == b'[' && rest.get(2) == Some(&b'*')) {
            return None;
        }
        let (first, after) = sign(rest)?;
        rest = after;
        let range = rest.strip_prefix(b"-").filter(|after| !after.is_empty());
        let Some(after) = range else {
            all.push(first);
            continue;
        };
        let (last, after) = sign(after)?;
        rest = after;
        if first > last {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

/// Whether a set may stand for the result of a translation: of classes, only the cases of letters.
pub fn is_result(set: &[u8]) -> bool {
    let mut rest = set;
    while let Some(at) = rest.windows(2).position(|it| it == b"[:") {
        rest = &rest[at + 2..];
        if !rest.starts_with(b"upper:]") && !rest.starts_with(b"lower:]") {
            return false;
        }
    }
    true
}

fn sign(text: &[u8]) -> Option<(u8, &[u8])> {
    let (first, rest) = text.split_first()?;
    if *first != b'\\' {
        return first.is_ascii().then_some((*first, rest));
    }
    let (escaped, after) = rest.split_first()?;
    let byte = match escaped {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'v' => 11,
        b'\\' => b'\\',
        b'0'..=b'7' => return octal(rest),
        punctuation if punctuation.is_ascii_punctuation() => *punctuation,
        _ => return None,
    };
    Some((byte, after))
}

fn octal(text: &[u8]) -> Option<(u8, &[u8])> {
    let count = text.iter().take(3).take_while(|it| matches!(it, b'0'..=b'7')).count();
    let value = text[..count].iter().fold(0u32, |sum, digit| sum * 8 + u32::from(digit - b'0'));
    Some((u8::try_from(value).ok()?, &text[count..]))
}

fn class(name: &[u8]) -> Option<Vec<u8>> {
    let has: fn(&u8) -> bool = match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| byte.is_ascii_graphic() || *byte == b' ',
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| matches!(byte, b' ' | b'\t'..=b'\r'),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    };
    Some((0..128).filter(has).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_written_out_and_what_is_unusual_is_left_to_coreutils() {
        let cases: [(&[u8], Option<&[u8]>); 11] = [
            (b"a-cx", Some(b"abcx")),
            (br"\n\t\\", Some(b"\n\t\\")),
            (br"\101-\103", Some(b"ABC")),
            (b"a-", Some(b"a-")),
            (b"-a", Some(b"-a")),
            (b"[:digit:]x", Some(b"0123456789x")),
            (b"[a]", Some(b"[a]")),
            (b"c-a", None),
            (b"[=a=]", None),
            (b"[x*3]", None),
            (b"[:nope:]", None),
        ];
        for (set, want) in cases {
            assert_eq!(bytes(set).as_deref(), want, "{set:?}");
        }
        assert!(is_result(b"[:upper:]x") && !is_result(b"[:digit:]"));
    }
}
