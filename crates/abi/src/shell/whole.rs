//! Bytes as one piece. A list of bytes is written and read one by one otherwise, for the same encoding.

use std::fmt;

use serde::{
    Deserializer, Serializer,
    de::{Error, Visitor},
};

pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    deserializer.deserialize_bytes(Whole)
}

struct Whole;

impl Visitor<'_> for Whole {
    type Value = Vec<u8>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }
}
