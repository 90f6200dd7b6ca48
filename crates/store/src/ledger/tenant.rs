//! Counters and cells, one file for each tenant, of which a bounded number is open.

use std::sync::Arc;

use drydock_contract::{Tenant, port::LedgerError};
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior::Immediate, params};

use super::{
    LEDGER_KEY_BYTES_MAX, LEDGER_VALUE_BYTES_MAX, error,
    file::{BUSY_WAIT, Kind, LedgerFile},
};
use crate::Home;

/// Files of tenants that are open at once, besides those in use this very moment. Three descriptors each.
pub const OPEN_MAX: usize = 32;

static KIND: Kind = Kind {
    // Keys are bytes: text with a NUL in it ends there, for half of SQLite's functions.
    tables: "
CREATE TABLE counter (name BLOB PRIMARY KEY, taken INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE cell (key BLOB PRIMARY KEY, value BLOB NOT NULL) STRICT;
",
    version: 1,
    logged: true,
    bytes_max: 64 << 20,
    checked: false,
    remedy: "nothing that this tenant counts or keeps there is allowed. Put a backup in its place; or move it away, \
             which starts the tenant's counters and cells anew",
};

const LOCK: &str = "ledger";

/// How far a commit is carried at once.
#[derive(Clone, Copy)]
enum Survives {
    Process,
    Machine,
}

#[derive(Debug)]
pub(super) struct Ledgers {
    home: Home,
    /// The one used last comes first.
    open: Mutex<Vec<(Tenant, Arc<LedgerFile>)>>,
}

impl Ledgers {
    pub(super) fn of(home: &Home) -> Self {
        Self { home: home.clone(), open: Mutex::default() }
    }

    pub(super) fn lease(
        &self,
        tenant: &Tenant,
        counter: &str,
        wanted: u64,
        max: u64,
    ) -> Result<u64, LedgerError> {
        let file = self.file(tenant);
        check_key(&file, counter)?;
        if wanted == 0 {
            return Ok(0);
        }
        // A counter is a number of SQLite's: nobody counts further.
        let max = max.min(i64::MAX.cast_unsigned());
        self.change(tenant, &file, Survives::Process, |tx| {
            let taken = taken(tx, counter)?;
            let given = wanted.min(max.saturating_sub(taken));
            if given > 0 {
                let text = "INSERT INTO counter(name, taken) VALUES (?1, ?2)
                    ON CONFLICT(name) DO UPDATE SET taken = excluded.taken";
                tx.prepare_cached(text)?
                    .execute(params![counter.as_bytes(), (taken + given).cast_signed()])?;
            }
            Ok((given, given > 0))
        })
    }

    pub(super) fn give_back(&self, tenant: &Tenant, counter: &str, unused: u64) -> Result<(), LedgerError> {
        let file = self.file(tenant);
        check_key(&file, counter)?;
        let given = file.look(|conn| {
            acting(conn, Survives::Process, |tx| {
                let left = taken(tx, counter)?.saturating_sub(unused);
                let text = "UPDATE counter SET taken = ?2 WHERE name = ?1";
                let rows =
                    tx.prepare_cached(text)?.execute(params![counter.as_bytes(), left.cast_signed()])?;
                Ok(((), rows > 0))
            })
        });
        given.map(Option::unwrap_or_default)
    }

    pub(super) fn leased(&self, tenant: &Tenant, counter: &str) -> Result<u64, LedgerError> {
        let file = self.file(tenant);
        check_key(&file, counter)?;
        Ok(file.look(|conn| taken(conn, counter))?.unwrap_or(0))
    }

    pub(super) fn cell(&self, tenant: &Tenant, key: &str) -> Result<Option<Vec<u8>>, LedgerError> {
        let file = self.file(tenant);
        check_key(&file, key)?;
        Ok(file.look(|conn| value(conn, key))?.flatten())
    }

    pub(super) fn swap(
        &self,
        tenant: &Tenant,
        key: &str,
        expected: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<bool, LedgerError> {
        let file = self.file(tenant);
        check_key(&file, key)?;
        if new.is_some_and(|it| it.len() > LEDGER_VALUE_BYTES_MAX) {
            let problem = format!("takes values of {LEDGER_VALUE_BYTES_MAX} bytes at most");
            return Err(error::limit(file.path(), problem));
        }
        let Some(new) = new else {
            // Taking something away makes no file.
            let removed = file.look(|conn| {
                acting(conn, Survives::Machine, |tx| {
                    let right = value(tx, key)?.as_deref() == expected;
                    let gone = right
                        && tx.prepare_cached("DELETE FROM cell WHERE key = ?1")?.execute([key.as_bytes()])?
                            > 0;
                    Ok((right, gone))
                })
            })?;
            return Ok(removed.unwrap_or(expected.is_none()));
        };
        self.change(tenant, &file, Survives::Machine, |tx| {
            if value(tx, key)?.as_deref() != expected {
                return Ok((false, false));
            }
            let text = "INSERT INTO cell(key, value) VALUES (?1, ?2)
                ON CONFLICT(key) DO UPDATE SET value = excluded.value";
            tx.prepare_cached(text)?.execute(params![key.as_bytes(), new])?;
            Ok((true, true))
        })
    }

    pub(super) fn cells(&self, tenant: &Tenant, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, LedgerError> {
        let file = self.file(tenant);
        // What follows every key that begins so: no byte of UTF-8 is the largest.
        let mut end = prefix.as_bytes().to_vec();
        match end.last_mut() {
            Some(last) => *last += 1,
            None => end.push(u8::MAX),
        }
        let found = file.look(|conn| {
            let text = "SELECT key, value FROM cell WHERE key >= ?1 AND key < ?2 ORDER BY key";
            let mut statement = conn.prepare_cached(text)?;
            let rows = statement.query_map(params![prefix.as_bytes(), end], |row| {
                Ok((String::from_utf8(row.get(0)?).ok(), row.get(1)?))
            })?;
            rows.collect::<rusqlite::Result<Vec<(Option<String>, Vec<u8>)>>>()
        })?;
        let whole = found.unwrap_or_default().into_iter().map(|(key, value)| Some((key?, value)));
        whole.collect::<Option<_>>().ok_or_else(|| file.damaged())
    }

    /// The file of a tenant, which may not be there. Whatever falls out of the row is closed by its last user.
    fn file(&self, tenant: &Tenant) -> Arc<LedgerFile> {
        let mut open = self.open.lock();
        match open.iter().position(|it| it.0 == *tenant) {
            Some(at) => open[..=at].rotate_right(1),
            None => {
                let path = self.home.tenant(tenant).ledger_file();
                open.truncate(OPEN_MAX - 1);
                open.insert(0, (tenant.clone(), Arc::new(LedgerFile::at(path, &KIND))));
            }
        }
        Arc::clone(&open[0].1)
    }

    fn change<T>(
        &self,
        tenant: &Tenant,
        file: &LedgerFile,
        survives: Survives,
        act: impl Fn(&Connection) -> rusqlite::Result<(T, bool)>,
    ) -> Result<T, LedgerError> {
        file.change(
            || self.home.tenant(tenant).lock_within(LOCK, BUSY_WAIT),
            |conn| acting(conn, survives, &act),
        )
    }
}

/// One transaction. What the act answers besides says whether there is anything to keep.
fn acting<T>(
    conn: &mut Connection,
    survives: Survives,
    act: impl FnOnce(&Connection) -> rusqlite::Result<(T, bool)>,
) -> rusqlite::Result<T> {
    let level = match survives {
        Survives::Process => "NORMAL",
        Survives::Machine => "FULL",
    };
    conn.pragma_update(None, "synchronous", level)?;
    let tx = conn.transaction_with_behavior(Immediate)?;
    let (done, changed) = act(&tx)?;
    if changed {
        tx.commit()?;
    }
    Ok(done)
}

fn taken(conn: &Connection, counter: &str) -> rusqlite::Result<u64> {
    let mut statement = conn.prepare_cached("SELECT taken FROM counter WHERE name = ?1")?;
    let taken: Option<i64> = statement.query_row([counter.as_bytes()], |row| row.get(0)).optional()?;
    Ok(taken.unwrap_or(0).max(0).cast_unsigned())
}

fn value(conn: &Connection, key: &str) -> rusqlite::Result<Option<Vec<u8>>> {
    let mut statement = conn.prepare_cached("SELECT value FROM cell WHERE key = ?1")?;
    statement.query_row([key.as_bytes()], |row| row.get(0)).optional()
}

fn check_key(file: &LedgerFile, key: &str) -> Result<(), LedgerError> {
    if (1..=LEDGER_KEY_BYTES_MAX).contains(&key.len()) {
        return Ok(());
    }
    let problem = format!("takes names of 1 to {LEDGER_KEY_BYTES_MAX} bytes");
    Err(error::limit(file.path(), problem))
}
