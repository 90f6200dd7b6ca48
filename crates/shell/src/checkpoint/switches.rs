//! Options of `set -o` and `shopt`: the names of those that are on. The others are off.

use super::{
    BadCheckpoint, damaged,
    part::Section,
    wire::{Reader, Writer},
};
use crate::{options::Options, state::Env};

const OF: &str = "the options";

pub(super) struct Switches;

impl Section for Switches {
    type Key = Options;

    fn key(env: &Env) -> Self::Key {
        env.options
    }

    fn is_same(key: &Self::Key, env: &Env) -> bool {
        *key == env.options
    }

    fn write(env: &Env, to: &mut Writer) {
        for rows in [env.options.all(), env.options.all_shopt()] {
            let on: Vec<&str> = rows.into_iter().filter(|it| it.1).map(|it| it.0).collect();
            to.count(on.len());
            on.iter().for_each(|name| to.put(name));
        }
    }
}

pub(super) fn read(mut from: Reader<'_, '_>, env: &mut Env) -> Result<(), BadCheckpoint> {
    let mut options = Options::all_off();
    for switch in [Options::long, Options::shopt] {
        for _ in 0..from.take::<u32>(OF)? {
            let name: &str = from.take(OF)?;
            let unknown = || damaged(format!("`{}` is no option", name.escape_debug()));
            *switch(&mut options, name).ok_or_else(unknown)? = true;
        }
    }
    env.options = options;
    from.end(OF)
}
