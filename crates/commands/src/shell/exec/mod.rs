//! Evaluation of the tree.

mod assign;
mod compound;
mod cond;
mod declare;
mod declared;
mod external;
mod function;
mod pipeline;
mod record;
mod redirect;
mod signal;
mod simple;
mod text;
mod unknown;

use std::sync::{Arc, atomic::Ordering};

use drydock_contract::{BoxFuture, exit, schedule};

use super::{
    fd::Fd,
    inbox::Inbox,
    state::{Env, Eval, Flow, Job},
    syntax::{
        Script,
        ast::{AndOr, Command, Item, Join},
    },
};

pub(crate) use external::{bare, file_error};
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
        let id = inner.id;
        let inbox = Arc::new(Inbox::default());
        self.shared.directory.enter(id, &inbox);
        inner.inbox = Arc::clone(&inbox);
        inner.owns_inbox = true;
        self.room_for_one(&inner)?;
        let list = Arc::clone(&item.list);
        let done = self.shared.tasks.spawn(async move {
            let result = inner.run_and_or(&list).await;
            inner.end(result).await
        });
        let last = self.jobs.iter().filter(|job| !job.done.is_done()).map(|job| job.number).max();
        let number = last.map_or(1, |it| it + 1);
        self.jobs.push(Job { id, number, inbox, done, typed: Arc::clone(&item.typed) });
        self.last_job = Some(id);
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
        self.tested += 1;
        let result = self.run_pipeline(&list.first).await;
        self.tested -= 1;
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
            self.tested += u32::from(!last);
            let result = self.run_pipeline(pipeline).await;
            self.tested -= u32::from(!last);
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
                self.run_compound(compound).await
            }
            Command::Compound(compound, redirects, place) => {
                self.at_line(place.line);
                let saved = self.fds.clone();
                let since = self.processes.len();
                let result = match self.redirect_all(redirects).await {
                    Ok(true) => self.run_compound(compound).await,
                    Ok(false) => {
                        self.status = 1;
                        self.fds.clone_from(&saved);
                        if self.tested == 0 { self.failed().await } else { Ok(()) }
                    }
                    Err(flow) => Err(flow),
                };
                self.restore(saved);
                self.finish_processes(since).await?;
                result
            }
            Command::Function(function) => {
                let functions = Arc::make_mut(&mut self.functions);
                functions.insert(function.name.clone(), Arc::clone(function));
                let max = FUNCTION_TEXTS_MAX * self.shared.limits.text_bytes_max;
                if functions.values().map(|it| it.source.len()).sum::<usize>() > max {
                    return Err(self.abort(format!("the functions have more than {max} bytes of text")));
                }
                let source = self.source_name();
                if !self.sources.is_empty() || self.defined_in.contains_key(&function.name) {
                    Arc::make_mut(&mut self.defined_in).insert(function.name.clone(), source);
                }
                self.status = 0;
                Ok(())
            }
        }
    }

    /// Where evaluation is, for `LINENO` and messages; a trap keeps the line it was set off at.
    pub(super) fn at_line(&mut self, line: u32) {
        if !self.in_trap {
            self.line = line;
        }
    }

    /// Refuses one subshell too many: what a fork bomb comes to.
    pub(crate) fn room_for_one(&self, inner: &Self) -> Eval<()> {
        let limits = &self.shared.limits;
        if inner.subshell > limits.subshell_depth_max {
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
            && self.inbox.any()
            && let Err(flow) = self.take_signals().await
        {
            result = Err(flow);
        }
        self.settle(&result);
        if self.run_trap("EXIT").await == Err(Flow::Abort) {
            return i32::from(exit::LIMITED);
        }
        for job in std::mem::take(&mut self.jobs) {
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
            if self.in_trap {
                return Ok(());
            }
            let Some(trap) = self.traps.get(name).filter(|it| !it.inert).cloned() else { return Ok(()) };
            let Some(script) = trap.script else {
                if !trap.text.is_empty() {
                    self.complain(&format!("{name} trap: its text is no script")).await?;
                }
                return Ok(());
            };
            if name == "EXIT" {
                Arc::make_mut(&mut self.traps).remove("EXIT");
            }
            let status = self.status;
            if name == "EXIT" {
                self.exit_status = Some(status);
            }
            self.in_trap = true;
            let result = self.run_script(&script).await;
            self.in_trap = false;
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
