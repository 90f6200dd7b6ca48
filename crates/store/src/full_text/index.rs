//! The index of a tree, in memory: brought up to date by what the tree says of its files, and asked.
//!
//! A file is read again if anything that tells one state of a file from the next has changed: its inode, its length, and
//! the times of its last changes. Clocks of file systems move in steps, so one that had changed just before it was read is
//! read once more the next time.

use std::{
    collections::HashMap,
    time::{Duration, Instant, SystemTime},
};

use drydock_contract::{
    Timestamp,
    port::{FileError, FileKind, FileResult, Files, Follow, Interrupt, OpenHow, Stat, TreePath},
};
use rusqlite::{Connection, ErrorCode, params};

use super::{
    FullTextError, FullTextLimits, LeftOut,
    line::{FROM, TO},
};

/// As long as this a file may change without its times saying so.
const SETTLED_AFTER: Duration = Duration::from_secs(2);
/// How much of a file is read at once, between looks at the time.
const PIECE_BYTES: usize = 256 << 10;
/// So much of a file says whether it is text.
const LOOKED_AT_BYTES: usize = 8 << 10;
/// Directories inside each other.
const DEPTH_MAX: usize = 128;
/// Names that one walk looks at, whatever they stand for.
const NAMES_MAX: u64 = 500_000;
/// Bytes of memory for each byte of text: the text, and words with their places.
const MEMORY_FACTOR: u64 = 4;
const PAGE_BYTES: u64 = 4096;

#[derive(Debug)]
pub(super) struct Index {
    pub(super) conn: Connection,
    files: HashMap<String, Known>,
    /// Files of which there is a row, and their bytes.
    rows: usize,
    bytes: u64,
    next: i64,
    walk: u64,
    /// Files that this walk met and that are not remembered: there are too many.
    beyond: u64,
}

/// A file as it was when it was read.
#[derive(Debug)]
struct Known {
    stamp: Stamp,
    /// Its row; none where it is no text or did not fit.
    row: Option<i64>,
    bytes: u64,
    /// It may have changed since without a sign of it.
    is_fresh: bool,
    /// In which walk it was there.
    seen: u64,
    why_not: Option<Why>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp(u64, u64, Timestamp, Timestamp);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    TooLarge,
    Binary,
    NoRoom,
    Unreadable,
}

impl Index {
    pub(super) fn new(limits: &FullTextLimits) -> Result<Self, FullTextError> {
        let conn = Connection::open_in_memory()?;
        conn.pragma_update(None, "temp_store", "MEMORY")?;
        let pages = limits.bytes_max.saturating_mul(MEMORY_FACTOR) / PAGE_BYTES + 64;
        let pages = i64::try_from(pages).unwrap_or(i64::MAX);
        conn.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
        // A word is letters, digits and `_`: that is what names in programs are made of.
        conn.execute_batch(
            "CREATE VIRTUAL TABLE file USING fts5(
                path, text, tokenize = \"unicode61 remove_diacritics 2 tokenchars '_'\"
            );
            INSERT INTO file(file, rank) VALUES ('rank', 'bm25(4.0, 1.0)');",
        )?;
        Ok(Self { conn, files: HashMap::new(), rows: 0, bytes: 0, next: 1, walk: 0, beyond: 0 })
    }

    /// Goes through the tree and reads what is new. False if the time was up before all of it was seen: then what was seen
    /// is there, and the next time goes on with the rest.
    pub(super) fn update(
        &mut self,
        tree: &dyn Files,
        limits: &FullTextLimits,
        time_is_up: &Interrupt,
    ) -> Result<bool, FullTextError> {
        self.walk += 1;
        self.beyond = 0;
        self.conn.execute_batch("BEGIN")?;
        let walked = self.walk(tree, limits, time_is_up);
        // What was seen to be gone is only known if all was seen.
        let forgotten = match &walked {
            Ok(true) => self.forget(),
            _ => Ok(()),
        };
        self.conn.execute_batch("COMMIT")?;
        forgotten.and(walked)
    }

    fn walk(
        &mut self,
        tree: &dyn Files,
        limits: &FullTextLimits,
        time_is_up: &Interrupt,
    ) -> Result<bool, FullTextError> {
        let mut names = 0;
        let mut open = vec![(limits.root.clone(), 0)];
        while let Some((dir, depth)) = open.pop() {
            let entries = match tree.read_dir(&dir) {
                Ok(entries) => entries,
                Err(FileError::Interrupted) => return Ok(false),
                Err(error) if depth == 0 => return Err(FullTextError::Tree(error)),
                // Removed in between, or nobody may look into it.
                Err(_) => continue,
            };
            // The last comes first out again, so that files are read in the order of their names.
            for entry in entries.iter().rev().filter(|it| it.kind == FileKind::Directory) {
                if depth < DEPTH_MAX
                    && !limits.skip.contains(&entry.name)
                    && let Ok(path) = dir.join(&entry.name)
                {
                    open.push((path, depth + 1));
                }
            }
            for entry in entries {
                names += 1;
                if names > NAMES_MAX || time_is_up() {
                    return Ok(false);
                }
                // A link is no file: what it leads to is found where it lies, if it lies in the tree.
                if entry.kind != FileKind::File || limits.skip.contains(&entry.name) {
                    continue;
                }
                let Ok(path) = dir.join(&entry.name) else { continue };
                if !self.look(tree, &path, limits, time_is_up)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Looks at one file. False if the time was up.
    fn look(
        &mut self,
        tree: &dyn Files,
        path: &TreePath,
        limits: &FullTextLimits,
        time_is_up: &Interrupt,
    ) -> Result<bool, FullTextError> {
        let facts = match tree.stat(path, Follow::No) {
            Ok(facts) if facts.kind == FileKind::File => facts,
            Err(FileError::Interrupted) => return Ok(false),
            _ => return Ok(true),
        };
        let stamp = Stamp(facts.inode, facts.size, facts.modified, facts.changed);
        let walk = self.walk;
        if let Some(known) = self.files.get_mut(path.as_str())
            && known.stamp == stamp
            && !known.is_fresh
            && known.why_not != Some(Why::NoRoom)
        {
            known.seen = walk;
            return Ok(true);
        }
        self.drop_row(path.as_str())?;
        let read = if facts.size <= limits.file_bytes_max && !self.has_room(facts.size, limits) {
            Ok(Read::Not(Why::NoRoom))
        } else {
            read(tree, path, &facts, limits.file_bytes_max, time_is_up)
        };
        let (row, bytes, why_not) = match read {
            Err(FileError::Interrupted) => {
                // Whatever it was is gone: the next walk reads it.
                self.files.remove(path.as_str());
                return Ok(false);
            }
            Ok(Read::Text(text)) => self.add(path, &text, limits)?,
            Ok(Read::Not(why)) => (None, 0, Some(why)),
            Err(_) => (None, 0, Some(Why::Unreadable)),
        };
        let is_fresh = is_fresh(&facts);
        let known = Known { stamp, row, bytes, is_fresh, seen: walk, why_not };
        // What cannot be counted is not remembered, or names alone would fill the memory.
        if self.files.len() < limits.files_max.saturating_mul(2) || self.files.contains_key(path.as_str()) {
            self.files.insert(path.as_str().to_owned(), known);
        } else {
            self.beyond += 1;
            row.map_or(Ok(()), |row| self.remove(row, bytes))?;
        }
        Ok(true)
    }

    fn has_room(&self, bytes: u64, limits: &FullTextLimits) -> bool {
        self.rows < limits.files_max && self.bytes.saturating_add(bytes) <= limits.bytes_max
    }

    fn add(
        &mut self,
        path: &TreePath,
        text: &str,
        limits: &FullTextLimits,
    ) -> Result<(Option<i64>, u64, Option<Why>), FullTextError> {
        let bytes = (text.len() + path.as_str().len()) as u64;
        if !self.has_room(bytes, limits) {
            return Ok((None, 0, Some(Why::NoRoom)));
        }
        let row = self.next;
        let mut insert =
            self.conn.prepare_cached("INSERT INTO file (rowid, path, text) VALUES (?1, ?2, ?3)")?;
        match insert.execute(params![row, path.as_str(), text]) {
            Ok(_) => {}
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DiskFull) => {
                return Ok((None, 0, Some(Why::NoRoom)));
            }
            Err(error) => return Err(error.into()),
        }
        self.next += 1;
        self.rows += 1;
        self.bytes += bytes;
        Ok((Some(row), bytes, None))
    }

    fn drop_row(&mut self, path: &str) -> Result<(), FullTextError> {
        let Some(known) = self.files.get_mut(path) else { return Ok(()) };
        let (row, bytes) = (known.row.take(), std::mem::take(&mut known.bytes));
        row.map_or(Ok(()), |row| self.remove(row, bytes))
    }

    fn remove(&mut self, row: i64, bytes: u64) -> Result<(), FullTextError> {
        self.conn.prepare_cached("DELETE FROM file WHERE rowid = ?1")?.execute([row])?;
        self.rows = self.rows.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
        Ok(())
    }

    /// Files that this walk did not meet are gone.
    fn forget(&mut self) -> Result<(), FullTextError> {
        let walk = self.walk;
        let gone: Vec<_> = self.files.extract_if(|_, it| it.seen != walk).collect();
        for (_, known) in gone {
            if let Some(row) = known.row {
                self.remove(row, known.bytes)?;
            }
        }
        Ok(())
    }

    /// How many files can be found, and how many cannot, and why.
    pub(super) fn count(&self) -> (u64, LeftOut) {
        let (mut files, mut left_out) = (0, LeftOut { no_room: self.beyond, ..LeftOut::default() });
        for known in self.files.values() {
            match known.why_not {
                None => files += 1,
                Some(Why::TooLarge) => left_out.too_large += 1,
                Some(Why::Binary) => left_out.binary += 1,
                Some(Why::NoRoom) => left_out.no_room += 1,
                Some(Why::Unreadable) => left_out.unreadable += 1,
            }
        }
        (files, left_out)
    }
}

/// Whether it had changed so short a time ago that it may do so again without being seen to. Of a tree whose clock is not the
/// real one nothing is: such clocks move whenever they are looked at.
fn is_fresh(facts: &Stat) -> bool {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let latest = Duration::from_nanos(facts.modified.max(facts.changed).0);
    since.abs_diff(latest) < SETTLED_AFTER
}

enum Read {
    Text(String),
    Not(Why),
}

/// The text of a file, if it is one and not too long.
fn read(
    tree: &dyn Files,
    path: &TreePath,
    facts: &Stat,
    bytes_max: u64,
    time_is_up: &Interrupt,
) -> FileResult<Read> {
    if facts.size > bytes_max {
        return Ok(Read::Not(Why::TooLarge));
    }
    let how = OpenHow { read: true, nofollow: true, ..OpenHow::NONE };
    let file = tree.open(path, how, Timestamp::default())?;
    let mut bytes = Vec::new();
    let mut piece = vec![0; PIECE_BYTES.min(usize::try_from(facts.size).unwrap_or(usize::MAX).max(1) + 1)];
    loop {
        if time_is_up() {
            return Err(FileError::Interrupted);
        }
        let count = file.read_at(bytes.len() as u64, &mut piece)?;
        let begins = bytes.is_empty();
        bytes.extend_from_slice(piece.get(..count).ok_or(FileError::Io)?);
        if begins && bytes[..bytes.len().min(LOOKED_AT_BYTES)].contains(&0) {
            return Ok(Read::Not(Why::Binary));
        }
        // It may have grown since.
        if bytes.len() as u64 > bytes_max {
            return Ok(Read::Not(Why::TooLarge));
        }
        if count == 0 {
            break;
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    if text.contains([FROM, TO, '\0']) {
        let plain = char::REPLACEMENT_CHARACTER.to_string();
        return Ok(Read::Text(text.replace([FROM, TO, '\0'], &plain)));
    }
    Ok(Read::Text(text.into_owned()))
}

/// When the time of whoever searches is up: by the clock, or because nobody waits any more.
pub(super) fn until(end: Instant, cancelled: Option<Interrupt>) -> Interrupt {
    std::sync::Arc::new(move || Instant::now() >= end || cancelled.as_ref().is_some_and(|it| it()))
}
