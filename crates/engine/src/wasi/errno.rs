//! Why an operation fails, in POSIX's words. The numbers are each preview's own.

use drydock_contract::port::{FileError, FileLimit};

/// Why a call failed, as the guest's libc knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Errno {
    Acces,
    Badf,
    Exist,
    /// A pointer that leads out of the guest's memory.
    Fault,
    Fbig,
    Intr,
    Inval,
    Io,
    Isdir,
    Loop,
    Mfile,
    Nametoolong,
    Noent,
    Nospc,
    Notdir,
    Notempty,
    Notsock,
    Notsup,
    Overflow,
    Perm,
    Pipe,
    Rofs,
    Spipe,
    Xdev,
    Notcapable,
    // A guest knows these by other words; the run's report has them by name.
    FullBytes,
    FullFileBytes,
    FullFiles,
    FullPath,
    FullDepth,
    /// The file would get longer than the run may write one: no guest is told, because it ends the run.
    PastFileLimit,
}

impl Errno {
    /// The limit of the run's files that was reached, if that is why.
    pub(crate) const fn limit(self) -> Option<FileLimit> {
        match self {
            Self::FullBytes => Some(FileLimit::Bytes),
            Self::FullFileBytes => Some(FileLimit::FileBytes),
            Self::FullFiles => Some(FileLimit::Files),
            Self::FullPath => Some(FileLimit::PathBytes),
            Self::FullDepth => Some(FileLimit::Depth),
            Self::Mfile => Some(FileLimit::OpenHandles),
            Self::Nospc => Some(FileLimit::Disk),
            _ => None,
        }
    }
}

impl From<FileError> for Errno {
    fn from(error: FileError) -> Self {
        match error {
            FileError::NotFound => Self::Noent,
            FileError::Exists => Self::Exist,
            FileError::NotADirectory => Self::Notdir,
            FileError::IsADirectory => Self::Isdir,
            FileError::NotEmpty => Self::Notempty,
            FileError::Denied => Self::Acces,
            FileError::ReadOnly => Self::Rofs,
            FileError::NoSpace => Self::Nospc,
            FileError::Quota(limit) => match limit {
                FileLimit::FileBytes => Self::FullFileBytes,
                FileLimit::Files => Self::FullFiles,
                FileLimit::OpenHandles => Self::Mfile,
                FileLimit::PathBytes => Self::FullPath,
                FileLimit::Depth => Self::FullDepth,
                FileLimit::Disk => Self::Nospc,
                _ => Self::FullBytes,
            },
            FileError::TooBig => Self::Fbig,
            FileError::NameTooLong => Self::Nametoolong,
            FileError::Loop => Self::Loop,
            FileError::Invalid => Self::Inval,
            FileError::Unsupported => Self::Notsup,
            FileError::CrossDevice => Self::Xdev,
            FileError::Interrupted => Self::Intr,
            _ => Self::Io,
        }
    }
}
