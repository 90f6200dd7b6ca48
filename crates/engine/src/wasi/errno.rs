//! Preview 1's error numbers, and what each of our errors is among them.

use drydock_contract::port::{FileError, FileLimit};

macro_rules! errnos {
    ($($name:ident $code:literal,)*) => {
        /// Why a call failed, as the guest's libc knows it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Errno { $($name = $code,)* }
    };
}

errnos! {
    Acces 2, Badf 8, Exist 20, Fault 21, Fbig 22, Intr 27, Inval 28, Io 29, Isdir 31, Loop 32, Mfile 33,
    Nametoolong 37, Noent 44, Nospc 51, Notdir 54, Notempty 55, Notsup 58, Overflow 61, Pipe 64, Rofs 69,
    Spipe 70, Xdev 75, Notcapable 76,
    // A guest knows these by the numbers that `code` gives them; the run's report has them by name.
    FullBytes 1001, FullFileBytes 1002, FullFiles 1003, FullPath 1004, FullDepth 1005,
}

impl Errno {
    pub(crate) const fn code(self) -> i32 {
        match self {
            Self::FullBytes | Self::FullFiles => Self::Nospc as i32,
            Self::FullFileBytes => Self::Fbig as i32,
            Self::FullPath | Self::FullDepth => Self::Nametoolong as i32,
            other => other as i32,
        }
    }

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
