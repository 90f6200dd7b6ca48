//! `kv.*`: values by key. A request is a JSON object, or one of these types for callers in this process; an answer is a
//! JSON value.
//!
//! A listing goes on behind the last key it told (`next` is the `after` of the next one): a cursor that survives whatever is
//! written meanwhile.

mod text;

use drydock_contract::Denial;
use serde::{Deserialize, Serialize};

use crate::{
    broker::{self, Blob},
    listing::Listing,
};

pub use text::OPERATIONS;

/// Reads a value.
pub const GET: &str = "kv.get";
/// Writes a value.
pub const PUT: &str = "kv.put";
/// Removes a value.
pub const DELETE: &str = "kv.delete";
/// Lists keys.
pub const LIST: &str = "kv.list";
/// Adds to a number.
pub const INCREMENT: &str = "kv.increment";

/// The longest key, in bytes.
pub const KEY_BYTES_MAX: usize = 512;
/// The longest value, in bytes.
pub const VALUE_BYTES_MAX: usize = 1 << 20;
/// The longest request: a value of the longest, of characters that JSON spells with six, and what is said beside it.
pub const PUT_REQUEST_BYTES_MAX: u64 = 6 * VALUE_BYTES_MAX as u64 + (64 << 10);
/// The longest request without a value.
pub const REQUEST_BYTES_MAX: u64 = 64 << 10;
/// The longest answer, likewise.
pub const REPLY_BYTES_MAX: u64 = PUT_REQUEST_BYTES_MAX;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KvRequest {
    /// A value.
    Get(Get),
    /// To write one.
    Put(Put),
    /// To remove one.
    Delete(Delete),
    /// Which keys there are.
    List(Listing),
    /// To add to a number.
    Increment(Increment),
}

/// `kv.get`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Get {
    /// Which one.
    pub key: String,
}

/// `kv.put`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Put {
    /// Which one.
    pub key: String,
    /// Its bytes.
    pub value: Blob,
    /// Only if the key has this version; 0 if there must be none.
    #[serde(default)]
    pub if_version: Option<u64>,
    /// After how long it is gone.
    #[serde(default)]
    pub ttl_ms: Option<u64>,
}

/// `kv.delete`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delete {
    /// Which one.
    pub key: String,
    /// Only if the key has this version.
    #[serde(default)]
    pub if_version: Option<u64>,
}

/// `kv.increment`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Increment {
    /// Which one.
    pub key: String,
    /// By how much.
    #[serde(default = "one")]
    pub by: i64,
    /// After how long it is gone, where there was none before.
    #[serde(default)]
    pub ttl_ms: Option<u64>,
}

const fn one() -> i64 {
    1
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum KvValue {
    /// To `kv.increment`.
    Sum(Sum),
    /// To `kv.get`.
    Value(Value),
    /// To `kv.list`.
    Keys(Keys),
    /// To `kv.delete`.
    Deleted(Deleted),
    /// To `kv.put`.
    Written(Written),
}

/// A value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    /// Its bytes.
    pub value: Blob,
    /// Which writing of it.
    pub version: u64,
    /// When it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
}

/// It was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// Which writing of it this was.
    pub version: u64,
}

/// It is not there any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deleted {
    /// Whether it was there before.
    pub deleted: bool,
}

/// A number that was added to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sum {
    /// What it is now.
    pub sum: i64,
    /// Which writing of it this was.
    pub version: u64,
}

/// Keys, sorted by their bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    /// What there is.
    pub keys: Vec<Key>,
    /// Where to go on; nothing at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Itself.
    pub key: String,
    /// How long its value is.
    pub bytes: u64,
    /// Which writing of it.
    pub version: u64,
    /// When it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<u64>,
}

impl KvRequest {
    /// Reads one.
    pub fn decode(operation: &str, payload: &[u8]) -> Result<Self, Denial> {
        match operation {
            GET => broker::parse(operation, payload).map(Self::Get),
            PUT => broker::parse(operation, payload).map(Self::Put),
            DELETE => broker::parse(operation, payload).map(Self::Delete),
            LIST => broker::parse(operation, payload).map(Self::List),
            INCREMENT => broker::parse(operation, payload).map(Self::Increment),
            other => Err(Denial::Malformed(format!("`{}` is no operation of kv", other.escape_debug()))),
        }
    }
}

#[cfg(test)]
mod tests;
