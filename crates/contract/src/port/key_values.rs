//! Values by key, each tenant's its own, kept until they are removed or their time is over.
//!
//! Who may ask, which keys there can be and how long a value is are decided before. What only looking finds (a version that
//! is not the expected one, no room) is a refusal, and then nothing is changed.

use super::LedgerError;
use crate::{BoxFuture, Tenant, Timestamp};

/// Keeps values. Whoever asks says what time it is. A change that was answered survives the machine.
pub trait KeyValues: Send + Sync {
    /// The value of a key.
    fn get<'a>(
        &'a self,
        tenant: &'a Tenant,
        key: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<KeptValue>, LedgerError>>;

    /// Changes a key, wholly or not at all.
    fn change<'a>(
        &'a self,
        tenant: &'a Tenant,
        key: &'a str,
        change: KeyChange,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Result<KeyChanged, KeyRefusal>, LedgerError>>;

    /// The keys that begin so, sorted by their bytes, those behind `after` and no more than `rows_max`.
    fn list<'a>(
        &'a self,
        tenant: &'a Tenant,
        prefix: &'a str,
        after: Option<&'a str>,
        rows_max: usize,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<ListedKey>, LedgerError>>;
}

/// A value that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptValue {
    /// Its bytes.
    pub value: Vec<u8>,
    /// Raised with every change of the tenant's, so that no two values of a key have the same.
    pub version: u64,
    /// When it is gone by itself.
    pub expires: Option<Timestamp>,
}

/// What is to happen to a key. An expected version of 0 means that there must be none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyChange {
    /// This value takes the place of what is there.
    Put {
        /// Its bytes.
        value: Vec<u8>,
        /// Only if the key has this version.
        if_version: Option<u64>,
        /// When it is gone by itself.
        expires: Option<Timestamp>,
    },
    /// It is removed.
    Delete {
        /// Only if the key has this version.
        if_version: Option<u64>,
    },
    /// A number is added to the number that is there, or to 0.
    Add {
        /// What is added.
        by: i64,
        /// When the sum is gone by itself, where there was nothing; an older number keeps its end.
        expires: Option<Timestamp>,
    },
}

/// What a change did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyChanged {
    /// Whether there was a value before.
    pub existed: bool,
    /// The version now; 0 if there is nothing.
    pub version: u64,
    /// The sum, where a number was added.
    pub sum: Option<i64>,
}

/// Why nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyRefusal {
    /// The key has this version, 0 for none.
    Conflict {
        /// Which one it has.
        version: u64,
    },
    /// There are as many keys as a tenant may have.
    TooManyKeys {
        /// How many that are.
        max: u64,
    },
    /// All that is kept for the tenant is as large as it may be.
    NoRoom {
        /// Bytes on disk.
        bytes_max: u64,
    },
    /// What is there is no whole number of 64 bits.
    NotANumber,
    /// The sum would be none.
    Overflow,
}

/// A key, and what is known of its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedKey {
    /// The key.
    pub key: String,
    /// How long its value is.
    pub bytes: u64,
    /// As [`KeptValue::version`].
    pub version: u64,
    /// As [`KeptValue::expires`].
    pub expires: Option<Timestamp>,
}
