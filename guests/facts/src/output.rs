//! Whether a command is about to read the file that it writes: it would read its own lines for ever.
//!
//! Elsewhere a file tells by its device and inode. A redirection of Drydock's shell is a stream for the
//! guest, and the host tells the inode of the file behind it; a stream with no file has none.

use std::fs::File;
use std::io::Seek as _;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd as _;

/// The file that standard output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Output {
    device: u64,
    inode: u64,
}

impl Output {
    /// Asks the system; nothing if it is no file.
    pub fn file() -> Option<Self> {
        // SAFETY: standard output is open for the whole run and is not closed here.
        let stdout = ManuallyDrop::new(unsafe { File::from_raw_fd(1) });
        system::facts(&stdout).map(|(output, _)| output)
    }

    /// If `input` is the same file: how many of its bytes were not read yet.
    pub fn left_in(self, input: &File) -> Option<u64> {
        let (it, size) = system::facts(input)?;
        // A stream has no position, and its size is what is left.
        let position = (&*input).stream_position().unwrap_or(0);
        (it == self).then(|| size.saturating_sub(position))
    }
}

#[cfg(unix)]
mod system {
    use super::Output;
    use std::fs::File;
    use std::os::unix::fs::MetadataExt as _;

    pub(super) fn facts(file: &File) -> Option<(Output, u64)> {
        let data = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some((Output { device: data.dev(), inode: data.ino() }, data.size()))
    }
}

#[cfg(target_os = "wasi")]
mod system {
    use super::Output;
    use std::fs::File;
    use std::os::fd::AsRawFd as _;

    pub(super) fn facts(file: &File) -> Option<(Output, u64)> {
        // SAFETY: all-zero bytes are a `stat`, and it is only read once libc has filled it.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: an open descriptor and a place for the answer, both alive until after the call.
        let failed = unsafe { libc::fstat(file.as_raw_fd(), &raw mut stat) };
        let known = failed == 0 && stat.st_ino != 0;
        known.then(|| (Output { device: stat.st_dev, inode: stat.st_ino }, stat.st_size.max(0) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::{Output, system};
    use std::fs::File;
    use std::io::{Read as _, Write as _};

    #[test]
    fn an_input_that_is_the_output_tells_what_is_left_of_it() {
        let folder = std::env::temp_dir().join(format!("facts-output-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let [one, other] = ["one", "other"].map(|name| folder.join(name));
        let mut output = File::create(&one).unwrap();
        output.write_all(b"abc").unwrap();
        std::fs::write(&other, "abc").unwrap();
        let (it, _): (Output, u64) = system::facts(&output).unwrap();
        assert_eq!(it.left_in(&File::open(&other).unwrap()), None);
        let mut input = File::open(&one).unwrap();
        assert_eq!(it.left_in(&input), Some(3));
        input.read_exact(&mut [0; 2]).unwrap();
        assert_eq!(it.left_in(&input), Some(1));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
