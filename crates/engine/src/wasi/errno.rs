//! Preview 1's error numbers, and what each of our errors is among them.

use drydock_contract::port::FileError;

macro_rules! errnos {
    ($($name:ident $code:literal,)*) => {
        /// Why a call failed, as the guest's libc knows it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Errno { $($name = $code,)* }
    };
}

errnos! {
    Acces 2, Badf 8, Exist 20, Fault 21, Fbig 22, Ilseq 25, Inval 28, Io 29, Isdir 31, Loop 32, Mfile 33,
    Nametoolong 37, Noent 44, Nospc 51, Notdir 54, Notempty 55, Notsup 58, Overflow 61, Pipe 64, Rofs 69,
    Spipe 70, Xdev 75, Notcapable 76,
}

impl Errno {
    pub(crate) const fn code(self) -> i32 {
        self as i32
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
            FileError::TooBig => Self::Fbig,
            FileError::NameTooLong => Self::Nametoolong,
            FileError::Loop => Self::Loop,
            FileError::Invalid => Self::Inval,
            FileError::Unsupported => Self::Notsup,
            FileError::CrossDevice => Self::Xdev,
            _ => Self::Io,
        }
    }
}
