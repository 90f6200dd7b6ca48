//! An open file with one position, shared by everyone who has it.

use std::sync::Arc;

use drydock_contract::port::{Clock, FileResult, OpenFile, Stat};
use parking_lot::Mutex;

use super::{ReadEnd, WriteEnd};

/// A file that a redirection opened.
pub trait ShellFile: Send + Sync {
    /// Reads at the position and moves it; 0 is the end.
    fn read(&self, buffer: &mut [u8]) -> FileResult<usize>;

    /// Writes all of it at the position and moves that, or at the end.
    fn write(&self, bytes: &[u8]) -> FileResult<()>;

    /// Where it is.
    fn position(&self) -> u64;

    /// Moves it.
    fn seek(&self, position: u64);

    /// Facts about it.
    fn stat(&self) -> FileResult<Stat>;

    /// By which number its door knows it, if that has numbers.
    fn number(&self) -> Option<u32> {
        None
    }

    /// The ends of the pipe that it is, if it is one with a name.
    fn pipe(&self) -> Option<PipeEnds> {
        None
    }
}

/// What somebody has of a pipe with a name, as it was opened: to read, to write, or both.
#[derive(Clone)]
pub struct PipeEnds {
    /// To read from.
    pub reader: Option<Arc<dyn ReadEnd>>,
    /// To write to.
    pub writer: Option<Arc<dyn WriteEnd>>,
}

/// A file of this process, at its beginning.
pub(super) fn positioned(
    file: Arc<dyn OpenFile>,
    is_appended: bool,
    clock: Arc<dyn Clock>,
) -> Arc<dyn ShellFile> {
    Arc::new(Positioned { file, is_appended, clock, position: Mutex::new(0) })
}

struct Positioned {
    file: Arc<dyn OpenFile>,
    is_appended: bool,
    clock: Arc<dyn Clock>,
    position: Mutex<u64>,
}

impl ShellFile for Positioned {
    fn read(&self, buffer: &mut [u8]) -> FileResult<usize> {
        let mut position = self.position.lock();
        let count = self.file.read_at(*position, buffer)?;
        *position += count as u64;
        Ok(count)
    }

    fn write(&self, bytes: &[u8]) -> FileResult<()> {
        let now = self.clock.now();
        let mut position = self.position.lock();
        if self.is_appended {
            *position = self.file.append(bytes, now)?;
        } else {
            self.file.write_at(*position, bytes, now)?;
            *position += bytes.len() as u64;
        }
        Ok(())
    }

    fn position(&self) -> u64 {
        *self.position.lock()
    }

    fn seek(&self, position: u64) {
        *self.position.lock() = position;
    }

    fn stat(&self) -> FileResult<Stat> {
        self.file.stat()
    }
}
