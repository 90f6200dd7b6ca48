//! `coproc`: a job with a pipe to its input and one from its output, whose numbers a variable holds.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    fd::Fd,
    inbox::Inbox,
    state::{Env, Eval, Flow, Job},
    syntax::ast::Command,
    vars::Value,
};

/// Where bash looks for free descriptors that no script would name, from the top.
const FD_TOP: u32 = 63;

impl Env {
    pub(super) async fn coproc(&mut self, name: &str, command: &Arc<Command>, typed: &Arc<str>) -> Eval<()> {
        let pipes = self.shared.door.pipe().zip(self.shared.door.pipe());
        let Some(((inner_in, to_inner), (from_inner, inner_out))) = pipes else {
            return Err(self.abort("the line has too many pipes".to_owned()));
        };
        let mut inner = self.fork();
        inner.fds.insert(0, Fd::PipeIn(inner_in));
        inner.fds.insert(1, Fd::PipeOut(inner_out));
        let id = inner.identity.id;
        let inbox = Arc::new(Inbox::default());
        self.shared.directory.enter(id, &inbox);
        inner.traps.own_inbox(Arc::clone(&inbox));
        self.room_for_one(&inner)?;
        let ends = [self.open_from_top(Fd::PipeIn(from_inner)), self.open_from_top(Fd::PipeOut(to_inner))];
        let command = Arc::clone(command);
        let done = self.shared.tasks.spawn(async move {
            let result = inner.run_command(&command).await;
            inner.end(result).await
        });
        let number = self.jobs.next_number();
        self.jobs.add(Job { id, number, inbox, done, typed: Arc::clone(typed) });
        let ends: BTreeMap<i64, String> = (0..).zip(ends.map(|it| it.to_string())).collect();
        let named = self.vars.set_value(name, Value::Indexed(ends));
        if let Err(error) = named.and_then(|()| self.vars.set(&format!("{name}_PID"), id.to_string())) {
            self.complain(&error.to_string()).await?;
            return Err(Flow::Discard);
        }
        self.status = 0;
        Ok(())
    }

    /// The highest number below the top that stands for nothing.
    pub(crate) fn free_from_top(&self) -> u32 {
        (0..=FD_TOP).rev().chain(FD_TOP + 1..).find(|it| self.fds.get(*it).is_none()).unwrap_or(FD_TOP)
    }

    /// Opens a descriptor that outlives the command, at the highest free number.
    pub(crate) fn open_from_top(&mut self, fd: Fd) -> u32 {
        let number = self.free_from_top();
        self.fds.insert(number, fd);
        self.fds.name(number);
        number
    }
}
