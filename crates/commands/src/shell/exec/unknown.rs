//! Names that are no command: what to say of them, and what was perhaps meant.

use drydock_contract::port::{FileKind, Files as _, Follow};

use crate::{
    catalog,
    shell::state::{Env, Eval},
};

impl Env {
    /// A path that leads to nothing that runs.
    pub(super) async fn no_program(&mut self, word: &str) -> Eval<()> {
        let kind = self
            .tree_path(word)
            .ok()
            .and_then(|path| self.shared.files.stat(&path, Follow::Yes).ok())
            .map(|stat| stat.kind);
        let (status, why) = match kind {
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

    /// Bash's words for a name that is none, and what would help.
    pub(super) fn not_found(&self, name: &str) -> String {
        if let Some(text) = (self.shared.absent)(name) {
            return text;
        }
        match catalog::remedy(name, (self.shared.names)().iter().map(String::as_str)) {
            Some(remedy) => format!("command not found; {remedy}"),
            None => "command not found".to_owned(),
        }
    }
}
