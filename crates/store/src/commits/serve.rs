//! What a thread does with the jobs of one tenant: looks first, one transaction for those that must write, answers last.

use drydock_contract::port::LedgerError;
use rusqlite::{Connection, TransactionBehavior::Immediate};

use super::{Line, Shelf, job::Job};
use crate::ledger::file::BUSY_WAIT;

pub(super) fn serve(line: &Line, shelf: &Shelf, mut jobs: Vec<Box<dyn Job>>) {
    jobs.retain(|it| it.is_wanted());
    if jobs.is_empty() {
        return;
    }
    match attempt(line, shelf, &mut jobs) {
        Ok(()) => {
            if let Some(reader) = &line.reader {
                reader.prepare();
            }
            jobs.into_iter().for_each(|it| it.end(Ok(())));
        }
        // What is too large for one is no reason to refuse the others.
        Err(error) if jobs.len() > 1 && matches!(error.code, "ledger_limit" | "ledger_no_space") => {
            for job in jobs {
                let mut alone = [job];
                let ended = attempt(line, shelf, &mut alone);
                let [job] = alone;
                job.end(ended);
            }
        }
        Err(error) => jobs.into_iter().for_each(|it| it.end(Err(copy(&error)))),
    }
}

fn attempt(line: &Line, shelf: &Shelf, jobs: &mut [Box<dyn Job>]) -> Result<(), LedgerError> {
    if !jobs.iter().any(|it| it.makes()) {
        // Where there is no file there is nothing: whoever asks hears that, and nothing is made.
        return line.writer.look(|conn| run(conn, jobs)).map(drop);
    }
    line.writer.change(|| line.home.lock_within(shelf.lock, BUSY_WAIT), |conn| run(conn, jobs))
}

fn run(conn: &mut Connection, jobs: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
    let mut done = true;
    for job in &mut *jobs {
        done &= job.look(conn)?;
    }
    if done {
        return Ok(());
    }
    // What was answered survives the machine: the log is synced before the commit is over, unless all that is written
    // said that the process is enough.
    let synced = jobs.iter().any(|it| it.is_synced());
    conn.pragma_update(None, "synchronous", if synced { "FULL" } else { "NORMAL" })?;
    let tx = conn.transaction_with_behavior(Immediate)?;
    let mut changed = false;
    for job in jobs {
        changed |= job.act(&tx)?;
    }
    if changed { tx.commit() } else { tx.rollback() }
}

/// The same for everybody who waited for it.
fn copy(error: &LedgerError) -> LedgerError {
    let LedgerError { code, path, problem, cause } = error;
    let problem = match cause {
        Some(cause) => format!("{problem}: {cause}"),
        None => problem.clone(),
    };
    LedgerError { code, path: path.clone(), problem, cause: None }
}
