//! The shell as a command of commands: `xargs sh -c`, `find -exec bash`, `env sh`, `timeout 1 bash`.
//!
//! It is a shell like the one a line nests, with the files and limits of the line, variables from
//! the environment it was given, and the door it was given: one level deeper, so nesting ends. It
//! parses text, and is refused by name where `eval` is not allowed.
//!
//! A recipe of `make` is a text like a script if the makefiles it comes from were there before the line.
//! `make` names them; that it is `make` itself, and not somebody who says so, the gate knows.

use std::sync::{Arc, Weak, atomic::Ordering};

use drydock_contract::{BoxFuture, Outcome, Streams, Timestamp, Waited};
use drydock_gate::{Inside, InsideCommand};

use super::{
    builtin::nested,
    fd::{Fd, Input, Output},
    inbox::Inbox,
    state::{Env, Flow, NestedDeadline, Shared},
    syntax::is_name,
    text,
    vars::Value,
};

/// Weak, because a session that holds it is held by the shell's own door.
pub(super) struct Within(pub(super) Weak<Shared>);

impl Inside for Within {
    fn offers(&self, name: &str) -> bool {
        nested::NAMES.contains(&name)
    }

    fn run(&self, command: InsideCommand) -> BoxFuture<'static, (Outcome, Streams)> {
        let shared = self.0.upgrade();
        Box::pin(async move {
            let Some(shared) = shared else { return (Outcome::Cancelled, command.streams) };
            let InsideCommand {
                name,
                args,
                env: entries,
                wall_max,
                umask,
                caller,
                streams,
                door,
                entropy,
                preparing,
            } = command;
            let mut env = Env::bare(Arc::clone(&shared));
            env.id = shared.next_id.fetch_add(1, Ordering::Relaxed);
            env.pid = env.id;
            env.inbox = Arc::new(Inbox::default());
            env.name = name.as_str().into();
            env.door = Some(door);
            env.seed_random(entropy.seed());
            env.mask = umask.bits();
            env.deadline = wall_max.map(|wall| {
                let nanos = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
                let until = Timestamp(shared.clock.now().0.saturating_add(nanos));
                let preparing = shared.clock.stepped().is_none().then_some(preparing);
                NestedDeadline { until, waited: Waited::from_now(preparing) }
            });
            take_environment(&mut env, &entries);
            env.functions = Arc::new(shared.handed.lock().clone());
            env.exported_functions = Arc::new(env.functions.keys().cloned().collect());
            let input = Arc::new(Input::new(streams.stdin));
            let output = Arc::new(Output::new(streams.stdout));
            let errors = Arc::new(Output::new(streams.stderr));
            env.fds.insert(0, Fd::Input(Arc::clone(&input)));
            env.fds.insert(1, Fd::Output(Arc::clone(&output)));
            env.fds.insert(2, Fd::Output(Arc::clone(&errors)));
            let by_make = caller.as_deref() == Some(MAKE);
            let (makefiles, args) = claims(args.iter().map(|arg| text::from_bytes(arg)).collect(), by_make);
            let words: Vec<String> = std::iter::once(name).chain(args).collect();
            let done = shared.tasks.spawn(async move {
                let ran = match by_make {
                    true => nested::run_recipe(&mut env, &words, &makefiles).await,
                    false => nested::run(&mut env, &words).await,
                };
                let status = match ran {
                    Ok(status) | Err(Flow::Exit(status) | Flow::Return(status)) => status,
                    Err(Flow::Abort) => return Outcome::Cancelled,
                    Err(_) => 1,
                };
                match env.is_late() {
                    true => Outcome::TimedOut,
                    false => Outcome::Exited(status),
                }
            });
            let outcome = done.await;
            (outcome, Streams { stdin: input.take(), stdout: output.take(), stderr: errors.take() })
        })
    }
}

/// The built-in command whose word about makefiles is taken.
const MAKE: &str = "make";
const CLAIM: &str = "--from-makefile";

/// The makefiles that a recipe says it comes from, and its other arguments.
fn claims(args: Vec<String>, by_make: bool) -> (Vec<String>, Vec<String>) {
    let (mut files, mut rest) = (Vec::new(), args.into_iter().peekable());
    while by_make && rest.peek().is_some_and(|it| it == CLAIM) {
        rest.next();
        files.extend(rest.next());
    }
    (files, rest.collect())
}

fn take_environment(env: &mut Env, entries: &[Vec<u8>]) {
    for entry in entries {
        let entry = text::from_bytes(entry);
        let Some((name, value)) = entry.split_once('=').filter(|it| is_name(it.0)) else { continue };
        let var = env.vars.entry(name);
        var.value = Value::Scalar(value.to_owned());
        var.attributes.exported = true;
        if name == "PWD" {
            env.cwd = value.to_owned();
        }
    }
}
