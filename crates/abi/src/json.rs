//! JSON as text that somebody else wrote: made readable, weighed and measured without recursion.
//!
//! JavaScript writes half a surrogate pair as an escape of its own, which no Rust string can hold;
//! here it becomes U+FFFD. Nothing else of a text is changed.

use std::borrow::Cow;

/// The text with every unpaired surrogate escape replaced by `\ufffd`. What is no JSON comes back as
/// it was, or is no JSON afterwards either.
pub fn mend_surrogates(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut mended = String::new();
    let (mut at, mut kept) = (0, 0);
    while let Some(offset) = memchr::memchr(b'\\', &bytes[at..]) {
        at += offset;
        let Some(unit) = escaped_unit(&bytes[at..]) else {
            // Any other escape: its second byte is no start of another.
            at = bytes.len().min(at + 2);
            continue;
        };
        let high = (0xd800..0xdc00).contains(&unit);
        let paired = || escaped_unit(&bytes[at + 6..]).is_some_and(|low| (0xdc00..0xe000).contains(&low));
        if high && paired() {
            at += 12;
            continue;
        }
        if (0xd800..0xe000).contains(&unit) {
            mended.push_str(&text[kept..at]);
            mended.push_str("\\ufffd");
            kept = at + 6;
        }
        at += 6;
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    mended.push_str(&text[kept..]);
    Cow::Owned(mended)
}

/// The code unit of `\uXXXX` at the start of the bytes.
fn escaped_unit(bytes: &[u8]) -> Option<u32> {
    let [b'\\', b'u', digits @ ..] = bytes.get(..6)? else { return None };
    digits.iter().try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?))
}

/// How deep lists and objects lie inside each other: 0 for a scalar. Looks at brackets outside of
/// strings only, so it is right for JSON and harmless for anything else.
pub fn depth(text: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => skip_string(&mut bytes),
            _ => {}
        }
    }
    deepest
}

fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unpaired_surrogates_are_replaced() {
        for (text, want) in [
            (r#""plain""#, r#""plain""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""a\uD800b\uDFFFc""#, r#""a\ufffdb\ufffdc""#),
            (r#""\\ud800""#, r#""\\ud800""#),
            (r#""\\\ud800""#, r#""\\\ufffd""#),
            (r#""é\ud800é""#, r#""é\ufffdé""#),
            (r#""\ud8"#, r#""\ud8"#),
            (r"\", r"\"),
            (r"\u12é4", r"\u12é4"),
            (r"\é", r"\é"),
        ] {
            assert_eq!(mend_surrogates(text), want, "{text}");
        }
    }

    #[test]
    fn depth_counts_brackets_outside_of_strings() {
        for (text, want) in [("1", 0), ("[]", 1), (r#"{"a":[1,{"[[[":"]\"[["}]}"#, 3), ("]]]", 0), ("\"[", 0)]
        {
            assert_eq!(depth(text.as_bytes()), want, "{text}");
        }
        assert_eq!(depth("[".repeat(1_000_000).as_bytes()), 1_000_000);
    }
}
