//! `mkfifo`: pipes that have a name. The tree has none, so it is given a link that says which pipe it stands for; the host
//! shows that link as a pipe, and connects whoever opens it within one line.

use super::arguments::{self, refuse};
use super::copy::system::symlink;
use super::mode::{Target, changed};
use super::random;
use crate::stream::{Out, path, reason, text};
use std::path::Path;

const HELP: &str = "Usage: mkfifo [OPTION]... NAME...
Makes named pipes. Whoever opens one within a line of a shell is connected with the others of that line.

  -m, --mode=MODE  give them this mode, not a=rw without the mask
";

/// Where the links point.
const FOLDER: &str = "/dev/pipe";

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let line = match arguments::read("mkfifo", HELP, args, &["m,mode=", "Z"], 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    if line.operands.is_empty() {
        return refuse("mkfifo", "missing operand", 1);
    }
    let mask = modes::umask();
    let mode = match line.value("m").map(|mode| changed(&text(mode), 0o666, Target::File, mask)) {
        Some(Ok(mode)) => mode,
        Some(Err(problem)) => {
            Out::new("mkfifo").complain(&problem);
            return 1;
        }
        None => 0o666 & !mask,
    };
    let (mut out, mut status) = (Out::new("mkfifo"), 0);
    for name in &line.operands {
        if let Err(error) = make(path(name), mode) {
            out.complain(&format!("cannot create fifo '{}': {}", text(name), reason(&error)));
            status = 1;
        }
    }
    out.end(status)
}

fn make(at: &Path, mode: u32) -> std::io::Result<()> {
    let mut id = [0; 8];
    random::fill(&mut id)?;
    let target = format!("{FOLDER}/{mode:o}/{:016x}", u64::from_le_bytes(id));
    symlink(Path::new(&target), at)
}
