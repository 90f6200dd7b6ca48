//! Patterns against texts.

use super::{Options, Regex};

fn found(pattern: &str, text: &str) -> Result<Option<String>, &'static str> {
    let regex = Regex::new(pattern, Options::default())?;
    let found = regex.find(text, 0)?;
    Ok(found.map(|groups| {
        let parts = groups.iter().map(|group| group.map_or("-", |(start, end)| &text[start..end]));
        parts.collect::<Vec<_>>().join(" ")
    }))
}

#[test]
fn the_leftmost_match_wins_and_alternatives_go_in_order() {
    let cases = [
        ("a|ab", "xab", "a"),
        ("(a)(b)?", "ac", "a a -"),
        ("a*?b", "aab", "aab"),
        ("(a+)+b", "aaab", "aaab aaa"),
        ("(?<year>\\d{4})-(\\d\\d)", "on 2024-05", "2024-05 2024 05"),
        ("(?i)ÄB", "äb", "äb"),
        ("(?i:a)b", "Ab", "Ab"),
        ("foo(?=bar)", "foobar", "foo"),
        ("foo(?!bar)", "foobar foobaz", "foo"),
        ("(?<=\\$)\\d+", "cost $42", "42"),
        ("(?<!a)b", "abcb", "b"),
        ("(a)\\1", "aa", "aa a"),
        ("(?<q>['\"]).*?\\k<q>", "x 'y' z", "'y' '"),
        ("[[:alpha:]_-]+", "1ab-c2", "ab-c"),
        ("[^a-c&&[^x]]", "abcz", "z"),
        ("\\bw\\w*", "a word", "word"),
        ("x{2,3}", "xxxx", "xxx"),
        ("x{,2}", "xxx", "xx"),
        ("a{", "a{", "a{"),
        ("(?>a+)a|b", "aab", "b"),
        ("a++b", "aab", "aab"),
        ("^b$", "b", "b"),
        ("(a*)*", "b", " "),
        ("\\p{Lu}\\p{Ll}+", "xÄhn", "Ähn"),
        ("(?x) a b # c", "ab", "ab"),
        ("\\x41\\u0042\\x{43}", "ABC", "ABC"),
    ];
    for (pattern, text, want) in cases {
        assert_eq!(found(pattern, text), Ok(Some(want.to_owned())), "{pattern}");
    }
}

#[test]
fn a_wrong_pattern_is_told_in_oniguruma_s_words() {
    let cases = [
        ("(", "end pattern with unmatched parenthesis"),
        (")", "unmatched close parenthesis"),
        ("*", "target of repeat operator is not specified"),
        ("[a", "premature end of char-class"),
        ("\\", "end pattern at escape"),
        ("[z-a]", "empty range in char class"),
        ("(?<>a)", "group name is empty"),
    ];
    for (pattern, want) in cases {
        assert_eq!(found(pattern, ""), Err(want), "{pattern}");
    }
}

#[test]
fn hostile_patterns_end() {
    assert!(found("(a*)*c", &"a".repeat(30)).is_err() || found("(a*)*c", &"a".repeat(30)) == Ok(None));
    assert!(found(&"(".repeat(5000), "").is_err());
    assert!(found("((a{1000}){1000}){1000}", "a").is_err());
}
