//! The files of a shell and its commands, with a memory of what the line in flight did to them.
//!
//! A script may be run without `--eval` if it was there before the line began and nothing in the line
//! wrote it. So every way to change a name or a content is noted here, by the number of what was changed,
//! before it happens: opening to write, writing through what an earlier line opened, renaming (a
//! directory too), linking, making a link. Whoever asks reads first and asks afterwards; then a write that
//! came in between is known, and one that comes later is in nothing that was read.
//!
//! What is noted is never taken back before the next line, and where a number cannot be had, the whole line
//! counts as having written everything.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use drydock_contract::{
    Timestamp,
    port::{
        DirEntry, FileError, FileKind, FileResult, FileTimes, Files, Follow, Interrupt, Mode, OpenFile,
        OpenHow, Stat, TreePath,
    },
};
use parking_lot::Mutex;

/// Numbers that are remembered; a line that changed more is taken to have changed everything.
const CHANGED_MAX: usize = 1 << 20;

/// Links on the way to a script.
const LINKS_MAX: usize = 40;

/// A tree that knows what the line in flight wrote.
pub struct LineFiles {
    inner: Arc<dyn Files>,
    noted: Arc<Noted>,
}

#[derive(Default)]
struct Noted {
    /// Counts lines, so that a handle of an earlier one notes again.
    line: AtomicU64,
    all: AtomicBool,
    inodes: Mutex<HashSet<u64>>,
}

impl Noted {
    fn note(&self, stat: FileResult<Stat>) {
        let mut inodes = self.inodes.lock();
        match stat {
            Ok(stat) if inodes.len() < CHANGED_MAX => {
                inodes.insert(stat.inode);
            }
            // What is not there cannot have been changed; what cannot be told apart may have been.
            Err(FileError::NotFound | FileError::NotADirectory) => {}
            Ok(_) | Err(_) => self.all.store(true, Ordering::SeqCst),
        }
    }

    fn has(&self, stat: &Stat) -> bool {
        self.all.load(Ordering::SeqCst) || self.inodes.lock().contains(&stat.inode)
    }
}

impl LineFiles {
    /// A tree nothing was done to yet.
    pub fn over(inner: Arc<dyn Files>) -> Self {
        Self { inner, noted: Arc::default() }
    }

    /// The same files and the same notes for somebody whose time can be up; none if nothing takes long.
    fn bounded(&self, time_is_up: &Interrupt) -> Option<Self> {
        Some(Self { inner: self.inner.until(time_is_up)?, noted: Arc::clone(&self.noted) })
    }

    /// A line begins: what earlier ones wrote is there before it.
    pub fn begin_line(&self) {
        self.noted.inodes.lock().clear();
        self.noted.all.store(false, Ordering::SeqCst);
        self.noted.line.fetch_add(1, Ordering::SeqCst);
    }

    /// Whether the line changed what an open file is, or what leads to it under this name: the file, a
    /// directory or a link on the way. True wherever that cannot be told.
    pub fn was_changed(&self, path: &TreePath, open: FileResult<Stat>) -> bool {
        let Ok(open) = open else { return true };
        match self.followed(path) {
            Ok(Some(found)) => found.inode != open.inode || self.noted.has(&open),
            Ok(None) | Err(_) => true,
        }
    }

    /// What a path leads to, name by name; nothing if the line changed a part of the way.
    fn followed(&self, path: &TreePath) -> FileResult<Option<Stat>> {
        let mut left: Vec<String> = path.names().map(str::to_owned).collect();
        left.reverse();
        let mut at: Vec<String> = Vec::new();
        let mut links = 0;
        let mut found = self.inner.stat(&TreePath::root(), Follow::No)?;
        while let Some(name) = left.pop() {
            if name == ".." {
                at.pop();
                continue;
            }
            at.push(name);
            let here = TreePath::new(&at.join("/"))?;
            found = self.inner.stat(&here, Follow::No)?;
            if self.noted.has(&found) {
                return Ok(None);
            }
            if found.kind != FileKind::Symlink {
                continue;
            }
            links += 1;
            if links > LINKS_MAX {
                return Err(FileError::Loop);
            }
            let target = self.inner.read_link(&here)?;
            at.pop();
            if target.starts_with('/') {
                at.clear();
            }
            let names = target.split('/').filter(|it| !it.is_empty() && *it != ".");
            left.extend(names.rev().map(str::to_owned));
        }
        Ok((found.kind == FileKind::File).then_some(found))
    }
}

impl Files for LineFiles {
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat> {
        self.inner.stat(path, follow)
    }

    fn open(&self, path: &TreePath, how: OpenHow, now: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        let changes = how.write || how.create || how.truncate;
        if changes {
            // Before it happens, if it is there already; and below, if opening made or copied it.
            self.noted.note(self.inner.stat(path, Follow::Yes));
        }
        let file = self.inner.open(path, how, now)?;
        if changes {
            self.noted.note(file.stat());
        }
        let line = AtomicU64::new(if changes { self.noted.line.load(Ordering::SeqCst) } else { u64::MAX });
        Ok(Arc::new(LineFile { inner: file, noted: Arc::clone(&self.noted), line }))
    }

    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>> {
        self.inner.read_dir(path)
    }

    fn create_dir(&self, path: &TreePath, mode: Mode, now: Timestamp) -> FileResult<()> {
        let made = self.inner.create_dir(path, mode, now);
        if made.is_ok() {
            self.noted.note(self.inner.stat(path, Follow::No));
        }
        made
    }

    fn remove_dir(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        self.inner.remove_dir(path, now)
    }

    fn unlink(&self, path: &TreePath, now: Timestamp) -> FileResult<()> {
        self.inner.unlink(path, now)
    }

    fn rename(&self, from: &TreePath, to: &TreePath, now: Timestamp) -> FileResult<()> {
        self.noted.note(self.inner.stat(from, Follow::No));
        let moved = self.inner.rename(from, to, now);
        // A tree may give what it moves another number.
        self.noted.note(self.inner.stat(to, Follow::No));
        moved
    }

    fn link(&self, from: &TreePath, follow: Follow, to: &TreePath, now: Timestamp) -> FileResult<()> {
        self.noted.note(self.inner.stat(from, follow));
        let linked = self.inner.link(from, follow, to, now);
        self.noted.note(self.inner.stat(to, Follow::No));
        linked
    }

    fn symlink(&self, target: &str, path: &TreePath, now: Timestamp) -> FileResult<()> {
        let made = self.inner.symlink(target, path, now);
        if made.is_ok() {
            self.noted.note(self.inner.stat(path, Follow::No));
        }
        made
    }

    fn read_link(&self, path: &TreePath) -> FileResult<String> {
        self.inner.read_link(path)
    }

    fn set_times(&self, path: &TreePath, follow: Follow, times: FileTimes, now: Timestamp) -> FileResult<()> {
        self.inner.set_times(path, follow, times, now)
    }

    /// `chmod +x` of a script is no change of what it says.
    fn set_mode(&self, path: &TreePath, follow: Follow, mode: Mode, now: Timestamp) -> FileResult<()> {
        self.inner.set_mode(path, follow, mode, now)
    }

    fn trail(&self, path: &TreePath) -> Vec<FileKind> {
        self.inner.trail(path)
    }

    fn until(&self, time_is_up: &Interrupt) -> Option<Arc<dyn Files>> {
        self.bounded(time_is_up).map(|it| Arc::new(it) as _)
    }
}

/// An open file that notes the line which writes through it, whoever opened it.
struct LineFile {
    inner: Arc<dyn OpenFile>,
    noted: Arc<Noted>,
    /// The line that was noted last.
    line: AtomicU64,
}

impl LineFile {
    fn will_write(&self) {
        let line = self.noted.line.load(Ordering::SeqCst);
        if self.line.load(Ordering::Relaxed) != line {
            self.noted.note(self.inner.stat());
            self.line.store(line, Ordering::Relaxed);
        }
    }
}

impl OpenFile for LineFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> FileResult<usize> {
        self.inner.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8], now: Timestamp) -> FileResult<()> {
        self.will_write();
        self.inner.write_at(offset, bytes, now)
    }

    fn append(&self, bytes: &[u8], now: Timestamp) -> FileResult<u64> {
        self.will_write();
        self.inner.append(bytes, now)
    }

    fn set_len(&self, len: u64, now: Timestamp) -> FileResult<()> {
        self.will_write();
        self.inner.set_len(len, now)
    }

    fn stat(&self) -> FileResult<Stat> {
        self.inner.stat()
    }

    fn set_times(&self, times: FileTimes, now: Timestamp) -> FileResult<()> {
        self.inner.set_times(times, now)
    }

    fn set_mode(&self, mode: Mode, now: Timestamp) -> FileResult<()> {
        self.inner.set_mode(mode, now)
    }

    fn next_data(&self, offset: u64) -> FileResult<u64> {
        self.inner.next_data(offset)
    }

    fn sync(&self) -> FileResult<()> {
        self.inner.sync()
    }
}
