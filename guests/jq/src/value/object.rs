//! Objects: keys in the order they came, found by comparing while there are few, by hash when many.

use super::{Text, Value};

/// Up to so many keys are compared one after the other.
const COMPARED_MAX: usize = 12;
const FREE: u32 = u32::MAX;

/// The fields of an object.
#[derive(Clone, Default)]
pub struct Object {
    fields: Vec<(Text, Value)>,
    /// Places in `fields` by hash; empty while there are few, or after something was removed.
    index: Box<[u32]>,
}

impl Object {
    /// Without any.
    pub fn new() -> Self {
        Self::default()
    }

    /// With room for `count` fields.
    pub fn with_capacity(count: usize) -> Self {
        Self { fields: Vec::with_capacity(count), index: Box::default() }
    }

    /// From fields whose keys all differ.
    pub(crate) fn of_distinct(fields: Vec<(Text, Value)>) -> Self {
        Self { fields, index: Box::default() }
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The fields in order.
    pub fn iter(&self) -> std::slice::Iter<'_, (Text, Value)> {
        self.fields.iter()
    }

    /// The values, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.fields.iter_mut().map(|(_, value)| value)
    }

    /// The field at a place.
    pub fn at(&self, place: usize) -> Option<&(Text, Value)> {
        self.fields.get(place)
    }

    /// Takes all fields out.
    pub fn take_fields(&mut self) -> Vec<(Text, Value)> {
        self.index = Box::default();
        std::mem::take(&mut self.fields)
    }

    #[inline]
    fn place_of(&self, key: &Text) -> Option<usize> {
        if self.index.is_empty() {
            return self.fields.iter().position(|(known, _)| known == key);
        }
        let mask = self.index.len() - 1;
        let mut slot = hash(key) as usize & mask;
        loop {
            match self.index[slot] {
                FREE => return None,
                place if self.fields[place as usize].0 == *key => return Some(place as usize),
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    /// The value of a key.
    #[inline]
    pub fn get(&self, key: &Text) -> Option<&Value> {
        self.place_of(key).map(|place| &self.fields[place].1)
    }

    /// Whether there is such a key.
    pub fn contains_key(&self, key: &Text) -> bool {
        self.place_of(key).is_some()
    }

    /// The value of a key, made `null` if it is new.
    pub fn entry(&mut self, key: &Text) -> &mut Value {
        let place = match self.place_of(key) {
            Some(place) => place,
            None => self.append(key.clone(), Value::Null),
        };
        &mut self.fields[place].1
    }

    /// Sets the value of a key; a new key comes last.
    pub fn insert(&mut self, key: Text, value: Value) {
        match self.place_of(&key) {
            Some(place) => self.fields[place].1 = value,
            None => {
                self.append(key, value);
            }
        }
    }

    fn append(&mut self, key: Text, value: Value) -> usize {
        let place = self.fields.len();
        self.fields.push((key, value));
        if place < COMPARED_MAX {
            return place;
        }
        // At most half full, so that a free slot is never far.
        if self.index.len() < self.fields.len() * 2 {
            self.rebuild();
        } else {
            let slot = free_slot(&self.index, &self.fields[place].0);
            self.index[slot] = place as u32;
        }
        place
    }

    fn rebuild(&mut self) {
        let mut index = vec![FREE; (self.fields.len() * 4).next_power_of_two()].into_boxed_slice();
        for (place, (key, _)) in self.fields.iter().enumerate() {
            let slot = free_slot(&index, key);
            index[slot] = place as u32;
        }
        self.index = index;
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &Text) -> Option<Value> {
        let place = self.place_of(key)?;
        self.index = Box::default();
        Some(self.fields.remove(place).1)
    }

    /// Keeps the fields that `keep` says yes to.
    pub fn retain(&mut self, mut keep: impl FnMut(&Text) -> bool) {
        self.fields.retain(|(key, _)| keep(key));
        self.index = Box::default();
        if self.fields.len() > COMPARED_MAX {
            self.rebuild();
        }
    }

    /// The fields in the order of their keys.
    pub fn sorted(&self) -> Vec<&(Text, Value)> {
        let mut all: Vec<&(Text, Value)> = self.fields.iter().collect();
        all.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        all
    }
}

impl FromIterator<(Text, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (Text, Value)>>(fields: I) -> Self {
        let fields = fields.into_iter();
        let mut object = Self::with_capacity(fields.size_hint().0);
        fields.for_each(|(key, value)| object.insert(key, value));
        object
    }
}

fn free_slot(index: &[u32], key: &Text) -> usize {
    let mask = index.len() - 1;
    let mut slot = hash(key) as usize & mask;
    while index[slot] != FREE {
        slot = (slot + 1) & mask;
    }
    slot
}

/// FNV-1a. A text made to collide costs its own run the time, and nobody else.
fn hash(key: &str) -> u32 {
    key.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
