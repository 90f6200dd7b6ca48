//! `chmod`, `chown` and `chgrp`: bits change, owners do not.
//!
//! Everything belongs to the one user there is. Giving a file to that user is no change; giving it to
//! anybody else is not permitted, as it is not for a user elsewhere.

use super::arguments::{self, Arguments, refuse};
use super::mode::{Target, changed};
use crate::stream::{Out, path, reason, text};
use facts::{Facts, Follow, Kind};
use std::path::{Path, PathBuf};

/// The applet `chmod`.
pub mod chmod {
    use super::*;

    const HELP: &str = "Usage: chmod [OPTION]... MODE[,MODE]... FILE...
   or: chmod [OPTION]... --reference=FILE FILE...
Changes the permission bits of files.

  -R, --recursive     files and directories below, too
  -v, --verbose       say what became of every file
  -c, --changes       say it where something changed
  -f, --silent, --quiet  do not complain
      --reference=FILE   take the mode of FILE
";

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
}

/// The applet `chown`.
pub mod chown {
    pub fn main(args: &[&[u8]]) -> i32 {
        super::own("chown", args)
    }
}

/// The applet `chgrp`.
pub mod chgrp {
    pub fn main(args: &[&[u8]]) -> i32 {
        super::own("chgrp", args)
    }
}

fn own(applet: &'static str, args: &[&[u8]]) -> i32 {
    let help = format!(
        "Usage: {applet} [OPTION]... {} FILE...\nThere is one user here, and every file is theirs: anybody else is refused.\n\n  \
         -R, --recursive  -h, --no-dereference  -v, --verbose  -c, --changes  -f, --silent, --quiet  --reference=FILE\n",
        if applet == "chown" { "[OWNER][:[GROUP]]" } else { "GROUP" }
    );
    let table = &[
        "R,recursive",
        "h,no-dereference",
        "dereference",
        "v,verbose",
        "c,changes",
        "f,silent,quiet",
        "reference=",
        "from=",
        "H",
        "L",
        "P",
        "preserve-root",
        "no-preserve-root",
    ];
    let line = match arguments::read(applet, &help, args, table, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let mut operands = line.operands.clone();
    let mut wanted = String::new();
    if line.value("reference").is_none() {
        if operands.is_empty() {
            return refuse(applet, "missing operand", 1);
        }
        wanted = text(operands.remove(0)).into_owned();
    }
    if operands.is_empty() {
        return refuse(applet, &format!("missing operand after '{wanted}'"), 1);
    }
    let foreign = match foreign(applet, &wanted) {
        Ok(foreign) => foreign,
        Err(problem) => {
            Out::new(applet).complain(&problem);
            return 1;
        }
    };
    let what = if applet == "chown" { "ownership" } else { "group" };
    let mut job = Job::new(applet, &line, 0);
    let mut each = |job: &mut Job, at: &Path, _: &Facts| {
        if foreign {
            job.fail(&format!("changing {what} of '{}': Operation not permitted", at.display()));
        } else if job.verbose {
            job.out.put(format!("{what} of '{}' retained as {wanted}\n", at.display()).as_bytes());
        }
    };
    operands.iter().for_each(|name| job.file(path(name), !line.has("h"), &mut each));
    job.out.end(job.status)
}

/// Whether it names anybody but the one user; a problem if it names nobody at all.
fn foreign(applet: &str, wanted: &str) -> Result<bool, String> {
    let own = facts::owner::OWN;
    let (user, group) = match wanted.split_once([':', '.']) {
        _ if applet == "chgrp" => ("", wanted),
        Some((user, group)) => (user, group),
        None => (wanted, ""),
    };
    let one = |name: &str, own_name: Option<String>, what: &str| {
        if name.is_empty() || Some(name) == own_name.as_deref() {
            return Ok(false);
        }
        match (name.parse::<u32>(), name) {
            (Ok(number), _) => Ok(number != own),
            (_, "root") => Ok(true),
            _ => Err(format!("invalid {what}: '{wanted}'")),
        }
    };
    Ok(one(user, facts::owner::user(own), "user")? | one(group, facts::owner::group(own), "group")?)
}

/// Goes over files, and says what the options want said.
struct Job {
    out: Out,
    status: i32,
    verbose: bool,
    changes: bool,
    quiet: bool,
    recursive: bool,
    mask: u32,
}

/// What is done to each file.
type Each<'e> = dyn FnMut(&mut Job, &Path, &Facts) + 'e;

impl Job {
    fn new(applet: &'static str, line: &Arguments<'_>, mask: u32) -> Self {
        Self {
            out: Out::new(applet),
            status: 0,
            verbose: line.has("v"),
            changes: line.has("c"),
            quiet: line.has("f"),
            recursive: line.has("R"),
            mask,
        }
    }

    fn fail(&mut self, problem: &str) {
        if !self.quiet {
            self.out.complain(problem);
        }
        self.status = 1;
    }

    /// One operand; below it, links are left alone.
    fn file(&mut self, at: &Path, follow: bool, each: &mut Each<'_>) {
        let follow = if follow { Follow::Yes } else { Follow::No };
        let facts = match facts::of(at, follow) {
            Ok(facts) => facts,
            Err(_) if facts::of(at, Follow::No).is_ok() => {
                return self.fail(&format!("cannot operate on dangling symlink '{}'", at.display()));
            }
            Err(error) => return self.fail(&format!("cannot access '{}': {}", at.display(), reason(&error))),
        };
        let within = self.recursive && facts.kind == Kind::Directory && !at.is_symlink();
        // A directory that is about to be closed is read before.
        let names = if within { self.names(at) } else { Vec::new() };
        each(self, at, &facts);
        for name in names {
            if !name.is_symlink() {
                self.file(&name, false, each);
            }
        }
    }

    fn names(&mut self, at: &Path) -> Vec<PathBuf> {
        match std::fs::read_dir(at) {
            Ok(entries) => {
                let mut names: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
                names.sort();
                names
            }
            Err(error) => {
                self.fail(&format!("cannot read directory '{}': {}", at.display(), reason(&error)));
                Vec::new()
            }
        }
    }

    fn set_mode(&mut self, at: &Path, facts: &Facts, mode: &str) {
        let target = if facts.kind == Kind::Directory { Target::Directory } else { Target::File };
        let wanted = match changed(mode, facts.mode, target, self.mask) {
            Ok(wanted) => wanted,
            Err(problem) => return self.fail(&problem),
        };
        if wanted != facts.mode
            && let Err(error) = modes::set(at, true, wanted)
        {
            return self.fail(&format!("changing permissions of '{}': {}", at.display(), reason(&error)));
        }
        let text = |mode: u32| Facts { mode, ..*facts }.mode_text().split_off(1);
        let said = if wanted != facts.mode {
            format!(
                "changed from {:04o} ({}) to {wanted:04o} ({})",
                facts.mode,
                text(facts.mode),
                text(wanted)
            )
        } else {
            format!("retained as {wanted:04o} ({})", text(wanted))
        };
        if self.verbose || (self.changes && wanted != facts.mode) {
            self.out.put(format!("mode of '{}' {said}\n", at.display()).as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::foreign;

    #[test]
    fn only_the_one_user_may_own_a_file() {
        let me = facts::owner::user(1000).unwrap_or_default();
        for fine in ["1000", "1000:1000", ":1000", me.as_str(), ""] {
            assert_eq!(foreign("chown", fine), Ok(false), "{fine}");
        }
        for other in ["0", "root", "root:root", "1000:0"] {
            assert_eq!(foreign("chown", other), Ok(true), "{other}");
        }
        assert!(foreign("chown", "nobody-at-all").is_err() && foreign("chgrp", "no-such").is_err());
    }
}
