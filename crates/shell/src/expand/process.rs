//! `<(…)` and `>(…)` as a word.
//!
//! Scripts see `/dev/fd/63`, and the shell's own redirections, tests and builtins open that. A guest opens paths of the
//! workspace and nothing else, so behind the number is a file there, whose path a command is given instead: `<(…)`
//! runs first and fills it, `>(…)` runs afterwards and reads it. As the target of a redirection they are pipes and
//! run beside the command.

use std::sync::{Arc, atomic::Ordering};

use crate::{
    fd::Process,
    state::{Env, Eval, Flow},
    syntax::Script,
};

impl Env {
    pub(super) async fn process_path(&mut self, script: &Arc<Script>, writes: bool) -> Eval<String> {
        let number = self.shared.next_id.fetch_add(1, Ordering::Relaxed);
        let path = format!(
            "{}/.drydock-process-{}-{number}",
            self.shared.scratch.trim_end_matches('/'),
            self.identity.id
        );
        let fd = match self.open_for_writing(&path, false) {
            Ok(fd) => fd,
            Err(error) => {
                self.complain(&format!("process substitution: {path}: {error}")).await?;
                return Err(Flow::Discard);
            }
        };
        let number = self.free_from_top();
        let name = format!("/dev/fd/{number}");
        let reader = writes.then(|| Arc::clone(script));
        if writes {
            self.fds.add_process(Process { path, number, reader }, fd);
            return Ok(name);
        }
        let mut inner = self.fork();
        inner.fds.insert(1, fd);
        let ran = self.run_apart(inner, Arc::clone(script)).await;
        match self.open_for_reading(&path) {
            Ok(fd) => self.fds.add_process(Process { path, number, reader }, fd),
            Err(_) => self.remove_file(&path),
        }
        ran.map(|_| name)
    }

    /// A word as a command is given it: with the file behind each number of a process substitution.
    pub(crate) fn for_command(&self, word: String) -> String {
        if self.fds.process_paths().is_empty() || !word.contains("/dev/fd/") {
            return word;
        }
        let mut rest = word.as_str();
        let mut all = String::with_capacity(word.len());
        while let Some((before, after)) = rest.split_once("/dev/fd/") {
            let end = after.find(|it: char| !it.is_ascii_digit()).unwrap_or(after.len());
            let path = after[..end].parse().ok().and_then(|it: u32| self.fds.process_paths().get(&it));
            all.push_str(before);
            match path {
                Some(path) => all.push_str(path),
                None => all.extend(["/dev/fd/", &after[..end]]),
            }
            rest = &after[end..];
        }
        all + rest
    }

    /// Runs what waits for files, and removes them.
    pub(crate) async fn finish_processes(&mut self, since: usize) -> Eval<()> {
        while let Some(process) = self.fds.take_process(since) {
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
