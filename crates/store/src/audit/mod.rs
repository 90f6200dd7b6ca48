//! The audit journal: one JSON line for each decision of the gate, kept in segments.
//!
//! A line goes out in one write to a file opened for appending, so two processes can share the
//! journal. What is torn, by a kill or a full disk, is never read as a record. It is bounded:
//! 16 segments of 64 MiB, about five million decisions; the oldest segment goes first.
//!
//! Decides nothing and holds no request: what is in a record is the gate's business.

mod line;
mod reader;
mod segment;
mod writer;

pub use reader::{
    AuditCounts, AuditReader, Filter, ReadAuditError, ReadDecision, ReadRecord, count_audit, read_audit,
};
pub use segment::{SEGMENT_BYTES_MAX, SEGMENTS_MAX};
pub use writer::FileJournal;

#[cfg(test)]
mod tests;

/// Whether the line is a record.
pub(crate) fn is_record(bytes: &[u8]) -> bool {
    line::parse(bytes).is_some()
}
