//! Preview 1's error numbers.

use crate::wasi::Errno;

/// The number that a guest's libc knows an errno by.
pub(super) const fn code(errno: Errno) -> i32 {
    match errno {
        Errno::Acces => 2,
        Errno::Badf => 8,
        Errno::Exist => 20,
        Errno::Fault => 21,
        Errno::Fbig | Errno::FullFileBytes | Errno::PastFileLimit => 22,
        Errno::Intr => 27,
        Errno::Inval => 28,
        Errno::Io => 29,
        Errno::Isdir => 31,
        Errno::Loop => 32,
        Errno::Mfile => 33,
        Errno::Nametoolong | Errno::FullPath | Errno::FullDepth => 37,
        Errno::Noent => 44,
        Errno::Nospc | Errno::FullBytes | Errno::FullFiles => 51,
        Errno::Notdir => 54,
        Errno::Notempty => 55,
        Errno::Notsock => 57,
        Errno::Notsup => 58,
        Errno::Overflow => 61,
        Errno::Perm => 63,
        Errno::Pipe => 64,
        Errno::Rofs => 69,
        Errno::Spipe => 70,
        Errno::Xdev => 75,
        Errno::Notcapable => 76,
    }
}
