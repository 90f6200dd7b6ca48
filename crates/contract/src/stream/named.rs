//! Pipes that are found by a name: what `mkfifo` makes. A tree has no such file; it has a link whose target says which pipe
//! it is ([`PipeName`]), and the line in flight has the pipe while somebody has it open.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;

use super::{
    Numbered,
    pipe::{self, PIPE_BYTES_MAX, State},
};
use crate::{Meter, port::Mode};

/// Most pipes with a name that are open in one line.
const OPEN_MAX: usize = 1_024;

/// What one costs: what it may hold, twice, as every pipe (a reader may give back what it read), and its place here.
const PIPE_BYTES: u64 = 2 * PIPE_BYTES_MAX as u64 + 1_024;

/// Where such a link points.
const FOLDER: &str = "/dev/pipe/";

/// Which pipe a link stands for, and the permission bits that are told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipeName {
    /// Tells it from all others.
    pub id: u64,
    /// Facts, as those of every file: they decide nothing.
    pub mode: Mode,
}

impl PipeName {
    /// What the target of a link says, if it says that it is a pipe.
    pub fn of(target: &str) -> Option<Self> {
        let (mode, id) = target.strip_prefix(FOLDER)?.split_once('/')?;
        let is_plain = id.len() == 16 && id.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
        let mode = u32::from_str_radix(mode, 8).ok().filter(|it| *it <= 0o7777 && !mode.starts_with('+'))?;
        let id = u64::from_str_radix(id, 16).ok().filter(|_| is_plain)?;
        Some(Self { id, mode: Mode::new(mode) })
    }
}

impl fmt::Display for PipeName {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{FOLDER}{:o}/{:016x}", self.mode.bits(), self.id)
    }
}

/// Which ways something is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Ways {
    Read,
    Write,
    Both,
}

/// A pipe cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OpenPipeError {
    /// There are as many as there may be.
    #[error("the line has too many named pipes open")]
    TooMany,
    /// The line has no memory left for what it holds.
    #[error("the line has no memory left for a named pipe")]
    OutOfMemory,
}

/// The pipes with a name that somebody of one line has open. They end with the last of their ends.
pub struct NamedPipes {
    meter: Arc<Meter>,
    open: Mutex<BTreeMap<u64, Weak<Mutex<State>>>>,
}

impl NamedPipes {
    /// None is open yet; each will be on this bill.
    pub fn new(meter: Arc<Meter>) -> Self {
        Self { meter, open: Mutex::default() }
    }

    /// Opens the pipe of that number, which nobody has open perhaps. It does not wait for anybody at the other side: the first
    /// byte does.
    pub fn open(&self, id: u64, ways: Ways) -> Result<Numbered, OpenPipeError> {
        let mut open = self.open.lock();
        let pipe = match open.get(&id).and_then(Weak::upgrade) {
            Some(pipe) => pipe,
            None => {
                if open.len() >= OPEN_MAX {
                    open.retain(|_, it| it.strong_count() > 0);
                }
                if open.len() >= OPEN_MAX {
                    return Err(OpenPipeError::TooMany);
                }
                let paid = Paid::take(&self.meter).ok_or(OpenPipeError::OutOfMemory)?;
                let pipe = pipe::named(paid);
                open.insert(id, Arc::downgrade(&pipe));
                pipe
            }
        };
        Ok(match ways {
            Ways::Read => Numbered::PipeIn(pipe::open_reader(&pipe)),
            Ways::Write => Numbered::PipeOut(pipe::open_writer(&pipe)),
            Ways::Both => {
                let writer = pipe::open_writer(&pipe);
                Numbered::PipeBoth(pipe::open_reader(&pipe), writer)
            }
        })
    }
}

/// What pays for one of them.
struct Paid(Arc<Meter>);

impl Paid {
    fn take(meter: &Arc<Meter>) -> Option<Self> {
        meter.try_hold(PIPE_BYTES).then(|| Self(Arc::clone(meter)))
    }
}

impl Drop for Paid {
    fn drop(&mut self) {
        self.0.release(PIPE_BYTES);
    }
}
