//! Copying files and trees of them: what `cp`, `mv` across mounts and `install` share.

pub mod backup;
pub mod cp;
pub mod mv;
pub mod system;

pub use backup::Backup;
pub use system::{is_other_device, real, set_times, symlink};

use crate::stream::{Out, reason};
use facts::{Facts, Follow, Kind};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Files are copied through this much memory.
const PIECE_BYTES: usize = 256 << 10;
/// Deeper trees are refused rather than followed until there is no stack left.
const DEPTH_MAX: usize = 200;

/// What of a file is kept besides its content. Its owner is always the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Keep {
    pub mode: bool,
    pub times: bool,
    pub links: bool,
}

impl Keep {
    pub const ALL: Self = Self { mode: true, times: true, links: true };
}

/// Which symbolic links stand for what they lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    Followed,
    /// Only those named on the command line.
    FollowedIfNamed,
    Kept,
}

/// What is made of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    Copy,
    HardLink,
    SymbolicLink,
    /// Only what is kept, without the content.
    Attributes,
}

/// What happens to a file that is in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    Replaced,
    /// Opened anew if it cannot be written.
    Forced,
    Removed,
    Asked,
    Skipped,
    /// Replaced if it is older.
    Older,
}

/// How to copy.
#[derive(Debug, Clone)]
pub struct Copier {
    pub recursive: bool,
    pub links: Links,
    pub keep: Keep,
    pub made: Made,
    pub existing: Existing,
    pub backup: Backup,
    pub verbose: bool,
    pub mask: u32,
}

/// A copy under way.
pub struct Copying<'a> {
    pub how: &'a Copier,
    pub out: &'a mut Out,
    pub failed: bool,
    /// Where a file with several names went first.
    seen: HashMap<(u64, u64), PathBuf>,
}

impl<'a> Copying<'a> {
    pub fn new(how: &'a Copier, out: &'a mut Out) -> Self {
        Self { how, out, failed: false, seen: HashMap::new() }
    }

    fn fail(&mut self, problem: &str) {
        self.out.complain(problem);
        self.failed = true;
    }

    /// Copies what one operand names.
    pub fn operand(&mut self, from: &Path, to: &Path) {
        self.entry(from, to, 0);
    }

    fn entry(&mut self, from: &Path, to: &Path, depth: usize) {
        let follow = match self.how.links {
            Links::Followed => true,
            Links::FollowedIfNamed => depth == 0,
            Links::Kept => false,
        };
        let facts = match facts::of(from, if follow { Follow::Yes } else { Follow::No }) {
            Ok(facts) => facts,
            Err(error) => return self.fail(&format!("cannot stat '{}': {}", from.display(), reason(&error))),
        };
        if depth > DEPTH_MAX {
            return self.fail(&format!("cannot copy '{}': too deep", from.display()));
        }
        let there = facts::of(to, Follow::No).ok();
        match facts.kind {
            Kind::Directory => self.directory(from, to, &facts, there, depth),
            _ => self.one(from, to, &facts, there),
        }
    }

    fn directory(&mut self, from: &Path, to: &Path, facts: &Facts, there: Option<Facts>, depth: usize) {
        if !self.how.recursive {
            return self.fail(&format!("-r not specified; omitting directory '{}'", from.display()));
        }
        let into = facts::of(to, Follow::Yes).ok();
        if there.is_some() && into.is_none_or(|it| it.kind != Kind::Directory) {
            return self.fail(&format!(
                "cannot overwrite non-directory '{}' with directory '{}'",
                to.display(),
                from.display()
            ));
        }
        if depth == 0 && is_within(from, to) {
            return self.fail(&format!(
                "cannot copy a directory, '{}', into itself, '{}'",
                from.display(),
                to.display()
            ));
        }
        if there.is_none() {
            if let Err(error) = fs::create_dir(to) {
                return self.fail(&format!("cannot create directory '{}': {}", to.display(), reason(&error)));
            }
            self.say(from, to);
        }
        let names = match fs::read_dir(from) {
            Ok(entries) => entries.flatten().map(|entry| entry.file_name()).collect::<Vec<_>>(),
            Err(error) => {
                return self.fail(&format!("cannot access '{}': {}", from.display(), reason(&error)));
            }
        };
        for name in names {
            self.entry(&from.join(&name), &to.join(&name), depth + 1);
        }
        self.finish(to, facts, there.is_none());
    }

    /// A file or a link.
    fn one(&mut self, from: &Path, to: &Path, facts: &Facts, there: Option<Facts>) {
        let there = match self.clear_way(from, to, facts, there) {
            Way::Free(there) => there,
            Way::Closed => return,
        };
        let made = if facts.kind == Kind::Symlink {
            if there.is_some() {
                let _ = fs::remove_file(to);
            }
            fs::read_link(from).and_then(|target| symlink(&target, to))
        } else {
            self.file(from, to, facts, there)
        };
        match made {
            Ok(()) => {
                self.say(from, to);
                if facts.kind != Kind::Symlink && matches!(self.how.made, Made::Copy | Made::Attributes) {
                    self.finish(to, facts, there.is_none());
                }
            }
            Err(error) => {
                let what = match (self.how.made, facts.kind) {
                    (_, Kind::Symlink) | (Made::SymbolicLink, _) => "cannot create symbolic link",
                    (Made::HardLink, _) => "cannot create hard link",
                    _ => "cannot create regular file",
                };
                self.fail(&format!("{what} '{}': {}", to.display(), reason(&error)));
            }
        }
    }

    /// Settles what happens to what is in the way.
    fn clear_way(&mut self, from: &Path, to: &Path, facts: &Facts, there: Option<Facts>) -> Way {
        let Some(found) = there else { return Way::Free(None) };
        let behind = facts::of(to, Follow::Yes).unwrap_or(found);
        if behind.kind == Kind::Directory && found.kind == Kind::Directory {
            self.fail(&format!(
                "cannot overwrite directory '{}' with non-directory '{}'",
                to.display(),
                from.display()
            ));
            return Way::Closed;
        }
        let link_to_link = facts.kind == Kind::Symlink && found.kind == Kind::Symlink && from != to;
        let same = behind.inode != 0 && (behind.device, behind.inode) == (facts.device, facts.inode);
        if same && !link_to_link && self.how.made == Made::Copy && self.how.backup == Backup::None {
            self.fail(&format!("'{}' and '{}' are the same file", from.display(), to.display()));
            return Way::Closed;
        }
        let go_on = match self.how.existing {
            Existing::Skipped => false,
            Existing::Older => facts.modified > behind.modified,
            Existing::Asked => ask(self.out, &format!("overwrite '{}'? ", to.display())),
            _ => true,
        };
        if !go_on {
            return Way::Closed;
        }
        match self.how.backup.make(to) {
            Err(error) => {
                self.fail(&format!("cannot backup '{}': {}", to.display(), reason(&error)));
                Way::Closed
            }
            Ok(true) => Way::Free(None),
            Ok(false) if self.how.existing == Existing::Removed || self.how.made != Made::Copy => {
                if self.how.existing == Existing::Replaced || self.how.made == Made::Attributes {
                    return Way::Free(Some(found));
                }
                let _ = fs::remove_file(to);
                Way::Free(None)
            }
            Ok(false) => Way::Free(Some(found)),
        }
    }

    fn file(&mut self, from: &Path, to: &Path, facts: &Facts, there: Option<Facts>) -> io::Result<()> {
        match self.how.made {
            Made::HardLink => return fs::hard_link(from, to),
            Made::SymbolicLink => return symlink(from, to),
            Made::Attributes => {
                return OpenOptions::new().write(true).create(true).truncate(false).open(to).map(drop);
            }
            Made::Copy => {}
        }
        if self.how.keep.links && facts.links > 1 && facts.inode != 0 {
            if let Some(first) = self.seen.get(&(facts.device, facts.inode)) {
                if there.is_some() {
                    fs::remove_file(to)?;
                }
                return fs::hard_link(first, to);
            }
            self.seen.insert((facts.device, facts.inode), to.to_path_buf());
        }
        let mut source = File::open(from)?;
        let mut target = match File::create(to) {
            Err(_) if self.how.existing == Existing::Forced && there.is_some() => {
                fs::remove_file(to)?;
                File::create(to)?
            }
            done => done?,
        };
        content(&mut source, &mut target, facts.size)
    }

    /// Gives what was made its mode and times.
    fn finish(&mut self, to: &Path, facts: &Facts, new: bool) {
        let keep = self.how.keep;
        let mode = match (keep.mode, new) {
            (true, _) => Some(facts.mode),
            (false, true) => Some(facts.mode & 0o777 & !self.how.mask),
            (false, false) => None,
        };
        if keep.times
            && let Err(error) = set_times(to, facts.accessed, facts.modified, Follow::Yes)
        {
            self.fail(&format!("preserving times for '{}': {}", to.display(), reason(&error)));
        }
        if let Some(mode) = mode
            && let Err(error) = modes::set(to, true, mode)
        {
            // A tree that keeps no modes is no reason to fail where none were asked for.
            if keep.mode && error.kind() != io::ErrorKind::Unsupported {
                self.fail(&format!("preserving permissions for '{}': {}", to.display(), reason(&error)));
            }
        }
    }

    fn say(&mut self, from: &Path, to: &Path) {
        if self.how.verbose {
            self.out.put(format!("'{}' -> '{}'\n", from.display(), to.display()).as_bytes());
        }
    }
}

enum Way {
    /// What is still there, to be written over.
    Free(Option<Facts>),
    Closed,
}

/// Copies bytes, at least `size` of them unless the file is cut meanwhile.
fn content(source: &mut File, target: &mut File, size: u64) -> io::Result<()> {
    let room = usize::try_from(size).unwrap_or(PIECE_BYTES).clamp(512, PIECE_BYTES);
    let mut piece = vec![0; room];
    loop {
        match source.read(&mut piece)? {
            0 => return Ok(()),
            count => target.write_all(&piece[..count])?,
        }
    }
}

/// Whether a copy of `from` at `to` would be a part of itself.
fn is_within(from: &Path, to: &Path) -> bool {
    let Ok(from) = real(from) else { return false };
    let mut above = Some(to);
    while let Some(at) = above {
        let at = if at.as_os_str().is_empty() { Path::new(".") } else { at };
        if let Ok(real) = real(at) {
            return real.starts_with(&from);
        }
        above = at.parent();
    }
    false
}

/// Asks on stderr; the answer comes from standard input.
pub fn ask(out: &mut Out, question: &str) -> bool {
    out.ask(question);
    let mut line = String::new();
    io::stdin().read_line(&mut line).is_ok() && line.trim_start().starts_with(['y', 'Y'])
}

/// Where a file goes: into the target if that is a directory.
pub fn destination(source: &[u8], target: &Path, into: bool) -> PathBuf {
    if !into {
        return target.to_path_buf();
    }
    let name = source.iter().rposition(|byte| *byte != b'/').map_or(&b""[..], |end| &source[..=end]);
    let name = name.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    match name {
        b"" | b"." | b".." => target.to_path_buf(),
        name => target.join(crate::stream::path(name)),
    }
}

#[cfg(test)]
mod tests;
