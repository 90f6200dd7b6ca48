//! Proofs for grants as data.

use proptest::prelude::*;

use super::*;

fn file(text: &str) -> Result<GrantFile, BadGrants> {
    GrantFile::parse(text.as_bytes())
}

#[test]
fn a_file_of_grants_is_read_as_it_is_written() {
    let text = concat!(
        r#"{"grants":[{"id":"read","cap":"tool","subjects":["files.*"],"rules":[{"argument":"/path","starts_with":"/data/"}],"#,
        r#""until":"2026-12-01T00:00:00Z","uses":3},{"id":"jq","cap":"exec","subjects":["jq"],"review":true}]}"#
    );
    let read = file(text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    assert_eq!(read.grants()[0].until, Some(Timestamp(1_796_083_200_000_000_000)));
    assert!(read.grants()[0].terms().name("files.read") && !read.grants()[1].terms().name("grep"));
}

#[test]
fn grants_without_an_id_get_one_and_parents_come_first() {
    let text = r#"{"grants":[{"cap":"exec","parent":"wide"},{"id":"grant-1","cap":"kv"},{"id":"wide","cap":"exec"}]}"#;
    let ids: Vec<_> =
        file(text).unwrap().grants().iter().map(|it| it.id.clone().unwrap().to_string()).collect();
    assert_eq!(ids, ["grant-1", "wide", "grant-2"]);
}

#[test]
fn each_mistake_is_named_with_its_grant_and_its_field() {
    let cases = [
        ("", "bad_grants", "EOF while parsing a value"),
        ("[]", "bad_grants", "invalid type: sequence, expected an object {\"grants\": [...]}"),
        ("{}", "bad_grants", "the field `grants` is missing: write {\"grants\": [...]}"),
        (r#"{"grant":[]}"#, "bad_grants", "unknown field `grant`, expected `grants`"),
        (r#"{"grants":[]} x"#, "bad_grants", "trailing characters"),
        (
            "{\"grants\":[{\"cap\":\"exec\"},\n{\"cap\":\"exec\",\"subject\":[\"jq\"]}]}",
            "bad_grants",
            "grant 2: unknown field `subject`, expected one of `id`, `cap`, `subjects`, `rules`, `until`, `uses`, `parent`, `review`",
        ),
        (r#"{"grants":[{"cap":"root"}]}"#, "bad_grants", "grant 1: field `cap`: `root` is not a capability"),
        (
            r#"{"grants":[{"id":"a"}]}"#,
            "bad_grants",
            "grant 1: the field `cap` is missing: name the capability",
        ),
        (
            r#"{"grants":[{"cap":"exec","subjects":["jq","a\\b"]}]}"#,
            "bad_grants",
            "grant 1: field `subjects`: number 2: `a\\\\b` is not a pattern: after a backslash comes a star or another backslash",
        ),
        (
            r#"{"grants":[{"cap":"exec","uses":0}]}"#,
            "bad_grants",
            "grant 1: field `uses`: a grant without uses grants nothing; use 1 or more",
        ),
        (
            r#"{"grants":[{"cap":"exec","uses":-1}]}"#,
            "bad_grants",
            "grant 1: field `uses`: invalid value: integer `-1`, expected u64",
        ),
        (
            r#"{"grants":[{"cap":"exec","until":"tomorrow"}]}"#,
            "bad_grants",
            "grant 1: field `until`: `tomorrow` is not a moment: use RFC 3339, such as 2026-01-31T12:00:00Z, from 1970 to 2554",
        ),
        (
            r#"{"grants":[{"cap":"exec","review":"yes"}]}"#,
            "bad_grants",
            "grant 1: field `review`: invalid type: string \"yes\", expected a boolean",
        ),
        (
            r#"{"grants":[{"cap":"exec","id":"a/b"}]}"#,
            "bad_grants",
            "grant 1: field `id`: `a/b` is not the id of a grant: use 1 to 64 of A-Z a-z 0-9 _ . -",
        ),
        (
            r#"{"grants":[{"cap":"exec","id":"a","id":"b"}]}"#,
            "bad_grants",
            "grant 1: field `id` is there twice",
        ),
        (
            r#"{"grants":[{"cap":"exec","rules":[{"argument":"/1","at_most":NaN}]}]}"#,
            "bad_grants",
            "grant 1: field `rules`: number 1: field `at_most`: expected value",
        ),
        (
            r#"{"grants":[{"cap":"exec","id":"a"},{"cap":"kv","id":"a"}]}"#,
            "duplicate_grant",
            "grant 2 (`a`): another grant has that id; give each its own",
        ),
        (
            r#"{"grants":[{"cap":"exec","parent":"a"}]}"#,
            "no_such_parent",
            "grant 1: field `parent`: there is no grant `a` here; add it, or take the field away",
        ),
        (
            r#"{"grants":[{"cap":"exec","id":"b","parent":"a"},{"cap":"kv","id":"a"}]}"#,
            "other_power",
            "grant 1 (`b`): field `parent`: `a` grants `kv`, and only a grant of `exec` can be narrowed to this one",
        ),
        (
            r#"{"grants":[{"cap":"exec","id":"a","parent":"a"}]}"#,
            "grant_cycle",
            "grant 1 (`a`): field `parent`: it hangs from itself by way of its parents; one of them must have none",
        ),
        (
            r#"{"grants":[{"cap":"exec","parent":"a"},{"cap":"exec","id":"a","parent":"b"},{"cap":"exec","id":"b","parent":"a"}]}"#,
            "grant_cycle",
            "grant 1: field `parent`: it hangs from itself by way of its parents; one of them must have none",
        ),
    ];
    for (text, code, message) in cases {
        let error = file(text).unwrap_err();
        let told = error.to_string();
        let told = told.split(" at line ").next().unwrap();
        assert_eq!((error.code(), told), (code, message), "{text}");
    }
    let second = file("{\"grants\":[{\"cap\":\"exec\"},\n{\"cap\":7}]}").unwrap_err().to_string();
    assert!(second.ends_with("at line 2 column 8"), "{second}");
}

#[test]
fn what_a_power_says_of_a_grant_is_told_by_its_place_in_the_file() {
    let text = r#"{"grants":[{"cap":"exec","parent":"wide"},{"id":"wide","cap":"exec"},{"cap":"kv"}]}"#;
    let judged = |which: Cap| {
        let judge = |cap, _: &Terms| if cap == which { Err("no".to_owned()) } else { Ok(()) };
        file(text).unwrap().check(judge).unwrap_err().to_string()
    };
    assert_eq!((judged(Cap::Kv), judged(Cap::Exec)), ("grant 3: no".into(), "grant 2 (`wide`): no".into()));
}

#[test]
fn too_much_and_too_deep_are_refused_before_they_cost_anything() {
    let large = " ".repeat(GRANTS_BYTES_MAX as usize + 1);
    assert_eq!(file(&large).unwrap_err().code(), "too_large");
    for open in ["[", "{\"grants\":[", "{\"grants\":[{\"cap\":\"kv\",\"rules\":[{\"equal\":"] {
        assert_eq!(file(&open.repeat(20_000)).unwrap_err().code(), "bad_grants");
    }
    let many = vec!["{\"cap\":\"kv\"}"; GRANTS_MAX + 1].join(",");
    assert_eq!(file(&format!("{{\"grants\":[{many}]}}")).unwrap_err().code(), "too_many_grants");
    let line: Vec<String> = (0..=ANCESTORS_MAX + 1)
        .map(|at| match at {
            0 => r#"{"cap":"kv","id":"g0"}"#.to_owned(),
            _ => format!(r#"{{"cap":"kv","id":"g{at}","parent":"g{}"}}"#, at - 1),
        })
        .collect();
    assert_eq!(file(&format!("{{\"grants\":[{}]}}", line.join(","))).unwrap_err().code(), "too_deep");
    let subjects = vec!["\"a\""; SUBJECTS_MAX + 1].join(",");
    let error = file(&format!("{{\"grants\":[{{\"cap\":\"kv\",\"subjects\":[{subjects}]}}]}}")).unwrap_err();
    assert!(error.to_string().contains("field `subjects`: there are more than 1024"), "{error}");
}

#[test]
fn the_smallest_grant_of_a_subject_names_it_and_nothing_else() {
    let one = GrantSpec::exactly(Cap::Exec, ["a*b"]).unwrap();
    assert_eq!(one.to_json(), r#"{"cap":"exec","subjects":["a\\*b"]}"#);
    assert!(one.terms().name("a*b") && !one.terms().name("axb"));
    assert_eq!(GrantSpec::exactly(Cap::Exec, ["a", &"x".repeat(1025)]), None);
    assert_eq!(GrantSpec::exactly(Cap::Exec, ["a\nb"]), None);
}

fn scalar() -> impl Strategy<Value = crate::Scalar> {
    use crate::Scalar::*;
    prop_oneof![
        Just(Null),
        any::<bool>().prop_map(Bool),
        (-1e300_f64..1e300).prop_map(Number),
        (-1000_i64..1000).prop_map(|it| Number(it as f64)),
        "\\PC{0,12}".prop_map(Text),
    ]
}

fn rule() -> impl Strategy<Value = ArgumentRule> {
    use crate::Must::*;
    let must = prop_oneof![
        scalar().prop_map(Equal),
        prop::collection::vec(scalar(), 0..4).prop_map(OneOf),
        "\\PC{0,12}".prop_map(StartWith),
        (-9.0_f64..0.0, 0.0_f64..9.0).prop_map(|(a, b)| LieBetween { least: Some(a), most: Some(b) }),
        any::<u64>().prop_map(HaveLengthAtMost),
    ];
    ("\\PC{0,12}", must, any::<bool>()).prop_map(|(argument, must, lax)| ArgumentRule {
        argument,
        must,
        if_absent: if lax { crate::IfAbsent::Allow } else { crate::IfAbsent::Refuse },
    })
}

fn spec() -> impl Strategy<Value = GrantSpec> {
    let subject = "[^\\x00-\\x1f\\x7f-\\x9f]{1,12}".prop_filter_map("no subject", |it| Pattern::exact(&it));
    let subjects = prop::option::of(prop::collection::vec(subject, 0..4));
    let cap = (0..Cap::ALL.len()).prop_map(|at| Cap::ALL[at]);
    let (until, uses) = (prop::option::of(any::<u64>()), prop::option::of(1_u64..));
    (cap, subjects, prop::collection::vec(rule(), 0..3), until, uses, any::<bool>()).prop_map(
        |(cap, subjects, rules, until, uses, review)| GrantSpec {
            review,
            subjects,
            rules,
            until: until.map(Timestamp),
            uses,
            ..GrantSpec::of(cap)
        },
    )
}

proptest! {
    #[test]
    fn every_grant_is_read_as_it_is_written(grant in spec()) {
        let text = grant.to_json();
        prop_assert_eq!(GrantSpec::parse(text.as_bytes()), Ok(grant));
    }

    #[test]
    fn no_bytes_break_the_reader_and_what_it_takes_is_whole(text in r#"[{}\[\]":,a-z0-9 *\\/.-]{0,80}"#) {
        if let Ok(file) = GrantFile::parse(text.as_bytes()) {
            prop_assert!(file.grants().iter().all(|it| it.id.is_some()));
        }
    }

    #[test]
    fn whatever_hangs_from_whatever_is_ordered_or_refused(parents in prop::collection::vec(prop::option::of(0_usize..8), 1..8)) {
        let id = |at: usize| -> GrantId { format!("g{at}").parse().unwrap() };
        let grants = parents.iter().enumerate().map(|(at, parent)| GrantSpec {
            id: Some(id(at)),
            parent: parent.map(id),
            ..GrantSpec::of(Cap::Kv)
        });
        match GrantFile::of(grants.collect(), "grant") {
            Ok(file) => for (at, grant) in file.grants().iter().enumerate() {
                let above = grant.parent.as_ref().map(|it| file.grants().iter().position(|other| other.id.as_ref() == Some(it)));
                prop_assert!(above.is_none_or(|place| place.unwrap() < at));
            },
            Err(error) => prop_assert!(["no_such_parent", "grant_cycle"].contains(&error.code())),
        }
    }
}
