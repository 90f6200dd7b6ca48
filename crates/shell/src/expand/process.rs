//! `<(…)` and `>(…)` as a word: a pipe, opened under a number that the shell and its commands know as `/dev/fd/63`. The
//! script runs beside whoever is given the name.

use std::sync::{Arc, atomic::Ordering};

use crate::{
    fd::{Fd, Process},
    state::{Env, Eval, Flow},
    syntax::Script,
};

impl Env {
    pub(super) async fn process_path(&mut self, script: &Arc<Script>, writes: bool) -> Eval<String> {
        let (fd, job) = self.process_pipe(script, writes)?;
        let number = self.free_from_top();
        self.fds.add_process(Process { number, reader: writes.then_some(job) }, fd);
        Ok(format!("/dev/fd/{number}"))
    }

    /// Closes the pipes of a command that is done. What reads from one is waited for, so that its output comes before
    /// that of the next command; but not if somebody else of this shell may still write to it, which may be for ever.
    pub(crate) async fn finish_processes(&mut self, since: usize) -> Eval<()> {
        while let Some((process, fd)) = self.fds.take_process(since) {
            let Some(Fd::PipeOut(writer)) = fd else { continue };
            let is_last = Arc::strong_count(&writer) == 1;
            drop(writer);
            let at = self.jobs.list.iter().position(|job| Some(job.id) == process.reader);
            let Some(at) = at.filter(|_| is_last) else { continue };
            let job = self.jobs.list.remove(at);
            let status = job.done.await;
            self.jobs.remember(job.id, status);
            if self.shared.aborted.load(Ordering::Relaxed) {
                return Err(Flow::Abort);
            }
        }
        Ok(())
    }
}
