//! Where a replay is not what was recorded, as a value and in words.

use std::fmt;

use drydock_store::{Frame, Seam};

/// A question, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Asked {
    /// At which seam.
    pub seam: &'static str,
    /// The call that asked.
    pub call: String,
    /// What was asked.
    pub name: String,
    /// The digest of all of it.
    pub digest: String,
}

impl Asked {
    pub(super) fn of(frame: &Frame) -> Self {
        Self::new(frame.seam, frame.call, &frame.name, frame.asked)
    }

    pub(super) fn new(seam: Seam, call: u64, name: &str, asked: [u8; 16]) -> Self {
        let digest = asked.iter().map(|it| format!("{it:02x}")).collect();
        Self { seam: seam.as_str(), call: format!("{call:016x}"), name: name.to_owned(), digest }
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}` (call {}, digest {})", self.seam, self.name.escape_debug(), self.call, self.digest)
    }
}

/// Where a replay is not what was recorded.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Divergence {
    /// Which frame, counted from nought.
    pub frame: u64,
    /// What the tape has there; nothing where it is at its end, or cannot be read on.
    pub recorded: Option<Asked>,
    /// What was asked; nothing where the run ended, and the tape goes on.
    pub replayed: Option<Asked>,
    /// What was asked last before it.
    pub before: Vec<Asked>,
    /// What else is known of it.
    pub why: Option<String>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "the replay diverges at frame {}", self.frame)?;
        for before in &self.before {
            writeln!(f, "    both: {before}")?;
        }
        match &self.recorded {
            Some(recorded) => writeln!(f, "recorded: {recorded}")?,
            None => writeln!(f, "recorded: nothing more")?,
        }
        match &self.replayed {
            Some(replayed) => write!(f, "replayed: {replayed}")?,
            None => write!(f, "replayed: nothing more")?,
        }
        match &self.why {
            Some(why) => write!(f, "\nbecause {why}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Divergence {}
