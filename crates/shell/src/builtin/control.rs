//! Ways out, and `let`.

use drydock_abi::shell::TextFrom;

use crate::state::{Env, Eval, Flow};

impl Env {
    /// A builtin with more arguments than it takes: the line is lost, and in `-c` the shell.
    pub(super) async fn too_many(&mut self, name: &str) -> Eval<Flow> {
        self.complain(&format!("{name}: too many arguments")).await?;
        self.status = 1;
        Ok(match self.identity.text_from {
            TextFrom::Argument => Flow::Exit(1),
            TextFrom::File | TextFrom::Stdin => Flow::Discard,
        })
    }
}

/// A status argument; what is no number is 2, with a message.
async fn status_of(env: &mut Env, name: &str, args: &[String]) -> Eval<i32> {
    let args = if args.first().is_some_and(|it| it == "--") { &args[1..] } else { args };
    if args.len() > 1 && args[0].parse::<i64>().is_ok() {
        return Err(env.too_many(name).await?);
    }
    let Some(text) = args.first() else {
        return Ok(env
            .traps
            .exit_status
            .filter(|_| name == "exit" && env.traps.is_running)
            .unwrap_or(env.status));
    };
    match text.parse::<i64>() {
        Ok(status) => Ok((status & 0xff) as i32),
        Err(_) => {
            env.complain(&format!("{name}: {text}: numeric argument required")).await?;
            Ok(2)
        }
    }
}

pub(super) async fn exit(env: &mut Env, args: &[String]) -> Eval<i32> {
    let status = status_of(env, "exit", args).await?;
    Err(Flow::Exit(status))
}

pub(super) async fn give_back(env: &mut Env, args: &[String]) -> Eval<i32> {
    if !env.frame.is_in_function() && env.frame.sources.is_empty() {
        env.complain("return: can only `return' from a function or sourced script").await?;
        return Ok(2);
    }
    let status = status_of(env, "return", args).await?;
    Err(Flow::Return(status))
}

pub(super) async fn leave_loop(env: &mut Env, name: &str, args: &[String]) -> Eval<i32> {
    if env.frame.loops == 0 {
        env.complain(&format!("{name}: only meaningful in a `for', `while', or `until' loop")).await?;
        return Ok(0);
    }
    if args.len() > 1 {
        return Err(env.too_many(name).await?);
    }
    let levels = match args.first().map(|text| text.parse::<i64>()) {
        None => 1,
        Some(Ok(levels)) if levels > 0 => u32::try_from(levels).unwrap_or(u32::MAX).min(env.frame.loops),
        Some(Ok(levels)) => {
            env.complain(&format!("{name}: {levels}: loop count out of range")).await?;
            env.status = 1;
            return Err(Flow::Break(env.frame.loops));
        }
        Some(Err(_)) => {
            env.complain(&format!("{name}: {}: numeric argument required", args[0])).await?;
            return Err(Flow::Exit(128));
        }
    };
    env.status = 0;
    Err(if name == "break" { Flow::Break(levels) } else { Flow::Continue(levels) })
}

pub(super) async fn let_(env: &mut Env, args: &[String]) -> Eval<i32> {
    let mut value = 0;
    if args.is_empty() {
        env.complain("let: expression expected").await?;
        return Ok(1);
    }
    for text in args {
        match env.compute(text) {
            Ok(number) => value = number,
            Err(error) => {
                env.complain(&format!("let: {}", error.0)).await?;
                return Ok(1);
            }
        }
    }
    Ok(i32::from(value == 0))
}

/// Without a command its redirections stay; with one, the shell ends when the command does.
pub(super) async fn exec(env: &mut Env, args: &[String]) -> Eval<i32> {
    if args.is_empty() {
        return Ok(0);
    }
    let mut args = args;
    while let [first, rest @ ..] = args {
        match first.as_str() {
            "-c" | "-l" => args = rest,
            // What a command calls itself is its own name here.
            "-a" => args = rest.get(1..).unwrap_or_default(),
            "--" => {
                args = rest;
                break;
            }
            other if other.starts_with('-') => {
                env.complain(&format!("exec: {other}: invalid option")).await?;
                return Ok(2);
            }
            _ => break,
        }
    }
    if args.is_empty() {
        return Ok(0);
    }
    env.dispatch_command(args.to_vec()).await?;
    Err(Flow::Exit(env.status))
}
