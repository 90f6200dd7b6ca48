//! A tree of files as a guest may see one. Every backing resolves paths itself and is confined to
//! its own root: `..` at the root stays at the root, and a symbolic link can name nothing outside.

use std::sync::Arc;

use crate::{
    Timestamp,
    port::{FileLimit, Mode},
    text,
};

/// What an operation on files answers.
pub type FileResult<T> = Result<T, FileError>;

/// Why not, in the words a guest's errno has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum FileError {
    #[error("no such file or directory")]
    NotFound,
    #[error("file exists")]
    Exists,
    #[error("not a directory")]
    NotADirectory,
    #[error("is a directory")]
    IsADirectory,
    #[error("directory not empty")]
    NotEmpty,
    #[error("permission denied")]
    Denied,
    #[error("read-only file system")]
    ReadOnly,
    /// The disk is full. A limit of the tree's own is `Quota`.
    #[error("no space left")]
    NoSpace,
    /// A limit of the tree was reached.
    #[error("{0}")]
    Quota(FileLimit),
    #[error("file too large")]
    TooBig,
    #[error("name too long")]
    NameTooLong,
    #[error("too many levels of symbolic links")]
    Loop,
    #[error("invalid argument")]
    Invalid,
    #[error("operation not supported")]
    Unsupported,
    #[error("crosses from one tree into another")]
    CrossDevice,
    #[error("input or output failed")]
    Io,
    /// The tree was asked through a view whose time is up; nothing of the call is left behind.
    #[error("interrupted")]
    Interrupted,
}

/// A path inside one tree: no NUL, at most 4,096 bytes. Relative to the root; not resolved. Bytes that
/// are not UTF-8 are in it as [`text`](crate::text) has them, and only in that one form.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct TreePath(Arc<str>);

impl TreePath {
    /// The longest path, in bytes.
    pub const BYTES_MAX: usize = 4096;
    /// The longest single name, in bytes.
    pub const NAME_BYTES_MAX: usize = 255;

    /// The root of the tree.
    pub fn root() -> Self {
        Self::default()
    }

    /// Checks the text and takes it as it is.
    pub fn new(text: &str) -> FileResult<Self> {
        let text = &*text::normal(text);
        if text::byte_len(text) > Self::BYTES_MAX {
            return Err(FileError::Quota(FileLimit::PathBytes));
        }
        if text.contains('\0') {
            return Err(FileError::Invalid);
        }
        if text.split('/').any(|name| text::byte_len(name) > Self::NAME_BYTES_MAX) {
            return Err(FileError::NameTooLong);
        }
        Ok(Self(text.into()))
    }

    /// This path and, below it, another.
    pub fn join(&self, below: &str) -> FileResult<Self> {
        if self.0.is_empty() {
            return Self::new(below);
        }
        Self::new(&format!("{}/{below}", self.0))
    }

    /// The names in the path, `.` and empty ones left out, `..` kept: only a backing knows where
    /// `..` leads once symbolic links are in the way.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|name| !name.is_empty() && *name != ".")
    }

    /// Whether the text ends as a directory's does.
    pub fn names_a_directory(&self) -> bool {
        self.0.ends_with('/') || self.0.ends_with("/.") || &*self.0 == "."
    }

    /// The path as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether the last name of a path, if it is a symbolic link, stands for its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// The target.
    Yes,
    /// The link itself.
    No,
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FileKind {
    File,
    Directory,
    Symlink,
}

/// Facts about a file, directory or link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// Stable while the tree lives; equal for hard links of one file.
    pub inode: u64,
    /// What it is.
    pub kind: FileKind,
    /// Its permission bits.
    pub mode: Mode,
    /// Names that stand for it.
    pub links: u64,
    /// Its length in bytes.
    pub size: u64,
    /// When it was last read.
    pub accessed: Timestamp,
    /// When its content last changed.
    pub modified: Timestamp,
    /// When anything about it last changed.
    pub changed: Timestamp,
}

/// How to open a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenHow {
    /// To read it.
    pub read: bool,
    /// To write it.
    pub write: bool,
    /// Make it if it is missing.
    pub create: bool,
    /// With `create`: fail if it is there.
    pub exclusive: bool,
    /// Empty it.
    pub truncate: bool,
    /// Refuse to follow a symbolic link as the last name.
    pub nofollow: bool,
    /// With `create`: the bits of a file that is made, the mask applied already.
    pub mode: Mode,
}

impl OpenHow {
    /// Nothing asked for.
    pub const NONE: Self = Self {
        read: false,
        write: false,
        create: false,
        exclusive: false,
        truncate: false,
        nofollow: false,
        mode: Mode::FILE,
    };
}

impl Default for OpenHow {
    fn default() -> Self {
        Self::NONE
    }
}

/// Times to set; what is `None` stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileTimes {
    /// Time of the last read.
    pub accessed: Option<Timestamp>,
    /// Time of the last change of content.
    pub modified: Option<Timestamp>,
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// The name.
    pub name: String,
    /// What it stands for.
    pub kind: FileKind,
    /// Its inode.
    pub inode: u64,
}

/// A tree of files. `now` is passed in where a time is recorded, so that a run with a fixed clock
/// leaves the same tree behind.
pub trait Files: Send + Sync {
    /// Facts about what the path names.
    fn stat(&self, path: &TreePath, follow: Follow) -> FileResult<Stat>;
    /// Opens a regular file. A directory is `IsADirectory`: it has no bytes.
    fn open(&self, path: &TreePath, how: OpenHow, now: Timestamp) -> FileResult<Arc<dyn OpenFile>>;
    /// The names in a directory, sorted, without `.` and `..`.
    fn read_dir(&self, path: &TreePath) -> FileResult<Vec<DirEntry>>;
    /// Makes a directory with these bits, the mask applied already.
    fn create_dir(&self, path: &TreePath, mode: Mode, now: Timestamp) -> FileResult<()>;
    /// Removes an empty directory.
    fn remove_dir(&self, path: &TreePath, now: Timestamp) -> FileResult<()>;
    /// Removes a file or a link. Open handles keep working.
    fn unlink(&self, path: &TreePath, now: Timestamp) -> FileResult<()>;
    /// Moves `from` to `to`, replacing what POSIX lets it replace.
    fn rename(&self, from: &TreePath, to: &TreePath, now: Timestamp) -> FileResult<()>;
    /// Gives the file at `from` a second name.
    fn link(&self, from: &TreePath, follow: Follow, to: &TreePath, now: Timestamp) -> FileResult<()>;
    /// Makes a symbolic link at `path` that says `target`.
    fn symlink(&self, target: &str, path: &TreePath, now: Timestamp) -> FileResult<()>;
    /// What the symbolic link says.
    fn read_link(&self, path: &TreePath) -> FileResult<String>;
    /// Sets times.
    fn set_times(&self, path: &TreePath, follow: Follow, times: FileTimes, now: Timestamp) -> FileResult<()>;
    /// Sets the permission bits. A link's own cannot be set: with `Follow::No` it is `Unsupported`.
    fn set_mode(&self, path: &TreePath, follow: Follow, mode: Mode, now: Timestamp) -> FileResult<()>;

    /// What the first names of a path stand for, no link followed: directories, and the first that is
    /// none. It may tell of fewer names than there are, even of none; `stat` answers for the others.
    /// A tree that is shown inside another one is so asked once for a path, and not for each name.
    fn trail(&self, _path: &TreePath) -> Vec<FileKind> {
        Vec::new()
    }

    /// The same tree for somebody whose time can be up: what takes long asks now and then, leaves
    /// nothing behind and answers [`FileError::Interrupted`]. `None`: nothing here takes long.
    fn until(&self, _time_is_up: &Interrupt) -> Option<Arc<dyn Files>> {
        None
    }
}

/// Answers whether the time of whoever asks is up. Cheap, and called often.
pub type Interrupt = Arc<dyn Fn() -> bool + Send + Sync>;

/// An open regular file. Positions are the caller's.
pub trait OpenFile: Send + Sync {
    /// Reads at `offset`; 0 means the end.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> FileResult<usize>;
    /// Writes all of `bytes` at `offset`, filling a gap with zeros, or changes nothing.
    fn write_at(&self, offset: u64, bytes: &[u8], now: Timestamp) -> FileResult<()>;
    /// Writes all of `bytes` at the end in one step; answers the new length.
    fn append(&self, bytes: &[u8], now: Timestamp) -> FileResult<u64>;
    /// Cuts or extends with zeros.
    fn set_len(&self, len: u64, now: Timestamp) -> FileResult<()>;
    /// Facts about the file.
    fn stat(&self) -> FileResult<Stat>;
    /// Sets times.
    fn set_times(&self, times: FileTimes, now: Timestamp) -> FileResult<()>;
    /// Sets the permission bits.
    fn set_mode(&self, mode: Mode, now: Timestamp) -> FileResult<()>;
    /// Where bytes begin at or after `offset` that are not a hole; the length if there are none. A tree
    /// that does not know its holes answers `offset`.
    fn next_data(&self, offset: u64) -> FileResult<u64> {
        Ok(offset)
    }
    /// Makes the content survive.
    fn sync(&self) -> FileResult<()>;
    /// Whether [`sync`](Self::sync) may wait for a disk, and so belongs on a thread that may.
    fn sync_waits(&self) -> bool {
        false
    }
}
