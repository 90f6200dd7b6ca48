//! Where lines go: standard output through one buffer, the files of `w`, what a file that is edited in
//! place becomes.
//!
//! A last line without an end stays without one, but only until something follows it.

use place::stdio::path;
use std::fs::File;
use std::io::{self, Write};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd as _;

const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// One place to write to.
#[derive(Default)]
pub(crate) struct Output {
    /// `None` for nowhere.
    file: Option<ManuallyDrop<File>>,
    buffer: Vec<u8>,
    /// The last line had no end.
    unended: bool,
    each: bool,
    /// `/dev/null`, which a sandbox need not have.
    nowhere: bool,
    separator: u8,
    /// Of a file that is being made: whether all could be written.
    edited: Option<io::Result<()>>,
}

impl Output {
    /// Standard output or standard error.
    pub(crate) fn standard(descriptor: i32, separator: u8, each: bool) -> Self {
        // SAFETY: the standard descriptors are open for the whole run and are not closed here.
        let file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
        Self { file: Some(file), each, separator, ..Self::default() }
    }

    /// A new file of that name.
    pub(crate) fn create(name: &[u8], separator: u8) -> io::Result<Self> {
        if name == b"/dev/null" {
            return Ok(Self { nowhere: true, separator, ..Self::default() });
        }
        let file = ManuallyDrop::new(File::create(path(name))?);
        Ok(Self { file: Some(file), separator, ..Self::default() })
    }

    /// A file that is being made. What cannot be written is told when it is [closed](Self::close).
    pub(crate) fn edited(file: File, separator: u8) -> Self {
        Self { file: Some(ManuallyDrop::new(file)), edited: Some(Ok(())), separator, ..Self::default() }
    }

    /// Writes what is buffered and closes the file; the first error there was.
    pub(crate) fn close(mut self) -> io::Result<()> {
        self.flush();
        drop(self.file.take().map(ManuallyDrop::into_inner));
        self.edited.unwrap_or(Ok(()))
    }

    /// A line and its end, if it has one.
    pub(crate) fn line(&mut self, line: &[u8], ended: bool) {
        self.complete();
        self.buffer.extend_from_slice(line);
        if ended {
            self.buffer.push(self.separator);
        } else {
            self.unended = true;
        }
        self.settle();
    }

    /// Bytes that bring their own line ends, or none.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.complete();
        self.buffer.extend_from_slice(bytes);
        self.settle();
    }

    /// A line of `w /dev/stdout`: nothing is completed before it, and it is not completed later.
    pub(crate) fn line_beside(&mut self, line: &[u8], ended: bool) {
        self.buffer.extend_from_slice(line);
        if ended {
            self.buffer.push(self.separator);
        }
        self.settle();
    }

    /// Gives the last line its end, if it had none.
    pub(crate) fn complete(&mut self) {
        if std::mem::take(&mut self.unended) {
            self.buffer.push(self.separator);
        }
    }

    fn settle(&mut self) {
        if self.nowhere {
            self.buffer.clear();
        }
        if self.file.is_some() && (self.each || self.buffer.len() >= BUFFER_BYTES_MAX) {
            self.flush();
        }
    }

    /// Writes what is buffered.
    pub(crate) fn flush(&mut self) {
        let Some(file) = &mut self.file else { return };
        if !self.buffer.is_empty() && !matches!(self.edited, Some(Err(_))) {
            match (file.write_all(&self.buffer), &mut self.edited) {
                (Ok(()), _) => {}
                (Err(error), Some(edited)) => *edited = Err(error),
                // The reader has gone, or there is no room: nothing more can be said there.
                (Err(_), None) => std::process::exit(4),
            }
        }
        self.buffer.clear();
    }
}
