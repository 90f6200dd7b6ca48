//! How jobs ended that were waited for, so that whoever waits again is told. Jobs that run are not kept.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    BadCheckpoint,
    part::{Same, Section},
    wire::{Reader, Writer},
};
use crate::state::Env;

const OF: &str = "the jobs that ended";

pub(super) struct Ended;

impl Section for Ended {
    type Key = Same<BTreeMap<u32, i32>>;

    fn key(env: &Env) -> Self::Key {
        Same::of(&env.jobs.ended)
    }

    fn is_same(key: &Self::Key, env: &Env) -> bool {
        key.is(&env.jobs.ended)
    }

    fn write(env: &Env, to: &mut Writer) {
        to.count(env.jobs.ended.len());
        env.jobs.ended.iter().for_each(|(id, status)| to.put(&(*id, *status)));
    }
}

pub(super) fn read(mut from: Reader<'_, '_>, env: &mut Env) -> Result<(), BadCheckpoint> {
    let mut ended = BTreeMap::new();
    for _ in 0..from.take::<u32>(OF)? {
        let (id, status): (u32, i32) = from.take(OF)?;
        ended.insert(id, status);
    }
    env.jobs.ended = Arc::new(ended);
    from.end(OF)
}
