//! Other commands, for `system`, `command | getline` and `print | command`.
//!
//! There is no shell to ask, so a line of simple commands is read and run here: words, quotes,
//! variables, pipes, `;`, `&&`, `||` and redirections to files. Whatever needs more of a shell is refused
//! before anything runs. The stages of a pipe run one after the other.

mod line;
mod run;

pub(crate) use line::{Line, parse};
pub(crate) use run::{Input, capture, run};
