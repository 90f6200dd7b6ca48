//! Traps by their texts, those that ignore a signal included. Signals that wait to be handled are not kept.

use std::{collections::HashMap, sync::Arc};

use super::{
    BadCheckpoint, damaged,
    part::{Same, Section},
    wire::{Reader, Writer},
};
use crate::{
    builtin::signals,
    state::{Env, Trap},
    syntax,
};

const OF: &str = "the traps";

pub(super) struct Traps;

impl Section for Traps {
    type Key = Same<HashMap<String, Trap>>;

    fn key(env: &Env) -> Self::Key {
        Same::of(&env.traps.set)
    }

    fn is_same(key: &Self::Key, env: &Env) -> bool {
        key.is(&env.traps.set)
    }

    fn write(env: &Env, to: &mut Writer) {
        let mut rows: Vec<(&str, &Trap)> =
            env.traps.set.iter().map(|(name, it)| (name.as_str(), it)).collect();
        rows.sort_unstable_by_key(|it| it.0);
        to.count(rows.len());
        rows.iter().for_each(|(name, trap)| to.put(&(*name, trap.text.as_str(), trap.inert)));
    }
}

pub(super) fn read(mut from: Reader<'_, '_>, env: &mut Env) -> Result<(), BadCheckpoint> {
    let limits = syntax::ParseLimits::from(&env.shared.limits);
    let mut set = HashMap::new();
    for _ in 0..from.take::<u32>(OF)? {
        let (name, text, inert): (&str, &str, bool) = from.take(OF)?;
        if signals::number(name).is_none() && !["EXIT", "DEBUG", "ERR", "RETURN"].contains(&name) {
            return Err(damaged(format!("`{}` is nothing to trap", name.escape_debug())));
        }
        // As when it was set: what is no script is an error when the trap is due.
        let script = syntax::parse(text, limits).ok().map(Arc::new);
        set.insert(name.to_owned(), Trap { text: text.to_owned(), script, inert });
    }
    from.end(OF)?;
    let handled = set.keys().filter_map(|it| signals::number(it)).filter(|it| *it > 0);
    env.traps.inbox.handle(handled);
    env.traps.set = Arc::new(set);
    Ok(())
}
