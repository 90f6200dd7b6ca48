//! A regular file or a symbolic link: what names and handles share.
//!
//! Content grows by halves, like a vector, as long as the meter has room for that, and to the
//! byte when it has not. The charge comes first: a hole of a terabyte is refused, not allocated.

use std::sync::Arc;

use drydock_contract::{
    Meter, Timestamp,
    port::{FileError, FileKind, FileLimit, FileResult, FileTimes, Mode, Stat},
};
use parking_lot::RwLock;

use super::charge::{Charge, NODE_BYTES};

/// A file this small is not worth counting in smaller steps.
const CAPACITY_MIN: u64 = 64;

#[derive(Debug)]
pub(super) struct Leaf {
    inode: u64,
    kind: FileKind,
    state: RwLock<State>,
}

#[derive(Debug)]
struct State {
    /// A file's bytes, or what a link says.
    content: Vec<u8>,
    charge: Charge,
    links: u64,
    mode: Mode,
    times: Times,
}

/// Three moments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) accessed: Timestamp,
    pub(super) modified: Timestamp,
    pub(super) changed: Timestamp,
}

impl Times {
    pub(super) const fn born(now: Timestamp) -> Self {
        Self { accessed: now, modified: now, changed: now }
    }

    pub(super) fn set(&mut self, times: FileTimes, now: Timestamp) {
        self.accessed = times.accessed.unwrap_or(self.accessed);
        self.modified = times.modified.unwrap_or(self.modified);
        self.changed = now;
    }

    pub(super) fn modify(&mut self, now: Timestamp) {
        (self.modified, self.changed) = (now, now);
    }
}

impl Leaf {
    pub(super) fn new(
        inode: u64,
        (kind, mode): (FileKind, Mode),
        meter: &Arc<Meter>,
        now: Timestamp,
    ) -> FileResult<Self> {
        let charge = Charge::new(meter, NODE_BYTES)?;
        let state = State { content: Vec::new(), charge, links: 0, mode, times: Times::born(now) };
        Ok(Self { inode, kind, state: RwLock::new(state) })
    }

    pub(super) const fn kind(&self) -> FileKind {
        self.kind
    }

    pub(super) const fn inode(&self) -> u64 {
        self.inode
    }

    /// What the link says; `None` for a file.
    pub(super) fn target(&self) -> Option<String> {
        let said = |state: &State| String::from_utf8_lossy(&state.content).into_owned();
        (self.kind == FileKind::Symlink).then(|| said(&self.state.read()))
    }

    pub(super) fn stat(&self) -> Stat {
        let state = self.state.read();
        Stat {
            inode: self.inode,
            kind: self.kind,
            mode: state.mode,
            links: state.links,
            size: state.content.len() as u64,
            accessed: state.times.accessed,
            modified: state.times.modified,
            changed: state.times.changed,
        }
    }

    pub(super) fn add_name(&self, now: Timestamp) {
        let mut state = self.state.write();
        state.links = state.links.saturating_add(1);
        state.times.changed = now;
    }

    pub(super) fn remove_name(&self, now: Timestamp) {
        let mut state = self.state.write();
        state.links = state.links.saturating_sub(1);
        state.times.changed = now;
    }

    pub(super) fn renamed(&self, now: Timestamp) {
        self.state.write().times.changed = now;
    }

    pub(super) fn set_times(&self, times: FileTimes, now: Timestamp) {
        self.state.write().times.set(times, now);
    }

    pub(super) fn set_mode(&self, mode: Mode, now: Timestamp) {
        let mut state = self.state.write();
        (state.mode, state.times.changed) = (mode, now);
    }

    pub(super) fn read_at(&self, offset: u64, buffer: &mut [u8]) -> usize {
        let state = self.state.read();
        let rest = usize::try_from(offset).ok().and_then(|at| state.content.get(at..));
        let rest = rest.unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        count
    }

    pub(super) fn write_at(&self, offset: u64, bytes: &[u8], now: Timestamp) -> FileResult<()> {
        self.state.write().write_at(offset, bytes, now)
    }

    pub(super) fn append(&self, bytes: &[u8], now: Timestamp) -> FileResult<u64> {
        let mut state = self.state.write();
        let end = state.content.len() as u64;
        state.write_at(end, bytes, now)?;
        Ok(state.content.len() as u64)
    }

    pub(super) fn set_len(&self, len: u64, now: Timestamp) -> FileResult<()> {
        let mut state = self.state.write();
        let new = state.make_room(len)?;
        state.content.resize(new, 0);
        state.give_back();
        state.times.modify(now);
        Ok(())
    }
}

impl State {
    fn write_at(&mut self, offset: u64, bytes: &[u8], now: Timestamp) -> FileResult<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let end = offset.checked_add(bytes.len() as u64).ok_or(FileError::TooBig)?;
        let end = self.make_room(end)?;
        let at = end - bytes.len();
        if at >= self.content.len() {
            self.content.resize(at, 0);
            self.content.extend_from_slice(bytes);
        } else {
            self.content.resize(end.max(self.content.len()), 0);
            self.content[at..end].copy_from_slice(bytes);
        }
        self.times.modify(now);
        Ok(())
    }

    /// Allocates, and charges before it does, so that `len` bytes fit. Answers `len` for a slice.
    fn make_room(&mut self, len: u64) -> FileResult<usize> {
        let held = self.content.capacity() as u64;
        let short = usize::try_from(len).map_err(|_| FileError::TooBig)?;
        if len <= held {
            return Ok(short);
        }
        if len > self.charge.bytes_max() {
            return Err(FileError::Quota(FileLimit::FileBytes));
        }
        let generous = len.max(held + held / 2).max(CAPACITY_MIN);
        let capacity = match self.charge.set(NODE_BYTES + generous) {
            Ok(()) => generous,
            Err(_) => self.charge.set(NODE_BYTES + len).map(|()| len)?,
        };
        let more = usize::try_from(capacity).map_err(|_| FileError::TooBig)? - self.content.len();
        if self.content.try_reserve_exact(more).is_err() {
            self.charge.set(NODE_BYTES + held)?;
            return Err(FileError::NoSpace);
        }
        Ok(short)
    }

    /// Shrinks the allocation once most of it is unused.
    fn give_back(&mut self) {
        let (len, held) = (self.content.len(), self.content.capacity());
        if len >= held / 2 {
            return;
        }
        self.content.shrink_to_fit();
        // Shrinking a charge is never refused.
        let _ = self.charge.set(NODE_BYTES + self.content.capacity() as u64);
    }
}
