//! `$(…)` and `$(< file)`.

use std::sync::Arc;

use crate::{
    fd::{Capture, Fd},
    state::{Env, Eval},
    syntax::{Script, ast::Word},
    text,
};

impl Env {
    /// Runs the script in a subshell and takes what it wrote.
    pub(crate) async fn substitute(&mut self, script: &Arc<Script>) -> Eval<String> {
        let capture = Arc::new(Capture::new(self.shared.limits.expansion_bytes_max));
        let mut inner = self.fork();
        inner.options.errexit &= self.options.inherit_errexit;
        inner.unknown.keep = false;
        inner.trace.substitutions += 1;
        if script.items.is_empty() {
            inner.status = 0;
        }
        inner.fds.insert(1, Fd::Capture(Arc::clone(&capture)));
        let status = self.run_apart(inner, Arc::clone(script)).await?;
        if capture.is_full() {
            let max = self.shared.limits.expansion_bytes_max;
            return Err(self.abort(format!(
                "a command substitution gave more than {max} bytes; --line-memory allows more"
            )));
        }
        self.status = status;
        self.results.substituted = Some(status);
        Ok(trimmed(capture.take()))
    }

    /// What the file says.
    pub(super) async fn file_text(&mut self, word: &Word) -> Eval<String> {
        let path = self.expand_one(word).await?;
        let fd = match self.open_for_reading(&path) {
            Ok(fd) => fd,
            Err(error) => {
                self.complain(&format!("{path}: {error}")).await?;
                self.status = 1;
                self.results.substituted = Some(1);
                return Ok(String::new());
            }
        };
        let mut all = Vec::new();
        let mut buffer = vec![0; 16 << 10];
        loop {
            let count = fd.read(&mut buffer).await.unwrap_or(0);
            if count == 0 {
                break;
            }
            all.extend_from_slice(&buffer[..count]);
            let max = self.shared.limits.expansion_bytes_max;
            if all.len() > max {
                return Err(
                    self.abort(format!("`$(<` gave more than {max} bytes; --line-memory allows more"))
                );
            }
        }
        self.results.substituted = Some(0);
        Ok(trimmed(all))
    }
}

/// Without the newlines at its end, and without what no argument can hold.
fn trimmed(mut bytes: Vec<u8>) -> String {
    bytes.retain(|byte| *byte != 0);
    while bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    text::from_bytes(&bytes)
}
