//! The seven seams between rooms: [`Runner`], [`Registry`], [`Files`], [`Journal`], [`Ledger`], [`Clock`],
//! [`Compiler`].
//!
//! Each is a trait here and is wired to an implementation in one file. An eighth is a design review.

mod clock;
mod compiler;
mod entry;
mod files;
mod journal;
mod ledger;
mod limit;
mod mode;
mod registry;
mod runner;
mod snapshot;

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
pub use ledger::{Ledger, LedgerError};
pub use limit::FileLimit;
pub use mode::Mode;
pub use registry::{Entry, EntryTree, LoadError, Registry};
pub use runner::{LiveInstance, Runner};
pub use snapshot::{EntryImage, SnapshotFile, SnapshotRecipe, SnapshotWord};
