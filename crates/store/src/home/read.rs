//! Reads a regular file up to a limit, and fails rather than truncates.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use rustix::fs::OFlags;

/// Opens a regular file of at most `bytes_max` bytes; answers its length as well.
pub(crate) fn open_regular(path: &Path, bytes_max: u64) -> io::Result<(File, u64)> {
    // Without NONBLOCK a pipe planted under the name would make us wait for ever.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let facts = file.metadata()?;
    if !facts.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    if facts.len() > bytes_max {
        return Err(too_large(facts.len(), bytes_max));
    }
    Ok((file, facts.len()))
}

/// Whether the bytes of a file are wrong, as opposed to a file that could not be read just now.
pub(crate) fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, InvalidData, InvalidInput, UnexpectedEof};
    // An error of the system's own is about the reading, whatever kind it is sorted under.
    let about_the_bytes = matches!(error.kind(), FileTooLarge | InvalidData | InvalidInput | UnexpectedEof);
    error.raw_os_error().is_none() && about_the_bytes
}

/// Reads what is left of an open file that had `len` bytes.
pub(crate) fn read_capped(file: &File, len: u64, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(len).map_err(io::Error::other)?)?;
    // The file may have grown since its length was asked for.
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(too_large(bytes.len() as u64, bytes_max));
    }
    Ok(bytes)
}

fn too_large(bytes: u64, bytes_max: u64) -> io::Error {
    let text = format!("{bytes} bytes or more exceed the limit of {bytes_max}");
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_and_a_file_too_large_are_refused_before_they_are_read() {
        let dir = tempfile::tempdir().unwrap();
        assert!(open_regular(dir.path(), 10).is_err());
        let path = dir.path().join("large");
        std::fs::write(&path, "0123456789").unwrap();
        assert_eq!(open_regular(&path, 9).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        let (file, len) = open_regular(&path, 10).unwrap();
        assert_eq!(read_capped(&file, len, 10).unwrap(), b"0123456789");
    }
}
