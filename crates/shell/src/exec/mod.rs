//! Evaluation of the tree.

mod assign;
mod compound;
mod cond;
mod coproc;
mod declare;
mod declared;
mod external;
mod function;
mod pipeline;
mod record;
mod redirect;
mod select;
mod signal;
mod simple;
mod text;
mod unknown;

use std::sync::{Arc, atomic::Ordering};

use drydock_contract::{BoxFuture, exit, schedule};

use super::{
    builtin,
    fd::Fd,
    inbox::Inbox,
    state::{Env, Eval, Flow, Job},
    syntax::{
        Script,
        ast::{AndOr, Command, Item, Join},
    },
};

pub(crate) use external::{FILE_TOO_LARGE, SIGXFSZ, bare, file_error};
pub(crate) use redirect::FD_MAX;
pub(crate) use signal::Heard;
pub(crate) use text::Discarded;

/// How often the shell steps back for a job it started: until the job was picked up and polled.
const CHILD_FIRST: usize = 3;

/// How many texts of the longest kind all functions together may be: `eval` can define them for ever.
const FUNCTION_TEXTS_MAX: usize = 4;

impl Env {
    pub(crate) fn run_script<'a>(&'a mut self, script: &'a Script) -> BoxFuture<'a, Eval<()>> {
        Box::pin(async move {
            for item in &script.items {
                self.run_item(item).await?;
            }
            Ok(())
        })
    }

    pub(super) async fn run_item(&mut self, item: &Item) -> Eval<()> {
        if self.options.noexec {
            return Ok(());
        }
        if !item.background {
            return self.run_and_or(&item.list).await;
        }
        let mut inner = self.fork();
        inner.fds.insert(0, Fd::Null);
        let id = inner.identity.id;
        let inbox = Arc::new(Inbox::default());
        self.shared.directory.enter(id, &inbox);
        inner.traps.own_inbox(Arc::clone(&inbox));
        self.room_for_one(&inner)?;
        let list = Arc::clone(&item.list);
        let done = self.shared.tasks.spawn(async move {
            let result = inner.run_and_or(&list).await;
            inner.end(result).await
        });
        let number = self.jobs.next_number();
        self.jobs.add(Job { id, number, inbox, done, typed: Arc::clone(&item.typed) });
        self.status = 0;
        // What can run at once does so first, as a forked child mostly would.
        for _ in 0..CHILD_FIRST {
            schedule::turn_done().await;
        }
        Ok(())
    }

    async fn run_and_or(&mut self, list: &AndOr) -> Eval<()> {
        let count = list.rest.len();
        if count == 0 {
            return self.run_pipeline(&list.first).await;
        }
        self.frame.tested += 1;
        let result = self.run_pipeline(&list.first).await;
        self.frame.tested -= 1;
        result?;
        for (index, (join, pipeline)) in list.rest.iter().enumerate() {
            let wanted = match join {
                Join::And => self.status == 0,
                Join::Or => self.status != 0,
            };
            if !wanted {
                continue;
            }
            let last = index + 1 == count;
            self.frame.tested += u32::from(!last);
            let result = self.run_pipeline(pipeline).await;
            self.frame.tested -= u32::from(!last);
            result?;
        }
        Ok(())
    }

    pub(crate) fn run_command<'a>(&'a mut self, command: &'a Command) -> BoxFuture<'a, Eval<()>> {
        Box::pin(self.run_command_here(command))
    }

    async fn run_command_here(&mut self, command: &Command) -> Eval<()> {
        self.step().await?;
        match command {
            Command::Simple(simple) => self.run_simple(simple).await,
            Command::Compound(compound, redirects, place) if redirects.is_empty() => {
                self.at_line(place.line);
                let since = self.fds.processes.len();
                let result = self.run_compound(compound).await;
                // Of `[[ -e <(…) ]]`, of `for x in <(…)`.
                if self.fds.processes.len() > since {
                    self.finish_processes(since).await?;
                }
                result
            }
            Command::Compound(compound, redirects, place) => {
                self.at_line(place.line);
                let saved = self.fds.save();
                let since = self.fds.processes.len();
                let result = match self.redirect_all(redirects).await {
                    Ok(true) => self.run_compound(compound).await,
                    Ok(false) => {
                        self.status = 1;
                        self.fds.put_back(saved.clone());
                        if self.frame.tested == 0 { self.failed().await } else { Ok(()) }
                    }
                    Err(flow) => Err(flow),
                };
                self.fds.restore(saved);
                self.finish_processes(since).await?;
                result
            }
            Command::Function(function) if self.options.posix && builtin::is_special(&function.name) => {
                self.complain(&format!("`{}': is a special builtin", function.name)).await?;
                Err(Flow::Exit(2))
            }
            Command::Function(function) => {
                let max = FUNCTION_TEXTS_MAX * self.shared.limits.text_bytes_max;
                let functions = Arc::make_mut(&mut self.define().functions);
                functions.insert(function.name.clone(), Arc::clone(function));
                if functions.values().map(|it| it.source.text.len()).sum::<usize>() > max {
                    return Err(self.abort(format!("the functions have more than {max} bytes of text")));
                }
                let source = self.source_name();
                if !self.frame.sources.is_empty() || self.definitions.defined_in.contains_key(&function.name)
                {
                    Arc::make_mut(&mut self.define().defined_in).insert(function.name.clone(), source);
                }
                self.status = 0;
                Ok(())
            }
        }
    }

    /// Where evaluation is, for `LINENO` and messages; a trap keeps the line it was set off at.
    pub(super) fn at_line(&mut self, line: u32) {
        if !self.traps.is_running {
            self.trace.line = line;
        }
    }

    /// Refuses one subshell too many: what a fork bomb comes to.
    pub(crate) fn room_for_one(&self, inner: &Self) -> Eval<()> {
        let limits = &self.shared.limits;
        if inner.identity.subshell > limits.subshell_depth_max {
            let max = limits.subshell_depth_max;
            return Err(self.abort(format!("subshells are nested deeper than {max}")));
        }
        if self.shared.tasks.live() >= limits.tasks_max {
            let max = limits.tasks_max;
            return Err(self.abort(format!("more than {max} stages and subshells run at once")));
        }
        Ok(())
    }

    /// Runs a script in the given copy of this shell, as a task of its own.
    pub(crate) async fn run_apart(&mut self, mut inner: Self, script: Arc<Script>) -> Eval<i32> {
        self.step().await?;
        self.room_for_one(&inner)?;
        let done = self.shared.tasks.spawn(async move {
            let result = inner.run_script(&script).await;
            inner.end(result).await
        });
        let status = done.await;
        if self.shared.aborted.load(Ordering::Relaxed) {
            return Err(Flow::Abort);
        }
        Ok(status)
    }

    /// The end of a subshell: its EXIT trap, its jobs, its status.
    pub(crate) async fn end(mut self, mut result: Eval<()>) -> i32 {
        if result.is_ok()
            && self.traps.inbox.any()
            && let Err(flow) = self.take_signals().await
        {
            result = Err(flow);
        }
        self.settle(&result);
        if self.run_trap("EXIT").await == Err(Flow::Abort) {
            return i32::from(exit::LIMITED);
        }
        // Nobody will use them any more, and a coprocess reads until the last writer is gone.
        self.fds.close_pipes();
        for job in std::mem::take(&mut self.jobs.list) {
            job.done.await;
        }
        // Those that read write where this one wrote, and a substitution around it is not done before them.
        for job in std::mem::take(&mut self.jobs.processes).into_iter().filter(|job| job.is_reader) {
            job.done.await;
        }
        self.status
    }

    /// Turns the way out into a status.
    pub(crate) fn settle(&mut self, result: &Eval<()>) {
        match result {
            Ok(()) | Err(Flow::Break(_) | Flow::Continue(_)) => {}
            Err(Flow::Exit(status) | Flow::Return(status)) => self.status = *status,
            Err(Flow::Discard) => self.status = 1,
            Err(Flow::Abort) => self.status = i32::from(exit::LIMITED),
        }
    }

    /// Runs a trap, if it is set, and leaves the status as it was unless the trap exits.
    pub(crate) fn run_trap<'a>(&'a mut self, name: &'a str) -> BoxFuture<'a, Eval<()>> {
        Box::pin(async move {
            if self.traps.is_running {
                return Ok(());
            }
            let Some(trap) = self.traps.set.get(name).filter(|it| !it.inert).cloned() else { return Ok(()) };
            let Some(script) = trap.script else {
                if !trap.text.is_empty() {
                    self.complain(&format!("{name} trap: its text is no script")).await?;
                }
                return Ok(());
            };
            if name == "EXIT" {
                self.traps.set_mut().remove("EXIT");
            }
            let status = self.status;
            if name == "EXIT" {
                self.traps.exit_status = Some(status);
            }
            self.traps.is_running = true;
            let result = self.run_script(&script).await;
            self.traps.is_running = false;
            match result {
                Err(Flow::Exit(code)) => {
                    self.status = code;
                    if name == "EXIT" { Ok(()) } else { Err(Flow::Exit(code)) }
                }
                Err(Flow::Abort) => Err(Flow::Abort),
                other => {
                    self.status = status;
                    if let Err(flow @ Flow::Return(_)) = other { Err(flow) } else { Ok(()) }
                }
            }
        })
    }
}
