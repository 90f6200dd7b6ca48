//! What `ulimit` was told. Each has a soft value, which counts, and a hard one, which the soft may not exceed.

use std::collections::BTreeMap;

/// What `ulimit -f` counts in.
const FILE_BLOCK_BYTES: u64 = 1_024;

/// The soft and the hard value of a resource; nothing is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Rlimit {
    pub(crate) soft: Option<u64>,
    pub(crate) hard: Option<u64>,
}

/// Resources that were given other limits than they begin with, by the letter of `ulimit`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rlimits {
    changed: BTreeMap<char, Rlimit>,
}

impl Rlimits {
    /// What a resource was given.
    pub(crate) fn get(&self, letter: char) -> Option<Rlimit> {
        self.changed.get(&letter).copied()
    }

    pub(crate) fn set(&mut self, letter: char, limit: Rlimit) {
        self.changed.insert(letter, limit);
    }

    /// All that were given others than they begin with.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (char, Rlimit)> {
        self.changed.iter().map(|(letter, limit)| (*letter, *limit))
    }

    /// The soft value in units of the resource, where there is one.
    fn soft(&self, letter: char) -> Option<u64> {
        self.changed.get(&letter)?.soft
    }

    /// What whoever started this shell was given: nobody here raises it.
    pub(crate) fn inherit_file_bytes(&mut self, bytes_max: u64) {
        let blocks = Some(bytes_max / FILE_BLOCK_BYTES);
        self.set('f', Rlimit { soft: blocks, hard: blocks });
    }

    /// `-f`: how long a file may get that a redirection of this shell writes, or one of its commands.
    pub(crate) fn file_bytes_max(&self) -> Option<u64> {
        self.soft('f').map(|blocks| blocks.saturating_mul(FILE_BLOCK_BYTES))
    }

    /// `-n`: how many descriptors there are, so that the highest has a number below it.
    pub(crate) fn descriptors_max(&self) -> Option<u64> {
        self.soft('n')
    }

    /// `-t`: how long one command may take. Time on the wall, as that is what commands are given.
    pub(crate) fn command_ms_max(&self) -> Option<u64> {
        self.soft('t').map(|seconds| seconds.saturating_mul(1_000))
    }
}
