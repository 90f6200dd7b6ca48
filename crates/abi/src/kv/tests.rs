//! Proofs for the wire of `kv`: what is read, what is refused, and that an answer comes back as it went.

use proptest::prelude::*;

use super::*;
use crate::listing::ROWS_MAX;

#[test]
fn requests_are_read_strictly_and_what_is_not_said_has_a_default() {
    let get = KvRequest::decode(GET, br#"{"key":"a"}"#).unwrap();
    assert_eq!(get, KvRequest::Get(Get { key: "a".into() }));
    let list = KvRequest::decode(LIST, b"{}").unwrap();
    assert_eq!(list, KvRequest::List(Listing::new(String::new(), None, ROWS_MAX)));
    let add = KvRequest::decode(INCREMENT, br#"{"key":"n","by":-3}"#).unwrap();
    assert_eq!(add, KvRequest::Increment(Increment { key: "n".into(), by: -3, ttl_ms: None }));
    for (operation, bad) in [
        (GET, "{}"),
        (GET, r#"{"key":7}"#),
        (GET, r#"{"key":"a","keys":"b"}"#),
        (PUT, r#"{"key":"a"}"#),
        (PUT, r#"{"key":"a","value":"","if_version":-1}"#),
        (INCREMENT, r#"{"key":"a","by":1.5}"#),
        (INCREMENT, r#"{"key":"a","by":9223372036854775808}"#),
        (LIST, r#"{"limit":-1}"#),
        ("kv.drop", r#"{"key":"a"}"#),
        (GET, ""),
        (GET, "\u{feff}{}"),
    ] {
        assert_eq!(KvRequest::decode(operation, bad.as_bytes()).unwrap_err().code(), "malformed", "{bad}");
    }
}

#[test]
fn every_operation_is_told_of_once() {
    let names: Vec<_> = OPERATIONS.iter().map(|it| it.name).collect();
    assert_eq!(names, [GET, PUT, DELETE, LIST, INCREMENT]);
}

proptest! {
    #[test]
    fn bytes_that_are_no_request_are_refused_and_nothing_worse(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        for operation in [GET, PUT, DELETE, LIST, INCREMENT] {
            let _ = KvRequest::decode(operation, &bytes);
        }
    }

    #[test]
    fn an_answer_comes_back_as_it_went(version in any::<u64>(), sum in any::<i64>(), value in proptest::collection::vec(any::<u8>(), 0..16), key in ".{0,8}", next in proptest::option::of(".{0,8}")) {
        let row = Key { key, bytes: version, version, expires_ms: Some(version) };
        for told in [
            KvValue::Value(Value { value: value.into(), version, expires_ms: None }),
            KvValue::Written(Written { version }),
            KvValue::Deleted(Deleted { deleted: version % 2 == 0 }),
            KvValue::Sum(Sum { sum, version }),
            KvValue::Keys(Keys { keys: vec![row], next }),
        ] {
            let text = serde_json::to_string(&told).unwrap();
            prop_assert_eq!(serde_json::from_str::<KvValue>(&text).unwrap(), told);
        }
    }
}
