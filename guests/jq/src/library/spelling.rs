//! Spellings of a program that jq knows and jaq does not, put in a form both know.

/// A character beyond the first 65,536 as two `\u` escapes becomes the character itself.
pub fn normal(program: &str) -> String {
    let mut out = String::with_capacity(program.len());
    let mut rest = program;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let used = match pair(escape) {
            Some(sign) => {
                out.push(sign);
                12
            }
            None => {
                // The backslash and what it escapes, which may be a backslash.
                let used = escape.chars().take(2).map(char::len_utf8).sum();
                out.push_str(&escape[..used]);
                used
            }
        };
        rest = &escape[used..];
    }
    out + rest
}

fn pair(escape: &str) -> Option<char> {
    let half = |from: usize| {
        let digits = escape.get(from..from + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let (high, low) = (half(0)?, half(6)?);
    if !(0xd800..0xdc00).contains(&high) || !(0xdc00..0xe000).contains(&low) {
        return None;
    }
    char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_whole_pairs_change() {
        let cases = [
            (r#""\ud83e\udd80!""#, "\"🦀!\""),
            (r#""\\ud83e\udd80""#, r#""\\ud83e\udd80""#),
            (r#""\u00e9\n\(.a)""#, r#""\u00e9\n\(.a)""#),
            ("\\", "\\"),
        ];
        for (program, want) in cases {
            assert_eq!(super::normal(program), want);
        }
    }
}
