//! `cp`: copies files, and trees of them.

use super::backup;
use super::{Backup, Copier, Copying, Existing, Keep, Links, Made, destination};
use crate::own::arguments::{self, Arguments, refuse};
use crate::stream::{Out, path, reason, text};
use std::fs;
use std::path::{Path, PathBuf};

const HELP: &str = "\
Usage: cp [OPTION]... SOURCE DEST
   or: cp [OPTION]... SOURCE... DIRECTORY
   or: cp [OPTION]... -t DIRECTORY SOURCE...
Copies files.

  -a, --archive             keep all that can be kept: -dR --preserve=all
      --attributes-only     copy modes and times, no content
  -b, --backup[=CONTROL]    keep what would be replaced (none, simple, numbered, existing)
  -d                        keep links: -P --preserve=links
  -f, --force               replace a file that cannot be opened
  -H, -L, -P                follow links on the command line, all links, no links
  -i, --interactive         ask before replacing
  -l, --link                make hard links
  -n, --no-clobber          leave alone what is there
  -p                        --preserve=mode,ownership,timestamps
      --preserve[=LIST]     keep mode, ownership, timestamps, links, all
      --no-preserve=LIST    do not keep them
      --parents             use the whole name of the source below DIRECTORY
  -R, -r, --recursive       copy directories with what is in them
      --remove-destination  remove what is there before
  -s, --symbolic-link       make symbolic links
  -S, --suffix=SUFFIX       of backups
  -t, --target-directory=D  copy into D
  -T, --no-target-directory the last name is no directory
  -u, --update[=WHICH]      only what is newer (all, none, older)
  -v, --verbose             say what is done
";

const TABLE: &[&str] = &[
    "a,archive",
    "attributes-only",
    "d",
    "f,force",
    "H",
    "L,dereference",
    "P,no-dereference",
    "i,interactive",
    "l,link",
    "n,no-clobber",
    "p",
    "preserve?",
    "no-preserve=",
    "parents",
    "R,r,recursive",
    "remove-destination",
    "s,symbolic-link",
    "strip-trailing-slashes",
    "t,target-directory=",
    "T,no-target-directory",
    "u",
    "update?",
    "v,verbose",
    "x,one-file-system",
    "reflink?",
    "sparse=",
    "g,progress",
    "Z",
    "context?",
    "copy-contents",
];

/// The applet.
pub fn main(args: &[&[u8]]) -> i32 {
    let table: Vec<&'static str> = TABLE.iter().chain(&backup::TABLE).copied().collect();
    let line = match arguments::read("cp", HELP, args, &table, 1) {
        Ok(line) => line,
        Err(status) => return status,
    };
    let how = match read(&line) {
        Ok(how) => how,
        Err(problem) => return refuse("cp", &problem, 1),
    };
    let (sources, target, into) = match targets("cp", &line) {
        Ok(found) => found,
        Err(status) => return status,
    };
    let mut out = Out::new("cp");
    let mut copying = Copying::new(&how, &mut out);
    for source in sources {
        let to = if line.has("parents") {
            match below(source, &target) {
                Ok(to) => to,
                Err(problem) => {
                    copying.fail(&problem);
                    continue;
                }
            }
        } else {
            destination(source, &target, into)
        };
        copying.operand(path(source), &to);
    }
    let status = i32::from(copying.failed);
    out.end(status)
}

fn read(line: &Arguments<'_>) -> Result<Copier, String> {
    let mut how = Copier {
        recursive: line.has("R") || line.has("a"),
        links: if line.has("R") { Links::Kept } else { Links::Followed },
        keep: Keep::default(),
        made: Made::Copy,
        existing: Existing::Replaced,
        backup: Backup::read(line)?,
        verbose: line.has("v"),
        mask: modes::umask(),
    };
    for (id, value) in &line.flags {
        match *id {
            "a" => (how.keep, how.links) = (Keep::ALL, Links::Kept),
            "d" => (how.keep.links, how.links) = (true, Links::Kept),
            "p" => (how.keep.mode, how.keep.times) = (true, true),
            "preserve" => keep(&mut how.keep, value.unwrap_or(b"mode,ownership,timestamps"), true)?,
            "no-preserve" => keep(&mut how.keep, value.unwrap_or_default(), false)?,
            "H" => how.links = Links::FollowedIfNamed,
            "L" => how.links = Links::Followed,
            "P" => how.links = Links::Kept,
            "l" => how.made = Made::HardLink,
            "s" => how.made = Made::SymbolicLink,
            "attributes-only" => how.made = Made::Attributes,
            "f" if how.existing == Existing::Replaced => how.existing = Existing::Forced,
            "i" => how.existing = Existing::Asked,
            "n" => how.existing = Existing::Skipped,
            "u" => how.existing = Existing::Older,
            "update" => how.existing = update(value.unwrap_or(b"older"))?,
            "remove-destination" => how.existing = Existing::Removed,
            _ => {}
        }
    }
    if how.backup != Backup::None && how.existing == Existing::Skipped {
        return Err("options --backup and --no-clobber are mutually exclusive".to_owned());
    }
    Ok(how)
}

fn keep(keep: &mut Keep, list: &[u8], wanted: bool) -> Result<(), String> {
    for name in list.split(|byte| *byte == b',') {
        match name {
            b"mode" => keep.mode = wanted,
            b"timestamps" => keep.times = wanted,
            b"links" => keep.links = wanted,
            b"all" => *keep = if wanted { Keep::ALL } else { Keep::default() },
            // There is one owner, and there are no contexts and no further attributes.
            b"ownership" | b"context" | b"xattr" => {}
            other => return Err(format!("invalid argument '{}' for '--preserve'", text(other))),
        }
    }
    Ok(())
}

/// `--update=WHICH`, of `cp` and `mv`.
pub fn update(which: &[u8]) -> Result<Existing, String> {
    match which {
        b"all" => Ok(Existing::Replaced),
        b"none" | b"none-fail" => Ok(Existing::Skipped),
        b"older" => Ok(Existing::Older),
        other => Err(format!("invalid argument '{}' for '--update'", text(other))),
    }
}

/// What is copied, where to, and whether that is a directory to copy into.
pub type Targets<'a> = (Vec<&'a [u8]>, PathBuf, bool);

/// Reads the operands as `cp` and `mv` have them.
pub fn targets<'a>(applet: &'static str, line: &Arguments<'a>) -> Result<Targets<'a>, i32> {
    let mut sources = line.operands.clone();
    if sources.is_empty() {
        return Err(refuse(applet, "missing file operand", 1));
    }
    if let Some(target) = line.value("t") {
        if !path(target).is_dir() {
            let why = if path(target).symlink_metadata().is_ok() {
                "Not a directory"
            } else {
                "No such file or directory"
            };
            Out::new(applet).complain(&format!("target directory '{}': {why}", text(target)));
            return Err(1);
        }
        return Ok((sources, path(target).to_path_buf(), true));
    }
    let target = sources.pop().unwrap_or_default();
    if sources.is_empty() {
        return Err(refuse(applet, &format!("missing destination file operand after '{}'", text(target)), 1));
    }
    let at = path(target);
    let into = at.is_dir() && !line.has("T");
    if line.has("T") && sources.len() > 1 {
        return Err(refuse(applet, &format!("extra operand '{}'", text(target)), 1));
    }
    if !into && (sources.len() > 1 || line.has("parents")) {
        let why = if at.symlink_metadata().is_ok() { "Not a directory" } else { "No such file or directory" };
        Out::new(applet).complain(&format!("target '{}': {why}", text(target)));
        return Err(1);
    }
    if !into && target.ends_with(b"/") && !sources.iter().all(|it| path(it).is_dir()) {
        let shown = text(target);
        Out::new(applet).complain(&format!("cannot create regular file '{shown}': Not a directory"));
        return Err(1);
    }
    Ok((sources, at.to_path_buf(), into))
}

/// `--parents`: the source's whole name below the target, with the directories on the way.
fn below(source: &[u8], target: &Path) -> Result<PathBuf, String> {
    let name = path(source);
    let relative = name.strip_prefix("/").unwrap_or(name);
    let to = target.join(relative);
    if let Some(above) = to.parent() {
        let made = fs::create_dir_all(above);
        made.map_err(|error| format!("cannot make directory '{}': {}", above.display(), reason(&error)))?;
    }
    Ok(to)
}
