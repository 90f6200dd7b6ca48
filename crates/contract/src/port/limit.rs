//! What a tree of files may hold, and which of its limits was reached.

use std::fmt;

/// A limit of a tree of files, or of what is open in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileLimit {
    /// Bytes of all files together.
    Bytes,
    /// Bytes of one file.
    FileBytes,
    /// Names of files, directories and links.
    Files,
    /// Files and directories open at once.
    OpenHandles,
    /// Bytes of one path.
    PathBytes,
    /// Directories inside one another.
    Depth,
    /// None of ours: the disk behind it is full.
    Disk,
}

impl FileLimit {
    /// All of them. The position is the number on the wire, so new ones go last.
    pub const ALL: [Self; 7] = [
        Self::Bytes,
        Self::FileBytes,
        Self::Files,
        Self::OpenHandles,
        Self::PathBytes,
        Self::Depth,
        Self::Disk,
    ];

    /// The stable name.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::FileBytes => "file_bytes",
            Self::Files => "files",
            Self::OpenHandles => "open_handles",
            Self::PathBytes => "path_bytes",
            Self::Depth => "depth",
            Self::Disk => "disk",
        }
    }
}

impl fmt::Display for FileLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bytes => "no space left: the files hold as many bytes as they may",
            Self::FileBytes => "file too large: one file may not hold as much",
            Self::Files => "no space left: there are as many files as there may be",
            Self::OpenHandles => "as many files are open as may be at once",
            Self::PathBytes => "the path is longer than a path may be",
            Self::Depth => "directories lie as deep inside one another as they may",
            Self::Disk => "no space left on the disk",
        })
    }
}
