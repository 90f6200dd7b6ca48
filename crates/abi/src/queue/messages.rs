//! Messages in one piece: each behind its length, so that a record's digest tells one list from another.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor},
};

use crate::broker::Blob;

/// A list of messages.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Messages {
    framed: Vec<u8>,
    count: usize,
}

/// Bytes of a length.
const LENGTH: usize = 8;

impl Messages {
    /// One message.
    pub fn one(bytes: &[u8]) -> Self {
        let mut messages = Self::default();
        messages.push(bytes);
        messages
    }

    /// Adds one.
    pub fn push(&mut self, bytes: &[u8]) {
        self.framed.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.framed.extend_from_slice(bytes);
        self.count += 1;
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of all of them.
    pub fn bytes(&self) -> usize {
        self.framed.len() - LENGTH * self.count
    }

    /// All of it, lengths included.
    pub fn framed(&self) -> &[u8] {
        &self.framed
    }

    /// Each in its turn.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &self.framed[..];
        std::iter::from_fn(move || {
            let (length, behind) = rest.split_first_chunk::<LENGTH>()?;
            let (message, behind) =
                behind.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
            rest = behind;
            Some(message)
        })
    }
}

impl fmt::Debug for Messages {
    /// How many: what is in them may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} messages of {} bytes", self.count, self.bytes())
    }
}

impl<'a> FromIterator<&'a [u8]> for Messages {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(all: I) -> Self {
        let mut messages = Self::default();
        all.into_iter().for_each(|it| messages.push(it));
        messages
    }
}

impl<'de> Deserialize<'de> for Messages {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Messages;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Messages, A::Error> {
        let mut messages = Messages::default();
        while let Some(Blob(bytes)) = seq.next_element()? {
            messages.push(&bytes);
        }
        Ok(messages)
    }
}
