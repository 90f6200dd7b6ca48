//! An associative array that lists its keys in the order bash does.
//!
//! Scripts print `${!map[@]}`, and their authors saw one order. Bash hashes keys with FNV-1 into
//! 1,024 buckets and puts a new key in front of its bucket; so the order is bucket, then newest first.

use std::{cmp::Reverse, collections::HashMap};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Assoc {
    entries: HashMap<String, (u64, String)>,
    inserted: u64,
}

fn bucket(key: &str) -> u32 {
    let hash = crate::text::to_bytes(key).iter().fold(2_166_136_261_u32, |hash, byte| {
        // Bash xors a signed char.
        hash.wrapping_mul(16_777_619) ^ i32::from(byte.cast_signed()).cast_unsigned()
    });
    hash & 1023
}

impl Assoc {
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.entries.get(key).map(|it| it.1.as_str())
    }

    /// Sets a key; answers the old value.
    pub(crate) fn set(&mut self, key: &str, value: String) -> Option<String> {
        if let Some(entry) = self.entries.get_mut(key) {
            return Some(std::mem::replace(&mut entry.1, value));
        }
        self.inserted += 1;
        self.entries.insert(key.to_owned(), (self.inserted, value));
        None
    }

    pub(crate) fn remove(&mut self, key: &str) {
        self.entries.remove(key);
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Keys and values in bash's order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut rows: Vec<_> = self.entries.iter().collect();
        rows.sort_by_cached_key(|(key, entry)| (bucket(key), Reverse(entry.0)));
        rows.into_iter().map(|(key, entry)| (key.as_str(), entry.1.as_str()))
    }

    /// Keys and values, the oldest first: set in this order, another array lists its keys as this one does.
    pub(crate) fn by_age(&self) -> Vec<(&str, &str)> {
        let mut rows: Vec<_> = self.entries.iter().collect();
        rows.sort_unstable_by_key(|(_, entry)| entry.0);
        rows.into_iter().map(|(key, entry)| (key.as_str(), entry.1.as_str())).collect()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.entries.iter().map(|(key, entry)| key.len() + entry.1.len() + 64).sum()
    }
}
