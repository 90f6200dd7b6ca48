//! One SQLite file, one connection, one transaction at a time.
//!
//! What a transaction answered `Ok` to survives the death of the process: WAL with
//! `synchronous=NORMAL`. Other processes may have the file open; nothing is remembered between
//! transactions except the usage counts, and those only while `data_version` stands still.

use std::{
    collections::{HashMap, HashSet},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use drydock_contract::port::{FileError, FileResult};
use parking_lot::Mutex;
use rusqlite::{Connection, ErrorCode, OpenFlags, params};

use super::{
    alone::Presence,
    open::OpenWorkspaceError,
    schema::{APPLICATION, TABLES, VERSION},
    usage::Usage,
};

/// How long one transaction waits for another process's.
const BUSY_WAIT: Duration = Duration::from_secs(20);
/// Free pages that a workspace keeps when it is closed.
const FREE_PAGES_MAX: i64 = 4096;
/// How many are given back between two looks at the clock.
const GIVE_BACK_PAGES: u32 = 1024;
/// How long closing may take for that.
const GIVE_BACK_MAX: Duration = Duration::from_secs(1);
/// Prepared statements kept: more than there are.
const STATEMENTS: usize = 64;

/// How a file is opened that is not to be changed.
const LOOK: OpenFlags = OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// The database of a workspace.
pub(crate) struct Db {
    inner: Mutex<Inner>,
    pub(super) handles: Mutex<Handles>,
    path: PathBuf,
    presence: Option<Presence>,
    /// Nobody changes the file while it is open here.
    unchanging: bool,
}

struct Inner {
    conn: Connection,
    data_version: i64,
    usage: HashMap<i64, Usage>,
    epoch: i64,
}

/// Which nodes this process has open.
#[derive(Default)]
pub(super) struct Handles {
    pub(super) open: HashMap<i64, u32>,
    /// Open here, and without a name: to be forgotten when the last handle is.
    pub(super) nameless: HashSet<i64>,
}

/// A transaction, and what it changes of a volume's usage if it is kept.
pub(super) struct Tx<'a> {
    pub(super) conn: &'a Connection,
    pub(super) handles: &'a Mutex<Handles>,
    usage: &'a mut HashMap<i64, Usage>,
    /// Another one since a snapshot was restored: handles of before stand for nothing now.
    pub(super) epoch: i64,
    pub(super) grown: HashMap<i64, Usage>,
}

impl Db {
    /// Opens the file, making it and its tables if they are missing.
    pub(crate) fn open(path: &Path) -> Result<Self, OpenWorkspaceError> {
        let fail = |cause| OpenWorkspaceError::of_sql(path, cause);
        let presence = Presence::announce(path).map_err(|cause| OpenWorkspaceError::of_disk(path, cause))?;
        let conn = connect(path).map_err(fail)?;
        let version = prepare(&conn).map_err(fail)?;
        if version != VERSION {
            return Err(OpenWorkspaceError::Version { path: path.to_owned(), version });
        }
        let inner = Inner { conn, data_version: -1, usage: HashMap::new(), epoch: 0 };
        let mut db = Self {
            inner: Mutex::new(inner),
            handles: Mutex::default(),
            path: path.to_owned(),
            presence: None,
            unchanging: false,
        };
        db.presence = Some(presence);
        db.arrive().map_err(|error| OpenWorkspaceError::of_files(path, error))?;
        Ok(db)
    }

    /// Opens a file that nobody writes any more, to look at.
    pub(crate) fn open_frozen(path: &Path) -> rusqlite::Result<Self> {
        let conn = Connection::open_with_flags(path, LOOK)?;
        let inner = Inner { conn, data_version: -1, usage: HashMap::new(), epoch: 0 };
        let (inner, path) = (Mutex::new(inner), path.to_owned());
        Ok(Self { inner, handles: Mutex::default(), path, presence: None, unchanging: false })
    }

    /// Opens the file to look into it, and writes nothing: for a disk that has no room.
    pub(crate) fn open_to_look(path: &Path) -> Result<Self, OpenWorkspaceError> {
        let fail = |cause| OpenWorkspaceError::of_sql(path, cause);
        let presence = Presence::announce(path).map_err(|cause| OpenWorkspaceError::of_disk(path, cause))?;
        let log = path.with_extension("sqlite-wal");
        let logged = std::fs::metadata(&log).is_ok_and(|it| it.len() > 0);
        // Without a log and without others nothing can change while the lock is held, and SQLite needs
        // no shared memory, which would be a file. Otherwise that file is there already.
        let unchanging = presence.is_alone() && !logged;
        let conn = connect_to_look(path, unchanging).map_err(fail)?;
        conn.busy_timeout(BUSY_WAIT).map_err(fail)?;
        conn.pragma_update(None, "temp_store", "MEMORY").map_err(fail)?;
        let version = conn.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(fail)?;
        if version != VERSION {
            return Err(OpenWorkspaceError::Version { path: path.to_owned(), version });
        }
        let inner = Inner { conn, data_version: -1, usage: HashMap::new(), epoch: 0 };
        let (inner, path) = (Mutex::new(inner), path.to_owned());
        Ok(Self { inner, handles: Mutex::default(), path, presence: Some(presence), unchanging })
    }

    /// One more connection, which only looks.
    pub(crate) fn look_again(&self) -> rusqlite::Result<Connection> {
        connect_to_look(&self.path, self.unchanging)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The first to come clears what the last to go, or a killed process, left behind.
    fn arrive(&mut self) -> FileResult<()> {
        let alone = self.presence.as_ref().is_some_and(Presence::is_alone);
        let session = self.write(|tx| {
            if alone {
                tx.conn.execute("DELETE FROM session", []).sql()?;
                tx.sweep_nameless()?;
                tx.clear_volume("tmp")?;
            }
            let pid = std::process::id();
            tx.conn.execute("INSERT INTO session(pid) VALUES (?1)", params![pid]).sql()?;
            Ok(tx.conn.last_insert_rowid())
        })?;
        if let Some(presence) = &mut self.presence {
            presence.settle(session).map_err(|_| FileError::Io)?;
        }
        Ok(())
    }

    /// A transaction that only looks.
    pub(super) fn read<T>(&self, act: impl FnOnce(&mut Tx<'_>) -> FileResult<T>) -> FileResult<T> {
        self.transact("BEGIN", act)
    }

    /// A transaction that changes, wholly or not at all.
    pub(super) fn write<T>(&self, act: impl FnOnce(&mut Tx<'_>) -> FileResult<T>) -> FileResult<T> {
        self.transact("BEGIN IMMEDIATE", act)
    }

    fn transact<T>(&self, begin: &str, act: impl FnOnce(&mut Tx<'_>) -> FileResult<T>) -> FileResult<T> {
        let mut guard = self.inner.lock();
        let Inner { conn, data_version, usage, epoch } = &mut *guard;
        run(conn, begin)?;
        if let Err(error) = notice(conn, data_version, usage, epoch) {
            run(conn, "ROLLBACK")?;
            return Err(error);
        }
        let mut tx = Tx { conn, handles: &self.handles, usage, epoch: *epoch, grown: HashMap::new() };
        let acted = act(&mut tx);
        let ended = if acted.is_ok() { run(tx.conn, "COMMIT") } else { Ok(()) };
        match (&acted, &ended) {
            (Ok(_), Ok(())) => tx.keep_usage(),
            _ if !conn.is_autocommit() => run(conn, "ROLLBACK")?,
            _ => {}
        }
        let full = Some(FileError::NoSpace);
        if acted.as_ref().err().copied() == full || ended.err() == full {
            // What was logged goes where it belongs, so that removing something can succeed next.
            let _ = conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
        }
        // What the act answered may be a handle, and dropping that is a transaction too.
        drop(guard);
        acted.and_then(|it| ended.map(|()| it))
    }

    /// The connection itself, for what is not a transaction of files.
    pub(crate) fn with_connection<T>(&self, act: impl FnOnce(&mut Connection) -> T) -> T {
        act(&mut self.inner.lock().conn)
    }
}

impl Drop for Db {
    fn drop(&mut self) {
        let Some(session) = self.presence.as_ref().and_then(Presence::session) else { return };
        // A failure costs space until the next to come alone sweeps it up.
        let _ = self.write(|tx| {
            tx.conn.execute("DELETE FROM session WHERE id = ?1", params![session]).sql()?;
            if tx.others()? { Ok(()) } else { tx.sweep_nameless() }
        });
        let _ = self.with_connection(|conn| give_back(conn));
    }
}

impl<'a> Tx<'a> {
    /// Whether another process, or another opening in this one, may have files open.
    pub(super) fn others(&self) -> FileResult<bool> {
        let mut statement = self.conn.prepare_cached("SELECT count(*) > 1 FROM session").sql()?;
        statement.query_row([], |row| row.get(0)).sql()
    }

    /// What the volume holds, this transaction's changes included.
    pub(super) fn usage(&mut self, volume: i64) -> FileResult<Usage> {
        let before = match self.usage.get(&volume) {
            Some(it) => *it,
            None => {
                // Counted inside the transaction: take its own changes back out.
                let counted = Usage::count(self.conn, volume)?;
                let before = counted.less(self.grown.get(&volume).copied().unwrap_or_default());
                self.usage.insert(volume, before);
                before
            }
        };
        Ok(before.plus(self.grown.get(&volume).copied().unwrap_or_default()))
    }

    fn keep_usage(&mut self) {
        for (volume, grown) in self.grown.drain() {
            if let Some(it) = self.usage.get_mut(&volume) {
                *it = it.plus(grown);
            }
        }
    }
}

fn connect_to_look(path: &Path, unchanging: bool) -> rusqlite::Result<Connection> {
    if !unchanging {
        return Connection::open_with_flags(path, LOOK);
    }
    let mut address = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                address.push(char::from(*byte));
            }
            // An address has signs of its own.
            other => address.push_str(&format!("%{other:02x}")),
        }
    }
    address.push_str("?immutable=1");
    Connection::open_with_flags(address, LOOK.union(OpenFlags::SQLITE_OPEN_URI))
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(BUSY_WAIT)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    // Only a file without pages takes it, and the next line makes the first.
    conn.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    conn.pragma_update(None, "trusted_schema", false)?;
    conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    conn.pragma_update(None, "cache_size", -8192)?;
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.pragma_update_and_check(None, "journal_size_limit", 16 << 20, |_| Ok(()))?;
    Ok(conn)
}

/// Makes the tables if there are none; answers the version there is. Those of another layout stay as
/// they are, for a version that knows them.
fn prepare(conn: &Connection) -> rusqlite::Result<i64> {
    let version = || conn.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0));
    if version()? != 0 {
        return version();
    }
    conn.execute_batch("BEGIN IMMEDIATE")?;
    // Another process may have been here while we waited.
    let done = version().and_then(|it| match it {
        0 => {
            conn.execute_batch(TABLES)?;
            conn.pragma_update(None, "application_id", APPLICATION)?;
            conn.pragma_update(None, "user_version", VERSION)
        }
        _ => Ok(()),
    });
    conn.execute_batch(if done.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
    done?;
    version()
}

/// Gives free pages back to the disk, if they are many, for no longer than a moment: what is left is
/// used again, or given back the next time.
fn give_back(conn: &Connection) -> rusqlite::Result<()> {
    let free = || conn.pragma_query_value(None, "freelist_count", |row| row.get::<_, i64>(0));
    let end = Instant::now() + GIVE_BACK_MAX;
    let mut left = free()?;
    if left < FREE_PAGES_MAX {
        return Ok(());
    }
    while left > 0 && Instant::now() < end {
        let mut statement = conn.prepare(&format!("PRAGMA incremental_vacuum({GIVE_BACK_PAGES})"))?;
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
        drop(rows);
        let now = free()?;
        if now >= left {
            break;
        }
        left = now;
    }
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
}

/// Forgets what was remembered, if another connection wrote since.
fn notice(
    conn: &Connection,
    data_version: &mut i64,
    usage: &mut HashMap<i64, Usage>,
    epoch: &mut i64,
) -> FileResult<()> {
    let mut statement = conn.prepare_cached("PRAGMA data_version").sql()?;
    let now = statement.query_row([], |row| row.get(0)).sql()?;
    if now != *data_version {
        usage.clear();
        let mut statement = conn.prepare_cached("SELECT coalesce(max(epoch), 0) FROM epoch").sql()?;
        *epoch = statement.query_row([], |row| row.get(0)).sql()?;
        *data_version = now;
    }
    Ok(())
}

fn run(conn: &Connection, text: &str) -> FileResult<()> {
    conn.prepare_cached(text).sql()?.execute([]).sql().map(|_| ())
}

/// SQLite's errors in the words a guest's errno has for them.
pub(crate) trait Sql<T> {
    fn sql(self) -> FileResult<T>;
}

impl<T> Sql<T> for rusqlite::Result<T> {
    fn sql(self) -> FileResult<T> {
        self.map_err(|error| match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => FileError::NoSpace,
            Some(ErrorCode::TooBig) => FileError::TooBig,
            Some(ErrorCode::ReadOnly) => FileError::ReadOnly,
            _ => {
                tracing::error!(%error, "the database of a workspace failed");
                FileError::Io
            }
        })
    }
}
