//! Permission bits. They are facts of a file that are kept and shown; a tree refuses nothing because
//! of them (decision 0028). Whoever starts a file as a program looks at `x`.

use std::fmt;

/// Permission bits of a file, or a mask of them: `rwx` three times, and setuid, setgid, sticky.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mode(u16);

/// What holds for the files that a run makes and writes, and for those of whatever it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileRules {
    /// What is taken from the bits of files and directories that it makes.
    pub umask: Mode,
    /// How long a file may get that it writes: who writes more is ended, as by SIGXFSZ.
    pub bytes_max: Option<u64>,
}

impl FileRules {
    /// Of a run that was given no others.
    pub const USUAL: Self = Self { umask: Mode::UMASK, bytes_max: None };
}

impl Mode {
    /// What a new file has under the usual mask.
    pub const FILE: Self = Self(0o644);
    /// What a new directory has under the usual mask.
    pub const DIRECTORY: Self = Self(0o755);
    /// What every symbolic link has.
    pub const LINK: Self = Self(0o777);
    const PIPE: u16 = 0o10000;
    /// The mask of a run that was given no other.
    pub const UMASK: Self = Self(0o022);

    /// Takes the twelve permission bits; what else a number says is dropped.
    pub const fn new(bits: u32) -> Self {
        Self((bits & 0o7777) as u16)
    }

    /// The twelve as a number.
    pub const fn bits(self) -> u32 {
        self.0 as u32 & 0o7777
    }

    /// The bits of a pipe with a name. No tree has such a file, only a link that stands for one
    /// ([`PipeName`](crate::PipeName)); so whoever tells of it says it here, and not by a kind of file.
    pub const fn of_pipe(self) -> Self {
        Self(self.0 | Self::PIPE)
    }

    /// Whether they are a pipe's.
    pub const fn is_pipe(self) -> bool {
        self.0 & Self::PIPE != 0
    }

    /// What a mask leaves of these bits.
    pub const fn masked(self, umask: Self) -> Self {
        Self(self.0 & !(umask.0 & 0o777))
    }

    /// Without setuid, setgid and sticky: what a guest's content may carry to the host.
    pub const fn plain(self) -> Self {
        Self(self.0 & 0o777)
    }

    /// Setuid, setgid and sticky alone.
    pub const fn special(self) -> Self {
        Self(self.0 & 0o7000)
    }

    /// These bits and those.
    pub const fn with(self, more: Self) -> Self {
        Self(self.0 | more.0)
    }

    /// Whether any of the bits is set.
    pub const fn has(self, bits: u32) -> bool {
        self.0 as u32 & bits != 0
    }
}

impl fmt::Debug for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mode({:04o})", self.0)
    }
}

/// Octal, as `chmod` takes it.
impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04o}", self.0)
    }
}

#[test]
fn a_mask_takes_permissions_away_and_nothing_else() {
    let cases = [(0o666, 0o022, 0o644), (0o777, 0o077, 0o700), (0o4755, 0o7022, 0o4755), (0o666, 0, 0o666)];
    for (bits, mask, want) in cases {
        assert_eq!(Mode::new(bits).masked(Mode::new(mask)).bits(), want, "{bits:o} {mask:o}");
    }
    assert_eq!(Mode::new(0o104_755).bits(), 0o4755);
    assert_eq!((Mode::new(0o6755).plain().bits(), Mode::new(0o6755).special().bits()), (0o755, 0o6000));
}
