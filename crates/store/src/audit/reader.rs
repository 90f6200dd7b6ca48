//! Reads the journal back: the newest records that match, or all of them, oldest first.
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
    segment,
};
use crate::Home;

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
    /// When, to the microsecond.
    pub at: Timestamp,
    /// Who asked.
    pub principal: String,
    /// For which operation.
    pub operation: String,
    /// On which name.
    pub subject: String,
    /// What was decided.
    pub decision: ReadDecision,
}

/// Yes or no, read back.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadDecision {
    /// It was let through.
    Allowed,
    /// It was refused, with this code.
    Denied(String),
}

impl ReadRecord {
    /// When, as the journal spells it: RFC 3339, UTC, with microseconds.
    pub fn at_text(&self) -> String {
        line::spell_time(self.at)
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
    waiting: VecDeque<PathBuf>,
    open: Option<Segment>,
    denied_only: bool,
    torn: u64,
}

/// Reads the journal of a home.
pub fn read_audit(home: &Home, filter: Filter) -> Result<AuditReader, ReadAuditError> {
    let mut segments = segments(home)?;
    let mut all = AuditReader::over(VecDeque::new(), filter.denied_only);
    let Some(limit) = filter.limit else {
        all.waiting = segments;
        return Ok(all);
    };
    // From the newest segment backwards, only as far as needed.
    while let Some(path) = segments.pop_back().filter(|_| all.ready.len() < limit) {
        let mut one = AuditReader::over([path].into(), filter.denied_only);
        let mut newest = VecDeque::new();
        for record in &mut one {
            newest.push_back(record?);
            if newest.len() > limit - all.ready.len() {
                newest.pop_front();
            }
        }
        newest.append(&mut all.ready);
        all.ready = newest;
        all.torn += one.torn;
    }
    Ok(all)
}

/// Counts the whole journal of a home.
pub fn count_audit(home: &Home) -> Result<AuditCounts, ReadAuditError> {
    let mut reader = AuditReader::over(segments(home)?, false);
    let mut counts = AuditCounts::default();
    for record in &mut reader {
        let record = record?;
        *counts.decisions.entry((record.operation, record.decision)).or_default() += 1;
    }
    counts.torn = reader.torn;
    Ok(counts)
}

fn segments(home: &Home) -> Result<VecDeque<PathBuf>, ReadAuditError> {
    let dir = home.audit();
    let numbers = segment::numbers(&dir).map_err(|cause| failed(&dir, cause))?;
    Ok(numbers.into_iter().map(|number| segment::path_of(&dir, number)).collect())
}

impl AuditReader {
    fn over(waiting: VecDeque<PathBuf>, denied_only: bool) -> Self {
        Self { ready: VecDeque::new(), waiting, open: None, denied_only, torn: 0 }
    }

    /// Lines met so far that are no record.
    pub fn torn(&self) -> u64 {
        self.torn
    }

    fn take(&mut self, line: &Line) -> Option<ReadRecord> {
        let Line::Whole(line) = line else {
            self.torn += 1;
            return None;
        };
        if line.is_empty() {
            return None;
        }
        let record = line::parse(line).or_else(|| {
            self.torn += 1;
            let at = line.windows(HEAD.len()).rposition(|it| it == HEAD)?;
            line::parse(&line[at..])
        });
        record.filter(|it| !self.denied_only || it.decision != ReadDecision::Allowed)
    }
}

impl Iterator for AuditReader {
    type Item = Result<ReadRecord, ReadAuditError>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(record) = self.ready.pop_front() {
            return Some(Ok(record));
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
