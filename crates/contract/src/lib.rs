//! The shared nouns of Drydock, and the five ports between its rooms.
//!
//! A word means one thing everywhere: a *grant* is given to a principal, a *call* is one request at
//! the gate, a *denial* is policy saying no, an *outcome* is how a guest ended, a *fault* is us
//! breaking. Types here hold data and check their own arguments; they open nothing, wait for
//! nothing and know no runtime.

mod artifact;
mod budget;
mod call;
mod capability;
mod denial;
pub mod exit;
mod fault;
mod name;
mod outcome;
pub mod port;
mod preparing;
mod principal;
mod remark;
mod run;
mod stream;
mod switch;
mod terms;
pub mod text;
mod time;
mod tool;

pub use artifact::{ARTIFACT_BYTES_MAX, Artifact, Digest, NotADigest, NotThoseBytes, ReadArtifact};
pub use budget::{Limits, Meter};
pub use call::{Call, CallError, Dispatch, Reply, Streams};
pub use capability::{Cap, CapSet, UnknownCap};
pub use denial::Denial;
pub use fault::Fault;
pub use name::{ArgMode, BadCommandName, CommandName, UnknownArgMode};
pub use outcome::Outcome;
pub use preparing::{Preparing, PreparingGuard, WAITED_MAX, Waited};
pub use principal::{BadPrincipal, Principal};
pub use remark::size_text;
pub use run::{Entropy, FuelGauge, GuestTime, RunReport, RunRequest, WorkingDir};
pub use stream::{ByteSink, ByteSource, Sink, Source, StreamFile};
pub use switch::Switch;
pub use terms::{ArgumentRule, BadToolPattern, IfAbsent, Must, Scalar, ToolPattern, ToolTerms};
pub use time::{SteppedClock, Timestamp};
pub use tool::{FailureCode, ToolAnswer, ToolFailure, ToolRequest, Tools};

/// A boxed future, the return type of the object-safe ports.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
