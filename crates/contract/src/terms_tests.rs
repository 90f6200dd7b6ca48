//! Proofs for patterns and rules.

use proptest::prelude::*;

use super::*;

#[test]
fn a_star_stands_for_any_text_and_everything_else_for_itself() {
    for (text, subject, want) in [
        ("jq", "jq", Some(true)),
        ("jq", "jqq", Some(false)),
        ("jq", "j", Some(false)),
        ("git-*", "git-log", Some(true)),
        ("git-*", "git-", Some(true)),
        ("git-*", "git", Some(false)),
        ("*.example.com:443", "api.example.com:443", Some(true)),
        ("*.example.com:443", "api.example.com:4430", Some(false)),
        ("*.example.com:443", "evil.com:443", Some(false)),
        ("/data/*/x*", "/data/a/b/xyz", Some(true)),
        ("a*b*c", "a-b-b-c", Some(true)),
        ("a*b*c", "a-c-b", Some(false)),
        ("*", "", Some(true)),
        ("**", "any.thing", Some(true)),
        ("a\\*", "a*", Some(true)),
        ("a\\*", "ab", Some(false)),
        ("a\\\\*", "a\\b", Some(true)),
        ("ü*", "über", Some(true)),
        ("", "", None),
        ("a\\", "a", None),
        ("a\\b", "ab", None),
        ("a\nb", "a\nb", None),
    ] {
        let pattern = text.parse::<Pattern>().ok();
        assert_eq!(pattern.map(|it| it.admits(subject)), want, "{text:?} {subject:?}");
    }
    assert!("x".repeat(2049).parse::<Pattern>().is_err());
    assert!(Pattern::exact(&"*".repeat(1025)).is_none() && Pattern::exact(&"*".repeat(1024)).is_some());
}

#[test]
fn many_stars_take_no_long_time() {
    let pattern: Pattern = "*a".repeat(500).parse().unwrap();
    assert!(!pattern.admits(&"a".repeat(499)));
    assert!(pattern.admits(&"ab".repeat(500)[..999]));
    let long = "a".repeat(1025);
    assert!(!"a*".parse::<Pattern>().unwrap().admits(&long), "no grant can name it");
    assert!(Pattern::anything().admits(&long));
}

fn rule(text: &str) -> Result<ArgumentRule, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[test]
fn a_rule_says_one_thing_of_one_argument() {
    let text = |it: &str| Scalar::Text(it.into());
    let cases = [
        (r#"{"argument":"/1","equal":"-r"}"#, Must::Equal(text("-r"))),
        (r#"{"argument":"/1","equal":null}"#, Must::Equal(Scalar::Null)),
        (
            r#"{"argument":"/1","one_of":["a",1,true]}"#,
            Must::OneOf(vec![text("a"), Scalar::Number(1.0), Scalar::Bool(true)]),
        ),
        (r#"{"argument":"/1","starts_with":"/data/"}"#, Must::StartWith("/data/".into())),
        (
            r#"{"argument":"/1","at_least":-1,"at_most":2.5}"#,
            Must::LieBetween { least: Some(-1.0), most: Some(2.5) },
        ),
        (r#"{"argument":"/1","length_at_most":3}"#, Must::HaveLengthAtMost(3)),
    ];
    for (written, must) in cases {
        let read = rule(written).unwrap();
        assert_eq!(read, ArgumentRule::new("/1", must));
        assert_eq!(serde_json::to_string(&read).unwrap(), written);
    }
    let lax = rule(r#"{"argument":"/1","equal":1,"if_absent":"allow"}"#).unwrap();
    assert_eq!(lax.if_absent, IfAbsent::Allow);
}

#[test]
fn a_rule_that_says_nothing_two_things_or_nonsense_is_refused_by_name() {
    for (text, why) in [
        (r#"{"equal":1}"#, "the field `argument` is missing"),
        (r#"{"argument":"/1"}"#, "nothing is said of the argument"),
        (r#"{"argument":"/1","equal":1,"one_of":[1]}"#, "two things are said"),
        (r#"{"argument":"/1","equal":1,"equal":2}"#, "field `equal` is there twice"),
        (r#"{"argument":"/1","equals":1}"#, "unknown field `equals`"),
        (r#"{"argument":"/1","equal":[1]}"#, "field `equal`: invalid type: sequence, expected null, true"),
        (r#"{"argument":"/1","equal":9007199254740993}"#, "field `equal`: a whole number beyond 2^53"),
        (r#"{"argument":"/1","at_most":1e999}"#, "field `at_most`: number out of range"),
        (r#"{"argument":"/1","at_least":2,"at_most":1}"#, "`at_least` is more than `at_most`"),
        (r#"{"argument":"/1","equal":NaN}"#, "expected value"),
        (r#"{"argument":"/1","equal":1,"if_absent":"maybe"}"#, "field `if_absent`: unknown variant `maybe`"),
        (r#"[]"#, "expected a rule"),
    ] {
        let error = rule(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
}

proptest! {
    #[test]
    fn an_exact_pattern_means_its_subject_and_no_other(one in "[a*\\\\./ü]{1,12}", other in "[a*\\\\./ü]{1,12}") {
        let pattern = Pattern::exact(&one).unwrap();
        prop_assert!(pattern.admits(&one));
        prop_assert_eq!(pattern.admits(&other), one == other);
        prop_assert_eq!(pattern.literal().map(Cow::into_owned), Some(one));
    }

    #[test]
    fn stars_match_as_the_plain_definition_says(pattern in "[ab*]{1,8}", subject in "[ab]{0,8}") {
        fn plain(pattern: &[u8], subject: &[u8]) -> bool {
            match (pattern.split_first(), subject.split_first()) {
                (None, None) => true,
                (Some((b'*', rest)), None) => plain(rest, subject),
                (Some((b'*', rest)), Some((_, shorter))) => plain(rest, subject) || plain(pattern, shorter),
                (Some((a, rest)), Some((b, shorter))) => a == b && plain(rest, shorter),
                _ => false,
            }
        }
        let want = plain(pattern.as_bytes(), subject.as_bytes());
        prop_assert_eq!(pattern.parse::<Pattern>().unwrap().admits(&subject), want);
    }
}
