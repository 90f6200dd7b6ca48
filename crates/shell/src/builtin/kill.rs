//! `kill`: sends a signal to the shell, a shell inside it, or a job.

use std::sync::Arc;

use super::{jobs::position, signals};
use crate::{
    inbox::Inbox,
    state::{Env, Eval},
};

const USAGE: &str =
    "kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]";

pub(super) async fn run(env: &mut Env, args: &[String]) -> Eval<i32> {
    let (mut signal, mut rest) = (Some(15), args);
    match args {
        [] => {
            env.announce(USAGE).await?;
            return Ok(2);
        }
        [flag, names @ ..] if matches!(flag.as_str(), "-l" | "-L") => {
            return signals::list(env, "kill", names).await;
        }
        [flag, name, more @ ..] if matches!(flag.as_str(), "-s" | "-n") => {
            signal = signals::number(name);
            rest = more;
            if signal.is_none() {
                env.complain(&format!("kill: {name}: invalid signal specification")).await?;
                return Ok(1);
            }
        }
        [flag, more @ ..] if flag.len() > 1 && flag.starts_with('-') && flag != "--" => {
            signal = signals::number(&flag[1..]);
            rest = more;
            if signal.is_none() {
                env.complain(&format!("kill: {}: invalid signal specification", &flag[1..])).await?;
                return Ok(1);
            }
        }
        _ => {}
    }
    if rest.first().is_some_and(|it| it == "--") {
        rest = &rest[1..];
    }
    if rest.is_empty() {
        env.announce(USAGE).await?;
        return Ok(2);
    }
    let signal = signal.unwrap_or(15);
    let mut status = 0;
    for who in rest {
        match target(env, who) {
            Ok(inbox) if signal > 0 => inbox.send(signal),
            Ok(_) => {}
            Err(text) => {
                env.complain(&format!("kill: {text}")).await?;
                status = 1;
            }
        }
    }
    env.status = status;
    env.take_signals().await?;
    Ok(status)
}

fn target(env: &Env, who: &str) -> Result<Arc<Inbox>, String> {
    if who.starts_with('%') {
        let at = position(env, who).ok_or_else(|| format!("{who}: no such job"))?;
        return Ok(Arc::clone(&env.jobs.list[at].inbox));
    }
    let id: i64 = who.parse().map_err(|_| format!("{who}: arguments must be process or job IDs"))?;
    // 0 and a negative number are the shell's own group.
    let id = if id <= 0 { i64::from(env.identity.pid) } else { id };
    let found = u32::try_from(id).ok().and_then(|id| env.shared.directory.find(id));
    let done = env.jobs.list.iter().any(|job| i64::from(job.id) == id && job.done.is_done());
    found.filter(|_| !done).ok_or_else(|| format!("({who}) - No such process"))
}
