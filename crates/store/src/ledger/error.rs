//! What is wrong with a ledger's file, by name, and what to do about it.

use std::{io, path::Path, time::Duration};

use drydock_contract::port::LedgerError;
use rusqlite::{
    ErrorCode,
    ffi::{SQLITE_ERROR, SQLITE_IOERR_SHMSIZE},
};

use super::file::BUSY_WAIT;

/// An error of SQLite's. `remedy` says what to do if the file is damaged, and what that costs; `waited` is how long a lock
/// was waited for.
pub(super) fn of_sql(path: &Path, remedy: &str, waited: Duration, cause: rusqlite::Error) -> LedgerError {
    let shared = cause.sqlite_error().is_some_and(|it| it.extended_code == SQLITE_IOERR_SHMSIZE);
    let plain = cause.sqlite_error().is_some_and(|it| it.extended_code == SQLITE_ERROR);
    let (code, problem) = match cause.sqlite_error_code().filter(|_| !plain) {
        // What we ask for is always the same, so a table that is not there, or a row that cannot be read, is damage too.
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) | None => {
            return LedgerError { cause: Some(cause.into()), ..damaged(path, remedy) };
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            return LedgerError { cause: Some(cause.into()), ..locked(path, waited) };
        }
        Some(ErrorCode::DiskFull) => ("ledger_no_space", NO_SPACE.to_owned()),
        _ if shared => ("ledger_no_space", NO_SPACE.to_owned()),
        _ => ("ledger_unavailable", UNAVAILABLE.to_owned()),
    };
    LedgerError { code, path: path.to_owned(), problem, cause: Some(cause.into()) }
}

/// An error of the disk's.
pub(super) fn of_disk(path: &Path, cause: io::Error) -> LedgerError {
    let (code, problem) = match cause.kind() {
        io::ErrorKind::TimedOut => {
            return LedgerError { cause: Some(cause.into()), ..locked(path, BUSY_WAIT) };
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ("ledger_no_space", NO_SPACE),
        _ => ("ledger_unavailable", UNAVAILABLE),
    };
    LedgerError { code, path: path.to_owned(), problem: problem.to_owned(), cause: Some(cause.into()) }
}

fn locked(path: &Path, waited: Duration) -> LedgerError {
    let waited = match waited.as_secs() {
        0 => format!("{} ms", waited.as_millis()),
        seconds => format!("{seconds} s"),
    };
    let problem = format!("was locked by another process for {waited}; end that process, or try again later");
    LedgerError { code: "ledger_locked", path: path.to_owned(), problem, cause: None }
}

/// The file is not what it was.
pub(super) fn damaged(path: &Path, remedy: &str) -> LedgerError {
    let problem = format!("is damaged; {remedy}");
    LedgerError { code: "ledger_damaged", path: path.to_owned(), problem, cause: None }
}

/// Another version made it.
pub(super) fn other_version(path: &Path, found: i64, known: i64) -> LedgerError {
    let problem =
        format!("has layout {found}, and this drydock has layout {known}; use the drydock that made it");
    LedgerError { code: "ledger_version", path: path.to_owned(), problem, cause: None }
}

/// It is as large as it may become, or one thing in it would be.
pub(super) fn limit(path: &Path, problem: String) -> LedgerError {
    LedgerError { code: "ledger_limit", path: path.to_owned(), problem, cause: None }
}

const NO_SPACE: &str = "could not be written, because its disk is full; make room and try again";
const UNAVAILABLE: &str =
    "could not be read or written; see to it that it is yours and that its disk is well";
