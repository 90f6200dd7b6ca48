//! Bytes in JSON: a string where they are UTF-8, else `{"base64": "…"}`. Both forms are read.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, MapAccess, Visitor},
    ser::SerializeMap as _,
};
use serde_json::{Value, json};

/// Bytes that are shown as text where they are text.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Blob(pub Vec<u8>);

impl Blob {
    /// The JSON Schema.
    pub fn schema(about: &str) -> Value {
        let exact = json!({
            "type": "object",
            "properties": { "base64": { "type": "string" } },
            "required": ["base64"],
            "additionalProperties": false,
        });
        json!({ "anyOf": [{ "type": "string" }, exact], "description": about })
    }
}

impl fmt::Debug for Blob {
    /// Its length: what is in it may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl<T: Into<Vec<u8>>> From<T> for Blob {
    fn from(bytes: T) -> Self {
        Self(bytes.into())
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => to.serialize_str(text),
            Err(_) => {
                let mut map = to.serialize_map(Some(1))?;
                map.serialize_entry("base64", &STANDARD.encode(&self.0))?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Blob;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, or {\"base64\": \"…\"}")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Blob, E> {
        Ok(Blob(text.into()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Blob, E> {
        Ok(Blob(text.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Blob, A::Error> {
        let Some((key, text)) = map.next_entry::<String, String>()? else {
            return Err(A::Error::missing_field("base64"));
        };
        if key != "base64" || map.next_key::<String>()?.is_some() {
            return Err(A::Error::custom("bytes are a string, or an object with `base64` and nothing else"));
        }
        STANDARD.decode(text).map(Blob).map_err(|_| A::Error::custom("`base64` is no base64"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_a_string_and_what_is_none_is_base64() {
        for (bytes, want) in [
            (&b"plain \"text\""[..], r#""plain \"text\"""#),
            (b"", r#""""#),
            (b"a\0b", r#""a\u0000b""#),
            (b"\xff\x00", r#"{"base64":"/wA="}"#),
        ] {
            assert_eq!(serde_json::to_string(&Blob(bytes.into())).unwrap(), want);
        }
        for bad in [r#"{"base64":"*"}"#, r#"{"base64":""," x":1}"#, "{}", r#"{"text":"a"}"#, "7", "null"] {
            assert!(serde_json::from_str::<Blob>(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn whatever_bytes_come_back_as_they_went(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let text = serde_json::to_string(&Blob(bytes.clone())).unwrap();
            prop_assert_eq!(serde_json::from_str::<Blob>(&text).unwrap().0, bytes);
        }
    }
}
