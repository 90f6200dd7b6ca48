//! How bytes that are there are cut when they are read.

use std::{fmt, str::FromStr};

/// A rule for cuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Schedule {
    /// As much as there is and fits.
    #[default]
    All,
    /// One byte at a time.
    Byte,
    /// One byte, two, four and so on up to 32 KiB, and again.
    Pow2,
    /// After each CR and after each LF, and so between the two.
    Crlf,
    /// By chance, which is the seed's.
    Random(u64),
}

/// The text names no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no schedule: use all, byte, pow2, crlf or random:SEED")]
pub struct NotASchedule(String);

impl FromStr for Schedule {
    type Err = NotASchedule;

    fn from_str(text: &str) -> Result<Self, NotASchedule> {
        let not = || NotASchedule(text.escape_default().to_string());
        Ok(match text {
            "all" => Self::All,
            "byte" => Self::Byte,
            "pow2" => Self::Pow2,
            "crlf" => Self::Crlf,
            _ => {
                let seed = text.strip_prefix("random:").ok_or_else(not)?;
                Self::Random(seed.parse().map_err(|_| not())?)
            }
        })
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Byte => f.write_str("byte"),
            Self::Pow2 => f.write_str("pow2"),
            Self::Crlf => f.write_str("crlf"),
            Self::Random(seed) => write!(f, "random:{seed}"),
        }
    }
}

impl Schedule {
    /// How many of `bytes`, which are some, the next read gets; `turn` counts the reads.
    pub(super) fn cut(self, bytes: &[u8], turn: u64) -> usize {
        match self {
            Self::All => bytes.len(),
            Self::Byte => 1,
            Self::Pow2 => bytes.len().min(1 << (turn % 16)),
            Self::Crlf => {
                let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
                end.map_or(bytes.len(), |at| at + 1)
            }
            Self::Random(seed) => {
                let most = bytes.len() as u64;
                // At most the length, which is a usize.
                (scramble(seed ^ turn.wrapping_mul(0x9e37_79b9_7f4a_7c15)) % most) as usize + 1
            }
        }
    }
}

/// Numbers that look like chance: splitmix64.
const fn scramble(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schedule_reads_back_and_cuts_something() {
        for text in ["all", "byte", "pow2", "crlf", "random:0", "random:18446744073709551615"] {
            let schedule: Schedule = text.parse().unwrap();
            assert_eq!(schedule.to_string(), text);
            for turn in 0..100 {
                let cut = schedule.cut(b"ab\r\ncd", turn);
                assert!((1..=6).contains(&cut), "{text} {turn} {cut}");
            }
        }
        for text in ["", "bytes", "random", "random:", "random:-1", "random:x"] {
            assert!(text.parse::<Schedule>().is_err(), "{text}");
        }
        assert_eq!((Schedule::Crlf.cut(b"ab\r\ncd", 0), Schedule::Crlf.cut(b"\ncd", 0)), (3, 1));
        assert_eq!((Schedule::Pow2.cut(b"abcdef", 1), Schedule::Pow2.cut(b"abcdef", 5)), (2, 6));
    }
}
