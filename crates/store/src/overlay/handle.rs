//! Open files. One of the lower tree stays there until it is first written, by this handle or any
//! other; from then on all its handles are of the copy.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use drydock_contract::{
    Timestamp,
    port::{FileError, FileResult, FileTimes, Interrupt, Mode, OpenFile, OpenHow, Stat},
};
use parking_lot::RwLock;

use super::branch::{Layers, Leaf, told};

/// Dead entries are swept once there are so many.
const OPEN_SWEEP: usize = 1024;

/// What is known of files beyond what the trees say.
pub(super) struct Known {
    /// Files of the lower tree that were opened there, by path.
    pub(super) open: HashMap<String, Weak<Lower>>,
    /// Inodes of copies in the upper tree, and what they were before.
    pub(super) inodes: HashMap<u64, u64>,
    /// Asked by what takes long, for whoever has the lock.
    pub(super) time_is_up: Option<Interrupt>,
}

/// An open file of the lower tree.
pub(super) struct Lower {
    leaf: Leaf,
    now_in: RwLock<Where>,
}

#[derive(Clone)]
enum Where {
    Lower(Arc<dyn OpenFile>),
    /// In the lower tree, under a name that is hidden.
    Nameless(Arc<dyn OpenFile>),
    Upper(Arc<dyn OpenFile>),
    /// A copy that never had a name.
    UpperNameless(Arc<dyn OpenFile>),
}

impl Known {
    /// Between two slices of something long.
    pub(super) fn check_time(&self) -> FileResult<()> {
        if self.time_is_up.as_ref().is_some_and(|it| it()) { Err(FileError::Interrupted) } else { Ok(()) }
    }

    pub(super) fn inode(&self, inode: u64, upper: bool) -> u64 {
        let before = if upper { self.inodes.get(&inode).copied() } else { None };
        before.unwrap_or(told(inode, upper))
    }

    /// The open file of the lower tree at that path, opened if it is not.
    pub(super) fn lower(&mut self, layers: &Layers, leaf: &Leaf) -> FileResult<Arc<Lower>> {
        if let Some(it) = self.open.get(leaf.path.as_str()).and_then(Weak::upgrade) {
            return Ok(it);
        }
        if self.open.len() >= OPEN_SWEEP && self.open.len().is_power_of_two() {
            self.open.retain(|_, it| it.strong_count() > 0);
        }
        let how = OpenHow { read: true, nofollow: true, ..OpenHow::default() };
        let file = layers.lower.open(&leaf.path, how, Timestamp::default())?;
        let leaf = Leaf { path: leaf.path.clone(), upper: false };
        let lower = Arc::new(Lower { leaf, now_in: RwLock::new(Where::Lower(file)) });
        self.open.insert(lower.leaf.path.as_str().to_owned(), Arc::downgrade(&lower));
        Ok(lower)
    }

    /// The file at that path was copied up: its handles follow.
    pub(super) fn copied(&mut self, path: &str, copy: Arc<dyn OpenFile>) {
        if let Some(it) = self.open.remove(path).and_then(|it| it.upgrade()) {
            *it.now_in.write() = Where::Upper(copy);
        }
    }

    /// Whether somebody has the file of the lower tree at that path open.
    pub(super) fn is_open(&self, path: &str) -> bool {
        self.open.get(path).is_some_and(|it| it.strong_count() > 0)
    }

    /// The file at that path lost its name.
    pub(super) fn detach(&mut self, leaf: &Leaf) -> FileResult<()> {
        if let Some(it) = self.open.remove(leaf.path.as_str()).and_then(|it| it.upgrade()) {
            let mut now_in = it.now_in.write();
            if let Where::Lower(file) = &*now_in {
                *now_in = Where::Nameless(Arc::clone(file));
            }
        }
        Ok(())
    }
}

enum Of {
    Upper(Arc<dyn OpenFile>),
    Lower(Arc<Lower>),
}

pub(super) struct Handle {
    layers: Arc<Layers>,
    of: Of,
    how: OpenHow,
    time_is_up: Option<Interrupt>,
}

impl Handle {
    pub(super) fn of_upper(layers: &Arc<Layers>, file: Arc<dyn OpenFile>, how: OpenHow) -> Self {
        Self { layers: Arc::clone(layers), of: Of::Upper(file), how, time_is_up: None }
    }

    pub(super) fn of_lower(
        layers: &Arc<Layers>,
        file: Arc<Lower>,
        how: OpenHow,
        time_is_up: Option<Interrupt>,
    ) -> Self {
        Self { layers: Arc::clone(layers), of: Of::Lower(file), how, time_is_up }
    }

    fn now_in(&self) -> Where {
        match &self.of {
            Of::Upper(file) => Where::Upper(Arc::clone(file)),
            Of::Lower(lower) => lower.now_in.read().clone(),
        }
    }

    /// The file in the upper tree, copied there if it is not.
    fn raised(&self, now: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        let lower = match &self.of {
            Of::Upper(file) => return Ok(Arc::clone(file)),
            Of::Lower(lower) => lower,
        };
        let mut known = self.layers.lock(self.time_is_up.as_ref())?;
        let now_in = lower.now_in.read().clone();
        match now_in {
            Where::Upper(file) | Where::UpperNameless(file) => Ok(file),
            Where::Lower(_) => {
                self.layers.copy_up(&mut known, &lower.leaf, None, now)?;
                match &*lower.now_in.read() {
                    Where::Upper(file) => Ok(Arc::clone(file)),
                    _ => Err(FileError::Io),
                }
            }
            Where::Nameless(file) => {
                let copy = self.layers.copy_nameless(&known, &*file, now)?;
                *lower.now_in.write() = Where::UpperNameless(Arc::clone(&copy));
                Ok(copy)
            }
        }
    }

    fn to_write(&self, now: Timestamp) -> FileResult<Arc<dyn OpenFile>> {
        if self.how.write { self.raised(now) } else { Err(FileError::Denied) }
    }
}

impl OpenFile for Handle {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> FileResult<usize> {
        if !self.how.read {
            return Err(FileError::Denied);
        }
        match self.now_in() {
            Where::Lower(file) | Where::Nameless(file) | Where::Upper(file) | Where::UpperNameless(file) => {
                file.read_at(offset, buffer)
            }
        }
    }

    fn write_at(&self, offset: u64, bytes: &[u8], now: Timestamp) -> FileResult<()> {
        self.to_write(now)?.write_at(offset, bytes, now)
    }

    fn append(&self, bytes: &[u8], now: Timestamp) -> FileResult<u64> {
        self.to_write(now)?.append(bytes, now)
    }

    fn set_len(&self, len: u64, now: Timestamp) -> FileResult<()> {
        self.to_write(now)?.set_len(len, now)
    }

    fn stat(&self) -> FileResult<Stat> {
        let (facts, upper) = match self.now_in() {
            Where::Upper(file) | Where::UpperNameless(file) => (file.stat()?, true),
            Where::Lower(file) => (file.stat()?, false),
            Where::Nameless(file) => (Stat { links: 0, ..file.stat()? }, false),
        };
        let known = self.layers.lock(self.time_is_up.as_ref())?;
        Ok(Stat { inode: known.inode(facts.inode, upper), ..facts })
    }

    fn set_times(&self, times: FileTimes, now: Timestamp) -> FileResult<()> {
        self.raised(now)?.set_times(times, now)
    }

    fn set_mode(&self, mode: Mode, now: Timestamp) -> FileResult<()> {
        self.raised(now)?.set_mode(mode, now)
    }

    fn next_data(&self, offset: u64) -> FileResult<u64> {
        match self.now_in() {
            Where::Lower(file) | Where::Nameless(file) | Where::Upper(file) | Where::UpperNameless(file) => {
                file.next_data(offset)
            }
        }
    }

    fn sync(&self) -> FileResult<()> {
        match self.now_in() {
            Where::Upper(file) | Where::UpperNameless(file) => file.sync(),
            Where::Lower(_) | Where::Nameless(_) => Ok(()),
        }
    }

    fn sync_waits(&self) -> bool {
        match self.now_in() {
            Where::Upper(file) | Where::UpperNameless(file) => file.sync_waits(),
            Where::Lower(_) | Where::Nameless(_) => false,
        }
    }
}
