//! What nearly every line changes: `$?`, `PIPESTATUS`, `$_`, and the numbers that others are made from. It is small, and
//! written each time.

use std::sync::{Arc, atomic::Ordering};

use drydock_contract::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    BadCheckpoint, damaged,
    wire::{Reader, Writer},
};
use crate::{
    origin::Origin,
    state::{Computed, Env, PipeStatus, Rlimit},
};

const OF: &str = "the last status";

/// The statuses of the last pipeline follow.
#[derive(Serialize, Deserialize)]
struct MomentRow<'a> {
    status: i32,
    last_word: &'a str,
    line: u32,
    command: &'a str,
    random: u32,
    random_last: u32,
    seed: u64,
    seconds_from: u64,
    getopts_at: u32,
    lines: u32,
    next_id: u32,
    span: u64,
    made: u64,
    last_job: Option<u32>,
    exit_status: Option<i32>,
    pipe: u32,
}

pub(super) fn write(env: &Env, to: &mut Writer) {
    let Computed { random, random_last, seed, seconds_from, getopts_at, lines } = env.computed;
    let pipe = env.results.pipe_status.as_slice();
    to.put(&MomentRow {
        status: env.status,
        last_word: &env.trace.last_word,
        line: env.trace.line,
        command: &env.trace.command,
        random,
        random_last,
        seed,
        seconds_from: seconds_from.0,
        getopts_at: u32::try_from(getopts_at).unwrap_or(0),
        lines,
        next_id: env.shared.next_id.load(Ordering::Relaxed),
        span: env.identity.origin.span(),
        made: env.identity.origin.made(),
        last_job: env.jobs.last,
        exit_status: env.traps.exit_status,
        pipe: u32::try_from(pipe.len()).unwrap_or(u32::MAX),
    });
    pipe.iter().for_each(|it| to.put(it));
    to.count(env.rlimits.iter().count());
    env.rlimits.iter().for_each(|(letter, it)| to.put(&(letter, it.soft, it.hard)));
}

pub(super) fn read(mut from: Reader<'_, '_>, env: &mut Env) -> Result<(), BadCheckpoint> {
    let row: MomentRow<'_> = from.take(OF)?;
    let getopts_at = row.getopts_at as usize;
    if getopts_at > env.shared.limits.expansion_bytes_max {
        return Err(damaged("`getopts` is behind the end of every word"));
    }
    let mut pipe = Vec::new();
    for _ in 0..row.pipe {
        pipe.push(from.take(OF)?);
    }
    env.results.pipe_status = match *pipe.as_slice() {
        [] => PipeStatus::None,
        [status] => PipeStatus::One(status),
        _ => PipeStatus::Many(pipe.into()),
    };
    env.computed = Computed {
        random: row.random,
        random_last: row.random_last,
        seed: row.seed,
        seconds_from: Timestamp(row.seconds_from),
        getopts_at,
        lines: row.lines,
    };
    env.status = row.status;
    env.trace.last_word = row.last_word.to_owned();
    env.trace.line = row.line;
    env.trace.command = row.command.into();
    env.jobs.last = row.last_job;
    env.traps.exit_status = row.exit_status;
    env.identity.origin = Origin::resumed(row.span, row.made);
    for _ in 0..from.take::<u32>(OF)? {
        let (letter, soft, hard): (char, Option<u64>, Option<u64>) = from.take(OF)?;
        Arc::make_mut(&mut env.rlimits).set(letter, Rlimit { soft, hard });
    }
    // The shell itself is 1, and no subshell may be that.
    env.shared.next_id.store(row.next_id.max(2), Ordering::Relaxed);
    from.end(OF)
}
