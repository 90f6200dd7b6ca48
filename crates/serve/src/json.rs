//! JSON in and out: bounded in depth before anything recurses over it, and lists that are short by nature in length.

use std::{fmt, marker::PhantomData};

use axum::{
    body::Body,
    http::{HeaderValue, Response, StatusCode, header},
};
use bytes::Bytes;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, Error as _, SeqAccess, Visitor},
};

use crate::error::ApiError;

/// Lists and objects within each other.
pub(crate) const DEPTH_MAX: usize = 64;

/// Reads a value of that form.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    if depth(bytes) > DEPTH_MAX {
        let text = format!("the body has lists and objects more than {DEPTH_MAX} deep");
        return Err(ApiError::bad("json_too_deep", text));
    }
    serde_json::from_slice(bytes).map_err(|error| ApiError::bad("bad_json", format!("the body: {error}")))
}

/// How deep lists and objects lie within each other, at most; exact for what is JSON.
fn depth(bytes: &[u8]) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    let mut rest = bytes.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'[' | b'{' => {
                now += 1;
                most = most.max(now);
            }
            b']' | b'}' => now = now.saturating_sub(1),
            b'"' => {
                while let Some(inner) = rest.next() {
                    match inner {
                        b'\\' => drop(rest.next()),
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    most
}

/// Entries of a list of hosts, names or the like.
const FEW: usize = 1_024;

/// Reads a list of things each of which takes work and memory to be read: of a longer one no more than this.
pub(crate) fn few<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    struct Few<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Few<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a list of at most {FEW}")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
            let mut all = Vec::new();
            while let Some(one) = list.next_element()? {
                if all.len() == FEW {
                    return Err(A::Error::custom(format_args!("a list has more than {FEW} entries")));
                }
                all.push(one);
            }
            Ok(all)
        }
    }

    from.deserialize_seq(Few(PhantomData))
}

/// The same of a list that may be left out.
pub(crate) fn few_if_any<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<Vec<T>>, D::Error> {
    struct Listed<T>(Vec<T>);

    impl<'de, T: Deserialize<'de>> Deserialize<'de> for Listed<T> {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            few(from).map(Self)
        }
    }

    Option::<Listed<T>>::deserialize(from).map(|it| it.map(|it| it.0))
}

/// An answer of that status.
pub(crate) fn response(status: StatusCode, value: &impl Serialize) -> Response<Body> {
    // Values of ours: there is nothing in them that JSON cannot say.
    written(status, serde_json::to_vec(value).unwrap_or_default().into())
}

/// The same of what is JSON already.
pub(crate) fn written(status: StatusCode, json: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::from(json));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// An answer that all went well.
pub(crate) fn ok(value: &impl Serialize) -> Response<Body> {
    response(StatusCode::OK, value)
}

#[test]
fn a_list_of_few_is_read_no_further_than_that() {
    #[derive(Debug, Deserialize)]
    struct Asked {
        #[serde(default, deserialize_with = "few")]
        list: Vec<u8>,
        #[serde(default, deserialize_with = "few_if_any")]
        perhaps: Option<Vec<u8>>,
    }
    let read = |count: usize, end: &str| {
        let list = vec!["7"; count].join(",");
        parse::<Asked>(format!(r#"{{"list":[{list}{end}]}}"#).as_bytes()).map(|it| it.list.len())
    };
    assert_eq!(read(FEW, "").unwrap(), FEW);
    // What comes behind is not looked at.
    let refused = read(FEW + 1, ",no json").unwrap_err();
    assert_eq!(refused.code, "bad_json");
    assert!(refused.message.contains("more than 1024 entries"), "{refused}");
    let perhaps = |text: String| parse::<Asked>(text.as_bytes()).map(|it| it.perhaps);
    assert_eq!(perhaps("{}".into()).unwrap(), None);
    assert_eq!(perhaps(r#"{"perhaps":null}"#.into()).unwrap(), None);
    assert_eq!(perhaps(r#"{"perhaps":[7]}"#.into()).unwrap(), Some(vec![7]));
    assert!(perhaps(format!(r#"{{"perhaps":[7{}]}}"#, ",7".repeat(FEW))).is_err());
}

#[test]
fn depth_is_counted_outside_of_texts() {
    for (text, want) in [
        ("7", 0),
        ("[]", 1),
        (r#"{"a":[1,[2]]}"#, 3),
        (r#"{"[[[":"{{{\"[["}"#, 1),
        (r#"["\\",["#, 2),
        ("]]]][", 1),
    ] {
        assert_eq!(depth(text.as_bytes()), want, "{text}");
    }
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(parse::<serde_json::Value>(deep(DEPTH_MAX).as_bytes()).is_ok());
    assert_eq!(parse::<serde_json::Value>(deep(100).as_bytes()).unwrap_err().code, "json_too_deep");
}
