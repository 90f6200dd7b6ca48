//! `eval` and `source`: the only re-parsing there is, and only where it was asked for.

use std::sync::Arc;

use drydock_contract::BoxFuture;

use crate::{
    exec::Discarded,
    fd::Fd,
    state::{Env, Eval, Flow},
    text,
};

pub(super) async fn allowed(env: &mut Env, name: &str) -> Eval<bool> {
    if env.shared.mode.eval_allowed {
        return Ok(true);
    }
    env.complain(&format!("{name}: refused: text is parsed once; pass --eval to allow it")).await?;
    Ok(false)
}

pub(super) async fn eval(env: &mut Env, args: &[String]) -> Eval<i32> {
    if !allowed(env, "eval").await? {
        return Ok(126);
    }
    let args = match args {
        [first, rest @ ..] if first == "--" => rest,
        [first, ..] if first.len() > 1 && first.starts_with('-') => {
            env.complain(&format!("eval: {first}: invalid option")).await?;
            return Ok(2);
        }
        args => args,
    };
    run_text(env, "eval", args.join(" ")).await
}

/// Runs a line again that was remembered.
pub(super) async fn run_again(env: &mut Env, line: String) -> Eval<i32> {
    run_text(env, "eval", line).await
}

/// Parses and runs a text in this shell.
fn run_text<'a>(env: &'a mut Env, name: &'a str, source: String) -> BoxFuture<'a, Eval<i32>> {
    Box::pin(async move {
        if env.frame.depth >= env.shared.limits.call_depth_max.min(200) {
            let max = env.shared.limits.call_depth_max.min(200);
            return Err(env.abort(format!("`{name}` is nested deeper than {max}")));
        }
        // A file goes on with its next line, as the shell's own text does.
        let discarded = if name == "eval" { Discarded::Text } else { Discarded::Line };
        env.status = 0;
        env.frame.depth += 1;
        // A task of its own: the text may nest this very builtin.
        let hollow = env.hollow();
        let mut inner = std::mem::replace(env, hollow);
        let handle = env.shared.tasks.spawn(async move {
            let end = inner.run_text(&source, discarded).await;
            (inner, end)
        });
        let (inner, (result, stopped)) = handle.await;
        *env = inner;
        env.frame.depth -= 1;
        if let Some(error) = stopped {
            env.complain(&format!("{name}: {error}")).await?;
            return Ok(2);
        }
        match result {
            Err(Flow::Discard) => Ok(1),
            Err(flow) => Err(flow),
            Ok(()) => Ok(env.status),
        }
    })
}

/// Everything there is to read, up to a little more than a text may have.
pub(super) async fn read_whole(env: &Env, fd: &Fd) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count @ 1..) = fd.read(&mut buffer).await {
        bytes.extend_from_slice(&buffer[..count]);
        if bytes.len() > env.shared.limits.text_bytes_max {
            break;
        }
    }
    bytes
}

pub(super) async fn source(env: &mut Env, name: &str, args: &[String]) -> Eval<i32> {
    if !allowed(env, name).await? {
        return Ok(126);
    }
    let args = if args.first().is_some_and(|it| it == "--") { &args[1..] } else { args };
    let Some(path) = args.first() else {
        env.complain(&format!("{name}: filename argument required")).await?;
        return Ok(2);
    };
    let found = env.sourced_path(path);
    let fd = match env.open_for_reading(&found) {
        Ok(fd) => fd,
        Err(error) => {
            env.complain(&format!("{path}: {error}")).await?;
            return Ok(1);
        }
    };
    let bytes = read_whole(env, &fd).await;
    let saved =
        (args.len() > 1).then(|| std::mem::replace(&mut env.frame.args, Arc::new(args[1..].to_vec())));
    let line = env.trace.line;
    env.frame.enter_source(path, line);
    let result = run_text(env, name, text::from_bytes(&bytes)).await;
    if let Ok(_) | Err(Flow::Return(_)) = result
        && env.traps.has("RETURN")
        && (!env.frame.is_in_function() || env.options.functrace)
    {
        env.run_trap("RETURN").await?;
    }
    env.frame.leave_source();
    env.trace.line = line;
    if let Some(saved) = saved {
        env.frame.args = saved;
    }
    match result {
        Err(Flow::Return(status)) => Ok(status),
        other => other,
    }
}
