//! POSIX patterns and what they become; every translation is one the regex parser takes.

use super::Flavor::{Awk, Basic, Egrep, Extended, Grep};
use super::*;
use proptest::prelude::*;

#[test]
fn basic_patterns_are_translated() {
    let cases = [
        ("", ""),
        ("abc", "abc"),
        ("a.c", "a.c"),
        ("a*", "a*"),
        ("*a", r"\*a"),
        (r"\(*a\)", r"(\*a)"),
        ("^*a", r"(?:^)\*a"),
        ("a+b?c|d{2}", r"a\+b\?c\|d\{2\}"),
        (r"a\+b\?c\|d\{2\}", "a+b?c|d{2,2}"),
        (r"\(ab\)\{1,3\}", "(ab){1,3}"),
        (r"a\{,3\}b\{2,\}", "a{0,3}b{2,}"),
        ("a^b$c", r"a\^b\$c"),
        ("^ab$", "(?:^)ab(?:$)"),
        (r"\(^a$\)", "((?:^)a(?:$))"),
        ("(a)", r"\(a\)"),
        (r"a\.b\/c", r"a\.b\/c"),
        (r"\<w\>\b\B\w\S", r"(?:\b{start})w(?:\b{end})(?:\b)(?:\B)\w\S"),
        ("é*", "é*"),
    ];
    for (pattern, want) in cases {
        assert_eq!(translated(pattern, Grep).as_deref(), Ok(want), "{pattern:?}");
        assert_eq!(translated(pattern, Basic).as_deref(), Ok(want), "{pattern:?}");
    }
}

/// What GNU sed 4.9 and grep 3.8 say to patterns that mean little, each in its two syntaxes.
#[test]
fn odd_patterns_are_refused_where_gnu_refuses_them() {
    use SyntaxError::{Brace, BraceContent, OpenGroup, Preceding, Range};
    let fine = |text: &str| Ok(text.to_owned());
    let cases = [
        // pattern        sed -E              grep -E
        ("a{}", Extended, Err(BraceContent)),
        ("a{}", Egrep, Err(BraceContent)),
        ("a{x}", Extended, Err(BraceContent)),
        ("a{x}", Egrep, fine(r"a\{x\}")),
        ("a{1", Extended, Err(Brace)),
        ("a{x,", Extended, Err(BraceContent)),
        (r"a{\}", Extended, Err(Brace)),
        ("[1-3-5]", Extended, Err(Range)),
        ("[1-3-5]", Egrep, Err(Range)),
        ("[1-3-]", Egrep, fine(r"[1-3\-]")),
        ("(*)b", Extended, Err(Preceding)),
        ("(*)b", Egrep, Err(OpenGroup)),
        ("(*)b)", Egrep, fine(r"(\)b)")),
        ("${", Extended, Err(Preceding)),
        ("{1}a", Egrep, fine("a")),
        // pattern        sed                 grep
        ("ab**", Basic, Err(Preceding)),
        ("ab**", Grep, fine("ab*")),
        (r"a*\{2\}", Basic, Err(Preceding)),
        (r"a*\+", Basic, fine("a*")),
        (r"\{1\}", Basic, Err(Preceding)),
        (r"\<\{", Grep, fine(r"(?:\b{start})\{")),
        (r"a\{1", Grep, Err(Brace)),
    ];
    for (pattern, flavor, want) in cases {
        assert_eq!(translated(pattern, flavor), want, "{pattern:?} {flavor:?}");
    }
}

fn translated(pattern: &str, flavor: Flavor) -> Result<String, SyntaxError> {
    parse(pattern.as_bytes(), flavor).map(|parsed| translate(&parsed).unwrap_or_default())
}

#[test]
fn extended_patterns_are_translated() {
    let cases = [
        ("a+b?c|d{2}", "a+b?c|d{2,2}"),
        (r"a\+b\?c\|d\{2\}", r"a\+b\?c\|d\{2\}"),
        ("(a|b)*c", "(a|b)*c"),
        ("a+?", "a*"),
        ("a*{2}", "(?:a*){2,2}"),
        ("a{x}", r"a\{x\}"),
        ("a{,2}", "a{0,2}"),
        ("a)", r"a\)"),
        ("()", "()"),
        ("a||b", "a||b"),
        ("*a", "a"),
        ("^a$", "(?:^)a(?:$)"),
        (r"\(a\)", r"\(a\)"),
    ];
    for (pattern, want) in cases {
        assert_eq!(translated(pattern, Egrep).as_deref(), Ok(want), "{pattern:?}");
    }
}

#[test]
fn brackets_know_no_escapes() {
    let cases = [
        ("[abc]", "[abc]"),
        ("[a-z]", "[a-z]"),
        ("[]a]", r"[\]a]"),
        ("[^]a]", r"[^\]a]"),
        (r"[\n]", r"[\\n]"),
        ("[a-]", r"[a\-]"),
        ("[-a]", r"[\-a]"),
        ("[[:digit:]x]", "[0-9x]"),
        ("[[.-.]]", r"[\-]"),
        ("[[=a=]b]", "[ab]"),
        ("[a[b]", r"[a\[b]"),
        ("[^[:space:]]", r"[^\s]"),
        ("[&&~^]", r"[\&\&\~\^]"),
    ];
    for (pattern, want) in cases {
        assert_eq!(translated(pattern, Basic).as_deref(), Ok(want), "{pattern:?}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let cases = [
        (r"\(a\)\2", Basic, SyntaxError::BackReference),
        (r"(a\1)", Extended, SyntaxError::BackReference),
        (r"\(a", Basic, SyntaxError::OpenGroup),
        ("(a", Extended, SyntaxError::OpenGroup),
        (r"a\)", Basic, SyntaxError::CloseGroup),
        (r"a\{1", Basic, SyntaxError::Brace),
        (r"a\{x\}", Basic, SyntaxError::BraceContent),
        ("a{3,2}", Extended, SyntaxError::BraceContent),
        ("a{40000}", Extended, SyntaxError::TooBig),
        ("[a", Basic, SyntaxError::Bracket),
        ("[[:nope:]]", Basic, SyntaxError::Class),
        ("[z-a]", Basic, SyntaxError::Range),
        ("a\\", Basic, SyntaxError::TrailingBackslash),
    ];
    for (pattern, flavor, want) in cases {
        assert_eq!(translated(pattern, flavor), Err(want), "{pattern:?}");
    }
}

fn parses(pattern: &str) -> bool {
    regex_syntax::Parser::new().parse(pattern).is_ok()
}

proptest! {
    /// Whatever somebody types, the outcome is a message or a pattern that Rust accepts.
    #[test]
    fn every_translation_is_a_rust_pattern(pattern in r"[-\\(){}\[\]|*+?^$.,:=ab1é]{0,12}") {
        for flavor in [Basic, Extended, Egrep, Awk] {
            if let Ok(rust) = translated(&pattern, flavor) {
                prop_assert!(parses(&rust), "{pattern:?} as {flavor:?} became {rust:?}");
            }
        }
    }

    /// A pattern of ordinary signs matches itself and nothing shorter.
    #[test]
    fn ordinary_signs_stand_for_themselves(text in "[a-z0-9 é,;:!#%&/=~@'-]{1,12}") {
        for flavor in [Basic, Extended, Egrep, Awk] {
            let rust = translated(&text, flavor).map_err(|it| TestCaseError::fail(it.text()))?;
            let found = regex_automata::hybrid::dfa::DFA::new(&rust)
                .map_err(|it| TestCaseError::fail(it.to_string()))?;
            let mut cache = found.create_cache();
            let end = found.try_search_fwd(&mut cache, &regex_automata::Input::new(&text));
            prop_assert_eq!(end.ok().flatten().map(|it| it.offset()), Some(text.len()));
        }
    }
}

fn spans(pattern: &str, flavor: Flavor, text: &str) -> Option<Vec<Option<(usize, usize)>>> {
    let regex = Regex::new(pattern.as_bytes(), Options::of(flavor)).ok()?;
    let mut slots = Slots::default();
    regex.captures_at(text.as_bytes(), 0, &mut slots)?;
    Some((0..=regex.groups()).map(|group| slots.get(group).map(|it| (it.start, it.end))).collect())
}

#[test]
fn the_longest_of_the_leftmost_matches_is_found() {
    let cases = [
        ("a|ab|abc", Extended, "xabcd", vec![Some((1, 4))]),
        ("a*(ab)?", Extended, "aab", vec![Some((0, 3)), Some((1, 3))]),
        ("(a|ab)(c|bcd)(d*)", Extended, "abcd", vec![Some((0, 4)), Some((0, 2)), Some((2, 3)), Some((3, 4))]),
        ("(b|ba)(nana|n)", Extended, "banana", vec![Some((0, 6)), Some((0, 2)), Some((2, 6))]),
        (r"\(.\)\1", Basic, "abccd", vec![Some((2, 4)), Some((2, 3))]),
        (r"\(a*\)b\1", Basic, "aabaa", vec![Some((0, 5)), Some((0, 2))]),
        (r"(\w+) \1\b", Extended, "the cat cat", vec![Some((4, 11)), Some((4, 7))]),
        ("(a)|b", Extended, "b", vec![Some((0, 1)), None]),
        ("[^,]*,é+", Extended, "x,éé", vec![Some((0, 6))]),
        (r"[\]\/]+\t", Awk, "a]/\t", vec![Some((1, 4))]),
        ("x*", Extended, "abc", vec![Some((0, 0))]),
    ];
    for (pattern, flavor, text, want) in cases {
        assert_eq!(spans(pattern, flavor, text), Some(want), "{pattern:?} in {text:?}");
    }
}

proptest! {
    /// Whatever the pattern and the text, matching ends, and what it finds lies in the text.
    #[test]
    fn a_match_lies_in_the_text(
        pattern in r"[-\\(){}\[\]|*+?^$.,ab1é]{0,10}",
        text in "[ab1é,\n]{0,12}",
    ) {
        for flavor in [Basic, Extended, Egrep, Awk] {
            let Ok(regex) = Regex::new(pattern.as_bytes(), Options::of(flavor)) else { continue };
            let mut slots = Slots::default();
            let found = regex.captures_at(text.as_bytes(), 0, &mut slots);
            prop_assert_eq!(found.is_some(), regex.is_match(text.as_bytes()));
            for group in 0..=regex.groups() {
                if let Some(span) = slots.get(group) {
                    prop_assert!(found.is_none_or(|it| it.start <= span.start && span.end <= it.end));
                }
            }
        }
    }
}
