//! Proofs for the line: how many commits there are, who is told what where one piece fails, and what is not done.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    task::{Context, Waker},
};

use drydock_testkit::block_on;
use rusqlite::params;

use super::*;

static KIND: Kind = Kind {
    tables: "CREATE TABLE t (n INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;",
    version: 1,
    logged: true,
    bytes_max: 1 << 20,
    checked: false,
    remedy: "nothing",
};
static SHELF: Shelf =
    Shelf { kind: &KIND, path: |home| home.root().join("t.sqlite"), lock: "t", open_max: 2, glances: true };

/// Done so often, for all of a test.
#[derive(Clone, Default)]
struct Done(Arc<AtomicUsize>);

/// A row of so many bytes; one of none is an error of SQLite's.
struct Row(i64, usize, Done);

impl Work for Row {
    type Made = i64;
    const MAKES: bool = true;

    fn act(&mut self, conn: &Connection) -> rusqlite::Result<(i64, bool)> {
        self.2.0.fetch_add(1, Ordering::SeqCst);
        conn.execute("INSERT INTO t VALUES (?1, ?2)", params![self.0, vec![7_u8; self.1]])?;
        Ok((self.0, true))
    }
}

struct Count;

impl Work for Count {
    type Made = i64;
    const MAKES: bool = false;

    fn look(&mut self, conn: &Connection) -> rusqlite::Result<Option<i64>> {
        conn.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).map(Some)
    }

    fn act(&mut self, _: &Connection) -> rusqlite::Result<(i64, bool)> {
        Ok((-1, false))
    }
}

fn commits() -> (tempfile::TempDir, Commits) {
    let temp = tempfile::tempdir().unwrap();
    let home = Home::open(temp.path()).unwrap();
    (temp, Commits::of(&home, &SHELF))
}

#[test]
fn all_that_waits_together_is_kept_and_a_look_makes_no_file() {
    let (temp, commits) = commits();
    let (dev, done) = (Tenant::default(), Done::default());
    assert_eq!(block_on(commits.submit(&dev, Count, None)).unwrap(), 0, "where no file is there is nothing");
    assert!(!temp.path().join("tenants/dev").exists());
    let answers: Vec<_> = (0..300).map(|n| commits.submit(&dev, Row(n, 9, done.clone()), None)).collect();
    for (n, answer) in (0..).zip(answers) {
        assert_eq!(block_on(answer).unwrap(), n);
    }
    assert_eq!(done.0.load(Ordering::SeqCst), 300, "each once");
    assert_eq!(commits.glance(&dev, |conn| Ok(Count.look(conn)?.unwrap())), Some(300));
}

#[test]
fn what_is_too_large_for_the_file_is_refused_alone() {
    let (_temp, commits) = commits();
    let (dev, done) = (Tenant::default(), Done::default());
    let answers: Vec<_> = (0..40)
        .map(|n| {
            let bytes = if n == 20 { 2 << 20 } else { 9 };
            commits.submit(&dev, Row(n, bytes, done.clone()), None)
        })
        .collect();
    for (n, answer) in (0..).zip(answers) {
        match block_on(answer) {
            Ok(kept) => assert_eq!(kept, n),
            Err(error) => assert_eq!((n, error.code), (20, "ledger_limit"), "{error}"),
        }
    }
    assert_eq!(block_on(commits.submit(&dev, Count, None)).unwrap(), 39);
}

#[test]
fn what_nobody_waits_for_before_it_began_is_not_done_and_what_nobody_took_over_is_handed_back() {
    let (temp, commits) = commits();
    let (dev, done) = (Tenant::default(), Done::default());
    block_on(commits.submit(&dev, Row(0, 1, done.clone()), None)).unwrap();
    let path = temp.path().join("tenants/dev/t.sqlite");
    let held = Connection::open(path).unwrap();
    held.execute_batch("BEGIN IMMEDIATE").unwrap();
    // It waits for the file, and behind it another one for its turn.
    let first = commits.submit(&dev, Row(1, 1, done.clone()), None);
    let lost = Done::default();
    let hears = lost.clone();
    let handed_back: Box<dyn FnOnce(i64) + Send> = Box::new(move |n| {
        hears.0.fetch_add(usize::try_from(n).unwrap(), Ordering::SeqCst);
    });
    let second = commits.submit(&dev, Row(2, 1, done.clone()), Some(handed_back));
    held.execute_batch("ROLLBACK").unwrap();
    assert_eq!(block_on(first).unwrap(), 1);
    // By now it is being done, or not yet: either way it is not there for nothing.
    drop(second);
    let rows = block_on(commits.submit(&dev, Count, None)).unwrap();
    assert_eq!(rows == 3, lost.0.load(Ordering::SeqCst) == 2, "{rows}");
}

#[test]
fn a_file_of_another_tenant_that_is_locked_holds_nobody_up() {
    let (temp, commits) = commits();
    let (slow, quick, done) = ("slow".parse().unwrap(), "quick".parse().unwrap(), Done::default());
    block_on(commits.submit(&slow, Row(0, 1, done.clone()), None)).unwrap();
    let held = Connection::open(temp.path().join("tenants/slow/t.sqlite")).unwrap();
    held.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut stuck = Box::pin(commits.submit(&slow, Row(1, 1, done.clone()), None));
    for n in 0..20 {
        block_on(commits.submit(&quick, Row(n, 1, done.clone()), None)).unwrap();
    }
    assert!(stuck.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let error = block_on(stuck).unwrap_err();
    assert_eq!(error.code, "ledger_locked", "{error}");
}
