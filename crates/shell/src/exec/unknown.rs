//! Paths that lead to nothing that runs.

use drydock_contract::port::{FileKind, Follow};

use crate::state::{Env, Eval};

/// What one name of a path may have, as on every system.
const NAME_BYTES_MAX: usize = 255;

impl Env {
    /// A path that leads to nothing that runs.
    pub(super) async fn no_program(&mut self, word: &str) -> Eval<()> {
        let kind = self
            .tree_path(word)
            .ok()
            .and_then(|path| self.shared.files.stat(&path, Follow::Yes).ok())
            .map(|stat| stat.kind);
        let is_long = word.split('/').any(|it| it.len() > NAME_BYTES_MAX);
        let (status, why) = match kind {
            _ if is_long => (126, "File name too long"),
            None => (127, "No such file or directory"),
            Some(FileKind::Directory) => (126, "Is a directory"),
            Some(_) => (126, "not a file"),
        };
        self.complain(&format!("{word}: {why}")).await?;
        let outcome = if status == 127 { "unknown_command" } else { "not_a_command" };
        self.record(word.to_owned(), status, outcome.into(), None, 0);
        self.status = status;
        Ok(())
    }
}
