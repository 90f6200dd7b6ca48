//! What the file system says of a name, in one shape for guests and for native tests.
//!
//! WASI knows kinds, sizes, links and times, but neither owners nor modes. Modes come from the host by
//! an import of their own; there is one owner, and everything is theirs.

pub mod name;
pub mod output;
pub mod owner;
pub mod pattern;
pub mod time;

use std::io;
use std::path::Path;

pub use time::Time;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    File,
    Directory,
    Symlink,
    Fifo,
    Socket,
    Character,
    Block,
}

impl Kind {
    /// The letter of `find -type` and `-printf %y`.
    pub const fn letter(self) -> char {
        match self {
            Self::File => 'f',
            Self::Directory => 'd',
            Self::Symlink => 'l',
            Self::Fifo => 'p',
            Self::Socket => 's',
            Self::Character => 'c',
            Self::Block => 'b',
        }
    }

    /// The bits above the permissions in a Unix mode.
    pub const fn bits(self) -> u32 {
        match self {
            Self::File => 0o100_000,
            Self::Directory => 0o040_000,
            Self::Symlink => 0o120_000,
            Self::Fifo => 0o010_000,
            Self::Socket => 0o140_000,
            Self::Character => 0o020_000,
            Self::Block => 0o060_000,
        }
    }
}

/// Whether a symbolic link stands for its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// It does.
    Yes,
    /// It stands for itself.
    No,
}

/// The facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Facts {
    pub kind: Kind,
    pub size: u64,
    /// Permissions, without the kind.
    pub mode: u32,
    pub links: u64,
    pub inode: u64,
    pub device: u64,
    pub owner: u32,
    pub group: u32,
    /// Of 512 bytes.
    pub blocks: u64,
    pub accessed: Time,
    pub modified: Time,
    pub changed: Time,
}

impl Facts {
    /// `drwxr-xr-x`.
    pub fn mode_text(&self) -> String {
        let kind = match self.kind {
            Kind::File => '-',
            other => other.letter(),
        };
        let mut text = String::from(kind);
        for (shift, special, letter) in [(6, 0o4000, 's'), (3, 0o2000, 's'), (0, 0o1000, 't')] {
            let bits = self.mode >> shift;
            text.push(if bits & 4 == 0 { '-' } else { 'r' });
            text.push(if bits & 2 == 0 { '-' } else { 'w' });
            text.push(match (self.mode & special != 0, bits & 1 != 0) {
                (false, false) => '-',
                (false, true) => 'x',
                (true, true) => letter,
                (true, false) => letter.to_ascii_uppercase(),
            });
        }
        text
    }
}

/// Asks for the facts of a path.
pub fn of(path: &Path, follow: Follow) -> io::Result<Facts> {
    system::of(path, follow)
}

/// A size with a letter, as `-h` has it: rounded up, one digit after the point below ten.
pub fn human(bytes: u64, base: u64) -> String {
    const LETTERS: [&str; 7] = ["", "K", "M", "G", "T", "P", "E"];
    if bytes < base {
        return bytes.to_string();
    }
    let (mut unit, mut step) = (base, 1);
    while step < 6 && bytes / unit >= base {
        unit *= base;
        step += 1;
    }
    let letter = if base == 1000 && step == 1 { "k" } else { LETTERS[step] };
    let tenths = (u128::from(bytes) * 10).div_ceil(u128::from(unit));
    if tenths < 100 {
        return format!("{}.{}{letter}", tenths / 10, tenths % 10);
    }
    let whole = bytes.div_ceil(unit);
    match whole == base && step < 6 {
        true => format!("1.0{}", LETTERS[step + 1]),
        false => format!("{whole}{letter}"),
    }
}

#[cfg(unix)]
mod system {
    use super::{Facts, Follow, Kind, Time};
    use std::io;
    use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
    use std::path::Path;

    pub(super) fn of(path: &Path, follow: Follow) -> io::Result<Facts> {
        let data = match follow {
            Follow::Yes => std::fs::metadata(path)?,
            Follow::No => std::fs::symlink_metadata(path)?,
        };
        let file = data.file_type();
        let kind = match () {
            () if file.is_dir() => Kind::Directory,
            () if file.is_symlink() => Kind::Symlink,
            () if file.is_fifo() => Kind::Fifo,
            () if file.is_socket() => Kind::Socket,
            () if file.is_char_device() => Kind::Character,
            () if file.is_block_device() => Kind::Block,
            () => Kind::File,
        };
        let time = |seconds, nanos: i64| Time { seconds, nanos: nanos as u32 };
        Ok(Facts {
            kind,
            size: data.size(),
            mode: data.mode() & 0o7777,
            links: data.nlink(),
            inode: data.ino(),
            device: data.dev(),
            owner: data.uid(),
            group: data.gid(),
            blocks: data.blocks(),
            accessed: time(data.atime(), data.atime_nsec()),
            modified: time(data.mtime(), data.mtime_nsec()),
            changed: time(data.ctime(), data.ctime_nsec()),
        })
    }
}

#[cfg(target_os = "wasi")]
mod system {
    use super::{Facts, Follow, Kind, Time, owner};
    use std::ffi::CString;
    use std::io;
    use std::os::wasi::ffi::OsStrExt as _;
    use std::path::Path;

    /// What a directory occupies where it is not told.
    const DIRECTORY_BYTES: u64 = 4096;

    pub(super) fn of(path: &Path, follow: Follow) -> io::Result<Facts> {
        let text = CString::new(path.as_os_str().as_bytes())?;
        // SAFETY: all-zero bytes are a `stat`, and it is only read once libc has filled it.
        let mut stat: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: a C string and a place for the answer, both alive until after the call.
        let failed = unsafe {
            match follow {
                Follow::Yes => libc::stat(text.as_ptr(), &raw mut stat),
                Follow::No => libc::lstat(text.as_ptr(), &raw mut stat),
            }
        };
        if failed != 0 {
            return Err(io::Error::last_os_error());
        }
        let kind = match stat.st_mode & libc::S_IFMT {
            libc::S_IFDIR => Kind::Directory,
            libc::S_IFLNK => Kind::Symlink,
            libc::S_IFCHR => Kind::Character,
            // Preview 1 has no word for it; nothing else of the tree is unknown.
            0 => Kind::Fifo,
            _ => Kind::File,
        };
        let bytes = stat.st_size.max(0) as u64;
        let (size, blocks) = match kind {
            Kind::Directory => (bytes.max(DIRECTORY_BYTES), DIRECTORY_BYTES / 512),
            Kind::File => (bytes, bytes.div_ceil(4096) * 8),
            _ => (bytes, 0),
        };
        let time = |it: libc::timespec| Time { seconds: it.tv_sec, nanos: it.tv_nsec as u32 };
        Ok(Facts {
            kind,
            size,
            mode: modes::get(path, follow == Follow::Yes)?,
            links: stat.st_nlink,
            inode: stat.st_ino,
            device: stat.st_dev,
            owner: owner::OWN,
            group: owner::OWN,
            blocks,
            accessed: time(stat.st_atim),
            modified: time(stat.st_mtim),
            changed: time(stat.st_ctim),
        })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn sizes_are_rounded_up() {
        let cases = [
            (0, "0"),
            (1023, "1023"),
            (1024, "1.0K"),
            (1025, "1.1K"),
            (10_240, "10K"),
            (10_241, "11K"),
            (1_048_575, "1.0M"),
            (4096, "4.0K"),
            (1_500_000_000, "1.4G"),
        ];
        for (bytes, want) in cases {
            assert_eq!(super::human(bytes, 1024), want, "{bytes}");
        }
    }
}
