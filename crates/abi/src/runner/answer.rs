//! The guest's answer. A JSON object is taken at its word and must be well formed; everything else is a payload.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use serde::{
    Deserialize,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{Envelope, Pairs, body, joined};

/// The guest answered an object that is no response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("malformed response: {0}")]
pub struct Malformed(String);

/// The status of a payload.
const PAYLOAD_STATUS: u16 = 200;
/// Headers of one response. Each costs the host ten times what it costs the guest.
const HEADERS_MAX: usize = 1_024;

/// What the bytes say.
pub fn parse_response(bytes: &[u8]) -> Result<Envelope, Malformed> {
    let Some(Object { status, headers, headers_all, body }) = read(bytes)? else {
        return Ok(Envelope {
            status: PAYLOAD_STATUS,
            headers: BTreeMap::new(),
            headers_all: None,
            body_b64: Some(STANDARD.encode(bytes)),
            error: None,
        });
    };
    if let Some(text) = &body {
        body::decoded_bytes(text).map_err(|it| not_base64(&it))?;
    }
    Ok(Envelope { status, headers, headers_all, body_b64: body.map(Cow::into_owned), error: None })
}

/// An answer that goes on by HTTP: its body as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpAnswer {
    /// The guest's.
    pub status: u16,
    /// Every header that is to be sent: the list, and what the map has besides.
    pub headers: Pairs,
    /// The guest's, decoded.
    pub body: Bytes,
}

/// What the bytes say, for whoever sends it on by HTTP: a body is decoded once, and a payload not even copied.
pub fn parse_http_response(bytes: &Bytes) -> Result<HttpAnswer, Malformed> {
    let Some(Object { status, headers, headers_all, body }) = read(bytes)? else {
        return Ok(HttpAnswer { status: PAYLOAD_STATUS, headers: Pairs::new(), body: bytes.clone() });
    };
    let body = body.map_or(Ok(Vec::new()), |text| STANDARD.decode(&*text)).map_err(|it| not_base64(&it))?;
    let mut sent = headers_all.unwrap_or_default();
    let listed = sent.len();
    for (name, value) in headers {
        if !sent[..listed].iter().any(|(it, _)| it.eq_ignore_ascii_case(&name)) {
            sent.push((name, value));
        }
    }
    Ok(HttpAnswer { status, headers: sent, body: body.into() })
}

fn not_base64(error: &base64::DecodeError) -> Malformed {
    Malformed(format!("`body_b64` is not base64: {error}"))
}

/// An object that is a response, but for its body, which is any text yet.
struct Object<'a> {
    status: u16,
    headers: BTreeMap<String, String>,
    headers_all: Option<Pairs>,
    body: Option<Cow<'a, str>>,
}

/// Nothing if the bytes are no object.
fn read(bytes: &[u8]) -> Result<Option<Object<'_>>, Malformed> {
    // An object begins with a brace; what does not need not be read to know that it is none. JSON is UTF-8, all of it:
    // strings that are skipped would not be looked at.
    let opens = bytes.trim_ascii_start().first() == Some(&b'{');
    let text = if opens { std::str::from_utf8(bytes).ok() } else { None };
    let members = text.and_then(|it| serde_json::from_str::<Members<'_>>(it).ok());
    let Some(members) = members else { return Ok(None) };
    let bad = |text: &str| Malformed(text.to_owned());
    let status = members.status.ok_or_else(|| bad("it has no `status`"))?;
    let status = status.get().parse().ok().filter(|it| (100..=599).contains(it));
    let status = status.ok_or_else(|| bad("`status` is not an integer from 100 to 599"))?;
    let headers_all = match members.headers_all.map(|raw| (raw, raw.get())) {
        None | Some((_, "null")) => None,
        Some((raw, _)) => Some(HeaderList::deserialize(raw).map_err(|it| bad(&it.to_string()))?.0),
    };
    let headers = match members.headers.map(|raw| (raw, raw.get())) {
        // Who gave the list alone is not asked for the map.
        None | Some((_, "null")) => headers_all.as_deref().map(joined).unwrap_or_default(),
        Some((raw, text)) if text.starts_with('{') => {
            Headers::deserialize(raw).map_err(|it| bad(&it.to_string()))?.0
        }
        Some(_) => return Err(bad("`headers` is not an object")),
    };
    let body = match members.body_b64.map(|raw| (raw, raw.get())) {
        None | Some((_, "null")) => None,
        Some((raw, text)) if text.starts_with('"') => Some(text_of(raw)?),
        Some(_) => return Err(bad("`body_b64` is neither a string nor null")),
    };
    Ok(Some(Object { status, headers, headers_all, body }))
}

/// A string of JSON. One without escapes, as base64 is, is where it lies.
fn text_of(raw: &RawValue) -> Result<Cow<'_, str>, Malformed> {
    let inner = raw.get().strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    if let Some(plain) = inner.filter(|it| memchr::memchr(b'\\', it.as_bytes()).is_none()) {
        return Ok(Cow::Borrowed(plain));
    }
    String::deserialize(raw).map(Cow::Owned).map_err(|it| Malformed(it.to_string()))
}

/// The members that mean something, unread. Whatever else there is costs the host nothing, however much it is.
#[derive(Default)]
struct Members<'a> {
    status: Option<&'a RawValue>,
    headers: Option<&'a RawValue>,
    headers_all: Option<&'a RawValue>,
    body_b64: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Members::default();
        // Of a member that is there twice the last one counts.
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            match &*name {
                "status" => members.status = Some(map.next_value()?),
                "headers" => members.headers = Some(map.next_value()?),
                "headers_all" => members.headers_all = Some(map.next_value()?),
                "body_b64" => members.body_b64 = Some(map.next_value()?),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(members)
    }
}

/// Names and values, of which there are not too many.
struct Headers(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(HeadersVisitor)
    }
}

struct HeadersVisitor;

impl<'de> Visitor<'de> for HeadersVisitor {
    type Value = Headers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Headers, A::Error> {
        let mut headers = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            let value: &RawValue = map.next_value()?;
            let value = serde_json::from_str::<String>(value.get()).map_err(|_| {
                let name = name.escape_default();
                serde::de::Error::custom(format_args!("the value of header `{name}` is not a string"))
            })?;
            can_be_sent(&name, &value)?;
            headers.insert(name, value);
            if headers.len() > HEADERS_MAX {
                return Err(too_many());
            }
        }
        Ok(Headers(headers))
    }
}

/// A list of names with their values.
struct HeaderList(Pairs);

impl<'de> Deserialize<'de> for HeaderList {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(HeaderListVisitor)
    }
}

struct HeaderListVisitor;

impl<'de> Visitor<'de> for HeaderListVisitor {
    type Value = HeaderList;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`headers_all` to be a list of pairs of strings")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<HeaderList, A::Error> {
        let mut headers = Pairs::new();
        while let Some((name, value)) = list.next_element::<(String, String)>()? {
            can_be_sent(&name, &value)?;
            headers.push((name, value));
            if headers.len() > HEADERS_MAX {
                return Err(too_many());
            }
        }
        Ok(HeaderList(headers))
    }
}

fn can_be_sent<E: serde::de::Error>(name: &str, value: &str) -> Result<(), E> {
    if is_token(name) && !value.contains(['\r', '\n', '\0']) {
        return Ok(());
    }
    let name = name.escape_default();
    Err(E::custom(format_args!("header `{name}` cannot be sent by HTTP")))
}

fn too_many<E: serde::de::Error>() -> E {
    E::custom(format_args!("it has more than {HEADERS_MAX} headers"))
}

/// Whether HTTP takes it for a name. Whoever writes an answer out would otherwise write what the guest likes.
fn is_token(name: &str) -> bool {
    let part = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !name.is_empty() && name.bytes().all(part)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_header_that_would_split_an_answer_is_malformed() {
        for (headers, fits) in [
            (r#"{"x-a":"b; c","content-type":"text/html"}"#, true),
            (r#"{"x":"a\r\nset-cookie: b"}"#, false),
            (r#"{"x":"a\u0000"}"#, false),
            (r#"{"":"a"}"#, false),
            (r#"{"a b":"c"}"#, false),
            (r#"{"a\n":"c"}"#, false),
        ] {
            let answer = format!(r#"{{"status":200,"headers":{headers}}}"#);
            assert_eq!(parse_response(answer.as_bytes()).is_ok(), fits, "{headers}");
        }
    }

    #[test]
    fn an_object_is_a_response_and_must_be_well_formed() {
        let good =
            parse_response(br#" {"status":201,"headers":{"a":"b"},"body_b64":"AAE=","more":[1]} "#).unwrap();
        assert_eq!((good.status, good.headers["a"].as_str()), (201, "b"));
        assert_eq!(good.body_b64.as_deref(), Some("AAE="));
        let bare = parse_response(br#"{"status":204,"headers":null,"body_b64":null}"#).unwrap();
        assert_eq!((bare.status, bare.headers.len(), bare.body_b64), (204, 0, None));
        let twice =
            parse_response(br#"{"status":200,"st\u0061tus":201,"headers":{"a":"1","a":"2"}}"#).unwrap();
        assert_eq!((twice.status, twice.headers["a"].as_str()), (201, "2"));
        let many: Vec<String> = (0..1025).map(|it| format!(r#""h{it}":"""#)).collect();
        let crowd = |count: usize| format!(r#"{{"status":200,"headers":{{{}}}}}"#, many[..count].join(","));
        assert_eq!(parse_response(crowd(1024).as_bytes()).unwrap().headers.len(), 1024);
        assert!(
            parse_response(crowd(1025).as_bytes())
                .unwrap_err()
                .to_string()
                .contains("more than 1024 headers")
        );
        for (text, want) in [
            (r#"{}"#, "it has no `status`"),
            (r#"{"status":99}"#, "from 100 to 599"),
            (r#"{"status":600}"#, "from 100 to 599"),
            (r#"{"status":70000}"#, "from 100 to 599"),
            (r#"{"status":200.5}"#, "from 100 to 599"),
            (r#"{"status":"200"}"#, "from 100 to 599"),
            (r#"{"status":-200}"#, "from 100 to 599"),
            (r#"{"status":null}"#, "from 100 to 599"),
            (r#"{"status":200,"headers":[]}"#, "`headers` is not an object"),
            (r#"{"status":200,"headers":{"x":1}}"#, "header `x` is not a string"),
            (r#"{"status":200,"body_b64":"a"}"#, "is not base64"),
            (r#"{"status":200,"body_b64":"AA==AAAA"}"#, "is not base64"),
            (r#"{"status":2e2}"#, "from 100 to 599"),
            (r#"{"status":200,"headers":{"x\u0000":null}}"#, "is not a string"),
            (r#"{"status":200,"body_b64":7}"#, "neither a string nor null"),
        ] {
            let error = parse_response(text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("malformed response: ") && error.contains(want), "{text}: {error}");
        }
    }

    #[test]
    fn a_list_of_headers_keeps_what_a_map_cannot_and_obeys_the_same_rules() {
        let two = r#"{"status":200,"headers":{"x":"1","Set-Cookie":"lost"},"headers_all":[["set-cookie","a"],["set-cookie","b"]]}"#;
        let answer = parse_http_response(&two.into()).unwrap();
        let sent: Vec<_> =
            answer.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(sent, [("set-cookie", "a"), ("set-cookie", "b"), ("x", "1")]);
        let alone = parse_response(br#"{"status":200,"headers_all":[["x","1"],["x","2"]]}"#).unwrap();
        assert_eq!(alone.headers["x"], "1, 2");
        assert_eq!(parse_response(br#"{"status":200,"headers_all":null}"#).unwrap().headers_all, None);
        let many = vec![r#"["a","b"]"#; 1025].join(",");
        for list in [
            r#"{}"#,
            r#"[["a"]]"#,
            r#"[["a",1]]"#,
            r#"[["a b","c"]]"#,
            r#"[["a","b\r\nc: d"]]"#,
            &format!("[{many}]"),
        ] {
            let answer = format!(r#"{{"status":200,"headers_all":{list}}}"#);
            assert!(parse_response(answer.as_bytes()).is_err(), "{}", &list[..list.len().min(40)]);
        }
    }

    #[test]
    fn whatever_is_no_object_is_a_payload() {
        for bytes in [
            &b""[..],
            b"plain",
            b"{",
            b"{\"status\":200} trailing",
            b"[1]",
            b"7",
            b"null",
            b"\"{}\"",
            b"\xff\x00\xfe",
            b"{\"status\":\"\xff\"}",
            // Not in the members that are read, nor in their names.
            b"{\"status\":201,\"x\":\"\xff\"}",
            b"{\"status\":201,\"\xff\":1}",
        ] {
            let answer = parse_response(bytes).unwrap();
            assert_eq!((answer.status, answer.headers.len(), answer.error), (200, 0, None));
            assert_eq!(STANDARD.decode(answer.body_b64.unwrap()).unwrap(), bytes);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer_or_malformed_and_bodies_survive(bytes: Vec<u8>, status in 100u16..600, header in "[^\r\n\0]*") {
            for sent in [Bytes::from(bytes.clone()), format!(r#"{{"status":{status},"body_b64":"{header}"}}"#).into()] {
                let (one, other) = (parse_response(&sent), parse_http_response(&sent));
                prop_assert_eq!(one.is_err(), other.is_err());
                if let (Ok(one), Ok(other)) = (one, other) {
                    let body = one.body_b64.map(|it| STANDARD.decode(it).unwrap()).unwrap_or_default();
                    prop_assert_eq!((one.status, body), (other.status, other.body.to_vec()));
                }
            }
            let body = STANDARD.encode(&bytes);
            let text = serde_json::json!({ "status": status, "headers": { "h": header }, "body_b64": body });
            let answer = parse_response(text.to_string().as_bytes()).unwrap();
            prop_assert_eq!(answer.status, status);
            prop_assert_eq!(&answer.headers["h"], &header);
            prop_assert_eq!(STANDARD.decode(answer.body_b64.unwrap()).unwrap(), bytes);
        }
    }
}
