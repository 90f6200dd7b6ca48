//! One SQLite file of a ledger: made whole or not at all, opened when it is there, looked at again when it was replaced.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use drydock_contract::port::LedgerError;
use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags};

use super::{LEDGER_VALUE_BYTES_MAX, error};
use crate::home::{Lock, sync_dir, temporary_path};

/// How long one transaction waits for another process's, and whoever makes a file for another that does.
pub(crate) const BUSY_WAIT: Duration = Duration::from_secs(2);
/// How long a glance believes that a file was not moved away.
const BELIEVED: Duration = Duration::from_millis(50);
/// How long a glance waits for other glances.
const GLANCE_MAX: Duration = Duration::from_millis(1);
/// "drya", so that `file` and others can tell.
const APPLICATION: i64 = 0x6472_7961;
const PAGE_BYTES: u64 = 4096;
/// Statements that a connection keeps prepared.
const STATEMENTS_MAX: usize = 32;
/// What one change may add: the longest value, and some for the tree above it.
const CHANGE_PAGES_MAX: i64 = (LEDGER_VALUE_BYTES_MAX as u64 / PAGE_BYTES) as i64 + 64;

/// What kind of file it is.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Its tables, and what is in them from the beginning.
    pub(crate) tables: &'static str,
    /// What this code reads and writes.
    pub(crate) version: i64,
    /// Whether it is written often, and so has a write-ahead log: three descriptors, not one.
    pub(crate) logged: bool,
    /// How large it may become.
    pub(crate) bytes_max: u64,
    /// Whether all of it is checked whenever it is opened, and whenever it was changed by somebody else.
    pub(crate) checked: bool,
    /// What to do if it is damaged, and what that costs.
    pub(crate) remedy: &'static str,
}

/// A file that may not be there.
#[derive(Debug)]
pub(crate) struct LedgerFile {
    path: PathBuf,
    kind: &'static Kind,
    /// How long it waits for another process.
    patience: Duration,
    open: Mutex<Option<Opened>>,
}

#[derive(Debug)]
struct Opened {
    conn: Connection,
    stamp: Stamp,
    /// When somebody saw that it is still the file of its name.
    seen: Instant,
}

/// Which file it is; and, where it is checked, in which state it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    state: Option<(u64, i64, i64)>,
}

impl LedgerFile {
    pub(crate) fn at(path: PathBuf, kind: &'static Kind) -> Self {
        Self { path, kind, patience: BUSY_WAIT, open: Mutex::new(None) }
    }

    /// The same for somebody who waits no longer than this.
    pub(crate) fn within(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Acts on the file, unless there is none: then nothing is opened or made.
    pub(crate) fn look<T>(
        &self,
        act: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, LedgerError> {
        let mut open = self.open.lock();
        let facts = match fs::metadata(&self.path) {
            Ok(facts) => facts,
            // A link whose end is gone is no absence: whatever was behind it counts, and nobody knows what that was.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound && self.path.is_symlink() => {
                return Err(error::of_disk(&self.path, cause));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                *open = None;
                return Ok(None);
            }
            Err(cause) => return Err(error::of_disk(&self.path, cause)),
        };
        let state = self.kind.checked.then_some((facts.len(), facts.mtime(), facts.mtime_nsec()));
        if self.kind.checked && facts.len() % PAGE_BYTES != 0 {
            // SQLite would read zeros for what is missing of the last page.
            *open = None;
            return Err(self.damaged());
        }
        let stamp = Stamp { file: (facts.dev(), facts.ino()), state };
        if open.as_ref().is_none_or(|it| it.stamp != stamp) {
            // Closed first: SQLite then forgets what it remembers of the old one.
            *open = None;
            *open = Some(Opened { conn: self.connect()?, stamp, seen: Instant::now() });
        }
        let Some(Opened { conn, .. }) = open.as_mut() else { return Ok(None) };
        let acted = act(conn);
        if let Err(cause) = acted {
            let error = self.failed(conn, cause);
            // Whatever it was, the next look is a fresh one.
            *open = None;
            return Err(error);
        }
        acted.map(Some).map_err(|cause| self.of_sql(cause))
    }

    /// Looks at the file where it is open, by a connection that nobody keeps for long. Nothing if it is not, or if
    /// anything is amiss: then whoever asks does so where waiting is no harm, and hears what is wrong.
    pub(crate) fn glance<T>(&self, act: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Option<T> {
        let mut open = self.open.try_lock_for(GLANCE_MAX)?;
        let opened = open.as_mut()?;
        let now = Instant::now();
        if now.duration_since(opened.seen) >= BELIEVED {
            let facts = fs::metadata(&self.path).ok()?;
            if opened.stamp.file != (facts.dev(), facts.ino()) {
                *open = None;
                return None;
            }
            opened.seen = now;
        }
        act(&opened.conn).ok()
    }

    /// Opens it for those that glance, if it is there and closed. What is wrong with it is found by others.
    pub(crate) fn prepare(&self) {
        if self.open.try_lock().is_some_and(|it| it.is_none()) {
            let _ = self.look(|_| Ok(()));
        }
    }

    /// Acts on the file, making it if it is missing. `lock` is held while it is made.
    pub(crate) fn change<T>(
        &self,
        lock: impl FnOnce() -> io::Result<Lock>,
        mut act: impl FnMut(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, LedgerError> {
        if let Some(done) = self.look(&mut act)? {
            return Ok(done);
        }
        self.make(lock)?;
        let gone = || error::of_disk(&self.path, io::ErrorKind::NotFound.into());
        self.look(act)?.ok_or_else(gone)
    }

    fn of_sql(&self, cause: rusqlite::Error) -> LedgerError {
        error::of_sql(&self.path, self.kind.remedy, self.patience, cause)
    }

    pub(super) fn damaged(&self) -> LedgerError {
        error::damaged(&self.path, self.kind.remedy)
    }

    fn failed(&self, conn: &Connection, cause: rusqlite::Error) -> LedgerError {
        // A full disk and a file that may not grow are one to SQLite; what did not fit is rolled back by now.
        let pages = || conn.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0));
        let full = cause.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull);
        let pages_max = i64::try_from(self.kind.bytes_max / PAGE_BYTES).unwrap_or(i64::MAX);
        if full && pages().is_ok_and(|it| it + CHANGE_PAGES_MAX >= pages_max) {
            let mib = self.kind.bytes_max >> 20;
            return error::limit(
                &self.path,
                format!("has {mib} MiB, the most it may; take something out of it"),
            );
        }
        self.of_sql(cause)
    }

    fn connect(&self) -> Result<Connection, LedgerError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let prepared = Connection::open_with_flags(&self.path, flags).and_then(|conn| {
            self.set_up(&conn)?;
            let number = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            let facts = (number("application_id")?, number("user_version")?);
            let whole = !self.kind.checked
                || conn.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))? == "ok";
            Ok((conn, facts, whole))
        });
        let (conn, (application, version), whole) = prepared.map_err(|cause| self.of_sql(cause))?;
        if application != APPLICATION || !whole {
            return Err(self.damaged());
        }
        if version != self.kind.version {
            return Err(error::other_version(&self.path, version, self.kind.version));
        }
        Ok(conn)
    }

    fn set_up(&self, conn: &Connection) -> rusqlite::Result<()> {
        conn.busy_timeout(self.patience)?;
        conn.pragma_update(None, "trusted_schema", false)?;
        conn.pragma_update(None, "cache_size", -512)?;
        conn.pragma_update(None, "temp_store", "MEMORY")?;
        if self.kind.logged {
            conn.pragma_update_and_check(None, "journal_size_limit", 1 << 20, |_| Ok(()))?;
            conn.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        } else {
            // More than FULL: the directory is synced when the rollback journal is gone, because one that comes back
            // after a power cut would take the last commit back.
            conn.pragma_update(None, "synchronous", "EXTRA")?;
        }
        let pages = i64::try_from(self.kind.bytes_max / PAGE_BYTES).unwrap_or(i64::MAX);
        conn.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))
    }

    /// Makes the file under another name and gives it its own when it is whole, so that no process ever finds half.
    fn make(&self, lock: impl FnOnce() -> io::Result<Lock>) -> Result<(), LedgerError> {
        let of_disk = |cause| error::of_disk(&self.path, cause);
        let _lock = lock().map_err(of_disk)?;
        if self.path.exists() {
            return Ok(());
        }
        let temporary = temporary_path(&self.path).map_err(of_disk)?;
        // Private to its owner from the first moment: SQLite gives its side files the same mode.
        let new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary);
        let filled =
            new.map_err(of_disk).and_then(|_| self.fill(&temporary).map_err(|cause| self.of_sql(cause)));
        let named = filled.and_then(|()| {
            let synced = File::open(&temporary).and_then(|it| it.sync_all());
            synced.and_then(|()| fs::rename(&temporary, &self.path)).map_err(of_disk)
        });
        if let Err(error) = named {
            for side in ["", "-journal", "-wal", "-shm"] {
                let mut path = temporary.clone().into_os_string();
                path.push(side);
                let _ = fs::remove_file(path);
            }
            return Err(error);
        }
        let dir = self.path.parent().unwrap_or(&self.path);
        sync_dir(dir).map_err(of_disk)
    }

    fn fill(&self, path: &Path) -> rusqlite::Result<()> {
        let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        conn.pragma_update(None, "page_size", PAGE_BYTES.cast_signed())?;
        conn.pragma_update(None, "synchronous", "OFF")?;
        conn.execute_batch("BEGIN")?;
        conn.execute_batch(self.kind.tables)?;
        conn.pragma_update(None, "application_id", APPLICATION)?;
        conn.pragma_update(None, "user_version", self.kind.version)?;
        conn.execute_batch("COMMIT")?;
        if self.kind.logged {
            // Of the file, from here on.
            conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        }
        conn.close().map_err(|(_, error)| error)
    }
}
