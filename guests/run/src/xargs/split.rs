//! Cuts the input of `xargs` into items.

/// How the input is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// At blanks and ends of lines; quotes and backslashes keep them.
    Words,
    /// At ends of lines, without leading blanks; quotes as in `Words`.
    Lines,
    /// At this byte, and nothing is special.
    At(u8),
}

/// An item, and whether a line ended with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub bytes: Vec<u8>,
    pub ends_line: bool,
}

/// All items up to the one that says `end`.
pub(super) fn split(input: &[u8], cut: Cut, end: Option<&[u8]>) -> Result<Vec<Item>, String> {
    let items = match cut {
        Cut::At(byte) => at(input, byte),
        _ => quoted(input, cut)?,
    };
    let Some(end) = end.filter(|it| !it.is_empty() && !matches!(cut, Cut::At(_))) else { return Ok(items) };
    Ok(items.into_iter().take_while(|item| item.bytes != end).collect())
}

fn at(input: &[u8], byte: u8) -> Vec<Item> {
    let mut parts: Vec<&[u8]> = input.split(|it| *it == byte).collect();
    if parts.last().is_some_and(|it| it.is_empty()) {
        parts.pop();
    }
    parts.into_iter().map(|it| Item { bytes: it.to_vec(), ends_line: true }).collect()
}

fn quoted(input: &[u8], cut: Cut) -> Result<Vec<Item>, String> {
    let mut items: Vec<Item> = Vec::new();
    let mut current: Option<Vec<u8>> = None;
    let mut bytes = input.iter().copied();
    // A line that ends in a blank goes on, for those who count lines.
    let mut after_blank = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'\n' => {
                if let Some(bytes) = current.take() {
                    items.push(Item { bytes, ends_line: !after_blank });
                } else if !after_blank && let Some(last) = items.last_mut() {
                    last.ends_line = true;
                }
                after_blank = false;
                continue;
            }
            b' ' | b'\t' if cut == Cut::Words || current.is_none() => {
                if let Some(bytes) = current.take() {
                    items.push(Item { bytes, ends_line: false });
                }
                after_blank = true;
                continue;
            }
            b'\\' => {
                let Some(next) = bytes.next() else { break };
                current.get_or_insert_default().push(next);
                after_blank = next == b' ' || next == b'\t';
                continue;
            }
            quote @ (b'"' | b'\'') => {
                let word = current.get_or_insert_default();
                loop {
                    match bytes.next() {
                        Some(byte) if byte == quote => break,
                        None | Some(b'\n') => return Err(unmatched(quote)),
                        Some(byte) => word.push(byte),
                    }
                }
            }
            other => current.get_or_insert_default().push(other),
        }
        after_blank = false;
    }
    if let Some(bytes) = current {
        items.push(Item { bytes, ends_line: true });
    }
    Ok(items)
}

fn unmatched(quote: u8) -> String {
    let kind = if quote == b'"' { "double" } else { "single" };
    format!("unmatched {kind} quote; by default quotes are special to xargs unless you use the -0 option")
}

/// The byte that `-d` names: a letter, `\n`, `\t`, `\0`, `\x41` or `\101`.
pub(super) fn delimiter(text: &str) -> Option<u8> {
    let bytes = text.as_bytes();
    match bytes {
        [byte] => Some(*byte),
        [b'\\', b'x', digits @ ..] => u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok(),
        [b'\\', digits @ ..] if digits.iter().all(|it| (b'0'..b'8').contains(it)) && !digits.is_empty() => {
            u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
        }
        [b'\\', letter] => Some(match letter {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'v' => 11,
            b'\\' => b'\\',
            _ => return None,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(input: &str, cut: Cut) -> Vec<String> {
        let items = split(input.as_bytes(), cut, None).unwrap_or_default();
        items.iter().map(|it| String::from_utf8_lossy(&it.bytes).into_owned()).collect()
    }

    #[test]
    fn items_end_at_blanks_unless_quoted() {
        assert_eq!(words("a b\n c\t\"d e\" f\\ g 'h'i\n\n", Cut::Words), ["a", "b", "c", "d e", "f g", "hi"]);
        assert_eq!(words("  a b \n\nc\n", Cut::Lines), ["a b ", "c"]);
        assert_eq!(words("a\0b c\0\0", Cut::At(0)), ["a", "b c", ""]);
        assert_eq!(words("'' x", Cut::Words), ["", "x"]);
        assert!(split(b"it's", Cut::Words, None).is_err());
        let ended = split(b"a END b", Cut::Words, Some(b"END")).unwrap_or_default();
        assert_eq!(ended.len(), 1);
    }

    proptest! {
        #[test]
        fn no_input_makes_it_panic(input in prop::collection::vec(any::<u8>(), 0..200)) {
            for cut in [Cut::Words, Cut::Lines, Cut::At(0)] {
                let _ = split(&input, cut, Some(b"x"));
            }
        }
    }
}
