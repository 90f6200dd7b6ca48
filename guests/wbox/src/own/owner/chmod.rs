//! `chmod`: changes the bits.

use super::Job;
use crate::own::arguments::{self, refuse};
use crate::own::mode::{Target, changed};
use crate::stream::{Out, path, reason, text};
use facts::{Facts, Follow};
use std::path::Path;

const HELP: &str = "Usage: chmod [OPTION]... MODE[,MODE]... FILE...
   or: chmod [OPTION]... --reference=FILE FILE...
Changes the permission bits of files.

  -R, --recursive     files and directories below, too
  -v, --verbose       say what became of every file
  -c, --changes       say it where something changed
  -f, --silent, --quiet  do not complain
  --reference=FILE   take the mode of FILE
";

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    // `-x` and `-w+r` are modes, not options.
    let is_mode = |arg: &&[u8]| {
        arg.len() > 1
            && arg[0] == b'-'
            && arg[1..].iter().all(|it| b"rwxXstugo,+-=".contains(it))
            && *arg != b"--"
    };
    let dash = args.iter().take_while(|arg| **arg != b"--").position(is_mode);
    let kept: Vec<&[u8]> =
        args.iter().enumerate().filter(|(at, _)| Some(*at) != dash).map(|(_, arg)| *arg).collect();
    let table = &[
        "R,recursive",
        "v,verbose",
        "c,changes",
        "f,silent,quiet",
        "reference=",
        "preserve-root",
        "no-preserve-root",
    ];
    let line = match arguments::read("chmod", HELP, &kept, table, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let mut operands = line.operands.clone();
    let mode = match (line.value("reference"), dash) {
        (Some(model), _) => match facts::of(path(model), Follow::Yes) {
            Ok(facts) => format!("{:05o}", facts.mode),
            Err(error) => {
                Out::new("chmod").complain(&format!(
                    "failed to get attributes of '{}': {}",
                    text(model),
                    reason(&error)
                ));
                return 1;
            }
        },
        (None, Some(dash)) => text(args[dash]).into_owned(),
        (None, None) if operands.is_empty() => return refuse("chmod", "missing operand", 1),
        (None, None) => text(operands.remove(0)).into_owned(),
    };
    if operands.is_empty() {
        return refuse("chmod", &format!("missing operand after '{mode}'"), 1);
    }
    if let Err(problem) = changed(&mode, 0, Target::File, 0) {
        return refuse("chmod", &problem, 1);
    }
    let mut job = Job::new("chmod", &line, modes::umask());
    let mut each = |job: &mut Job, at: &Path, facts: &Facts| job.set_mode(at, facts, &mode);
    operands.iter().for_each(|name| job.file(path(name), true, &mut each));
    job.out.end(job.status)
}
