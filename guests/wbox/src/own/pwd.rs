//! `pwd`: the working directory.

use super::arguments;
use crate::stream::{Out, reason};

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let help = "Usage: pwd [-L | -P]\nPrints the working directory.\n\n  -L, --logical   as it was reached\n  -P, --physical  without symbolic links\n";
    let line = match arguments::read("pwd", help, args, &["L,logical", "P,physical"], 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let mut out = Out::new("pwd");
    let last = line.flags.last().map(|(id, _)| *id);
    let here = match std::env::current_dir() {
        // GNU's own resolves links unless it is told otherwise.
        Ok(here) if last != Some("L") => super::copy::real(&here).or(Ok(here)),
        other => other,
    };
    match here {
        Ok(here) => {
            out.put(here.as_os_str().as_encoded_bytes());
            out.sign(b'\n');
            out.end(0)
        }
        Err(error) => {
            out.complain(&reason(&error));
            1
        }
    }
}
