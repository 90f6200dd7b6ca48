//! `<(…)` and `>(…)` as a word.
//!
//! A guest opens paths of the workspace and nothing else, so the word is a file there: `<(…)` runs
//! first and fills it, `>(…)` runs afterwards and reads it. As the target of a redirection they are
//! pipes and run beside the command.

use std::sync::{Arc, atomic::Ordering};

use crate::shell::{
    state::{Env, Eval, Flow, Process},
    syntax::Script,
};

impl Env {
    pub(super) async fn process_path(&mut self, script: &Arc<Script>, writes: bool) -> Eval<String> {
        let number = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        let path =
            format!("{}/.drydock-process-{}-{number}", self.shared.scratch.trim_end_matches('/'), self.id);
        let fd = match self.open_for_writing(&path, false) {
            Ok(fd) => fd,
            Err(error) => {
                self.complain(&format!("process substitution: {path}: {error}")).await?;
                return Err(Flow::Discard);
            }
        };
        let mut process = Process { path: path.clone(), reader: None };
        if writes {
            process.reader = Some(Arc::clone(script));
            self.processes.push(process);
            return Ok(path);
        }
        self.processes.push(process);
        let mut inner = self.fork();
        inner.fds.insert(1, fd);
        self.run_apart(inner, Arc::clone(script)).await?;
        Ok(path)
    }

    /// Runs what waits for files, and removes them.
    pub(crate) async fn finish_processes(&mut self, since: usize) -> Eval<()> {
        while self.processes.len() > since {
            let Some(process) = self.processes.pop() else { break };
            if let Some(script) = process.reader
                && let Ok(fd) = self.open_for_reading(&process.path)
            {
                let mut inner = self.fork();
                inner.fds.insert(0, fd);
                let status = self.status;
                self.run_apart(inner, script).await?;
                self.status = status;
            }
            self.remove_file(&process.path);
        }
        Ok(())
    }
}
