//! The seams between rooms: [`Runner`], [`Registry`], [`Files`], [`Journal`], [`Ledger`], [`KeyValues`], [`Queues`],
//! [`Agents`], [`Clock`], [`Compiler`], [`Signer`].
//!
//! Each is a trait here and is wired to an implementation in one file. One more is a design review.

mod agents;
mod clock;
mod compiler;
mod entry;
mod files;
mod journal;
mod key_values;
mod ledger;
mod limit;
mod mode;
mod queues;
mod registry;
mod runner;
mod signer;
mod snapshot;

pub use agents::{
    AGENT_APPEND_BYTES_MAX, AGENT_EVENT_BYTES_MAX, AGENT_EVENTS_MAX, AGENT_HEAD_BYTES_MAX, AgentRefusal,
    Agents, Holding, ISSUE_BODY_BYTES_MAX, ISSUE_TITLE_BYTES_MAX, REVIEW_BYTES_MAX, RunHold, Wanted,
};
pub use clock::Clock;
pub use compiler::{
    CompileError, CompileLimits, CompileThreads, Compiler, Interruption, LaneChoice, LaneSettings,
    MemoryLayout, NotALane, NotAnInterruption, Slots, WasmFeatures,
};
pub use entry::{EntryCompile, EntryDir, EntryLimits, EntryOptions};
pub use files::{
    DirEntry, FileError, FileKind, FileResult, FileTimes, Files, Follow, Interrupt, OpenFile, OpenHow, Stat,
    TreePath,
};
pub use journal::{
    Attempt, AuditEvent, AuditRecord, CallEnd, CallFacts, Digested, EndKind, Journal, JournalError,
    SUBJECTS_MAX, Subjects,
};
pub use key_values::{KeptValue, KeyChange, KeyChanged, KeyRefusal, KeyValues, ListedKey};
pub use ledger::{Ledger, LedgerError};
pub use limit::FileLimit;
pub use mode::{FileRules, Mode};
pub use queues::{LeaseId, Leasing, QueueMessage, QueueRefusal, Queues, Settling, Taking, TopicDepth};
pub use registry::{Entry, EntryTree, LoadError, Registry};
pub use runner::{LiveInstance, Runner};
pub use signer::{SecretSignature, SignError, Signer};
pub use snapshot::{EntryImage, SnapshotFile, SnapshotRecipe, SnapshotWord};
