//! What the variables are computed from that have no value of their own.

use drydock_contract::{CallId, Timestamp};

use crate::origin::Origin;

#[derive(Debug, Clone, Default)]
pub(crate) struct Computed {
    /// Where `$RANDOM` stands.
    pub(crate) random: u32,
    /// What it last gave: it never gives the same twice in a row.
    pub(crate) random_last: u32,
    /// What `$SRANDOM` and the subshells' `$RANDOM` are derived from.
    pub(crate) seed: u64,
    /// When `$SECONDS` was 0.
    pub(crate) seconds_from: Timestamp,
    /// Lines that were run: `\#` of a prompt.
    pub(crate) lines: u32,
    /// The letter of a word that `getopts` is at.
    pub(crate) getopts_at: usize,
}

impl Computed {
    /// For a shell that begins now.
    pub(super) fn starting(now: Timestamp) -> Self {
        Self { seconds_from: now, ..Self::default() }
    }

    /// As bash's, a subshell draws numbers of its own.
    pub(super) fn fork(&self, origin: &Origin) -> Self {
        let mut copy = self.clone();
        copy.seed_random(self.seed, origin);
        copy
    }

    /// Lets `$RANDOM` start anew, from the shell's seed and from where this evaluator stands.
    pub(crate) fn seed_random(&mut self, seed: u64, origin: &Origin) {
        self.seed = seed;
        self.start_random(CallId(seed).child(origin.span()).0 as u32);
    }

    /// `RANDOM=number`.
    pub(crate) fn start_random(&mut self, number: u32) {
        (self.random, self.random_last) = (number, 0);
    }

    pub(crate) fn next_random(&mut self) -> u32 {
        loop {
            let seed = if self.random == 0 { 123_459_876 } else { self.random };
            let (high, low) = (i64::from(seed / 127_773), i64::from(seed % 127_773));
            let next = 16_807 * low - 2_836 * high;
            let next = if next < 0 { next + 0x7fff_ffff } else { next };
            self.random = next as u32;
            let value = ((self.random >> 16) ^ (self.random & 0xffff)) & 0x7fff;
            if value != self.random_last {
                self.random_last = value;
                return value;
            }
        }
    }
}
