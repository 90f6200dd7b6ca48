//! Snapshots, and what is made from them. SQLite copies, page by page from one moment of the source,
//! while others read and write it; the copy has its name only once it is whole.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{
    Connection, OpenFlags,
    backup::{Backup, StepResult},
    params,
};

use super::{Workspace, WorkspaceName, Workspaces, temporary::Temporary};
use crate::{OpenWorkspaceError, home::sync_dir, sqlite::LAYOUT};

/// How long a copy waits for writers.
const WAIT: Duration = Duration::from_secs(20);

impl Workspaces {
    /// Keeps the workspace as it is now, under a name.
    pub fn snapshot(&self, of: &WorkspaceName, name: &WorkspaceName) -> Result<(), OpenWorkspaceError> {
        let target = self.snapshot_file(of, name);
        if target.exists() {
            return Err(OpenWorkspaceError::Exists(format!("{of}@{name}")));
        }
        self.copy(&self.existing(of)?, &target)
    }

    /// Another workspace like this one.
    pub fn fork(&self, of: &WorkspaceName, new: &WorkspaceName) -> Result<(), OpenWorkspaceError> {
        let target = self.file(new);
        if target.exists() {
            return Err(OpenWorkspaceError::Exists(new.to_string()));
        }
        self.copy(&self.existing(of)?, &target)
    }

    /// Another workspace, as this one was when that snapshot was made.
    pub fn fork_snapshot(
        &self,
        of: &WorkspaceName,
        snapshot: &WorkspaceName,
        new: &WorkspaceName,
    ) -> Result<(), OpenWorkspaceError> {
        let (source, target) = (self.snapshot_file(of, snapshot), self.file(new));
        if !source.is_file() {
            return Err(OpenWorkspaceError::Missing(format!("{of}@{snapshot}")));
        }
        if target.exists() {
            return Err(OpenWorkspaceError::Exists(new.to_string()));
        }
        of_this_layout(&source)?;
        self.copy(&source, &target)
    }

    /// Makes the workspace of that name what it was. One that cannot be opened is set aside: its file
    /// stays, under a name that is answered.
    pub fn restore_named(
        &self,
        of: &WorkspaceName,
        name: &WorkspaceName,
    ) -> Result<Option<PathBuf>, OpenWorkspaceError> {
        let source = self.snapshot_file(of, name);
        if !source.is_file() {
            return Err(OpenWorkspaceError::Missing(format!("{of}@{name}")));
        }
        of_this_layout(&source)?;
        let live = match self.open(of) {
            Ok(workspace) => return self.restore(&workspace, name).map(|()| None),
            Err(OpenWorkspaceError::Damaged { path } | OpenWorkspaceError::Version { path, .. }) => path,
            Err(error) => return Err(error),
        };
        let fail = |cause| OpenWorkspaceError::Read { path: live.clone(), cause };
        let nonce = getrandom::u32().unwrap_or(std::process::id());
        let aside = live.with_extension(format!("damaged-{nonce:08x}"));
        // What SQLite kept beside it goes with it; what it remembers of readers is nobody's now.
        let _ =
            fs::rename(live.with_extension("sqlite-wal"), aside.with_extension(format!("wal-{nonce:08x}")));
        let _ = fs::remove_file(live.with_extension("sqlite-shm"));
        fs::rename(&live, &aside).map_err(fail)?;
        self.copy(&source, &live).inspect_err(|_| {
            let _ = fs::rename(&aside, &live);
        })?;
        Ok(Some(aside))
    }

    /// Makes the workspace what it was, in one step. Files that are open answer `Io` from then on.
    pub fn restore(&self, workspace: &Workspace, name: &WorkspaceName) -> Result<(), OpenWorkspaceError> {
        let source = self.snapshot_file(workspace.name(), name);
        if !source.is_file() {
            return Err(OpenWorkspaceError::Missing(format!("{}@{name}", workspace.name())));
        }
        of_this_layout(&source)?;
        let live = workspace.db.path();
        let fail = |cause| OpenWorkspaceError::Sql { path: live.to_owned(), cause };
        let temporary = temporary(live)?;
        let prepared = temporary.path();
        let done = (|| {
            backup(&source, prepared)?;
            // Whoever has the workspace open has it open still, and its handles are out of date.
            let sessions = sessions(live)?;
            let conn = Connection::open(prepared)?;
            conn.execute("DELETE FROM session", [])?;
            for (id, pid) in sessions {
                conn.execute("INSERT INTO session(id, pid) VALUES (?1, ?2)", params![id, pid])?;
            }
            conn.execute("DELETE FROM epoch", [])?;
            let nonce = getrandom::u32().unwrap_or(std::process::id());
            conn.execute("INSERT INTO epoch(epoch) VALUES (?1)", params![i64::from(nonce) + 1])?;
            drop(conn);
            backup(prepared, live)
        })();
        done.map_err(fail)
    }

    /// Forgets a snapshot.
    pub fn remove_snapshot(
        &self,
        of: &WorkspaceName,
        name: &WorkspaceName,
    ) -> Result<(), OpenWorkspaceError> {
        remove(&self.snapshot_file(of, name), &format!("{of}@{name}"))
    }

    /// Forgets a workspace and its snapshots. Whoever has it open keeps it until they close it.
    pub fn remove(&self, name: &WorkspaceName) -> Result<(), OpenWorkspaceError> {
        let path = self.file(name);
        let snapshots = self.snapshots(name);
        for it in snapshots.map_err(|cause| OpenWorkspaceError::Read { path: path.clone(), cause })? {
            self.remove_snapshot(name, &it)?;
        }
        remove(&path, name.as_str())?;
        for side in ["sqlite-wal", "sqlite-shm"] {
            let _ = fs::remove_file(path.with_extension(side));
        }
        Ok(())
    }

    fn existing(&self, name: &WorkspaceName) -> Result<PathBuf, OpenWorkspaceError> {
        let path = self.file(name);
        if path.is_file() { Ok(path) } else { Err(OpenWorkspaceError::Missing(name.to_string())) }
    }

    fn copy(&self, source: &Path, target: &Path) -> Result<(), OpenWorkspaceError> {
        let temporary = temporary(target)?;
        let temporary = temporary.path();
        let read = |cause| OpenWorkspaceError::Read { path: target.to_owned(), cause };
        backup(source, temporary)
            .map_err(|cause| OpenWorkspaceError::Sql { path: source.to_owned(), cause })
            .and_then(|()| {
                File::open(temporary).and_then(|it| it.sync_all()).map_err(read)?;
                // A link, not a rename: whoever took the name meanwhile keeps it.
                fs::hard_link(temporary, target).map_err(read)?;
                sync_dir(target.parent().unwrap_or(target)).map_err(read)
            })
    }
}

/// Refuses a file whose tables another version made.
pub(super) fn of_this_layout(path: &Path) -> Result<(), OpenWorkspaceError> {
    let looked = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .and_then(|conn| conn.pragma_query_value(None, "user_version", |row| row.get(0)));
    match looked {
        Ok(LAYOUT) => Ok(()),
        Ok(version) => Err(OpenWorkspaceError::Version { path: path.to_owned(), version }),
        Err(cause) => Err(OpenWorkspaceError::of_sql(path, cause)),
    }
}

fn temporary(target: &Path) -> Result<Temporary, OpenWorkspaceError> {
    Temporary::beside(target).map_err(|cause| OpenWorkspaceError::Read { path: target.to_owned(), cause })
}

fn remove(path: &Path, name: &str) -> Result<(), OpenWorkspaceError> {
    match fs::remove_file(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(OpenWorkspaceError::Missing(name.to_owned()))
        }
        Err(cause) => Err(OpenWorkspaceError::Read { path: path.to_owned(), cause }),
    }
}

/// Copies one database over another in one step.
fn backup(source: &Path, target: &Path) -> rusqlite::Result<()> {
    let source = Connection::open_with_flags(source, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    source.busy_timeout(WAIT)?;
    let mut target = Connection::open_with_flags(target, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    target.busy_timeout(WAIT)?;
    let live: String = target.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    let end = Instant::now() + WAIT;
    let backup = Backup::new(&source, &mut target)?;
    loop {
        match backup.step(-1)? {
            StepResult::Done => break,
            _ if Instant::now() > end => {
                let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
                return Err(rusqlite::Error::SqliteFailure(busy, None));
            }
            _ => thread::sleep(Duration::from_millis(2)),
        }
    }
    drop(backup);
    if live != "wal" {
        // One file that needs no others beside it.
        target.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    }
    Ok(())
}

fn sessions(path: &Path) -> rusqlite::Result<Vec<(i64, i64)>> {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    conn.busy_timeout(WAIT)?;
    let mut statement = conn.prepare("SELECT id, pid FROM session")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}
