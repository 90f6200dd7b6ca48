//! The audit journal: one JSON line for each decision of the gate, kept in segments, for each tenant its own.
//!
//! A line goes out in one write to a file opened for appending, so two processes can share the
//! journal. What is torn, by a kill or a full disk, is never read as a record. It is bounded, for each tenant:
//! 8 segments of 32 MiB, over a million decisions, and as many for principals that had more than their share; the
//! oldest segment goes first. However many tenants there are, 64 segments are open at once.
//!
//! Decides nothing and holds no request: what is in a record is the gate's business.

mod fold;
mod held;
mod line;
mod reader;
mod segment;
mod share;
mod writer;

pub use held::OPEN_MAX as AUDIT_FILES_MAX;
pub(crate) use line::spell_time;
pub use reader::{
    AuditCounts, AuditReader, Filter, ReadAttempt, ReadAuditError, ReadDecision, ReadRecord, count_audit,
    read_audit,
};
pub use segment::{SEGMENT_BYTES_MAX, SEGMENTS_MAX};
pub use share::PRINCIPAL_RECORDS_MAX;
pub use writer::FileJournal;

#[cfg(test)]
mod tests;

/// Whether the line is a record.
pub(crate) fn is_record(bytes: &[u8]) -> bool {
    line::parse(bytes).is_some()
}
