//! The shared nouns of Drydock, and the ports between its rooms.
//!
//! A word means one thing everywhere: a *grant* is given to a principal, a *call* is one request at
//! the gate, a *denial* is policy saying no, an *outcome* is how a guest ended, a *fault* is us
//! breaking. Types here hold data and check their own arguments; they open nothing, wait for
//! nothing and know no runtime.

mod agent;
mod artifact;
mod budget;
mod call;
mod capability;
mod denial;
mod exchange;
pub mod exit;
mod fault;
mod grant;
pub mod host;
mod identity;
mod lembeh;
mod line;
mod live;
mod moment;
mod name;
mod outcome;
pub mod port;
mod preparing;
mod principal;
mod remark;
mod run;
pub mod schedule;
mod secret;
mod stream;
mod switch;
mod tenant;
mod terms;
pub mod text;
mod time;
mod tool;
mod yielding;

pub use agent::{
    AgentHead, AgentId, AgentStatus, AgentUsage, BadAgentId, FiledIssue, Review, ReviewAnswer, ReviewKind,
    ReviewState,
};
pub use artifact::{
    ARTIFACT_BYTES_MAX, Artifact, ArtifactInPieces, Digest, NotADigest, NotThoseBytes, ReadArtifact,
};
pub use budget::{Budget, FUEL_PER_MICROSECOND, Limits, Meter, Unit, UnknownUnit};
pub use call::{Call, CallError, Dispatch, Ending, Reply, Streams, Typed};
pub use capability::{Cap, CapSet, UnknownCap};
pub use denial::{Denial, DenialDetails};
pub use exchange::Exchange;
pub use fault::Fault;
pub use grant::{BadGrantId, BadGrants, GRANTS_BYTES_MAX, GrantFile, GrantId, GrantSpec};
pub use identity::{CallId, Deadline, Lineage, TraceId, Who};
pub use lembeh::{LembehEnd, LembehFault, LembehHost, SharedLembeh};
pub use line::{InsideShell, InsideTime, LineDesk, LineWorld, ShellCall, ShellGuestSpec};
pub use live::{CallLimits, GuestLog, Kernel, LiveError, LiveKind, LiveReply, LiveSpec, LogLevel, NoLog};
pub use moment::BadMoment;
pub use name::{ArgMode, BadCommandName, CommandName, UnknownArgMode};
pub use outcome::Outcome;
pub use preparing::{Preparing, PreparingGuard, WAITED_MAX, Waited};
pub use principal::{BadPrincipal, Principal};
pub use remark::size_text;
pub use run::{Entropy, GuestTime, RunReport, RunRequest, WorkingDir};
pub use secret::{BadSecretName, SecretName, SignAlgorithm};
pub use stream::{
    BrokenWrites, ByteSink, ByteSource, NamedPipes, Numbered, OpenPipeError, PIPE_BYTES_MAX, PipeName,
    PipeReader, PipeWriter, SharedSink, SharedSource, Sink, Source, StreamFile, Ways, paid_pipe, pipe,
};
pub use switch::{Switch, SwitchMark};
pub use tenant::{BadTenant, DEFAULT_TENANT, Node, Tenant};
pub use terms::{ArgumentRule, BadPattern, IfAbsent, Must, Pattern, SUBJECT_BYTES_MAX, Scalar, Terms};
pub use time::{Sleep, SteppedClock, Timestamp};
pub use tool::{FailureCode, ToolAnswer, ToolFailure, ToolRequest, Tools};
pub use yielding::yield_now;

/// A boxed future, the return type of the object-safe ports.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
