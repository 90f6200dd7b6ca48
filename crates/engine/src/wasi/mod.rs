//! What the operations of WASI do, in our own types: over the run's file tree, streams, clock and tools.
//!
//! A preview translates: it finds the bytes in the guest's memory, asks here, and spells the answer. So nothing here
//! knows of pointers, layouts, error numbers, rights or descriptor numbers; those are in [`preview1`](crate::preview1), and
//! another preview would bring its own. Nothing here opens a host file: paths go to the
//! [`Files`](drydock_contract::port::Files) port. There are no sockets.

mod clock;
mod confine;
mod descriptor;
mod device;
mod door;
mod errno;
mod file;
mod here;
mod listing;
mod path;
mod pipe;
mod stream;
mod wait;
mod web;

pub(crate) use clock::{Clock, RESOLUTION_NS};
pub(crate) use descriptor::{Descriptor, OpenedDirectory, OpenedFile, Position};
pub(crate) use device::{door_stat, numbered_file, web_stat};
pub(crate) use door::{Door, Reading};
pub(crate) use errno::Errno;
pub(crate) use file::{Whence, now, sync};
pub(crate) use here::directory as working_directory;
pub(crate) use listing::Listing;
pub(crate) use path::{Opening, create_dir, open, read_link, resolve, set_mode, stat, symlink};
pub(crate) use stream::{
    Output, STREAM_MODE, ask_for_input, poll_counted, poll_read_numbered, poll_read_stdin,
    poll_write_numbered, unless_read, write_stderr,
};
pub(crate) use wait::{Wanted, wait};
pub(crate) use web::{Web, WebStep};

use crate::outcome::Stop;

/// What one call moves at most, as on Linux: the count has to fit its type.
pub(crate) const CALL_BYTES_MAX: usize = 0x7fff_f000;
/// What is moved at a time: the clock is looked at in between, because one call can name the same memory a thousand
/// times (decision 0015).
pub(crate) const PIECE_BYTES: usize = 1 << 20;

/// An errno for the guest, or the end of the run.
pub(crate) enum Failure {
    Errno(Errno),
    Stop(Stop),
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::PastFileLimit => Self::Stop(Stop::FILE_LIMIT),
            errno => Self::Errno(errno),
        }
    }
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}
