//! `mv`: renames, and copies and removes where a rename would lead to another mount or volume.

use super::cp::{targets, update};
use super::{
    Backup, Copier, Copying, Existing, Keep, Links, Made, ask, backup, destination, is_other_device, real,
};
use crate::own::arguments::{self, Arguments, refuse};
use crate::stream::{Out, path, reason};
use facts::{Facts, Follow, Kind};
use std::fs;
use std::io;
use std::path::Path;

const HELP: &str = "\
Usage: mv [OPTION]... SOURCE DEST
   or: mv [OPTION]... SOURCE... DIRECTORY
   or: mv [OPTION]... -t DIRECTORY SOURCE...
Renames files, or moves them into a directory.

  -b, --backup[=CONTROL]    keep what would be replaced (none, simple, numbered, existing)
  -f, --force               do not ask
  -i, --interactive         ask before replacing
  -n, --no-clobber          leave alone what is there
  -S, --suffix=SUFFIX       of backups
  -t, --target-directory=D  move into D
  -T, --no-target-directory the last name is no directory
  -u, --update[=WHICH]      only what is newer (all, none, older)
  -v, --verbose             say what is done
";

const TABLE: &[&str] = &[
    "f,force",
    "i,interactive",
    "n,no-clobber",
    "strip-trailing-slashes",
    "t,target-directory=",
    "T,no-target-directory",
    "u",
    "update?",
    "v,verbose",
    "g,progress",
    "Z",
    "debug",
    "exchange",
    "no-copy",
];

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let table: Vec<&'static str> = TABLE.iter().chain(&backup::TABLE).copied().collect();
    let line = match arguments::read("mv", HELP, args, &table, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let how = match read(&line) {
        Ok(how) => how,
        Err(problem) => return refuse("mv", &problem, 1),
    };
    let (sources, target, into) = match targets("mv", &line) {
        Ok(found) => found,
        Err(status) => return status,
    };
    let (mut out, mut status) = (Out::new("mv"), 0);
    for source in sources {
        let to = destination(source, &target, into);
        let moved = one(path(source), &to, &how, !line.has("no-copy"), &mut out);
        if let Err(problem) = moved {
            if !problem.is_empty() {
                out.complain(&problem);
            }
            status = 1;
        }
    }
    out.end(status)
}

fn read(line: &Arguments<'_>) -> Result<Copier, String> {
    let mut existing = Existing::Replaced;
    for (id, value) in &line.flags {
        existing = match *id {
            "f" => Existing::Replaced,
            "i" => Existing::Asked,
            "n" => Existing::Skipped,
            "u" => Existing::Older,
            "update" => update(value.unwrap_or(b"older"))?,
            _ => continue,
        };
    }
    Ok(Copier {
        recursive: true,
        links: Links::Kept,
        keep: Keep::ALL,
        made: Made::Copy,
        existing,
        backup: Backup::read(line)?,
        verbose: line.has("v"),
        mask: 0,
    })
}

/// Moves one; an empty problem was told already.
fn one(from: &Path, to: &Path, how: &Copier, may_copy: bool, out: &mut Out) -> Result<(), String> {
    let (a, b) = (from.display(), to.display());
    let facts =
        facts::of(from, Follow::No).map_err(|error| format!("cannot stat '{a}': {}", reason(&error)))?;
    if is_root_of_its_own(from, &facts) {
        return Err(format!("cannot move '{a}' to '{b}': Device or resource busy"));
    }
    if let Ok(there) = facts::of(to, Follow::No) {
        let same = there.inode != 0 && (there.device, there.inode) == (facts.device, facts.inode);
        if from == to || (same && real(from).ok() == real(to).ok()) {
            return Err(format!("'{a}' and '{b}' are the same file"));
        }
        let go_on = match how.existing {
            Existing::Skipped => false,
            Existing::Older => facts.modified > there.modified,
            Existing::Asked => ask(out, &format!("overwrite '{b}'? ")),
            _ => true,
        };
        if !go_on {
            return Ok(());
        }
        match (facts.kind, there.kind) {
            (Kind::Directory, Kind::Directory) => {}
            (Kind::Directory, _) => {
                return Err(format!("cannot overwrite non-directory '{b}' with directory '{a}'"));
            }
            (_, Kind::Directory) => {
                return Err(format!("cannot overwrite directory '{b}' with non-directory"));
            }
            _ => {}
        }
        how.backup.make(to).map_err(|error| format!("cannot backup '{b}': {}", reason(&error)))?;
    }
    if facts.kind == Kind::Directory && super::is_within(from, to) {
        return Err(format!("cannot move '{a}' to a subdirectory of itself, '{b}'"));
    }
    match fs::rename(from, to) {
        Ok(()) => {}
        Err(error) if may_copy && is_other_device(&error) => carry(from, to, &facts, how, out)?,
        Err(error) => return Err(format!("cannot move '{a}' to '{b}': {}", reason(&error))),
    }
    if how.verbose {
        out.put(format!("renamed '{a}' -> '{b}'\n").as_bytes());
    }
    Ok(())
}

/// Whether it is where a mount or volume begins: that cannot be moved away from where it was put.
fn is_root_of_its_own(at: &Path, facts: &Facts) -> bool {
    let Ok(real) = real(at) else { return false };
    let Some(above) = real.parent() else { return facts.kind == Kind::Directory };
    let above = facts::of(above, Follow::Yes);
    facts.kind == Kind::Directory && above.is_ok_and(|above| above.device != facts.device)
}

/// Copies everything, and only then removes it. What was only half copied is not left behind.
fn carry(from: &Path, to: &Path, facts: &Facts, how: &Copier, out: &mut Out) -> Result<(), String> {
    let (a, b) = (from.display(), to.display());
    let say = |error: &io::Error| format!("cannot move '{a}' to '{b}': {}", reason(error));
    // As a rename would: an empty directory makes way, and a file.
    match facts::of(to, Follow::No) {
        Ok(there) if there.kind == Kind::Directory => fs::remove_dir(to).map_err(|error| say(&error))?,
        Ok(_) => fs::remove_file(to).map_err(|error| say(&error))?,
        Err(_) => {}
    }
    let how = Copier { verbose: false, existing: Existing::Replaced, backup: Backup::None, ..how.clone() };
    let mut copying = Copying::new(&how, out);
    copying.operand(from, to);
    if copying.failed {
        let _ = remove(to);
        return Err(String::new());
    }
    let removed =
        if facts.kind == Kind::Directory { fs::remove_dir_all(from) } else { fs::remove_file(from) };
    removed.map_err(|error| format!("cannot remove '{a}': {}", reason(&error)))
}

fn remove(at: &Path) -> io::Result<()> {
    match facts::of(at, Follow::No)?.kind {
        Kind::Directory => fs::remove_dir_all(at),
        _ => fs::remove_file(at),
    }
}
