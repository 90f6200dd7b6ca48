//! What keeps values by key promises, whatever is behind it: one suite, called by each backing with a fresh and empty one.

#![allow(clippy::unwrap_used)]

use std::{sync::Arc, time::Duration};

use drydock_contract::{
    Tenant, Timestamp,
    port::{KeptValue, KeyChange, KeyChanged, KeyRefusal, KeyValues},
};

use crate::block_on;

const NOW: Timestamp = Timestamp(1_767_225_599_000_000_000);

/// Runs the whole suite; panics at the first broken promise.
#[allow(clippy::print_stderr)] // Shown only where a promise is broken: which one it was.
pub fn key_values_contract(make: impl Fn() -> Arc<dyn KeyValues>) {
    for (promise, check) in [
        ("what was never there is not there", nothing_is_nothing as fn(&Kept)),
        ("a value is what was put last, with a version that rises", values_and_versions),
        ("tenants have their own", tenants_are_apart),
        ("a version that is not the expected one changes nothing", versions_are_compared),
        ("numbers are added to", numbers_are_added_to),
        ("a value whose time is over is not there", time_ends_values),
        ("keys are any text, and a listing takes its prefix letter for letter", listings),
        ("a listing goes on behind a key, whatever became of that", listings_go_on),
    ] {
        eprintln!("{promise}");
        check(&Kept(make()));
    }
}

struct Kept(Arc<dyn KeyValues>);

fn tenant(name: &str) -> Tenant {
    name.parse().unwrap()
}

fn later(ms: u64) -> Timestamp {
    NOW.plus(Duration::from_millis(ms))
}

impl Kept {
    fn get(&self, key: &str) -> Option<KeptValue> {
        self.get_at(key, NOW)
    }

    fn get_at(&self, key: &str, now: Timestamp) -> Option<KeptValue> {
        block_on(self.0.get(&tenant("a"), key, now)).unwrap()
    }

    fn change(&self, key: &str, change: KeyChange) -> Result<KeyChanged, KeyRefusal> {
        self.change_at(key, change, NOW)
    }

    fn change_at(&self, key: &str, change: KeyChange, now: Timestamp) -> Result<KeyChanged, KeyRefusal> {
        block_on(self.0.change(&tenant("a"), key, change, now)).unwrap()
    }

    fn put(&self, key: &str, value: &[u8]) -> u64 {
        self.change(key, put(value)).unwrap().version
    }

    fn keys(&self, prefix: &str, after: Option<&str>, rows: usize) -> Vec<String> {
        let found = block_on(self.0.list(&tenant("a"), prefix, after, rows, NOW)).unwrap();
        found.into_iter().map(|it| it.key).collect()
    }
}

fn put(value: &[u8]) -> KeyChange {
    KeyChange::Put { value: value.into(), if_version: None, expires: None }
}

fn add(by: i64) -> KeyChange {
    KeyChange::Add { by, expires: None }
}

fn nothing_is_nothing(kept: &Kept) {
    assert_eq!(kept.get("k"), None);
    assert_eq!(kept.keys("", None, 9), [""; 0]);
    let gone = kept.change("k", KeyChange::Delete { if_version: None }).unwrap();
    assert_eq!((gone.existed, gone.version), (false, 0));
}

fn values_and_versions(kept: &Kept) {
    let first = kept.put("k", b"one");
    assert_eq!(kept.get("k").unwrap().value, b"one");
    let second = kept.put("k", b"");
    assert!(second > first && first > 0);
    assert_eq!(kept.get("k").unwrap(), KeptValue { value: vec![], version: second, expires: None });
    let large = vec![7; 1 << 20];
    kept.put("large", &large);
    assert_eq!(kept.get("large").unwrap().value, large);
    let gone = kept.change("k", KeyChange::Delete { if_version: None }).unwrap();
    assert_eq!((gone.existed, gone.version), (true, 0));
    assert_eq!(kept.get("k"), None);
    assert!(kept.put("k", b"again") > second, "no version is given twice");
}

fn tenants_are_apart(kept: &Kept) {
    kept.put("k", b"mine");
    let other = tenant("b");
    assert_eq!(block_on(kept.0.get(&other, "k", NOW)).unwrap(), None);
    block_on(kept.0.change(&other, "k", put(b"theirs"), NOW)).unwrap().unwrap();
    block_on(kept.0.change(&other, "k2", put(b"theirs"), NOW)).unwrap().unwrap();
    assert_eq!(kept.get("k").unwrap().value, b"mine");
    assert_eq!(kept.keys("", None, 9), ["k"]);
}

fn versions_are_compared(kept: &Kept) {
    let put_if = |version, value: &[u8]| {
        let expected = KeyChange::Put { value: value.into(), if_version: Some(version), expires: None };
        kept.change("k", expected)
    };
    assert_eq!(put_if(3, b"x"), Err(KeyRefusal::Conflict { version: 0 }));
    let first = put_if(0, b"x").unwrap().version;
    assert_eq!(put_if(0, b"y"), Err(KeyRefusal::Conflict { version: first }));
    let second = put_if(first, b"y").unwrap().version;
    assert_eq!(put_if(first, b"z"), Err(KeyRefusal::Conflict { version: second }));
    assert_eq!(kept.get("k").unwrap().value, b"y");
    let delete_if = |version| kept.change("k", KeyChange::Delete { if_version: Some(version) });
    assert_eq!(delete_if(first), Err(KeyRefusal::Conflict { version: second }));
    assert!(delete_if(second).unwrap().existed);
    assert!(!delete_if(0).unwrap().existed, "what must not be there is not");
}

fn numbers_are_added_to(kept: &Kept) {
    assert_eq!(kept.change("n", add(5)).unwrap().sum, Some(5));
    assert_eq!(kept.change("n", add(-7)).unwrap().sum, Some(-2));
    assert_eq!(kept.get("n").unwrap().value, b"-2");
    kept.put("n", i64::MAX.to_string().as_bytes());
    assert_eq!(kept.change("n", add(1)), Err(KeyRefusal::Overflow));
    assert_eq!(kept.change("n", add(i64::MIN)).unwrap().sum, Some(-1));
    for text in ["", "x", "1.5", " 1", "+1", "9223372036854775808", "\u{0}"] {
        kept.put("n", text.as_bytes());
        assert_eq!(kept.change("n", add(1)), Err(KeyRefusal::NotANumber), "{text:?}");
        assert_eq!(kept.get("n").unwrap().value, text.as_bytes());
    }
}

fn time_ends_values(kept: &Kept) {
    let ending = |ms| KeyChange::Put { value: b"v".into(), if_version: None, expires: Some(later(ms)) };
    let version = kept.change("k", ending(10)).unwrap().version;
    assert_eq!(kept.get_at("k", later(9)).unwrap().expires, Some(later(10)));
    assert_eq!(kept.get_at("k", later(10)), None);
    assert_eq!(block_on(kept.0.list(&tenant("a"), "", None, 9, later(10))).unwrap(), []);
    let delete = KeyChange::Delete { if_version: None };
    assert!(!kept.change_at("k", delete, later(10)).unwrap().existed);
    kept.change("k", ending(10)).unwrap();
    let only_new = KeyChange::Put { value: b"w".into(), if_version: Some(0), expires: None };
    assert!(kept.change_at("k", only_new, later(11)).unwrap().version > version);
    let counting = KeyChange::Add { by: 1, expires: Some(later(10)) };
    for sum in [1, 2] {
        assert_eq!(kept.change("n", counting.clone()).unwrap().sum, Some(sum));
    }
    let again = KeyChange::Add { by: 1, expires: Some(later(99)) };
    assert_eq!(kept.change_at("n", again.clone(), later(9)).unwrap().sum, Some(3), "it keeps its end");
    assert_eq!(kept.change_at("n", again, later(10)).unwrap().sum, Some(1));
}

fn listings(kept: &Kept) {
    let all = ["%", "%a", "*", "_", "a", "a\0b", "a%", "a/b", "aü", "b", "\u{10ffff}"];
    for key in all {
        kept.put(key, key.as_bytes());
        assert_eq!(kept.get(key).unwrap().value, key.as_bytes());
    }
    assert_eq!(kept.keys("", None, 99).len(), all.len());
    assert_eq!(kept.keys("a", None, 99), ["a", "a\0b", "a%", "a/b", "aü"]);
    assert_eq!(kept.keys("%", None, 99), ["%", "%a"]);
    assert_eq!(kept.keys("_", None, 99), ["_"]);
    assert_eq!(kept.keys("*", None, 99), ["*"]);
    assert_eq!(kept.keys("\u{10ffff}", None, 99), ["\u{10ffff}"]);
    let listed = block_on(kept.0.list(&tenant("a"), "a%", None, 9, NOW)).unwrap();
    assert_eq!((listed[0].bytes, listed[0].version), (2, kept.get("a%").unwrap().version));
}

fn listings_go_on(kept: &Kept) {
    for n in 0..10 {
        kept.put(&format!("k{n}"), b"");
    }
    kept.put("j", b"");
    assert_eq!(kept.keys("k", None, 3), ["k0", "k1", "k2"]);
    kept.change("k2", KeyChange::Delete { if_version: None }).unwrap();
    kept.put("k25", b"");
    assert_eq!(kept.keys("k", Some("k2"), 3), ["k25", "k3", "k4"]);
    assert_eq!(kept.keys("k", Some("k9"), 3), [""; 0]);
    assert_eq!(kept.keys("k", Some(""), 1), ["k0"]);
    assert_eq!(kept.keys("k", Some("zzz"), 1), [""; 0], "a cursor leads nowhere else");
    assert_eq!(kept.keys("k", Some("a"), 1), ["k0"]);
}
