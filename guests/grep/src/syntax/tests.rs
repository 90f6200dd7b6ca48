//! POSIX patterns and what they become; every translation is one the regex parser takes.

use super::Flavor::{Basic, Extended};
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
        ("a**", "(?:a*)*"),
        ("é*", "é*"),
    ];
    for (pattern, want) in cases {
        assert_eq!(translate(pattern, Basic).as_deref(), Ok(want), "{pattern:?}");
    }
}

#[test]
fn extended_patterns_are_translated() {
    let cases = [
        ("a+b?c|d{2}", "a+b?c|d{2,2}"),
        (r"a\+b\?c\|d\{2\}", r"a\+b\?c\|d\{2\}"),
        ("(a|b)*c", "(a|b)*c"),
        ("a+?", "(?:a+)?"),
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
        assert_eq!(translate(pattern, Extended).as_deref(), Ok(want), "{pattern:?}");
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
        assert_eq!(translate(pattern, Basic).as_deref(), Ok(want), "{pattern:?}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let cases = [
        (r"\(a\)\1", Basic, SyntaxError::BackReference),
        (r"(a)\1", Extended, SyntaxError::BackReference),
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
        assert_eq!(translate(pattern, flavor), Err(want), "{pattern:?}");
    }
}

fn parses(pattern: &str) -> bool {
    regex_syntax::Parser::new().parse(pattern).is_ok()
}

proptest! {
    /// Whatever somebody types, the outcome is a message or a pattern that Rust accepts.
    #[test]
    fn every_translation_is_a_rust_pattern(pattern in r"[-\\(){}\[\]|*+?^$.,:=ab1é]{0,12}") {
        for flavor in [Basic, Extended] {
            if let Ok(rust) = translate(&pattern, flavor) {
                prop_assert!(parses(&rust), "{pattern:?} as {flavor:?} became {rust:?}");
            }
        }
    }

    /// A pattern of ordinary signs matches itself and nothing shorter.
    #[test]
    fn ordinary_signs_stand_for_themselves(text in "[a-z0-9 é,;:!#%&/=~@'-]{1,12}") {
        for flavor in [Basic, Extended] {
            let rust = translate(&text, flavor).map_err(|it| TestCaseError::fail(it.text()))?;
            let found = regex_automata::hybrid::dfa::DFA::new(&rust)
                .map_err(|it| TestCaseError::fail(it.to_string()))?;
            let mut cache = found.create_cache();
            let end = found.try_search_fwd(&mut cache, &regex_automata::Input::new(&text));
            prop_assert_eq!(end.ok().flatten().map(|it| it.offset()), Some(text.len()));
        }
    }
}
