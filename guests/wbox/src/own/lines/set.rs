//! The sets of `tr`: bytes, ranges, escapes, classes and repeats.

/// Repeats are cut where nobody can tell any more.
const REPEAT_MAX: usize = 1 << 16;

/// A set as it is written.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Set(Vec<Part>);

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Bytes(Vec<u8>),
    Class(Vec<u8>, Case),
    /// `[c*]`: as often as it takes to reach the length of the other set.
    Fill(u8),
}

/// Which classes may be a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Letters,
    Other,
}

impl Set {
    pub fn read(text: &[u8]) -> Result<Self, String> {
        let (mut parts, mut rest) = (Vec::new(), text);
        while !rest.is_empty() {
            if let Some((part, after)) = bracket(rest)? {
                parts.push(part);
                rest = after;
                continue;
            }
            let (first, after) = sign(rest);
            rest = after;
            let range = rest.strip_prefix(b"-").filter(|after| !after.is_empty());
            let Some(after) = range else {
                parts.push(Part::Bytes(vec![first]));
                continue;
            };
            let (last, after) = sign(after);
            rest = after;
            if first > last {
                return Err(format!(
                    "range-endpoints of '{}-{}' are in reverse collating sequence order",
                    char::from(first),
                    char::from(last)
                ));
            }
            parts.push(Part::Bytes((first..=last).collect()));
        }
        Ok(Self(parts))
    }

    /// Whether something in it depends on the other set.
    pub fn has_fill(&self) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Fill(_)))
    }

    /// Whether it may stand for the result of a translation: of classes, only the cases of letters.
    pub fn may_be_result(&self) -> bool {
        !self.0.iter().any(|part| matches!(part, Part::Class(_, Case::Other)))
    }
}

/// The bytes in order; `[c*]` fills up to `length`.
pub fn expand(set: &Set, length: usize) -> Vec<u8> {
    let fixed: usize = set.0.iter().map(|part| part.len()).sum();
    let mut all = Vec::with_capacity(fixed);
    for part in &set.0 {
        match part {
            Part::Bytes(bytes) | Part::Class(bytes, _) => all.extend_from_slice(bytes),
            Part::Fill(byte) => all.extend(std::iter::repeat_n(*byte, length.saturating_sub(fixed))),
        }
    }
    all
}

impl Part {
    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) | Self::Class(bytes, _) => bytes.len(),
            Self::Fill(_) => 0,
        }
    }
}

/// What begins with a bracket and is more than that.
fn bracket(text: &[u8]) -> Result<Option<(Part, &[u8])>, String> {
    if let Some(after) = text.strip_prefix(b"[:")
        && let Some(end) = after.windows(2).position(|it| it == b":]")
    {
        let name = &after[..end];
        let shown = String::from_utf8_lossy(name);
        let bytes = class(name).ok_or_else(|| format!("invalid character class '{shown}'"))?;
        let case = if matches!(name, b"upper" | b"lower") { Case::Letters } else { Case::Other };
        return Ok(Some((Part::Class(bytes, case), &after[end + 2..])));
    }
    if let Some(after) = text.strip_prefix(b"[=")
        && let Some(end) = after.windows(2).position(|it| it == b"=]").filter(|end| *end > 0)
    {
        let (one, rest) = sign(&after[..end]);
        if !rest.is_empty() {
            let shown = String::from_utf8_lossy(&after[..end]);
            return Err(format!("{shown}: equivalence class operand must be a single character"));
        }
        return Ok(Some((Part::Bytes(vec![one]), &after[end + 2..])));
    }
    let Some(after) = text.strip_prefix(b"[").filter(|it| !it.is_empty()) else { return Ok(None) };
    let (byte, after) = sign(after);
    let Some(after) = after.strip_prefix(b"*") else { return Ok(None) };
    let Some(end) = after.iter().position(|it| *it == b']') else { return Ok(None) };
    let digits = std::str::from_utf8(&after[..end]).unwrap_or("?");
    let rest = &after[end + 1..];
    if digits.is_empty() {
        return Ok(Some((Part::Fill(byte), rest)));
    }
    let radix = if digits.starts_with('0') { 8 } else { 10 };
    let count = usize::from_str_radix(digits, radix)
        .map_err(|_| format!("invalid repeat count '{digits}' in [c*n] construct"))?;
    match count {
        0 => Ok(Some((Part::Fill(byte), rest))),
        _ => Ok(Some((Part::Bytes(vec![byte; count.min(REPEAT_MAX)]), rest))),
    }
}

/// The next byte, escapes taken for what they stand for. The text is not empty.
fn sign(text: &[u8]) -> (u8, &[u8]) {
    let Some((first, rest)) = text.split_first() else { return (0, text) };
    let Some((escaped, after)) = rest.split_first().filter(|_| *first == b'\\') else {
        return (*first, rest);
    };
    let byte = match escaped {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'v' => 11,
        b'0'..=b'7' => return octal(rest),
        other => *other,
    };
    (byte, after)
}

fn octal(text: &[u8]) -> (u8, &[u8]) {
    let count = text.iter().take(3).take_while(|it| matches!(it, b'0'..=b'7')).count();
    let value =
        |count: usize| text[..count].iter().fold(0u32, |sum, digit| sum * 8 + u32::from(digit - b'0'));
    // `\400` is `\40` and a zero.
    let count = if value(count) > 255 { count - 1 } else { count };
    (value(count) as u8, &text[count..])
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
    fn sets_are_written_out() {
        let cases: [(&[u8], &[u8]); 13] = [
            (b"a-cx", b"abcx"),
            (br"\n\t\\", b"\n\t\\"),
            (br"\101-\103", b"ABC"),
            (b"a-", b"a-"),
            (b"-a", b"-a"),
            (b"[:digit:]x", b"0123456789x"),
            (b"[a]", b"[a]"),
            (b"[=a=]", b"a"),
            (b"[x*3]", b"xxx"),
            (b"[x*]y", b"xxxxy"),
            (b"[x*02]", b"xx"),
            (b"\xc3\xa9", b"\xc3\xa9"),
            (br"\400", b" 0"),
        ];
        for (set, want) in cases {
            assert_eq!(Set::read(set).map(|set| expand(&set, 5)), Ok(want.to_vec()), "{set:?}");
        }
        for bad in [&b"c-a"[..], b"[:nope:]", b"[=ab=]", b"[x*9z]"] {
            assert!(Set::read(bad).is_err(), "{bad:?}");
        }
        assert!(Set::read(b"[:upper:]x").is_ok_and(|it| it.may_be_result()));
        assert!(Set::read(b"[:digit:]").is_ok_and(|it| !it.may_be_result()));
    }
}
