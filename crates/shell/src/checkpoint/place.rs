//! Where a shell is and what it was called with: `$0`, `$1` and on, directories and umask.

use std::sync::Arc;

use drydock_contract::port::{FileKind, Follow};
use serde::{Deserialize, Serialize};

use super::{
    BadCheckpoint, damaged,
    part::{Same, Section},
    wire::{Reader, Writer},
};
use crate::state::Env;

const OF: &str = "the directories and arguments";

pub(super) struct Place;

/// Arguments and then the stack of directories follow.
#[derive(Serialize, Deserialize)]
struct PlaceRow<'a> {
    name: &'a str,
    cwd: &'a str,
    umask: u32,
    args: u32,
    stack: u32,
}

impl Section for Place {
    type Key = (Same<str>, Same<str>, Same<Vec<String>>, Same<Vec<String>>, u32);

    fn key(env: &Env) -> Self::Key {
        let (name, cwd) = (Same::of(&env.identity.name), Same::of(&env.dirs.cwd));
        (name, cwd, Same::of(&env.frame.args), Same::of(&env.dirs.stack), env.dirs.umask)
    }

    fn is_same(key: &Self::Key, env: &Env) -> bool {
        key.0.is(&env.identity.name)
            && key.1.is(&env.dirs.cwd)
            && key.2.is(&env.frame.args)
            && key.3.is(&env.dirs.stack)
            && key.4 == env.dirs.umask
    }

    fn write(env: &Env, to: &mut Writer) {
        let (args, stack) = (&env.frame.args, &env.dirs.stack);
        let count = |list: &[String]| u32::try_from(list.len()).unwrap_or(u32::MAX);
        to.put(&PlaceRow {
            name: &env.identity.name,
            cwd: &env.dirs.cwd,
            umask: env.dirs.umask,
            args: count(args),
            stack: count(stack),
        });
        args.iter().chain(stack.iter()).for_each(|it| to.put(&it.as_str()));
    }
}

pub(super) fn read(mut from: Reader<'_, '_>, env: &mut Env) -> Result<(), BadCheckpoint> {
    let PlaceRow { name, cwd, umask, args, stack } = from.take(OF)?;
    if !cwd.starts_with('/') || cwd.contains('\0') {
        return Err(damaged(format!("`{}` is no working directory", cwd.escape_debug())));
    }
    if umask > 0o777 {
        return Err(damaged(format!("{umask:o} is no umask")));
    }
    let mut list = |count: u32| -> Result<Arc<Vec<String>>, BadCheckpoint> {
        let mut rows = Vec::new();
        for _ in 0..count {
            rows.push(from.take::<&str>(OF)?.to_owned());
        }
        Ok(Arc::new(rows))
    };
    env.frame.args = list(args)?;
    env.dirs.stack = list(stack)?;
    env.dirs.cwd = cwd.into();
    env.dirs.umask = umask;
    env.identity.name = name.into();
    from.end(OF)
}

/// Whether the working directory is still there.
pub(super) fn is_directory(env: &Env) -> bool {
    let stat = env.tree_path(&env.dirs.cwd).map(|path| env.shared.files.stat(&path, Follow::Yes));
    matches!(stat, Ok(Ok(stat)) if stat.kind == FileKind::Directory)
}
