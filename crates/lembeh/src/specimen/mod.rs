//! Specimen: the calls of a guest at its boundary, recorded as JSON Lines and replayed without a clock, a process, a socket
//! or a file.
//!
//! What replays is a type of its own ([`Replay`]): it is made of a transcript and of nothing else, and the door that it is
//! handed when the run begins it drops. A [`Schedule`] changes how bytes are cut when they are read, and nothing else.

mod cut;
mod divergence;
mod event;
mod recorder;
mod replay;
mod schedule;
mod streams;

pub use cut::Cut;
pub use divergence::Divergence;
pub use event::{BadTranscript, TRANSCRIPT_VERSION, Transcript};
pub use recorder::Recorder;
pub use replay::Replay;
pub use schedule::{NotASchedule, Schedule};
