//! The six seams between rooms: [`Runner`], [`Registry`], [`Files`], [`Journal`], [`Clock`], [`Compiler`].
//!
//! Each is a trait here and is wired to an implementation in one file. A seventh is a design review.

mod clock;
mod compiler;
mod entry;
mod files;
mod journal;
mod limit;
mod mode;
mod registry;
mod runner;
mod snapshot;

pub use clock::Clock;
pub use compiler::{
    CompileError, CompileLimits, CompileThreads, Compiler, Interruption, LaneChoice, LaneSettings,
    MemoryLayout, NotALane, NotAnInterruption, WasmFeatures,
};
pub use entry::{EntryCompile, EntryDir, EntryLimits, EntryOptions};
pub use files::{
    DirEntry, FileError, FileKind, FileResult, FileTimes, Files, Follow, Interrupt, OpenFile, OpenHow, Stat,
    TreePath,
};
pub use journal::{AuditRecord, Decision, Journal, JournalError};
pub use limit::FileLimit;
pub use mode::Mode;
pub use registry::{Entry, EntryTree, LoadError, Registry};
pub use runner::Runner;
pub use snapshot::{EntryImage, SnapshotFile, SnapshotRecipe, SnapshotWord};
