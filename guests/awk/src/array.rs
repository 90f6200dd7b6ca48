//! Arrays: found by name, gone through in the order in which they were filled.

use crate::value::{Text, Value};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

/// An associative array.
#[derive(Debug, Default)]
pub(crate) struct Array {
    places: HashMap<Text, usize, BuildHasherDefault<Mix>>,
    /// `None` where an element was deleted.
    elements: Vec<Option<(Text, Value)>>,
    /// The first name was a whole number; such arrays keep those apart from the others.
    by_number: bool,
}

impl Array {
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(crate) fn contains(&self, key: &Vec<u8>) -> bool {
        self.places.contains_key(key)
    }

    pub(crate) fn get(&self, key: &Vec<u8>) -> Option<&Value> {
        let place = *self.places.get(key)?;
        self.elements[place].as_ref().map(|(_, value)| value)
    }

    /// The element, made if it is not there.
    #[expect(clippy::expect_used, reason = "a place is listed exactly as long as it is filled")]
    pub(crate) fn entry(&mut self, key: &Vec<u8>) -> &mut Value {
        let place = match self.places.get(key) {
            Some(place) => *place,
            None => {
                if self.places.is_empty() {
                    self.by_number = whole(key).is_some();
                }
                let key = Rc::new(key.clone());
                self.places.insert(Rc::clone(&key), self.elements.len());
                self.elements.push(Some((key, Value::Nothing)));
                self.elements.len() - 1
            }
        };
        &mut self.elements[place].as_mut().expect("a place that is listed is filled").1
    }

    pub(crate) fn set(&mut self, key: &Vec<u8>, value: Value) {
        *self.entry(key) = value;
    }

    pub(crate) fn remove(&mut self, key: &Vec<u8>) {
        if let Some(place) = self.places.remove(key) {
            self.elements[place] = None;
        }
        if self.elements.len() > 32 && self.elements.len() > 2 * self.places.len() {
            self.elements.retain(Option::is_some);
            for (place, element) in self.elements.iter().enumerate() {
                if let Some((key, _)) = element
                    && let Some(known) = self.places.get_mut(key)
                {
                    *known = place;
                }
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.elements.clear();
    }

    /// The names, in gawk's order: by the buckets of its table, whole numbers from 1 on last and by size.
    pub(crate) fn keys(&self) -> Vec<Text> {
        let mut table = Buckets::default();
        let (mut others, mut numbers) = (Vec::new(), Vec::new());
        for (key, _) in self.elements.iter().flatten() {
            match whole(key).filter(|_| self.by_number) {
                Some(number @ 1..) => numbers.push((number, Rc::clone(key))),
                Some(_) => others.push(Rc::clone(key)),
                None => table.insert(Rc::clone(key)),
            }
        }
        numbers.sort_by_key(|(number, _)| *number);
        let mut keys = table.into_keys();
        keys.append(&mut others);
        keys.extend(numbers.into_iter().map(|(_, key)| key));
        keys
    }

    /// The names and what they stand for, in the same order.
    pub(crate) fn pairs(&self) -> Vec<(Text, Value)> {
        let known = |key: Text| self.get(&key).cloned().map(|value| (key, value));
        self.keys().into_iter().filter_map(known).collect()
    }
}

/// The whole number that a name spells without anything superfluous.
fn whole(key: &[u8]) -> Option<i64> {
    let digits = key.strip_prefix(b"-").unwrap_or(key);
    let plain = matches!(digits, [b'1'..=b'9', ..] | [b'0']) && key != b"-0";
    if !plain || digits.len() > 18 {
        return None;
    }
    std::str::from_utf8(key).ok()?.parse().ok()
}

/// The sizes a table of gawk's can have.
const SIZES: &[usize] = &[13, 127, 1021, 8191, 131_071, 1_048_573, 8_388_593];
/// Names a bucket, on average, before the table grows.
const CHAIN_MAX: usize = 2;

/// A table as gawk keeps it, for its order alone. Programs should not depend on it, but do.
#[derive(Default)]
struct Buckets {
    buckets: Vec<Vec<(u64, Text)>>,
    count: usize,
}

impl Buckets {
    fn insert(&mut self, key: Text) {
        self.count += 1;
        if self.buckets.is_empty() || self.count / self.buckets.len() > CHAIN_MAX {
            self.grow();
        }
        let code = code(&key);
        let size = self.buckets.len() as u64;
        self.buckets[(code % size) as usize].push((code, key));
    }

    fn grow(&mut self) {
        let Some(size) = SIZES.iter().find(|size| **size > self.buckets.len()) else { return };
        let old = std::mem::replace(&mut self.buckets, vec![Vec::new(); *size]);
        // Each bucket is a stack: the last that came is the first that is met.
        for (code, key) in old.into_iter().flat_map(|bucket| bucket.into_iter().rev()) {
            self.buckets[(code % *size as u64) as usize].push((code, key));
        }
    }

    fn into_keys(self) -> Vec<Text> {
        self.buckets.into_iter().flat_map(|bucket| bucket.into_iter().rev()).map(|(_, key)| key).collect()
    }
}

/// Gawk's hash of a name.
fn code(key: &[u8]) -> u64 {
    key.iter().fold(0u64, |hash, byte| {
        let shifted = hash << 6;
        let mixed = u64::from(*byte).wrapping_add(shifted).wrapping_add(shifted << 10).wrapping_sub(hash);
        mixed & 0xffff_ffff
    })
}

/// A hash for short strings. Whoever fills a table so that it is slow only slows himself.
#[derive(Default)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        self.0 ^= self.0 >> 29;
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}
