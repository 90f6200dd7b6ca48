//! `<(…)` and `>(…)`: a pipe, and a script that runs beside whoever is given its other end. As a word it is opened under a
//! number that the shell and its commands know as `/dev/fd/63`.

use std::sync::{Arc, atomic::Ordering};

use crate::{
    exec::FD_MAX,
    fd::{Fd, Process},
    inbox::Inbox,
    state::{Env, Eval, Flow, ProcessJob},
    syntax::Script,
};

impl Env {
    /// As a word.
    pub(super) async fn process_path(&mut self, script: &Arc<Script>, writes: bool) -> Eval<String> {
        let number = self.free_from_top();
        if number > FD_MAX {
            self.complain("cannot make pipe for process substitution: Too many open files").await?;
            return Err(Flow::Discard);
        }
        let (fd, job) = self.process_pipe(script, writes)?;
        self.fds.add_process(Process { number: Some(number), fd, reader: writes.then_some(job) });
        Ok(format!("/dev/fd/{number}"))
    }

    /// As the target of a redirection.
    pub(crate) fn process_target(&mut self, script: &Arc<Script>, writes: bool) -> Eval<Fd> {
        let (fd, job) = self.process_pipe(script, writes)?;
        if writes {
            self.fds.add_process(Process { number: None, fd: fd.clone(), reader: Some(job) });
        }
        Ok(fd)
    }

    /// This shell's end of the pipe, and the job at the other.
    fn process_pipe(&mut self, script: &Arc<Script>, writes: bool) -> Eval<(Fd, u32)> {
        let Some((reader, writer)) = self.shared.door.pipe() else {
            return Err(self.abort("the line has too many pipes".to_owned()));
        };
        let (reader, writer) = (Fd::PipeIn(reader), Fd::PipeOut(writer));
        let mut inner = self.fork();
        let ours = if writes {
            inner.fds.insert(0, reader);
            writer
        } else {
            inner.fds.insert(1, writer);
            reader
        };
        let id = inner.identity.id;
        let inbox = Arc::new(Inbox::default());
        self.shared.directory.enter(id, &inbox);
        inner.traps.own_inbox(inbox);
        self.room_for_one(&inner)?;
        let script = Arc::clone(script);
        let done = self.shared.tasks.spawn(async move {
            let result = inner.run_script(&script).await;
            inner.end(result).await
        });
        self.jobs.add_process(ProcessJob { id, done, is_reader: writes });
        Ok((ours, id))
    }

    /// Closes the pipes of a command that is done. Whoever reads from one is waited for, so that its output comes before
    /// that of the next command; but not where somebody else of this shell may still write to it, which may be for ever:
    /// a job, a later substitution of the same command, or the shell itself after `exec`.
    pub(crate) async fn finish_processes(&mut self, since: usize) -> Eval<()> {
        while let Some(Process { fd, reader, .. }) = self.fds.take_process(since) {
            let is_last = matches!(&fd, Fd::PipeOut(writer) if Arc::strong_count(writer) == 1);
            drop(fd);
            let Some(job) = reader.filter(|_| is_last).and_then(|id| self.jobs.take_process(id)) else {
                continue;
            };
            if let Some(status) = self.job_or_signal(&job.done).await {
                self.jobs.remember(job.id, status);
            }
            if self.shared.aborted.load(Ordering::Relaxed) {
                return Err(Flow::Abort);
            }
        }
        Ok(())
    }
}
