//! The shell's own commands: those that must see or change its state, and the few that are too
//! small to be worth a guest.

mod alias;
mod bind;
mod caller;
mod complete;
mod control;
mod dirs;
mod echo;
mod flags;
mod getopts;
mod hash;
mod help;
mod history;
mod jobs;
mod kill;
pub(crate) mod lookup;
mod mapfile;
pub(crate) mod nested;
mod printf;
mod process;
mod read;
mod set;
pub(crate) mod signals;
mod source;
mod stack;
pub(crate) mod startup;
mod table;
mod test;
mod trap;
mod ulimit;
mod unset;

use flags::flags;
pub(crate) use read::read_line;
pub(crate) use signals::signal_name;
pub(crate) use table::{Role, answered, answered_names, find, is_builtin, is_special, names, role};

use super::state::{Env, Eval};
use super::text;

impl Env {
    /// Writes text to stdout.
    pub(crate) async fn print(&mut self, line: &str) -> Eval<()> {
        let bytes = text::to_bytes(line).into_owned();
        if !self.write(1, &bytes).await? {
            self.status = 1;
        }
        Ok(())
    }
}
