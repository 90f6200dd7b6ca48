//! The shell as a command of commands: `xargs sh -c`, `find -exec bash`, `env sh`, `timeout 1 bash`.
//!
//! It is a shell like the one a line nests, with the files and limits of the line, variables from
//! the environment it was given, and the door it was given: one level deeper, so nesting ends. It
//! parses text, and is refused by name where `eval` is not allowed.
//!
//! A recipe of `make` is a text like a script if the makefiles it comes from were there before the line.
//! Which they are, somebody says whom whoever stands behind the door believes.

use std::sync::{Arc, Weak, atomic::Ordering};

use drydock_contract::{BoxFuture, Outcome, port::FileRules};

use super::{
    builtin::nested,
    door::{Commands, LineEnds, NumberedEnd},
    fd::Fd,
    inbox::Inbox,
    state::{Env, Flow, Shared},
    syntax::is_name,
    text,
    vars::Value,
};

/// A shell that one of a line's commands starts.
pub struct NestedCommand {
    /// What it is called: `bash` or `sh`.
    pub name: String,
    /// Its arguments.
    pub args: Vec<Vec<u8>>,
    /// `NAME=value` entries.
    pub env: Arc<[Vec<u8>]>,
    /// What holds for the files that it makes and writes.
    pub file_rules: FileRules,
    /// The makefiles that its text comes from, if it is a recipe.
    pub recipe_of: Option<Vec<String>>,
    /// What it reads and writes.
    pub ends: LineEnds,
    /// What it and its commands open as `/dev/fd/N`.
    pub numbered: Vec<(u32, NumberedEnd)>,
    /// Where it starts commands and what is left of its time: one level deeper than whoever starts it.
    pub commands: Arc<dyn Commands>,
    /// Where its randomness starts.
    pub seed: u64,
}

/// The shells that commands of a shell may start. Weak, because whoever holds it is held by the shell's own door.
pub struct NestedShells(Weak<Shared>);

impl NestedShells {
    pub(crate) fn of(shared: &Arc<Shared>) -> Self {
        Self(Arc::downgrade(shared))
    }

    /// Whether a name is a shell's.
    pub fn offers(&self, name: &str) -> bool {
        nested::NAMES.contains(&name)
    }

    /// Runs one to its end. The line in flight polls it.
    pub fn run(&self, command: NestedCommand) -> BoxFuture<'static, Outcome> {
        let shared = self.0.upgrade();
        Box::pin(async move {
            let Some(shared) = shared else { return Outcome::Cancelled };
            let NestedCommand {
                name,
                args,
                env: entries,
                file_rules,
                recipe_of,
                ends,
                numbered,
                commands,
                seed,
            } = command;
            let mut env = Env::bare(Arc::clone(&shared));
            env.identity.id = shared.next_id.fetch_add(1, Ordering::Relaxed);
            env.identity.pid = env.identity.id;
            env.traps.inbox = Arc::new(Inbox::default());
            env.identity.name = name.as_str().into();
            env.computed.seed_random(seed, &env.identity.origin);
            env.dirs.umask = file_rules.umask.bits();
            if let Some(max) = file_rules.bytes_max {
                Arc::make_mut(&mut env.rlimits).inherit_file_bytes(max);
            }
            env.nested = Some(commands);
            take_environment(&mut env, &entries);
            env.define().functions = Arc::new(shared.handed.lock().clone());
            env.define().exported_functions = Arc::new(env.definitions.functions.keys().cloned().collect());
            env.fds.insert(0, Fd::PipeIn(ends.stdin));
            env.fds.insert(1, Fd::PipeOut(ends.stdout));
            env.fds.insert(2, Fd::PipeOut(ends.stderr));
            for (number, end) in numbered {
                let fd = match end {
                    NumberedEnd::Nothing => Fd::Null,
                    NumberedEnd::Reads(reader) => Fd::PipeIn(reader),
                    NumberedEnd::Writes(writer) => Fd::PipeOut(writer),
                };
                env.fds.insert(number, fd);
            }
            let args = args.iter().map(|arg| text::from_bytes(arg));
            let words: Vec<String> = std::iter::once(name).chain(args).collect();
            let done = shared.tasks.spawn(async move {
                let ran = match recipe_of {
                    Some(makefiles) => nested::run_recipe(&mut env, &words, &makefiles).await,
                    None => nested::run(&mut env, &words).await,
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
            done.await
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
            env.dirs.cwd = value.into();
        }
    }
}
