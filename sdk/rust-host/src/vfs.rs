//! Whole files of the session, without a libc. The power `vfs`.

use crate::{
    Error,
    error::{done, filled},
    raw,
};

/// The longest file that is read.
const FILE_BYTES_MAX: usize = 64 << 20;

/// Writes a file, and makes the directories that it lacks.
pub fn write(path: &str, data: &[u8]) -> Result<(), Error> {
    // SAFETY: the host reads both before it returns.
    done(unsafe { raw::host_vfs_write(path.as_ptr(), path.len() as u32, data.as_ptr(), data.len() as u32) })
}

/// Reads a file.
pub fn read(path: &str) -> Result<Vec<u8>, Error> {
    filled(64 << 10, FILE_BYTES_MAX, |out, cap| {
        // SAFETY: the host reads the path, and writes no more than `cap` bytes, before it returns.
        unsafe { raw::host_vfs_read(path.as_ptr(), path.len() as u32, out, cap) }
    })
}
