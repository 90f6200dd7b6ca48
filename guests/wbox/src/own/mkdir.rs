//! `mkdir`: new directories, with the modes that were asked for.

use super::arguments::{self, refuse};
use super::mode::{Target, changed};
use crate::stream::{Out, path, reason, text};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const HELP: &str = "Usage: mkdir [OPTION]... DIRECTORY...
Makes directories.

  -m, --mode=MODE  give them this mode, not a=rwx without the mask
  -p, --parents    make those above as needed, and be content with what is there
  -v, --verbose    say what is made
";

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let line = match arguments::read("mkdir", HELP, args, &["m,mode=", "p,parents", "v,verbose", "Z"], 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    if line.operands.is_empty() {
        return refuse("mkdir", "missing operand", 1);
    }
    let mask = modes::umask();
    let mode = match line.value("m").map(|mode| changed(&text(mode), 0o777, Target::Directory, mask)) {
        Some(Ok(mode)) => Some(mode),
        Some(Err(problem)) => {
            Out::new("mkdir").complain(&problem);
            return 1;
        }
        None => None,
    };
    let (mut out, mut status) = (Out::new("mkdir"), 0);
    for name in &line.operands {
        if let Err((at, error)) = make(path(name), line.has("p"), mode, line.has("v"), &mut out) {
            out.complain(&format!("cannot create directory '{}': {}", at.display(), reason(&error)));
            status = 1;
        }
    }
    out.end(status)
}

fn make(
    at: &Path,
    parents: bool,
    mode: Option<u32>,
    verbose: bool,
    out: &mut Out,
) -> Result<(), (PathBuf, io::Error)> {
    if parents && at.is_dir() {
        return Ok(());
    }
    if parents && let Some(above) = at.parent().filter(|above| !above.as_os_str().is_empty()) {
        make(above, true, None, verbose, out)?;
    }
    let said = |error| (at.to_path_buf(), error);
    match fs::create_dir(at) {
        // `a/.` is there once `a` is.
        Err(_) if parents && at.is_dir() => return Ok(()),
        done => done.map_err(said)?,
    }
    if let Some(mode) = mode {
        modes::set(at, true, mode).map_err(said)?;
    }
    if verbose {
        out.put(format!("mkdir: created directory '{}'\n", at.display()).as_bytes());
    }
    Ok(())
}
