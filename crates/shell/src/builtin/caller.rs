//! `caller`: where the running function was called.

use std::sync::Arc;

use crate::state::{Env, Eval};

pub(super) async fn run(env: &mut Env, args: &[String]) -> Eval<i32> {
    let level = match args.first().map(|it| it.parse::<usize>()) {
        None => 0,
        Some(Ok(level)) => level,
        Some(Err(_)) => {
            env.complain(&format!("caller: {}: invalid number", args[0])).await?;
            return Ok(2);
        }
    };
    let Some(at) = env.frame.calls.len().checked_sub(level + 1) else { return Ok(1) };
    let script = env.identity.is_script_file();
    let line = env.frame.calls[at].line;
    // The file is that of the caller: the function around, or what the shell began with.
    let source = match at.checked_sub(1).and_then(|it| env.frame.calls.get(it)) {
        Some(around) => Arc::clone(&around.source),
        None if script => env.identity.base_name(),
        None => "NULL".into(),
    };
    let line = if args.is_empty() {
        format!("{line} {source}\n")
    } else {
        let by = match at.checked_sub(1).and_then(|it| env.frame.calls.get(it)) {
            Some(around) => around.function.clone(),
            None if script => "main".to_owned(),
            None => return Ok(1),
        };
        format!("{line} {by} {source}\n")
    };
    env.print(&line).await?;
    Ok(0)
}
