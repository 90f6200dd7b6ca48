//! Reads a stream in blocks that end where a line ends, so that a large file needs little memory.

use std::io::{self, Read};

/// The first piece is small, because most inputs are and fresh memory costs; it grows with the input.
const READ_BYTES_MIN: usize = 4 * 1024;
const READ_BYTES_MAX: usize = 128 * 1024;

/// Whether to go on.
#[derive(PartialEq, Clone, Copy)]
pub(super) enum Next {
    More,
    Enough,
}

/// Calls `each` with one block after the other; a line longer than a block makes a longer block.
pub(super) fn for_each(
    source: &mut dyn Read,
    null_data: bool,
    mut each: impl FnMut(&[u8]) -> Next,
) -> io::Result<()> {
    let end = if null_data { 0 } else { b'\n' };
    let mut buffer: Vec<u8> = Vec::new();
    let (mut filled, mut piece) = (0, READ_BYTES_MIN);
    loop {
        if buffer.len() < filled + piece / 2 {
            buffer.resize(filled + piece, 0);
        }
        let read = match source.read(&mut buffer[filled..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if read == 0 {
            if filled > 0 {
                each(&buffer[..filled]);
            }
            return Ok(());
        }
        if read == buffer.len() - filled {
            piece = (piece * 8).min(READ_BYTES_MAX);
        }
        let fresh = &buffer[filled..filled + read];
        let Some(last) = memchr::memrchr(end, fresh) else {
            filled += read;
            continue;
        };
        let whole = filled + last + 1;
        if each(&buffer[..whole]) == Next::Enough {
            return Ok(());
        }
        buffer.copy_within(whole..filled + read, 0);
        filled = filled + read - whole;
    }
}
