//! The five seams between rooms: [`Runner`], [`Registry`], [`Files`], [`Journal`], [`Clock`].
//!
//! Each is a trait here and is wired to an implementation in one file. A sixth is a design review.

mod clock;
mod files;
mod journal;
mod limit;
mod mode;
mod registry;
mod runner;

pub use clock::Clock;
pub use files::{
    DirEntry, FileError, FileKind, FileResult, FileTimes, Files, Follow, Interrupt, OpenFile, OpenHow, Stat,
    TreePath,
};
pub use journal::{AuditRecord, Decision, Journal, JournalError};
pub use limit::FileLimit;
pub use mode::Mode;
pub use registry::{Entry, LoadError, Registry};
pub use runner::Runner;
