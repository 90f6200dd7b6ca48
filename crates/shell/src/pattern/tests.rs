//! Patterns as a table.

use super::{Pattern, escape, is_pattern};

fn pattern(text: &str) -> Pattern {
    Pattern::with_case(text, false)
}

#[test]
fn patterns_match_what_bash_matches() {
    let cases = [
        ("abc", "abc", true),
        ("abc", "abcd", false),
        ("*", "", true),
        ("a*c", "abbbc", true),
        ("a*c", "abbbd", false),
        ("?", "x", true),
        ("?", "", false),
        ("[abc]", "b", true),
        ("[!abc]", "b", false),
        ("[^abc]", "z", true),
        ("[a-c]x", "bx", true),
        ("[]a]", "]", true),
        ("[a-]", "-", true),
        ("[[:digit:]]*", "9x", true),
        ("[[:alpha:][:digit:]]", "_", false),
        ("[", "[", true),
        ("\\*", "*", true),
        ("\\*", "x", false),
        ("@(a|b)", "b", true),
        ("@(a|b)", "ab", false),
        ("?(a)b", "b", true),
        ("*(ab)", "ababab", true),
        ("*(ab)", "aba", false),
        ("+(ab)", "", false),
        ("!(a)", "b", true),
        ("!(a)", "a", false),
        ("!(*.txt)", "x.md", true),
        ("*.@(jpg|png)", "x.png", true),
        ("+([0-9])", "123", true),
        ("+([0-9])", "12a", false),
        ("a@(b|c@(d|e))f", "acef", true),
        ("é?", "éé", true),
    ];
    for (pattern, text, want) in cases {
        assert_eq!(self::pattern(pattern).matches(text), want, "{pattern} {text}");
    }
}

#[test]
fn escaped_text_matches_only_itself() {
    for text in ["a*b", "[x]", "a\\b", "@(a)", "plain", "?"] {
        let mut escaped = String::new();
        escape(text, &mut escaped);
        assert!(!is_pattern(&escaped), "{text}");
        assert!(pattern(&escaped).matches(text), "{text}");
    }
}

#[test]
fn no_pattern_makes_the_matcher_explode() {
    let text = "a".repeat(2_000);
    for pattern in ["*a*a*a*a*a*a*a*a*b", "*(a|aa|aaa)b", "+(*(a))b"] {
        assert!(!self::pattern(pattern).matches(&text), "{pattern}");
    }
}

#[test]
fn groups_in_groups_give_up_and_say_so() {
    let spaces = " ".repeat(20_000);
    let text: Vec<char> = spaces.chars().collect();
    let many = pattern("*( )b");
    assert!((0..text.len()).all(|from| many.end_from(&text, from, true).is_none()));
    assert!(many.tired());
    let not = pattern("*!(*!(*!(*!(*!(x)))))");
    not.matches(&spaces[..200]);
    assert!(not.tired());
    let plain = pattern("*.@(jpg|png)");
    assert!(plain.matches("x.png") && !plain.tired());
}
