//! Reads a tenant's journal back: the newest records that match, or all of them, oldest first. Its two rows of segments
//! are read as one.
//!
//! A line that is not a whole record is counted and skipped, never guessed at. If a torn line and
//! a whole one ran together, because one process was killed while another wrote, the whole one is
//! found again by how every line begins.

use std::{
    collections::{BTreeMap, VecDeque},
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
};

use drydock_contract::Timestamp;

use super::{
    line::{self, HEAD},
    segment::{self, Row},
};
use crate::TenantHome;

/// No record has a longer line.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// Which records to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filter {
    /// Refusals only.
    pub denied_only: bool,
    /// Only so many, the newest ones; `None` for all.
    pub limit: Option<usize>,
}

/// One decision, read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadRecord {
    /// When, to the microsecond; the last time, where it is several.
    pub at: Timestamp,
    /// How many times: the same denial again and again is one record.
    pub count: u64,
    /// The first of those times.
    pub first: Timestamp,
    /// Whose it is.
    pub tenant: String,
    /// Who asked.
    pub principal: String,
    /// What the call belongs to: 32 hex digits.
    pub trace: String,
    /// Which call: 16 hex digits. Its beginning and its end have the same.
    pub call: String,
    /// The call that made it.
    pub parent: String,
    /// For which operation.
    pub operation: String,
    /// On which name.
    pub subject: String,
    /// On which further names.
    pub more_subjects: Vec<String>,
    /// The grant that allowed it.
    pub grant: Option<String>,
    /// How what it started ended.
    pub outcome: Option<String>,
    /// The status, where it exited.
    pub status: Option<i32>,
    /// The connections that it made out of the house.
    pub attempts: Vec<ReadAttempt>,
    /// What was decided.
    pub decision: ReadDecision,
}

/// A connection out of the house, read back.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ReadAttempt {
    /// Whom it was made to.
    pub address: String,
    /// `ok`, or how it failed.
    pub code: String,
    /// What the server answered, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Bytes of the body that was sent.
    pub bytes_sent: u64,
    /// Bytes of the body that came back.
    pub bytes_received: u64,
}

/// Yes or no, read back.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadDecision {
    /// It was let through, and began.
    Allowed,
    /// It was refused, with this code: before it began, or while it acted.
    Denied(String),
    /// It is over; why, if it was not answered.
    Ended(Option<String>),
    /// It could not be done, with this code.
    Failed(String),
}

impl ReadRecord {
    /// When, as the journal spells it: RFC 3339, UTC, with microseconds.
    pub fn at_text(&self) -> String {
        line::spell_time(self.at)
    }

    /// The first time, spelled the same way.
    pub fn first_text(&self) -> String {
        line::spell_time(self.first)
    }
}

/// How often each decision was made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditCounts {
    /// By operation and decision.
    pub decisions: BTreeMap<(String, ReadDecision), u64>,
    /// Lines that are no record.
    pub torn: u64,
}

/// The journal could not be read.
#[derive(Debug, thiserror::Error)]
#[error("could not read the audit journal `{path}`")]
pub struct ReadAuditError {
    /// Which file.
    pub path: PathBuf,
    /// What the disk said.
    #[source]
    pub cause: io::Error,
}

/// The records of the journal, oldest first.
#[derive(Debug)]
pub struct AuditReader {
    ready: VecDeque<ReadRecord>,
    rows: [RowReader; 2],
    torn: u64,
}

/// Reads the journal of a tenant.
pub fn read_audit(tenant: &TenantHome, filter: Filter) -> Result<AuditReader, ReadAuditError> {
    let mut all = AuditReader::over(tenant, filter.denied_only)?;
    let Some(limit) = filter.limit else { return Ok(all) };
    let mut newest = Vec::new();
    for row in &mut all.rows {
        newest.extend(row.newest(limit)?);
        all.torn += std::mem::take(&mut row.torn);
    }
    newest.sort_by_key(|it| it.at);
    newest.drain(..newest.len().saturating_sub(limit));
    all.ready = newest.into();
    Ok(all)
}

/// Counts the whole journal of a tenant.
pub fn count_audit(tenant: &TenantHome) -> Result<AuditCounts, ReadAuditError> {
    let mut reader = AuditReader::over(tenant, false)?;
    let mut counts = AuditCounts::default();
    for record in &mut reader {
        let record = record?;
        let count = counts.decisions.entry((record.operation, record.decision)).or_default();
        *count = count.saturating_add(record.count);
    }
    counts.torn = reader.torn();
    Ok(counts)
}

impl AuditReader {
    fn over(tenant: &TenantHome, denied_only: bool) -> Result<Self, ReadAuditError> {
        let [shared, busy] = Row::ALL.map(|row| RowReader::of(tenant, row, denied_only));
        Ok(Self { ready: VecDeque::new(), rows: [shared?, busy?], torn: 0 })
    }

    /// Lines met so far that are no record.
    pub fn torn(&self) -> u64 {
        self.rows.iter().map(|it| it.torn).sum::<u64>() + self.torn
    }
}

impl Iterator for AuditReader {
    type Item = Result<ReadRecord, ReadAuditError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(record) = self.ready.pop_front() {
            return Some(Ok(record));
        }
        for row in &mut self.rows {
            if row.next.is_none()
                && let Some(read) = row.read()
            {
                match read {
                    Ok(record) => row.next = Some(record),
                    Err(error) => return Some(Err(error)),
                }
            }
        }
        let [shared, busy] = &mut self.rows;
        let busy_first = match (&shared.next, &busy.next) {
            (Some(one), Some(other)) => other.at < one.at,
            (one, _) => one.is_none(),
        };
        if busy_first { busy.next.take().map(Ok) } else { shared.next.take().map(Ok) }
    }
}

/// The records of one row of segments, oldest first.
#[derive(Debug)]
struct RowReader {
    waiting: VecDeque<PathBuf>,
    open: Option<Segment>,
    /// Read, and not given out yet.
    next: Option<ReadRecord>,
    /// The end of the call that was read last, if it stood on the same line.
    end: Option<ReadRecord>,
    denied_only: bool,
    torn: u64,
}

impl RowReader {
    fn of(tenant: &TenantHome, row: Row, denied_only: bool) -> Result<Self, ReadAuditError> {
        let dir = tenant.audit();
        let numbers = segment::numbers(&dir, row).map_err(|cause| failed(&dir, cause))?;
        let waiting = numbers.into_iter().map(|number| segment::path_of(&dir, row, number)).collect();
        Ok(Self { waiting, open: None, next: None, end: None, denied_only, torn: 0 })
    }

    /// The newest `limit` of them, oldest first. Nothing is left to be read.
    fn newest(&mut self, limit: usize) -> Result<VecDeque<ReadRecord>, ReadAuditError> {
        let mut all = VecDeque::new();
        let mut segments = std::mem::take(&mut self.waiting);
        // From the newest segment backwards, only as far as needed.
        while let Some(path) = segments.pop_back().filter(|_| all.len() < limit) {
            self.waiting.push_back(path);
            let mut newest = VecDeque::new();
            while let Some(record) = self.read() {
                newest.push_back(record?);
                if newest.len() > limit - all.len() {
                    newest.pop_front();
                }
            }
            newest.append(&mut all);
            all = newest;
        }
        Ok(all)
    }

    fn read(&mut self) -> Option<Result<ReadRecord, ReadAuditError>> {
        if let Some(end) = self.end.take() {
            return Some(Ok(end));
        }
        loop {
            let Some(segment) = &mut self.open else {
                match Segment::open(self.waiting.pop_front()?) {
                    Ok(segment) => self.open = segment,
                    Err(error) => return Some(Err(error)),
                }
                continue;
            };
            match segment.next_line() {
                Ok(None) => self.open = None,
                Ok(Some(line)) => {
                    if let Some(record) = self.take(&line) {
                        return Some(Ok(record));
                    }
                }
                Err(cause) => {
                    let error = failed(&segment.path, cause);
                    self.open = None;
                    return Some(Err(error));
                }
            }
        }
    }

    fn take(&mut self, line: &Line) -> Option<ReadRecord> {
        let Line::Whole(line) = line else {
            self.torn += 1;
            return None;
        };
        if line.is_empty() {
            return None;
        }
        let read = line::parse(line).or_else(|| {
            self.torn += 1;
            let at = line.windows(HEAD.len()).rposition(|it| it == HEAD)?;
            line::parse(&line[at..])
        });
        let (record, end) = read?;
        self.end = end.filter(|_| !self.denied_only);
        Some(record).filter(|it| !self.denied_only || matches!(it.decision, ReadDecision::Denied(_)))
    }
}

#[derive(Debug)]
struct Segment {
    path: PathBuf,
    lines: BufReader<File>,
}

enum Line {
    Whole(Vec<u8>),
    Torn,
}

impl Segment {
    /// `None` if the segment was pruned in the meantime.
    fn open(path: PathBuf) -> Result<Option<Self>, ReadAuditError> {
        match File::open(&path) {
            Ok(file) => Ok(Some(Self { path, lines: BufReader::with_capacity(1 << 16, file) })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(failed(&path, cause)),
        }
    }

    fn next_line(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let mut whole = true;
        loop {
            line.clear();
            self.lines.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
            if line.last() == Some(&b'\n') {
                line.pop();
                return Ok(Some(if whole { Line::Whole(line) } else { Line::Torn }));
            }
            if (line.len() as u64) < LINE_BYTES_MAX {
                // The end. What has no newline was never finished, or is being written right now.
                let nothing = line.is_empty() && whole;
                return Ok((!nothing).then_some(Line::Torn));
            }
            whole = false;
        }
    }
}

fn failed(path: &Path, cause: io::Error) -> ReadAuditError {
    ReadAuditError { path: path.to_owned(), cause }
}
