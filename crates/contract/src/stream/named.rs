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

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn pipes(bytes: u64) -> NamedPipes {
        NamedPipes::new(Arc::new(Meter::new(bytes)))
    }

    fn read(from: &Numbered) -> Option<Vec<u8>> {
        let mut buffer = [0; 8];
        match from.poll_read(&mut Context::from_waker(Waker::noop()), &mut buffer) {
            Poll::Ready(count) => Some(buffer[..count.unwrap()].to_vec()),
            Poll::Pending => None,
        }
    }

    fn write(to: &Numbered, bytes: &[u8]) -> Option<bool> {
        match to.poll_write(&mut Context::from_waker(Waker::noop()), bytes) {
            Poll::Ready(wrote) => Some(wrote.is_ok()),
            Poll::Pending => None,
        }
    }

    #[test]
    fn ends_of_a_named_pipe_come_and_go() {
        let pipes = pipes(1 << 20);
        let open = |ways| pipes.open(7, ways).unwrap();
        let reader = open(Ways::Read);
        assert_eq!(read(&reader), None, "nobody writes yet");
        let writer = open(Ways::Write);
        assert_eq!((write(&writer, b"one"), read(&reader)), (Some(true), Some(b"one".to_vec())));
        drop(writer);
        assert_eq!(read(&reader), Some(Vec::new()), "the writer has gone");
        let again = open(Ways::Write);
        assert_eq!((write(&again, b"two"), read(&reader)), (Some(true), Some(b"two".to_vec())));
        drop(reader);
        assert_eq!(write(&again, b"x"), Some(false), "nobody reads any more");
        let late = open(Ways::Read);
        assert_eq!((write(&again, b"yz"), read(&late)), (Some(true), Some(b"yz".to_vec())));
        drop((again, late));
        let alone = open(Ways::Write);
        assert_eq!((write(&alone, b""), write(&alone, b"x")), (None, None), "nobody has read yet");
        let both = open(Ways::Both);
        assert_eq!((write(&both, b"ab"), read(&both)), (Some(true), Some(b"ab".to_vec())));
    }

    #[test]
    fn what_one_reader_left_is_the_next_ones_while_somebody_writes() {
        let pipes = pipes(1 << 20);
        let (reader, writer) = (pipes.open(1, Ways::Read).unwrap(), pipes.open(1, Ways::Write).unwrap());
        assert_eq!(write(&writer, b"0123456789"), Some(true));
        assert_eq!(read(&reader).unwrap(), b"01234567");
        drop(reader);
        let next = pipes.open(1, Ways::Read).unwrap();
        assert_eq!(read(&next).unwrap(), b"89");
    }

    #[test]
    fn each_is_paid_for_while_it_is_open_and_no_longer() {
        let few = pipes(3 * PIPE_BYTES);
        let open: Vec<Numbered> = (0..3).map(|id| few.open(id, Ways::Both).unwrap()).collect();
        assert_eq!(few.open(9, Ways::Read).err(), Some(OpenPipeError::OutOfMemory));
        assert!(few.open(2, Ways::Read).is_ok(), "one that is open is paid for");
        drop(open);
        assert!((0..2_000).all(|id| few.open(id, Ways::Read).is_ok()));
        let many = pipes(u64::MAX);
        let open: Vec<_> = (0..OPEN_MAX as u64).map(|id| many.open(id, Ways::Read)).collect();
        assert_eq!(many.open(u64::MAX, Ways::Read).err(), Some(OpenPipeError::TooMany));
        drop(open);
    }

    #[test]
    fn a_link_says_which_pipe_it_is_in_one_way_only() {
        let name = PipeName { id: 0xab, mode: Mode::new(0o640) };
        assert_eq!(name.to_string(), "/dev/pipe/640/00000000000000ab");
        assert_eq!(PipeName::of(&name.to_string()), Some(name));
        let wrong = [
            "",
            "/dev/pipe/",
            "/dev/pipe/640/ab",
            "/dev/pipe/640/00000000000000AB",
            "/dev/pipe/10000/00000000000000ab",
            "/dev/pipe/+40/00000000000000ab",
            "/dev/pipe/640/+0000000000000ab",
            "/dev/pipe/640/00000000000000ab/x",
            "dev/pipe/640/00000000000000ab",
            "/dev/pipe/648/00000000000000ab",
            "/dev/pipe//00000000000000ab",
        ];
        for text in wrong {
            assert_eq!(PipeName::of(text), None, "{text:?}");
        }
    }
}
