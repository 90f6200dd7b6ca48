//! The shell as a command of commands: `xargs sh -c`, `find -exec bash`, `env sh`, `timeout 1 bash`.
//!
//! It is a shell like the one a line nests, with the files and limits of the line, variables from
//! the environment it was given, and the door it was given: one level deeper, so nesting ends. It
//! parses text, and is refused by name where `eval` is not allowed.

use std::sync::{Arc, Weak, atomic::Ordering};

use drydock_contract::{BoxFuture, Outcome, Streams, Timestamp};
use drydock_gate::{Inside, InsideCommand};

use super::{
    builtin::nested,
    fd::{Fd, Input, Output},
    inbox::Inbox,
    state::{Env, Flow, Shared},
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
            let InsideCommand { name, args, env: entries, wall_max, umask, streams, door, .. } = command;
            let mut env = Env::bare(Arc::clone(&shared));
            env.id = shared.next_id.fetch_add(1, Ordering::Relaxed);
            env.pid = env.id;
            env.inbox = Arc::new(Inbox::default());
            env.name = name.as_str().into();
            env.door = Some(door);
            env.mask = umask.bits();
            env.deadline = wall_max.map(|wall| {
                let nanos = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
                Timestamp(shared.clock.now().0.saturating_add(nanos))
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
            let mut words = vec![name];
            words.extend(args.iter().map(|arg| text::from_bytes(arg)));
            let done = shared.tasks.spawn(async move {
                let status = match nested::run(&mut env, &words).await {
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
