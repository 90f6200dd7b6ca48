//! What else names mean: aliases, what `hash` and `complete` were told, and which names the texts so far gave values to.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use super::{
    BadCheckpoint,
    part::{Same, Section},
    wire::{Reader, Writer},
};
use crate::state::{Env, Hashed};

const OF: &str = "the aliases and names";

pub(super) struct Names;

type Table = BTreeMap<String, String>;

impl Section for Names {
    type Key = (Same<Table>, Same<BTreeMap<String, Hashed>>, Same<Table>, Same<HashSet<String>>, bool);

    fn key(env: &Env) -> Self::Key {
        let all = &env.definitions;
        let [aliases, completions] = [&all.aliases, &all.completions].map(Same::of);
        (aliases, Same::of(&all.hashed), completions, Same::of(&env.unknown.known), all.aliases_refused)
    }

    fn is_same(key: &Self::Key, env: &Env) -> bool {
        let all = &env.definitions;
        key.0.is(&all.aliases)
            && key.1.is(&all.hashed)
            && key.2.is(&all.completions)
            && key.3.is(&env.unknown.known)
            && key.4 == all.aliases_refused
    }

    fn write(env: &Env, to: &mut Writer) {
        let all = &env.definitions;
        to.put(&all.aliases_refused);
        for table in [&all.aliases, &all.completions] {
            to.count(table.len());
            table.iter().for_each(|(name, text)| to.put(&(name.as_str(), text.as_str())));
        }
        to.count(all.hashed.len());
        all.hashed.iter().for_each(|(name, it)| to.put(&(name.as_str(), it.path.as_str(), it.hits())));
        let mut known: Vec<&str> = env.unknown.known.iter().map(String::as_str).collect();
        known.sort_unstable();
        to.count(known.len());
        known.iter().for_each(|name| to.put(name));
    }
}

pub(super) fn read(mut from: Reader<'_, '_>, env: &mut Env) -> Result<(), BadCheckpoint> {
    let all = env.define();
    all.aliases_refused = from.take(OF)?;
    for table in [&mut all.aliases, &mut all.completions] {
        let mut rows = Table::new();
        for _ in 0..from.take::<u32>(OF)? {
            let (name, text): (&str, &str) = from.take(OF)?;
            rows.insert(name.to_owned(), text.to_owned());
        }
        *table = Arc::new(rows);
    }
    let mut hashed = BTreeMap::new();
    for _ in 0..from.take::<u32>(OF)? {
        let (name, path, hits): (&str, &str, u32) = from.take(OF)?;
        hashed.insert(name.to_owned(), Hashed::new(path.to_owned(), hits));
    }
    all.hashed = Arc::new(hashed);
    let mut known = HashSet::new();
    for _ in 0..from.take::<u32>(OF)? {
        known.insert(from.take::<&str>(OF)?.to_owned());
    }
    env.unknown.known = Arc::new(known);
    from.end(OF)
}
