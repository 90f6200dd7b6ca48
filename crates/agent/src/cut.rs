//! Texts that are too long for who reads them: the head and the tail stay, and what was left out is said in between.

/// The least that a cut text may be: smaller bounds would have no room for the note.
pub const CUT_BYTES_MIN: usize = 256;

/// The text in at most `bytes_max` bytes (or [`CUT_BYTES_MIN`], if that is more); none if it is no longer than that. The
/// note between head and tail says how many bytes are missing, and where the whole is.
pub fn cut(text: &str, bytes_max: usize, whole: Option<&str>) -> Option<String> {
    let bytes_max = bytes_max.max(CUT_BYTES_MIN);
    if text.len() <= bytes_max {
        return None;
    }
    // A path longer than that names nothing that a model could open.
    let whole = whole.filter(|it| it.len() <= CUT_BYTES_MIN / 2);
    let note = |missing: usize| match whole {
        Some(path) => format!("\n...[{missing} bytes truncated; the whole is in {path}]...\n"),
        None => format!("\n...[{missing} bytes truncated]...\n"),
    };
    // As long as it can be: fewer bytes are missing than there are.
    let room = bytes_max - note(text.len()).len();
    let head = text.floor_char_boundary(room - room / 2);
    let tail = text.ceil_char_boundary(text.len() - room / 2);
    Some(format!("{}{}{}", &text[..head], note(tail - head), &text[tail..]))
}

/// The beginning of a text, in at most so many bytes.
pub(crate) fn beginning(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn head_and_tail_stay_and_the_middle_is_counted() {
        let text = format!("HEAD{}TAIL", "x".repeat(10_000));
        let short = cut(&text, 300, Some("/workspace/.drydock/1-0.txt")).unwrap();
        assert!(short.starts_with("HEADx") && short.ends_with("xTAIL") && short.len() <= 300, "{short}");
        assert!(short.contains("bytes truncated; the whole is in /workspace/.drydock/1-0.txt]"), "{short}");
        assert_eq!(cut("short", 300, None), None);
        assert!(!cut(&text, 0, Some(&"p".repeat(1000))).unwrap().contains("pp"));
    }

    proptest! {
        #[test]
        fn a_cut_text_keeps_its_bound_and_says_exactly_what_is_missing(text in "[aü€😀]{0,600}", bytes_max in 0_usize..1500) {
            let Some(short) = cut(&text, bytes_max, None) else {
                prop_assert!(text.len() <= bytes_max.max(CUT_BYTES_MIN));
                return Ok(());
            };
            prop_assert!(short.len() <= bytes_max.max(CUT_BYTES_MIN));
            let (head, rest) = short.split_once("\n...[").unwrap();
            let (missing, tail) = rest.split_once(" bytes truncated]...\n").unwrap();
            prop_assert!(text.starts_with(head) && text.ends_with(tail));
            prop_assert_eq!(missing.parse::<usize>().unwrap(), text.len() - head.len() - tail.len());
        }
    }
}
