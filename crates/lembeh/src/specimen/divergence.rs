//! Where a replay left its transcript: the first call that differs, and the bytes around the difference.

use std::fmt::{self, Write as _};

/// Bytes that are shown before a difference, and from it on.
const CONTEXT_BYTES: usize = 16;

/// The first call that the transcript has not, or has otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// The stable symbol.
    pub code: &'static str,
    /// The number of the call, as the transcript counts.
    pub call: u64,
    /// What is different.
    pub what: String,
}

impl Divergence {
    /// Another call than the recorded one.
    pub const CALL: &'static str = "t_specimen_call_mismatch";
    /// Other bytes for `_ctl`.
    pub const CTL: &'static str = "t_specimen_ctl_mismatch";
    /// Other bytes written.
    pub const WRITE: &'static str = "t_specimen_write_mismatch";
    /// Other words for the log.
    pub const LOG: &'static str = "t_specimen_log_mismatch";
    /// The transcript has no more calls of this kind.
    pub const EOF: &'static str = "t_specimen_eof";
    /// The transcript has more calls than the guest made.
    pub const SURPLUS: &'static str = "t_specimen_surplus";
    /// The transcript lacks this call.
    pub const GAP: &'static str = "t_specimen_gap";
    /// The record of this call was changed after it was written.
    pub const EDITED: &'static str = "t_specimen_edited";

    pub(super) fn new(code: &'static str, call: u64, what: impl Into<String>) -> Self {
        Self { code, call, what: what.into() }
    }

    /// Bytes that differ, with what is around the first difference.
    pub(super) fn bytes(code: &'static str, call: u64, recorded: &[u8], now: &[u8]) -> Self {
        let same = recorded.iter().zip(now).take_while(|(a, b)| a == b).count();
        let what = format!(
            "byte {same} differs\n  recorded ({} bytes): {}\n  now      ({} bytes): {}",
            recorded.len(),
            around(recorded, same),
            now.len(),
            around(now, same)
        );
        Self { code, call, what }
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at call {}: {}", self.code, self.call, self.what)
    }
}

/// Bytes in hex, with brackets around the one at `at`.
fn around(bytes: &[u8], at: usize) -> String {
    let begin = at.saturating_sub(CONTEXT_BYTES);
    let end = bytes.len().min(at + CONTEXT_BYTES);
    let mut text = String::from(if begin > 0 { "… " } else { "" });
    for (index, byte) in bytes.iter().enumerate().take(end).skip(begin) {
        let _ = match index == at {
            true => write!(text, "[{byte:02x}] "),
            false => write!(text, "{byte:02x} "),
        };
    }
    text.push_str(match (at >= bytes.len(), end < bytes.len()) {
        (true, _) => "[end]",
        (false, true) => "…",
        (false, false) => "",
    });
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_shown_with_what_is_around_it() {
        let recorded: Vec<u8> = (0..40).collect();
        let mut now = recorded.clone();
        now[20] = 0xff;
        let told = Divergence::bytes(Divergence::WRITE, 7, &recorded, &now).to_string();
        assert!(told.starts_with("t_specimen_write_mismatch at call 7: byte 20 differs\n"), "{told}");
        assert!(told.contains("recorded (40 bytes): … 04 05") && told.contains("13 [14] 15"), "{told}");
        assert!(told.contains("13 [ff] 15"), "{told}");
        let shorter = Divergence::bytes(Divergence::CTL, 0, b"ab", b"a").to_string();
        assert!(
            shorter.ends_with("recorded (2 bytes): 61 [62]\n  now      (1 bytes): 61 [end]"),
            "{shorter}"
        );
    }
}
