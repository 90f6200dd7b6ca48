//! The standard streams without a second buffer, names in bytes, and the system's words for errors.

use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::os::fd::FromRawFd as _;
use std::path::Path;

/// A standard stream: open for the whole run, and never closed here.
#[derive(Debug)]
pub struct Standard(ManuallyDrop<File>);

impl Standard {
    fn new(fd: i32) -> Self {
        // SAFETY: the standard descriptors are open for the whole run and never closed here.
        Self(ManuallyDrop::new(unsafe { File::from_raw_fd(fd) }))
    }

    /// Standard input.
    pub fn input() -> Self {
        Self::new(0)
    }

    /// Standard output.
    pub fn output() -> Self {
        Self::new(1)
    }

    /// Standard error.
    pub fn error() -> Self {
        Self::new(2)
    }
}

impl Deref for Standard {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Read for Standard {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(into)
    }
}

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.0).flush()
    }
}

/// The system's words for what failed, as C has them, without Rust's number behind them.
pub fn reason(error: &io::Error) -> String {
    let mut text = error.to_string();
    if let Some(end) = text.find(" (os error") {
        text.truncate(end);
    }
    text
}

/// A name as the system takes it: any bytes.
pub fn path(name: &[u8]) -> &Path {
    #[cfg(unix)]
    use std::os::unix::ffi::OsStrExt as _;
    #[cfg(target_os = "wasi")]
    use std::os::wasi::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(name))
}

/// The whole of a file, or of standard input where the name is `-`.
pub fn read(name: &str) -> io::Result<Vec<u8>> {
    if name != "-" {
        return std::fs::read(name);
    }
    let mut bytes = Vec::new();
    Standard::input().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes to standard output, at once; whether anybody could read it.
pub fn print(bytes: &[u8]) -> bool {
    Standard::output().write_all(bytes).is_ok()
}

/// Writes a line to standard error, with the program's name before it.
pub fn complain(program: &str, problem: &str) {
    // Nobody is left to be told that standard error is closed.
    let _ = Standard::error().write_all(format!("{program}: {problem}\n").as_bytes());
}

#[test]
fn errors_have_the_words_of_c() {
    let missing = std::fs::read("/no/such/file").map(drop).map_err(|error| reason(&error));
    assert_eq!(missing, Err("No such file or directory".to_owned()));
    assert_eq!(reason(&io::Error::other("a story (of its own)")), "a story (of its own)");
}
