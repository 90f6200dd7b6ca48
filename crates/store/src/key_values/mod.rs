//! Values by key in SQLite, one file for each tenant (`kv.sqlite`), which is made by the first value.
//!
//! Changes of a tenant that come together are one commit (decision 0100). Reads of a file that is open are done where they
//! are asked, by a connection that writes nothing: a log lets them see all that was answered, and wait for nobody.

mod sql;

use std::path::PathBuf;

use drydock_contract::{
    BoxFuture, Tenant, Timestamp,
    port::{KeptValue, KeyChange, KeyChanged, KeyRefusal, KeyValues, LedgerError, ListedKey},
};

pub(crate) use sql::{Range, nanos, number};

use crate::{
    Home, TenantHome,
    commits::{Commits, Shelf},
    ledger::file::Kind,
};

/// The longest key, in bytes.
pub const KEY_BYTES_MAX: usize = 512;
/// Keys of one tenant.
pub const KEYS_MAX: u64 = 10_000;
/// The file of one tenant.
pub const KEY_VALUES_FILE_BYTES_MAX: u64 = 1 << 30;

static KIND: Kind = Kind {
    // Keys are bytes: text with a NUL in it ends there, for half of SQLite's functions. The value comes last, so that
    // whatever is known of it is read without it.
    tables: "
CREATE TABLE mark (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL, keys INTEGER NOT NULL) STRICT;
INSERT INTO mark VALUES (1, 0, 0);
CREATE TABLE pair (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, version INTEGER NOT NULL, expires INTEGER, value BLOB NOT NULL
) STRICT;
CREATE INDEX pair_expires ON pair (expires) WHERE expires IS NOT NULL;
",
    version: 1,
    logged: true,
    bytes_max: KEY_VALUES_FILE_BYTES_MAX,
    checked: false,
    remedy: "what this tenant keeps by key cannot be had. Put a backup in its place; or move it away, which starts it anew",
};

static SHELF: Shelf =
    Shelf { kind: &KIND, path: TenantHome::key_values_file, lock: "kv", open_max: 8, glances: true };

/// The values of all tenants of a home. Any number of threads and processes may use it.
#[derive(Debug)]
pub struct SqliteKeyValues {
    commits: Commits,
    bytes_max: u64,
}

impl SqliteKeyValues {
    /// Those of a home. Opens nothing.
    pub fn of(home: &Home) -> Self {
        Self::on(home, &SHELF)
    }

    fn on(home: &Home, shelf: &'static Shelf) -> Self {
        Self { commits: Commits::of(home, shelf), bytes_max: shelf.kind.bytes_max }
    }

    fn check(&self, key: &str) -> Result<(), LedgerError> {
        if (1..=KEY_BYTES_MAX).contains(&key.len()) {
            return Ok(());
        }
        let problem = format!("takes keys of 1 to {KEY_BYTES_MAX} bytes");
        Err(LedgerError { code: "ledger_limit", path: PathBuf::from("kv.sqlite"), problem, cause: None })
    }
}

impl KeyValues for SqliteKeyValues {
    fn get<'a>(
        &'a self,
        tenant: &'a Tenant,
        key: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<KeptValue>, LedgerError>> {
        Box::pin(async move {
            self.check(key)?;
            if let Some(found) = self.commits.glance(tenant, |conn| sql::get(conn, key.as_bytes(), now)) {
                return Ok(found);
            }
            self.commits.submit(tenant, sql::Get { key: key.into(), now }, None).await
        })
    }

    fn change<'a>(
        &'a self,
        tenant: &'a Tenant,
        key: &'a str,
        change: KeyChange,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Result<KeyChanged, KeyRefusal>, LedgerError>> {
        Box::pin(async move {
            self.check(key)?;
            let key = Vec::from(key);
            let changed = match change {
                KeyChange::Put { value, if_version, expires } => {
                    self.commits.submit(tenant, sql::Put { key, value, if_version, expires, now }, None).await
                }
                KeyChange::Delete { if_version } => {
                    self.commits.submit(tenant, sql::Delete { key, if_version, now }, None).await
                }
                KeyChange::Add { by, expires } => {
                    self.commits.submit(tenant, sql::Add { key, by, expires, now }, None).await
                }
            };
            match changed {
                Ok(changed) => Ok(changed.0),
                Err(error) if error.code == "ledger_limit" => {
                    Ok(Err(KeyRefusal::NoRoom { bytes_max: self.bytes_max }))
                }
                Err(error) => Err(error),
            }
        })
    }

    fn list<'a>(
        &'a self,
        tenant: &'a Tenant,
        prefix: &'a str,
        after: Option<&'a str>,
        rows_max: usize,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Vec<ListedKey>, LedgerError>> {
        Box::pin(async move {
            let list = sql::List { range: sql::Range::of(prefix, after), rows_max, now };
            if let Some(found) = self.commits.glance(tenant, |conn| list.of(conn)) {
                return Ok(found);
            }
            self.commits.submit(tenant, list, None).await
        })
    }
}

#[cfg(test)]
mod tests;
