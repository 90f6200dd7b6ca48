//! Places that every system has: `/bin`, `/dev`, `/proc`. Scripts ask whether `/bin/sh` is there and list `/dev`; no tree has
//! such directories, so the files of a line show stubs where nothing else lies. They can be listed and looked at, and a
//! directory of the tree that has the same name hides one. The root does not list them: whoever walks through all files finds
//! those that somebody made.

use std::sync::Arc;

use drydock_contract::{
    Cap, Timestamp,
    port::{
        DirEntry, FileError, FileKind, FileResult, FileTimes, Files, Follow, Interrupt, Mode, OpenFile,
        OpenHow, Registry as _, Stat, TreePath,
    },
};
use drydock_gate::HeldGrants;

use crate::{Dock, desk::SHELL_NAMES};

/// What is in `/dev`; the engine opens them by these names.
const DEVICES: [&str; 8] = ["fd", "null", "random", "stderr", "stdin", "stdout", "urandom", "zero"];

/// The streams that every command has.
const STREAMS: [&str; 3] = ["0", "1", "2"];

/// The last of these numbers is above that of any stub: no tree has so many files.
const INODES: u64 = u64::MAX - (1 << 33);

/// What stands at such a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stub<'p> {
    /// The commands that may be run.
    Programs,
    /// Directories with names that are always the same, those of directories first.
    Names { folders: &'static [&'static str], files: &'static [&'static str] },
    /// One command.
    Program(&'p str),
}

/// A tree with these places.
pub(crate) struct SystemPlaces {
    pub(crate) inner: Arc<dyn Files>,
    pub(crate) commands: Arc<KnownCommands>,
}

/// The commands that whoever asks may know of.
pub(crate) struct KnownCommands {
    pub(crate) dock: Dock,
    pub(crate) grants: HeldGrants,
}

impl KnownCommands {
    fn admits(&self, name: &str) -> bool {
        self.grants.now().could_admit(Cap::Exec, name, self.dock.gate.now())
    }

    fn has(&self, name: &str) -> bool {
        SHELL_NAMES.contains(&name) || (self.admits(name) && self.dock.registry.lookup(name, None).is_some())
    }

    fn names(&self) -> Vec<String> {
        let all = self.dock.registry.names();
        let known = all.iter().map(|it| it.as_str()).filter(|it| self.admits(it));
        let mut names: Vec<String> = known.chain(SHELL_NAMES).map(str::to_owned).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl SystemPlaces {
    /// What stands where the tree has nothing.
    fn stub<'p>(&self, path: &'p TreePath) -> Option<Stub<'p>> {
        let mut names = [""; 4];
        let mut count = 0;
        for name in path.names().filter(|it| *it != ".") {
            // The longest path of a stub has three names; `..` is the tree's to follow.
            if count == names.len() || name == ".." {
                return None;
            }
            names[count] = name;
            count += 1;
        }
        let none: &'static [&'static str] = &[];
        match &names[..count] {
            ["bin"] | ["usr", "bin"] => Some(Stub::Programs),
            ["usr"] => Some(Stub::Names { folders: &["bin"], files: none }),
            ["dev"] => Some(Stub::Names { folders: &DEVICES[..1], files: &DEVICES[1..] }),
            ["dev", "fd"] => Some(Stub::Names { folders: none, files: &STREAMS }),
            ["proc"] => Some(Stub::Names { folders: &["self"], files: none }),
            ["proc", "self"] => Some(Stub::Names { folders: none, files: none }),
            ["bin", name] | ["usr", "bin", name] => self.commands.has(name).then_some(Stub::Program(name)),
            _ => None,
        }
    }

    /// Whether the path would lie in such a place, where nothing can be made.
    fn is_inside(&self, path: &TreePath) -> bool {
        let text = path.as_str().trim_matches('/');
        let above = text.rsplit_once('/').and_then(|it| TreePath::new(it.0).ok());
        above.is_some_and(|above| {
            let is_there = self.inner.stat(&above, Follow::Yes).is_ok();
            !is_there && matches!(self.stub(&above), Some(Stub::Programs | Stub::Names { .. }))
        })
    }
}

/// A number for it that stays the same, as those of files do.
fn inode(path: &str) -> u64 {
    let hash = path.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    INODES + (hash >> 32)
}

fn facts(path: &TreePath, stub: Stub<'_>) -> Stat {
    let (kind, mode, links) = match stub {
        Stub::Programs | Stub::Names { .. } => (FileKind::Directory, Mode::new(0o555), 2),
        // It can be run by its name, and nothing of it can be read.
        Stub::Program(_) => (FileKind::File, Mode::new(0o111), 1),
    };
    let zero = Timestamp(0);
    let inode = inode(path.as_str().trim_matches('/'));
    Stat { inode, kind, mode, links, size: 0, accessed: zero, modified: zero, changed: zero }
}

impl Files for SystemPlaces {
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat> {
        match self.inner.stat(path, follow) {
            Err(FileError::NotFound) => self.stub(path).map(|it| facts(path, it)).ok_or(FileError::NotFound),
            found => found,
        }
    }

    fn open(&self, path: &TreePath, how: OpenHow, now: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        match self.inner.open(path, how, now) {
            Err(FileError::NotFound) => Err(match self.stub(path) {
                Some(Stub::Program(_)) => FileError::Denied,
                Some(_) => FileError::IsADirectory,
                None if how.create && self.is_inside(path) => FileError::Denied,
                None => FileError::NotFound,
            }),
            opened => opened,
        }
    }

    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>> {
        let read = self.inner.read_dir(path);
        let (Err(FileError::NotFound), Some(stub)) = (&read, self.stub(path)) else { return read };
        let at = path.as_str().trim_matches('/');
        let entry = |name: &str, kind| DirEntry {
            name: name.to_owned(),
            kind,
            inode: inode(&format!("{at}/{name}")),
        };
        let mut all: Vec<DirEntry> = match stub {
            Stub::Program(_) => return Err(FileError::NotADirectory),
            Stub::Programs => self.commands.names().iter().map(|it| entry(it, FileKind::File)).collect(),
            Stub::Names { folders, files } => {
                let folders = folders.iter().map(|it| entry(it, FileKind::Directory));
                folders.chain(files.iter().map(|it| entry(it, FileKind::File))).collect()
            }
        };
        all.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    fn create_dir(&self, path: &TreePath, mode: Mode, now: Timestamp) -> FileResult<()> {
        self.inner.create_dir(path, mode, now)
    }

    fn remove_dir(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        match self.inner.remove_dir(path, now) {
            Err(FileError::NotFound) if self.stub(path).is_some() => Err(FileError::Denied),
            done => done,
        }
    }

    fn unlink(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        match self.inner.unlink(path, now) {
            Err(FileError::NotFound) if self.stub(path).is_some() => Err(FileError::Denied),
            done => done,
        }
    }

    fn rename(&self, from: &TreePath, to: &TreePath, now: Timestamp) -> FileResult<()> {
        self.inner.rename(from, to, now)
    }

    fn link(&self, from: &TreePath, follow: Follow, to: &TreePath, now: Timestamp) -> FileResult<()> {
        self.inner.link(from, follow, to, now)
    }

    fn symlink(&self, target: &str, path: &TreePath, now: Timestamp) -> FileResult<()> {
        self.inner.symlink(target, path, now)
    }

    fn read_link(&self, path: &TreePath) -> FileResult<String> {
        match self.inner.read_link(path) {
            // It is there, and no link.
            Err(FileError::NotFound) if self.stub(path).is_some() => Err(FileError::Invalid),
            read => read,
        }
    }

    fn set_times(&self, path: &TreePath, follow: Follow, times: FileTimes, now: Timestamp) -> FileResult<()> {
        self.inner.set_times(path, follow, times, now)
    }

    fn set_mode(&self, path: &TreePath, follow: Follow, mode: Mode, now: Timestamp) -> FileResult<()> {
        self.inner.set_mode(path, follow, mode, now)
    }

    fn trail(&self, path: &TreePath) -> Vec<FileKind> {
        self.inner.trail(path)
    }

    fn until(&self, time_is_up: &Interrupt) -> Option<Arc<dyn Files>> {
        let inner = self.inner.until(time_is_up)?;
        Some(Arc::new(Self { inner, commands: Arc::clone(&self.commands) }))
    }
}
