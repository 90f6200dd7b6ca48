//! `whoami`, `logname`, `users` and `groups`: the same answer for everybody, and true of nobody.
//!
//! A guest has no user. Scripts ask all the same, so one harmless person answers: the one that files
//! belong to.

use super::arguments;
use crate::stream::{Out, text};
use facts::owner::{self, NAME, OWN};

/// The name of the one user.
pub fn name() -> String {
    owner::user(OWN).unwrap_or_else(|| NAME.to_owned())
}

/// The name of their group.
pub fn group() -> String {
    owner::group(OWN).unwrap_or_else(|| NAME.to_owned())
}

/// The applets `whoami`, `logname` and `users`.
pub fn main(args: &[&[u8]]) -> i32 {
    let help = "Usage: whoami\nPrints the name of the one user there is.\n";
    if let Err(status) = arguments::read("whoami", help, args, &[], 1) {
        return status;
    }
    let mut out = Out::new("whoami");
    out.put(format!("{}\n", name()).as_bytes());
    out.end(0)
}

/// The applet `groups`.
pub mod groups {
    use super::*;

    pub fn main(args: &[&[u8]]) -> i32 {
        let help = "Usage: groups [USER]\nPrints the groups of a user: there is one.\n";
        let line = match arguments::read("groups", help, args, &[], 1) {
            Ok(line) => line,
            Err(status) => return status,
        };
        let mut out = Out::new("groups");
        let whose = line.operands.first().map(|name| format!("{} : ", text(name))).unwrap_or_default();
        out.put(format!("{whose}{}\n", group()).as_bytes());
        out.end(0)
    }
}
